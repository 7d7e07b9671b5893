"""Draw a paper figure of a tree into an axes, whose unit is a millimetre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from genobit.parsimony.plots.paper_layout import ROOT, note_lines, row_of
from genobit.parsimony.plots.paper_sites import consistency_text, letter_colour
from genobit.visual.paper.page import MARGIN, family
from genobit.visual.paper.texts import capital, millimetres, width_of
from genobit.visual.tokens import (
    AXIS_PT,
    CASING_PT,
    HAIRLINE_PT,
    LETTER_PT,
    LIGHT,
    NOTE_PT,
    OUTLINE_PT,
    TITLE_PT,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from genobit.parsimony.plots.paper_layout import Content, Frame
    from genobit.parsimony.plots.paper_plan import Plan

#: Distance of two tips below which branches are hairlines.
_CROWDED = 1.0
#: Steps of the scale bar.
_STEPS = [k * 10**power for power in range(9) for k in (1, 2, 5)]


def draw(axes: Axes, plan: Plan, size: tuple[float, float]) -> None:
    """Draw a figure into an empty axes of this width and height in millimetres."""
    axes.set_axis_off()
    axes.set_autoscale_on(False)
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    content, placed = plan.content, plan.frame
    _write_title(axes, placed)
    _draw_branches(axes, placed)
    _draw_nodes(axes, content, placed)
    _draw_labels(axes, plan)
    _write_names(axes, placed)
    _draw_matrix(axes, content, placed)
    _draw_scale(axes, content, placed)
    if plan.key:
        _draw_key(axes, content, placed)
    lines = note_lines(placed, key=plan.key, count=len(plan.notes))
    for y, line in zip(lines, plan.notes, strict=True):
        _write(axes, MARGIN, y, line, NOTE_PT, color=LIGHT.slate)


def _write(axes: Axes, x: float, y: float, words: str, points: float, **how: Any) -> None:
    """Write one line with its baseline at y. A dollar sign is a dollar sign."""
    how = {"fontfamily": family(), "color": LIGHT.ink} | how
    axes.text(x, y, words, fontsize=points, va="baseline", **how)


def _write_middle(axes: Axes, x: float, y: float, words: str, points: float, **how: Any) -> None:
    """Write one line whose capitals have their middle at y."""
    _write(axes, x, y + capital(points) / 2, words, points, **how)


def _lines(axes: Axes, ends: Any, label: str, **how: Any) -> None:
    # The underscore keeps the marks out of a legend of the user.
    axes.add_collection(LineCollection(ends, label=f"_{label}", **how), autolim=False)


def _dots(axes: Axes, x: Any, y: Any, diameter: float, colours: Sequence[str], label: str) -> None:
    """Draw dots; white ones have an edge, and those of nodes are cut out of the branches."""
    plain = LIGHT.paper if label == "nodes" else "none"
    edges = [plain if colour != LIGHT.paper else LIGHT.quiet for colour in colours]
    area = (diameter / millimetres(1)) ** 2
    axes.scatter(
        x, y, s=area, c=list(colours), edgecolors=edges, linewidths=AXIS_PT, label=f"_{label}",
        zorder=3,
    )  # fmt: skip


def _write_title(axes: Axes, placed: Frame) -> None:
    for row, line in enumerate(placed.title):
        y = MARGIN + capital(TITLE_PT) + 3.4 * row
        _write(axes, MARGIN, y, line, TITLE_PT, fontweight="bold")


def _draw_branches(axes: Axes, placed: Frame) -> None:
    laid = placed.tree
    # The straight pieces of a branch are one line, so that its corner is closed.
    pieces = laid.pieces.reshape(-1, 2, 4)
    paths = np.concatenate([pieces[:, 0, :2][:, None], pieces[:, 1].reshape(-1, 2, 2)], axis=1)
    root = [[(laid.x[-1] - ROOT, laid.y[-1]), (laid.x[-1], laid.y[-1])]]
    width = OUTLINE_PT if placed.pitch >= _CROWDED else HAIRLINE_PT
    _lines(
        axes, [*paths, *root], "branches", colors=LIGHT.ink, linewidths=width,
        capstyle="projecting", joinstyle="miter",
    )  # fmt: skip


def _draw_nodes(axes: Axes, content: Content, placed: Frame) -> None:
    states, laid = content.states, placed.tree
    if states is not None:
        colours = [content.colours[state] for state in states.states]
        _dots(axes, laid.x, laid.y, placed.node, colours, "nodes")


def _draw_labels(axes: Axes, plan: Plan) -> None:
    labels, content = plan.labels, plan.content
    for label in labels.numbers:
        _write(axes, label.x, label.y, label.text, NOTE_PT, color=LIGHT.slate, ha="center")
    for label in labels.changes:
        _write(axes, label.x, label.y, label.text, NOTE_PT, fontweight="bold", ha="center")
    if content.states is not None and len(labels.bars):
        ends = [[(x, top), (x, bottom)] for x, top, bottom in labels.bars.tolist()]
        colours = [content.colours[content.states.states[k]] for k in labels.branches]
        _lines(axes, ends, "changes", colors=colours, linewidths=CASING_PT, capstyle="butt",
               zorder=3.5)  # fmt: skip


def _write_names(axes: Axes, placed: Frame) -> None:
    laid = placed.tree
    order = np.argsort(laid.y[: len(placed.names)], kind="stable")[:: placed.every].tolist()
    leaders = []
    for tip in order:
        x, y = float(laid.x[tip]), float(laid.y[tip])
        _write_middle(axes, placed.names_left, y, placed.names[tip], placed.names_pt)
        start, end = x + placed.node / 2 + 0.5, placed.names_left - 0.9
        if end > start:
            leaders.append([(start, y), (end, y)])
    _lines(axes, leaders, "leaders", colors=LIGHT.edge, linewidths=2 * HAIRLINE_PT,
           linestyles=[(0, (1, 2))], zorder=1)  # fmt: skip


def _draw_matrix(axes: Axes, content: Content, placed: Frame) -> None:
    shown = [*([placed.focus] if placed.focus else []), *placed.columns]
    if not shown:
        return
    if placed.focus is not None:
        half = placed.letter / 2 + 0.8
        band = Rectangle(
            (placed.x[0] - half, placed.top - 0.5), 2 * half, placed.bottom - placed.top + 1.0,
            facecolor=LIGHT.rule, alpha=0.45, edgecolor="none", zorder=0,
        )  # fmt: skip
        axes.add_patch(band)
    y = placed.tree.y[: content.tree.n_tips]
    points = NOTE_PT if placed.pitch >= 2.6 else LETTER_PT
    for x, column in zip(placed.x, shown, strict=True):
        colours = [content.colours[letter] for letter in column.letters]
        _dots(axes, np.full(len(y), x), y, placed.letter, colours, "letters")
        for at, letter, colour in zip(y.tolist(), column.letters, colours, strict=True):
            how = {"color": letter_colour(colour), "fontweight": "bold", "zorder": 4}
            _write_middle(axes, x, at, letter, points, ha="center", **how)
        weight = "bold" if column is placed.focus else "normal"
        turn: dict[str, Any] = {"rotation": 90} if placed.turned else {}
        where = x + capital(NOTE_PT) / 2 if placed.turned else x
        align = "right" if placed.turned else "center"
        _write(axes, where, placed.header - 0.3, column.label, NOTE_PT, ha=align,
               fontweight=weight, **turn)  # fmt: skip
        _write_middle(axes, x, row_of(placed, 0), str(column.changes), NOTE_PT, ha="center",
                      fontweight=weight)  # fmt: skip
        _write_middle(axes, x, row_of(placed, 1), consistency_text(column.consistency), NOTE_PT,
                      ha="center", color=LIGHT.slate)  # fmt: skip
    quiet: dict[str, Any] = {"ha": "right", "color": LIGHT.slate}
    _write(axes, placed.names_right, placed.header - 0.3, "site", NOTE_PT, **quiet)
    for row, words in enumerate(("changes", "consistency")):
        _write_middle(axes, placed.names_right, row_of(placed, row), words, NOTE_PT, **quiet)


def _draw_scale(axes: Axes, content: Content, placed: Frame) -> None:
    left, y = float(placed.tree.x[-1]), placed.bottom + 1.2
    below = y + 0.7 + capital(NOTE_PT)
    if content.lengths == "equal" or not content.tree.length:
        words = "no change on this tree" if not content.tree.length else "lengths not to scale"
        _write(axes, MARGIN, below, words, NOTE_PT)
        return
    unit = placed.tree.scale
    room = (float(placed.tree.x.max()) - left) / 4
    step = max([step for step in _STEPS if step * unit <= room], default=1)
    _lines(axes, [[(left, y), (left + step * unit, y)]], "scale", colors=LIGHT.ink,
           linewidths=OUTLINE_PT, capstyle="butt")  # fmt: skip
    words = f"{step:,} change" + ("" if step == 1 else "s")
    middle = max(left + step * unit / 2, MARGIN + width_of(words, NOTE_PT) / 2)
    _write(axes, middle, below, words, NOTE_PT, ha="center")


def _draw_key(axes: Axes, content: Content, placed: Frame) -> None:
    """Draw the key of the dots, where no matrix has their letters."""
    assert content.states is not None  # noqa: S101  a key is of its states
    x, y = MARGIN, placed.foot + 1.0
    for state in sorted(set(content.states.states)):
        _dots(axes, [x + 0.8], [y], 1.65, [content.colours[state]], "key")
        _write_middle(axes, x + 2.2, y, state, NOTE_PT)
        x += 2.2 + width_of(state, NOTE_PT) + 2.5
