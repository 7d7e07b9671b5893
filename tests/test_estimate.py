"""Estimates of all methods: same signatures, nothing computed, sane figures."""

from __future__ import annotations

import inspect
from typing import Any

import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from genobit.data.estimates import NOT_ESTIMATED
from genobit.engine.gemm.matrix_unit import usable
from genobit.engine.gemm.speed import speed
from genobit.engine.schedule.costs import Estimate
from tests.helpers.cases import CASES, SOURCES, Case, called, name
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.sites import alignment, letters

READING = {
    ("genes", "kendall"): "the first chunk decides the kernel",
    ("genes", "kendall_pairs"): "the first chunk decides the kernel",
    ("packed", "epistasis"): "a calibration searches blocks of the genotypes",
    ("few", "epistasis"): "the same",
}
"""Methods whose estimates compute something of the data, and why."""
READ_WHEN_CALLED = {
    ("taxa", "ancestral_states"),
    ("taxa", "ld"),
    ("two_states", "ld"),
    ("haploid", "alignment"),
}
"""Lazy methods that read the data when called; an estimate does not build their graphs."""
WITHOUT_EFFECT = {"compute", "progress"}


def sources() -> list[tuple[type, Any]]:
    return [
        (GenobitDatasetAccessor, SOURCES["packed"]().genobit),
        (GenobitDataArrayAccessor, SOURCES["genes"]().genobit),
    ]


def methods(accessor: type) -> dict[str, Any]:
    found = dict(inspect.getmembers(accessor, inspect.isfunction))
    return {key: x for key, x in found.items() if not key.startswith("_")}


@pytest.mark.parametrize(("accessor", "instance"), sources(), ids=["ds", "da"])
def test_signatures__are_those_of_the_methods(accessor: type, instance: Any) -> None:
    mirrors = methods(type(instance.estimate))
    assert set(mirrors) == set(methods(accessor)) - NOT_ESTIMATED
    for key, mirror in mirrors.items():
        own = inspect.signature(methods(accessor)[key])
        without = WITHOUT_EFFECT | ({"checkpoint"} if key == "parsimony_search" else set())
        expected = [x for x in own.parameters.values() if x.name not in without]
        found = inspect.signature(mirror)
        assert [*found.parameters.values()] == expected, key
        assert found.return_annotation is Estimate
        assert f"Estimate of `{key}`" in mirror.__doc__
        assert mirror.__name__ == key


def estimated(case: Case) -> tuple[Any, Estimate]:
    source = SOURCES[case.source]()
    given = {key: value() if callable(value) else value for key, value in case.base.items()}
    computes = 9 if (case.source, case.method) in READING else 0
    with raise_if_dask_computes(max_computes=computes):
        return source, getattr(source.genobit.estimate, case.method)(**given)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_estimates__compute_nothing_and_are_sane(case: Case) -> None:
    source, found = estimated(case)
    assert isinstance(found, Estimate)
    assert 0 < found.seconds < 60
    assert found.workers >= 1
    assert found.memory >= 0
    text = repr(found)
    assert text.startswith(found.what)
    assert found.what in found._repr_html_()
    assert f"{found.tasks:,}" in text
    if case.eager and case.method != "kendall_pairs":
        assert found.tasks >= 1
        return
    if (case.source, case.method) in READ_WHEN_CALLED:
        assert found.tasks >= 1
        return
    result = called(case, source, case.base)
    if isinstance(result, gb.PairTable):
        assert found.tasks == result.tasks > 0
    else:
        assert found.tasks == len(result.__dask_graph__() or ())
        arrays = result.variables if isinstance(result, xr.Dataset) else result.coords.variables
        size = sum(x.nbytes for x in arrays.values())
        own = result.nbytes if isinstance(result, xr.DataArray) else 0
        assert found.result == size + own


def test_every_method__has_a_case() -> None:
    every = {key for accessor, _ in sources() for key in methods(accessor)}
    assert every - NOT_ESTIMATED == {case.method for case in CASES}


def test_arguments__are_checked() -> None:
    ds = SOURCES["packed"]()
    with pytest.raises(
        TypeError, match=r"estimate\.ld\(\) has no argument 'wimdow'; did you mean 'window'"
    ):
        ds.genobit.estimate.ld(wimdow=3)
    with pytest.raises(TypeError, match=r"ds\.genobit\.estimate\.ld\(\) .*'compute'"):
        ds.genobit.estimate.ld(compute=True)
    assert repr(ds.genobit.estimate).endswith("as in ds.genobit.estimate.ld()")
    with pytest.raises(ValueError, match="did you mean 'r2'"):
        ds.genobit.estimate.ld("r3")
    with pytest.raises(AttributeError, match=r"ds\.genobit\.estimate has no method 'gmr'.*'grm'"):
        ds.genobit.estimate.gmr  # noqa: B018 - the access raises


def test_figures__grow_with_the_data() -> None:
    small, large = (cohort(random_calls(1, n, 200)).genobit.estimate for n in (100, 1000))
    for method, given in (("ld", {}), ("grm", {}), ("ld_prune", {}), ("variant_stats", {})):
        before, after = (getattr(x, method)(**given) for x in (small, large))
        assert before.seconds < after.seconds, method


def test_workers__are_those_of_the_scheduler() -> None:
    with gb.set_options(chunk_rows=64):
        ds = cohort(random_calls(1, 2000, 3000)).genobit
        found = []
        for workers in (1, 4):
            with dask.config.set(scheduler="threads", num_workers=workers):
                found.append(ds.estimate.ld("r2_em"))
    assert [x.workers for x in found] == [1, 4]
    assert 3 < found[0].seconds / found[1].seconds < 4.1
    assert found[1].memory == 4 * found[0].memory


def test_tiles__are_listed_with_their_costs() -> None:
    bits = cohort(random_calls(1, 700, 300)).genobit.pack()
    found = bits.chunk(variants=128).genobit.estimate.ld()
    assert found.what == "all pairs of 700 variants"
    assert next(line for line in found.details if "in force" in line).split()[0] == "128"
    with gb.set_options(chunk_rows=64):
        found = cohort(random_calls(1, 300, 700)).genobit.estimate.grm()
    assert found.what == "all pairs of 700 samples, 300 variants"
    assert next(line for line in found.details if "in force" in line).split()[0] == "64"
    assert found.details[-1] in repr(found)


@pytest.mark.parametrize("missing", [0, 0.1])
def test_products__are_named_with_their_rate(missing: float) -> None:
    calls = random_calls(1, 70, 90, missing=missing)
    found = cohort(calls).genobit.estimate
    # On a matrix unit, dosages with missing calls take products of bytes.
    counted = "and" if missing and not usable("ternary") else "ternary"
    summed = "weighted" if missing else "ternary"
    for estimate, product in (
        (found.ld(), counted),
        (found.grm(), summed),
        (found.grm("ibs"), "ternary"),
        (found.grm("gcta"), "weighted"),
        (SOURCES["bits"]().genobit.estimate.similarity(), "and"),
    ):
        first = estimate.details[0]
        assert first.startswith(f"{product} products: "), first
        assert product == "weighted" or str(speed(product)) in first


def test_branch_and_bound__is_measured() -> None:
    aligned = alignment(letters(1, 9, 60))
    found = aligned.genobit.estimate.parsimony_search("branch_and_bound")
    assert "partial trees of 9 taxa" in found.what
    assert found.seconds < 60


def test_single_variants__are_estimated() -> None:
    ds = cohort(random_calls(5, 12, 80))
    assert ds.genobit.estimate.epistasis(np.arange(80) % 2, order=1).what == "12 single variants"
