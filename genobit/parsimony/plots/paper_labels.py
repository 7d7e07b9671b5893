"""Places of the numbers and changes on the branches of a tree, so that none covers anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.parsimony.plots.paper_layout import ROOT
from genobit.visual.paper.texts import capital, millimetres, width_of
from genobit.visual.tokens import NOTE_PT, OUTLINE_PT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from genobit.parsimony.plots.paper_layout import Content, Frame

    Floats = NDArray[np.float64]

#: Free space beside a label, and above and below it.
_BESIDE, _OVER = 0.3, 0.08
#: Largest distance of a number from its branch.
_FAR = 0.55
#: Free space below a number that is below its branch, so that it belongs to no other.
_CLEAR = 1.6
#: Place of a change along its branch, and half its largest height.
_ALONG, _HALF = 0.68, 1.0
_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7)
_BESIDE_BAR = (0.34, 0.5, 0.25, 0.15, 0.85)
_SHIFTS = (0.0, -1.0, 1.0, -2.0, 2.0)


class Label(NamedTuple):
    """A text on one line; x is its middle, y its baseline."""

    x: float
    y: float
    text: str
    branch: int


class Labels(NamedTuple):
    """Labels of the branches, and how many found no place."""

    numbers: list[Label]
    changes: list[Label]
    bars: Floats
    """Marks of the changes of the focus site, (changes, 3): x, upper and lower y."""
    branches: list[int]
    """Branch of each mark."""
    lost_numbers: int
    lost_changes: int


class _Taken:
    """Boxes that are taken: left, top, right, bottom."""

    def __init__(self, boxes: Floats, room: int) -> None:
        self._boxes = np.vstack([boxes, np.full((room, 4), np.inf)])
        self._count = len(boxes)

    def place(self, box: tuple[float, float, float, float], clear: float = 0.0) -> bool:
        """Take a box if it is free, with free space below it, and return whether it was."""
        left, top, right, bottom = box
        there = self._boxes[: self._count]
        beside = (there[:, 0] < right + _BESIDE) & (left - _BESIDE < there[:, 2])
        level = (there[:, 1] < bottom + clear + _OVER) & (top - _OVER < there[:, 3])
        if (beside & level).any():
            return False
        self._boxes[self._count] = box
        self._count += 1
        return True


def label_branches(content: Content, placed: Frame) -> Labels:
    """Place changes of the focus site, then numbers, on the shortest branches first."""
    states = content.states
    changed = np.flatnonzero(states.changed[:-1]).tolist() if states else []
    bars = _bars(placed, changed)
    boxes = np.vstack([_lines(placed), _dots(content, placed), _bar_boxes(bars)])
    stems = placed.tree.stems
    length = stems[:, 2] - stems[:, 0]
    wanted = [k for k, words in enumerate(content.numbers) if words]
    wanted.sort(key=lambda branch: (float(length[branch]), branch))
    taken = _Taken(boxes, len(changed) + len(wanted))
    changes, numbers = [], []
    above = _distance(placed.pitch)
    for (x, top, bottom), branch in zip(bars.tolist(), changed, strict=True):
        words = _change(content, branch)
        reach = (bottom - top) / 2
        options = _beside_bar(
            x, float(stems[branch, 3]), reach, width_of(words, NOTE_PT, bold=True)
        )
        found = _first_free(taken, options, words, branch, bold=True)
        changes += [found] if found else []
    with_bar = set(changed)
    for branch in wanted:
        words = content.numbers[branch]
        places = _BESIDE_BAR if branch in with_bar else _PLACES
        options = _along(stems[branch], above, places)
        found = _first_free(taken, options, words, branch)
        numbers += [found] if found else []
    lost = len(wanted) - len(numbers), len(changed) - len(changes)
    return Labels(numbers, changes, bars, changed, *lost)


def _distance(pitch: float) -> float:
    """Return the distance of a number from its branch, smaller where tips are close."""
    line = OUTLINE_PT * millimetres(1)
    free = pitch - line - capital(NOTE_PT) - 2 * _OVER
    return min(line / 2 + _OVER + max(0.8 * free, 0.01), _FAR)


def _first_free(
    taken: _Taken,
    options: Iterator[tuple[float, float, float]],
    words: str,
    branch: int,
    *,
    bold: bool = False,
) -> Label | None:
    """Return the label at the first free place: x, baseline and free space below."""
    half, high = width_of(words, NOTE_PT, bold=bold) / 2, capital(NOTE_PT)
    for x, y, clear in options:
        if taken.place((x - half, y - high, x + half, y), clear):
            return Label(x, y, words, branch)
    return None


def _along(
    stem: Floats, above: float, places: tuple[float, ...]
) -> Iterator[tuple[float, float, float]]:
    """Yield places of a number, above the branch and then below it."""
    start, y, end = float(stem[0]), float(stem[1]), float(stem[2])
    for baseline, clear in ((y - above, 0.0), (y + above + capital(NOTE_PT), _CLEAR)):
        for share in places:
            yield start + share * (end - start), baseline, clear


def _beside_bar(
    x: float, y: float, reach: float, width: float
) -> Iterator[tuple[float, float, float]]:
    """Yield places of the label of a change, above its mark and then below it."""
    away = reach + 0.3
    for shift in _SHIFTS:
        for baseline in (y - away, y + away + capital(NOTE_PT)):
            yield x + shift * width / 4, baseline, 0.0


def _bars(placed: Frame, changed: list[int]) -> Floats:
    """Return the marks of changes, (changes, 3): x, upper and lower y."""
    stems = placed.tree.stems[changed]
    length = stems[:, 2] - stems[:, 0]
    # On short branches a mark in the middle is the farthest from the dots of both ends.
    share = np.where((1 - _ALONG) * length < placed.node / 2 + 0.7, 0.5, _ALONG)
    half = min(_HALF, 0.4 * placed.pitch)
    y = stems[:, 3]
    return np.column_stack([stems[:, 0] + share * length, y - half, y + half])


def _bar_boxes(bars: Floats) -> Floats:
    return np.column_stack([bars[:, 0] - 0.35, bars[:, 1], bars[:, 0] + 0.35, bars[:, 2]])


def _lines(placed: Frame) -> Floats:
    """Return boxes around all lines of the tree and its root."""
    pieces = placed.tree.pieces
    half = OUTLINE_PT * millimetres(1) / 2
    x, y = float(placed.tree.x[-1]), float(placed.tree.y[-1])
    pieces = np.vstack([pieces, [x - ROOT, y, x, y]])
    low = np.minimum(pieces[:, :2], pieces[:, 2:]) - half
    high = np.maximum(pieces[:, :2], pieces[:, 2:]) + half
    return np.hstack([low, high])


def _dots(content: Content, placed: Frame) -> Floats:
    """Return boxes around the dots of the nodes, if there are any."""
    if content.states is None:
        return np.empty((0, 4))
    at, half = np.column_stack([placed.tree.x, placed.tree.y]), placed.node / 2
    return np.hstack([at - half, at + half])


def _change(content: Content, branch: int) -> str:
    states = content.states.states if content.states else []
    parent = int(content.tree.parents[branch])
    return f"{states[parent]}→{states[branch]}"
