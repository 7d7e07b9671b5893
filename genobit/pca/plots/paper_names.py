"""Names of groups placed on their points, apart from other points and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patheffects import withStroke

from genobit.visual.paper.page import size_of
from genobit.visual.paper.texts import Room, block_size, readable
from genobit.visual.tokens import BASE_PT, CASING_PT, HAIRLINE_PT, LIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

#: Directions and distances in millimetres from the middle of a group at which names are tried.
_ANGLES = 2 * np.pi * np.arange(24) / 24
_DISTANCES = np.arange(0.0, 40.0, 0.75)
#: A name farther than this from its group has a line to it, in millimetres.
_LEADER = 2.5
#: Most points of a group from which distances are measured.
_MEASURED = 400
_COVER = 20.0
#: Neighbours of a sample, and the share of them that is of its own group if groups are apart.
_NEIGHBOURS, _OWN = 5, 0.75
#: Room around the points, as a share of their range.
_AROUND = 0.1
#: Radius of a mark with air around it, in millimetres.
_RADIUS = 0.85


def are_apart(
    x: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    names: Sequence[str],
    size: tuple[float, float],
) -> bool:
    """Return whether the names of all groups can stand on the data.

    x, y, groups: (samples,); size: of the panel in millimetres. Each name needs a place, and most
    neighbours of a sample must be of its group. Else no name tells whose the points near it are.
    """
    at = np.column_stack([x, y]).astype("f8")
    known = np.isfinite(at).all(axis=1)
    at, groups = at[known], groups[known]
    if not len(at):
        return True
    low, reach = at.min(axis=0), np.maximum(np.ptp(at, axis=0), 1e-300)
    shares = (at - low + _AROUND * reach) / ((1 + 2 * _AROUND) * reach)
    drawn = [name for name in names if (groups == name).any()]
    if len(places_of_names(shares, groups, drawn, *size)) < len(drawn):
        return False
    own = _own_neighbours(shares * size, groups)
    for name in drawn:
        found = own[groups == name]
        # One or two samples have no neighbours that tell.
        if len(found) > 2 and found.mean() < _OWN * min(_NEIGHBOURS, len(found) - 1):
            return False
    return True


def _own_neighbours(points: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return how many of the nearest neighbours of each point are of its group."""
    from scipy.spatial import cKDTree

    found = cKDTree(points).query(points, min(_NEIGHBOURS + 1, len(points)))[1]
    found = found.reshape(len(points), -1)
    # Points at one place are neighbours in any order, so a point may not be the first of its own.
    others = found != np.arange(len(points))[:, None]
    counted: np.ndarray = ((groups[found] == groups[:, None]) & others).sum(axis=1)
    return counted


def name_groups(
    axes: Axes, x: np.ndarray, y: np.ndarray, groups: np.ndarray, colours: Mapping[str, str]
) -> None:
    """Write the name of each group on the data; x, y, groups: (samples,)."""
    width, height = size_of(axes)
    at = np.column_stack([x, y]).astype("f8")
    pixels = axes.transAxes.inverted().transform(axes.transData.transform(at))
    for name, (box, own) in places_of_names(pixels, groups, list(colours), width, height).items():
        _write(axes, name, box, own, colours[name])


def places_of_names(
    at: np.ndarray,
    groups: np.ndarray,
    names: Sequence[str],
    width: float,
    height: float,
    size: float = BASE_PT,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the box of each name that has a place, and the points of its group.

    at: (samples, 2), shares of the panel; groups: (samples,). Boxes and points are in millimetres
    of a panel of ``width`` and ``height``, for type of ``size`` points.
    """
    known = np.isfinite(at).all(axis=1)
    at = at * [width, height]
    room = Room(width, height, at, _RADIUS)
    points = {name: _some(at[known & (groups == name)]) for name in names}
    out = {}
    for name, own in points.items():
        if not len(own):
            continue
        others = [p for other, p in points.items() if other != name and len(p)]
        wanted = block_size(name, size, bold=True)
        box = _place(room, wanted, own, np.concatenate(others) if others else own)
        if box is not None:
            room.take(box)
            out[name] = box, own
    return out


def _some(points: np.ndarray) -> np.ndarray:
    return points[:: max(len(points) // _MEASURED, 1)]


def _place(
    room: Room, size: tuple[float, float], own: np.ndarray, others: np.ndarray
) -> np.ndarray | None:
    """Return the box of a name near its points; None if no place is free of other names."""
    half = np.array(size) / 2
    middle = np.median(own, axis=0)
    ways = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    centres = (middle + _DISTANCES[:, None, None] * ways).reshape(-1, 2)
    boxes = np.concatenate([centres - half, centres + half], axis=1)
    boxes = boxes[room.allowed(boxes)]
    if not len(boxes):
        return None
    gap, strange = _distance(boxes, own), _distance(boxes, others)
    away = np.hypot(*((boxes[:, :2] + boxes[:, 2:]) / 2 - middle).T)
    # A name nearer to another group than to its own misleads.
    cost = _COVER * room.covered(boxes) + gap + 0.3 * away + 2 * np.maximum(gap - strange, 0)
    best: np.ndarray = boxes[np.argmin(np.round(cost, 6))]
    return best


def _distance(boxes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distance from each box to the nearest point, in blocks of boxes."""
    out = np.empty(len(boxes))
    for start in range(0, len(boxes), 200):
        part = boxes[start : start + 200, None]
        beyond = np.maximum(np.maximum(part[..., :2] - points, points - part[..., 2:]), 0)
        out[start : start + 200] = np.sqrt((beyond**2).sum(axis=2)).min(axis=1)
    return out


def _write(axes: Axes, name: str, box: np.ndarray, own: np.ndarray, colour: str) -> None:
    frame = np.array(size_of(axes))
    centre = (box[:2] + box[2:]) / 2
    near = own[np.argmin(np.hypot(*(own - centre).T))]
    edge = np.clip(near, box[:2], box[2:])
    if np.hypot(*(near - edge)) > _LEADER:
        ends = np.array([edge, near]) / frame
        axes.plot(*ends.T, color=LIGHT.slate, linewidth=HAIRLINE_PT, transform=axes.transAxes)
    axes.text(
        centre[0] / frame[0],
        centre[1] / frame[1],
        name,
        color=readable(colour),
        fontsize=BASE_PT,
        fontweight="bold",
        ha="center",
        va="center",
        transform=axes.transAxes,
        path_effects=[withStroke(linewidth=CASING_PT, foreground=LIGHT.paper)],
        zorder=5,
    )
