"""Plan a paper figure of a tree: places of all parts, and notes on omitted parts."""

from __future__ import annotations

from dataclasses import dataclass

from genobit.parsimony.plots.paper_labels import Labels, label_branches
from genobit.parsimony.plots.paper_layout import (
    Content,
    Frame,
    frame,
    page_height,
)
from genobit.visual.paper.page import MARGIN
from genobit.visual.paper.texts import lines_of
from genobit.visual.style import number


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
    columns = [content.column_note] if placed.columns and content.column_note else []
    words = " ".join([*content.notes, *columns, *_left_out(content, placed, labels)])
    notes = lines_of([words], width - 2 * MARGIN)
    return Plan(content, placed, labels, notes, content.states is not None and not placed.focus)


def _left_out(content: Content, placed: Frame, labels: Labels) -> list[str]:
    """Return sentences on parts for which there is no room."""
    notes = []
    if placed.every > 1:
        suffix = {2: "nd", 3: "rd"}.get(placed.every, "th")
        notes.append(f"Every {placed.every}{suffix} name is written.")
    if placed.shortened:
        notes.append(f"{number(placed.shortened, 'long name')} shortened.")
    counts = (
        (labels.lost_numbers, "number", ""),
        (labels.lost_changes, "change", " of the site as letters"),
        (len(content.columns) - len(placed.columns), "site", " with fewer changes"),
    )
    lost = [f"{number(count, thing)}{rest}" for count, thing, rest in counts if count]
    if lost:
        notes.append(f"No room for {', '.join(lost)}.")
    return notes
