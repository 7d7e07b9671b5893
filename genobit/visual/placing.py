"""Place circles and texts without overlaps, in screen pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from genobit.visual.tokens import LIGHT

#: Directions in which a circle may touch a placed circle.
_DIRECTIONS = 36
#: Width of a letter and height of a line, in screen pixels at 8 points.
LETTER, LINE = 5.4, 12.0
#: Widths of letters in a wide font, for texts that must not be cut or covered: slim letters, digits
#: and small letters, other letters. Bold letters are wider by the last factor.
_SLIM, _SMALL, _LARGE, _BOLD = 3.8, 7.0, 8.8, 1.13
_SLIM_LETTERS = frozenset("fijlrtI ,.:;/|()[]'-")


def pack_circles(
    radii: np.ndarray, pulls: np.ndarray | None = None, gap: float = 0.0, aspect: float = 1.0
) -> np.ndarray:
    """Place circles close together without overlaps, next to the circles that pull them.

    radii: (circles,); pulls: (circles, circles) weights, 0 or more; returns (circles, 2) centres.
    Circles are placed one by one, the largest first. Each touches a placed circle, at the free
    place nearest to the circles that pull it, or to the middle. The ratio of width to height of the
    whole is about `aspect`. The mean of the centres, weighted by area, is (0, 0).

    Examples
    --------
    >>> centres = pack_circles(np.array([2.0, 1.0]))
    >>> round(float(np.hypot(*(centres[0] - centres[1]))), 9)
    3.0
    """
    n_circles = len(radii)
    centres = np.zeros((n_circles, 2))
    if not n_circles:
        return centres
    angles = 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    order = np.argsort(-radii, kind="stable")
    for k, circle in enumerate(order[1:], start=1):
        placed = order[:k]
        reach = radii[placed] + radii[circle] + gap
        places = (centres[placed, None] + reach[:, None, None] * directions).reshape(-1, 2)
        apart = np.hypot(*np.moveaxis(places[:, None] - centres[placed], -1, 0))
        free = places[(apart >= reach - 1e-9).all(axis=1)]
        aim = np.zeros(2)
        if pulls is not None and pulls[circle, placed].any():
            aim = np.average(centres[placed], axis=0, weights=pulls[circle, placed])
        centres[circle] = free[np.argmin(np.hypot(*((free - aim) / [aspect, 1.0]).T))]
    return centres - np.average(centres, axis=0, weights=radii**2)


def fit(
    centres: np.ndarray, radii: np.ndarray, width: float, height: float
) -> tuple[float, np.ndarray]:
    """Return the factor and the shift that fit circles into a frame from (0, 0) to (width, height).

    centres: (circles, 2); radii: (circles,). The shift, (2,), is added after the multiplication.

    Examples
    --------
    >>> fit(np.array([[0.0, 0.0]]), np.array([2.0]), width=40, height=80)
    (10.0, array([20., 40.]))
    """
    low = (centres - radii[:, None]).min(axis=0)
    high = (centres + radii[:, None]).max(axis=0)
    frame = np.array([width, height])
    factor = float(np.min(frame / np.maximum(high - low, 1e-9)))
    return factor, frame / 2 - factor * (low + high) / 2


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the width of a line of 8 points in screen pixels, an upper bound for common fonts.

    Examples
    --------
    >>> round(text_width("497 / 1,021"), 1)
    64.2
    """
    width = sum(map(_letter_width, text))
    return width * (_BOLD if bold else 1.0)


def _letter_width(letter: str) -> float:
    if letter in _SLIM_LETTERS:
        return _SLIM
    return _SMALL if letter.isdigit() or letter.islower() else _LARGE


def free_labels(
    x: np.ndarray,
    y: np.ndarray,
    texts: list[str],
    width: float = np.inf,
    half: np.ndarray | None = None,
) -> list[int]:
    """Choose texts that do not overlap, in order of importance; return their indices.

    x, y: (texts,) middles of the texts; half: (texts,) half their widths, by default estimated from
    the number of letters at 8 points. A text that would leave a frame of this width is not chosen.

    Examples
    --------
    >>> free_labels(np.array([0.0, 3.0, 99.0]), np.zeros(3), ["TP53", "MDM2", "GAPDH"])
    [0, 2]
    """
    if half is None:
        half = LETTER * np.array([len(text) for text in texts]) / 2
    chosen: list[int] = []
    for k in range(len(texts)):
        beside = np.abs(x[chosen] - x[k]) < half[chosen] + half[k]
        level = np.abs(y[chosen] - y[k]) < LINE
        inside = width == np.inf or (x[k] >= half[k] and x[k] + half[k] <= width)
        if inside and not (beside & level).any():
            chosen.append(k)
    return chosen


def nearest_segment(ends: np.ndarray, x: float, y: float) -> tuple[int, float]:
    """Return the index of the line nearest to a point, and its distance.

    ends: (lines, 4) as x0, y0, x1, y1.

    Examples
    --------
    >>> nearest_segment(np.array([[0, 0, 10, 0], [0, 5, 10, 5]]), x=4, y=1.5)
    (0, 1.5)
    """
    start, along = ends[:, :2], ends[:, 2:] - ends[:, :2]
    towards = np.array([x, y]) - start
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip((along * towards).sum(axis=1) / length, 0, 1)
    distance = np.hypot(*(towards - share[:, None] * along).T)
    nearest = int(np.argmin(distance))
    return nearest, float(distance[nearest])


def backed(plot: Any, _element: Any) -> None:
    """Draw texts on translucent paper, so that they stay legible (a HoloViews hook)."""
    plot.handles["glyph"].update(background_fill_color=LIGHT.paper, background_fill_alpha=0.7)
