"""Statistics of variants: call rate, allele frequency, heterozygosity, Hardy-Weinberg test.

All follow from popcounts of the planes in the sets of samples that `genobit.quality.sets` defines.
The exact test is that of Wigginton JE, Cutler DJ, Abecasis GR (2005) *Am J Hum Genet* 76:887-893,
and its mid-p that of Graffelman J, Moreno V (2013) *Stat Appl Genet Mol Biol* 12:433-448.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.schedule.tiles import as_rows
from genobit.quality import schedule
from genobit.quality.sets import PAIRS, PRESENT, SINGLES, TESTED, SampleSets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout


class Counts(NamedTuple):
    """Counts of each variant, int32 (variants,)."""

    n_called: NDArray[np.int32]
    n_samples: NDArray[np.int32]
    """Samples that can have a call: males on Y, all elsewhere."""
    hom_ref: NDArray[np.int32]
    het: NDArray[np.int32]
    hom_alt: NDArray[np.int32]
    copies: NDArray[np.int32]
    """Copies of the counted allele."""
    alleles: NDArray[np.int32]
    """Alleles called."""
    het_haploid: NDArray[np.int32]
    """Heterozygous calls of samples that have one allele; they count no allele."""
    test_ref: NDArray[np.int32]
    test_het: NDArray[np.int32]
    test_alt: NDArray[np.int32]
    """Genotypes of the samples of the Hardy-Weinberg test."""
    tested: NDArray[np.int32]
    """1 where the test applies: chromosomes of which some samples have two copies."""

    def rarer(self) -> NDArray[np.float64]:
        """Return the frequency of the rarer allele; NaN without called alleles."""
        return _ratio(np.minimum(self.copies, self.alleles - self.copies), self.alleles)

    def genotypes(self) -> NDArray[np.int32]:
        """Return the number of calls of samples with two copies."""
        return self.hom_ref + self.het + self.hom_alt

    def expected_heterozygosity(self) -> NDArray[np.float64]:
        """Return 2 p (1 - p) of the samples with two copies; NaN without calls."""
        of_ref, of_alt = 2 * self.hom_ref + self.het, 2 * self.hom_alt + self.het
        # The products need more than 32 bits.
        return _ratio(of_ref.astype(np.int64) * of_alt, 2 * self.genotypes().astype(np.int64) ** 2)


def variant_counts(
    planes: Mapping[str, da.Array], kinds: NDArray[np.uint8], sets: SampleSets, layout: Layout
) -> da.Array:
    """Return the fields of `Counts` of each variant: int32 (fields, variants), lazy.

    planes: name to uint64 (variants, words), of dosages; kinds: (variants,).
    """
    return schedule.counts_of_chunks(
        counts_of_chunk, len(Counts._fields), planes, kinds, layout, sets
    )


def counts_of_chunk(
    blocks: Any, kinds: NDArray[np.uint8], layout: Layout, sets: SampleSets
) -> NDArray[np.int32]:
    """Return the counts of a chunk of variants: int32 (fields, variants)."""
    from genobit.quality.kernels.counts import count_genotypes

    rows = as_rows(blocks, layout)
    carrier, hom_alt = rows.planes
    called = rows.called
    raw = np.zeros((carrier.shape[0], sets.how.shape[1], 3), np.int32)
    complete = called is None
    count_genotypes(
        carrier, hom_alt, carrier if called is None else called, complete, kinds, *sets, raw
    )
    c, h, n = np.moveaxis(raw, 2, 0)
    found = Counts(
        n_called=n[:, PRESENT],
        n_samples=sets.sizes[kinds, PRESENT].astype(np.int32),
        hom_ref=n[:, PAIRS] - c[:, PAIRS],
        het=c[:, PAIRS] - h[:, PAIRS],
        hom_alt=h[:, PAIRS],
        copies=c[:, PAIRS] + h[:, PAIRS] + h[:, SINGLES],
        alleles=2 * n[:, PAIRS] + n[:, SINGLES] - c[:, SINGLES] + h[:, SINGLES],
        het_haploid=c[:, SINGLES] - h[:, SINGLES],
        test_ref=n[:, TESTED] - c[:, TESTED],
        test_het=c[:, TESTED] - h[:, TESTED],
        test_alt=h[:, TESTED],
        tested=(kinds <= 1).astype(np.int32),
    )
    return np.stack(found)


def statistics(counts: da.Array, names: Iterable[str]) -> dict[str, da.Array]:
    """Return named `STATISTICS` of each variant, lazy; counts as from `variant_counts`."""
    groups = schedule.grouped(counts)
    return {
        name: schedule.statistic(_statistic, groups, STATISTICS[name].dtype, name) for name in names
    }


class Statistic(NamedTuple):
    """A statistic of variants, as computed from `Counts` of a chunk."""

    dtype: type
    description: str
    of: Callable[[Counts], NDArray[Any]]


STATISTICS = {
    "call_rate": Statistic(
        np.float64, "share of samples with a call", lambda n: _ratio(n.n_called, n.n_samples)
    ),
    "n_called": Statistic(np.int64, "samples with a call", lambda n: n.n_called),
    "allele_count": Statistic(np.int64, "copies of the counted allele", lambda n: n.copies),
    "allele_number": Statistic(np.int64, "called alleles", lambda n: n.alleles),
    "allele_frequency": Statistic(
        np.float64, "frequency of the counted allele", lambda n: _ratio(n.copies, n.alleles)
    ),
    "maf": Statistic(np.float64, "frequency of the rarer allele", lambda n: n.rarer()),
    "n_hom_ref": Statistic(np.int64, "homozygotes of the other allele", lambda n: n.hom_ref),
    "n_het": Statistic(np.int64, "heterozygotes", lambda n: n.het),
    "n_hom_alt": Statistic(np.int64, "homozygotes of the counted allele", lambda n: n.hom_alt),
    "n_het_haploid": Statistic(
        np.int64, "heterozygous calls of samples with one copy", lambda n: n.het_haploid
    ),
    "het": Statistic(np.float64, "observed heterozygosity", lambda n: _ratio(n.het, n.genotypes())),
    "het_expected": Statistic(
        np.float64, "expected heterozygosity", lambda n: n.expected_heterozygosity()
    ),
    "hwe_p": Statistic(
        np.float64,
        "exact p-value of Hardy-Weinberg equilibrium",
        lambda n: hardy_weinberg(n, midp=False),
    ),
    "hwe_midp": Statistic(
        np.float64,
        "exact mid-p-value of Hardy-Weinberg equilibrium",
        lambda n: hardy_weinberg(n, midp=True),
    ),
}
"""Statistics of variants by name, in the order of the result."""
OF_HAPLOIDS = tuple(STATISTICS)[:6]
"""Statistics of haploid genotypes, call rate to maf; they have no heterozygotes."""


def hardy_weinberg(found: Counts, *, midp: bool) -> NDArray[np.float64]:
    """Return exact p-values; NaN on chromosomes of which nobody has two copies."""
    from genobit.quality.kernels.hwe import p_values

    genotypes = (found.test_het, found.test_ref, found.test_alt)
    het, ref, alt = (np.ascontiguousarray(count, np.int64) for count in genotypes)
    p = p_values(het, ref, alt, midp)
    p[found.tested == 0] = np.nan
    return p


def _statistic(counts: NDArray[np.int32], name: str) -> NDArray[Any]:
    statistic = STATISTICS[name]
    return np.ascontiguousarray(statistic.of(Counts(*counts)), statistic.dtype)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Return part / whole; NaN where the whole is 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, np.float64)
