from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.data.pairs.network import Network
from genobit.data.pairs.network_layout import MOST, layout

NAMES = ["MYC", "MAX", "MXD1", "TP53", "MAX", "BRCA1"]


def table(
    pairs: list[tuple[int, int]], tau: list[float], names: list[str] = NAMES, **columns: list
) -> Network:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    edges = {"gene_0": ends[:, 0], "gene_1": ends[:, 1], "tau": np.array(tau, float), **columns}
    return Network(pd.DataFrame(edges), names, "gene", attrs={"pairs_tested": 15})


def some() -> Network:
    return table(
        [(0, 1), (0, 2), (1, 2), (3, 4)],
        [0.9, -0.7, 0.65, 0.8],
        n=[50, 50, 49, 50],
        qvalue=[1e-9, 1e-4, 1e-3, np.nan],
    )


def empty() -> Network:
    return table([], [], n=[], qvalue=[])


def test_names__that_stand_twice_are_told_apart() -> None:
    assert some().names.tolist() == ["MYC", "MAX", "MXD1", "TP53", "MAX (2)", "BRCA1"]
    awkward = table([], [], ["A", "A", "A (2)", "A", "A (2)", "1", 1])  # type: ignore[list-item]
    assert awkward.names.tolist()[:4] == ["A", "A (3)", "A (2)", "A (4)"]
    assert len(set(awkward.names.tolist())) == 7


def test_to_pandas__has_positions_names_and_all_columns() -> None:
    frame = some().to_dataframe()
    assert list(frame) == ["gene_0", "gene_1", "name_0", "name_1", "tau", "n", "qvalue"]
    assert frame.iloc[3, :4].tolist() == [3, 4, "TP53", "MAX (2)"]
    assert frame.attrs == {"pairs_tested": 15}
    frame["tau"] = 0.0
    assert some().to_dataframe()["tau"].tolist() == [0.9, -0.7, 0.65, 0.8]


def test_to_networkx__has_columns_as_attributes_and_leaves_nan_out() -> None:
    graph = some().to_networkx()
    assert list(graph) == ["MYC", "MAX", "MXD1", "TP53", "MAX (2)"]
    assert graph.nodes["MAX (2)"] == {"gene": 4}
    assert graph.edges["MYC", "MXD1"] == {"tau": -0.7, "n": 50, "qvalue": 1e-4, "weight": 0.7}
    assert "qvalue" not in graph.edges["TP53", "MAX (2)"]
    assert "BRCA1" in some().to_networkx(isolated=True)


def same(found: nx.Graph, wanted: nx.Graph) -> None:
    assert dict(found.nodes(data="gene")) == dict(wanted.nodes(data="gene"))
    assert {frozenset(e): e for e in found.edges}.keys() == {frozenset(e) for e in wanted.edges}
    for a, b, values in wanted.edges(data=True):
        assert {k: found.edges[a, b][k] for k in values} == values


@pytest.mark.parametrize("make", [some, empty])
def test_to_graphml__is_read_back_by_networkx(make: object, tmp_path: Path) -> None:
    network = make()  # type: ignore[operator]
    network.to_graphml(tmp_path / "network.graphml")
    same(nx.read_graphml(tmp_path / "network.graphml"), network.to_networkx())


@pytest.mark.parametrize("make", [some, empty])
def test_to_cytoscape__is_read_back_by_networkx(make: object, tmp_path: Path) -> None:
    network = make()  # type: ignore[operator]
    network.to_cytoscape(tmp_path / "network.cyjs")
    document = json.loads((tmp_path / "network.cyjs").read_text())
    same(nx.cytoscape_graph(document), network.to_networkx())


def test_degree_and_hubs__count_pairs() -> None:
    network = some()
    assert network.degree().to_dict() == {"MYC": 2, "MAX": 2, "MXD1": 2, "TP53": 1, "MAX (2)": 1}
    assert network.degree(isolated=True)["BRCA1"] == 0
    assert network.hubs(2).index.tolist() == ["MYC", "MAX"]


def test_select__by_value_and_by_qvalue() -> None:
    network = some()
    assert len(network.select(threshold=0.7)) == 3
    assert len(network.select(fdr=1e-4)) == 2
    assert len(network.select(threshold=0.8, fdr=1e-4)) == 1
    assert network.select(threshold=0.7).attrs == network.attrs
    with pytest.raises(ValueError, match="no q-values"):
        table([(0, 1)], [0.5]).select(fdr=0.1)


@given(data=st.data(), n=st.integers(1, 40))
def test_components__are_those_of_networkx(data: st.DataObject, n: int) -> None:
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    pairs = data.draw(st.lists(ends, max_size=60, unique=True)) if n > 1 else []
    network = table(pairs, [0.5] * len(pairs), [f"g{k}" for k in range(n)])
    found = network.components()
    parts = {frozenset(part) for part in nx.connected_components(network.to_networkx())}
    assert {frozenset(group.index) for _, group in found.groupby(found)} == parts
    assert found.index.tolist() == network.degree().index.tolist()
    sizes = found.value_counts().sort_index().tolist()
    assert sizes == sorted(sizes, reverse=True)


def test_components__of_a_long_chain() -> None:
    n = 20_000
    order = np.random.default_rng(0).permutation(n)
    ends = np.sort(np.stack([order[:-1], order[1:]], axis=1), axis=1)
    chain = table(ends.tolist(), [0.5] * (n - 1), [str(k) for k in range(n)])
    assert set(chain.components()) == {0}


def test_communities__are_the_same_for_the_same_seed() -> None:
    cliques = [
        (a, b) for start in (0, 6) for a in range(start, start + 6) for b in range(a + 1, start + 6)
    ]
    network = table([*cliques, (0, 6)], [0.8] * 30 + [0.6], [f"g{k}" for k in range(12)])
    found = network.communities(seed=3)
    assert found.tolist() == [0] * 6 + [1] * 6
    pd.testing.assert_series_equal(found, network.communities(seed=3))


def boxes_overlap(network: Network, places: pd.DataFrame) -> bool:
    by = places.groupby(network.components())
    low, high = by.min().to_numpy(), by.max().to_numpy()
    both = ((low[:, None] < high) & (low < high[:, None])).all(axis=-1)
    np.fill_diagonal(both, val=False)
    return bool(both.any())


def random_network(nodes: int, edges: int) -> Network:
    graph = nx.gnm_random_graph(nodes, edges, seed=1)
    pairs = [tuple(sorted(pair)) for pair in graph.edges]
    return table(pairs, [0.7] * len(pairs), [f"g{k}" for k in range(nodes)])


@pytest.mark.parametrize(("nodes", "edges"), [(400, 180), (60, 200), (900, 1200)])
def test_layout__keeps_components_apart_and_repeats_itself(nodes: int, edges: int) -> None:
    network = random_network(nodes, edges)
    places = network.layout(seed=2)
    assert list(places) == ["x", "y"]
    assert places.index.tolist() == network.degree().index.tolist()
    assert np.isfinite(places.to_numpy()).all()
    assert len(places.drop_duplicates()) == len(places)
    assert not boxes_overlap(network, places)
    pd.testing.assert_frame_equal(places, network.layout(seed=2))


@pytest.mark.parametrize("nodes", [1_000, 5_000])
def test_layout__has_springs_of_few_nodes_only(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def springs(graph: nx.Graph, **options: object) -> object:
        sizes.append(len(graph))
        return spring_layout(graph, **options)

    spring_layout = nx.spring_layout
    monkeypatch.setattr(nx, "spring_layout", springs)
    random_network(nodes, 5_000).layout()
    assert max(sizes) <= MOST
    assert sum(sizes) < 1.1 * nodes


def test_layout__of_what_has_no_communities_puts_hubs_in_the_middle() -> None:
    clique = nx.complete_graph(MOST + 1)
    clique.add_edge(0, "leaf")
    places = layout(clique)
    assert len(places) == MOST + 2
    assert places[0] != places["leaf"]


def test_empty_tables__work_everywhere() -> None:
    network = empty()
    assert len(network) == 0
    assert repr(network) == "<Network: 0 pairs of 0 of 6 genes, in 0 components>"
    assert "0 pairs" in network._repr_html_()
    for series in (network.degree(), network.hubs(), network.components(), network.communities()):
        assert len(series) == 0
        assert series.dtype == np.int64
    assert network.layout().shape == (0, 2)
    assert len(network.to_networkx()) == 0
    assert len(network.select(threshold=0.5, fdr=0.1)) == 0


def test_repr_html__shows_the_strongest_and_escapes_names() -> None:
    names = ["<b>", *(f"g{k}" for k in range(20))]
    network = table([(0, k) for k in range(1, 21)], [0.5 + k / 50 for k in range(20)], names)
    shown = network._repr_html_()
    assert "The strongest 8:" in shown
    assert "g19" in shown
    assert "<td>g0</td>" not in shown
    assert "&lt;b&gt;" in shown
    assert "pairs_tested 15" in shown


def test_pair_table__refuses_what_does_not_fit() -> None:
    frame = pd.DataFrame({"gene_0": [0], "gene_1": [9], "tau": [0.5]})
    with pytest.raises(ValueError, match=r"row 0 .* outside the 6 names along 'gene'"):
        Network(frame, NAMES, "gene")
    with pytest.raises(ValueError, match="no column 'r'"):
        Network(frame, NAMES, "gene", value="r")
