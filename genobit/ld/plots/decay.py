"""Figure of a fitted LD decay: means, curve and half-decay distance of each population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.visual.style import WIDTH, margins, number, printable, scale_of
from genobit.visual.tokens import GROUPS

if TYPE_CHECKING:
    import xarray as xr

POPULATIONS = "populations"
#: Colours of populations.
COLOURS = GROUPS
#: Points of a curve: smooth at the width of a plot.
STEPS = 200
#: Scale and unit of distances: base pairs are drawn in kb.
SHOWN = {"bp": (1e3, "kb"), "cM": (1.0, "cM")}


def fitted_decay(
    decay: xr.Dataset, max_distance: float | None = None, *, log: bool = False
) -> hv.Overlay:
    """Draw the result of `.genobit.ld_decay()`; see `ld_decay`.

    Raises ValueError for another Dataset, or if no pair has a value within ``max_distance``.
    """
    statistic, several, whole, stop, kept = checked_decay(decay, max_distance)
    factor, unit = SHOWN[str(decay.attrs["unit"])]
    label = scale_of(statistic).label
    # A logarithmic axis has no 0.
    start = nearest_bin(whole, kept, stop) if log else 0.0
    layers = []
    for k in range(whole.sizes[POPULATIONS]):
        one, inside = whole.isel({POPULATIONS: k}), kept.isel({POPULATIONS: k}).values
        name = str(one[POPULATIONS].item()) if several else ""
        colour = COLOURS[k % len(COLOURS)]
        layers += _population(one, inside, statistic, (start, stop, factor), name, colour, unit)
    pairs = int(whole["pairs"].where(kept, 0).sum())
    title = f"Decay of {label}: {number(pairs, 'pair')}"
    if not several:
        title += f"\n{_half(decay, factor, unit)}"
    return hv.Overlay(layers).opts(
        title=title,
        xlabel=f"distance between the variants ({unit})",
        ylabel=f"mean {label}",
        ylim=(0, None),
        xlim=(start / factor, stop / factor),
        logx=log,
        frame_width=WIDTH,
        frame_height=260,
        show_legend=several,
        hooks=[margins],
    )


def checked_decay(
    decay: xr.Dataset, max_distance: float | None
) -> tuple[str, bool, xr.Dataset, float, xr.DataArray]:
    """Return statistic, whether there are populations, decay by population, reach and bins to draw.

    Raises ValueError as `fitted_decay`.
    """
    statistic = str(decay.attrs.get("statistic"))
    if statistic not in decay or "half_decay" not in decay:
        raise ValueError(
            "the Dataset is not a decay: give it the result of .genobit.ld_decay(), or the matrix "
            "of .genobit.ld()"
        )
    several = POPULATIONS in decay.dims
    whole = decay if several else decay.expand_dims(POPULATIONS)
    stop = float(decay["bin_stop"].max()) if max_distance is None else float(max_distance)
    kept = (whole["pairs"] > 0) & (whole["distance"] <= stop)
    if not bool(kept.any()):
        raise ValueError("no pair within max_distance has a value, so there is not a decay to draw")
    return statistic, several, whole, stop, kept


def _population(
    one: xr.Dataset,
    inside: np.ndarray,
    statistic: str,
    scale: tuple[float, float, float],
    name: str,
    colour: str,
    unit: str,
) -> list[Any]:
    """Return the points, the curve and the half-decay segment of one population."""
    start, stop, factor = scale
    columns = {
        "distance": one["distance"].values[inside] / factor,
        "mean": one[statistic].values[inside],
        "pairs": one["pairs"].values[inside],
    }
    points = hv.Points(columns, ["distance", "mean"], "pairs").opts(
        color=colour, size=5, alpha=0.6, tools=["hover"]
    )
    text = f"{printable(name)}: {_half(one, factor, unit)}" if name else ""
    misfits = str(one["fit"].item()) == "does not fit"
    curve = hv.Curve(_curve(one, scale), "distance", "mean", label=text).opts(
        color=colour, line_dash="dotted" if misfits else "solid"
    )
    half = float(one["half_decay"]) / factor
    # A vertical line up to the curve, if the axis reaches the half-decay distance.
    ends = [(half, 0.0, half, float(expectation(one, half * factor)))]
    segment = hv.Segments(
        ends if start <= half * factor <= stop else [], ["distance", "mean", "x1", "y1"]
    ).opts(color=colour, line_dash="dashed")
    return [points, curve, segment]


def expectation(one: xr.Dataset, distance: Any) -> Any:
    """Return the fitted curve of one population at distances in base pairs or cM."""
    from genobit.ld.decay import hill_weir

    return hill_weir(float(one["rho"]) * np.asarray(distance), int(one["observations"]))


def nearest_bin(whole: xr.Dataset, kept: xr.DataArray, stop: float) -> float:
    """Return where a logarithmic axis begins: a little before the nearest bin."""
    distance = whole["distance"].where(kept & (whole["distance"] > 0)).min()
    return 0.9 * float(distance) if distance < stop else 0.5 * stop


def _curve(one: xr.Dataset, scale: tuple[float, float, float]) -> dict[str, np.ndarray]:
    start, stop, factor = scale
    distance = np.geomspace(start, stop, STEPS) if start else np.linspace(0.0, stop, STEPS)
    return {"distance": distance / factor, "mean": expectation(one, distance)}


def _half(one: xr.Dataset, factor: float, unit: str) -> str:
    """Describe the half-decay distance with its interval, or why there is none."""
    if np.isnan(float(one["half_decay"])):
        return NO_HALF[str(one["fit"].item())]
    low, high = (f"{x / factor:.3g}" for x in one["half_decay_interval"].values)
    share = float(one.attrs["confidence"])
    return f"half at {float(one['half_decay']) / factor:.3g} {unit} ({share:.0%} CI {low}–{high})"


NO_HALF = {
    "does not fit": "the curve does not fit: no half distance",
    "below the bins": "half before the first bin",
    "beyond the bins": "half beyond the last bin",
}
