"""Align the alleles of one variant in two files: exchanged alleles and flipped strands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN_ALLELES = ("", ".", "0", "nan")
"""Names of an allele that a file does not know: no call of the file has it."""
_COMPLEMENT = dict(zip("ACGTacgt", "TGCAtgca", strict=True))
_NONE, _NO_BASE = -1, -2
UNNAMED = -1
"""Code of an allele without a name."""


def complements(alleles: list[str]) -> list[str] | None:
    """Return alleles on the other strand; None unless all are single bases."""
    if not set(alleles) <= _COMPLEMENT.keys():
        return None
    return [_COMPLEMENT[allele] for allele in alleles]


class Aligned(NamedTuple):
    """Alleles of two files for the same variants, and the codes of the second file."""

    alleles: NDArray[np.object_]
    """Alleles of the first file, then those that it lacks (variants, alleles); "" for none."""
    codes: NDArray[np.int16]
    """Index into ``alleles`` for each allele of the second file (variants, its alleles), int16."""
    exchanged: NDArray[np.bool_]
    """Variants whose alleles have another order in the second file."""
    flipped: NDArray[np.bool_]
    """Variants whose alleles fit on the other strand only."""
    ambiguous: NDArray[np.bool_]
    """Variants whose alleles fit on both strands, such as A/T; they are taken as they are."""
    conflicting: NDArray[np.bool_]
    """Variants whose alleles fit on no strand: together they would be more than in either file."""


class _Merged(NamedTuple):
    """Numbers of alleles of both files together (variants, alleles), -1 behind the last one."""

    numbers: NDArray[np.intp]
    slots: NDArray[np.intp]
    """Place of each allele of the second file in ``numbers``."""
    size: NDArray[np.intp]


def align(ours: NDArray[np.object_], theirs: NDArray[np.object_]) -> Aligned:
    """Return how the alleles (variants, alleles) of a second file fit to those of the first.

    Alleles fit if those of one file contain all of the other's, or if both have two in total.
    Single bases that do not fit as they are may fit as their complements.

    >>> found = align(np.array([["G", "A"]], object), np.array([["T", "C"]], object))
    >>> found.codes.tolist(), found.exchanged.tolist(), found.flipped.tolist()
    ([[1, 0]], [True], [True])
    """
    short = ~((ours[:, 2:] != "").any(axis=1) | (theirs[:, 2:] != "").any(axis=1))
    if short.any() and max(ours.shape[1], theirs.shape[1]) > 2:
        # A few variants of many alleles would make all others wide.
        return _together(
            short,
            align(ours[short, :2], theirs[short, :2]),
            align(ours[~short], theirs[~short]) if not short.all() else None,
            theirs.shape[1],
        )
    numbers, names = pd.factorize(np.concatenate([ours.reshape(-1), theirs.reshape(-1)]))
    texts = np.array([*names, *(base for base in _COMPLEMENT if base not in {*names})], object)
    numbers[np.isin(names, UNKNOWN_ALLELES)[numbers]] = _NONE
    place = {name: k for k, name in enumerate(texts)}
    other = np.array([place[_COMPLEMENT[x]] if x in _COMPLEMENT else _NO_BASE for x in texts])
    here, there = (
        part.reshape(side.shape)
        for part, side in zip(np.split(numbers, [ours.size]), (ours, theirs), strict=True)
    )
    turned = np.where(there == _NONE, _NONE, other[there])
    bases = ((other[here] != _NO_BASE) | (here == _NONE)).all(axis=1)
    bases &= (turned != _NO_BASE).all(axis=1)
    most = np.maximum(np.maximum((here >= 0).sum(axis=1), (there >= 0).sum(axis=1)), 2)
    plain, flip = _merged(here, there), _merged(here, np.where(bases[:, None], turned, there))
    fits, fits_flipped = plain.size <= most, bases & (flip.size <= most)
    flipped = ~fits & fits_flipped
    known = (here >= 0).any(axis=1) & (there >= 0).any(axis=1)
    slots = np.where(flipped[:, None], flip.slots, plain.slots)
    merged = np.where(flipped[:, None], flip.numbers, plain.numbers)
    width = max(ours.shape[1], int((merged >= 0).sum(axis=1).max(initial=0)))
    alleles = np.append(texts, "")[merged[:, :width]]
    # A name such as "0" stays where no file knows the allele.
    kept = np.full(alleles.shape, "", object)
    kept[:, : ours.shape[1]] = ours
    return Aligned(
        np.where(merged[:, :width] >= 0, alleles, kept),
        slots.astype(np.int16),
        ((slots != np.arange(theirs.shape[1])) & (there >= 0)).any(axis=1),
        flipped,
        fits & fits_flipped & known & (flip.size <= plain.size),
        ~fits & ~fits_flipped,
    )


def _together(
    short: NDArray[np.bool_], few: Aligned, many: Aligned | None, columns: int
) -> Aligned:
    """Return the variants of two alleles (``short``) and the others in one result."""
    n = short.size
    width = max(x.alleles.shape[1] for x in (few, many) if x is not None)
    alleles = np.full((n, width), "", object)
    codes = np.tile(np.arange(columns, dtype=np.int16), (n, 1))
    marks = np.zeros((len(few) - 2, n), bool)
    for rows, found in ((short, few), (~short, many)):
        if found is not None:
            alleles[rows, : found.alleles.shape[1]] = found.alleles
            codes[rows, : found.codes.shape[1]] = found.codes
            marks[:, rows] = found[2:]
    return Aligned(alleles, codes, *marks)


def _merged(here: NDArray[np.intp], there: NDArray[np.intp]) -> _Merged:
    """Return the alleles of both; new ones of ``there`` keep their place, or take a free one."""
    n, k = there.shape
    rows = np.arange(n)
    merged = np.full((n, here.shape[1] + k), _NONE)
    merged[:, : here.shape[1]] = here
    slots = np.empty((n, k), np.intp)
    used = np.zeros(merged.shape, bool)
    for j in range(k):
        known = there[:, j] >= 0
        same = (merged == there[:, j, None]) & known[:, None]
        free = np.where(merged[:, j] < 0, j, (merged < 0).argmax(axis=1))
        slots[:, j] = np.where(same.any(axis=1), same.argmax(axis=1), free)
        merged[rows[known], slots[known, j]] = there[known, j]
        used[rows[known], slots[known, j]] = True
    for j in range(k):
        # An unknown allele has no calls; its place only must not be that of another one.
        unknown = there[:, j] < 0
        free = np.where(used[:, j], (~used).argmax(axis=1), j)
        slots[unknown, j] = free[unknown]
        used[rows[unknown], free[unknown]] = True
    return _Merged(merged, slots, (merged >= 0).sum(axis=1))


class Cohorts(NamedTuple):
    """Alleles of several files for the same variants, and the codes of each file."""

    alleles: NDArray[np.object_]
    """Joined alleles (variants, alleles); "" for none."""
    codes: list[NDArray[np.int16]]
    """Index into ``alleles`` for each allele of each file (variants, its alleles).

    `UNNAMED` if only another file names the allele: no call may have it."""
    exchanged: NDArray[np.int64]
    """Number of files in which `Aligned.exchanged` is true (variants,); likewise the others."""
    flipped: NDArray[np.int64]
    ambiguous: NDArray[np.int64]
    conflicting: NDArray[np.int64]

    def isel(self, kept: NDArray[np.intp]) -> Cohorts:
        """Return some variants, without alleles that only others had."""
        alleles = self.alleles[kept]
        columns = np.flatnonzero((alleles != "").any(axis=0))
        width = max(2, int(columns.max(initial=1)) + 1)
        counts = (each[kept] for each in self[2:])
        return Cohorts(alleles[:, :width], [code[kept] for code in self.codes], *counts)


def align_all(names: list[NDArray[np.object_]], places: list[NDArray[np.intp]]) -> Cohorts:
    """Return the alleles of several files, each aligned to those before it.

    ``names`` are the alleles of each file, and ``places`` the rows of the variants in it, or -1.
    """
    n = places[0].size
    alleles = np.full((n, max(each.shape[1] for each in names)), "", object)
    known = np.zeros(n, bool)
    counts = np.zeros((4, n), np.int64)
    codes = []
    for theirs, rows in zip(names, places, strict=True):
        code = np.tile(np.arange(theirs.shape[1], dtype=np.int16), (n, 1))
        both, new = np.flatnonzero(known & (rows >= 0)), np.flatnonzero(~known & (rows >= 0))
        alleles[new, : theirs.shape[1]] = theirs[rows[new]]
        if both.size:
            found = align(alleles[both], theirs[rows[both]])
            wider = found.alleles.shape[1] - alleles.shape[1]
            alleles = np.pad(alleles, ((0, 0), (0, wider)), constant_values="")
            alleles[both, : found.alleles.shape[1]] = found.alleles
            code[both] = found.codes
            counts[:, both] += np.array(found[2:])
        codes.append(code)
        known |= rows >= 0
    named = ~np.isin(alleles, UNKNOWN_ALLELES)
    for code, theirs, rows in zip(codes, names, places, strict=True):
        of_another = np.take_along_axis(named, code.astype(np.intp), axis=1)
        code[(rows >= 0)[:, None] & np.isin(theirs[rows], UNKNOWN_ALLELES) & of_another] = UNNAMED
    return Cohorts(alleles, codes, *counts)
