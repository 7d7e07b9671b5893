"""Lazy alignments in any chunks against the same alignment in memory."""

from __future__ import annotations

import weakref
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.data.alignment import sets_by_sites, states_of
from genobit.data.characters import sets_in
from genobit.io.trees import Phylogeny
from genobit.parsimony.methods.lengths import alignment_of
from genobit.parsimony.neighbour_joining import distances
from genobit.parsimony.site_patterns import site_patterns
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.trees import random_parents

SYMBOLS = {
    "dna": "ACGTACGTACGTNR-?",
    "protein": "ACDEFGHIKLMNPQRSTVWYXB-?",
    "rare": "AAAACCCCDDDDOU*-?",
    "standard": "0123-?",
    "guessed": "012345AC-?",
    "unknown": "-?",
}


def made(kind: str, taxa: int, sites: int, seed: int) -> xr.DataArray:
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        values = rng.integers(-1, 5, (taxa, sites))
        return xr.DataArray(values, dims=("taxa", "sites"))
    if kind == "polymorphic":
        known = np.array(["0", "1", "2", "{01}", "(12)", "?", "-"])
        values = known[rng.integers(0, known.size, (taxa, sites))]
        return xr.DataArray(values, dims=("taxa", "sites"), attrs={"kind": "standard"})
    known = np.array(list(SYMBOLS[kind]))
    values = known[rng.integers(0, known.size, (taxa, sites))]
    kinds = {"rare": "protein", "unknown": "standard"}
    attrs = {} if kind == "guessed" else {"kind": kinds.get(kind, kind)}
    names = {"taxa": [f"t{k}" for k in range(taxa)], "place": ("sites", np.arange(sites) * 10)}
    return xr.DataArray(values, names, ("taxa", "sites"), attrs=attrs)


@st.composite
def cut(draw, kinds=(*SYMBOLS, "numbers", "polymorphic"), most_sites=40):
    """An alignment in memory, the same in chunks, and a generator of random numbers."""
    seed = draw(st.integers(0, 2**32))
    taxa, sites = draw(st.integers(3, 9)), draw(st.integers(1, most_sites))
    aln = made(draw(st.sampled_from(kinds)), taxa, sites, seed)
    chunks = {"taxa": draw(st.integers(1, taxa)), "sites": draw(st.integers(1, sites + 3))}
    return aln, aln.chunk(chunks), np.random.default_rng(seed)


def tree_of(taxa: int, rng: np.random.Generator, most_children: int = 2) -> Phylogeny:
    parents = random_parents(taxa, rng, most_children)
    return Phylogeny(parents, ("",) * parents.size, None)


@settings(max_examples=60)
@given(
    cut(),
    st.sampled_from(["missing", "state"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["planes", "binary", "whole", "fractions"]),
)
def test_scores_do_not_depend_on_chunks(case, gap, sites, weighted, how) -> None:
    aln, lazy, rng = case
    trees = [tree_of(aln.sizes["taxa"], rng, 2 if how == "binary" else 4) for _ in range(3)]
    asked = {"gap": gap, "sites": sites}
    if weighted:
        asked["weights"] = rng.integers(0, 3, aln.sizes["sites"])
        asked["weights"][rng.integers(asked["weights"].size)] = 1
    states = len(states_of(aln.genobit.parsimony(trees[0], gap=gap).attrs))
    if how in {"whole", "fractions"}:
        costs = (
            rng.integers(0, 9, (states, states)) if how == "whole" else rng.random((states,) * 2)
        )
        asked["costs"] = (costs + costs.T) * (1 - np.eye(states))
    expected = aln.genobit.parsimony(trees, **asked)
    xr.testing.assert_identical(lazy.genobit.parsimony(trees, **asked), expected)
    one = lazy.genobit.parsimony(trees[1], **asked)
    xr.testing.assert_identical(one, expected.isel(trees=1))


def test_scores__of_fractions_are_rounded_once() -> None:
    # A sum of floats in another order ends in other digits.
    aln = made("dna", 6, 400, 3)
    tree = tree_of(6, np.random.default_rng(1))
    costs = np.array([[0, 0.1, 0.2, 0.3], [0.1, 0, 0.7, 1e-9], [0.2, 0.7, 0, 3], [0.3, 1e-9, 3, 0]])
    lengths = {
        float(aln.chunk(sites=size).genobit.parsimony(tree, costs=costs, sites=False).length)
        for size in (1, 7, 50, 399, 400)
    }
    assert lengths == {float(aln.genobit.parsimony(tree, costs=costs).length)}


@settings(max_examples=40)
@given(
    cut(), st.sampled_from(["missing", "state"]), st.sampled_from(["sets", "acctran", "deltran"])
)
def test_ancestral_states_do_not_depend_on_chunks(case, gap, resolve) -> None:
    aln, lazy, rng = case
    tree = tree_of(aln.sizes["taxa"], rng, 3)
    expected = aln.genobit.ancestral_states(tree, gap=gap, resolve=resolve)
    found = lazy.genobit.ancestral_states(tree, gap=gap, resolve=resolve)
    assert found.states.chunks == ((expected.sizes["nodes"],), lazy.chunks[1])
    assert found.states.dtype == expected.states.dtype
    xr.testing.assert_identical(found.compute(), expected)


@settings(max_examples=40)
@given(cut(kinds=("dna", "guessed", "rare", "numbers", "unknown")), st.sampled_from(["T", "r2"]))
def test_linkage_does_not_depend_on_chunks(case, statistic) -> None:
    aln, lazy, _ = case
    if statistic == "r2":
        first = aln.values[0, 0]
        other = np.unique(aln.values)[-1]
        aln = aln.copy(data=np.where(aln.values == first, first, other))
        if aln.dtype.kind == "U":
            # Few digits are errors in what is guessed to be DNA.
            aln.attrs.setdefault("kind", "standard")
        lazy = aln.chunk(dict(zip(lazy.dims, lazy.chunks, strict=True)))
    expected = aln.genobit.ld(statistic)
    with gb.set_options(chunk_rows=64):
        found = lazy.genobit.ld(statistic)
        band = lazy.genobit.ld(statistic, window=3)
    xr.testing.assert_identical(found.compute(), expected.compute())
    xr.testing.assert_identical(band.compute(), aln.genobit.ld(statistic, window=3).compute())


@settings(max_examples=15)
@given(cut(kinds=("dna", "guessed", "polymorphic")), st.sampled_from(["stepwise", "closest"]))
def test_searches_do_not_depend_on_chunks(case, start) -> None:
    aln, lazy, rng = case
    weights = np.append(rng.integers(0, 4, aln.sizes["sites"] - 1), 1)
    asked = {"method": "spr", "start": start, "bootstrap": 1, "weights": weights}
    found = lazy.genobit.parsimony_search(**asked)
    xr.testing.assert_identical(found, aln.genobit.parsimony_search(**asked))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [700, 300, 7])
def test_columns_of_chunks_are_those_of_the_sites(size: int, weighted: bool) -> None:
    """More of them than a byte can number."""
    aln = made("dna", 5, 700, 3).copy()
    aln[:, 40:80] = aln[:, :1]
    weights = np.random.default_rng(0).integers(0, 3, 700) if weighted else None
    each = np.ones(700, np.int64) if weights is None else weights
    whole = alignment_of(aln.chunk(sites=size), "missing")
    coding, taxa = whole.coding, whole.taxa
    found = site_patterns(whole.values, coding, taxa, weights, resampled=True)
    sets = sets_in(aln.values, coding, taxa)
    columns = [tuple(column) for column in sets.T.tolist()]
    # Those of most sites first, then as they come.
    order = sorted(set(columns), key=lambda column: (-columns.count(column), columns.index(column)))
    assert [tuple(column) for column in found.sets.T.tolist()] == order
    sums = Counter()
    for column, weight in zip(columns, each.tolist(), strict=True):
        sums[column] += weight
    assert found.weights.tolist() == [sums[column] for column in order]
    assert found.drawn.of_site.dtype == np.uint16
    heavy = np.flatnonzero(each)
    assert found.drawn.of_site.tolist() == [order.index(columns[site]) for site in heavy]
    assert (found.drawn.weights is None) == (weights is None)
    if weights is not None:
        np.testing.assert_array_equal(found.drawn.weights, weights[heavy])
    several = site_patterns(aln.values, coding, taxa, weights, resampled=True)
    for name, values in found.drawn._asdict().items():
        np.testing.assert_array_equal(values, several.drawn._asdict()[name])
    assert site_patterns(whole.values, coding, taxa, weights).drawn.of_site.size == 0


@given(cut())
def test_distances_do_not_depend_on_chunks(case) -> None:
    whole, lazy = (alignment_of(aln, "missing") for aln in case[:2])
    parts = [list(sets_by_sites(each.values, each.coding, each.taxa)) for each in (whole, lazy)]
    assert len(parts[0]) == 1
    assert len(parts[1]) == len(case[1].chunks[1])
    np.testing.assert_array_equal(*map(distances, parts))


def test_searches__by_neighbour_joining() -> None:
    aln = gb.sample_alignment().isel(sites=slice(300))
    asked = {"method": "stepwise", "start": "neighbour_joining"}
    found = aln.chunk(sites=70).genobit.parsimony_search(**asked)
    xr.testing.assert_identical(found, aln.genobit.parsimony_search(**asked))


def test_searches__refuse_columns_past_the_limit() -> None:
    lazy = made("dna", 9, 300, 1).chunk(sites=20)
    with (
        gb.set_options(eager_limit=9000),
        pytest.raises(MemoryError, match=r"different columns of the .*: search a part .*eager_l"),
    ):
        lazy.genobit.parsimony_search("stepwise")


@pytest.mark.parametrize("chunk", [1, 3])
def test_errors_name_the_first_of_several_sites(chunk: int) -> None:
    aln = made("dna", 3, 60, 0).copy()
    aln[1, 7:] = "!"
    lazy = aln.chunk(sites=chunk)
    tree = tree_of(3, np.random.default_rng(0))
    with dask.config.set(scheduler="threads", num_workers=4):
        for _ in range(5):
            with pytest.raises(ValueError, match=r"site 7: "):
                lazy.genobit.parsimony(tree)


def wrong(kind: str) -> xr.DataArray:
    aln = made(kind, 4, 50, 0).copy()
    if kind == "numbers":
        aln[2, 41] = -7
    else:
        aln[2, 41] = "!"
    return aln


def test_errors_name_the_site_of_what_is_no_text() -> None:
    values = made("dna", 3, 20, 0).values.astype(object)
    values[1, 13] = np.nan
    aln = xr.DataArray(values, dims=("taxa", "sites"))
    tree = tree_of(3, np.random.default_rng(0))
    for each in (aln, aln.chunk(sites=6), aln.chunk(sites=6).assign_attrs(kind="dna")):
        with pytest.raises(
            ValueError, match=r"^taxon 1 \('1'\), site 13: nan is neither text nor a whole number"
        ):
            each.genobit.parsimony(tree)


@pytest.mark.parametrize("kind", ["dna", "protein", "numbers"])
@pytest.mark.parametrize("call", ["parsimony", "ancestral_states", "ld", "parsimony_search"])
def test_errors_name_the_site_of_the_whole(kind: str, call: str) -> None:
    aln = wrong(kind)
    tree = tree_of(4, np.random.default_rng(0))
    arguments = {"ld": ["T"], "parsimony_search": []}.get(call, [tree])
    for each in (aln, aln.chunk(sites=7), aln.chunk(taxa=1, sites=1)):
        with pytest.raises(ValueError, match=r"^taxon 2 .*site 41: |^taxon 2, site 41: "):
            getattr(each.genobit, call)(*arguments)


def test_errors_name_a_site_of_too_many_states() -> None:
    values = np.zeros((3, 90), int)
    values[1] = np.arange(90)
    aln = xr.DataArray(values, dims=("taxa", "sites")).chunk(sites=8)
    tree = tree_of(3, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"90 states.*largest of them 89 at taxon 1.*, site 89"):
        aln.genobit.parsimony(tree)
    text = xr.DataArray(values.astype(str), dims=("taxa", "sites")).chunk(sites=8)
    with pytest.raises(ValueError, match=r"90 states.*next of them '64' at taxon 1.*, site 64"):
        text.genobit.parsimony(tree)


def test_refuses_chunks_of_unknown_size_and_passes_empty_ones_over() -> None:
    aln = made("dna", 4, 30, 0)
    tree = tree_of(4, np.random.default_rng(0))
    unknown = da.from_array(aln.values, chunks=(4, 10))
    unknown = unknown[:, da.from_array(np.ones(30, bool), chunks=10)]
    with pytest.raises(ValueError, match=r"chunks of unknown size: .*compute_chunk_sizes"):
        xr.DataArray(unknown, dims=("taxa", "sites")).genobit.parsimony(tree)
    blocks = [aln.values[:, part] for part in (slice(0), slice(11), slice(11, 30))]
    names = {("blocks", 0, k): block for k, block in enumerate(blocks)}
    array = da.Array(names, "blocks", ((4,), (0, 11, 19)), aln.dtype)
    empty = xr.DataArray(array, aln.coords, aln.dims, attrs=aln.attrs)
    assert 0 in empty.chunks[1]
    xr.testing.assert_identical(empty.genobit.parsimony(tree), aln.genobit.parsimony(tree))
    anc = empty.genobit.ancestral_states(tree)
    xr.testing.assert_identical(anc.compute(), aln.genobit.ancestral_states(tree))


def test_few_chunks_are_held_at_a_time() -> None:
    held, most = [0], [0]
    tree = tree_of(5, np.random.default_rng(0))
    values = made("dna", 5, 300, 0).values

    def read(block_info=None):
        _, (start, stop) = block_info[None]["array-location"]
        block = values[:, start:stop].copy()
        held[0] += 1
        most[0] = max(most[0], held[0])
        weakref.finalize(block, lambda: held.__setitem__(0, held[0] - 1))
        return block

    lazy = da.map_blocks(read, chunks=((5,), (3,) * 100), dtype="U1", meta=np.empty((0, 0), "U1"))
    aln = xr.DataArray(lazy, dims=("taxa", "sites"), attrs={"kind": "dna"})
    with dask.config.set(scheduler="threads", num_workers=2):
        aln.genobit.parsimony(tree)
        aln.genobit.parsimony_search("stepwise", start="neighbour_joining")
    assert 1 <= most[0] <= 8


def test_what_is_lazy_and_what_is_not() -> None:
    aln = made("dna", 5, 60, 0)
    lazy, tree = aln.chunk(sites=10), tree_of(5, np.random.default_rng(0))
    with raise_if_dask_computes(2):
        # The symbols, and the labels of the sites.
        linkage = lazy.genobit.ld("T")
        assert linkage.chunks is not None
    with raise_if_dask_computes(1):
        # Nucleotides are known beforehand, and all chunks are one group.
        lazy.genobit.parsimony(tree)
    with raise_if_dask_computes(1):
        assert lazy.genobit.ancestral_states(tree).states.chunks is not None
    with raise_if_dask_computes(2):
        lazy.drop_attrs().genobit.parsimony(tree)
