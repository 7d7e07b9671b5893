"""Check blocks of calls and dosages, and convert them to what pgenlib writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import model
from genobit.engine.schedule.packing import EXPECTED_CALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT = 16384
"""Steps of a stored dosage for one allele."""
_CERTAIN = 6554
"""The library takes a dosage for a call if it is at least so many steps from the nearest half."""
_MISSING = -9
CALL_DOSAGE = "call_dosage"


HALF_REMEDY = (
    "Make such calls missing: calls = ds.call_genotype; ds = ds.assign(call_genotype="
    "calls.where((calls != -1).all('ploidy'), -1))"
)
_HAPLOID_REMEDY = (
    "PLINK would take a haploid call with it for a heterozygous one. Make such dosages missing: "
    "haploid, copies = ds.call_genotype.isel(ploidy=-1) == -2, ds.call_dosage; ds = ds.assign("
    "call_dosage=copies.where(~haploid | (abs(copies - 0.5) > 0.0501)))"
)
HALF_REMEDY_OF_PLANES = (
    "In planes of haplotypes, haploid calls are such calls too. Write the genotypes that were "
    f"packed, which tell them apart. {HALF_REMEDY}"
)


def alleles_to_write(
    blocks: dict[str, NDArray[Any]], start: int, counts: NDArray[np.int64], half: str
) -> tuple[NDArray[np.int32], NDArray[np.bool_] | None]:
    """Return alleles (variants, 2 * samples), and which calls have phase, if the blocks say so.

    counts: (variants,), alleles of each; ``start`` is the number of the first variant; ``half``
    says what to do about calls with one missing allele. Raises ValueError for a call that a .pgen
    does not hold.
    """
    from genobit.io.kernels import pgen as kernels

    calls = _as_int8(blocks[model.CALL_GENOTYPE], start)
    rows, samples, _ = calls.shape
    phased = blocks.get(model.CALL_GENOTYPE_PHASED)
    known = np.zeros((rows, samples), bool) if phased is None else phased
    alleles = np.empty((rows, 2 * samples), np.int32)
    limits = np.minimum(counts - 1, np.iinfo(np.int8).max).astype(np.int8)
    known = np.ascontiguousarray(known)
    rule, i, s = kernels.widen_calls(calls, known, limits, alleles)
    if rule != kernels.FINE:
        found = "/".join(map(str, calls[i, s]))
        place = f"call_genotype is {found} at variants={start + i}, samples={s}"
        raise ValueError(
            {
                kernels.ALLELE: f"{place}, and variant_allele names alleles 0..{limits[i]} there",
                kernels.VALUE: f"{place}: {EXPECTED_CALL}",
                kernels.HALF: f"{place}, and a .pgen holds no call with one missing allele. {half}",
            }[rule]
        )
    return alleles, None if phased is None else known


def _as_int8(calls: NDArray[Any], start: int) -> NDArray[np.int8]:
    if calls.dtype == np.int8:
        return np.ascontiguousarray(calls)
    wrong = np.argwhere((calls < -128) | (calls > 127))
    if wrong.size:
        i, s, k = wrong[0]
        raise ValueError(
            f"call_genotype is {calls[i, s, k]} at variants={start + i}, samples={s}: an allele "
            "index is at most 127"
        )
    return np.ascontiguousarray(calls, np.int8)


def dosages_to_write(
    blocks: dict[str, NDArray[Any]],
    alleles: NDArray[np.int32],
    phased: NDArray[np.bool_] | None,
    start: int,
) -> NDArray[np.float32]:
    """Return dosages (variants, samples) with -9 for missing, and those of haploid calls doubled.

    Raises ValueError if one is not from 0 to 2, or if the calls that the library derives from them
    are not the given ones.
    """
    found = np.ascontiguousarray(blocks[CALL_DOSAGE], np.float32)
    missing = np.isnan(found)
    calls = blocks[model.CALL_GENOTYPE]
    haploid = (calls[:, :, 1] == -2) if calls.shape[2] > 1 else np.ones(found.shape, bool)
    outside = ~missing & ~((found >= 0) & (found <= np.where(haploid, 1, 2)))
    _refuse(outside, start, found, "a dosage is from 0 to 2, or from 0 to 1 for a haploid call")
    first, second = alleles[:, ::2], alleles[:, 1::2]
    if phased is not None:
        _refuse(
            phased & (first != second),
            start,
            found,
            "the call beside it has phase, and phase is not written with dosages: write with "
            "dosages=False, or without phase, ds.drop_vars('call_genotype_phased')",
        )
    # PLINK stores a haploid call as a homozygous one.
    doubled = np.where(haploid, 2 * found, found)
    doubled[missing] = _MISSING
    # As the library rounds: the product is exact, and the sum is rounded to float32.
    steps = (doubled * np.float32(_UNIT) + 0.5).astype(np.float32).astype(np.int32)
    certain = np.abs(steps % _UNIT - _UNIT // 2) >= _CERTAIN
    derived = np.where(certain & ~missing, (steps + _UNIT // 2) // _UNIT, 2 * _MISSING)
    _refuse(haploid & (derived == 1), start, found, _HAPLOID_REMEDY)
    _refuse(
        derived != first + second,
        start,
        found,
        "the call beside it is another one than the dosage gives (the nearest whole number if it "
        "is within 0.1, else missing; a haploid call is that of twice its dosage): write with "
        "dosages=False, or make the calls of the dosages",
    )
    return doubled


def _refuse(wrong: NDArray[np.bool_], start: int, found: NDArray[Any], reason: str) -> None:
    if wrong.any():
        i, s = np.argwhere(wrong)[0]
        place = f"call_dosage is {found[i, s]:g} at variants={start + i}, samples={s}"
        raise ValueError(f"{place}: {reason}")
