"""Aligned characters as sets of the states that each may be, one bit a state.

Definition: Fitch, Systematic Zoology 20:406 (1971). Bit s of a set says that the character may be
in state s. An ambiguity code or a polymorphic entry has several bits, a missing one has all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit import alphabets
from genobit.alphabets import GAP, MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_MOST_STATES = 64
_MISSING_NUMBER = -1


class Characters(NamedTuple):
    """Sets of states, uint64 (taxa, sites), and the symbol of each bit, the lowest first."""

    sets: NDArray[np.uint64]
    symbols: tuple[str, ...]


def state_sets(
    values: ArrayLike,
    kind: str | None = None,
    states: Sequence[Any] | None = None,
    gap: str = "missing",
    taxa: Sequence[Any] | None = None,
) -> Characters:
    """Turn an alignment into sets of states.

    Parameters
    ----------
    values
        (taxa, sites): text or bytes, an entry a symbol, or several in braces or parentheses
        (``{01}``: any of them); or whole numbers, states from 0, -1 missing. Case does not matter,
        except for symbols of ``states`` that differ in nothing else.
    kind
        "dna" (IUPAC; U is T), "protein" (IUPAC; B, Z and J are two amino acids, X is any; O, U and
        the stop ``*`` are states of their own) or "standard" (each symbol is a state). Guessed from
        the symbols by default; whole numbers are "standard".
    states
        The symbols of "standard" characters in order, those that occur by default.
    gap
        "missing": a gap ``-`` may be any state, as ``?`` may. "state": the gap is one more state,
        the last; ``?`` may be a gap, N and X may not.
    taxa
        Names of the taxa for messages.

    Returns
    -------
        Sets and symbols. In "dna" the states are A, C, G and T whether they occur or not.

    Raises
    ------
    ValueError
        For an unknown symbol, with its taxon and site, or more than 64 states.

    Examples
    --------
    >>> sets, symbols = state_sets([["A", "R", "-"], ["C", "T", "N"]], "dna")
    >>> symbols
    ('A', 'C', 'G', 'T')
    >>> sets.tolist()
    [[1, 5, 15], [2, 8, 15]]
    >>> state_sets([["A", "N", "-"]], "dna", gap="state").sets.tolist()
    [[1, 15, 16]]
    """
    if gap not in {"missing", "state"}:
        msg = f"gap={gap!r} is neither 'missing' nor 'state'"
        raise ValueError(msg)
    if kind is not None and kind not in alphabets.KINDS:
        msg = f"kind={kind!r} is none of {', '.join(alphabets.KINDS)}"
        raise ValueError(msg)
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        msg = f"the alignment has shape {array.shape}, expected (taxa, sites), neither of them 0"
        raise ValueError(msg)
    if array.dtype.kind in "iu":
        return _of_numbers(array, kind, states, gap, taxa)
    text = _as_text(array)
    counts = alphabets.count_symbols(text)
    kind = kind or ("standard" if states is not None else alphabets.guess_kind(counts))
    symbols = _symbols(kind, states, set(counts))
    alphabets.require_symbols(text, kind, symbols, taxa)
    if gap == "state":
        symbols = (*symbols, GAP)
    _check_number(text, symbols, taxa)
    return Characters(_look_up(text, _bits(kind, symbols, gap)), symbols)


def _as_text(array: NDArray[Any]) -> NDArray[np.str_]:
    if array.dtype.kind == "S":
        return np.char.decode(array, "latin-1")
    if array.dtype.kind in "OT":
        return array.astype(str)
    if array.dtype.kind != "U":
        msg = (
            f"the alignment has dtype {array.dtype}, expected text, an entry a symbol, or whole "
            "numbers with -1 for missing: convert it with .astype"
        )
        raise TypeError(msg)
    return array


def _symbols(kind: str, states: Sequence[Any] | None, seen: set[str]) -> tuple[str, ...]:
    if kind != "standard" or states is None:
        return alphabets.symbols_of(kind, seen)
    symbols = tuple(str(state) for state in states)
    if len(set(symbols)) < len(symbols):
        msg = f"states={list(states)!r} names a state twice"
        raise ValueError(msg)
    reserved = sorted({MISSING, GAP} & set(symbols))
    if reserved:
        msg = f"states={list(states)!r} has {reserved[0]!r}, which says that a state is not known"
        raise ValueError(msg)
    return symbols


def _bits(kind: str, symbols: tuple[str, ...], gap: str) -> dict[str, int]:
    """Give each symbol its set, as a number."""
    bit = {symbol: 1 << number for number, symbol in enumerate(symbols)}
    every = (1 << len(symbols)) - 1
    plain = tuple(symbol for symbol in symbols if symbol != GAP)
    sets = {code: sum(bit[s] for s in of) for code, of in alphabets.codes_of(kind, plain).items()}
    return {**sets, MISSING: every, GAP: bit[GAP] if gap == "state" else every}


def _look_up(text: NDArray[np.str_], bits: dict[str, int]) -> NDArray[np.uint64]:
    """Look every entry up in a table over code points, and wide ones in one over what they are."""
    wide = alphabets.is_wide(text)
    points = alphabets.code_points(text)
    table = np.zeros(int(points.max()) + 1, dtype=np.uint64)
    for point in np.flatnonzero(np.bincount(points[~wide])):
        table[point] = _set_of(chr(point), bits)
    sets = table[points]
    if wide.any():
        entries, inverse = np.unique(text[wide], return_inverse=True)
        found = np.array([_set_of(str(entry), bits) for entry in entries], dtype=np.uint64)
        sets[wide] = found[inverse]
    return sets


def _set_of(entry: str, bits: dict[str, int]) -> int:
    """The set of an entry as a number."""
    found = 0
    for symbol in alphabets.members(entry):
        found |= bits.get(symbol) or bits.get(symbol.upper()) or bits[symbol.lower()]
    return found


def _check_number(
    text: NDArray[np.str_], symbols: tuple[str, ...], taxa: Sequence[Any] | None
) -> None:
    if len(symbols) <= _MOST_STATES:
        return
    first = symbols[_MOST_STATES]
    where = np.argwhere(np.char.find(np.char.upper(text), first.upper()) >= 0)
    at = ""
    if len(where):
        taxon, site = (int(index) for index in where[0])
        at = f", the next of them {first!r} at {alphabets.place(taxon, site, taxa)}"
    raise ValueError(_too_many(len(symbols), at))


def _too_many(number: int, at: str) -> str:
    return (
        f"the alignment has {number} states, more than the {_MOST_STATES} that a set holds{at}: "
        "merge rare states or analyse the sites in groups of fewer states"
    )


def _of_numbers(
    array: NDArray[Any],
    kind: str | None,
    states: Sequence[Any] | None,
    gap: str,
    taxa: Sequence[Any] | None,
) -> Characters:
    kind = kind or "standard"
    if kind == "standard":
        number = int(array.max()) + 1 if states is None else len(states)
        symbols = _symbols(kind, states or [str(n) for n in range(max(number, 1))], set())
    else:
        symbols = alphabets.symbols_of(kind, set())
    bad = (array < _MISSING_NUMBER) | (array >= len(symbols))
    if bad.any():
        taxon, site = (int(index) for index in np.argwhere(bad)[0])
        msg = (
            f"{alphabets.place(taxon, site, taxa)}: {int(array[taxon, site])} is no state of the "
            f"{len(symbols)} from 0 to {len(symbols) - 1}: use -1 for missing"
        )
        raise ValueError(msg)
    if gap == "state":
        symbols = (*symbols, GAP)
    if len(symbols) > _MOST_STATES:
        taxon, site = (int(index) for index in np.argwhere(array == array.max())[0])
        at = f", the largest of them {int(array.max())} at {alphabets.place(taxon, site, taxa)}"
        raise ValueError(_too_many(len(symbols), at))
    table = np.array([*(1 << n for n in range(len(symbols))), 0], dtype=np.uint64)
    # Missing, -1, takes the last entry of the table.
    table[-1] = (1 << len(symbols)) - 1
    return Characters(table[array], symbols)
