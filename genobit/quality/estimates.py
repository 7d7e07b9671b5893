"""Estimates of quality control: one or two passes over the planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data.aligning import populations_of
from genobit.data.estimates import Call, Genotypes, estimate, lazy
from genobit.engine import machine

if TYPE_CHECKING:
    from genobit.engine.schedule.costs import Estimate


def allele_frequency(call: Call) -> Estimate:
    """Return the estimate of `allele_frequency`."""
    return _lazy(call, call.genotypes(haploid=True), 0.0)


def variant_stats(call: Call) -> Estimate:
    """Return the estimate of `variant_stats`."""
    own = call.genotypes(haploid=True)
    groups = 1
    if call["populations"] is not None:
        groups = len(populations_of(own.ds, call["populations"]))
    more = (groups - 1) * _counting(own) + groups * own.variants * machine.VARIANT_TESTED
    return _lazy(call, own, more)


def sample_stats(call: Call) -> Estimate:
    """Return the estimate of `sample_stats`."""
    return _lazy(call, call.genotypes(haploid=True), 0.0)


def filter(call: Call) -> Estimate:  # noqa: A001 - the name of the method
    """Return the estimate of `filter`: counts of variants, and of samples if a rule needs them."""
    own = call.genotypes(haploid=True)
    passes = 1 + (call["max_sample_missing"] is not None)
    seconds = passes * (own.packing + _counting(own)) + own.variants * machine.VARIANT_TESTED
    return estimate(_what(own), seconds, passes * len(own.rows), own.chunk)


def mask_calls(call: Call) -> Estimate:
    """Return the estimate of `mask_calls`: a pass over the calls and the values of its rules."""
    result = call.result()
    calls = result["call_genotype"]
    what = f"{calls.sizes['variants']:,} variants of {calls.sizes['samples']:,} samples"
    return lazy(what, result, calls.size / machine.ALLELES_MASKED)


def _lazy(call: Call, own: Genotypes, more: float) -> Estimate:
    seconds = own.packing + _counting(own) + more
    return lazy(_what(own), call.result(), seconds, held=own.chunk)


def _counting(own: Genotypes) -> float:
    return own.variants * own.layout.bits / machine.CALLS_COUNTED


def _what(own: Genotypes) -> str:
    samples = own.layout.bits // own.layout.ploidy
    return f"{own.variants:,} variants of {samples:,} samples"
