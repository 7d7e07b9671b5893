"""Haploid calls as entries of an alignment, in memory or chunk by chunk of variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data import model
from genobit.data.alphabets import GAP, MISSING, symbols_of
from genobit.engine.schedule.passes import by_sites, whole_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BASES = ("A", "C", "G", "T", "N")
#: The allele of VCF for a deletion that spans the site.
_DELETED = "*"


class Entries(NamedTuple):
    """Entries of an alignment, with their kind and symbols."""

    values: NDArray[np.str_] | da.Array
    """(samples, variants), lazy for lazy calls."""
    kind: str
    symbols: tuple[str, ...]


class _AllelesSeen(NamedTuple):
    """Alleles that a part of the calls contains."""

    numbers: NDArray[Any]
    """Numbers of the alleles."""
    bases: bool
    """Whether all are single bases."""
    beyond: tuple[int, int, int] | None
    """Variant, sample and number of the first allele that does not exist."""


def entries_of(numbers: NDArray[Any] | da.Array, bases: NDArray[np.str_] | None) -> Entries:
    """Convert calls to entries of an alignment: bases if all are single bases, else numbers.

    numbers: allele numbers (samples, variants), below 0 missing; lazy ones are read once.
    bases: entry of each allele (variants, alleles), from `bases_of`. Raises ValueError for a call
    of an allele that its variant does not have.

    Examples
    --------
    >>> calls = np.array([[0, 1], [-1, 2]])
    >>> entries_of(calls, bases_of([["A", "C", "TT"], ["G", "*", "T"]])).values.tolist()
    [['A', '-'], ['?', 'T']]
    >>> entries_of(calls, bases_of([["A", "C", "T"], ["G", "C", "TT"]])).values.tolist()
    [['0', '1'], ['?', '2']]
    """
    if isinstance(numbers, da.Array):
        numbers = whole_columns(numbers)
        parts = [part for _, part in by_sites(_met, numbers, bases)]
    else:
        numbers = np.ascontiguousarray(numbers)
        parts = [_met(numbers, 0, bases)]
    _require_alleles(parts, bases)
    if bases is not None and all(part.bases for part in parts):
        return Entries(_of_bases(numbers, bases), "dna", symbols_of("dna", set()))
    there = {str(number) for part in parts for number in part.numbers.tolist()}
    return Entries(_of_numbers(numbers), "standard", symbols_of("standard", there))


def bases_of(alleles: Sequence[Sequence[Any]] | NDArray[Any]) -> NDArray[np.str_]:
    """Return the entry of each allele (variants, alleles), "" if it is not a single base.

    Examples
    --------
    >>> bases_of([["a", "*", "<DEL>"]]).tolist()
    [['A', '-', '']]
    """
    known = {**{base: base for base in _BASES}, _DELETED: GAP}
    return np.array([[known.get(str(a).upper(), "") for a in row] for row in alleles], "U1")


def _met(numbers: NDArray[Any], first: int, bases: NDArray[np.str_] | None = None) -> _AllelesSeen:
    """Find the alleles in a part of the calls, which starts at variant ``first``."""
    there = np.unique(numbers[numbers >= 0])
    if bases is None:
        return _AllelesSeen(there, bases=False, beyond=None)
    alleles = bases.shape[1]
    beyond = np.argwhere((numbers >= alleles).T)
    if len(beyond):
        variant, sample = (int(index) for index in beyond[0])
        at = first + variant, sample, int(numbers[sample, variant])
        return _AllelesSeen(there, bases=False, beyond=at)
    return _AllelesSeen(there, bases=not (_looked_up(numbers, bases) == "").any(), beyond=None)


def _require_alleles(parts: Sequence[_AllelesSeen], bases: NDArray[np.str_] | None) -> None:
    beyond = next((part.beyond for part in parts if part.beyond), None)
    if bases is not None and beyond:
        variant, sample, number = beyond
        msg = (
            f"{model.CALL_GENOTYPE}: variant {variant}, sample {sample} has allele {number}, "
            f"{model.VARIANT_ALLELE} has {bases.shape[1]}: correct one of them, or leave "
            f"{model.VARIANT_ALLELE} out for an alignment of allele numbers"
        )
        raise ValueError(msg)


def _of_numbers(numbers: NDArray[Any] | da.Array) -> NDArray[np.str_] | da.Array:
    if not isinstance(numbers, da.Array):
        return _as_text(numbers)
    meta = _as_text(np.empty((0, 0), numbers.dtype))
    values: da.Array = da.map_blocks(_as_text, numbers, dtype=meta.dtype, meta=meta)
    return values


def _of_bases(
    numbers: NDArray[Any] | da.Array, bases: NDArray[np.str_]
) -> NDArray[np.str_] | da.Array:
    if not isinstance(numbers, da.Array):
        return _looked_up(numbers, bases)
    alleles = da.from_array(bases, chunks=(numbers.chunks[1], -1))
    values: da.Array = da.blockwise(
        _looked_up, "sv", numbers, "sv", alleles, "va", concatenate=True, dtype=bases.dtype,
        meta=np.empty((0, 0), bases.dtype),
    )  # fmt: skip
    return values


def _looked_up(numbers: NDArray[Any], bases: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return the entries of calls whose alleles all exist, (samples, variants)."""
    called = np.maximum(numbers, 0).astype(np.intp)
    entries = bases[np.arange(len(bases)), called]
    entries[numbers < 0] = MISSING
    return entries


def _as_text(numbers: NDArray[Any]) -> NDArray[np.str_]:
    return np.where(numbers < 0, MISSING, np.maximum(numbers, 0).astype(str))
