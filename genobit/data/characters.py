"""Encode aligned characters as sets of possible states, one bit per state.

Definition: Fitch, Systematic Zoology 20:406 (1971). Bit s of a set says that the character may be
in state s. An ambiguity code or a polymorphic entry has several bits, a missing entry has all.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import alphabets
from genobit.data.alphabets import GAP, MISSING
from genobit.data.checks import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

_MOST_STATES = 64
_MISSING_NUMBER = -1


class Characters(NamedTuple):
    """Sets of states (taxa, sites), and the symbols of the states.

    A set is an unsigned integer with a bit for each state. The first symbol is the lowest bit.
    """

    sets: NDArray[Any]
    symbols: tuple[str, ...]


class Coding(NamedTuple):
    """The states that the entries of an alignment stand for, the same in all of its parts."""

    kind: str
    symbols: tuple[str, ...]
    """Symbol of each state; a gap that is a state comes last."""
    gap: str
    sets: NDArray[np.unsignedinteger] | None = None
    """Set of each code of an alignment in codes (256,), see `genobit.data.coded_text.coded`."""


class SymbolCounts(NamedTuple):
    """Symbols or numbers that occur in an alignment or a part of it."""

    counts: dict[str, int]
    """Count of each text symbol."""
    largest: int | None
    """Largest integer, or None for text."""


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
        (taxa, sites). Text or bytes: an entry is a symbol, or several in braces or parentheses
        (``{01}``: any of them). Integers: states from 0, -1 is missing. Case does not matter,
        except for symbols of ``states`` that differ only in case.
    kind
        "dna" (IUPAC; U is T), "protein" (IUPAC; B, Z and J may be either of two amino acids, X any;
        O, U and the stop ``*`` are states of their own) or "standard" (each symbol is a state).
        Guessed from the symbols by default; integers are "standard".
    states
        Symbols of "standard" characters in order; by default those that occur.
    gap
        "missing": a gap ``-`` may be any state, like ``?``. "state": the gap is an extra state, the
        last; ``?`` may then be a gap, but N and X may not.
    taxa
        Names of the taxa for messages.

    Returns
    -------
        `Characters`: the sets and the symbols. In "dna" the states are always A, C, G and T.

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
    array = np.asarray(values)
    check_alignment(array, kind, gap)
    occurring = symbol_counts(array, taxa=taxa)
    found = coding_of(array.dtype, occurring, kind, states, gap)
    require_few_states(found, occurring, [(0, array)], taxa)
    return Characters(sets_in(array, found, taxa).astype(np.uint64), found.symbols)


def width_of(states: int) -> np.dtype[Any]:
    """Return the smallest unsigned dtype with a bit for each state.

    Examples
    --------
    >>> [str(width_of(states)) for states in (4, 9, 64)]
    ['uint8', 'uint16', 'uint64']
    """
    return np.min_scalar_type((1 << states) - 1)


def check_alignment(array: Any, kind: str | None, gap: str) -> None:
    """Check the arguments and the shape of an alignment; computes nothing.

    Raises ValueError for an unknown ``gap`` or ``kind``, and if there are no taxa or no sites.
    """
    if gap not in {"missing", "state"}:
        raise ValueError(f"gap={gap!r} is neither 'missing' nor 'state'")
    alphabets.check_kind(kind)
    if array.ndim != 2 or array.size == 0:
        msg = f"the alignment has shape {array.shape}, expected (taxa, sites), both at least 1"
        raise ValueError(msg)


def coding_is_known(dtype: np.dtype[Any], kind: str | None, states: Sequence[Any] | None) -> bool:
    """Return whether the coding is known without reading the symbols.

    Examples
    --------
    >>> text = np.dtype("U1")
    >>> (
    ...     coding_is_known(text, "dna", None),
    ...     coding_is_known(text, "protein", None),
    ...     coding_is_known(text, None, "01"),
    ... )
    (True, False, True)
    """
    listed = states is not None and len(states) > 0
    if _is_whole(dtype):
        return listed or kind in {"dna", "protein"}
    return kind == "dna" or (listed and kind in {None, "standard"})


def symbol_counts(
    values: NDArray[Any], first: int = 0, *, taxa: Sequence[Any] | None = None
) -> SymbolCounts:
    """Return what occurs in a part of an alignment that starts at site ``first``.

    Examples
    --------
    >>> symbol_counts(np.array([["A", "c"], ["-", "A"]])).counts
    {'-': 1, 'A': 2, 'C': 1}
    >>> symbol_counts(np.array([[0, 3]])).largest
    3
    """
    if _is_whole(values.dtype):
        return SymbolCounts({}, int(values.max()))
    return SymbolCounts(alphabets.count_symbols(_as_text(values, taxa, first)), None)


def merge_counts(parts: Iterable[SymbolCounts]) -> SymbolCounts:
    """Combine what occurs in several parts.

    Examples
    --------
    >>> merge_counts([SymbolCounts({"A": 2}, None), SymbolCounts({"A": 1, "C": 1}, None)])
    SymbolCounts(counts={'A': 3, 'C': 1}, largest=None)
    """
    counts: Counter[str] = Counter()
    largest: int | None = None
    for part in parts:
        counts.update(part.counts)
        if part.largest is not None:
            largest = part.largest if largest is None else max(largest, part.largest)
    return SymbolCounts(dict(counts), largest)


def coding_of(
    dtype: np.dtype[Any],
    found: SymbolCounts,
    kind: str | None,
    states: Sequence[Any] | None,
    gap: str,
) -> Coding:
    """Return the coding of an alignment; ``found`` is used unless `coding_is_known`.

    Examples
    --------
    >>> coding_of(np.dtype("U1"), SymbolCounts({"0": 3, "2": 1}, None), None, None, "state")
    Coding(kind='standard', symbols=('0', '2', '-'), gap='state', sets=None)
    """
    states = None if states is None or len(states) == 0 else states
    if _is_whole(dtype):
        kind = kind or "standard"
        if kind == "standard" and states is None:
            # More states are refused, so they need no names.
            largest = min(max(found.largest or 0, 0), _MOST_STATES)
            states = [str(number) for number in range(largest + 1)]
    else:
        kind = kind or ("standard" if states is not None else alphabets.guess_kind(found.counts))
    # If every entry is missing, there is one state.
    symbols = _symbols(kind, states, set(found.counts)) or ("0",)
    return Coding(kind, (*symbols, GAP) if gap == "state" else symbols, gap)


def sets_in(
    values: NDArray[Any], coding: Coding, taxa: Sequence[Any] | None, first: int = 0
) -> NDArray[Any]:
    """Turn a part of an alignment that starts at site ``first`` into sets of states.

    The sets have the smallest dtype that holds the states (`width_of`). Raises ValueError for an
    entry that is not a state or symbol, with its taxon and site in the whole alignment.

    Examples
    --------
    >>> sets_in(np.array([["A", "R"]]), Coding("dna", tuple("ACGT"), "missing"), None).tolist()
    [[1, 5]]
    """
    from genobit.engine.bits.words import looked_up

    if coding.sets is not None:
        return looked_up(values, coding.sets)
    if _is_whole(values.dtype):
        return _of_numbers(values, coding, taxa, first)
    text = _as_text(values, taxa, first)
    bits = _either_case(_bits(coding.kind, coding.symbols, coding.gap))
    sets = _look_up(text, bits, len(coding.symbols))
    # The minimum takes a tenth of the time of .all().
    if not sets.min(initial=1):
        alphabets.require_symbols(text, coding.kind, _plain(coding), taxa, (0, first))
    return sets


def require_few_states(
    coding: Coding,
    found: SymbolCounts,
    parts: Iterable[tuple[int, NDArray[Any]]],
    taxa: Sequence[Any] | None,
) -> None:
    """Raise ValueError if there are more than 64 states; the message has the place of one of them.

    ``parts`` yields the first site and the entries of each part. It is read only to find that
    place.
    """
    if len(coding.symbols) <= _MOST_STATES:
        return
    plain = len(_plain(coding))
    largest = max(plain - 1, found.largest or 0)
    number = len(coding.symbols) + largest + 1 - plain
    at = ""
    for first, values in parts:
        if _is_whole(values.dtype):
            where, what = np.argwhere(values == largest), f"the largest of them {largest}"
        else:
            symbol = coding.symbols[_MOST_STATES]
            upper = np.char.upper(_as_text(values, taxa, first))
            where, what = np.argwhere(np.char.find(upper, symbol.upper()) >= 0), ""
            what = f"the next of them {symbol!r}"
        if len(where):
            taxon, site = (int(index) for index in where[0])
            at = f", {what} at {alphabets.place(taxon, first + site, taxa)}"
            break
    raise ValueError(
        f"the alignment has {number} states, more than the {_MOST_STATES} that a set holds{at}: "
        "merge rare states or analyse the sites in groups of fewer states"
    )


def _is_whole(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu"


def _plain(coding: Coding) -> tuple[str, ...]:
    """Return the states without the gap."""
    return coding.symbols[:-1] if coding.gap == "state" else coding.symbols


def _as_text(array: NDArray[Any], taxa: Sequence[Any] | None, first: int) -> NDArray[np.str_]:
    if array.dtype.kind == "S":
        # Latin-1 bytes are code points; np.char.decode would loop over the entries in Python.
        width = array.dtype.itemsize
        octets = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, width)
        return octets.astype(np.uint32).view(f"U{width}")[..., 0]
    if array.dtype.kind in "OT":
        objects = array.astype(object)
        _require_text(objects, taxa, first)
        return objects.astype(str)
    if array.dtype.kind != "U":
        raise TypeError(
            f"the alignment has dtype {array.dtype}, expected text, one symbol an entry, or whole "
            "numbers with -1 for missing: convert it with .astype"
        )
    return array


def _require_text(objects: NDArray[Any], taxa: Sequence[Any] | None, first: int) -> None:
    """Raise ValueError for objects that mark a missing entry; as text they would be a state."""
    if all(issubclass(found, str | bytes) for found in set(map(type, objects.flat))):
        return
    for (taxon, site), entry in np.ndenumerate(objects):
        if not (isinstance(entry, str | bytes) or is_whole(entry, 0)):
            raise ValueError(
                f"{alphabets.place(taxon, first + site, taxa)}: {entry!r} is neither text nor "
                "a whole number of at least 0: use '?' for missing"
            )


def _symbols(kind: str, states: Sequence[Any] | None, seen: set[str]) -> tuple[str, ...]:
    if kind != "standard" or states is None:
        return alphabets.symbols_of(kind, seen)
    symbols = tuple(str(state) for state in states)
    if len(set(symbols)) < len(symbols):
        raise ValueError(f"states={list(states)!r} repeats a state")
    reserved = sorted({MISSING, GAP} & set(symbols))
    if reserved:
        msg = f"states={list(states)!r} has {reserved[0]!r}, the symbol of an unknown state"
        raise ValueError(msg)
    return symbols


def _bits(kind: str, symbols: tuple[str, ...], gap: str) -> dict[str, int]:
    """Map each symbol to its set, as an integer."""
    bit = {symbol: 1 << number for number, symbol in enumerate(symbols)}
    every = (1 << len(symbols)) - 1
    plain = tuple(symbol for symbol in symbols if symbol != GAP)
    sets = {code: sum(bit[s] for s in of) for code, of in alphabets.codes_of(kind, plain).items()}
    return {**sets, MISSING: every, GAP: bit[GAP] if gap == "state" else every}


def _either_case(bits: dict[str, int]) -> dict[str, int]:
    """Add upper and lower case, unless both are symbols."""
    upper = {symbol.upper(): found for symbol, found in bits.items()}
    lower = {symbol.lower(): found for symbol, found in bits.items()}
    return {**upper, **lower, **bits}


def _look_up(text: NDArray[np.str_], bits: dict[str, int], states: int) -> NDArray[Any]:
    """Return the set of each entry; wide entries by their members, 0 for unknown symbols."""
    from genobit.engine.bits.words import looked_up

    single = {ord(symbol): found for symbol, found in bits.items() if len(symbol) == 1}
    table = np.zeros(max(single) + 1, width_of(states))
    for point, found in single.items():
        table[point] = found
    sets = looked_up(alphabets.code_points(text), table)
    wide = alphabets.is_wide(text)
    if wide.any():
        entries, inverse = np.unique(text[wide], return_inverse=True)
        each = [_set_of(str(entry), bits) for entry in entries]
        sets[wide] = np.array(each, table.dtype)[inverse]
    return sets


def _set_of(entry: str, bits: dict[str, int]) -> int:
    """Return the set of an entry as an integer, 0 if it has an unknown symbol."""
    found = [bits.get(symbol, 0) for symbol in alphabets.members(entry)]
    return functools.reduce(operator.or_, found, 0) if all(found) else 0


def _of_numbers(
    array: NDArray[Any], coding: Coding, taxa: Sequence[Any] | None, first: int
) -> NDArray[Any]:
    states, number = len(_plain(coding)), len(coding.symbols)
    bad = (array < _MISSING_NUMBER) | (array >= states)
    if bad.any():
        taxon, site = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"{alphabets.place(taxon, first + site, taxa)}: {int(array[taxon, site])} is not a "
            f"state from 0 to {states - 1}: use -1 for missing"
        )
    # Index -1 (missing) takes the last entry of the table.
    table = np.array([*(1 << n for n in range(number)), (1 << number) - 1], width_of(number))
    return table[array]
