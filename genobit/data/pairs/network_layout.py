"""Layout of a network that keeps connected components and communities apart.

Each connected component is drawn on its own, and the drawings are packed on shelves, the tallest
first. A component of more than `MOST` nodes is drawn by communities. A spring layout first places
the communities as discs, and overlapping discs are pushed apart. A second spring layout then places
the nodes of each community.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    Places = NDArray[np.float64]

MOST = 400
"""Most nodes of one spring layout: networkx switches to a far slower method from 500 nodes. For a
component of 4,000 nodes one spring layout takes 40 s, the layout by communities 2 s."""

GAP = 1.5
"""Gap between two components, at an area of about one per node."""

PUSHES = 200


def layout(graph: Any, seed: int = 0) -> dict[Hashable, tuple[float, float]]:
    """Return the position (x, y) of each node of a networkx Graph.

    Edges pull by their attribute ``weight``. Equal seeds give equal positions. The boxes
    around two components never overlap.

    Examples
    --------
    >>> import networkx as nx
    >>> places = layout(nx.Graph([("a", "b"), ("c", "d")]))
    >>> sorted(places)
    ['a', 'b', 'c', 'd']
    """
    import networkx as nx

    parts = [list(part) for part in nx.connected_components(graph)]
    # Iteration over sets of text differs between runs, so sort by the order of the graph's nodes.
    order = {node: k for k, node in enumerate(graph)}
    parts = [sorted(part, key=order.__getitem__) for part in parts]
    parts.sort(key=lambda part: (-len(part), order[part[0]]))
    drawings = [_component(graph.subgraph(part), part, seed) for part in parts]
    return {
        node: (float(x), float(y))
        for part, places in zip(parts, _shelves(drawings), strict=True)
        for node, (x, y) in zip(part, places, strict=True)
    }


def _component(graph: Any, nodes: Sequence[Hashable], seed: int) -> Places:
    """Place nodes around the origin within a radius of about sqrt(nodes); returns (nodes, 2)."""
    n = len(nodes)
    if n <= 3:
        # Most components of most networks are pairs, which need no spring layout.
        angles = 2 * np.pi * np.arange(n) / max(n, 1)
        return np.sqrt(n) / 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if n <= MOST:
        return _springs(graph, nodes, seed)
    communities = _communities(graph, nodes, seed)
    if len(communities) == 1:
        return _sunflower(graph, nodes)
    return _by_communities(graph, nodes, communities, seed)


def _ordered(graph: Any, nodes: Sequence[Hashable]) -> Any:
    """Copy a graph with its nodes in this order, which random numbers follow."""
    import networkx as nx

    ordered = nx.Graph()
    ordered.add_nodes_from(nodes)
    ordered.add_edges_from(graph.edges(data=True))
    return ordered


def _springs(graph: Any, nodes: Sequence[Hashable], seed: int) -> Places:
    import networkx as nx

    found = nx.spring_layout(_ordered(graph, nodes), seed=seed, weight="weight")
    places = np.array([found[node] for node in nodes])
    places -= (places.min(axis=0) + places.max(axis=0)) / 2
    reach = np.linalg.norm(places, axis=1).max()
    return places * (np.sqrt(len(nodes)) / reach if reach else 1.0)


def _communities(graph: Any, nodes: Sequence[Hashable], seed: int) -> list[list[Hashable]]:
    import networkx as nx

    order = {node: k for k, node in enumerate(nodes)}
    found = nx.community.louvain_communities(_ordered(graph, nodes), weight="weight", seed=seed)
    return [sorted(part, key=order.__getitem__) for part in found]


def _sunflower(graph: Any, nodes: Sequence[Hashable]) -> Places:
    """Place nodes on a sunflower spiral, hubs in the middle; springs say no more of a clique."""
    degrees = np.array([graph.degree[node] for node in nodes])
    rank = np.empty(len(nodes))
    rank[np.argsort(-degrees, kind="stable")] = np.arange(len(nodes))
    angle = rank * np.pi * (3 - np.sqrt(5))
    return np.sqrt(rank + 0.5)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _by_communities(
    graph: Any, nodes: Sequence[Hashable], communities: list[list[Hashable]], seed: int
) -> Places:
    import networkx as nx

    of = {node: k for k, part in enumerate(communities) for node in part}
    between = nx.Graph()
    between.add_nodes_from(range(len(communities)))
    for a, b, weight in graph.edges(data="weight", default=1.0):
        if of[a] != of[b]:
            earlier = between.get_edge_data(of[a], of[b], {}).get("weight", 0.0)
            between.add_edge(of[a], of[b], weight=earlier + weight)
    radii = np.array([np.sqrt(len(part)) + GAP / 2 for part in communities])
    middles = _component(between, range(len(communities)), seed)
    middles = _pushed_apart(middles * np.sqrt(len(nodes) / len(communities)), radii)
    row = {node: k for k, node in enumerate(nodes)}
    places = np.empty((len(nodes), 2))
    for k, part in enumerate(communities):
        places[[row[node] for node in part]] = middles[k] + _component(
            graph.subgraph(part), part, seed
        )
    return places - (places.min(axis=0) + places.max(axis=0)) / 2


def _pushed_apart(middles: Places, radii: NDArray[np.float64]) -> Places:
    """Move the centres of discs until no two discs overlap."""
    wanted = radii[:, None] + radii
    np.fill_diagonal(wanted, 0)
    # Two discs with the same centre have no direction to move, so offset each along a spiral.
    middles = middles + 1e-6 * np.stack([np.arange(len(radii)), np.arange(len(radii)) ** 2], 1)
    for _ in range(PUSHES):
        apart = middles[:, None] - middles
        distance = np.linalg.norm(apart, axis=-1)
        overlap = np.maximum(wanted - distance, 0)
        if not overlap.any():
            return middles
        np.fill_diagonal(distance, 1)
        middles = middles + (apart * (overlap / distance)[..., None]).sum(axis=1) / 2
    apart = np.linalg.norm(middles[:, None] - middles, axis=-1)
    np.fill_diagonal(apart, 1)
    return middles * max(1.0, float((wanted / apart).max()))


def _shelves(drawings: Sequence[Places]) -> list[Places]:
    """Pack drawings in rows, tallest first, into a roughly square area."""
    sizes = np.array([np.ptp(places, axis=0) + GAP for places in drawings]).reshape(-1, 2)
    width = max(1.2 * np.sqrt(sizes.prod(axis=1).sum()), *sizes[:, 0], 0.0)
    out: list[Any] = [None] * len(drawings)
    x = y = height = 0.0
    for k in np.argsort(-sizes[:, 1], kind="stable").tolist():
        if x and x + sizes[k, 0] > width:
            x, y, height = 0.0, y - height, 0.0
        corner = np.array([drawings[k][:, 0].min(), drawings[k][:, 1].max()])
        out[k] = drawings[k] - corner + np.array([x, y])
        x += sizes[k, 0]
        height = max(height, sizes[k, 1])
    return out
