"""Datasets that no analysis expects: a right result, or a refusal that says what and where."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import pytest
import xarray as xr

from tests.hostile.datasets import HOSTILE, cohort
from tests.hostile.deadlines import within
from tests.hostile.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSALS = (ValueError, TypeError, KeyError, MemoryError)
# What a refusal names at least one of.
WORDS = (
    *("call_genotype", "variant_", "sample_", "variants", "samples", "statistic", "components"),
    *("genotypes", "Unable to allocate", "genobit_", "population"),
)
# Other ways of holding the same calls.
SAME = (
    *("big-endian", "read-only", "not contiguous", "dimensions turned"),
    *("samples in chunks", "variants one a chunk"),
)


@functools.cache
def base() -> xr.Dataset:
    return cohort()


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def hostile(name: str) -> xr.Dataset:
    with warnings.catch_warnings():
        # Infinity is made by dividing by nought.
        warnings.simplefilter("ignore", RuntimeWarning)
        return HOSTILE[name](base())


def outcome(method: str, ds: xr.Dataset) -> Any:
    """What the method finds, or the exception that says why not."""
    try:
        with within(120):
            return METHODS[method](ds)
    except REFUSALS as error:
        return error


def check(name: str, methods: list[str]) -> None:
    ds = hostile(name)
    for method in methods:
        found = outcome(method, ds)
        if isinstance(found, Exception):
            said = str(found)
            assert type(found) in {*REFUSALS, np._core._exceptions._ArrayMemoryError}, repr(found)
            assert any(word in said for word in WORDS), (method, said)


QUICK = ["pack", "allele_frequency", "kendall_pairs", "ld_pairs", "grm loco", "ld window"]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "blocks that fail"])
def test_right_or_refused(name: str) -> None:
    check(name, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "blocks that fail"])
def test_right_or_refused__by_every_method(name: str) -> None:
    check(name, [method for method in METHODS if method not in QUICK])


@pytest.mark.parametrize("method", QUICK)
def test_what_fails_below_is_not_hidden(method: str) -> None:
    ds = hostile("blocks that fail")
    with pytest.raises(OSError, match="the disk is gone"):
        METHODS[method](ds)


@pytest.mark.parametrize("name", SAME)
def test_the_same_calls_give_the_same_numbers(name: str) -> None:
    ds = hostile(name)
    for method in ("allele_frequency", "ld_pairs", "grm loco"):
        found, expected = METHODS[method](ds), METHODS[method](base())
        if isinstance(expected, xr.DataArray):
            xr.testing.assert_identical(found, expected)
        else:
            assert found.equals(expected)


@pytest.mark.parametrize(
    ("name", "method", "error", "said"),
    [
        ("blocks that are short", "pack", ValueError, "67 rows in the chunk from variants=0"),
        ("contig without a name", "ld_pairs", ValueError, "variant_contig is 7 at variants=0"),
        ("contig negative", "ld_pairs", ValueError, "variant_contig is -1 at variants=0"),
        ("contig NaN", "ld_pairs", ValueError, "variant_contig is nan at variants=35"),
        ("positions text", "ld window", TypeError, "variant_position has dtype object"),
        (
            "positions unsorted",
            "ld window",
            ValueError,
            "decreases or is not a number at variants=1",
        ),
        ("contigs apart", "grm loco", ValueError, "contig 1 starts again at variants=2"),
        ("allele 127", "pack", ValueError, "call_genotype is 127 at variants=7, samples=3"),
        ("uint64 past int64", "pack", ValueError, "call_genotype is 18446744073709551615"),
        ("mixed ploidy", "pack", ValueError, "call_genotype is -2 at variants=0, samples=1"),
        ("three alleles", "pack", ValueError, "more than two alleles, first at variants=6"),
        ("NaN", "pack", TypeError, "fill NaN with -1"),
        ("object calls", "pack", TypeError, "call_genotype has dtype object"),
        ("unknown sizes", "pack", ValueError, "unknown size along 'variants'"),
    ],
)
def test_what_is_said(name: str, method: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        METHODS[method](hostile(name))


def test_monomorphic_and_missing__have_no_correlation() -> None:
    for name in ("all monomorphic", "all missing"):
        assert np.isnan(METHODS["ld"](hostile(name)).values).all(), name
        assert not len(METHODS["ld_pairs"](hostile(name)))


def test_positions_in_one_place__have_no_decay() -> None:
    found = METHODS["ld_decay"](hostile("positions equal"))
    assert np.isnan(found["rho"].values).all()
