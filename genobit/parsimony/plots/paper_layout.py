"""Places of the parts of a paper figure of a tree, in millimetres from the upper left corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.parsimony.plots.layout import Tree, TreeLayout, depths, even_depths, ranks, rectangular
from genobit.visual.paper.page import MARGIN
from genobit.visual.paper.texts import capital, fitted, width_of, wrapped
from genobit.visual.tokens import BASE_PT, NOTE_PT, TITLE_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.parsimony.plots.paper_sites import Column
    from genobit.parsimony.plots.states import SiteStates

#: Largest distance of two tips, and the least at which each has a name and letters.
_WIDE, LEAST = 4.9, 2.2
#: Height of the tips for which pages of middle size aim, and the largest.
_AIM, _TALLEST = 120.0, 470.0
#: Distance of two tips from which names have the base size.
_ROOMY = 2.6
#: Length of the branch of the root, and distance of the deepest tip from the names.
ROOT, _GAP = 2.7, 2.5
#: Least share of the width for the tree with a matrix and with the focus site alone; the largest
#: share for names.
_TREE, _BARE_TREE, _NAMES = 0.35, 0.2, 0.34
#: Largest dot of a node and of a letter.
_NODE, _LETTER = 1.65, 2.5
#: Distance of the focus site from the matrix, beyond that of two columns.
_APART = 2.2
#: Widest label of a site that is not turned by 90 degrees.
_LEVEL = 4.7
_ROW, _LINE, _TITLE_LINE = 3.4, 2.8, 3.4


@dataclass(frozen=True)
class Content:
    """Content of a figure, without places."""

    tree: Tree
    names: list[str]
    """Name of each tip."""
    lengths: str
    numbers: list[str]
    """Number above each branch, (nodes - 1,); empty for none."""
    states: SiteStates | None
    """States of the focus site."""
    focus: Column | None
    columns: list[Column]
    """Columns of the matrix, without the focus site."""
    colours: dict[str, str]
    title: str
    notes: list[str]
    column_note: str
    """Sentence on the matrix, for figures that have room for it."""


class Frame(NamedTuple):
    """Places of the parts that do not depend on the labels of branches."""

    width: float
    pitch: float
    every: int
    """Step between tips with a name."""
    tree: TreeLayout
    node: float
    """Diameter of the dot of a node."""
    letter: float
    """Diameter of the dot of a letter."""
    names: list[str]
    names_left: float
    names_right: float
    names_pt: float
    shortened: int
    """Number of names that are cut."""
    focus: Column | None
    columns: list[Column]
    """Columns that are drawn; they may be fewer than those of the content."""
    x: list[float]
    """Middle of each column, the focus site first."""
    turned: bool
    """Whether labels of sites are turned by 90 degrees."""
    title: list[str]
    header: float
    """y of the foot of the labels of sites."""
    top: float
    bottom: float
    """Ends of the tips."""
    foot: float
    """y below which the notes are."""


class _Columns(NamedTuple):
    focus: Column | None
    columns: list[Column]
    pitch: float
    turned: bool
    left: float


def natural_pitch(n_tips: int) -> float:
    """Return the distance of two tips on a page of its own height, in millimetres.

    Examples
    --------
    >>> [round(natural_pitch(n_tips), 2) for n_tips in (14, 200, 1000)]
    [4.9, 2.2, 0.47]
    """
    return min(float(np.clip(_AIM / n_tips, LEAST, _WIDE)), _TALLEST / n_tips)


def frame(content: Content, width: float, pitch: float) -> Frame:
    """Place tree, names, matrix and title on a page of this width."""
    every = max(1, int(np.ceil(LEAST / pitch - 1e-6)))
    points = BASE_PT if pitch >= _ROOMY else NOTE_PT
    widest = _NAMES * width
    if max(width_of(name, points) for name in content.names) > widest:
        points = NOTE_PT
    names = [fitted(name, widest, points) for name in content.names]
    shortened = sum(a != b for a, b in zip(names, content.names, strict=True))
    taken = max(width_of(name, points) for name in names)
    node, letter = max(min(_NODE, 0.7 * pitch), 0.4), min(_LETTER, 0.98 * pitch)
    beside = _columns(content, width, taken, letter, drawn=every == 1)
    if beside.focus is not None or beside.columns:
        taken = max(taken, width_of("consistency", NOTE_PT))
    names_right = beside.left
    names_left = names_right - taken
    title = wrapped(content.title, width - 2 * MARGIN, TITLE_PT, bold=True)
    header = MARGIN + _TITLE_LINE * len(title)
    shown = [*([beside.focus] if beside.focus else []), *beside.columns]
    if shown:
        labels = max(width_of(column.label, NOTE_PT, bold=True) for column in shown)
        header += labels if beside.turned else 2.2
    top = header + 0.8
    bottom = top + pitch * content.tree.n_tips
    left = MARGIN + ROOT
    right = max(names_left - _GAP, left + 2.0)
    return Frame(
        width, pitch, every, _placed(content, (left, bottom, right, top)), node, letter, names,
        names_left, names_right, points, shortened, beside.focus, beside.columns,
        _middles(beside, width, letter), beside.turned, title, header, top, bottom,
        bottom + (2 * _ROW if shown else _ROW + 1.0) + 1.8,
    )  # fmt: skip


def page_height(placed: Frame, notes: Sequence[str], *, key: bool) -> float:
    """Return the height of the page with these lines of notes, and with a line for the key."""
    return placed.foot + (_ROW if key else 0.0) + _LINE * len(notes) + MARGIN - 1.0


def note_lines(placed: Frame, *, key: bool, count: int) -> list[float]:
    """Return the baselines of the notes."""
    first = placed.foot + (_ROW if key else 0.0) + capital(NOTE_PT)
    return [first + _LINE * k for k in range(count)]


def row_of(placed: Frame, row: int) -> float:
    """Return the middle of a row below the matrix."""
    return placed.bottom + 1.6 + _ROW * row


def _placed(content: Content, box: tuple[float, float, float, float]) -> TreeLayout:
    tree = content.tree
    rank = ranks(tree.parents)
    by_changes = content.lengths == "changes" and tree.length > 0
    depth = depths(tree.parents, tree.changes) if by_changes else even_depths(tree.parents)
    # y grows downwards here, so that the first tip is at the smallest y.
    return rectangular(tree.parents, rank, depth, box)


def _columns(
    content: Content, width: float, names: float, letter: float, *, drawn: bool
) -> _Columns:
    """Choose the columns for which there is room beside the tree and the names."""
    right = width - MARGIN
    columns = content.columns if drawn else []
    focus = content.focus if drawn else None
    shown = [*([focus] if focus else []), *columns]
    if not shown:
        return _Columns(None, [], 0.0, turned=False, left=right)
    labels = max(width_of(column.label, NOTE_PT, bold=True) for column in shown)
    numbers = max(width_of(str(column.changes), NOTE_PT, bold=True) for column in shown)
    turned = labels > _LEVEL
    least = max(numbers, width_of(".00", NOTE_PT)) + 0.9
    pitch = max(letter + 1.0, least, 0.0 if turned else labels + 0.85)

    def left(count: int) -> float:
        beside = pitch + (_APART if count else 0.0) if focus else 0.0
        return right - count * pitch - beside - 1.2

    def share(count: int) -> float:
        words = max(names, width_of("consistency", NOTE_PT))
        return (left(count) - words - _GAP - MARGIN - ROOT) / width

    count = len(columns)
    while count and share(count) < _TREE:
        count -= 1
    if not count and share(0) < _BARE_TREE:
        return _Columns(None, [], 0.0, turned=False, left=right)
    return _Columns(focus, columns[len(columns) - count :], pitch, turned, left(count))


def _middles(beside: _Columns, width: float, letter: float) -> list[float]:
    """Return the middle of each column, the last of which ends at the margin."""
    count = len(beside.columns)
    last = width - MARGIN - max(letter, beside.pitch - 0.8) / 2
    x = [last - beside.pitch * k for k in range(count)][::-1]
    if beside.focus is not None:
        x.insert(0, x[0] - beside.pitch - _APART if x else last)
    return x
