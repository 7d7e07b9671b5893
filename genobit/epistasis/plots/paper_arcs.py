"""Arcs of pairs over contigs for papers, with the names of the members of the best combinations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from genobit.epistasis.plots.arcs import HEIGHT, WIDTH, Arcs, arcs, contig_name, half_ellipses
from genobit.epistasis.result import ranked
from genobit.visual.paper.labels import spread
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import lines_of, text_size, write_text
from genobit.visual.tokens import AXIS_PT, CASING_PT, HAIRLINE_PT, LIGHT, OUTLINE_PT

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

#: Most combinations whose members are named.
NAMED = 5
#: Room for the line and name of the axis of scores, and above the arcs for ranks, in millimetres.
_AXIS, _ABOVE = 5.6, 3.4
#: Height of the strips of contigs, of the lines from it to the names, and of a line of text.
_STRIP, _LINES, _LINE = 3.4, 4.0, 2.8
#: Height of the arcs as a share of the width, and its limits in millimetres.
_SHARE, _LOW, _HIGH = 0.26, 20.0, 42.0
_GAP = 1.6
#: Width of an arc in points.
_ARC = 0.8


def paper_arcs(result: xr.Dataset, *, ds: xr.Dataset | None = None) -> Paper:
    """Return the pairs of variants in ranked combinations as arcs over contigs, for a page.

    Parameters
    ----------
    result, ds
        As for `epistasis_arcs`.

    Returns
    -------
        The page. The top of an arc is at the score of its pair. The best combination is blue. The
        best five have their ranks and the names of their members, as far as there is room. With
        permutations, a dashed line is at the score of a family-wise p-value of 0.05, and arcs below
        it are grey, the best one too.

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
    >>> paper_arcs(result).height(180) < 80
    True
    """
    return arcs_of(arcs(ranked(result, ds), ds))


def arcs_of(drawn: Arcs, marked: int | None = None) -> Paper:
    """Return arcs for a page, with combination ``marked`` in blue.

    The default is the best one, unless it is below the threshold.
    """
    if marked is None and drawn.above[0]:
        marked = int(drawn.rank[0])
    page = _Page(drawn, -1 if marked is None else marked)
    return Paper(page.draw, page.height, whole=True)


@dataclass(frozen=True)
class _Page:
    """Arcs, and the combination in blue, -1 for none. Sizes are in millimetres."""

    arcs: Arcs
    lead: int

    @cached_property
    def beside(self) -> float:
        """Room for the axis of scores."""
        return _AXIS + max(text_size(text)[0] for text in self.arcs.ticks)

    def rise(self, width: float) -> float:
        return float(np.clip(_SHARE * width, _LOW, _HIGH))

    def below(self, width: float) -> float:
        """Return the height of everything below the arcs."""
        lines = len(lines_of(self.notes, width - 2 * MARGIN))
        return _STRIP + 1.0 + _LINES + 1.4 * _LINE + lines * _LINE

    def height(self, width: float) -> float:
        return 2 * MARGIN + _ABOVE + self.rise(width) + self.below(width)

    @property
    def notes(self) -> list[str]:
        text = f"{self.arcs.in_words()}."
        if self.lead < 0:
            return [text]
        # Better combinations may hold all its pairs, so that only its names are blue.
        blue = "Blue" if (self.arcs.rank == self.lead).any() else "Blue names"
        return [f"{text} {blue}: rank {self.arcs.found.ranks[self.lead]}."]

    def draw(self, axes: Axes) -> None:
        width, height = size_of(axes)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0))
        across = max(width - 2 * MARGIN - self.beside, 5.0)
        rise = max(height - 2 * MARGIN - _ABOVE - self.below(width), 5.0)
        left, top = MARGIN + self.beside, MARGIN + _ABOVE
        frame = panel(axes, left, top, across, rise)
        frame.set(xlim=(0, across), ylim=(0, rise))
        named = self._named(across)
        self._arcs(frame, across, rise)
        self._scores(frame, rise)
        self._ranks(frame, across, rise, named)
        base = top + rise
        lines_at = self._names(axes, left, base, across, named)
        self._contigs(axes, left, base, across, lines_at)
        lines = lines_of(self.notes, width - 2 * MARGIN)
        for k, line in enumerate(reversed(lines)):
            y = height - MARGIN - (k + 0.5) * _LINE
            write_text(axes, width - MARGIN, y, line, ha="right", color=LIGHT.slate)

    def _heights(self, rank: np.ndarray, rise: float) -> np.ndarray:
        return self.arcs.heights(rank) * rise / HEIGHT

    def _arcs(self, frame: Axes, across: float, rise: float) -> None:
        found = self.arcs
        x, heights = found.x * across / WIDTH, self._heights(found.rank, rise)
        half = Path.arc(0, 180)
        radii = np.stack([(x[:, 0] - x[:, 1]) / 2, heights], axis=1)
        middles = np.stack([x.mean(axis=1), 0 * heights], axis=1)
        moved = half.vertices * radii[:, None] + middles[:, None]
        lead = found.rank == self.lead
        widths = np.where(found.above, _ARC, AXIS_PT)
        for chosen, colours, wide, label in (
            (~lead, found.colours[~lead][::-1].tolist(), widths[~lead][::-1].tolist(), "_arcs"),
            (lead, [LIGHT.paper], [CASING_PT], "_casing"),
            (lead, [LIGHT.accent], [OUTLINE_PT * 1.3], "_lead"),
        ):
            drawn = PathCollection(
                [Path(points, half.codes) for points in moved[chosen][::-1]],
                facecolors="none",
                edgecolors=colours,
                linewidths=wide,
                label=label,
                capstyle="round" if label == "_arcs" else "butt",
                clip_on=False,
            )
            frame.add_collection(drawn, autolim=False)

    def _scores(self, frame: Axes, rise: float) -> None:
        """Draw the axis of scores, and the line of the family-wise p-value."""
        found = self.arcs
        frame.set_xticks([])
        for side in ("bottom", "top", "right"):
            frame.spines[side].set_visible(False)
        scores = np.array([*found.ticks.values()])
        frame.set_yticks(scores / found.top * rise, [*found.ticks])
        frame.set_ylabel(found.found.label)
        across = size_of(frame)[0]
        frame.yaxis.set_label_coords(-(self.beside - 2.6) / across, 0.5)
        if found.threshold is not None:
            y = found.threshold / found.top * rise
            frame.plot(
                [0, across], [y, y], color=LIGHT.slate, linewidth=AXIS_PT, dashes=(4, 2.5),
                label="_threshold",
            )  # fmt: skip

    def _named(self, across: float) -> list[int]:
        """Return the best combinations whose members' names fit side by side, the lead first."""
        found = self.arcs.found
        order = [self.lead] if self.lead >= 0 else []
        order += np.argsort(-found.scores, kind="stable").tolist()
        chosen: list[int] = []
        for rank in list(dict.fromkeys(order))[:NAMED]:
            members = self._members([*chosen, rank])
            wide = sum(self._width(name, lead=lead) + _GAP for name, _, lead in members)
            if wide > across + _GAP:
                break
            chosen.append(rank)
        return chosen

    def _members(self, ranks: list[int]) -> list[tuple[str, float, bool]]:
        """Return name, place and whether it is of the lead, of each member of combinations."""
        found = self.arcs.found
        members: dict[int, tuple[str, float, bool]] = {}
        for rank in ranks:
            for k, variant in enumerate(found.variants[rank].tolist()):
                place = float(self.arcs.places[rank, k])
                members.setdefault(variant, (str(found.names[rank, k]), place, rank == self.lead))
        return list(members.values())

    def _width(self, name: str, *, lead: bool) -> float:
        return 1.03 * text_size(name, bold=lead)[0]

    def _names(
        self, axes: Axes, left: float, base: float, across: float, named: list[int]
    ) -> np.ndarray:
        """Write the names of members below the strip, with lines to their places; return these."""
        members = self._members(named)
        if not members:
            return np.empty(0)
        places = np.array([place for _, place, _ in members]) * across / WIDTH
        sizes = np.array([self._width(name, lead=lead) + _GAP for name, _, lead in members])
        middles = spread(places, sizes, -_GAP / 2, across + _GAP / 2)
        top = base + _STRIP + 0.4
        for (name, _, lead), x, at in zip(members, middles, places, strict=True):
            colour = LIGHT.accent if lead else LIGHT.ink
            ends = [at, at, x, x], [base, top + 0.8, top + _LINES - 0.8, top + _LINES - 0.2]
            axes.plot(
                left + np.array(ends[0]), ends[1], clip_on=False,
                color=colour if lead else LIGHT.slate,
                linewidth=OUTLINE_PT if lead else HAIRLINE_PT,
            )  # fmt: skip
            look: dict[str, Any] = {"fontweight": "bold"} if lead else {}
            y = top + _LINES + 0.5 * _LINE
            write_text(axes, left + x, y, name, ha="center", color=colour, **look)
        return places

    def _ranks(self, frame: Axes, across: float, rise: float, named: list[int]) -> None:
        """Write the ranks of the named combinations over their widest arcs."""
        found, taken = self.arcs, np.empty((0, 4))
        lead = np.flatnonzero(found.rank == self.lead)
        blue = half_ellipses(found.x[lead] * across / WIDTH, self._heights(found.rank[lead], rise))
        for rank in named:
            mine = np.flatnonzero(found.rank == rank)
            if not len(mine):
                continue
            x = found.x[mine] * across / WIDTH
            middle = float(x[np.argmax(np.ptp(x, axis=1))].mean())
            y = float(self._heights(found.rank[mine[:1]], rise)[0]) + 0.5
            text = str(found.found.ranks[rank])
            wide, high = text_size(text, bold=True)
            box = np.array([middle - wide / 2 - 0.4, y, middle + wide / 2 + 0.4, y + high + 0.4])
            free = (taken[:, 0] > box[2]) | (taken[:, 2] < box[0])
            if not (free | (taken[:, 1] > box[3]) | (taken[:, 3] < box[1])).all():
                continue
            inside = (blue > box[:2]) & (blue < box[2:])
            if rank != self.lead and inside.all(axis=-1).any():
                continue
            taken = np.concatenate([taken, box[None]])
            colour = LIGHT.accent if rank == self.lead else LIGHT.ink
            write_text(
                frame, middle, y, text, ha="center", va="bottom", fontweight="bold", color=colour,
                clip_on=False, path_effects=[withStroke(linewidth=1.6, foreground=LIGHT.paper)],
            )  # fmt: skip

    def _contigs(
        self, axes: Axes, left: float, base: float, across: float, lines: np.ndarray
    ) -> None:
        """Draw the strips of contigs; a name stands beside the lines over its strip."""
        genome = self.arcs.genome
        starts, wide = (part * across / WIDTH for part in (genome.left, genome.width))
        x, y = np.stack([starts, starts + wide]) + left, np.array([base, base + _STRIP])
        strips = PolyCollection(
            [np.stack([x[[0, 1, 1, 0], k], y[[0, 0, 1, 1]]], axis=1) for k in range(len(wide))],
            facecolors=[(LIGHT.edge, LIGHT.rule)[k % 2] for k in range(len(wide))],
            linewidths=0,
            label="_contigs",
        )
        axes.add_collection(strips, autolim=False)
        for k, (start, room) in enumerate(zip(starts, wide, strict=True)):
            for text in dict.fromkeys([contig_name(self.arcs, k), genome.names[k]]):
                half = text_size(text)[0] / 2 + 0.4
                middles = start + np.linspace(half, max(room - half, half), 41)
                free = (np.abs(lines - middles[:, None]) > half).all(axis=1)
                if text and room >= 2 * half and free.any():
                    away = np.abs(middles - start - room / 2) + np.where(free, 0.0, np.inf)
                    middle = left + float(middles[np.argmin(away)])
                    write_text(axes, middle, base + _STRIP / 2, text, ha="center", zorder=4)
                    break
