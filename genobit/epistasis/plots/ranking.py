"""Table of ranked combinations, and histogram of the best scores of permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.epistasis.result import Ranked, ranked
from genobit.visual.placing import text_width
from genobit.visual.style import (
    LEAD_COLOUR,
    POINT_COLOUR,
    SELECTED_COLOUR,
    few_marks,
    number,
    plain_frame,
)
from genobit.visual.tables import Column, draw_table, numbers, powers
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import xarray as xr

#: Family-wise p-value of the dashed line.
ALPHA = 0.05
#: Bars of the histogram of permutations.
BARS = 40
#: Height of the table header and of a row in screen pixels, number of visible rows, and width of
#: the scroll bar.
_HEAD, _ROW, _ROWS, _BAR = 25, 25, 10, 20
#: Width of letters relative to an 8-point font, padding of a cell and width of the widest column in
#: pixels.
_LETTERS, _PADDING, _WIDEST = 1.15, 11, 420


def ranking_table(result: xr.Dataset, text: str = "", *, ds: xr.Dataset | None = None) -> hv.Table:
    """Draw a ranking as a table; click a column header to sort.

    Parameters
    ----------
    result
        Result of `.genobit.epistasis()`.
    text
        Filter: the table lists only combinations that match every word of `text`. A word matches
        any part of a name, contig or position. A word such as `2:1000-2000` keeps combinations with
        a member in this region.
    ds
        Dataset that was searched, for labels that the result lacks.

    Returns
    -------
        hv.Table of the members, their positions, the score, G, degrees of freedom, p and n.

    Examples
    --------
    >>> import xarray as xr
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14], [3, 15]]),
    ...         "mi": ("rank", [0.25, 0.125]),
    ...         "n": ("rank", [90, 88]),
    ...     }
    ... )
    >>> ranking_table(result, "variant 15")["MI (nats)"].tolist()
    [0.125]
    """
    found = ranked(result, ds)
    return draw_ranking(found, found.matching(text))


def permutation_histogram(
    result: xr.Dataset, rank: int = 0, *, ds: xr.Dataset | None = None
) -> hv.Overlay:
    """Draw a histogram of the best score of every permutation, with the scores of the ranking.

    Parameters
    ----------
    result
        Result of `.genobit.epistasis(permutations=...)`.
    rank
        Index of the combination to mark, 0 for the first.
    ds
        Dataset that was searched, for names that the result lacks.

    Returns
    -------
        hv.Overlay: histogram bars, a tick below them for the score of every combination, and a line
        at the score of the marked combination.

    Raises
    ------
    ValueError
        If the result has no permutations.

    Examples
    --------
    >>> import xarray as xr
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "permutation_maximum": ("permutation", [0.1, 0.15, 0.12]),
    ...     }
    ... )
    >>> permutation_histogram(result).Segments.Marked["x0"].tolist()
    [0.25]
    """
    found = ranked(result, ds)
    if without_permutations(found):
        raise ValueError(without_permutations(found))
    return draw_permutations(found, rank)


def without_permutations(found: Ranked) -> str:
    """Return a message on how to get permutations; "" if the result has them."""
    if found.result.sizes.get("permutation", 0) and "permutation_maximum" in found.result:
        return ""
    return (
        "There are no permutations in this result: search with "
        "ds.genobit.epistasis(..., permutations=1000, seed=1) to get them."
    )


def threshold_of(found: Ranked) -> float | None:
    """Return the score above which the family-wise p-value is at most `ALPHA`.

    None if the result has too few permutations for such a p-value.
    """
    if without_permutations(found):
        return None
    # The observed order counts as a permutation, and one without a score has none as large.
    maxima = found.result["permutation_maximum"].values.astype("f8")
    allowed = int(np.floor(ALPHA * (len(maxima) + 1) + 1e-9)) - 1
    if allowed < 0:
        return None
    score = float(np.sort(maxima)[::-1][allowed])
    return score if np.isfinite(score) else None


def draw_ranking(found: Ranked, ranks: np.ndarray, rows: int = _ROWS) -> hv.Table:
    """Draw the combinations ``ranks``, counted from 0, as a table with visible ``rows``."""
    columns = _columns(found)
    plain_ranks = found.ranks.dtype.kind not in "iu"
    drawn = {
        name: Column(
            _width(name, values), None if plain_ranks and name == "rank" else _format_of(name)
        )
        for name, values in columns.items()
    }
    shown = {name: values[ranks] for name, values in columns.items()}
    width = sum(column.width for column in drawn.values()) + _BAR
    return draw_table(shown, drawn, width=width, height=_HEAD + rows * _ROW, fit=False)


def ranking_width(found: Ranked) -> int:
    """Return the width of the table of a ranking in screen pixels."""
    return sum(_width(name, values) for name, values in _columns(found).items()) + _BAR


def _columns(found: Ranked) -> dict[str, np.ndarray]:
    """Return the columns for all combinations, so that a filter does not change their widths."""
    every, result = range(found.size), found.result
    columns = {"rank": found.ranks}
    columns["variants"] = np.array([found.title(k) for k in every], dtype=object)
    places = np.array([found.places(k) for k in every], dtype=object)
    # Omit positions if all names are positions already.
    if any(p.replace(",", "") != n for p, n in zip(places, columns["variants"], strict=True)):
        columns["places"] = places
    names = {found.column: found.label, "effect": "effect", "standard_error": "SE"}
    names |= {"mi": "MI (nats)", "g": "G", "df": "df", "p": "p"}
    names |= {"p_familywise": "p (family)", "n": "n"}
    columns |= {label: result[name].values for name, label in names.items() if name in result}
    if "sparse" in result:
        columns["sparse"] = np.where(result["sparse"].values, "yes", "").astype(object)
    return columns


def _width(name: str, values: np.ndarray) -> int:
    """Return the width of a column in screen pixels, from its name and its longest value."""
    texts = [name, max(map(str, values), key=len, default="")]
    if name == "p":
        texts = ["9.99e-999" if (values < 1e-99).any() else "9.99e-99"]
    elif values.dtype.kind in "iuf":
        most = np.abs(values[np.isfinite(values)]).max(initial=0)
        texts[1] = f"{most:,.{_digits(name)}f}"
    return min(round(_LETTERS * max(map(text_width, texts))) + _PADDING, _WIDEST)


def _digits(name: str) -> int:
    """Return the number of decimals of a column."""
    if name in {"rank", "df", "n"}:
        return 0
    # "(" is in nats and the family-wise p.
    return 4 if "(" in name or name in {"effect", "SE"} else 2


def _format_of(name: str) -> Callable[[], Any] | None:
    if name in {"variants", "places", "sparse"}:
        return None
    if name == "p":
        return powers(power_limit_low=-1)
    digits = _digits(name)
    return numbers("0." + "0" * digits if digits else "0,0")


def draw_permutations(found: Ranked, marked: int | None = 0) -> hv.Overlay:
    """Draw the best scores of permutations, with a line at combination ``marked``."""
    maxima = found.result["permutation_maximum"].values.astype("f8")
    maxima = maxima[np.isfinite(maxima)]
    scores = found.scores
    low = float(min(maxima.min(initial=np.inf), scores.min(initial=np.inf)))
    high = float(max(maxima.max(initial=-np.inf), scores.max(initial=-np.inf)))
    margin = 0.04 * (high - low) or 0.01
    counts, edges = np.histogram(maxima, bins=min(BARS, 2 + len(maxima) // 5))
    top = 1.18 * max(int(counts.max()), 1)
    columns = {"x": edges[:-1], "y": 0 * counts, "x1": edges[1:], "y1": counts, "n": counts}
    bars = hv.Rectangles(columns, ["x", "y", "x1", "y1"], "n", label="Permutations").opts(
        color=LIGHT.quiet,
        line_color="white",
        line_width=0.5,
        default_tools=["save"],
        tools=[HoverTool(tooltips=[(found.label, "@x to @x1"), ("permutations", "@n")])],
    )
    foot = np.full(len(scores), -0.09 * top)
    ticks = hv.Segments((scores, foot, scores, foot / 9), label="Scores").opts(
        color=POINT_COLOUR, line_width=1, alpha=0.7, default_tools=[]
    )
    shown = [] if marked is None else [scores[marked]]
    line = hv.Segments((shown, [-0.09 * top] * len(shown), shown, [top] * len(shown)))
    line = line.relabel("Marked").opts(color=LEAD_COLOUR, line_width=2.5, default_tools=[])
    axis = hv.HLine(0).opts(color=SELECTED_COLOUR, line_width=0.7, default_tools=[])
    return (bars * axis * ticks * line).opts(
        title=_title(found, len(maxima), marked),
        fontsize={"title": "9pt", "xticks": "8pt", "yticks": "8pt", "labels": "9pt"},
        frame_width=400,
        frame_height=190,
        xlim=(low - margin, high + margin),
        ylim=(-0.1 * top, top),
        xlabel=f"best {found.label} of a permutation; ticks: the ranking",
        ylabel="permutations",
        show_legend=False,
        framewise=True,
        toolbar="above",
        default_tools=["save"],
        hooks=[plain_frame, few_marks],
    )


def _title(found: Ranked, permutations: int, marked: int | None) -> str:
    text = f"Best of each of {number(permutations, 'permutation')} of the phenotype"
    if marked is None:
        return text
    line = f"line: rank {found.ranks[marked]}, {found.label} {found.scores[marked]:.4g}"
    if "p_familywise" in found.result:
        line += f", family-wise p = {float(found.result['p_familywise'].values[marked]):.2g}"
    return f"{text}\n{line}"


def summary(found: Ranked) -> str:
    """Return a summary of the search, from the attributes that the result has."""
    attrs = found.result.attrs
    parts = [f"{number(found.size, 'combination')} of {found.order} by {found.label}"]
    if "combinations" in attrs:
        parts.append(f"of {int(attrs['combinations']):,} searched")
    if "phenotype" in attrs:
        parts.append(f"phenotype {attrs['phenotype']}")
    if "samples" in attrs:
        parts.append(number(int(attrs["samples"]), "sample"))
    text = ", ".join(parts)
    if attrs.get("partial"):
        text = f"Partial: the search was stopped before its end. {text}"
    return text


def listed(found: Ranked, ranks: np.ndarray) -> pd.DataFrame:
    """Return a table of the combinations ``ranks``, counted from 0, with all columns."""
    return found.table().iloc[ranks].reset_index(drop=True)
