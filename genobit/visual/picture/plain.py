"""Plain pictures of any result: histogram, bars, and tracks along the genome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genobit.visual.picture.spec import Axis, Boxes, Panel, Picture, Points
from genobit.visual.style import first_capital, number
from genobit.visual.tokens import LIGHT, OTHER_GROUP

#: Bars of a histogram.
BARS = 50
#: Tracks of more variants have smaller points.
_MANY = 5_000


@dataclass(frozen=True)
class Places:
    """Places `x` of variants on an axis, and how to label the axis.

    `names` are hover texts: the identifiers, or the positions. `contig` holds the contig index of
    each variant; contigs are numbered in the order on the axis. `ticks` has the names of several
    contigs.
    """

    x: np.ndarray
    names: np.ndarray
    contig: np.ndarray
    label: str
    ticks: tuple[tuple[float, str], ...] = ()

    def axis(self) -> Axis:
        """Return the axis of a picture."""
        return Axis(first_capital(self.label), ticks=self.ticks or None)


def histogram(
    values: np.ndarray, label: str, things: str, bins: int = BARS, *, log: bool = False
) -> Picture:
    """Draw a histogram of values; the title counts the values that are missing.

    With ``log``, the axis of counts is logarithmic.

    Examples
    --------
    >>> bars = histogram(np.array([1.0, 2.0, np.nan]), "score", "variant", 2).panel.marks_of(Boxes)
    >>> bars[0].y1
    array([1., 1.])
    """
    values = np.asarray(values, dtype="f8").ravel()
    known = values[np.isfinite(values)]
    title = number(len(known), things)
    if len(known) < len(values):
        title += f", {len(values) - len(known):,} without a value"
    counts, edges = np.histogram(known, bins)
    return counted(edges, counts, (label, f"{things}s"), title, log=log)


def counted(
    edges: np.ndarray, counts: np.ndarray, labels: tuple[str, str], title: str, *, log: bool = False
) -> Picture:
    """Draw counts between edges, (bars + 1,), as bars; ``labels`` are those of x and y."""
    low = 0.5 if log else 0.0
    hover = {"from": edges[:-1], "to": edges[1:], labels[1]: counts}
    bars = Boxes(
        edges[:-1],
        np.full(len(counts), low),
        edges[1:],
        np.maximum(counts, low),
        edge=LIGHT.paper,
        hover=hover,
    )
    panel = Panel(
        Axis(first_capital(labels[0]), (float(edges[0]), float(edges[-1]))),
        Axis(first_capital(labels[1]), (low, None), log=log, whole=True),
        (bars,),
        size=(640, 220),
        zoom="x",
    )
    return Picture(panel, title)


def track(at: Places, values: np.ndarray, label: str, title: str) -> Picture:
    """Draw one value of each variant along the genome; missing values are left out."""
    known = np.isfinite(values)
    unseen = int((~known).sum())
    # Neighbouring contigs differ in shade.
    shades = np.where(at.contig[known] % 2, OTHER_GROUP, LIGHT.slate)
    points = Points(
        at.x[known],
        values[known],
        4.0 if len(values) <= _MANY else 2.0,
        colour=shades,
        hover={"variant": at.names[known], label: values[known]},
    )
    title += f", {unseen:,} without a value" if unseen else ""
    panel = Panel(at.axis(), Axis(first_capital(label)), (points,), size=(640, 220), zoom="x")
    return Picture(panel, title)


def mask_track(at: Places, mask: np.ndarray, names: tuple[str, str]) -> Picture:
    """Draw how many variants a mask keeps and removes along the genome, as stacked bars.

    ``names`` are the words for True and False.
    """
    edges = np.histogram_bin_edges(at.x, BARS)
    kept = np.histogram(at.x[mask], edges)[0]
    every = np.histogram(at.x, edges)[0]
    layers = [(0 * kept, kept, names[0], LIGHT.slate), (kept, every, names[1], LIGHT.no_value)]
    boxes = tuple(
        Boxes(
            edges[:-1],
            low,
            edges[1:],
            high,
            edge=LIGHT.paper,
            colour=colour,
            label=name,
            hover={name: high - low},
        )
        for low, high, name, colour in layers
    )
    title = f"{int(np.count_nonzero(mask)):,} of {number(len(mask), 'variant')} {names[0]}"
    y = Axis("Variants", (0.0, 1.1 * max(int(every.max(initial=1)), 1)), whole=True)
    return Picture(Panel(at.axis(), y, boxes, size=(640, 200)), title)


def bars(counts: dict[str, int], things: str, title: str) -> Picture:
    """Draw counts as bars, each with its number."""
    middle, high = np.arange(len(counts)), np.array([*counts.values()])
    names = [f"{name}: {count:,}" for name, count in counts.items()]
    boxes = Boxes(
        middle - 0.3, 0.0 * high, middle + 0.3, high, hover={things: np.array(names, object)}
    )
    ticks = tuple(zip(middle.astype("f8").tolist(), names, strict=True))
    x = Axis("", (-0.6, len(counts) - 0.4), ticks=ticks)
    y = Axis(first_capital(things), (0.0, None), whole=True)
    return Picture(Panel(x, y, (boxes,), size=(320, 220)), title)
