"""Add families to a simulated cohort: descendants of its founders, by Mendelian transmission.

Each member is redrawn until KING-robust kinship gives all its pairs the degree of the pedigree. The
cohort then shows clear degrees although its genome is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class Member(NamedTuple):
    """A member of a family. Parents come first and are given by their index in the family."""

    sex: int
    """1 male, 2 female."""
    father: int | None = None
    mother: int | None = None
    twin: int | None = None
    """Index of an identical twin."""


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
"""Mean crossovers per contig and meiosis, so that two contigs are inherited like a genome.

The two contigs have 200 centimorgan in all. Without more crossovers, siblings would share all or
nothing of large parts of a contig.
"""
BOUNDS = 2.0 ** -np.arange(1.5, 5)
"""Least kinship of twins and of the first, second and third degree."""
_TRIES = 50
"""Most attempts to draw a member, and to draw the descendants of a family."""


class Genome(NamedTuple):
    """Where haplotypes can recombine."""

    block: NDArray[np.intp]
    """Block of each variant (variants,), ascending. Haplotypes do not recombine inside a block."""
    contig: NDArray[np.intp]
    """Contig of each block (blocks,)."""
    exchanged: NDArray[np.float64]
    """Share of the haplotypes exchanged at the start of each block (blocks,)."""


class Pedigree(NamedTuple):
    """Families of samples, by sample index; -1 for an unknown parent and for no twin."""

    family: NDArray[np.intp]
    father: NDArray[np.intp]
    mother: NDArray[np.intp]
    twin: NDArray[np.intp]
    sex: NDArray[np.int8]


def shuffled(
    haplotypes: NDArray[np.int8], genome: Genome, random: np.random.Generator
) -> NDArray[np.int8]:
    """Exchange haplotypes (variants, haplotypes) of one population at the start of each block.

    Frequencies and LD inside a block stay the same. Long shared haplotypes are broken up, which in
    a short genome make unrelated samples look like relatives.
    """
    edges = np.flatnonzero(np.diff(genome.block)) + 1
    order = np.arange(haplotypes.shape[1])
    out = []
    for block, share in zip(np.split(haplotypes, edges), genome.exchanged, strict=True):
        moved = np.flatnonzero(random.random(order.size) < share)
        order[moved] = order[random.permutation(moved)]
        out.append(block[:, order])
    return np.concatenate(out)


def with_families(
    calls: NDArray[np.int8],
    genome: Genome,
    population: NDArray[np.object_],
    families: int,
    random: np.random.Generator,
) -> Pedigree:
    """Replace the last samples of each population by ``families`` families, in place.

    calls: (variants, samples, 2), phased, of unrelated samples; population: (samples,).
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
    """Return the calls (variants, 2) of each member."""
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
    raise RuntimeError(f"KING does not find the pedigree of a family in {_TRIES} tries")


def _with_descendants(
    founders: list[NDArray[np.int8]], genome: Genome, random: np.random.Generator
) -> list[NDArray[np.int8]] | None:
    """Return the calls of each member, or None if one never reaches its expected kinship."""
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
    """Return the expected kinship (members, members) of a family."""
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
    """Return one haplotype (variants,) of a parent, recombined between blocks."""
    blocks = np.bincount(genome.contig)[genome.contig]
    first = np.diff(genome.contig, prepend=-1) != 0
    switches = random.random(len(blocks)) < np.where(first, 0.5, CROSSOVERS / blocks)
    strand = (np.cumsum(switches) % 2)[genome.block]
    return calls[np.arange(len(calls)), strand]


def _degrees_fit(
    calls: NDArray[np.int8], others: list[NDArray[np.int8]], expected: NDArray[np.float64]
) -> bool:
    """Return whether KING-robust kinship gives all expected degrees."""
    dosage = calls[:, 0] + calls[:, 1]
    for other, kinship in zip(others, expected, strict=True):
        found = _king(dosage, other[:, 0] + other[:, 1])
        if (found > BOUNDS).sum() != (kinship > BOUNDS).sum():
            return False
    return True


def _king(a: NDArray[np.int8], b: NDArray[np.int8]) -> float:
    """Return the KING-robust kinship of two samples without missing calls."""
    h, k = np.count_nonzero(a == 1), np.count_nonzero(b == 1)
    both = np.count_nonzero((a == 1) & (b == 1))
    opposite = np.count_nonzero(abs(a - b) == 2)
    least = min(h, k)
    return (both - 2 * opposite) / (2 * least) + 0.5 - (h + k) / (4 * least)
