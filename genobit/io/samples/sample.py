"""Simulate a cohort with planted signals, once, and cache it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from genobit.engine.extras import require
from genobit.engine.own_words import own_words
from genobit.io._cache import cached_store
from genobit.io._new_store import new_store
from genobit.io._zarr import open_store
from genobit.io.samples import _pedigree

if TYPE_CHECKING:
    import os
    from pathlib import Path

# Part of the cache key: increase it when the simulated data change.
_VERSION = 3
_LABELS = 1
"""Version of the labels, which leaves the random numbers as they are."""

_SAMPLES = {"AFR": 700, "EUR": 700, "EAS": 600}
_CONTIGS = ("1", "2")
_CONTIG_LENGTH = 100_000_000
_VARIANTS_PER_CONTIG = 10_000
_HOTSPOT = 1_000
_LEAST_BLOCK, _LONGEST_BLOCK = 20_000, 200_000
"""Distances of recombination hotspots, which end LD blocks."""
_RATE, _RATE_IN_BLOCKS = 1e-8, 0.2e-8
"""Crossovers per base pair and meiosis on average, and away from hotspots."""
_SIMULATED_RATE = 0.1
"""Share of the map that msprime simulates, as its time grows with the square of the map's length.

At hotspots, shuffling makes up for the rest.
"""
_MUTATION_RATE = 0.8e-9
"""Less than a tenth of the human rate. The variants are as sparse as on a genotyping array."""
_DENSE = ("2", 25_000_000, 26_000_000)
"""A region with more variants, as if it was sequenced."""
_DENSITY = 8
_FAMILIES = 10
"""Families per population."""
_MIN_FREQUENCY = 0.015
"""Least minor allele frequency in the founders. With families it stays at 0.01 or above."""

# The risk is 50 % +- 20 % by the pair and +- 20 % by the triple.
_PENETRANCE_STEP = 0.2
_MIN_DISTANCE = 1_000_000
_TRAIT_EFFECTS = (1.0, -0.8, 0.7, -0.6, 0.5, 0.4)
_TRAIT_HERITABILITY = 0.4


class _Contig(NamedTuple):
    position: np.ndarray
    centimorgan: np.ndarray
    alleles: np.ndarray
    haplotypes: np.ndarray
    block: np.ndarray
    """Number of hotspots before each variant."""
    exchanged: np.ndarray
    """Share of the haplotypes that each hotspot exchanges."""


@own_words
def sample_dataset(
    *, chunks: int | None = None, cache_dir: str | os.PathLike[str] | None = None
) -> xr.Dataset:
    """Open a simulated cohort of 2,000 people and 20,000 variants with planted signals.

    The three populations follow the out-of-Africa model of Gutenkunst et al. 2009
    (doi:10.1371/journal.pgen.1000695). The genome has two contigs of 100 Mb. Recombination hotspots
    end LD blocks every 20 to 200 kb. Variants are as sparse as on a genotyping array; the region
    2:25Mb-26Mb has seven times as many. They are biallelic with a minor allele frequency of 0.01 or
    more. Calls are phased and complete. The first call simulates the cohort with msprime, which
    takes a few seconds.

    The last 120 samples of each population are ten families of three generations. With the usual
    number of crossovers, two contigs are too short to distinguish degrees of relationship. The
    simulation therefore uses as many crossovers per meiosis as a whole human genome has. At each
    hotspot, haplotypes of founders are exchanged within their population. This breaks the long
    haplotypes that unrelated founders share. Few unrelated samples then look related.

    KING finds all twins and all relatives of first, second and third degree in the pedigree. KING
    assigns some unrelated pairs to the third degree, but no unrelated pair to a closer degree.

    Parameters
    ----------
    chunks
        Variants per chunk; by default about 64 MB of calls.
    cache_dir
        Folder of the cached cohort; the user's cache directory by default.

    Returns
    -------
    Dataset in the form that `open_vcf_zarr` returns, with `variant_genetic_position` (centimorgan)
    and

    - `sample_population`: AFR (700), EUR (700) or EAS (600).
    - `sample_family_id`, `sample_father_id`, `sample_mother_id` ("0" if unknown) and `sample_sex`
      (1 male, 2 female), in the form that `open_plink` returns. `sample_twin_id` names an identical
      twin, or is empty. A sample without a family has its own `sample_family_id`.
    - `sample_case`: int8, 1 for a case. Two planted variants (`variant_planted_pair`) raise the
      risk if exactly one of them is heterozygous. Three others (`variant_planted_triple`) raise it
      if an odd number of them is heterozygous. All five are unlinked and heterozygous in half of
      the cohort. Neither a single variant nor two variants of the triple have an effect of their
      own.
    - `sample_trait`: float64, the sum of six additive effects
      (`variant_planted_trait`, bool) and noise; heritability 0.4. The largest effect is that of a
      variant in 2:25Mb-26Mb.

    Raises
    ------
    ImportError
        If msprime is not installed and the cohort is not in the cache yet.

    Examples
    --------
    >>> ds = sample_dataset()
    >>> ds.sizes["variants"], ds.sizes["samples"]
    (20000, 2000)
    >>> int(ds.variant_planted_pair.sum()), int(ds.variant_planted_triple.sum())
    (2, 3)
    """
    return open_store(
        cached_store("sample", f"cohort-{_VERSION}.{_LABELS}.zarr", _build, cache_dir), chunks
    )


def _build(store: Path) -> None:
    require("sample_dataset", "msprime")
    contigs = [_simulate_contig(name, seed) for seed, name in enumerate(_CONTIGS, start=1)]
    random = np.random.default_rng(_VERSION)
    ds = _phenotypes(_dataset(contigs, random), random)
    # A multiple of 64 gives whole words in planes with variants along the bits.
    calls = ("call_genotype", "call_genotype_phased")
    encoding = {name: {"chunks": (2048, *ds[name].shape[1:])} for name in calls}
    with new_store(store) as target:
        ds.to_zarr(target, zarr_format=2, consolidated=True, encoding=encoding)


def _demography() -> Any:
    """Build the out-of-Africa model with the published point estimates."""
    import msprime

    split_of_eurasia, out_of_africa = 848, 5600
    model = msprime.Demography()
    model.add_population(name="AFR", initial_size=12_300)
    model.add_population(name="EUR", initial_size=29_725, growth_rate=0.004)
    model.add_population(name="EAS", initial_size=54_090, growth_rate=0.0055)
    model.add_population(name="OOA", initial_size=2_100)
    model.add_population(name="AMH", initial_size=12_300)
    model.add_population(name="ANC", initial_size=7_300)
    model.set_symmetric_migration_rate(["AFR", "EUR"], 3.0e-5)
    model.set_symmetric_migration_rate(["AFR", "EAS"], 1.9e-5)
    model.set_symmetric_migration_rate(["EUR", "EAS"], 9.6e-5)
    model.add_population_split(split_of_eurasia, derived=["EUR", "EAS"], ancestral="OOA")
    for source, dest in (("AFR", "OOA"), ("OOA", "AFR")):
        model.add_migration_rate_change(split_of_eurasia, rate=25e-5, source=source, dest=dest)
    model.add_migration_rate_change(out_of_africa, rate=0)
    model.add_population_split(out_of_africa, derived=["AFR", "OOA"], ancestral="AMH")
    model.add_population_split(8800, derived=["AMH"], ancestral="ANC")
    return model


def _hotspots(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the start of each hotspot and its strength, 1 on average.

    The lesser of two uniform numbers makes short blocks more common than long ones.
    """
    most = _CONTIG_LENGTH // _LEAST_BLOCK
    distance = random.integers(_LEAST_BLOCK, _LONGEST_BLOCK, size=(2, most)).min(axis=0)
    start = np.cumsum(distance)
    start = start[start < _CONTIG_LENGTH - _LEAST_BLOCK]
    return start, random.gamma(2, 0.5, size=start.size)


def _recombination_map(start: np.ndarray, strength: np.ndarray) -> Any:
    """Return a map of 1 cM per Mb on average."""
    import msprime

    edges = np.stack([start, start + _HOTSPOT], axis=1).ravel()
    rate = np.full(edges.size + 1, _RATE_IN_BLOCKS)
    distance = _CONTIG_LENGTH / start.size
    rate[1::2] += (_RATE - _RATE_IN_BLOCKS) * distance / _HOTSPOT * strength
    return msprime.RateMap(position=np.concatenate([[0], edges, [_CONTIG_LENGTH]]), rate=rate)


def _mutation_map(contig: str) -> Any:
    import msprime

    where, start, stop = _DENSE
    if contig != where:
        return _MUTATION_RATE
    rate = _MUTATION_RATE * np.array([1, _DENSITY, 1])
    return msprime.RateMap(position=[0, start, stop, _CONTIG_LENGTH], rate=rate)


def _simulate_contig(name: str, seed: int) -> _Contig:
    import msprime

    random = np.random.default_rng(seed)
    start, strength = _hotspots(random)
    recombination = _recombination_map(start, strength)
    trees = msprime.sim_ancestry(
        _SAMPLES,
        demography=_demography(),
        recombination_rate=msprime.RateMap(
            position=recombination.position, rate=recombination.rate * _SIMULATED_RATE
        ),
        random_seed=seed,
    )
    trees = msprime.sim_mutations(trees, rate=_mutation_map(name), random_seed=seed)
    kept, rows, alleles = [], [], []
    for variant in trees.variants():
        frequency = np.count_nonzero(variant.genotypes) / trees.num_samples
        if variant.num_alleles == 2 and min(frequency, 1 - frequency) >= _MIN_FREQUENCY:
            kept.append(variant.position)
            rows.append(variant.genotypes.astype(np.int8))
            alleles.append(variant.alleles)
    thin = np.sort(random.choice(len(kept), size=_VARIANTS_PER_CONTIG, replace=False))
    position = np.array(kept)[thin]
    return _Contig(
        position.astype(np.int64) + 1,
        100 * recombination.get_cumulative_mass(position),
        np.array(alleles, dtype=object)[thin],
        np.array(rows)[thin],
        np.searchsorted(start, position),
        1 - np.exp(-strength),
    )


def _genome(contigs: list[_Contig]) -> _pedigree.Genome:
    """Return the blocks between hotspots that hold variants, numbered over all contigs."""
    contig = np.repeat(np.arange(len(contigs)), [len(part.block) for part in contigs])
    pairs = np.stack([contig, np.concatenate([part.block for part in contigs])])
    blocks, block = np.unique(pairs, axis=1, return_inverse=True)
    # The start of a contig exchanges all.
    exchanged = [np.append(1.0, contigs[c].exchanged)[k] for c, k in blocks.T]
    return _pedigree.Genome(block.reshape(-1), blocks[0], np.array(exchanged))


def _related(
    contigs: list[_Contig], population: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, _pedigree.Pedigree]:
    """Return the calls (variants, samples, 2) of founders and families, and the pedigree."""
    haplotypes = np.concatenate([part.haplotypes for part in contigs])
    genome = _genome(contigs)
    first = 0
    for samples in _SAMPLES.values():
        some = slice(first, first + 2 * samples)
        haplotypes[:, some] = _pedigree.shuffled(haplotypes[:, some], genome, random)
        first = some.stop
    calls = haplotypes.reshape(len(haplotypes), -1, 2)
    return calls, _pedigree.with_families(calls, genome, population, _FAMILIES, random)


def _dataset(contigs: list[_Contig], random: np.random.Generator) -> xr.Dataset:
    population = np.repeat(np.array(list(_SAMPLES), dtype=object), list(_SAMPLES.values()))
    calls, pedigree = _related(contigs, population, random)
    position, centimorgan, alleles = (
        np.concatenate([getattr(part, name) for part in contigs])
        for name in ("position", "centimorgan", "alleles")
    )
    contig = np.repeat(np.arange(len(contigs), dtype=np.int32), _VARIANTS_PER_CONTIG)
    variant_id = [f"{_CONTIGS[c]}:{p}" for c, p in zip(contig, position, strict=True)]
    sample_id = np.array([f"{name}{i:04d}" for i, name in enumerate(population)], dtype=object)
    relatives = {
        # PLINK writes 0 for an unknown parent. Other text holds categories, and "" is missing.
        f"sample_{name}_id": (
            "samples",
            np.where(place < 0, "" if name == "twin" else "0", sample_id[place]).astype(object),
        )
        for name in ("father", "mother", "twin")
        for place in [getattr(pedigree, name)]
    }
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "call_genotype_phased": (("variants", "samples"), np.ones(calls.shape[:2], bool)),
            "variant_contig": ("variants", contig),
            "variant_position": ("variants", position),
            "variant_genetic_position": ("variants", centimorgan, {"units": "centimorgan"}),
            "variant_id": ("variants", np.array(variant_id, dtype=object)),
            "variant_allele": (("variants", "alleles"), alleles),
            "contig_id": ("contigs", np.array(_CONTIGS, dtype=object)),
            "sample_id": ("samples", sample_id),
            "sample_population": ("samples", population),
            "sample_family_id": ("samples", sample_id[pedigree.family]),
            **relatives,
            "sample_sex": ("samples", pedigree.sex),
        },
        attrs={"source": f"genobit.sample_dataset, version {_VERSION}"},
    )


def _phenotypes(ds: xr.Dataset, random: np.random.Generator) -> xr.Dataset:
    dosage = ds["call_genotype"].values.sum(axis=2, dtype=np.int8)
    planted = _balanced_unlinked_variants(ds, dosage == 1, n_picked=5)
    pair, triple = planted[:2], planted[2:]
    step = _PENETRANCE_STEP
    risk = 0.5 + step * _odd_heterozygotes(dosage, pair) + step * _odd_heterozygotes(dosage, triple)
    case = (random.random(dosage.shape[1]) < risk).astype(np.int8)
    trait_variants = _trait_variants(ds, dosage, planted, random)
    return ds.assign(
        variant_planted_pair=("variants", _flags(pair, len(dosage))),
        variant_planted_triple=("variants", _flags(triple, len(dosage))),
        variant_planted_trait=("variants", _flags(trait_variants, len(dosage))),
        sample_case=("samples", case),
        sample_trait=("samples", _trait(dosage[trait_variants], random)),
    )


def _balanced_unlinked_variants(
    ds: xr.Dataset, heterozygous: np.ndarray, n_picked: int
) -> np.ndarray:
    """Pick variants heterozygous in half of each population, on alternating contigs.

    A single variant then has no marginal effect on the parity of heterozygotes: for any genotypes
    of the others, half of the samples are heterozygous at it.
    """
    population = ds["sample_population"].values
    share = [heterozygous[:, population == name].mean(axis=1) for name in _SAMPLES]
    imbalance = np.abs(np.array([heterozygous.mean(axis=1), *share]) - 0.5).max(axis=0)
    contig, position = ds["variant_contig"].values, ds["variant_position"].values
    picked: list[int] = []
    for variant in np.argsort(imbalance, kind="stable"):
        near = [
            other
            for other in picked
            if contig[other] == contig[variant]
            and abs(position[other] - position[variant]) < _MIN_DISTANCE
        ]
        if not near and contig[variant] == len(picked) % len(_CONTIGS):
            picked.append(int(variant))
        if len(picked) == n_picked:
            break
    return np.array(picked)


def _trait_variants(
    ds: xr.Dataset, dosage: np.ndarray, taken: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Pick common variants. The first is in the dense region, and common in each population."""
    contig, start, stop = _DENSE
    place = ds["variant_position"].values
    dense = (ds["variant_contig"].values == _CONTIGS.index(contig)) & (start < place)
    dense &= place <= stop
    population = ds["sample_population"].values
    balance = [np.abs(dosage[:, population == name].mean(axis=1) - 1) for name in _SAMPLES]
    lead = random.choice(np.flatnonzero(dense & (np.max(balance, axis=0) < 0.5)))
    common = np.flatnonzero(~dense & (np.abs(dosage.mean(axis=1) - 1) < 0.8))
    others = random.choice(np.setdiff1d(common, taken), len(_TRAIT_EFFECTS) - 1, replace=False)
    return np.append(lead, others)


def _odd_heterozygotes(dosage: np.ndarray, variants: np.ndarray) -> np.ndarray:
    """Return +1 if an odd number of the variants is heterozygous, else -1; (samples,)."""
    odd: np.ndarray = (dosage[variants] == 1).sum(axis=0) % 2
    return 2 * odd - 1


def _trait(dosage: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the sum of standardised effects and noise, with the stated heritability.

    Rounded, as the last bits of a product depend on the CPU.
    """
    standard = (dosage - dosage.mean(axis=1, keepdims=True)) / dosage.std(axis=1, keepdims=True)
    genetic: np.ndarray = np.array(_TRAIT_EFFECTS) @ standard
    genetic *= np.sqrt(_TRAIT_HERITABILITY) / genetic.std()
    genetic += random.normal(scale=np.sqrt(1 - _TRAIT_HERITABILITY), size=genetic.size)
    return genetic.round(6)


def _flags(variants: np.ndarray, n_variants: int) -> np.ndarray:
    return np.isin(np.arange(n_variants), variants)
