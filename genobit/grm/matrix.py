"""Genomic relationship matrices.

Let g be the dosage in a sample of an allele of frequency p, and q = 1 - p. The relationship of two
samples is sum z z' / sum w over the variants, where

=================  ==============================  ==========  ============================
method             z                               w           reference
=================  ==============================  ==========  ============================
vanraden1          g - 2p                          2pq         VanRaden 2008, method 1
vanraden2, gcta    (g - 2p) / sqrt(2pq)            1           VanRaden 2008, method 2;
                                                               Yang et al. 2011
dominance          -2p^2, 2pq, -2q^2 for g = 0..2  (2pq)^2     Vitezica et al. 2013
=================  ==============================  ==========  ============================

A monomorphic variant (2pq = 0) has z = w = 0. With ``count_monomorphic`` it has w = 1 in methods
that divide by a number of variants, as in plink 1.9 and plink2.

"endelman_jannink" shrinks vanraden1 (Endelman and Jannink 2012, equations 13 to 18). "hadamard"
squares the entries of vanraden1 and divides them by the mean of the squared diagonal, over the
samples that have a value. It models additive-by-additive epistasis (Henderson 1985, Vitezica et
al. 2017).

Haploid samples have dosages g of 0 and 1: z = g - p or (g - p) / sqrt(pq), and w = pq or 1. That is
half the relationship of diploids who are homozygous for the same alleles.

Missing calls have z = 0. With "mean" this imputes the mean, and the denominator is over all
variants. With "pairwise" the denominator is over the variants called in both samples.

Without missing calls and with the samples' own frequencies, vanraden1 is integer arithmetic up to
one last division, so it is bit-identical for every chunking. With M the dosages of n samples,
B = M M' 1 and c = M' 1 (see docs/internals/grm-sums.md):

    A = 2 (n^2 M M' - n (B 1' + 1 B') + 1'B) / (2n 1'c - 1'B),        1'B = c'c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.checks import check_one_of
from genobit.engine.schedule.pair_sums import SampleChunks
from genobit.grm.shrinkage import hadamard, shrunk
from genobit.grm.sums import GRMSums, Groups, Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray


LONG_NAMES = {
    "vanraden1": "genomic relationship (VanRaden 1)",
    "vanraden2": "genomic relationship (VanRaden 2)",
    "gcta": "genomic relationship (GCTA)",
    "endelman_jannink": "genomic relationship, shrunk (Endelman and Jannink)",
    "dominance": "dominance relationship (Vitezica)",
    "hadamard": "additive by additive relationship (Hadamard)",
    "king": "kinship (KING-robust)",
    "ibs": "share of alleles identical by state",
}
MISSING = {
    "mean": "mean imputed: a missing call counts 0, denominators are over all variants",
    "pairwise": "pairwise complete: sums are over the variants called in both samples",
}
_CHOICES = {
    "gcta": ("pairwise", "mean"),
    "king": ("pairwise",),
    "ibs": ("pairwise",),
    "endelman_jannink": ("mean",),
}
BY_FREQUENCY = frozenset(LONG_NAMES) - {"king", "ibs"}
"""Methods that use allele frequencies."""
COUNTED = frozenset({"endelman_jannink", "gcta", "vanraden2"})
"""Methods that divide by a number of variants."""
OF_HAPLOIDS = ("vanraden1", "vanraden2", "ibs")
"""Methods of haploid genotypes. "gcta" estimates the inbreeding of diploids on its diagonal."""
_BY_CONTIG = frozenset({"vanraden1", "vanraden2", "gcta", "dominance", "hadamard"})


def check(
    method: str,
    missing: str | None,
    *,
    frequency: bool,
    loco: bool,
    count_monomorphic: bool = False,
) -> str:
    """Return the rule for missing calls: ``missing``, or the method's default.

    Raises ValueError for an unknown method or an option that the method does not support.
    """
    check_one_of("method", method, LONG_NAMES)
    choices = _CHOICES.get(method, ("mean", "pairwise"))
    if missing is not None and missing not in choices:
        msg = f"method={method!r} takes missing={' or '.join(map(repr, choices))}, not {missing!r}"
        raise ValueError(msg)
    if frequency and method not in BY_FREQUENCY:
        msg = f"method={method!r} uses no allele frequencies: leave out allele_frequency="
        raise ValueError(msg)
    if loco and method not in _BY_CONTIG:
        msg = f"loco=True goes with {', '.join(sorted(_BY_CONTIG))}, not with method={method!r}"
        raise ValueError(msg)
    if count_monomorphic and method not in COUNTED:
        msg = (
            f"count_monomorphic=True goes with {', '.join(sorted(COUNTED))}, which divide by a "
            f"number of variants, not with method={method!r}"
        )
        raise ValueError(msg)
    return missing or choices[0]


def matrix(
    method: str,
    samples: SampleChunks,
    *,
    missing: str,
    frequency: NDArray[np.float64] | None = None,
    contigs: Groups | None = None,
    count_monomorphic: bool = False,
) -> Matrix:
    """Return the lazy relationship matrix of samples, or a matrix without each contig.

    ``method`` and ``missing`` have passed `check`. ``frequency`` (variants,) is that of the counted
    allele in the base population. None takes the frequency in the samples. ``contigs`` holds the
    chunks of each contig to leave out. ``count_monomorphic`` counts monomorphic variants in the
    divisor.
    """
    if method in {"king", "ibs"}:
        from genobit.grm import kinship

        function = kinship.king_compared if method == "king" else kinship.ibs_compared
        return Matrix(*function(samples))
    if method == "hadamard":
        additive = matrix(
            "vanraden1", samples, missing=missing, frequency=frequency, contigs=contigs
        )
        return additive._replace(values=hadamard(additive.values))
    sums = GRMSums.of(
        method,
        samples,
        frequency,
        pairwise=missing == "pairwise",
        count_monomorphic=count_monomorphic,
    )
    if method == "endelman_jannink":
        return Matrix(shrunk(sums, samples, count_monomorphic=count_monomorphic), None)
    return sums.matrix(samples, contigs)
