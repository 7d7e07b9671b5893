"""Histogram of pairs of samples by their relationship, and the table of the closest pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import HoverTool

from genobit.grm.kinship import DEGREES, degree_of
from genobit.grm.plots.result import (
    MEASURES,
    Measure,
    computed,
    measure_of,
    pair_values,
    sample_names,
    samples_of,
)
from genobit.visual.style import (
    POINT_COLOUR,
    SELECTED_COLOUR,
    few_marks,
    number,
    plain_frame,
)
from genobit.visual.tables import Column, draw_table, numbers
from genobit.visual.tokens import BANDS, LIGHT

if TYPE_CHECKING:
    import xarray as xr

#: Short names of the bands, closest degree first; unrelated pairs are on white.
SHORT = {
    "duplicate or twin": "twin",
    "first degree": "1st",
    "second degree": "2nd",
    "third degree": "3rd",
}
#: Pairs that are searched at a time.
BLOCK = 2**20
#: Narrowest band that has room for its name, as a share of the axis.
NARROWEST_NAME = 0.045


def bands_of(measure: Measure) -> dict[str, tuple[float, float]]:
    """Return the (above, up to) bounds of each degree of relationship, closest degree first.

    The bounds are those of KING-robust kinship; other measures have none.

    Examples
    --------
    >>> from .result import MEASURES
    >>> bands_of(MEASURES["king"])["first degree"]
    (0.17677..., 0.35355...)
    >>> bands_of(MEASURES["gcta"])
    {}
    """
    if not measure.degrees:
        return {}
    bounds = list(DEGREES.values())
    return dict(zip(DEGREES, zip(bounds, [np.inf, *bounds[:-1]], strict=True), strict=True))


def kinship_histogram(
    grm: xr.DataArray,
    *,
    bins: int = 80,
    between: tuple[float, float] | None = None,
) -> hv.Overlay:
    """Draw a histogram of the relationships of all pairs, with a log axis for the counts.

    Parameters
    ----------
    grm
        Result of `.genobit.grm()` or `genobit.open_gcta()`.
    bins
        Number of bars over the range of the values.
    between
        Range (low, high) of relationships to mark.

    Returns
    -------
        hv.Rectangles (degrees) * hv.Labels (their names) * hv.Rectangles (bars) * hv.Rectangles
        (the marked range). Only KING-robust kinship has degrees; `genobit.grm.kinship` defines
        them.

    Examples
    --------
    >>> import xarray as xr
    >>> grm = xr.DataArray([[1.0, 0.5], [0.5, 1.0]], dims=("samples_0", "samples_1"), name="gcta")
    >>> kinship_histogram(grm).Rectangles.Bars["count"].tolist()
    [1]
    """
    matrix = computed(grm)
    counted = count_pairs(pair_values(matrix), measure_of(matrix), bins)
    return draw_histogram(counted, between=between)


@dataclass(frozen=True)
class PairCounts:
    """Counts of pairs in each bar and in each degree of relationship."""

    measure: Measure
    edges: np.ndarray
    bars: np.ndarray
    degrees: dict[str, int]
    n_pairs: int
    missing: int


def count_pairs(pairs: np.ndarray, measure: Measure, bins: int = 80) -> PairCounts:
    """Count pairs by their relationship.

    ``pairs`` are those of `result.pair_values`; NaN counts as missing.

    Examples
    --------
    >>> from .result import MEASURES
    >>> count_pairs(np.array([0.0, 0.26]), MEASURES["king"]).degrees["first degree"]
    1
    """
    missing = int(np.isnan(pairs).sum())
    found = pairs[~np.isnan(pairs)] if missing else pairs
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    bands = bands_of(measure)
    if bands:  # show at least one bound, even if all pairs are far below it
        high = max(high, 1.25 * bands["third degree"][0])
    room = 0.02 * ((high - low) or 1.0)
    bars, edges = np.histogram(found, bins=bins, range=(low - room, high + room))
    degrees = {
        degree: int(np.count_nonzero((found > above) & (found <= up_to)))
        for degree, (above, up_to) in bands.items()
    }
    return PairCounts(measure, edges, bars, degrees, len(pairs), missing)


def draw_histogram(
    counted: PairCounts, *, between: tuple[float, float] | None = None
) -> hv.Overlay:
    """Draw the histogram of counted pairs, and mark the range ``between``."""
    edges, bars = counted.edges, counted.bars
    low, high = float(edges[0]), float(edges[-1])
    top = 4.0 * max(int(bars.max()), 10)
    filled = bars > 0
    count = bars[filled]
    sides = (edges[:-1][filled], np.full(len(count), 0.5), edges[1:][filled], count * 1.0)
    columns = dict(zip(("x", "y", "x1", "y1", "count"), (*sides, count), strict=True))
    rows = [("from", "@x{0.0000}"), ("to", "@x1{0.0000}"), ("pairs", "@count")]
    boxes = hv.Rectangles(columns, ["x", "y", "x1", "y1"], "count", label="Bars").opts(
        color=POINT_COLOUR,
        line_color="white",
        line_width=0.5,
        default_tools=[],
        tools=[HoverTool(tooltips=rows)],
    )
    shades, names = _shades(bands_of(counted.measure), low, high, top)
    overlay = shades * boxes * names * _range(between, top)
    return overlay.opts(
        title=_histogram_title(counted),
        fontsize={"title": "10pt"},
        frame_width=460,
        frame_height=170,
        logy=True,
        xlim=(low, high),
        ylim=(0.5, top),
        xlabel=counted.measure.name,
        ylabel="pairs",
        toolbar="above",
        show_legend=False,
        hooks=[plain_frame, few_marks],
    )


def _shades(
    bands: dict[str, tuple[float, float]], low: float, high: float, top: float
) -> tuple[hv.Rectangles, hv.Labels]:
    boxes, names = [], []
    for colour, degree in zip(BANDS, SHORT, strict=True):
        above, up_to = bands.get(degree, (np.inf, np.inf))
        left, right = max(above, low), min(up_to, high)
        if right <= left:
            continue
        boxes.append((left, 0.5, right, top, colour))
        if right - left > NARROWEST_NAME * (high - low):
            names.append(((left + right) / 2, top / 1.7, SHORT[degree]))
    shades = hv.Rectangles(boxes, ["x", "y", "x1", "y1"], "colour", label="Bands").opts(
        color="colour",
        line_width=0,
        default_tools=["save"],
        tools=["xbox_select", "reset"],
        active_tools=["xbox_select"],
    )
    labels = hv.Labels(names, ["x", "y"], "name").opts(
        text_color=LIGHT.ink, text_font_size="9pt", default_tools=[]
    )
    return shades, labels


def _range(between: tuple[float, float] | None, top: float) -> hv.Rectangles:
    boxes = [] if between is None else [(between[0], 0.5, between[1], top)]
    return hv.Rectangles(boxes, ["x", "y", "x1", "y1"], label="Range").opts(
        color=SELECTED_COLOUR,
        fill_alpha=0,
        line_color=SELECTED_COLOUR,
        line_width=1.5,
        default_tools=[],
    )


def _histogram_title(counted: PairCounts) -> str:
    if not counted.n_pairs:
        return "One sample makes no pair"
    title = number(counted.n_pairs, "pair")
    if counted.missing:
        title += f", {counted.missing:,} without a value"
    if not counted.degrees:
        return title
    bounds = "degrees: KING's bounds"
    close = {SHORT[degree]: counted.degrees[degree] for degree in SHORT}
    if not any(close.values()):
        return f"{title}, none closer than unrelated\n{bounds}"
    counts = [f"{name} {count:,}" for name, count in close.items() if count]
    counts.append(f"unrelated {counted.degrees['unrelated']:,}")
    return f"{title}\n{', '.join(counts)}\n{bounds}"


def closest_pairs(
    grm: xr.DataArray, *, limit: int = 200, between: tuple[float, float] | None = None
) -> pd.DataFrame:
    """List the closest pairs of samples, closest first.

    Parameters
    ----------
    grm
        Result of `.genobit.grm()` or `genobit.open_gcta()`.
    limit
        Largest number of pairs to list.
    between
        List only pairs with a value in this range (low, high), both ends included.

    Returns
    -------
        DataFrame with columns sample_0 < sample_1 (positions), sample_id_0, sample_id_1, and the
        value, named after the method. For KING-robust kinship, the column degree is added.

    Examples
    --------
    >>> import xarray as xr
    >>> kinship = [[0.5, 0.25], [0.25, 0.5]]
    >>> grm = xr.DataArray(kinship, dims=("samples_0", "samples_1"), name="king")
    >>> closest_pairs(grm)[["sample_0", "sample_1", "degree"]].values.tolist()
    [[0, 1, 'first degree']]
    """
    matrix = computed(grm)
    return list_pairs(matrix, pair_values(matrix), limit=limit, between=between)


def list_pairs(
    matrix: xr.DataArray,
    pairs: np.ndarray,
    *,
    limit: int = 200,
    between: tuple[float, float] | None = None,
    of: np.ndarray | None = None,
    both: bool = False,
) -> pd.DataFrame:
    """List the closest pairs as `closest_pairs` does, from the values of `result.pair_values`.

    of: (samples,) bool. If ``both``, each pair has both samples in ``of``, otherwise at least one.
    ``attrs["found"]`` of the table is the number of pairs before the limit.
    """
    n_samples = len(matrix)
    mask = None if of is None else _pairs_of(of, both=both)
    candidates, found = _largest(pairs, limit, between or (-np.inf, np.inf), mask)
    first, second = samples_of(candidates, n_samples)
    names, measure = sample_names(matrix), measure_of(matrix)
    columns = {
        "sample_0": first,
        "sample_1": second,
        "sample_id_0": names[first],
        "sample_id_1": names[second],
        _column_of(matrix): pairs[candidates],
    }
    if measure.degrees:
        columns["degree"] = degree_of(pairs[candidates])
    table = pd.DataFrame(columns)
    table.attrs["found"] = found
    return table


def _largest(
    pairs: np.ndarray, limit: int, between: tuple[float, float], mask: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Return the positions of the largest values, largest first, and the number of candidates.

    It works block by block, because 10,000 samples have 50 million pairs.
    """
    best, found = np.empty(0, dtype="i8"), 0
    low, high = between
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        keep = (block >= low) & (block <= high)  # False for NaN
        if mask is not None:
            keep &= mask[start : start + BLOCK]
        found += int(np.count_nonzero(keep))
        if len(best) == limit:
            keep &= block > pairs[best].min()
        best = np.concatenate([best, start + np.flatnonzero(keep)])
        if len(best) > limit:
            best = np.sort(best[np.argpartition(-pairs[best], limit - 1)[:limit]])
    return best[np.argsort(-pairs[best], kind="stable")], found


def _column_of(matrix: xr.DataArray) -> str:
    return "relationship" if matrix.name is None else str(matrix.name)


def _pairs_of(chosen: np.ndarray, *, both: bool) -> np.ndarray:
    n_samples = len(chosen)
    mask = np.empty(n_samples * (n_samples - 1) // 2, dtype=bool)
    start = 0
    for k in range(n_samples - 1):
        stop = start + n_samples - 1 - k
        rest = chosen[k + 1 :]
        mask[start:stop] = (chosen[k] & rest) if both else (chosen[k] | rest)
        start = stop
    return mask


def draw_pairs(table: pd.DataFrame, height: int = 210) -> hv.Table:
    """Draw a list of pairs as a table that sorts by a click on a column name."""
    name = str(table.columns[4])
    value = MEASURES[name].label if name in MEASURES else name
    shown = table.rename(columns={"sample_id_0": "sample", "sample_id_1": "with", name: value})
    columns = {"sample": Column(130), "with": Column(130), value: Column(120, numbers("0.0000"))}
    if "degree" in shown:
        columns["degree"] = Column(130)
    return draw_table(shown[list(columns)], columns, width=500, height=height, fit=True)
