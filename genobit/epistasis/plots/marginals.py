"""Bar chart of the share of cases by the genotype of each member of a combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.epistasis.plots.penetrance import cell_hover, quantity, short_name
from genobit.epistasis.result import Cells, Ranked, ranked
from genobit.visual.placing import text_width
from genobit.visual.style import few_marks, plain_frame
from genobit.visual.tokens import LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterable

    import xarray as xr

_BAR, _INK = OTHER_GROUP, LIGHT.ink
#: Gap between the bars of two members, and margin beside the outer bars, in bar spacings.
_APART, _BESIDE = 0.8, 0.7
#: Screen pixels between two texts.
_SPACE = 6


def marginal_effects(
    result: xr.Dataset, rank: int = 0, *, of_class: int = -1, ds: xr.Dataset | None = None
) -> hv.Overlay:
    """Draw the share of cases by the genotype of each single member of a combination.

    Parameters
    ----------
    result, rank, of_class, ds
        As for `penetrance_heatmap`.

    Returns
    -------
        hv.Overlay: a bar for each genotype of a member, and a line at the share of cases among all
        samples. The labels of the bars are numbers of cases and samples. If a member has no
        marginal effect, its bars end at the line.

    Raises
    ------
    ValueError
        If the result has no genotype cells.

    Examples
    --------
    >>> import xarray as xr
    >>> cells = np.zeros((1, 9, 2), "i4")
    >>> cells[0, 4] = 3, 7
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "cells": (("rank", "cell", "class"), cells),
    ...     }
    ... )
    >>> marginal_effects(result).Rectangles.Marginals["n"].tolist()
    [10, 10]
    """
    return draw_marginals(ranked(result, ds), rank, of_class)


def draw_marginals(
    found: Ranked, rank: int, of_class: int = -1, most: float = np.inf
) -> hv.Overlay:
    """Draw the share of a class by the genotype of each member; arguments as in `draw_cells`.

    The bars have no counts if the frame would be wider than ``most`` screen pixels with them.
    """
    cells = found.penetrance(rank, of_class)
    overall = cells.overall
    members_of = [cells.by(member) for member in range(found.order)]
    levels = found.levels
    start = np.repeat(np.arange(found.order) * (levels + _APART), levels)
    x = start + np.tile(np.arange(levels), found.order)
    whole = Cells(
        np.concatenate([part.n for part in members_of]),
        np.concatenate([part.value for part in members_of]),
        None if cells.count is None else np.concatenate([part.count for part in members_of]),
    )
    value = np.nan_to_num(whole.value)
    names = np.concatenate([found.labels(rank, member) for member in range(found.order)])
    members = np.repeat(found.names[rank], levels)
    genotypes = [f"{a} {b}" for a, b in zip(members, names, strict=True)]
    columns = {"x0": x - 0.42, "y0": 0 * x, "x1": x + 0.42, "y1": value}
    columns |= {
        "genotypes": genotypes,
        "cases": whole.n if whole.count is None else whole.count,
        "n": whole.n,
        "share": whole.value,
    }
    bars = hv.Rectangles(
        columns,
        ["x0", "y0", "x1", "y1"],
        ["genotypes", "cases", "n", "share"],
        label="Marginals",
    ).opts(
        color=_BAR,
        line_color=None,
        default_tools=["save"],
        tools=[cell_hover(found, of_class)],
    )
    low = min(float(value.min()), 0.0)
    span = max(float(value.max()), overall, 0.0) - low or 1.0
    texts, width = _written([text or "none" for text in whole.texts()], names, found.order, most)
    lines = 1 + max(text.count("\n") for text in texts)
    top = 1.3 if lines == 2 else 1.4
    at = np.full(len(x), low + (1 + top) / 2 * span + 0.02 * span)
    labels = hv.Labels((x, at, texts), ["x", "y"], "text", label="Counts").opts(
        text_color=_INK, text_font_size="8pt", default_tools=[]
    )
    line = hv.HLine(overall).opts(
        color=_INK, line_dash="dashed", line_width=1, default_tools=[], tools=[]
    )
    picture = bars * line * labels
    return picture.opts(
        **_marginal_frame(
            found, rank, of_class, (x, names), (low, low + top * span), overall, width
        )
    )


def _written(texts: list[str], names: np.ndarray, order: int, most: float) -> tuple[list[str], int]:
    """Break texts that would overlap into lines; return them and the frame width in pixels.

    Texts that need more than ``most`` pixels are empty.
    """
    steps = len(names) + (order - 1) * _APART - 1 + 2 * _BESIDE
    width = min(max(240, min(200 * order, 900)), most)
    if _longest(texts) > width / steps:
        texts = [text.replace(" / ", " /\n").replace(" = ", " =\n") for text in texts]
    if steps * _longest(texts) > most:
        texts = [""] * len(texts)
    return texts, round(max(width, steps * max(_longest(texts), _longest(names))))


def _longest(texts: Iterable[str]) -> float:
    """Return the distance in pixels at which no texts overlap."""
    return _SPACE + max(text_width(line) for text in texts for line in text.split("\n"))


def _marginal_frame(
    found: Ranked,
    rank: int,
    of_class: int,
    bars: tuple[np.ndarray, np.ndarray],
    limits: tuple[float, float],
    overall: float,
    width: int,
) -> dict[str, Any]:
    (x, names), levels = bars, found.levels
    # The name of the member is below its middle genotype.
    ticks = [
        (
            float(at),
            f"{name}\n{short_name(found, rank, k // levels)}"
            if k % levels == levels // 2
            else name,
        )
        for k, (at, name) in enumerate(zip(x, names, strict=True))
    ]
    return {
        "title": (
            f"Each member by itself: {quantity(found, of_class)}\n"
            f"dashed: {overall:.3g}, all samples"
        ),
        "fontsize": {"title": "9pt", "xticks": "8pt", "yticks": "8pt", "labels": "9pt"},
        "xlim": (-_BESIDE, float(x.max()) + _BESIDE),
        "ylim": limits,
        "frame_width": width,
        "frame_height": 200,
        "xticks": ticks,
        "xlabel": "",
        "ylabel": quantity(found, of_class),
        "show_legend": False,
        "toolbar": "above",
        "default_tools": ["save"],
        "framewise": True,
        "hooks": [plain_frame, few_marks, _no_outline],
    }


def _no_outline(plot: Any, _element: Any) -> None:
    plot.state.outline_line_color = None
