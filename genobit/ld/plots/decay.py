"""Figure of a fitted LD decay: means, curve and half-decay distance of each population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from genobit.visual.style import WIDTH, margins, number, scale_of
from genobit.visual.tokens import GROUPS

if TYPE_CHECKING:
    import xarray as xr

POPULATIONS = "populations"
#: Colours of populations.
COLOURS = GROUPS
#: Points of a curve: smooth at the width of a plot.
STEPS = 200
#: Scale and unit of distances: base pairs are drawn in kb.
_SHOWN = {"bp": (1e3, "kb"), "cM": (1.0, "cM")}


def fitted_decay(decay: xr.Dataset, max_distance: float | None = None) -> hv.Overlay:
    """Draw the result of `.genobit.ld_decay()`; see `ld_decay`.

    Raises ValueError for another Dataset, or if no pair has a value within ``max_distance``.
    """
    statistic = str(decay.attrs.get("statistic"))
    if statistic not in decay or "half_decay" not in decay:
        raise ValueError(
            "the Dataset is not a decay: give it the result of .genobit.ld_decay(), or the matrix "
            "of .genobit.ld()"
        )
    several = POPULATIONS in decay.dims
    whole = decay if several else decay.expand_dims(POPULATIONS)
    factor, unit = _SHOWN[str(decay.attrs["unit"])]
    stop = float(decay["bin_stop"].max()) if max_distance is None else float(max_distance)
    kept = (whole["pairs"] > 0) & (whole["distance"] <= stop)
    if not bool(kept.any()):
        raise ValueError("no pair within max_distance has a value, so there is not a decay to draw")
    label = scale_of(statistic).label
    layers = []
    for k in range(whole.sizes[POPULATIONS]):
        one, inside = whole.isel({POPULATIONS: k}), kept.isel({POPULATIONS: k}).values
        name = str(one[POPULATIONS].item()) if several else ""
        colour = COLOURS[k % len(COLOURS)]
        layers += _population(one, inside, statistic, (stop, factor), name, colour, unit)
    pairs = int(whole["pairs"].where(kept, 0).sum())
    title = f"Decay of {label}: {number(pairs, 'pair')}"
    if not several:
        title += f"\n{_half(decay, factor, unit)}"
    return hv.Overlay(layers).opts(
        title=title,
        xlabel=f"distance between the variants ({unit})",
        ylabel=f"mean {label}",
        ylim=(0, None),
        xlim=(0, stop / factor),
        frame_width=WIDTH,
        frame_height=260,
        show_legend=several,
        hooks=[margins],
    )


def _population(
    one: xr.Dataset,
    inside: np.ndarray,
    statistic: str,
    scale: tuple[float, float],
    name: str,
    colour: str,
    unit: str,
) -> list[Any]:
    """Return the points, the curve and the half-decay segment of one population."""
    stop, factor = scale
    columns = {
        "distance": one["distance"].values[inside] / factor,
        "mean": one[statistic].values[inside],
        "pairs": one["pairs"].values[inside],
    }
    points = hv.Points(columns, ["distance", "mean"], "pairs").opts(
        color=colour, size=5, alpha=0.6, tools=["hover"]
    )
    text = f"{name}: {_half(one, factor, unit)}" if name else ""
    misfits = str(one["fit"].item()) == "does not fit"
    curve = hv.Curve(_curve(one, stop, factor), "distance", "mean", label=text).opts(
        color=colour, line_dash="dotted" if misfits else "solid"
    )
    half = float(one["half_decay"]) / factor
    # A vertical line up to the curve, if the axis reaches the half-decay distance.
    ends = [(half, 0.0, half, float(_expectation(one, half * factor)))]
    segment = hv.Segments(
        ends if half <= stop / factor else [], ["distance", "mean", "x1", "y1"]
    ).opts(color=colour, line_dash="dashed")
    return [points, curve, segment]


def _expectation(one: xr.Dataset, distance: Any) -> Any:
    from genobit.ld.decay import hill_weir

    return hill_weir(float(one["rho"]) * np.asarray(distance), int(one["observations"]))


def _curve(one: xr.Dataset, stop: float, factor: float) -> dict[str, np.ndarray]:
    distance = np.linspace(0.0, stop, STEPS)
    return {"distance": distance / factor, "mean": _expectation(one, distance)}


def _half(one: xr.Dataset, factor: float, unit: str) -> str:
    """Describe the half-decay distance with its interval, or why there is none."""
    if np.isnan(float(one["half_decay"])):
        return _NO_HALF[str(one["fit"].item())]
    low, high = (f"{x / factor:.3g}" for x in one["half_decay_interval"].values)
    share = float(one.attrs["confidence"])
    return f"half at {float(one['half_decay']) / factor:.3g} {unit} ({share:.0%} CI {low}–{high})"


_NO_HALF = {
    "does not fit": "the curve does not fit: no half distance",
    "below the bins": "half before the first bin",
    "beyond the bins": "half beyond the last bin",
}
