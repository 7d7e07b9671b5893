"""Statistics of samples: call rate, homozygosity, inbreeding, and sex by the X chromosome.

Inbreeding is (O - E) / (N - E) from the observed and expected numbers O and E of homozygous calls
among N calls, as ``plink --het`` (Purcell S, et al. (2007) *Am J Hum Genet* 81:559-575). The sex
check compares the same statistic of the X chromosome with two thresholds, as ``--check-sex``.

A pass counts the bits of each column of the planes, for each kind of chromosome. Expected
homozygosity is rounded to a multiple of 2**-36: sums are then exact, and equal for every chunking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.autosomes import DIPLOID, MT, X, Y
from genobit.quality import schedule
from genobit.quality.roles import MALE, Roles
from genobit.quality.sets import sample_sets
from genobit.quality.variants import Counts, variant_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout

UNIT = 2.0**36
"""Expected homozygosity is a whole number of 1 / UNIT: sums of 2**27 variants fit 64 bits."""
_MONOMORPHIC = 1e-8
"""Variants with a rarer allele frequency below this are left out, as in plink 1.9."""
FEMALE = 2
"""Code of females in `sample_sex`."""


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
    """Return the fields of `Sums` of each sample: int64 (fields, samples), lazy.

    planes: name to uint64 (variants, words), of dosages; kinds: (variants,).
    """
    # With the same samples, `variant_stats` has these counts too, and they are made once.
    counts = variant_counts(planes, kinds, sample_sets(roles), layout)
    shape = len(Sums._fields), layout.bits
    return schedule.sums_of_chunks(
        _sums_of_chunk, shape, planes, counts, kinds, layout, small_sample
    )


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
OF_HAPLOIDS = ("call_rate", "n_called", "n_alt")
"""Statistics of haploid samples, which have no heterozygotes."""


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
    none: NDArray[np.int64] = np.zeros((len(Sums._fields), 0), np.int64)
    nobody = Roles(0, np.zeros(0, np.int8))
    found = {}
    for name in DESCRIPTIONS:
        dtype = _statistic(none, name, nobody, expected[:0], limits).dtype
        found[name] = schedule.statistic(_statistic, sums, dtype, name, roles, expected, limits)
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
    found = Sums(*sums)
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
    blocks: Any,
    counts: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    layout: Layout,
    small_sample: bool,  # noqa: FBT001 - a task has no keywords
) -> NDArray[np.int64]:
    """Return the sums of a chunk of variants: int64 (fields, samples)."""
    planes = schedule.contiguous(blocks)
    expected, used = expected_homozygosity(Counts(*counts), kinds, small_sample=small_sample)
    sums = np.zeros((len(Sums._fields), layout.bits), np.int64)
    found = Sums(*sums)
    for kind in np.unique(kinds):
        for some in (used, ~used):
            rows = np.flatnonzero(some & (kinds == kind))
            if rows.size:
                _add_rows(planes, rows, found, kind, expected if some is used else None)
    return sums


def _add_rows(
    planes: list[NDArray[np.uint64]],
    rows: NDArray[np.int64],
    sums: Sums,
    kind: int,
    expected: NDArray[np.int64] | None,
) -> None:
    """Add variants of one kind; ``expected`` is their `expected_homozygosity` if they are used."""
    from genobit.quality.kernels.columns import add_missing, count_columns

    samples = sums.called.size
    raw = np.zeros((3, 64 * planes[0].shape[1]), np.int32)
    for plane, out in zip(planes, raw, strict=False):
        count_columns(plane, rows, out)
    c, h, n = raw[:, :samples]
    complete = len(planes) == 2
    if complete:
        n[:] = rows.size
    called, copies, hom_alt = {
        DIPLOID: (sums.called, sums.copies, None),
        X: (sums.called, sums.copies_x, sums.hom_alt_x),
        Y: (sums.called_y, None, sums.hom_alt_y),
        MT: (sums.called, None, sums.hom_alt_mt),
    }[kind]
    for total, some in ((called, n), (copies, c + h), (hom_alt, h)):
        if total is not None:
            np.add(total, some, out=total)
    if expected is None or kind in {Y, MT}:
        return
    calls, hets, total = (
        (sums.x_calls, sums.x_hets, sums.x_expected)
        if kind == X
        else (sums.calls, sums.hets, sums.expected)
    )
    calls += n
    hets += c - h
    total += expected[rows].sum()
    if not complete:
        add_missing(planes[2], rows, -expected, total)


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
