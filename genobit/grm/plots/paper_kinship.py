"""KING kinship against the share of opposite homozygotes, with degrees, for papers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.colors import to_rgba_array
from matplotlib.ticker import MaxNLocator

from genobit.data import packed
from genobit.data.autosomes import choose
from genobit.engine.schedule.batches import in_groups
from genobit.grm.kinship import DEGREES, shared
from genobit.grm.pairs import above_diagonal, tile_tasks
from genobit.grm.plots.kinship import count_pairs, draw_histogram
from genobit.grm.plots.result import measure_of
from genobit.quality.methods.statistics import QualityMethods
from genobit.visual.paper.page import size_of
from genobit.visual.paper.plain import draw_plain
from genobit.visual.paper.texts import Room, block_size, lines_of
from genobit.visual.style import number
from genobit.visual.tokens import BANDS, LIGHT, NOTE_PT, OTHER_GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping

    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from genobit.data.autosomes import Autosomes
    from genobit.grm.plots.heatmap import OrderedMatrix

#: Pairs of lower kinship are counted and not drawn: those of different populations.
FLOOR = -0.14
TOP = 0.53
#: From this number of pairs on, one dot is drawn for the pairs of a cell of this side, in mm.
MANY, CELL = 50_000, 0.1
#: Above this number, relatives are dots as small as other pairs.
MANY_RELATIVES = 1_000
NAMES = {
    "duplicate or twin": "duplicate / twin",
    "first degree": "1st degree",
    "second degree": "2nd degree",
    "third degree": "3rd degree",
    "unrelated": "unrelated",
}
#: Least mean heterozygosity at which KING kinship is counted into degrees.
LEAST_HET = 0.05
_COVER = 100.0


@dataclass(frozen=True)
class KinshipPairs:
    """Pairs of samples of at least the kinship `FLOOR`; the others are counted.

    `first` and `second` are samples, `king` and `ibs0` values: (pairs,). `below` counts the pairs
    below the floor by the groups of their samples: (groups, groups). `without` counts the pairs
    without kinship. `het` is the mean heterozygosity of the samples.
    """

    first: np.ndarray
    second: np.ndarray
    king: np.ndarray
    ibs0: np.ndarray
    below: np.ndarray
    without: int
    het: float

    @property
    def doubt(self) -> str:
        """Why the kinship of inbred samples means nothing, "" if it does."""
        if self.het >= LEAST_HET:
            return ""
        return f"KING kinship needs heterozygous calls (here {self.het:.1%})"

    def degrees(self) -> dict[str, int]:
        """Return the number of pairs of each degree, closest degree first; none for inbred ones."""
        if self.doubt:
            return {}
        above = [int(np.count_nonzero(self.king > bound)) for bound in DEGREES.values()]
        counts = dict(zip(DEGREES, np.diff(above, prepend=0).tolist(), strict=True))
        counts["unrelated"] += int(self.below.sum())
        return counts


class _Part(NamedTuple):
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    king: NDArray[np.float64]
    ibs0: NDArray[np.float32]
    below: NDArray[np.int64]
    without: int


def _part(
    tile: NDArray[np.void],
    top: int,
    left: int,
    a: Mapping[str, NDArray[np.int64]],
    b: Mapping[str, NDArray[np.int64]],
    *,
    n_groups: int,
) -> _Part:
    kinship = tile["kinship"]
    first, second = above_diagonal(kinship >= FLOOR, top, left)
    i, j = first - top, second - left
    low_first, low_second = above_diagonal(kinship < FLOOR, top, left)
    codes = a["group"][low_first - top] * n_groups + b["group"][low_second - left]
    below = np.bincount(codes, minlength=n_groups**2).reshape(n_groups, n_groups)
    without = len(above_diagonal(np.isnan(kinship), top, left)[0])
    return _Part(
        first.astype(np.int32),
        second.astype(np.int32),
        kinship[i, j],
        tile["ibs0"][i, j].astype(np.float32),
        below,
        without,
    )


def kinship_pairs(
    ds: xr.Dataset, groups: np.ndarray, n_groups: int, autosomes: Autosomes
) -> KinshipPairs:
    """Compute KING kinship and the share of opposite homozygotes of all pairs, tile by tile.

    groups: (samples,) int. Raises ValueError for an unknown contig in ``autosomes``.
    """
    samples = packed.by_samples(ds, variants=choose(ds, autosomes).kept)[2]
    labels = {"group": np.asarray(groups, np.int64)}
    keys, graph = tile_tasks(partial(_part, n_groups=n_groups), shared(samples), labels)
    parts = list(in_groups(keys, graph))
    first, second, king, ibs0 = (np.concatenate([part[k] for part in parts]) for k in range(4))
    below = np.sum([part.below for part in parts], axis=0)
    without = sum(part.without for part in parts)
    het = float(np.nanmean(QualityMethods(ds).sample_stats(autosomes=autosomes)["het"]))
    return KinshipPairs(first, second, king, ibs0, below, without, het)


@dataclass(frozen=True)
class _Marks:
    """Marks of pairs: `x`, `y`, and `colour`, an index into the palette; all (marks,).

    `related` tells which marks are relatives, and `relatives` is the number of such pairs.
    `thinned` says that marks on one place are one.
    """

    x: np.ndarray
    y: np.ndarray
    colour: np.ndarray
    relatives: int
    thinned: bool = False

    @property
    def related(self) -> np.ndarray:
        found: np.ndarray = self.y > DEGREES["third degree"]
        return found


def draw_kinship(
    axes: Axes,
    pairs: KinshipPairs,
    groups: np.ndarray,
    colours: list[str],
    label: str = "",
) -> None:
    """Draw pairs over the bands of degrees; groups: (samples,) int, colours: one for each group.

    Pairs of two groups are grey. ``label`` is the name of the groups in the note on the pairs
    below the frame.
    """
    floor = min(-0.06, max(FLOOR, float(pairs.king.min(initial=0.0)) - 0.015))
    right = float(pairs.ibs0.max(initial=0.0)) or 0.1
    axes.set(xlim=(-0.035 * right, 1.05 * right), ylim=(floor, TOP))
    marks = _marks(axes, pairs, groups, len(colours))
    texts = _texts(pairs)
    room = _room(axes, marks)
    places = _places(axes, room, texts)
    for _ in range(8):
        if places is not None:
            break
        # The marks leave no room at the right, so the axis becomes longer.
        axes.set_xlim(axes.get_xlim()[0], 1.05 * axes.get_xlim()[1])
        room = _room(axes, marks)
        places = _places(axes, room, texts)
    _bands(axes, floor)
    _points(axes, marks, [*colours, OTHER_GROUP])
    _write(axes, texts, places or _places(axes, room, texts, anyhow=True))
    _write_notes(axes, room, _notes(pairs, label, thinned=marks.thinned))
    few = 6 if size_of(axes)[0] > 45 else 4
    axes.xaxis.set_major_locator(MaxNLocator(few, steps=[1, 2, 5, 10]))
    axes.set_yticks(np.arange(6) / 10)
    axes.set_xlabel("Share of variants with IBS = 0")
    axes.set_ylabel("KING kinship")


def draw_relationships(axes: Axes, arranged: OrderedMatrix, note: str) -> None:
    """Draw the histogram of relationships in place of kinship, which the note explains."""
    counted = count_pairs(arranged.pairs, measure_of(arranged.matrix))
    draw_plain(axes, draw_histogram(counted))
    lines = lines_of([note], size_of(axes)[0])
    axes.set_title("\n".join(lines), fontsize=NOTE_PT, fontweight="normal", color=LIGHT.slate)
    axes.set(xlabel=counted.measure.name[:1].upper() + counted.measure.name[1:], ylabel="Pairs")


def _marks(axes: Axes, pairs: KinshipPairs, groups: np.ndarray, n_groups: int) -> _Marks:
    a, b = groups[pairs.first], groups[pairs.second]
    relatives = int(np.count_nonzero(pairs.king > DEGREES["third degree"]))
    marks = _Marks(pairs.ibs0, pairs.king, np.where(a == b, a, n_groups), relatives)
    if len(marks.x) < MANY:
        return marks
    at = (_millimetres(axes, marks) // CELL).astype("i8")
    cells = (marks.colour * 100_000 + at[:, 0]) * 100_000 + at[:, 1]
    kept = np.unique(cells, return_index=True)[1]
    return _Marks(marks.x[kept], marks.y[kept], marks.colour[kept], relatives, thinned=True)


def _bands(axes: Axes, floor: float) -> None:
    bounds = [TOP, *list(DEGREES.values())[:-1]]
    for colour, high, low in zip(BANDS, bounds, bounds[1:], strict=False):
        if low >= floor:
            axes.axhspan(low, high, facecolor=colour, linewidth=0, zorder=0)


def _points(axes: Axes, marks: _Marks, colours: list[str]) -> None:
    palette = to_rgba_array(colours)
    # Pairs of one group lie over those of two; their order has no other meaning.
    order = np.random.default_rng(0).permutation(len(marks.x))
    order = order[np.argsort(marks.colour[order] < len(colours) - 1, kind="stable")]
    related = marks.related[order]
    many = marks.relatives > MANY_RELATIVES
    for chosen, large in ((order[~related], False), (order[related], not many)):
        drawn = axes.scatter(
            marks.x[chosen],
            marks.y[chosen],
            s=9.0 if large else 1.0,
            c=palette[marks.colour[chosen]],
            edgecolors=LIGHT.ink if large else "none",
            linewidths=0.35,
            zorder=3 if large else 2,
        )
        drawn.set_rasterized(not large)


def _millimetres(axes: Axes, marks: _Marks) -> np.ndarray:
    """Return the places of marks from the lower left corner of the axes: (marks, 2)."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    width, height = size_of(axes)
    x = (marks.x - left) / (right - left) * width
    y = (marks.y - low) / (high - low) * height
    return np.column_stack([x, y])


def _room(axes: Axes, marks: _Marks) -> Room:
    width, height = size_of(axes)
    at = _millimetres(axes, marks)
    # A mark of relatives is wider than a dot of the cloud.
    relatives = at[marks.related]
    around = [relatives + np.array([dx, dy]) for dx in (-0.4, 0.4) for dy in (-0.4, 0.4)]
    return Room(width, height, np.concatenate([at, *around]), 0.4)


@dataclass(frozen=True)
class _Text:
    """A text, its band of kinship, and the corner at which it should stand."""

    text: str
    low: float
    high: float
    corner: tuple[float, float]


def _texts(pairs: KinshipPairs) -> list[_Text]:
    counts = pairs.degrees()
    bounds = [TOP, *list(DEGREES.values())[:-1], -np.inf]
    out = [
        _Text(f"{NAMES[degree]}: {counts[degree]:,}", low, high, (1.0, 0.5))
        for degree, high, low in zip(NAMES, bounds, bounds[1:], strict=False)
    ]
    return [*out[:-1], _Text(out[-1].text, -np.inf, out[-1].high, (1.0, 1.0))]


def _notes(pairs: KinshipPairs, label: str, *, thinned: bool) -> list[str]:
    """Return what the panel leaves out."""
    notes, below = [], int(pairs.below.sum())
    if below:
        one = "s" * (below == 1), "s" * (below != 1)
        which = f" that differ{one[0]} in {label}" if label and not np.trace(pairs.below) else ""
        notes.append(f"{below:,} pair{one[1]}{which} lie{one[0]} below")
    if pairs.without:
        notes.append(f"{number(pairs.without, 'pair')} without a value")
    if thinned:
        notes.append("dots on one place are drawn once")
    return notes


def _write_notes(axes: Axes, room: Room, notes: list[str]) -> None:
    """Write the notes in the lower left corner if no mark is there, else above the axes."""
    lines = lines_of(notes, max(0.45 * room.width, 22.0))
    if not lines:
        return
    low, high = axes.get_ylim()
    inside = "\n".join(lines)
    ends = np.array([0.0, (DEGREES["third degree"] - low) / (high - low) * room.height])
    boxes = _candidates(room.width, ends, *block_size(inside, NOTE_PT), (0.0, 0.0))
    boxes = boxes[room.allowed(boxes)]
    boxes = boxes[room.covered(boxes) == 0]
    if len(boxes):
        best = boxes[np.argmin(np.round(np.hypot(*boxes[:, :2].T), 6))]
        _write(axes, [_Text(inside, -np.inf, 0.0, (0.0, 0.0))], [best])
        return
    axes.annotate(
        "\n".join(lines_of(["; ".join(notes)], room.width)),
        (1, 1),
        (0, 2),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=NOTE_PT,
        color=LIGHT.slate,
        ha="right",
        va="bottom",
    )


def _places(
    axes: Axes, room: Room, texts: list[_Text], *, anyhow: bool = False
) -> list[np.ndarray | None] | None:
    """Return the lower left and upper right corners of the texts, None for one without room.

    Texts stand at the right. Returns None if one would cover marks there; with ``anyhow``, it
    stands where it covers the fewest.
    """
    room.boxes.clear()
    low, high = axes.get_ylim()
    out: list[np.ndarray | None] = []
    for text in texts:
        wide, tall = block_size(text.text, NOTE_PT)
        ends = (np.clip([text.low, text.high], low, high) - low) / (high - low) * room.height
        boxes = _candidates(room.width, ends, wide, tall, text.corner)
        boxes = boxes[room.allowed(boxes, 0.2)]
        if not anyhow:
            boxes = boxes[boxes[:, 2] == boxes[:, 2].max(initial=0.0)]
        if not len(boxes):
            out.append(None)
            continue
        covered = room.covered(boxes)
        if not anyhow and covered.min() > 0:
            return None
        aim = np.array([text.corner[0] * room.width, ends @ [1 - text.corner[1], text.corner[1]]])
        middle = (boxes[:, :2] + boxes[:, 2:]) / 2
        cost = _COVER * covered + np.hypot(*(middle - aim).T)
        best = boxes[np.argmin(np.round(cost, 6))]
        out.append(best)
        room.take(best)
    return out


def _candidates(
    width: float, ends: np.ndarray, wide: float, tall: float, corner: tuple[float, float]
) -> np.ndarray:
    """Return boxes of a text inside of a band, which reaches from ends[0] to ends[1]."""
    left = np.arange(0.8, width - wide - 0.4, 1.0)
    if corner[0] == 1.0:
        left = width - 0.6 - wide - np.arange(0, max(width - wide - 1.4, 0.5), 1.0)
    spare = ends[1] - ends[0] - tall
    # A text may be a little taller than its band, as letters have air around them.
    if spare < -0.8:
        return np.empty((0, 4))
    bottom = np.array([ends[0] + spare / 2])
    if corner[1] != 0.5 and spare > 1.0:
        bottom = ends[0] + np.arange(0.5, spare - 0.2, 0.5)
    x, y = (grid.ravel() for grid in np.meshgrid(left, bottom))
    return np.column_stack([x, y, x + wide, y + tall])


def _write(axes: Axes, texts: list[_Text], places: list[np.ndarray | None] | None) -> None:
    width, height = size_of(axes)
    for text, box in zip(texts, places or [], strict=True):
        if box is None:
            continue
        right = text.corner[0] == 1.0
        axes.text(
            (box[2] if right else box[0]) / width,
            (box[1] + box[3]) / 2 / height,
            text.text,
            fontsize=NOTE_PT,
            color=LIGHT.slate,
            ha="right" if right else "left",
            va="center",
            transform=axes.transAxes,
            zorder=4,
        )
