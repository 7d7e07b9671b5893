"""Families of a simulated cohort: children of its founders, by Mendelian transmission.

A member of a family is drawn anew until KING-robust kinship names the degree of each of its pairs
as the pedigree does. So the cohort shows what the degrees mean, although its genome is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class Member(NamedTuple):
    """A member of a family: places of parents in the family, before its own."""

    sex: int
    """1 male, 2 female."""
    father: int | None = None
    mother: int | None = None
    twin: int | None = None
    """Place of an identical twin."""


FAMILY = (
    Member(1),
    Member(2),
    Member(2),
    Member(1),
    Member(1),
    Member(1, 0, 1),
    Member(2, 0, 1),
    Member(1, 5, 2),
    Member(1, 5, 2, twin=7),
    Member(2, 5, 2),
    Member(2, 3, 6),
    Member(1, 4, 6),
)
"""Grandparents, spouses of their children, the two children, and five grandchildren.

Among the grandchildren are identical twins, full and half siblings, and first cousins.
"""
CROSSOVERS = 15.0
"""Mean crossovers of a contig in a meiosis: the two contigs are inherited like a whole genome.

Over their 12 centimorgan, siblings would share all or nothing of a contig.
"""
BOUNDS = 2.0 ** -np.arange(1.5, 5)
"""Kinship above which a pair is a twin, and of the first, second and third degree."""
_TRIES = 50
"""For a member, and for the descendants of a family."""


class Genome(NamedTuple):
    """Where haplotypes can recombine."""

    block: NDArray[np.intp]
    """Block of each variant (variants,), ascending: nothing recombines inside of a block."""
    contig: NDArray[np.intp]
    """Contig of each block (blocks,)."""


class Pedigree(NamedTuple):
    """Families of some samples, by place; -1 for parents who are not known, and for no twin."""

    family: NDArray[np.intp]
    father: NDArray[np.intp]
    mother: NDArray[np.intp]
    twin: NDArray[np.intp]
    sex: NDArray[np.int8]


def shuffled(
    haplotypes: NDArray[np.int8], genome: Genome, random: np.random.Generator
) -> NDArray[np.int8]:
    """Exchange haplotypes (variants, haplotypes) of one population, block by block.

    Frequencies and linkage inside of a block stay. Long shared haplotypes, which make strangers
    look like relatives in a short genome, go.
    """
    edges = np.flatnonzero(np.diff(genome.block)) + 1
    blocks = np.split(haplotypes, edges)
    return np.concatenate([block[:, random.permutation(haplotypes.shape[1])] for block in blocks])


def with_families(
    calls: NDArray[np.int8],
    genome: Genome,
    population: NDArray[np.object_],
    families: int,
    random: np.random.Generator,
) -> Pedigree:
    """Replace the last samples of each population by families, in place.

    Parameters
    ----------
    calls
        Phased calls of unrelated samples (variants, samples, 2).
    genome
        Of the variants.
    population
        Of each sample (samples,).
    families
        Number of families in each population.
    random
        Generator.
    """
    n = len(population)
    place = np.arange(n)
    unknown = np.full(n, -1)
    sex = random.integers(1, 3, n).astype(np.int8)
    pedigree = Pedigree(place.copy(), unknown.copy(), unknown.copy(), unknown.copy(), sex)
    for name in dict.fromkeys(population):
        last = place[population == name][-families * len(FAMILY) :]
        strangers = iter(calls[:, last].transpose(1, 0, 2).copy())
        for places in last.reshape(families, len(FAMILY)):
            members = _family(strangers, genome, random)
            calls[:, places] = np.stack(members, axis=1)
            for k, member in zip(places, FAMILY, strict=True):
                pedigree.family[k] = places[0]
                pedigree.sex[k] = member.sex
                if member.father is not None and member.mother is not None:
                    pedigree.father[k] = places[member.father]
                    pedigree.mother[k] = places[member.mother]
                if member.twin is not None:
                    pedigree.twin[k], pedigree.twin[places[member.twin]] = places[member.twin], k
    return pedigree


def _family(
    strangers: Iterator[NDArray[np.int8]], genome: Genome, random: np.random.Generator
) -> list[NDArray[np.int8]]:
    """Calls (variants, 2) of each member."""
    founders: list[NDArray[np.int8]] = []
    wanted = sum(member.father is None and member.twin is None for member in FAMILY)
    for stranger in strangers:
        if _degrees_fit(stranger, founders, np.zeros(len(founders))):
            founders.append(stranger)
        if len(founders) == wanted:
            break
    for _ in range(_TRIES):
        members = _with_descendants(founders, genome, random)
        if members is not None:
            return members
    msg = f"KING does not find the pedigree of a family in {_TRIES} tries"
    raise RuntimeError(msg)


def _with_descendants(
    founders: list[NDArray[np.int8]], genome: Genome, random: np.random.Generator
) -> list[NDArray[np.int8]] | None:
    """Calls of each member; None if one of them does not get the kinship of its pedigree."""
    expected = kinship_of_family()
    members = list(founders)
    for k, member in enumerate(FAMILY[len(founders) :], start=len(founders)):
        for _ in range(_TRIES):
            drawn = _child(members, member, genome, random)
            if _degrees_fit(drawn, members, expected[k, :k]):
                members.append(drawn)
                break
        else:
            return None
    return members


def _child(
    members: list[NDArray[np.int8]], member: Member, genome: Genome, random: np.random.Generator
) -> NDArray[np.int8]:
    if member.twin is not None:
        return members[member.twin].copy()
    parents = [place for place in (member.father, member.mother) if place is not None]
    return np.stack([_gamete(members[place], genome, random) for place in parents], axis=1)


def kinship_of_family() -> NDArray[np.float64]:
    """Expected kinship of the members of a family (members, members)."""
    out = 0.5 * np.eye(len(FAMILY))
    for k, member in enumerate(FAMILY):
        if member.father is None or member.mother is None:
            continue
        row = (out[member.father, :k] + out[member.mother, :k]) / 2
        if member.twin is not None:
            row = out[member.twin, :k].copy()
            row[member.twin] = 0.5
        out[k, :k] = out[:k, k] = row
    return out


def _gamete(
    calls: NDArray[np.int8], genome: Genome, random: np.random.Generator
) -> NDArray[np.int8]:
    """One haplotype (variants,) of the two of a parent, recombined between blocks."""
    blocks = np.bincount(genome.contig)[genome.contig]
    first = np.diff(genome.contig, prepend=-1) != 0
    switches = random.random(len(blocks)) < np.where(first, 0.5, CROSSOVERS / blocks)
    strand = (np.cumsum(switches) % 2)[genome.block]
    return calls[np.arange(len(calls)), strand]


def _degrees_fit(
    calls: NDArray[np.int8], others: list[NDArray[np.int8]], expected: NDArray[np.float64]
) -> bool:
    """Whether KING-robust kinship names all degrees as expected."""
    dosage = calls[:, 0] + calls[:, 1]
    for other, kinship in zip(others, expected, strict=True):
        found = _king(dosage, other[:, 0] + other[:, 1])
        if (found > BOUNDS).sum() != (kinship > BOUNDS).sum():
            return False
    return True


def _king(a: NDArray[np.int8], b: NDArray[np.int8]) -> float:
    """KING-robust kinship of two samples without missing calls."""
    h, k = np.count_nonzero(a == 1), np.count_nonzero(b == 1)
    both = np.count_nonzero((a == 1) & (b == 1))
    opposite = np.count_nonzero(abs(a - b) == 2)
    least = min(h, k)
    return (both - 2 * opposite) / (2 * least) + 0.5 - (h + k) / (4 * least)
