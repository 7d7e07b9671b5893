"""Places of the nodes of a network on paper, in millimetres.

A component is laid out by its shortest paths (Kamada-Kawai, by stress majorization), turned and
stretched into its box. Last, discs are pushed apart. Nothing is random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from genobit.kendall.plots.links import Links

#: Most nodes of a component for the layout by shortest paths, which takes 0.3 s for 400 nodes.
SHORTEST_PATHS = 400
#: Most steps of majorization.
STEPS = 300
#: Most nodes of a component that is laid out from two starts.
TWICE = 150
#: The length of an edge is the smaller degree of its ends to this power. With equal lengths, dense
#: communities collapse: the discs of 17 HLA genes touched while half of the page was empty.
LONGER = 0.4
#: Most stretch of a component along its box.
STRETCH = 1.6
#: Rounds in which discs are pushed apart.
PUSHES = 200
#: Rounds in which discs are pushed from edges, and gap between both in millimetres.
EDGE_PUSHES, FROM_EDGE = 60, 0.35
#: Most nodes times edges of a component for this.
BESIDE_EDGES = 100_000


def shape_of(links: Links, group: np.ndarray) -> np.ndarray:
    """Return the places of a component without a scale, (nodes, 2), its long side horizontal."""
    n = len(group)
    if n <= 2:
        return np.column_stack([np.arange(n), np.zeros(n)]).astype("f8")
    if n > SHORTEST_PATHS:
        return _level(links.layout()[group])
    return _level(_by_paths(_paths(ends_of(links, group), links.degree[group])))


def ends_of(links: Links, group: np.ndarray) -> np.ndarray:
    """Return the edges of a component by places in it, (2, edges)."""
    inside = np.isin(links.first, group)
    return np.searchsorted(group, np.stack([links.first[inside], links.second[inside]]))


def _paths(ends: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """Return the lengths of the shortest paths, (nodes, nodes); ends: (2, edges)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    lengths = degree[ends].min(axis=0) ** LONGER
    # scipy 1.13 needs int32.
    edges = (lengths, tuple(ends.astype("i4")))
    graph = coo_array(edges, shape=(len(degree), len(degree))).tocsr()
    return np.asarray(shortest_path(graph, "D", directed=False))


def _by_paths(paths: np.ndarray) -> np.ndarray:
    """Return the better of two layouts by shortest paths, from a circle and from components."""
    n = len(paths)
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    starts = [_scaled(paths) + 0.05 * circle, circle]
    found = [_majorized(start, paths) for start in starts[: 2 if n <= TWICE else 1]]
    return min(found, key=lambda at: _stress(at, paths))


def _scaled(paths: np.ndarray) -> np.ndarray:
    """Return classical multidimensional scaling in two dimensions, with fixed signs."""
    squares = paths**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    vectors = vectors[:, -1:-3:-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), [0, 1]]
    return vectors * np.where(largest < 0, -1, 1) * np.sqrt(np.maximum(values[-1:-3:-1], 0))


def _distances(at: np.ndarray) -> np.ndarray:
    """Return the distances of all points, (points, points)."""
    x, y = at.T.copy()
    return np.sqrt((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2)


def _stress(at: np.ndarray, paths: np.ndarray) -> float:
    return float((((_distances(at) - paths) / np.maximum(paths, 1)) ** 2).sum())


def _majorized(at: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """Minimise the stress with weights of 1 / path², one step for all nodes at a time."""
    weights = 1 / np.maximum(paths, 1) ** 2
    np.fill_diagonal(weights, 0)
    laplace = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplace, hermitian=True)
    pulls = weights * paths
    for _ in range(STEPS):
        ratio = pulls / np.maximum(_distances(at), 1e-9)
        moved = inverse @ (ratio.sum(axis=1)[:, None] * at - ratio @ at)
        step = np.abs(moved - at).max()
        at = moved
        if step < 1e-3:
            break
    return at


def _level(at: np.ndarray) -> np.ndarray:
    """Turn places so that their widest direction is horizontal, with fixed signs."""
    at = at - at.mean(axis=0)
    angles = np.pi * np.arange(36) / 36
    turns = np.column_stack([np.cos(angles), np.sin(angles)])
    k = int(np.argmax(np.ptp(at @ turns.T, axis=0).round(9)))
    cos, sin = turns[k]
    at = at @ np.array([[cos, -sin], [sin, cos]])
    skew = (at**3).sum(axis=0)
    return at * np.where(skew < -1e-9, -1, 1)


def into_box(at: np.ndarray, radii: np.ndarray, width: float, height: float) -> np.ndarray:
    """Scale the places of a component into a box with its upper left corner at 0, (nodes, 2)."""
    room = np.maximum(np.array([width, height]) - 2 * radii.max(), 0.1)
    middle = (at.min(axis=0) + at.max(axis=0)) / 2
    factors = room / np.maximum(np.ptp(at, axis=0), 1e-9)
    factors = np.minimum(factors, STRETCH * factors.min())
    return (at - middle) * factors + np.array([width, height]) / 2


def apart(
    at: np.ndarray, radii: np.ndarray, gap: float, box: tuple[float, float], ends: np.ndarray
) -> np.ndarray:
    """Push discs away from one another and from the edges of others, inside of a box of this size.

    at: (nodes, 2); radii: (nodes,); ends: (2, edges). Lengths and the gap are in millimetres.
    """
    high = np.array(box) - radii[:, None]
    low = np.minimum(radii[:, None], high)
    # Two discs at one place have no direction to move, so offset each along a spiral.
    turn = 2.4 * np.arange(len(at))
    at = at + 1e-4 * np.column_stack([np.cos(turn), np.sin(turn)])
    if at.shape[0] * ends.shape[1] <= BESIDE_EDGES:
        for _ in range(EDGE_PUSHES):
            at = np.clip(_from_edges(at, radii, ends), low, high)
            at = np.clip(_from_discs(at, radii, gap)[0], low, high)
    for _ in range(PUSHES):
        at, done = _from_discs(at, radii, gap)
        at = np.clip(at, low, high)
        if done:
            break
    return at


def _from_discs(at: np.ndarray, radii: np.ndarray, gap: float) -> tuple[np.ndarray, bool]:
    """Push discs apart once; also return whether all gaps were wide enough."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(at).query_pairs(2 * radii.max() + gap, output_type="ndarray")
    first, second = pairs[np.lexsort(pairs.T)].T
    along = at[second] - at[first]
    distance = np.maximum(np.hypot(*along.T), 1e-9)
    lacking = radii[first] + radii[second] + gap - distance
    if not (lacking > 1e-3).any():
        return at, True
    push = along * (np.maximum(lacking, 0) / distance / 2)[:, None]
    at = at.copy()
    np.add.at(at, first, -push)
    np.add.at(at, second, push)
    return at, False


def _from_edges(at: np.ndarray, radii: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Push discs once from edges that would seem to end at them."""
    start, along = at[ends[0]], at[ends[1]] - at[ends[0]]
    towards = at[:, None] - start
    length = np.maximum((along**2).sum(axis=1), 1e-9)
    share = np.clip((towards * along).sum(axis=-1) / length, 0, 1)
    off = towards - share[..., None] * along
    distance = np.maximum(np.linalg.norm(off, axis=-1), 1e-6)
    lacking = np.maximum(radii[:, None] + FROM_EDGE - distance, 0)
    lacking[ends[0], np.arange(ends.shape[1])] = 0
    lacking[ends[1], np.arange(ends.shape[1])] = 0
    return at + 0.3 * (off * (lacking / distance)[..., None]).sum(axis=1)
