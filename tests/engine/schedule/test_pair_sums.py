from __future__ import annotations

import functools
import threading
from collections import Counter
from itertools import pairwise
from unittest import mock

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.schedule import batches, pair_tasks
from genobit.engine.schedule import pair_sums as module
from genobit.engine.schedule.graphs import at_a_time
from genobit.engine.schedule.pair_sums import SampleChunks, added, pair_sums, planes_of, sample_sums
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.reference import bits_of, words_of


def chunks_of(
    bits: np.ndarray, tiles: tuple[int, ...], variants: tuple[int, ...], *, called: bool = False
) -> SampleChunks:
    """Planes of rows of bits (samples, variants): every chunk of variants begins a word."""
    cuts = np.cumsum((0, *variants))
    parts = [words_of(bits[:, a:b]) for a, b in pairwise(cuts)]
    words = tuple(part.shape[1] for part in parts)
    plane = da.from_array(np.concatenate(parts, axis=1), chunks=(tiles, words))
    copies = da.from_array(bits.sum(axis=0), chunks=(variants,))
    planes = (plane, plane) + ((plane,) if called else ())
    return SampleChunks(planes, variants, copies, copies)


def counts(chunks: list) -> tuple[np.ndarray, ...]:
    """Products of bits weighted by variant, and a scalar: variants seen."""
    total = []
    for a, b, weights in chunks:
        assert weights.shape == (a.bits,)
        left = bits_of(a.planes[0], a.bits).astype(np.int64)
        right = left if b is None else bits_of(b.planes[0], b.bits).astype(np.int64)
        total.append((left * weights) @ right.T)
    return sum(total), np.array(sum(a.bits for a, *_ in chunks)), None


def shifted(tile: module.Summed) -> np.ndarray:
    assert all(part[2] is None for part in tile.sums)
    total = sum(part[0] for part in tile.sums)
    labels = tile.rows[0][:, None] + tile.columns[0][None, :]
    return total + 1000.0 * labels + tile.whole[0].sum() + tile.sums[0][1]


def layered(tile: module.Summed) -> np.ndarray:
    return np.stack([part[0] for part in tile.sums]).astype(float)


sizes = st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple)
lengths = st.lists(st.sampled_from([1, 5, 63, 64, 65, 130]), min_size=1, max_size=9).map(tuple)


@given(
    tiles=sizes, variants=lengths, leaf=st.sampled_from([1, 300, 2**26]), seed=st.integers(0, 99)
)
def test_pair_sums__are_those_of_numpy(
    tiles: tuple[int, ...], variants: tuple[int, ...], leaf: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.uniform(size=(sum(tiles), sum(variants))) < 0.5
    weights, labels = rng.integers(0, 50, sum(variants)), rng.integers(0, 50, sum(tiles))
    samples = chunks_of(bits, tiles, variants)
    with mock.patch.object(module, "LEAF_BITS", leaf), raise_if_dask_computes():
        lazy = pair_sums(
            counts,
            shifted,
            samples,
            along=[da.from_array(weights, chunks=(variants,))],
            per_sample=[da.from_array(labels, chunks=(tiles,))],
            whole=[da.from_array(np.arange(10), chunks=3)],
        )
    assert lazy.chunks == (tiles, tiles)
    expected = (bits * weights) @ bits.T + 1000.0 * (labels[:, None] + labels) + 45 + sum(variants)
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), expected)
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), expected)


@given(
    variants=lengths, leaf=st.sampled_from([1, 300, 2**26]), parts=st.integers(1, 4), data=st.data()
)
def test_groups__are_summed_apart(
    variants: tuple[int, ...], leaf: int, parts: int, data: st.DataObject
) -> None:
    place = data.draw(
        st.lists(st.integers(0, parts - 1), min_size=len(variants), max_size=len(variants))
    )
    groups = [[k for k, p in enumerate(place) if p == g] for g in sorted(set(place))]
    tiles = (3, 3, 2)
    bits = np.random.default_rng(0).uniform(size=(8, sum(variants))) < 0.5
    ones = da.ones(sum(variants), chunks=(variants,), dtype=np.int64)
    samples = chunks_of(bits, tiles, variants)
    with mock.patch.object(module, "LEAF_BITS", leaf):
        lazy = pair_sums(counts, layered, samples, along=[ones], groups=groups, layers=len(groups))
        each = sample_sums(
            lambda chunks: (sum(bits_of(a.planes[0], a.bits).sum(axis=1) for a, *_ in chunks),),
            samples,
            along=[ones],
            groups=groups,
            dtype=np.int64,
        )
    assert lazy.chunks == ((len(groups),), tiles, tiles)
    assert each.chunks == (tiles, (len(groups),))
    cuts = np.cumsum((0, *variants))
    found, sums = dask.compute(lazy, each)
    for g, group in enumerate(groups):
        mine = np.concatenate([np.arange(cuts[k], cuts[k + 1]) for k in group])
        part = bits[:, mine].astype(int)
        np.testing.assert_array_equal(found[g], part @ part.T)
        np.testing.assert_array_equal(sums[:, g], part.sum(axis=1))


def test_every_tile__is_computed_once_and_only_what_is_wanted() -> None:
    seen: Counter[tuple[int, int]] = Counter()
    lock = threading.Lock()
    tiles, variants = (4, 4, 3), (64, 64, 30)
    bits = np.zeros((11, 158), bool)
    bits[:, 0] = bits[:, 64] = bits[:, 128] = True
    numbers = da.from_array(np.arange(11), chunks=(tiles,))

    def finish(tile: module.Summed) -> np.ndarray:
        with lock:
            seen[int(tile.rows[0][0]), int(tile.columns[0][0])] += 1
        return tile.sums[0][0].astype(float)

    lazy = pair_sums(
        counts,
        finish,
        chunks_of(bits, tiles, variants),
        along=[da.ones(158, chunks=(variants,), dtype=np.int64)],
        per_sample=[numbers],
    )
    assert (lazy.compute() == 3).all()
    assert dict(seen) == {(i, j): 1 for i in (0, 4, 8) for j in (0, 4, 8) if i <= j}
    seen.clear()
    # A corner below the diagonal is the transpose of one tile above it.
    lazy[8:, :4].compute()
    assert dict(seen) == {(0, 8): 1}


def layer_of_sums(monkeypatch: pytest.MonkeyPatch, threads: int) -> pair_tasks.PairTasks:
    """The layer of six tiles with ten leaves each, on so many threads."""
    samples = chunks_of(np.ones((9, 640), bool), (3, 3, 3), (64,) * 10)
    monkeypatch.setattr(module, "LEAF_BITS", 1)
    monkeypatch.setattr(pair_tasks, "threads", lambda: threads)
    along = [da.ones(640, chunks=64, dtype=np.int64)]
    lazy = pair_sums(counts, lambda tile: tile.sums[0][0], samples, along=along)
    return lazy.__dask_graph__().layers[lazy.name]


@pytest.mark.parametrize(("threads", "ahead"), [(1, 2), (3, 2), (4, 2), (16, 6)])
def test_tiles__go_through_the_variants_together(
    threads: int, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = layer_of_sums(monkeypatch, threads)
    every = {(layer.name, i, j) for i in range(3) for j in range(3)}
    _, needs = layer.cull(every, set())
    alone = 2 * threads > 6
    # Enough tiles for all threads: from the second on, leaves are added where they are made.
    assert any(key[0] == layer.names["leaf"] and key[-1] for key in needs) == alone
    for key in needs:
        if key[0] != layer.names["leaf" if alone else "add"] or key[-1] < ahead:
            continue
        (gate,) = (other for other in needs[key] if "-gate-" in other[0])
        # A mark of the sum so far of each of the six tiles on and above the diagonal.
        assert len(needs[gate]) == 6
        sums = [other for mark in needs[gate] for other in needs[mark]]
        assert len(sums) == 6
        assert {other[-1] for other in sums} == {key[-1] - ahead}
    # A tile alone waits for none, and nothing waits on a cluster, whose scheduler unpickles it.
    elsewhere = object.__new__(type(layer))
    vars(elsewhere).update(layer.__getstate__())
    for found, keys in ((layer, {(layer.name, 0, 1)}), (elsewhere, every)):
        _, needs = found.cull(keys, set())
        assert needs
        assert not any("-gate-" in key[0] for key in needs)


@pytest.mark.parametrize(("threads", "tiles"), [(1, 9), (4, 9), (5, 16), (8, 16), (16, 36)])
def test_tiles_at_once__let_all_threads_add_in_place(
    threads: int, tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = layer_of_sums(monkeypatch, threads)
    assert layer.at_once() == tiles >= pair_tasks.AHEAD * threads


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_sums__are_the_same_for_any_number_of_threads(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights whose sum depends on the order in which they are added."""
    bits = np.random.default_rng(0).uniform(size=(9, 640)) < 0.5
    weights = 10.0 ** np.random.default_rng(1).uniform(-9, 9, 640)
    samples = chunks_of(bits, (3, 3, 3), (64,) * 10)
    monkeypatch.setattr(module, "LEAF_BITS", 1)
    monkeypatch.setattr(pair_tasks, "threads", lambda: threads)
    along = [da.from_array(weights, chunks=64)]
    lazy = pair_sums(counts, lambda tile: tile.sums[0][0], samples, along=along)
    right = functools.reduce(
        np.add,
        [
            (bits[:, k : k + 64] * weights[k : k + 64]) @ bits[:, k : k + 64].T
            for k in range(0, 640, 64)
        ],
    )
    found = lazy.compute()
    upper = np.triu_indices(9)
    np.testing.assert_allclose(found[upper], right[upper], rtol=1e-12)
    with dask.config.set(scheduler="synchronous"):
        monkeypatch.setattr(pair_tasks, "threads", lambda: 99)
        np.testing.assert_array_equal(lazy.compute(), found)


def test_results_that_hold_sums__are_asked_for_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = layer_of_sums(monkeypatch, 1)
    assert at_a_time(layer.graph(), 1024) == 9
    assert at_a_time(layer.graph(), 3) == 3
    asked: list[int] = []
    monkeypatch.setattr(type(layer), "at_once", lambda _: 2)
    monkeypatch.setattr(
        batches, "compute", lambda group: (asked.append(len(group.dask)), ["-"])[1:]
    )
    assert len(list(batches.in_groups([(layer.name, 0, j) for j in range(3)], layer.graph()))) == 2
    assert len(asked) == 2


def test_leaves__take_chunks_until_they_are_large_enough() -> None:
    samples = chunks_of(np.zeros((6, 640), bool), (3, 3), (64,) * 10)
    for least, expected in (
        (1, [[k] for k in range(10)]),
        (3 * 64 * 4, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (2**26, [list(range(10))]),
    ):
        assert list(module.leaves(samples.variants, range(10), 3, least)) == expected
    assert list(module.leaves(samples.variants, [], 3, 1)) == []


@pytest.mark.parametrize("keys", [1, 2, 4, 5, 16, 17, 1000])
def test_tree__adds_every_sum_once_few_at_a_time(keys: int) -> None:
    layer: dict = {("x", k): ((np.array(2.0**-k if k < 50 else 1), None),) for k in range(keys)}
    layer = {key: (lambda value: value, *value) for key, value in layer.items()}
    expected = sum(2.0**-k if k < 50 else 1 for k in range(keys))
    total = module.tree(layer, "t", (7,), list(layer))
    for key, task in layer.items():
        if key[0] == "t-add":
            assert 1 <= len(task[1]) <= module.FAN_IN
    found, nothing = dask.get(layer, total)
    assert found == pytest.approx(expected, rel=1e-12)
    assert nothing is None


def test_added__leaves_what_it_is_given_alone() -> None:
    first, second = np.arange(4.0), np.arange(4.0)
    total, nothing, one = added((first, None, None), (second, None, first))
    np.testing.assert_array_equal(total, 2 * np.arange(4))
    np.testing.assert_array_equal(first, np.arange(4))
    assert nothing is None
    assert one is first


def test_counts_past_2_31__do_not_wrap() -> None:
    # 3 x 2^30 variants in planes of a word: what they hold is of no account here.
    plane = da.zeros((4, 3), dtype=np.uint64, chunks=(2, 1))
    along = da.zeros(3, dtype=np.int64, chunks=1)
    samples = SampleChunks((plane, plane), (2**30,) * 3, along, along)

    def most(chunks: list) -> tuple[np.ndarray]:
        a, b = chunks[0]
        width = (a if b is None else b).planes[0].shape[0]
        return (np.full((a.planes[0].shape[0], width), 2**30, np.int32),)

    found = pair_sums(most, lambda tile: tile.sums[0][0].astype(float), samples).compute()
    assert (found == 3 * 2**30).all()


def test_names__are_the_same_for_the_same_work() -> None:
    samples = chunks_of(np.ones((5, 100), bool), (3, 2), (64, 36))
    ones = da.ones(100, chunks=((64, 36),), dtype=np.int64)

    def named(**keywords: object) -> str:
        return pair_sums(counts, layered, samples, along=[ones], layers=1, **keywords).name

    assert named() == named()
    assert named(groups=[[0], [1]]) != named()
    assert named(whole=[ones]) != named()


@pytest.mark.parametrize("called", [False, True])
def test_planes_of__are_contiguous_rows(called: bool) -> None:
    words = np.arange(12, dtype=np.uint64).reshape(4, 3)
    rows = planes_of([words[:, 1:], words[::2]] + ([words] if called else []), 120)
    assert rows.bits == 120
    assert not rows.haplotypes
    assert all(plane.flags.c_contiguous for plane in rows.planes)
    assert (rows.called is not None) == called
