"""Rows of an alignment as places in the bytes of a file, and their symbols as one byte each.

Every format only finds names and spans of bytes. Lengths, symbols and faults are handled here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.alphabets import GAP, MISSING, members, place
from genobit.data.guards.bounded import read_bytes
from genobit.io.kernels import symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1b]")
"""Control characters other than tabs and line ends."""
FOREIGN_GAPS = {".": MISSING, "~": MISSING, "_": GAP}
"""Symbols of mothur, SILVA and GCG; the ends of sequences are missing."""
_FOREIGN = {ord(symbol): entry for symbol, entry in FOREIGN_GAPS.items()}
_UNTEXT = re.compile(rb"[\x00-\x08\x0e-\x1b\x7f-\xff]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_START = 2**16
"""Bytes at the start of a file that tell text from other files."""


class Rows(NamedTuple):
    """Names of taxa and where their symbols are, with kind and states if the file gives them."""

    data: bytes
    taxa: list[str]
    spans: NDArray[np.int64]
    """Taxon, start and stop of each span of symbols, (spans, 3)."""
    entries: Mapping[int, str] = _FOREIGN
    """Entry of each byte that stands for more than its upper case."""
    match: str = ""
    """Symbol that repeats the symbol of the first taxon; "" for a format without it."""
    kind: str | None = None
    states: list[str] | None = None
    counted: NDArray[np.int64] | None = None
    """Number of symbols of each taxon, if known."""


class Symbols(NamedTuple):
    """Symbols of an alignment, one byte each."""

    codes: NDArray[np.uint8]
    """(taxa, sites)."""
    entries: NDArray[np.str_]
    """Entry of each code, (256,)."""
    used: NDArray[np.uint8]
    """Codes that occur."""
    counts: dict[str, int]
    """Number of each symbol in upper case; each member of a polymorphic entry counts."""


def read_plain(source: Path, cost: int) -> bytes:
    """Return a text file, plain or gzipped, with line ends as in Unix.

    ``cost`` is the memory in bytes that the reader takes for each byte. Raises ValueError if it
    is empty or not text.
    """
    data = read_bytes(source, cost)
    if CONTROL.search(data[:_START]):
        raise ValueError(f"{source} is not a text file")
    if not data[:_START].removeprefix(_BYTE_ORDER_MARK).strip() and not data.strip():
        raise ValueError(f"{source} is empty")
    data = data.removeprefix(_BYTE_ORDER_MARK)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def decoded(names: Sequence[bytes]) -> list[str]:
    """Return all names as text in one encoding: UTF-8, or else Latin-1."""
    try:
        return [name.decode("utf-8") for name in names]
    except UnicodeDecodeError:
        return [name.decode("latin-1") for name in names]


def line_of(data: bytes, at: int) -> int:
    """Return the number of the line of a place, from 1."""
    return data.count(b"\n", 0, at) + 1


def line_at(data: bytes, at: int) -> str:
    """Return the start of the line at a place, for messages."""
    end = data.find(b"\n", at)
    line = data[at : len(data) if end < 0 else end][:200]
    return decoded([line])[0][:40]


def view(data: bytes) -> NDArray[np.uint8]:
    """Return the bytes as an array."""
    return np.frombuffer(data, np.uint8)


def lines(data: bytes, start: int, stop: int) -> NDArray[np.int64]:
    """Return start and stop of each line that is not blank, (lines, 2)."""
    found = np.empty((0, 2), np.int64)
    # A first search counts the lines, in a tenth of the time of data.count().
    while (number := symbols.find_lines(view(data), start, stop, found)) > len(found):
        found = np.empty((number, 2), np.int64)
    return found


def lengths(rows: Rows) -> NDArray[np.int64]:
    """Return the number of symbols of each taxon, (taxa,)."""
    if rows.counted is not None:
        return rows.counted
    found = np.zeros(len(rows.taxa), np.int64)
    symbols.lengths(view(rows.data), rows.spans, found)
    return found


def read_symbols(rows: Rows) -> Symbols:
    """Return the symbols of all taxa, one byte each.

    Raises ValueError for rows of unequal length and for bytes that cannot be symbols.
    """
    found = lengths(rows).tolist()
    if len(set(found)) > 1:
        # A letter of several bytes is the likelier fault.
        _require_text(rows)
    sites = require_same_length(rows.taxa, found, lambda taxon: line_of_symbol(rows, taxon, 0))
    codes, counts = np.empty((len(rows.taxa), sites), np.uint8), np.zeros(256, np.int64)
    symbols.copy(view(rows.data), rows.spans, codes, counts)
    odd = np.flatnonzero(counts)
    if _UNTEXT.search(bytes(set(odd.tolist()) - {*rows.entries})):
        _require_text(rows)
    if rows.match and counts[ord(rows.match)]:
        _repeat_first(rows, codes)
        counts = np.sum([np.bincount(row, minlength=256) for row in codes], axis=0)
    elif rows.entries is _FOREIGN and counts[ord(".")]:
        require_gaps(rows.taxa, lambda taxon: _first_site(codes[taxon], "."))
    entries = [rows.entries.get(byte, chr(byte).upper()) for byte in range(256)]
    # Of Latin-1, three letters have an upper case elsewhere; no byte past ASCII is left.
    of_symbol: dict[str, int] = {}
    used = (np.flatnonzero(counts[ord(" ") + 1 :]) + ord(" ") + 1).astype(np.uint8)
    for byte in used.tolist():
        for symbol in members(entries[byte]) or (entries[byte],):
            of_symbol[symbol] = of_symbol.get(symbol, 0) + int(counts[byte])
    widest = max(len(entries[byte]) for byte in [*range(127), *rows.entries])
    return Symbols(codes, np.array(entries, f"U{widest}"), used, of_symbol)


def _first_site(codes: NDArray[np.uint8], symbol: str) -> int:
    """Return the first site of a row with a symbol, or -1."""
    return codes.tobytes().find(symbol.encode())


def with_line(rows: Rows, taxon: int, site: int, reason: object) -> ValueError:
    """Return an error that names the line of a symbol, too."""
    return ValueError(f"{line_of_symbol(rows, taxon, site)}{reason}")


def line_of_symbol(rows: Rows, taxon: int, site: int) -> str:
    """Return the line of a symbol, for messages."""
    octets = view(rows.data)
    for start, stop in rows.spans[rows.spans[:, 0] == taxon, 1:].tolist():
        places = np.flatnonzero(octets[start:stop] > ord(" "))
        if site < places.size or not site:
            at = start + int(places[site]) if places.size else start
            return f"line {line_of(rows.data, at)}: "
        site -= places.size
    return ""


def _require_text(rows: Rows) -> None:
    """Raise ValueError for the first byte of the symbols that is not ASCII text."""
    before = [0] * len(rows.taxa)
    for taxon, start, stop in rows.spans.tolist():
        part = rows.data[start:stop]
        for found in _UNTEXT.finditer(part):
            if found[0][0] not in rows.entries:
                site = before[taxon] + len(b"".join(part[: found.start()].split()))
                letter = part[found.start() : found.start() + 4].decode("utf-8", "ignore")[:1]
                raise ValueError(
                    f"line {line_of(rows.data, start + found.start())}: "
                    f"{place(taxon, site, rows.taxa)}: {letter or found[0].decode('latin-1')!r} is "
                    "not a symbol: write a letter, a digit or a mark of ASCII"
                )
        before[taxon] += len(b"".join(part.split()))


def _repeat_first(rows: Rows, codes: NDArray[np.uint8]) -> None:
    """Replace the symbol that repeats the first taxon by the symbol of the first taxon."""
    upper, lower = ord(rows.match), ord(rows.match.lower())
    if (site := _first_site(codes[0], rows.match)) >= 0:
        msg = (
            f"{place(0, site, rows.taxa)}: {rows.match!r} repeats the symbol of the first taxon, "
            "and this is the first taxon: write the symbol"
        )
        raise with_line(rows, 0, site, msg)
    for row in codes[1:]:
        same = (row == upper) | (row == lower)
        row[same] = codes[0][same]


def require_gaps(taxa: Sequence[str], first_dot: Callable[[int], int]) -> None:
    """Raise ValueError if ``.`` may be the symbol of the first taxon, which then has no ``.``.

    ``first_dot`` returns the first site with ``.`` of a taxon, or -1.
    """
    if first_dot(0) >= 0:
        return
    for taxon in range(1, len(taxa)):
        if (site := first_dot(taxon)) >= 0:
            raise ValueError(
                f"{place(taxon, site, taxa)}: '.' may be a gap or the symbol of the first taxon: "
                "write '-', or that symbol"
            )


def require_same_length(
    taxa: Sequence[str], found: Sequence[int], line: Callable[[int], str] = lambda _: ""
) -> int:
    """Return the number of sites; raises ValueError if taxa differ in it or have no name."""
    if not taxa:
        raise ValueError("there are no taxa")
    for number, (name, length) in enumerate(zip(taxa, found, strict=True)):
        if not name:
            raise ValueError(f"{line(number)}taxon {number} has no name")
        if length != found[0]:
            raise ValueError(
                f"{line(number)}taxon {number} ({name!r}) has {length} sites, the first "
                f"({taxa[0]!r}) has {found[0]}: align the sequences, or correct the file"
            )
    if found[0] == 0:
        raise ValueError("there are no sites")
    return found[0]
