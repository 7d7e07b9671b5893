from __future__ import annotations

import itertools
import math
import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.bits.layout import Layout
from genobit.engine.schedule.costs import Estimate
from genobit.epistasis.arguments import Limits, SearchSpec
from genobit.epistasis.kernels.search import Best, search
from genobit.epistasis.schedule.search import CombinationSearch, Run, SearchError
from genobit.epistasis.schedule.units import (
    FEWEST_UNITS,
    LONGEST,
    SECONDS,
    Cut,
    best_of,
    blocks,
    chosen,
    nanoseconds,
)
from genobit.epistasis.schedule.variants import gathered
from genobit.epistasis.schedule.waves import Outcome
from genobit.epistasis.scope import scope_of
from tests.epistasis.schedule.combinations import (
    check,
    cohort,
    divided,
    dosages,
    every,
    groups,
    rows_of,
)

VARIANTS, SAMPLES = 12, 150


@given(
    variants=st.integers(1, 14),
    order=st.integers(2, 6),
    unit=st.integers(1, 2000),
    data=st.data(),
)
def test_blocks__of_all_units_hold_each_combination_once(
    variants: int, order: int, unit: int, data: st.DataObject
) -> None:
    p = data.draw(st.integers(1, order - 1))
    rows, columns = data.draw(st.integers(1, 50)), data.draw(st.integers(1, 50))
    cut = Cut(variants, order, 2, p, rows, columns, unit)
    assert cut.combinations == math.comb(variants, order)
    found = []
    for number in range(cut.units):
        here = 0
        for first, last in blocks(cut, number):
            assert len(first) <= rows
            assert len(last) <= columns
            for a, b in itertools.product(first.tolist(), last.tolist()):
                if a[-1] < b[0]:
                    found.append((*a, *b))
                    here += 1
        assert here == cut.weight(number)
    assert len(found) == len(set(found))
    assert sorted(found) == list(itertools.combinations(range(variants), order))


def test_units__need_no_list_of_them() -> None:
    cut = Cut(1_000_000, 3, 2, 2, 1000, 1000, 10**7)
    unit = cut.units // 2
    parts = cut.range_of(unit)
    assert cut.before(parts.start) <= (unit + 1) * 10**7
    assert cut.range_of(cut.units - 1).stop == math.comb(999_999, 2)
    assert abs(cut.weight(unit) - 10**7) < 2_000_000


def test_cut__has_halves_where_variants_are_few_and_blocks_are_bounded() -> None:
    assert chosen(23, 8, (1024, 1024), complete=True).p in {3, 4, 5}
    for variants, order in itertools.product((30, 5000, 10**6), (2, 3, 5, 8)):
        for complete in (False, True):
            cut = chosen(variants, order, (1000, 1000), complete=complete)
            assert cut.block_bytes < 2**29
            assert 1 <= cut.p < order


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("samples", [100, 1000, 50_000])
def test_units__are_many_where_they_are_long(samples: int, complete: bool) -> None:
    sizes = (samples, samples)
    for variants, order in itertools.product((30, 400, 5000, 10**6), (2, 3, 4, 8)):
        cut = chosen(variants, order, sizes, complete=complete)
        seconds = cut.unit * nanoseconds(cut, sizes) * 1e-9
        assert seconds <= LONGEST or cut.unit == 1
        assert seconds <= SECONDS or cut.units >= FEWEST_UNITS


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("order", [2, 3, 4])
def test_ranking__is_the_same_for_any_cut(order: int, missing: float) -> None:
    classes = cohort(order, VARIANTS, SAMPLES, missing)
    expected = every(order, VARIANTS, SAMPLES, missing, order)
    first = None
    for p, unit, top in itertools.product(range(1, order), (1, 40, 10**6), (1, 25)):
        found = divided(CombinationSearch(classes, order, top), unit, p=p).run()
        check(found, expected, top)
        if top == 25:
            first = first or found
            np.testing.assert_array_equal(found.scores, first.scores)
            np.testing.assert_array_equal(found.members, first.members)


def test_ranking__of_more_than_there_are_is_all() -> None:
    found = CombinationSearch(cohort(0, 5, 100), 2, 1000).run()
    check(found, every(0, 5, 100, 0.0, 2), 1000)


def test_ties__go_to_the_lowest_positions() -> None:
    scores = np.array([1.0, 2, 1, 1, 1])
    members = np.array([[4, 5], [8, 9], [1, 9], [1, 3], [0, 7]])
    found = best_of(scores, members, 3)
    assert found[0].tolist() == [2, 1, 1]
    assert found[1].tolist() == [[8, 9], [0, 7], [1, 3]]
    # The last two variants are the first two again.
    ranking = divided(CombinationSearch(cohort(3, VARIANTS, SAMPLES), 2, 66), 5).run()
    names = [tuple(m) for m in ranking.members.tolist()]
    for a in range(2, 10):
        one, other = names.index((0, a)), names.index((a, 10))
        assert ranking.scores[one] == ranking.scores[other]


def lazy_planes(
    dosage: np.ndarray, chunks: int, *, called: bool
) -> tuple[dict[str, da.Array], Layout]:
    rows = rows_of(dosage)
    planes = {"carrier": rows.planes[0], "hom_alt": rows.planes[1]}
    if called:
        planes["called"] = rows.call_mask()
    layout = Layout("dosage", "variants", dosage.shape[1], 1)
    return {name: da.from_array(x, chunks=(chunks, -1)) for name, x in planes.items()}, layout


@pytest.mark.parametrize("chunks", [1, 5, 12])
@pytest.mark.parametrize("missing", ["none", "one chunk", "left out"])
def test_gathered__planes_are_those_of_all_variants_at_once(chunks: int, missing: str) -> None:
    dosage, group = dosages(2, VARIANTS, SAMPLES, 0.0), groups(2, SAMPLES)
    if missing != "none":
        dosage[3, np.flatnonzero(group == (-1 if missing == "left out" else 0))[:4]] = -1
    planes, layout = lazy_planes(dosage, chunks, called=missing != "none")
    found = gathered(planes, layout, group, 2)
    kept = dosage[:, group >= 0]
    assert found.complete == (missing != "one chunk")
    for k, own in enumerate(found.planes):
        here = kept[:, group[group >= 0] == k]
        rows = rows_of(here)
        expected = rows.planes if found.complete else (rows.call_mask(), *rows.planes)
        np.testing.assert_array_equal(own, np.stack(expected))
    assert found.sizes == tuple(np.count_nonzero(group == k) for k in (0, 1))


def wanted(members: tuple[int, ...], limits: Limits, linked: np.ndarray, kept: set[int]) -> bool:
    if not kept.issuperset(members):
        return False
    one, other = limits.sets
    if one is not None and other is None and not one[list(members)].any():
        return False
    if other is not None and not any(
        one[a] and other[b] for a, b in itertools.permutations(members, 2)
    ):
        return False
    for a, b in itertools.combinations(members, 2):
        apart = abs(int(limits.coordinates[a]) - int(limits.coordinates[b]))
        if limits.gap and limits.contigs[a] == limits.contigs[b] and apart < limits.gap:
            return False
        if limits.max_r2 is not None and linked[a, b]:
            return False
    return True


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    order=st.integers(2, 4),
    sets=st.sampled_from(["none", "one", "two"]),
    gap=st.sampled_from([0.0, 3.0]),
    max_r2=st.sampled_from([None, 0.015]),
    prefilter=st.sampled_from([None, 8]),
    unit=st.sampled_from([1, 30, 10**6]),
)
def test_scope__is_that_of_brute_force(
    seed: int,
    order: int,
    sets: str,
    gap: float,
    max_r2: float | None,
    prefilter: int | None,
    unit: int,
) -> None:
    rng = np.random.default_rng(seed)
    masks = [rng.random(VARIANTS) < rng.choice([0.2, 0.6]) for _ in range(2)]
    for mask in masks:
        mask[rng.integers(VARIANTS)] = True
    given_sets = {"none": (None, None), "one": (masks[0], None), "two": tuple(masks)}[sets]
    contigs = np.sort(rng.integers(0, 2, VARIANTS))
    limits = Limits(given_sets, gap, contigs, rng.integers(0, 15, VARIANTS), max_r2, prefilter)
    dosage, group = dosages(seed, VARIANTS, SAMPLES, 0.0), groups(seed, SAMPLES)
    planes, layout = lazy_planes(dosage, 5, called=False)
    classes = gathered(planes, layout, group, 2)
    asked = SearchSpec(order, 10, "mutual_information", 0, 0, 0, 0)
    scope = scope_of(limits, classes, planes, layout, asked)
    single = every(seed, VARIANTS, SAMPLES, 0.0, 1)
    best = sorted(single, key=lambda m: (-round(single[m], 12), m))[:prefilter]
    kept = {m[0] for m in best}
    kept |= {k for mask in given_sets if mask is not None for k in np.flatnonzero(mask)}
    r2 = np.corrcoef(dosage) ** 2
    expected = every(
        seed,
        VARIANTS,
        SAMPLES,
        0.0,
        order,
        lambda m: wanted(m, limits, r2 > (max_r2 or 1), kept),
    )
    work = divided(CombinationSearch(classes, order, 20, scope=scope), unit)
    check(work.run(), expected, 20)
    if scope is not None and max_r2 is None:
        assert scope.count(order) == len(expected)


def test_estimate__counts_exactly_and_says_so() -> None:
    work = CombinationSearch(cohort(1, 40, SAMPLES), 3, 10)
    found = work.estimate()
    assert found.what == "9,880 combinations"
    assert found.tasks == 1
    assert found.seconds > 0
    many = Estimate("at most 10 combinations", 4e5, 1, 3, 2**20, disk=2**21)
    assert repr(many).splitlines() == [
        "at most 10 combinations",
        "  time    4.6 days on 1 thread",
        "  tasks   3",
        "  memory  1.0 MiB",
        "  result  depends on the data",
        "  disk    2.0 MiB",
    ]


def test_memory__is_refused_before_anything_is_computed() -> None:
    work = CombinationSearch(cohort(1, 40, SAMPLES), 3, 10)
    planes, layout = lazy_planes(dosages(0, VARIANTS, SAMPLES, 0.0), 5, called=False)
    with gb.set_options(eager_limit=100):
        with pytest.raises(MemoryError, match=r"the search takes .* lower order= or top="):
            work.run()
        with pytest.raises(MemoryError, match=r"12 variants and .* raise gb.set_options"):
            gathered(planes, layout, groups(0, SAMPLES), 2)


def failing(*args: object, at: int, error: type[BaseException]) -> Best:
    """Score as usual, and fail where a first part ends at a variant."""
    if (args[1][:, -1] == at).any():
        msg = "no luck"
        raise error(msg)
    return search(*args)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_a_failing_unit__loses_no_other(scheduler: str) -> None:
    score = partial(failing, at=9, error=OSError)
    classes = cohort(1, VARIANTS, SAMPLES)
    work = divided(CombinationSearch(classes, 2, 1000, score=score), 3, p=1)
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(SearchError, match=r"unit 2\d of 22 failed with OSError\('no luck'\)") as e,
    ):
        work.run()
    found = e.value.ranking
    assert found.partial
    assert {m[0] for m in found.members.tolist()} >= set(range(8))
    expected = every(1, VARIANTS, SAMPLES, 0.0, 2)
    for members, score_found in zip(found.members.tolist(), found.scores, strict=True):
        np.testing.assert_allclose(score_found, expected[tuple(members)], rtol=1e-11)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_units_that_all_fail__are_an_error(scheduler: str) -> None:
    def score(*_: object) -> Best:
        msg = "no luck"
        raise OSError(msg)

    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES), 2, 10, score=score), 3)
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(SearchError, match=r"unit [0-3] of 22 failed") as e,
    ):
        work.run()
    assert e.value.ranking.fraction == 0
    assert len(e.value.ranking.scores) == 0


def test_ctrl_c__leaves_what_was_done() -> None:
    score = partial(failing, at=8, error=KeyboardInterrupt)
    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES), 2, 1000, score=score), 3, p=1)
    with dask.config.set(scheduler="sync"):
        found = work.run()
    assert found.partial
    assert 0.5 < found.fraction < 1
    assert found.searched == len(found.scores) == round(found.fraction * 66)


def test_ctrl_c_while_a_total_is_taken__counts_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(run: Run, total: Outcome) -> None:
        run.total = total
        assert run.fresh.keys() & total.done
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "_replace", interrupted)
    work = divided(CombinationSearch(cohort(1, VARIANTS, SAMPLES), 2, 1000), 3, p=1)
    with dask.config.set(scheduler="sync"):
        found = work.run()
    assert 0 < found.fraction < 1
    assert found.searched == len(found.scores) == round(found.fraction * 66)
    assert len(np.unique(found.members, axis=0)) == len(found.members)


SLOW = """
import itertools, signal, sys, time
import dask
import numpy as np
from genobit.epistasis.kernels.search import search
from genobit.epistasis.schedule.search import CombinationSearch
from tests.epistasis.schedule.combinations import cohort, divided

calls = itertools.count()
# Where a shell has started the tests in the background, Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def score(*args):
    # Some of 39 units for the bar; then each so long that the signal comes before the end.
    time.sleep(0.05 if next(calls) < 8 else 1)
    return search(*args)

score(*[cohort(0, 5, 50), np.array([[0]]), np.array([[1]]), 1, 0.0])
print("begun", flush=True)
dask.config.set(num_workers=2)
work = divided(CombinationSearch(cohort(1, 40, 150), 2, 1000, score=score), 1, p=1)
found = work.run(progress=True)
print(found.partial, found.searched == len(found.scores) == round(780 * found.fraction))
"""


@pytest.mark.slow
def test_a_signal__ends_threads_with_a_ranking_and_progress_was_shown() -> None:
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout.readline() == "begun\n"
        # The bar counts: units are done, and no thread of the pool is still being started. A signal
        # during Thread.start() leaves a thread that concurrent.futures does not end.
        seen = ""
        while not re.search(r"[1-9]\d*/780", seen):
            read = run.stderr.read(1)
            assert read, seen
            seen += read
        threading.Event().wait(0.1)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=600)
    assert out == "True True\n", seen + err
    assert "combinations" in seen
