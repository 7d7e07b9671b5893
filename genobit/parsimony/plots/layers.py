"""Layers of a tree figure: branches, nodes, names, numbers, a scale bar and a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.parsimony.plots.layout import LETTERS, WIDTH, PlacedTree
from genobit.parsimony.plots.pixel_layers import Dots, Layer, Lines, Texts
from genobit.parsimony.plots.states import DARK, UNSURE, SiteStates
from genobit.visual.placing import LETTER, free_labels
from genobit.visual.style import LEAD_COLOUR, SELECTED_COLOUR, SEQUENTIAL, number, shortened
from genobit.visual.tokens import GROUPS, LIGHT, OTHER_GROUP, ramp

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Trees with more tips have no numbers on their branches.
NUMBERED = 80
#: Diameter of the smallest dot with a letter, in screen pixels.
_LETTERED = 11.0
#: Screen pixels by which the ring of a selected tip exceeds its dot.
_RING = 7.0
_THIN, _THICK = 1.6, 5.0
_NO_CHANGE = OTHER_GROUP
#: Colours whose dark form is light, or the other way round.
_TURNED = {UNSURE, GROUPS[0], GROUPS[4], GROUPS[6]}
#: Colours of letters by layer. In dark themes ink and paper turn, too; black and white stay.
_LETTERS = {
    "States": "black",
    "Pale states": "white",
    "Ink on states": LIGHT.ink,
    "Paper on states": LIGHT.paper,
}
_CHANGES = ramp(SEQUENTIAL, 6, 0.35)


def layers_of(
    placed: PlacedTree,
    states: SiteStates | None = None,
    *,
    numbers: str = "changes",
    marked: int | None = None,
    selected: Sequence[int] = (),
) -> list[Layer]:
    """Return the layers of a tree figure, lowest first; arguments as in `draw_tree`."""
    return [
        *_branches(placed, marked),
        _ticks(placed, states),
        _rings(placed, selected),
        _nodes(placed, states),
        *_letters(placed, states),
        *_names(placed),
        _numbers(placed, numbers),
        *_scale_bar(placed),
        *_key(placed, states),
    ]


def _colours(changes: np.ndarray, most: int) -> list[str]:
    shade = np.sqrt(changes / max(most, 1))
    place = np.ceil(shade * (len(_CHANGES) - 1)).astype(int)
    return [_CHANGES[k] if n else _NO_CHANGE for k, n in zip(place, changes, strict=True)]


def _widths(changes: np.ndarray, most: int) -> np.ndarray:
    return _THIN + (_THICK - _THIN) * np.sqrt(changes / max(most, 1))


def _branches(placed: PlacedTree, marked: int | None) -> list[Layer]:
    tree, laid = placed.tree, placed.laid
    most = int(tree.changes[:-1].max())
    # Branches are thinner if there are hundreds of tips, so that neighbours do not touch.
    thinner = float(np.clip(placed.pitch / 6, 0.15, 1))
    of = laid.branch
    stem = np.append(np.diff(of) > 0, True)
    width = np.where(stem, _widths(tree.changes[of], most), _THIN) * thinner
    about: dict[str, Sequence[Any]] = {
        "branch_to": [tree.names[node] for node in of],
        "changes": tree.changes[of].tolist(),
        "support": [_support(value) for value in tree.support[of]],
    }
    if not tree.supported:
        del about["support"]
    mine = laid.pieces[of == marked] if marked is not None else np.empty((0, 4))
    return [
        Lines("Marked", mine, [LEAD_COLOUR] * len(mine), [9.0] * len(mine)),
        Lines("Branches", laid.pieces, _colours(tree.changes[of], most), width.tolist(), about),
    ]


def _ticks(placed: PlacedTree, states: SiteStates | None) -> Lines:
    """Draw a tick across each branch on which the site changes."""
    stems = placed.laid.stems
    chosen = np.flatnonzero(states.changed[:-1]) if states else np.empty(0, dtype="i8")
    # Off the middle, where the number is.
    at = 0.3 * stems[chosen, :2] + 0.7 * stems[chosen, 2:]
    half = float(np.clip(placed.pitch / 2.5, 1.5, 7))
    width = float(np.clip(placed.pitch / 4, 0.7, 2.5))
    across = half * _beside(placed)[chosen]
    ends = np.column_stack([at - across, at + across])
    return Lines("Site changes", ends, [SELECTED_COLOUR] * len(ends), [width] * len(ends))


def _beside(placed: PlacedTree) -> np.ndarray:
    """Return one pixel to the left of each branch, seen from the root, (nodes, 2)."""
    angle = placed.laid.angle
    return np.column_stack([-np.sin(angle), np.cos(angle)])


def _dot_size(placed: PlacedTree) -> float:
    return float(np.clip(placed.pitch - 3, 2.5, 12))


def _rings(placed: PlacedTree, selected: Sequence[int]) -> Dots:
    """Draw discs behind the dots of selected tips, of which a ring stays visible."""
    x, y = placed.laid.x[list(selected)], placed.laid.y[list(selected)]
    size = _dot_size(placed) + _RING
    return Dots("Selected", x, y, [SELECTED_COLOUR] * len(x), size)


def _nodes(placed: PlacedTree, states: SiteStates | None) -> Dots:
    tree, laid = placed.tree, placed.laid
    if states is None:
        # The root has no branch to click or to hover over.
        chosen = np.array([tree.parents.size - 1])
        names = tree.names[chosen].tolist()
        return Dots("Nodes", laid.x[chosen], laid.y[chosen], [LIGHT.slate], 4.0, {"node": names})
    about: dict[str, Sequence[Any]] = {"node": tree.names.tolist(), "state": states.states}
    return Dots("Nodes", laid.x, laid.y, states.colours, _dot_size(placed), about)


def _letters(placed: PlacedTree, states: SiteStates | None) -> list[Layer]:
    """Write states as letters in their dots, if the dots are large enough."""
    laid, drawn = placed.laid, states is not None and _dot_size(placed) >= _LETTERED
    short = [drawn and len(state) == 1 for state in (states.states if states else [])]
    layers: list[Layer] = []
    for label, colour in _LETTERS.items():
        wanted = [_letter(of) == label for of in (states.colours if states else [])]
        chosen = [k for k, here in enumerate(short) if here and wanted[k]]
        letters = [states.states[k] for k in chosen] if states else []
        x, y = laid.x[chosen], laid.y[chosen]
        layers.append(Texts(label, x, y, letters, 7, colour, style="bold"))
    return layers


def _letter(colour: str) -> str:
    """Return the layer of a letter on a dot of a colour."""
    if colour in _TURNED:
        return "Paper on states" if colour in DARK else "Ink on states"
    return "Pale states" if colour in DARK else "States"


def _names(placed: PlacedTree) -> list[Layer]:
    """Write names at their tips, or at the edge with leader lines if tips are crowded."""
    tree, laid, tip = placed.tree, placed.laid, placed.named
    angle = laid.angle[tip]
    outwards = np.column_stack([np.cos(angle), np.sin(angle)])
    at = np.column_stack([laid.x[tip], laid.y[tip]])
    start = at + _dot_size(placed) / 2 * outwards
    away = np.zeros(len(tip))
    middle = np.array([laid.x[-1], laid.y[-1]])
    reach = ((at - middle) * outwards).sum(axis=1)
    # Near the middle of a circle there is room for few names.
    crowded = placed.layout == "radial" and reach.min() < 0.6 * reach.max()
    aligned = placed.every > 1 or crowded
    if aligned:
        away = reach.max() - reach
    end = start + away[:, None] * outwards
    leads = np.column_stack([start, end]) if aligned else np.empty((0, 4))
    texts = np.array([shortened(str(tree.names[node]), LETTERS) for node in tip], dtype=object)
    layers: list[Layer] = [
        Lines("Leads", leads, [LIGHT.rule] * len(leads), [0.7] * len(leads)),
    ]
    to_the_left = outwards[:, 0] < -1e-9
    for label, chosen, align, turn in (
        ("Names", ~to_the_left, "left", 0.0),
        ("Names to the left", to_the_left, "right", 180.0),
    ):
        degrees = np.degrees(angle[chosen]) + turn
        turned = degrees if placed.layout == "radial" else None
        x, y = (end + 4 * outwards)[chosen].T
        words = texts[chosen].tolist()
        layers.append(Texts(label, x, y, words, placed.size, align=align, angle=turned))
    return layers


def _numbers(placed: PlacedTree, numbers: str) -> Texts:
    """Write changes or support next to branches with enough room, longest branches first."""
    tree, stems = placed.tree, placed.laid.stems
    middle = (stems[:, :2] + stems[:, 2:]) / 2
    length = np.hypot(*(stems[:, 2:] - stems[:, :2]).T)
    texts = np.array([str(n) for n in tree.changes[:-1]], dtype=object)
    wanted = tree.changes[:-1] > 0
    if numbers == "support":
        texts = np.array([_support(value) for value in tree.support[:-1]], dtype=object)
        wanted = ~np.isnan(tree.support[:-1])
    room = LETTER * np.array([len(text) for text in texts]) + 4
    wanted &= length > room
    chosen = np.flatnonzero(wanted)
    if numbers == "none" or tree.n_tips > NUMBERED:
        chosen = chosen[:0]
    chosen = chosen[np.argsort(-length[chosen], kind="stable")]
    x, y = (middle + min(placed.pitch / 2, 9.0) * _beside(placed)[:-1])[chosen].T
    # Names and nodes have precedence over numbers.
    others = _taken(placed)
    every_x, every_y = np.append(others[0], x), np.append(others[1], y)
    written = free_labels(every_x, every_y, [*others[2], *texts[chosen].tolist()])
    free = np.array(written, dtype="i8") - len(others[2])
    free = free[free >= 0]
    chosen, x, y = chosen[free], x[free], y[free]
    return Texts("Numbers", x, y, texts[chosen].tolist(), 7, LIGHT.slate, backed=True)


def _taken(placed: PlacedTree) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the centres of names and nodes already drawn, with texts of equal length."""
    laid, tip = placed.laid, placed.named
    x, y, texts = laid.x, laid.y, ["o"] * len(laid.x)
    if placed.layout == "rectangular" and placed.every == 1:
        texts_of = [shortened(str(placed.tree.names[node]), LETTERS) for node in tip]
        wide = np.array([len(text) for text in texts_of]) * LETTER * placed.size / 8
        start = laid.x[tip] + _dot_size(placed) / 2 + 4
        # Texts that come first are kept; nodes below one another are drawn in any case.
        x, y = np.append(start + wide / 2, x), np.append(laid.y[tip], y)
        texts = [*texts_of, *texts]
    return x, y, texts


def _scale_bar(placed: PlacedTree) -> list[Layer]:
    if placed.lengths == "equal":
        words = "branches are drawn of equal length"
        if not placed.tree.length:
            words = "there is no change on this tree"
        return [
            Lines("Scale", np.empty((0, 4)), [], []),
            Texts("Unit", np.array([10.0]), np.array([12.0]), [words], 8, align="left"),
        ]
    steps = [k * 10**power for power in range(7) for k in (1, 2, 5)]
    fitting = [step for step in steps if step * placed.laid.scale <= WIDTH / 4]
    step = max(fitting, default=1)
    end = 10 + step * placed.laid.scale
    ends = np.array([[10, 12, end, 12], [10, 8, 10, 16], [end, 8, end, 16]])
    words = number(step, "change")
    return [
        Lines("Scale", ends, [SELECTED_COLOUR] * 3, [1.2] * 3),
        Texts("Unit", np.array([end + 8]), np.array([12.0]), [words], 8, align="left"),
    ]


def _key(placed: PlacedTree, states: SiteStates | None) -> list[Layer]:
    """Draw the key of colours and widths beside the tree."""
    left, top = placed.frame[0] + 14, placed.frame[1] - 10
    tree = placed.tree
    most = int(tree.changes[:-1].max())
    shown = sorted({0, 1, most, round(most / 4), round(most / 2)}, reverse=True)
    y = top - 16.0 * np.arange(1, len(shown) + 1)
    counts = np.array(shown)
    ends = np.column_stack([np.full(len(y), left), y, np.full(len(y), left + 18), y])
    colours, widths = _colours(counts, most), _widths(counts, most).tolist()
    words = [(left, top, "changes on a branch" if tree.resolved else "changes at least")]
    words += [(left + 26, at, f"{count:,}") for at, count in zip(y, shown, strict=True)]
    dots: list[tuple[float, float, str]] = []
    if states is not None:
        below = float(y[-1]) - 26
        words.append((left, below, states.name))
        entries = list(states.key.items())
        for k, (text, colour) in enumerate(entries, start=1):
            dots.append((left + 6, below - 16 * k, colour))
            words.append((left + 18, below - 16 * k, text))
        foot = below - 16 * (len(entries) + 1)
        ends = np.vstack([ends, [left + 6, foot - 6, left + 6, foot + 6]])
        colours, widths = [*colours, SELECTED_COLOUR], [*widths, 2.5]
        words.append((left + 18, foot, "it changes here"))
    x, at, texts = zip(*words, strict=True)
    columns: tuple[Any, ...] = tuple(zip(*dots, strict=True)) or ((), (), ())
    return [
        Lines("Key", ends, colours, widths),
        Dots("States of the key", np.array(columns[0]), np.array(columns[1]), columns[2], 11),
        Texts("Meaning", np.array(x), np.array(at), list(texts), 8, LIGHT.ink, "left"),
    ]


def _support(value: float) -> str:
    return "" if np.isnan(value) else f"{value:g}"
