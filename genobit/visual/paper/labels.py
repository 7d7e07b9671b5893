"""Place labels beside marks: no overlaps, leader lines from a distance on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: Angles and distances from the mark at which a label is tried.
ANGLES, DISTANCES = 24, 20
#: Distances of the nearest and of the farthest try from the edge of the mark, in millimetres.
NEAR, FAR = 0.3, 8.0
#: A label farther from its mark than this gets a leader line; in millimetres.
LEADER = 1.2
#: Room that a label keeps around itself, in millimetres.
PAD = 0.15
#: Costs of a line under the label, of a leader under a label, and of a millimetre.
_LINE, _LEADER, _FAR = 0.5, 6.0, 0.6
#: Cost of another mark under the leader of a label that needs a place.
_OVER = 50.0
_PASSES = 3


@dataclass(frozen=True)
class Obstacles:
    """Marks and texts that labels avoid, in millimetres; y grows downwards.

    `discs` has rows x, y and radius. No label covers a disc. `lines` has rows x0, y0, x1 and y1. A
    label may cover a line at the cost in `weights`. Labels stay inside of `page`: left, top, right
    and bottom. Rows of `boxes` are the same sides of other texts.
    """

    discs: np.ndarray
    lines: np.ndarray
    weights: np.ndarray
    page: tuple[float, float, float, float]
    boxes: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))


def spread(wanted: np.ndarray, sizes: np.ndarray, low: float, high: float) -> np.ndarray:
    """Move texts along a line as little as needed, so that none overlaps another.

    wanted, sizes: (texts,) middles and lengths in millimetres. Returns the middles, in the order of
    the texts. They stay between ``low`` and ``high`` if there is room for all.

    Examples
    --------
    >>> spread(np.array([5.0, 5.0, 20.0]), np.array([4.0, 4.0, 4.0]), 0, 30).tolist()
    [3.0, 7.0, 20.0]
    """
    order = np.argsort(wanted, kind="stable")
    ends = np.cumsum(sizes[order])
    # Without their lengths, texts that touch stand on one place.
    offsets = ends - sizes[order] / 2
    groups: list[list[float]] = []
    for place in wanted[order] - offsets:
        groups.append([place, 1])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (mean, count), (last, more) = groups[-2:]
            groups[-2:] = [[(mean * count + last * more) / (count + more), count + more]]
    places = np.repeat([mean for mean, _ in groups], [int(count) for _, count in groups])
    total = ends[-1] if len(ends) else 0.0
    out = np.empty(len(wanted))
    out[order] = np.clip(places, low, max(high - total, low)) + offsets
    return out


def place_labels(
    marks: np.ndarray, sizes: np.ndarray, obstacles: Obstacles, wanted: int = 0
) -> np.ndarray:
    """Choose the centres of labels beside round marks; NaN where there is no room.

    Parameters
    ----------
    marks
        Shape (labels, 3): x, y and radius of the mark of each label, the most important first.
    sizes
        Shape (labels, 2): width and height of the texts.
    obstacles
        Discs that must stay visible, the marks included, and lines.
    wanted
        Number of labels, from the first, whose leaders may run over other marks if there is no
        other room.

    Returns
    -------
        Centres of the texts, (labels, 2). Each is the cheapest of 24 angles and 20 distances.

    Examples
    --------
    >>> disc = np.array([[10.0, 10.0, 1.0]])
    >>> empty = Obstacles(disc, np.empty((0, 4)), np.empty(0), (0, 0, 30, 30))
    >>> place_labels(disc, np.array([[6.0, 2.0]]), empty).round(1).tolist()
    [[14.3, 8.5]]
    """
    halves = sizes / 2 + PAD
    tries = [_tries(mark, half) for mark, half in zip(marks, halves, strict=True)]
    costs = [
        _own_cost(mark, half, at, obstacles, _OVER if k < wanted else np.inf)
        for k, (mark, half, at) in enumerate(zip(marks, halves, tries, strict=True))
    ]
    centres = np.full((len(marks), 2), np.nan)
    for _ in range(_PASSES):
        before = centres.copy()
        for k in range(len(marks)):
            centres[k] = np.nan
            total = costs[k] + _cost_of_others(k, tries[k], marks, halves, centres)
            best = int(np.argmin(total))
            if np.isfinite(total[best]):
                centres[k] = tries[k][best]
        if np.array_equal(before, centres, equal_nan=True):
            break
    return centres


def leader(mark: np.ndarray, centre: np.ndarray, size: np.ndarray) -> np.ndarray | None:
    """Return the line from the edge of a mark to its label, (2, 2), or None for a near label."""
    towards = np.clip(mark[:2], centre - size / 2, centre + size / 2)
    apart = float(np.hypot(*(towards - mark[:2])))
    if apart - mark[2] <= LEADER:
        return None
    return np.stack([mark[:2] + (towards - mark[:2]) * mark[2] / apart, towards])


def _tries(mark: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return centres to try for a label, (tries, 2), the nearest first."""
    angles = 2 * np.pi * np.arange(ANGLES) / ANGLES
    towards = np.column_stack([np.cos(angles), -np.sin(angles)])
    # The label touches the ray with a side or a corner, so that it is as near as it says.
    corner = half * np.clip(1.5 * towards, -1, 1)
    gaps = np.geomspace(NEAR, FAR, DISTANCES)
    rays = (mark[2] + gaps)[:, None, None] * towards
    return (mark[:2] + rays + corner).reshape(-1, 2)


def _own_cost(
    mark: np.ndarray, half: np.ndarray, at: np.ndarray, held: Obstacles, over: float
) -> np.ndarray:
    """Return the cost of each try by itself: page, discs, lines and distance."""
    left, top, right, bottom = held.page
    cost = _FAR * _gap(mark, half, at)
    # Equal places in reading order: right of the mark, then above.
    cost += 0.2 * np.tile(np.arange(ANGLES) / ANGLES, DISTANCES)
    cost[((at - half < (left, top)) | (at + half > (right, bottom))).any(axis=1)] = np.inf
    reach = half.max() * 2 + FAR + mark[2]
    near = np.hypot(*(held.discs[:, :2] - mark[:2]).T) < reach + held.discs[:, 2]
    discs = held.discs[near]
    cost[_covers(at, half, discs)] = np.inf
    for x0, y0, x1, y1 in held.boxes:
        cost[((at + half > (x0, y0)) & (at - half < (x1, y1))).all(axis=1)] = np.inf
    # A leader over another mark would name that mark.
    cost[_leader_hits(mark, half, at, discs)] += over
    lines, weights = _near_lines(held, mark, reach)
    inside = np.isfinite(cost)
    crossed = np.zeros(len(at))
    for k in np.flatnonzero(inside):
        crossed[k] = weights[_crosses(lines, at[k], half)].sum()
    return cost + _LINE * crossed


def _near_lines(held: Obstacles, mark: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines whose boxes come near to a mark, and their weights."""
    low = np.minimum(held.lines[:, :2], held.lines[:, 2:])
    high = np.maximum(held.lines[:, :2], held.lines[:, 2:])
    near = ((low < mark[:2] + reach) & (high > mark[:2] - reach)).all(axis=1)
    return held.lines[near], held.weights[near]


def _gap(mark: np.ndarray, half: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the distance from the edge of a mark to the label at each try."""
    out = np.maximum(np.abs(at - mark[:2]) - half, 0)
    return np.maximum(np.hypot(*out.T) - mark[2], 0)


def _covers(at: np.ndarray, half: np.ndarray, discs: np.ndarray) -> np.ndarray:
    """Return whether the label at each try covers a disc."""
    if not len(discs):
        return np.zeros(len(at), bool)
    out = np.maximum(np.abs(at[:, None] - discs[:, :2]) - half, 0)
    return (np.hypot(out[..., 0], out[..., 1]) < discs[:, 2] + PAD).any(axis=1)


def _leader_hits(
    mark: np.ndarray, half: np.ndarray, at: np.ndarray, discs: np.ndarray
) -> np.ndarray:
    """Return whether the leader of each try runs over the disc of another mark."""
    others = discs[np.hypot(*(discs[:, :2] - mark[:2]).T) > 1e-9]
    far = _gap(mark, half, at) > LEADER
    hits = np.zeros(len(at), bool)
    if len(others):
        end = np.clip(mark[:2], at[far] - half, at[far] + half)
        along = end - mark[:2]
        apart = others[:, :2] - mark[:2]
        length = np.maximum((along**2).sum(axis=1), 1e-12)
        share = np.clip(along @ apart.T / length[:, None], 0, 1)
        distance = np.linalg.norm(apart - share[..., None] * along[:, None], axis=-1)
        hits[far] = (distance < others[:, 2]).any(axis=1)
    return hits


def _crosses(lines: np.ndarray, centre: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return which lines, (lines, 4), cross a box; with one line, which boxes it crosses."""
    start, along = lines[:, :2] - centre, lines[:, 2:] - lines[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (-half - start) / along, (half - start) / along
    still = along == 0
    outside = (still & (np.abs(start) > half)).any(axis=1)
    enter = np.where(still, -np.inf, np.minimum(a, b)).max(axis=1)
    leave = np.where(still, np.inf, np.maximum(a, b)).min(axis=1)
    return ~outside & (np.maximum(enter, 0) <= np.minimum(leave, 1))


def _cost_of_others(
    k: int, at: np.ndarray, marks: np.ndarray, halves: np.ndarray, centres: np.ndarray
) -> np.ndarray:
    """Return the cost of the tries of one label among the placed ones."""
    cost = np.zeros(len(at))
    far = _gap(marks[k], halves[k], at) > LEADER
    ends = np.clip(marks[k, :2], at - halves[k], at + halves[k])
    own = np.hstack([np.broadcast_to(marks[k, :2], ends.shape), ends])
    for j in np.flatnonzero(~np.isnan(centres[:, 0])):
        cost[(np.abs(at - centres[j]) < halves[k] + halves[j]).all(axis=1)] = np.inf
        line = leader(marks[j], centres[j], 2 * halves[j])
        if line is not None:
            cost += _LEADER * _crosses(line.reshape(1, 4), at, halves[k])
        cost[far] += _LEADER * _crosses(own[far], centres[j], halves[j])
    return cost
