"""Where circles and texts stand so that none covers another, in screen pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Directions in which a circle may touch one that stands already.
_DIRECTIONS = 36
#: Screen pixels of a letter and of a line at 8 points.
LETTER, LINE = 5.4, 12.0
#: The same in a wide font, where a text must not be cut or covered: of slim letters, of digits and
#: small letters, of others, and how much wider bold ones are.
_SLIM, _SMALL, _LARGE, _BOLD = 3.8, 7.0, 8.8, 1.13
_SLIM_LETTERS = frozenset("fijlrtI ,.:;/|()[]'-")


def pack_circles(
    radii: np.ndarray, pulls: np.ndarray | None = None, gap: float = 0.0, aspect: float = 1.0
) -> np.ndarray:
    """Place circles close together without overlaps, those that pull each other side by side.

    One after another, from the largest: each touches one that stands already, at the free place
    nearest to the circles that pull it, or to the middle.

    Parameters
    ----------
    radii
        Shape (circles,).
    pulls
        Shape (circles, circles), 0 and above; none pulls by default.
    gap
        Between two circles.
    aspect
        Width of the whole over its height, about.

    Returns
    -------
        Shape (circles, 2), the centres; the mean of the whole, weighted by area, is (0, 0).

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
    """Scale and move circles so that they fill a frame from (0, 0) to (width, height).

    Parameters
    ----------
    centres, radii
        As `pack_circles` takes and gives them.
    width, height
        Of the frame.

    Returns
    -------
        What to multiply everything by, and what to add to places then.

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
    """Say how many screen pixels a line of 8 points takes at most, in the fonts that pages have.

    Parameters
    ----------
    text
        One line.
    bold
        Whether it is written so.

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
    """Choose texts that can be written without covering one another, the first ones first.

    Parameters
    ----------
    x, y
        Shape (texts,): the middle of each text.
    texts
        What would be written, the most important first.
    width
        Of the frame: a text that would leave it is not chosen.
    half
        Shape (texts,): half the width of each text; by default as many letters of 8 points.

    Returns
    -------
        Indices of the texts to write.

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
    """Find the line that a point is nearest to.

    Parameters
    ----------
    ends
        Shape (lines, 4): x0, y0, x1, y1.
    x, y
        The point.

    Returns
    -------
        The index of the line and its distance.

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
    """Write texts on a little white, to be read over whatever is there (a HoloViews hook)."""
    plot.handles["glyph"].update(background_fill_color="white", background_fill_alpha=0.7)
