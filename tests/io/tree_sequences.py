"""Simulated tree sequences."""

from __future__ import annotations

import msprime
import tskit


def simulated(samples: int = 12, *, ploidy: int = 2, length: float = 3e4) -> tskit.TreeSequence:
    """Sites of up to four alleles, and back mutations, in two populations."""
    demography = msprime.Demography.island_model([1_000] * 2, 1e-3)
    ancestry = msprime.sim_ancestry(
        {"pop_0": samples // 2, "pop_1": samples - samples // 2},
        ploidy=ploidy,
        demography=demography,
        sequence_length=length,
        recombination_rate=1e-7,
        random_seed=1,
    )
    return msprime.sim_mutations(ancestry, rate=3e-6, random_seed=3)
