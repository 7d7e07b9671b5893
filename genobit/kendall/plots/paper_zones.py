"""Where the components of a network stand on a page: the large one above, the rest in rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genobit.kendall.plots.paper_key import LARGEST
from genobit.visual.paper.page import MARGIN
from genobit.visual.paper.texts import text_size

#: A component is large with this number of nodes and twice the nodes of the next one.
LARGE = 12
#: Area of a node in square millimetres in the large component and in the others.
AREA, SMALL_AREA = 49.0, 9.0
#: Width by height of the large component, at most, and least and most of the others.
WIDE, ASPECTS = 2.2, (0.8, 2.2)
#: Gaps between components and between rows, and height of a line of names, in millimetres.
GAP, ROW_GAP, LINE = 2.5, 3.5, 2.7
#: Sizes of the small components to try, the largest first.
FACTORS = (1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.95, 0.9, 0.85, 0.8)


@dataclass(frozen=True)
class Cell:
    """The box of a component on the page in millimetres, and the baseline of the names below.

    `index` is the number of the component.
    """

    index: int
    left: float
    top: float
    width: float
    height: float
    names_top: float

    @property
    def middle(self) -> float:
        """The middle of the box from left to right."""
        return self.left + self.width / 2


def zones_of(
    shapes: list[np.ndarray],
    names: list[list[tuple[str, bool]]],
    width: float,
    extra: float = 0.0,
) -> tuple[list[Cell], float]:
    """Place components on a page of this width.

    Parameters
    ----------
    shapes
        Places of the nodes of each component without a scale, the largest component first.
    names
        Texts below each component, and whether they are italic.
    width
        Width of the page in millimetres.
    extra
        Millimetres of height for the large component beyond its own.

    Returns
    -------
        The cells, and the y of the end of the last row.
    """
    cells: list[Cell] = []
    sizes = list(map(len, shapes))
    top = MARGIN
    if has_large(sizes):
        cells.append(_large(sizes[0], width, extra))
        top = cells[0].top + cells[0].height + ROW_GAP
    rest = range(len(cells), len(sizes))
    boxes = _boxes([shapes[k] for k in rest])
    texts = [
        max((text_size(text, bold=True, italic=italic)[0] for text, italic in names[k]), default=0)
        for k in rest
    ]
    boxes, slots = _enlarged(boxes, texts, width - 2 * MARGIN)
    for row in _rows(slots, width - 2 * MARGIN):
        high = max(boxes[k][1] for k in row)
        lefts = _lefts([slots[k] for k in row], width)
        for k, left in zip(row, lefts, strict=True):
            wide, tall = boxes[k]
            at = left + (slots[k] - wide) / 2, top + (high - tall) / 2
            cells.append(Cell(rest[k], *at, wide, tall, top + high + 1.0))
        lines = max(len(names[rest[k]]) for k in row)
        top += high + (1.0 + LINE * lines if lines else 0.0) + ROW_GAP
    return cells, top - ROW_GAP


def has_large(sizes: list[int]) -> bool:
    """Return whether the first component stands above the others."""
    return len(sizes) == 1 or (sizes[0] >= LARGE and sizes[0] >= 2 * sizes[1])


def _large(n: int, width: float, extra: float) -> Cell:
    room = width - 2 * MARGIN
    # A wide page gets a higher picture, too.
    area = AREA * n * max(1.0, width / 90) ** 0.8
    height = max(min(float(np.sqrt(area / 1.7)), room) + extra, 12.0)
    wide = min(room, WIDE * height)
    return Cell(0, (width - wide) / 2, MARGIN, wide, height, MARGIN + height)


def _boxes(shapes: list[np.ndarray]) -> np.ndarray:
    """Return widths and heights of the small components, (components, 2)."""
    sizes = np.array([np.ptp(at, axis=0) for at in shapes]).reshape(-1, 2)
    aspect = np.clip(sizes[:, 0] / np.maximum(sizes[:, 1], 1e-9), *ASPECTS)
    tall = np.sqrt(SMALL_AREA * np.array(list(map(len, shapes))) / aspect)
    wide = aspect * tall
    # A chain, such as a pair, is flat.
    tall[sizes[:, 1] < 0.05 * sizes[:, 0]] = LARGEST + 0.2
    return np.column_stack([wide, tall])


def _enlarged(boxes: np.ndarray, texts: list[float], room: float) -> tuple[np.ndarray, list[float]]:
    """Scale boxes so that they fill few rows; return them and the widths with their texts."""
    if not len(boxes):
        return boxes, []
    limit = room / boxes[:, 0].max()
    factors = [factor for factor in FACTORS if factor <= limit] or [limit]
    slots = [np.maximum(factor * boxes[:, 0], texts).tolist() for factor in factors]
    counts = [len(_rows(slot, room)) for slot in slots]
    best = counts.index(min(counts))
    return boxes * factors[best], slots[best]


def _rows(slots: list[float], room: float) -> list[list[int]]:
    """Divide boxes into rows, in their order."""
    rows: list[list[int]] = []
    used = 0.0
    for k, slot in enumerate(slots):
        if rows and used + GAP + slot <= room:
            rows[-1].append(k)
            used += GAP + slot
        else:
            rows.append([k])
            used = slot
    return rows


def _lefts(slots: list[float], width: float) -> list[float]:
    """Return the left sides of the boxes of a row; a row that is nearly full fills the width."""
    room = width - 2 * MARGIN
    gap = (room - sum(slots)) / max(len(slots) - 1, 1)
    if gap > 3 * GAP:
        gap = 1.5 * GAP
    starts = np.cumsum([0.0, *(slot + gap for slot in slots[:-1])])
    return [MARGIN + float(start) for start in starts]
