"""Rates of one core: the only table that estimates and the choice of tiles read.

Measured on one core of a Zen 5 (AMD EPYC 9005) with AVX-512, unless a line says otherwise. They
decide what is told and how work is cut, never a result.
"""

from __future__ import annotations

# dask
TASK = 2e-4
"""Overhead of dask on one machine, in seconds per task."""
START = 2e-3
"""Seconds of checks and labels in a call."""
DISPATCH = 1e-3
"""Overhead of dask on a cluster, in seconds per task."""
BANDWIDTH = 1.25e9
"""Bytes per second to a worker: 10 Gbit/s. Threads of one process move nothing."""

# Genotypes and alignments
PACKED = 1.2e9
"""Alleles of ``call_genotype`` that are packed per second."""
VALUES_PACKED = 4e8
"""Values of binary rows that are packed per second."""
WORDS_COPIED = 1e9
"""Words of planes that are copied per second."""
WORDS_SELECTED = 5e7
"""Words of planes that are selected per second, bit by bit."""
CALLS_COUNTED = 4e9
"""Calls counted per second."""
ALLELES_MASKED = 5e7
"""Alleles masked per second."""
VARIANT_TESTED = 5e-7
"""Seconds per variant of statistics and the exact test."""
STATES_READ = 1e8
"""Characters of an alignment that parsimony reads per second."""
SITES_READ = 5e7
"""Characters of an alignment that are read per second and packed by site."""

# Products of bit planes
WITHOUT_POPCOUNT = {"and": 0.45, "ternary": 0.77}
"""Rate of a product on a CPU without a vector popcount, as a share of the rate with it. Measured on
the same core with AVX2 alone: "and" 4.3e11 to 5.6e11 of 1.08e12, "ternary" 3.8e11 of 4.9e11."""


def counted(rate: float, product: str) -> float:
    """Return the rate of an "and" or "ternary" product on this CPU, from that of the table."""
    from genobit.engine.simd.cpu import host  # compiles nothing, but imports numba

    return rate if host().vector_popcount else rate * WITHOUT_POPCOUNT[product]


# Tiles, of a Zen 3
TILES = {"ld": 1.1e11, "grm": 2.6e11}
"""Pairs of calls per second, for the edge of tiles, which compares edges with each other. "ld": r2
by haplotypes or dosages, 2,048 x 1,000 pairs of 32,768 samples in 0.6 s. "grm": products of
dosages, 2,048^2 x 32,768 in 0.53 s."""

# Linkage disequilibrium
LD_PRODUCTS = {
    ("haplotype", False): 1e12,
    ("haplotype", True): 4e11,
    ("dosage", False): 6e11,
    ("dosage", True): 2e11,
}
"""Observations of pairs per second, by kind and by whether calls may be missing."""
LD_PAIR = 4e-9
"""Seconds per pair besides its products: the statistic and its place in the result."""
LD_EM = 5.5e-8
"""Seconds per pair of the EM algorithm."""
LD_INTERVAL = 6e-8
"""Seconds per pair of a confidence interval of D'."""
SITE_PAIRS = {False: 9e10, True: 9e9}
"""Taxa of pairs of sites per second: two states, and any number of states ("T")."""
DECAY_FIT = 5e-5
"""Seconds to fit a resample of a decay."""

# Relationship matrices and components
GRM_PRODUCTS = {
    "vanraden1": 1.5e11,
    "vanraden2": 8e10,
    "gcta": 7e10,
    "endelman_jannink": 8e10,
    "dominance": 7e10,
    "hadamard": 1.3e11,
    "king": 1.2e11,
    "ibs": 1.1e11,
}
"""Products of pairs of samples per second, by method."""
GRM_WEIGHTED = 6e10
"""Products per second of weights and missing calls."""
CROSSPRODUCTS = 2.3e11
"""Products per second of a cross product."""
RELATED = 2.5e11
"""Products per second of kinship that only has to pass a threshold."""
GRAM = 3e10
"""Products of pairs of samples per second, of standardised dosages."""
EIGEN = 1e10
"""samples^3 per second of an eigendecomposition."""
VECTORS = 4.5e9
"""Dosages times vectors per second, of a product with a block of vectors."""

# Similarity and rank correlation
SIMILARITY_BITS = 4e11
"""Bits of pairs per second."""
SIMILARITY_PAIR = 5e-9
"""Seconds per pair besides its product: the division, and its place in the result."""
RANK = 6e-8
"""Seconds to rank a value."""
PVALUE = 4e-8
"""Seconds per p-value of a rank correlation."""
PAIR_INCOMPLETE = 1.5e-7
"""Seconds per pair of measurements with missing values, besides the kernel."""
PAIR_SELECTED = 1.5e-7
"""Seconds per pair that a table of pairs selects from."""

# Epistasis
SINGLE_VARIANTS = 1e9
"""Genotypes of single variants that are counted per second."""

# Parsimony
FITCH = 2e9
"""Sites of nodes per second of the Fitch algorithm."""
SITE_INDICES = 3e8
"""Sites of trees per second whose indices are derived."""
SANKOFF = 5.5e7
"""Sites of nodes per second with costs."""
STATES_NAMED = 8e7
"""Sites of nodes per second whose states are named as text."""
SWAPPED = 4e-9
"""Seconds per taxa^3 of an SPR search, and again per 512 sites of it."""
ADDED = 1e-7
"""Seconds per taxa^2 of stepwise addition, and again per 512 sites of it."""
