"""Statistics of samples: call rate, homozygosity, inbreeding, and sex by the X chromosome.

Inbreeding is (O - E) / (N - E) from the observed and expected numbers O and E of homozygous calls
among N calls, as ``plink --het`` (Purcell S, et al. (2007) *Am J Hum Genet* 81:559-575). The sex
check compares the same statistic of the X chromosome with two thresholds, as ``--check-sex``.

A pass turns the planes of each chunk, so that a row is a sample, and counts bits in sets of
variants. Expected homozygosity is rounded to a multiple of 2**-36: sums are then exact, and equal
for every chunking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.autosomes import DIPLOID, MT, X, Y
from genobit.engine.bits.layout import pack_bits
from genobit.engine.schedule.blocks import joined, ordered
from genobit.engine.schedule.tiles import whole_rows
from genobit.quality.kernels.counts import EMPTY, MASKED
from genobit.quality.roles import MALE, Roles
from genobit.quality.sets import SampleSets, sample_sets
from genobit.quality.variants import Counts, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout

UNIT = 2.0**36
"""Expected homozygosity is a whole number of 1 / UNIT: sums of 2**27 variants fit 64 bits."""
_MONOMORPHIC = 1e-8
"""Variants with a rarer allele frequency below this are left out, as in plink 1.9."""
FEMALE = 2
"""Code of females in `sample_sex`."""
_SPLIT = 2
"""Partial sums that are added up in one task; each has a few numbers for each sample."""


class Sums(NamedTuple):
    """Sums over variants for each sample, int64 (samples,)."""

    called: NDArray[np.int64]
    """Calls on all chromosomes but Y."""
    called_y: NDArray[np.int64]
    copies: NDArray[np.int64]
    """Copies of the counted allele on chromosomes of two copies."""
    copies_x: NDArray[np.int64]
    hom_alt_x: NDArray[np.int64]
    """Homozygous calls of the counted allele on X, and on Y and MT."""
    hom_alt_y: NDArray[np.int64]
    hom_alt_mt: NDArray[np.int64]
    calls: NDArray[np.int64]
    """Calls and heterozygotes at polymorphic autosomal variants."""
    hets: NDArray[np.int64]
    expected: NDArray[np.int64]
    """Expected homozygous calls among them, times `UNIT`."""
    x_calls: NDArray[np.int64]
    x_hets: NDArray[np.int64]
    x_expected: NDArray[np.int64]


def sample_sums(
    planes: Mapping[str, da.Array],
    kinds: NDArray[np.uint8],
    roles: Roles,
    layout: Layout,
    *,
    small_sample: bool,
) -> da.Array:
    """Return the fields of `Sums` of each sample: int64 (samples, fields), lazy.

    planes: name to uint64 (variants, words), of dosages; kinds: (variants,).
    """
    arrays = whole_rows(ordered(planes, layout))
    chunked = da.from_array(kinds, chunks=(arrays[0].chunks[0],))
    parts = da.blockwise(
        _sums_of_chunk,
        "vsc",
        *[x for array in arrays for x in (array, "vw")],
        chunked,
        "v",
        new_axes={"s": layout.bits, "c": len(Sums._fields)},
        adjust_chunks={"v": lambda _: 1},
        dtype=np.int64,
        meta=np.empty((0, 0, 0), np.int64),
        sets=sample_sets(roles),
        layout=layout,
        small_sample=small_sample,
    )
    return parts.sum(axis=0, split_every=_SPLIT)


DESCRIPTIONS = {
    "call_rate": "share of variants with a call",
    "n_called": "variants with a call",
    "n_alt": "copies of the counted allele",
    "n_autosomal": "calls at polymorphic autosomal variants",
    "n_hom": "homozygous calls among them",
    "n_hom_expected": "expected homozygous calls among them",
    "het": "observed heterozygosity",
    "inbreeding": "inbreeding coefficient F",
    "x_inbreeding": "F of the X chromosome",
    "sex_inferred": "1 male, 2 female, 0 undecided",
    "sex_status": "OK if the inferred sex is that of sample_sex, else PROBLEM",
}
"""Description of each statistic of samples, in their order."""


def expected_calls(kinds: NDArray[np.uint8], roles: Roles) -> NDArray[np.int64]:
    """Return the number of variants at which each sample can have a call (samples,)."""
    of_y = np.count_nonzero(kinds == Y)
    return np.where(roles.on_y(), kinds.size, kinds.size - of_y)


def calls_present(found: Sums, roles: Roles) -> NDArray[np.int64]:
    """Return the number of calls of each sample (samples,)."""
    return found.called + np.where(roles.on_y(), found.called_y, 0)


def statistics(
    sums: da.Array, roles: Roles, kinds: NDArray[np.uint8], limits: tuple[float, float]
) -> dict[str, da.Array]:
    """Return the statistics of each sample by name, lazy; sums as from `sample_sums`.

    ``limits`` are those of the sex check, which needs variants on X.
    """
    expected = expected_calls(kinds, roles)
    none: NDArray[np.int64] = np.zeros((0, len(Sums._fields)), np.int64)
    nobody = Roles(0, np.zeros(0, np.int8))
    found = {
        name: da.map_blocks(
            _statistic, sums, name, roles, expected, limits, drop_axis=1,
            meta=_statistic(none, name, nobody, expected[:0], limits),
        )
        for name in DESCRIPTIONS
    }  # fmt: skip
    lacking = [] if roles.sex is not None else ["sex_status"]
    if not (kinds == X).any():
        lacking = ["x_inbreeding", "sex_inferred", "sex_status"]
    return {name: values for name, values in found.items() if name not in lacking}


def _statistic(
    sums: NDArray[np.int64],
    name: str,
    roles: Roles,
    expected: NDArray[np.int64],
    limits: tuple[float, float],
) -> NDArray[Any]:
    """Return one statistic of all samples; ``expected`` are the calls that each can have."""
    found = Sums(*sums.T)
    n_called = calls_present(found, roles)
    if name == "x_inbreeding":
        return _inbreeding(found.x_calls, found.x_hets, found.x_expected)
    if name in {"sex_inferred", "sex_status"}:
        inferred = _inferred_sex(found, limits)
        same = (inferred > 0) & (inferred == roles.sex)
        return inferred if name == "sex_inferred" else np.where(same, "OK", "PROBLEM")
    with np.errstate(invalid="ignore"):
        values = {
            "call_rate": n_called / expected,
            "n_called": n_called,
            "n_alt": _copies(found, roles),
            "n_autosomal": found.calls,
            "n_hom": found.calls - found.hets,
            "n_hom_expected": found.expected / UNIT,
            "het": found.hets / found.calls,
            "inbreeding": _inbreeding(found.calls, found.hets, found.expected),
        }
    return np.ascontiguousarray(values[name])


def _copies(found: Sums, roles: Roles) -> NDArray[np.int64]:
    """Return the copies of the counted allele of each sample (samples,)."""
    x = np.where(roles.males(), found.hom_alt_x, found.copies_x)
    return found.copies + x + np.where(roles.on_y(), found.hom_alt_y, 0) + found.hom_alt_mt


def _inferred_sex(found: Sums, limits: tuple[float, float]) -> NDArray[np.int8]:
    x = _inbreeding(found.x_calls, found.x_hets, found.x_expected)
    female, male = limits
    return np.where(x > male, MALE, np.where(x < female, FEMALE, 0)).astype(np.int8)


def _inbreeding(
    calls: NDArray[np.int64], hets: NDArray[np.int64], expected: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (O - E) / (N - E), which is 1 - heterozygotes / expected heterozygotes."""
    other = calls - expected / UNIT
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((other - hets) / other)


def _sums_of_chunk(
    *blocks: Any, sets: SampleSets, layout: Layout, small_sample: bool
) -> NDArray[np.int64]:
    """Return the sums of a chunk of variants: int64 (1, samples, fields)."""
    from genobit.engine.bits.words import transpose_bits
    from genobit.quality.kernels.counts import sum_over_missing

    *given, kinds = blocks
    planes = [joined(block) for block in given]
    found = counted(planes, kinds, sets, layout)
    expected, used = expected_homozygosity(found, kinds, small_sample=small_sample)
    masks = [
        kinds != Y, kinds == Y, kinds == DIPLOID, kinds == X, kinds == MT,
        used & (kinds == DIPLOID), used & (kinds == X),
    ]  # fmt: skip
    turned = [transpose_bits(plane, layout.bits) for plane in planes]
    c, h, n = np.moveaxis(_counts_by_set(turned, np.stack(masks)), 2, 0)
    weights = np.zeros(64 * turned[0].shape[1], np.int64)
    weights[: kinds.size] = expected
    sums = np.empty((2, layout.bits), np.int64)
    for k in range(2):
        sums[k] = expected[masks[5 + k]].sum()
        if len(turned) == 3 and masks[5 + k].any():
            sums[k] -= sum_over_missing(turned[2], pack_bits(masks[5 + k]), weights)
    sample = Sums(
        called=n[:, 0],
        called_y=n[:, 1],
        copies=c[:, 2] + h[:, 2],
        copies_x=c[:, 3] + h[:, 3],
        hom_alt_x=h[:, 3],
        hom_alt_y=h[:, 1],
        hom_alt_mt=h[:, 4],
        calls=n[:, 5],
        hets=c[:, 5] - h[:, 5],
        expected=sums[0],
        x_calls=n[:, 6],
        x_hets=c[:, 6] - h[:, 6],
        x_expected=sums[1],
    )
    return np.stack(sample, axis=1)[None]


def expected_homozygosity(
    found: Counts, kinds: NDArray[np.uint8], *, small_sample: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return 1 - 2 p (1 - p) of each variant times `UNIT`, and which variants are used.

    A variant is left out if it has one allele or no calls. If only samples outside the reference
    have calls, p is 0.5, as in plink 1.9. ``small_sample`` multiplies 2 p (1 - p) by n / (n - 1)
    for n called alleles, and leaves variants without called alleles out.
    """
    alleles = found.alleles
    p = np.where(alleles > 0, found.copies / np.maximum(alleles, 1), 0.5)
    used = (found.n_called > 0) & (p >= _MONOMORPHIC) & (p <= 1 - _MONOMORPHIC)
    het = 2 * p * (1 - p)
    if small_sample:
        # plink 1.9 corrects --het but not --check-sex.
        autosomal = kinds == DIPLOID
        used &= ~autosomal | (alleles > 0)
        het = np.where(autosomal, het * alleles / np.maximum(alleles - 1, 1), het)
    return np.where(used, np.rint((1 - het) * UNIT), 0).astype(np.int64), used


def _counts_by_set(turned: list[NDArray[np.uint64]], masks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Count carriers, homozygotes and calls of each sample: int32 (samples, sets, 3)."""
    from genobit.quality.kernels.counts import count_genotypes

    carrier, hom_alt = turned[:2]
    sizes = masks.sum(axis=1, dtype=np.int64)[None]
    how = np.where(sizes > 0, MASKED, EMPTY).astype(np.uint8)
    # A cohort of half a million samples takes 42 MB of these counts for each thread.
    out = np.zeros((carrier.shape[0], masks.shape[0], 3), np.int32)
    kinds = np.zeros(carrier.shape[0], np.uint8)
    count_genotypes(
        carrier,
        hom_alt,
        turned[-1],
        len(turned) < 3,
        kinds,
        pack_bits(masks)[None],
        how,
        sizes,
        out,
    )
    return out
