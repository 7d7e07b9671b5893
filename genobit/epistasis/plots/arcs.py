"""Arc diagram of pairs of interacting variants along the genome, contigs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import HoverTool

from genobit.data.contigs import contigs_in
from genobit.epistasis.plots.ranking import ALPHA, threshold_of
from genobit.epistasis.result import Ranked, ranked
from genobit.visual.placing import free_labels, nearest_segment, text_width
from genobit.visual.style import (
    SELECTED_COLOUR,
    SEQUENTIAL,
    few_marks,
    megabases,
    number,
    plain_frame,
)
from genobit.visual.tokens import LIGHT, ramp

if TYPE_CHECKING:
    import xarray as xr

#: Most arcs in a figure; more arcs cannot be told apart.
MOST_ARCS = 500
#: Width and height of the frame, and height of the contig strip below the arcs, in screen pixels.
WIDTH, HEIGHT, STRIP = 900, 210, 22
#: Points of the polyline of an arc.
_PIECES = 36
#: Gap between two contigs, and least width of a contig, as shares of the frame.
_GAP, _LEAST = 0.012, 0.02
#: Most ticks of the axis of scores beside the one at 0.
_TICKS = 4
_STRIPS = (LIGHT.edge, LIGHT.rule)


@dataclass(frozen=True)
class Genome:
    """Layout of contigs: names, first and last positions, left edges and widths in pixels."""

    names: list[str]
    first: np.ndarray
    last: np.ndarray
    left: np.ndarray
    width: np.ndarray

    def at(self, contig: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return the screen pixels of positions; ``contig`` holds the indices of their contigs."""
        span = np.maximum(self.last - self.first, 1)[contig]
        return self.left[contig] + self.width[contig] * (position - self.first[contig]) / span


@dataclass(frozen=True)
class Arcs:
    """Pairs of members of ranked combinations, in descending order of score.

    `rank` is the best combination that holds the pair. `members` (arcs, 2) are indices into this
    combination. `places` (rank, order) are screen pixels of all members of all combinations.
    """

    found: Ranked
    genome: Genome
    rank: np.ndarray
    members: np.ndarray
    places: np.ndarray
    out_of: int

    @property
    def x(self) -> np.ndarray:
        """Screen pixels (arcs, 2) of both ends."""
        return self.places[self.rank[:, None], self.members]

    @property
    def scores(self) -> np.ndarray:
        """Scores (arcs,) of the best combination that holds each pair."""
        return self.found.scores[self.rank]

    @cached_property
    def threshold(self) -> float | None:
        """Score of a family-wise p-value of `ALPHA`, None without permutations."""
        return threshold_of(self.found)

    @cached_property
    def top(self) -> float:
        """Score at the top of the axis, which begins at 0 and shows the threshold."""
        return 1.05 * max(float(self.scores.max()), self.threshold or 0.0) or 1.0

    @property
    def ticks(self) -> dict[str, float]:
        """Texts and scores of the ticks."""
        power = 10.0 ** np.floor(np.log10(self.top))
        step = next(k * power for k in (0.2, 0.5, 1, 2) if self.top < (_TICKS + 1) * k * power)
        scores = step * np.arange(int(self.top / step) + 1)
        return {f"{score:.4g}": float(score) for score in scores}

    @property
    def above(self) -> np.ndarray:
        """Mask of the arcs (arcs,) above the threshold; all without one."""
        return self.scores > (-np.inf if self.threshold is None else self.threshold)

    @property
    def colours(self) -> np.ndarray:
        """Colours (arcs,): by score above the threshold, and grey below it."""
        shades = np.array(ramp(SEQUENTIAL, 256, 0.25), dtype=object)
        shade = np.clip(255 * self.scores / self.top, 0, 255).astype("i8")
        return np.where(self.above, shades[shade], LIGHT.edge)

    def heights(self, rank: np.ndarray) -> np.ndarray:
        """Return the heights, in screen pixels, of the arcs of combinations ``rank``."""
        return HEIGHT * np.clip(self.found.scores[rank] / self.top, 0, 1)

    def in_words(self) -> str:
        """Return which pairs are drawn, and how many reach the threshold."""
        text = f"The best {number(self.out_of, 'pair')}"
        if self.found.order > 2:
            text = f"{number(self.out_of, 'pair')} of {number(self.found.size, 'combination')}"
            text += f" of {self.found.order} variants, each pair at its best combination"
        if self.out_of > len(self.rank):
            text += f", of which {len(self.rank):,} are drawn"
        if self.threshold is None:
            return text
        level = f"family-wise P = {ALPHA} ({self.threshold:.3g})"
        what = "pair" if self.found.order == 2 else "combination"
        reached = f"dashed line: {level}" if self.above.any() else f"no {what} reaches {level}"
        return f"{text}; {reached}"

    def rank_at(self, x: float, y: float) -> tuple[int, float]:
        """Return the combination of the arc nearest to a point, and the distance in pixels."""
        lines = half_ellipses(self.x, self.heights(self.rank))
        ends = np.concatenate([lines[:, :-1], lines[:, 1:]], axis=2).reshape(-1, 4)
        nearest, distance = nearest_segment(ends, x, y)
        return int(self.rank[nearest // (_PIECES - 1)]), distance


def epistasis_arcs(result: xr.Dataset, *, ds: xr.Dataset | None = None) -> hv.Overlay:
    """Draw ranked combinations as arcs over the genome, an arc for each pair of their variants.

    Parameters
    ----------
    result
        Result of `.genobit.epistasis()`.
    ds
        Dataset that was searched. Each contig spans all its variants in `ds`. Without `ds`, a
        contig spans only the variants of the result.

    Returns
    -------
        hv.Overlay. Height and colour of an arc show the best score among all combinations that
        contain the pair. Only the best 500 pairs are drawn. With permutations, a dashed line is at
        the score of a family-wise p-value of 0.05, and arcs below it are grey.

    Raises
    ------
    ValueError
        If there are no combinations, or only single variants.

    Examples
    --------
    >>> import xarray as xr
    >>> result = xr.Dataset(
    ...     {"variants": (("rank", "order"), [[3, 14, 15]]), "mi": ("rank", [0.25])}
    ... )
    >>> epistasis_arcs(result).opts.get().kwargs["title"]
    '3 pairs of 1 combination of 3 variants, each pair at its best combination'
    """
    return draw_arcs(arcs(ranked(result, ds), ds))


def arcs(found: Ranked, ds: xr.Dataset | None = None) -> Arcs:
    """Place the pairs of ranked combinations on the genome.

    Raises ValueError if there are no combinations, or only single variants.
    """
    if not found.size or found.order < 2:
        raise ValueError("arcs are pairs of variants, and there is no combination of two or more")
    pairs = np.array(list(combinations(range(found.order), 2)))
    # The user may have sorted the result by another column.
    order = np.argsort(-found.scores, kind="stable")
    variants = found.variants[order][:, pairs].reshape(-1, 2)
    _, best = np.unique(np.sort(variants, axis=1), axis=0, return_index=True)
    best = np.sort(best)
    place, which = np.divmod(best[:MOST_ARCS], len(pairs))
    rank = order[place]
    contig, position, genome = _genome(found, ds)
    return Arcs(found, genome, rank, pairs[which], genome.at(contig, position), len(best))


def draw_arcs(drawn: Arcs, marked: int | None = None, room: float = 1.0) -> hv.Overlay:
    """Draw arcs over contigs, with the pairs of combination ``marked`` in black and with names.

    ``room`` is the smallest width of the figure as a share of `WIDTH`: texts do not overlap there.
    """
    found = drawn.found
    worst_first = np.arange(len(drawn.rank))[::-1]
    curves = half_ellipses(drawn.x, drawn.heights(drawn.rank))
    colours, above = drawn.colours, drawn.above
    lines = [
        {
            "x": curves[k, :, 0],
            "y": curves[k, :, 1],
            **_about(drawn, int(k)),
            "colour": colours[k],
            "width": 1.6 if above[k] else 1.0,
        }
        for k in worst_first
    ]
    about = ["score", "first", "second", "rank", "colour", "width"]
    picture = hv.Contours(lines, ["x", "y"], about, label="Arcs")
    picture.opts(
        color="colour",
        line_width="width",
        alpha=0.85,
        default_tools=["save"],
        tools=["xpan", "xwheel_zoom", "reset", _hover(found)],
        active_tools=["xwheel_zoom"],
    )
    layers = [picture, *_mark(drawn, marked, room), *_contigs(drawn, room)]
    if drawn.threshold is not None:
        line = hv.HLine(HEIGHT * drawn.threshold / drawn.top)
        layers.append(line.opts(color=LIGHT.quiet, line_width=1, line_dash="dashed"))
    return hv.Overlay(layers).opts(
        title=drawn.in_words(),
        fontsize={"title": "9pt", "yticks": "8pt", "xticks": "8pt"},
        frame_width=WIDTH,
        frame_height=HEIGHT + STRIP + 40,
        xlim=(0, WIDTH),
        ylim=(-STRIP - 20, HEIGHT + 20),
        xaxis=None,
        yticks=[(HEIGHT * score / drawn.top, text) for text, score in drawn.ticks.items()],
        ylabel=found.label,
        show_legend=False,
        toolbar="above",
        default_tools=["save"],
        framewise=True,
        hooks=[plain_frame, few_marks],
    )


def _genome(found: Ranked, ds: xr.Dataset | None) -> tuple[np.ndarray, np.ndarray, Genome]:
    """Return the contig and position of every member (rank, order), and the layout of contigs."""
    position = found.variants if found.positions is None else found.positions
    contig = np.zeros(position.shape, dtype="i8")
    names = [""]
    if found.positions is not None and found.contigs is not None:
        names, contig = _named(found.contigs, found.variants)
    first = np.array([position[contig == k].min() for k in range(len(names))])
    last = np.array([position[contig == k].max() for k in range(len(names))])
    if ds is not None and found.positions is None:
        first[:], last[:] = 0, ds.sizes["variants"] - 1
    elif ds is not None and {"variant_position", "variant_contig"} <= set(ds.variables):
        contigs, at = contigs_in(ds), ds["variant_position"].values
        for k, name in enumerate(names):
            theirs = at[[] if contigs is None else contigs.of_variants() == name]
            if len(theirs):
                first[k], last[k] = theirs.min(), theirs.max()
    span = np.maximum(last - first, 1) / np.maximum(last - first, 1).sum()
    share = np.maximum(span, _LEAST)
    width = share / share.sum() * WIDTH * (1 - _GAP * (len(names) + 1))
    left = WIDTH * _GAP + np.concatenate([[0], np.cumsum(width + WIDTH * _GAP)[:-1]])
    return contig, position, Genome(names, first, last, left, width)


def _named(contigs: np.ndarray, variants: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the contigs that have a member, in the order of the variants, and their indices."""
    ids, inverse = np.unique(contigs, return_inverse=True)
    earliest = [variants.ravel()[inverse.ravel() == k].min() for k in range(len(ids))]
    order = np.argsort(earliest)
    place = np.empty(len(ids), dtype="i8")
    place[order] = np.arange(len(ids))
    return ids[order].tolist(), place[inverse].reshape(contigs.shape)


def half_ellipses(x: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return half ellipses as points (arcs, pieces, 2)."""
    angle = np.linspace(0, np.pi, _PIECES)
    middle, radius = x.mean(axis=1)[:, None], (x[:, 1] - x[:, 0])[:, None] / 2
    return np.stack([middle - radius * np.cos(angle), height[:, None] * np.sin(angle)], axis=2)


def _about(drawn: Arcs, arc: int) -> dict[str, Any]:
    found, rank = drawn.found, int(drawn.rank[arc])
    texts = []
    for member in drawn.members[arc]:
        text = str(found.names[rank, member])
        if found.positions is not None:
            contig = "" if found.contigs is None else f"{found.contigs[rank, member]}:"
            place = f"{contig}{found.positions[rank, member]:,}"
            text = text if text == place.replace(",", "") else f"{text}  at {place}"
        texts.append(text)
    first, second = texts
    return {
        "score": float(drawn.scores[arc]),
        "first": first,
        "second": second,
        "rank": found.ranks[rank],
    }


def _mark(drawn: Arcs, marked: int | None, room: float) -> list[Any]:
    """Draw the pairs of a combination in black, and the names of its members."""
    found = drawn.found
    columns: tuple[Any, ...] = ([], [], [])
    lines: list[np.ndarray] = []
    if marked is not None:
        x = drawn.places[marked]
        pairs = np.array(list(combinations(x, 2)))
        lines = list(half_ellipses(pairs, drawn.heights(np.full(len(pairs), marked))))
        names = [str(name) for name in found.names[marked]]
        half = np.array([text_width(name, bold=True) for name in names]) / 2 / room
        x = np.clip(x, half, WIDTH - half)
        written = free_labels(x, np.zeros(len(x)), names, half=half)
        columns = (x[written], np.full(len(written), -STRIP - 10.0), [names[k] for k in written])
    black = hv.Path(lines, ["x", "y"], label="Marked").opts(
        color=SELECTED_COLOUR, line_width=2.5, default_tools=[]
    )
    texts = hv.Labels(columns, ["x", "y"], "text", label="Members").opts(
        text_color=SELECTED_COLOUR, text_font_size="8pt", text_font_style="bold", default_tools=[]
    )
    return [black, texts]


def _contigs(drawn: Arcs, room: float) -> list[Any]:
    genome = drawn.genome
    left, right = genome.left, genome.left + genome.width
    boxes = {"x0": left, "y0": np.full(len(left), -float(STRIP)), "x1": right, "y1": 0 * left}
    boxes["colour"] = np.array([_STRIPS[k % 2] for k in range(len(left))], dtype=object)
    strips = hv.Rectangles(boxes, ["x0", "y0", "x1", "y1"], "colour", label="Contigs").opts(
        color="colour", line_color=None, default_tools=[]
    )
    names = [contig_name(drawn, k) for k in range(len(left))]
    for k, name in enumerate(names):
        if text_width(name) / room > genome.width[k]:
            names[k] = genome.names[k]
    middle = (left + right) / 2
    half = np.array([text_width(name) for name in names]) / 2 / room
    written = free_labels(middle, 0 * middle, names, half=half)
    columns = (middle[written], np.full(len(written), -STRIP / 2), [names[k] for k in written])
    texts = hv.Labels(columns, ["x", "y"], "text", label="Names").opts(
        text_font_size="8pt", text_color=LIGHT.ink, default_tools=[]
    )
    return [strips, texts]


def contig_name(drawn: Arcs, k: int) -> str:
    """Return the name of a contig, with its stretch if there are few contigs."""
    genome = drawn.genome
    if drawn.found.positions is None:
        return f"variants {int(genome.first[k]):,} to {int(genome.last[k]):,}"
    span = float(genome.last[k] - genome.first[k])
    stretch = f"{megabases(genome.first[k], span)}–{megabases(genome.last[k], span)} Mb"
    if len(genome.names) > 6:
        return genome.names[k]
    return f"{genome.names[k]}: {stretch}" if genome.names[k] else stretch


def _hover(found: Ranked) -> HoverTool:
    rows = [("variant", "@first"), ("with", "@second"), (found.label, "@score{0.0000}")]
    return HoverTool(tooltips=[*rows, ("best rank", "@rank")], line_policy="interp")
