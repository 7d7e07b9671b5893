"""Cohorts in every form a user may have, and how far relationship matrices may differ."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.reference import exact_relationships

SUMMED = ("vanraden1", "vanraden2", "gcta", "dominance")
METHODS = (*SUMMED, "hadamard", "endelman_jannink", "king", "ibs")
RULES = ("mean", "pairwise")
FLOAT32 = 3e-6
"""Of the largest entry: what sums in float32 are good to."""
FORMS = ("calls", "chunks", "variants", "samples", "haplotypes", "leaves")


def in_form(form: str, calls: np.ndarray, contigs: int = 1) -> xr.Dataset:
    """The same cohort in one of the ways that a user may have it."""
    chunks = {"chunks": (70, 13), "variants": (33, 100), "leaves": (40, 100)}.get(form)
    phased = True if form == "haplotypes" else None
    ds = cohort(calls, contigs=contigs, chunks=chunks, phased=phased)
    if form in {"calls", "chunks"}:
        return ds
    if form == "haplotypes":
        return ds.genobit.pack(phased=True)
    bits = ds.genobit.pack(rows="samples" if form == "samples" else "variants")
    return bits.chunk(variants=40) if form == "leaves" else bits


def whole_calls(*args: int, missing: float = 0.0) -> np.ndarray:
    """Calls that are missing on both alleles or neither: half a call is one on haplotypes."""
    calls = random_calls(*args, missing=missing)
    calls[(calls < 0).any(axis=2)] = -1
    return calls


def assert_close(found: np.ndarray, expected: np.ndarray, within: float = FLOAT32) -> None:
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = expected[~np.isnan(expected)]
    scale = np.abs(known).max() if known.size else 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=within * max(scale, 1e-3))


def exact(calls: np.ndarray) -> np.ndarray:
    return np.array(exact_relationships(calls.sum(axis=2, dtype=int).T))
