"""Picture of the decay of LD with distance: means, their line, and half-decay distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.checks import check_whole
from genobit.data.model import VARIANT_GENETIC_POSITION, VARIANT_POSITION
from genobit.data.pairs.table import PairTable, each_once
from genobit.data.windows import parse_window
from genobit.ld.plots.result import computed
from genobit.visual.picture.spec import Axis, Band, Line, Mark, Panel, Picture, Points, Segments
from genobit.visual.style import first_capital, number, scale_of, three_digits
from genobit.visual.tokens import GROUPS, LIGHT

if TYPE_CHECKING:
    import pandas as pd

POPULATIONS = "populations"
#: Points of a fitted curve: smooth at the width of a plot.
_STEPS = 200
#: Bins of the line in a factor of ten of distance.
_A_DECADE = 12
#: From this distance on, the axis is logarithmic by default, in kb or cM.
_FAR = 100.0
#: Bins of pairs that are not binned yet.
_BINS = 40
#: Scale and unit of distances: base pairs are drawn in kb.
_UNITS = {"bp": (1e3, "kb"), "cM": (1.0, "cM")}
_NO_FIT = {
    "does not fit": "the Hill–Weir curve does not fit",
    "below the bins": "the Hill–Weir curve halves before the first bin",
    "beyond the bins": "the Hill–Weir curve halves beyond the last bin",
}


@dataclass(frozen=True)
class _Decay:
    """Means of bins in order of distance, (bins,), in the unit of the axis, of one population.

    `interval` (bins, 2) has NaN without a bootstrap. `half` is a distance with its interval. `rho`
    and `observations` are those of the fitted curve, and `fit` says how well it fits.
    """

    name: str
    distance: np.ndarray
    mean: np.ndarray
    pairs: np.ndarray
    interval: np.ndarray
    half: tuple[float, float, float]
    fit: str = ""
    fitted_half: float = np.nan
    rho: float = np.nan
    observations: int = 0

    def curve(self, distance: np.ndarray) -> np.ndarray:
        """Return the fitted curve at distances in the unit of the axis."""
        from genobit.ld.decay import hill_weir

        return hill_weir(self.rho * distance, self.observations)


def ld_decay(
    decay: xr.Dataset | xr.DataArray | PairTable | pd.DataFrame,
    *,
    bins: int | None = None,
    max_distance: float | str | None = None,
    log: bool | None = None,
    fitted: bool = False,
) -> Picture:
    """Draw mean LD by distance, with the distance at which it falls to half.

    Parameters
    ----------
    decay
        Result of `.genobit.ld_decay()`. A result of `.genobit.ld()` without `other`, or a table of
        `.genobit.ld_pairs()`, is averaged in bins. Make the table with `threshold=0`, because the
        mean of strong pairs alone does not decay.
    bins
        Number of bins of equal width, by default 40. A result of `.genobit.ld_decay()` has its own.
    max_distance
        Largest distance: "50kb", or a number of base pairs. For a result of `.genobit.ld_decay()`
        with a window in cM, it is in cM. By default, all distances are drawn.
    log
        Whether the axis of distances is logarithmic. By default, it is if it reaches 100 kb. It
        then begins near the bin with the smallest distance.
    fitted
        Draw the curve of Hill and Weir too, dashed. It needs a result of `.genobit.ld_decay()`.

    Returns
    -------
    Points of the means of bins, with their number of pairs as hover text. A line through their
    means in 12 bins for a factor of ten of distance. A diamond where the means fall to half of the
    first mean. For a result of `.genobit.ld_decay()`, confidence intervals: a band for the line,
    and a bar for the diamond. Each population has its own colour.

    Raises
    ------
    ValueError
        If no pair has a value, rows and columns are different variants, ``bins`` are given for a
        result that has bins, or ``fitted`` for one without a curve.
    KeyError
        If a table lacks a column.

    Notes
    -----
    NaN pairs (monomorphic variants) and pairs on different contigs are left out. The interval of
    the line is the mean of the intervals of its bins.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = {"variant_position_0": [1, 1], "variant_position_1": [101, 901], "r2": [0.8, 0.2]}
    >>> table = pd.DataFrame(columns)
    >>> ld_decay(table, bins=2).panel.marks_of(Points)[0].y.tolist()
    [0.8, 0.2]
    """
    if isinstance(max_distance, str):
        max_distance = _distance(max_distance, str(getattr(decay, "attrs", {}).get("unit", "bp")))
    if bins is not None:
        check_whole("bins", bins)
    if isinstance(decay, xr.Dataset):
        label, unit, found = _of_result(decay, max_distance, bins)
        max_distance = float(decay["bin_stop"].max()) if max_distance is None else max_distance
        share = f"{float(decay.attrs['confidence']):.0%}"
    elif fitted:
        raise ValueError("fitted=True needs a curve, which the result of .genobit.ld_decay() has")
    else:
        label, found = _of_pairs(decay, max_distance, _BINS if bins is None else bins)
        unit, share = "kb", ""
    if not any(one.pairs.sum() for one in found):
        raise ValueError("no pair within max_distance has a value, so there is no decay to draw")
    if max_distance is None:
        stop = max(float(one.distance.max()) for one in found if one.distance.size)
    else:
        stop = max_distance / _UNITS["cM" if unit == "cM" else "bp"][0]
    stop = stop or 1.0
    log = stop >= _FAR if log is None else log
    start = _nearest(found, stop) if log else 0.0
    marks: list[Mark] = []
    for k, one in enumerate(found):
        colour = GROUPS[k % len(GROUPS)] if one.name else LIGHT.accent
        marks += _marks(one, colour, unit, (start, stop), fitted=fitted)
    pairs = sum(int(one.pairs.sum()) for one in found)
    least = min((float(one.mean.min()) for one in found if one.mean.size), default=0.0)
    notes = [*([] if found[0].name else [f"{first_capital(_halves(found[0], unit))}."])]
    panel = Panel(
        Axis(f"Distance between the variants ({unit})", (start, stop), log=bool(log)),
        # Means of a signed statistic, or of a difference, may be negative.
        Axis(f"Mean {label}", (0.0 if least >= 0 else None, None)),
        tuple(marks),
    )
    title = f"Decay of {label}: {number(pairs, 'pair')}"
    return Picture(panel, title, (*notes, _legend(panel, share, fitted=fitted)))


def _distance(text: str, unit: str) -> float:
    """Return a distance with its unit as a number in the unit of a decay, "bp" or "cM"."""
    variable, size = parse_window(text, "max_distance")
    if variable != {"bp": VARIANT_POSITION, "cM": VARIANT_GENETIC_POSITION}[unit]:
        raise ValueError(f"max_distance={text!r} is not in {unit}, the unit of this decay")
    return size


def _of_result(
    decay: xr.Dataset, max_distance: float | None, bins: int | None
) -> tuple[str, str, list[_Decay]]:
    """Return label, unit and the decay of each population of a result of `.genobit.ld_decay()`."""
    statistic = str(decay.attrs.get("statistic"))
    if statistic not in decay or "half_decay" not in decay:
        raise ValueError(
            "the Dataset is not a decay: give it the result of .genobit.ld_decay(), or the matrix "
            "of .genobit.ld()"
        )
    if bins is not None:
        raise ValueError(
            f"bins={bins!r} is for pairs, and this result has {decay.sizes['bins']} bins: give "
            "ds.genobit.ld_decay(bins=) the number"
        )
    several = POPULATIONS in decay.dims
    whole = decay if several else decay.expand_dims(POPULATIONS)
    factor, unit = _UNITS[str(decay.attrs["unit"])]
    stop = float(decay["bin_stop"].max()) if max_distance is None else float(max_distance)
    found = []
    for k in range(whole.sizes[POPULATIONS]):
        one = whole.isel({POPULATIONS: k})
        kept = (one["pairs"] > 0).values & (one["distance"] <= stop).values
        half = [float(one["half_decay_of_means"]), *one["half_decay_of_means_interval"].values]
        low, middle, high = (float(x) / factor for x in (half[1], half[0], half[2]))
        found.append(
            _Decay(
                str(one[POPULATIONS].item()) if several else "",
                one["distance"].values[kept] / factor,
                one[statistic].values[kept],
                one["pairs"].values[kept],
                one["mean_interval"].values[kept],
                (middle, low, high),
                str(one["fit"].item()),
                float(one["half_decay"]) / factor,
                float(one["rho"]) * factor,
                int(one["observations"]),
            )
        )
    return scale_of(statistic).label, unit, found


def _of_pairs(pairs: Any, max_distance: float | None, bins: int) -> tuple[str, list[_Decay]]:
    """Return the label of the statistic of pairs, and their means in bins of equal width."""
    from genobit.ld.decay import half_of_means

    distance, value, label = (
        _pairs_of_matrix(pairs) if isinstance(pairs, xr.DataArray) else _pairs_of_table(pairs)
    )
    known = ~np.isnan(value)
    if max_distance is not None:
        known &= distance <= max_distance
    distance, value = distance[known], value[known]
    stop = max(max_distance or float(distance.max(initial=0)), 1.0)
    edges = np.linspace(0.0, stop, bins + 1)
    bin_of = np.clip(np.digitize(distance, edges) - 1, 0, bins - 1)
    count = np.bincount(bin_of, minlength=bins)
    filled = count > 0
    mean = np.bincount(bin_of, weights=value, minlength=bins)[filled] / count[filled]
    middle = ((edges[:-1] + edges[1:]) / 2e3)[filled]
    half = half_of_means(middle, mean, count[filled].astype("f8"))
    none = np.full((len(mean), 2), np.nan)
    return label, [_Decay("", middle, mean, count[filled], none, (half, np.nan, np.nan))]


def _pairs_of_matrix(matrix: xr.DataArray) -> tuple[np.ndarray, np.ndarray, str]:
    matrix, scale = computed(matrix)
    position = matrix["variant_position_0"].values
    if not np.array_equal(position, matrix["variant_position_1"].values):
        raise ValueError(
            "decay needs one set of variants against itself, and the positions along variants_0 "
            "and variants_1 differ"
        )
    first, second = np.triu_indices(len(position), k=1)
    values = matrix.values[first, second].astype("f8")
    if "variant_contig_0" in matrix.coords:
        contig = matrix["variant_contig_0"].values
        values[contig[first] != contig[second]] = np.nan
    return np.abs(position[second] - position[first]), values, scale.label


def _pairs_of_table(table: Any) -> tuple[np.ndarray, np.ndarray, str]:
    columns = table.to_dataframe() if isinstance(table, PairTable) else table
    statistic = "r2_em" if "r2_em" in columns else "r2"
    needed = ["variant_position_0", "variant_position_1", statistic]
    lacking = [name for name in needed if name not in columns]
    if lacking:
        raise KeyError(
            f"decay needs the columns {', '.join(needed)}, and the table lacks "
            f"{', '.join(lacking)}: give a table of ds.genobit.ld_pairs()"
        )
    if {"variant_0", "variant_1"} <= {*columns} and (columns.variant_0 > columns.variant_1).any():
        columns = each_once(columns, "variant")
    first, second, values = (columns[name].to_numpy() for name in needed)
    return np.abs(second - first), values.astype("f8"), "r²"


def _nearest(found: list[_Decay], stop: float) -> float:
    """Return where a logarithmic axis begins: a little before the nearest bin."""
    places = np.concatenate([one.distance for one in found])
    least = float(places[places > 0].min(initial=np.inf))
    return 0.9 * least if least < stop else 0.5 * stop


def _smooth(one: _Decay) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and columns of mean and interval in bins of equal ratios of distance."""
    columns = np.column_stack([one.distance, one.mean, one.interval])
    with np.errstate(divide="ignore"):
        place = np.floor(_A_DECADE * np.log10(one.distance))
    _, group = np.unique(place, return_inverse=True)
    weights = one.pairs.astype("f8")
    total = np.bincount(group, weights)
    means = [np.bincount(group, weights * column) / total for column in columns.T]
    return means[0], np.stack(means[1:])


def _marks(
    one: _Decay, colour: str, unit: str, reach: tuple[float, float], *, fitted: bool
) -> list[Mark]:
    """Return the marks of one population."""
    at, (mean, low, high) = _smooth(one)
    marks: list[Mark] = []
    known = np.isfinite(low)
    if known.any():
        marks.append(Band(at[known], low[known], high[known], colour=colour, alpha=0.18))
    hover = {
        "distance": np.array([f"{x:,.4g} {unit}" for x in one.distance], object),
        "mean": one.mean,
        "pairs": one.pairs,
    }
    marks.append(Points(one.distance, one.mean, colour=colour, alpha=0.55, hover=hover))
    note = _halves(one, unit) if one.name else ""
    marks.append(Line(at, mean, 2.0, colour=colour, label=one.name, note=note))
    if fitted:
        start, stop = reach
        steps = (np.geomspace if start else np.linspace)(start, stop, _STEPS)
        marks.append(Line(steps, one.curve(steps), 1.0, "dashed", colour=colour))
    half, *ends = one.half
    if reach[0] <= half <= reach[1]:
        level = one.mean[:1] / 2
        if np.isfinite(ends).all():
            low, high = (np.clip([end], *reach) for end in ends)
            marks.append(Segments(low, level, high, level, 2.5, colour=colour))
        marks.append(Points(np.array([half]), level, 8.0, "diamond", LIGHT.paper, colour=colour))
    return marks


def _halves(one: _Decay, unit: str) -> str:
    """Say at which distances the means and the fitted curve fall to half."""
    half, low, high = one.half
    if np.isfinite(half):
        interval = f" ({three_digits(low)}–{three_digits(high)})" if np.isfinite(high) else ""
        text = f"halves at {three_digits(half)} {unit}{interval}"
    else:
        text = "does not halve within the bins"
    if one.fit == "fits":
        return f"{text}; Hill–Weir fit {three_digits(one.fitted_half)} {unit}"
    return f"{text}; {_NO_FIT[one.fit]}" if one.fit else text


def _legend(panel: Panel, share: str, *, fitted: bool) -> str:
    """Say what the marks are."""
    text = "Dots: means of bins. Line: means in wider bins"
    if panel.marks_of(Band):
        text += f", with {share} intervals"
    if fitted:
        text += ". Dashed: fitted curve of Hill and Weir"
    if any(mark.shape == "diamond" for mark in panel.marks_of(Points)):  # type: ignore[attr-defined]
        text += ". Diamonds: half of the first mean"
        text += f", with {share} intervals" if panel.marks_of(Segments) else ""
    return f"{text}."
