"""Plan a paper figure of a tree: places of all parts, and notes on what is left out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from genobit.parsimony.plots import paper_marks
from genobit.parsimony.plots.paper_labels import Labels, label_branches
from genobit.parsimony.plots.paper_layout import (
    Content,
    Frame,
    frame,
    natural_pitch,
    page_height,
)
from genobit.parsimony.plots.paper_text import wrapped
from genobit.visual.paper.page import MARGIN, Paper, size_of
from genobit.visual.style import number
from genobit.visual.tokens import NOTE_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Least distance of two tips in a low axes of the user, in millimetres.
_SMALLEST = 0.02
#: Difference of two heights that counts as none.
_SAME = 0.01


@dataclass(frozen=True)
class Plan:
    """A figure with the places of its parts."""

    content: Content
    frame: Frame
    labels: Labels
    notes: list[str]
    """Lines of the notes."""
    key: bool
    """Whether the states of the focus site need a key."""

    @property
    def height(self) -> float:
        """Height of the page in millimetres."""
        return page_height(self.frame, self.notes, key=self.key)


def plan(content: Content, width: float, pitch: float) -> Plan:
    """Plan a figure of this width with this distance of two tips, in millimetres."""
    placed = frame(content, width, pitch)
    labels = label_branches(content, placed)
    words = " ".join([*content.notes, *_left_out(content, placed, labels)])
    notes = wrapped(words, NOTE_PT, width - 2 * MARGIN)
    return Plan(content, placed, labels, notes, content.states is not None and not placed.focus)


def paper_of(content: Content) -> Paper:
    """Return the form for papers of a figure."""
    n_tips = content.tree.n_tips
    natural = natural_pitch(n_tips)

    @cache
    def planned(width: float, pitch: float) -> Plan:
        return plan(content, width, pitch)

    def height(width: float) -> float:
        return planned(width, natural).height

    def draw(axes: Axes) -> None:
        width, high = size_of(axes)
        # A width that is a whole number of micrometres is free of the noise of pixels.
        width = round(width, 3)
        found, pitch = planned(width, natural), natural
        for _ in range(4):
            if abs(found.height - high) < _SAME:
                break
            pitch = max(pitch + (high - found.height) / n_tips, _SMALLEST)
            found = planned(width, pitch)
        paper_marks.draw(axes, found, (width, high))

    return Paper(draw, height, whole=True)


def _left_out(content: Content, placed: Frame, labels: Labels) -> list[str]:
    """Return sentences on what the figure leaves out for lack of room."""
    notes = []
    if placed.every > 1:
        suffix = {2: "nd", 3: "rd"}.get(placed.every, "th")
        notes.append(f"Every {placed.every}{suffix} name is written.")
    if placed.shortened:
        notes.append(f"{number(placed.shortened, 'long name')} shortened.")
    lost = len(content.columns) - len(placed.columns)
    if lost:
        notes.append(f"Left out for lack of room: {number(lost, 'site')} with fewer changes.")
    if labels.lost_numbers:
        notes.append(f"No room for {number(labels.lost_numbers, 'number')}.")
    if labels.lost_changes:
        notes.append(f"No room for the letters of {number(labels.lost_changes, 'change')}.")
    return notes
