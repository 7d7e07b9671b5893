"""Find names and symbols in FASTA, PHYLIP, CLUSTAL and Stockholm files."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from genobit.data.alphabets import GAP, MISSING
from genobit.data.checks import first_true
from genobit.io.alignment_files._rows import (
    Rows,
    decoded,
    lengths,
    line_at,
    line_of,
    lines,
    view,
)
from genobit.io.kernels import symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    NameAt = Callable[[bytes, int, int], tuple[bytes, int]]

_PHYLIP_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*([A-Za-z]*)[ \t]*(?:\n|$)")
_CLUSTAL_HEADER = re.compile(rb"(?:CLUSTAL|MUSCLE|PROBCONS|MSAPROBS|Kalign|Biopython)\b[^\n]*")
_STOCKHOLM_HEADER = re.compile(rb"#[ \t]*STOCKHOLM\b[^\n]*")
_NAME = re.compile(rb"([^\s#]\S*)[ \t]+(?=\S)")
_WORD = re.compile(rb"\S+")
_COUNT = re.compile(rb"\s\d+\s*$")
_CONSENSUS = re.compile(rb"[ \t][ \t*:.+\d]*")
_END = re.compile(rb"^//[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(rb"#[^\n]*")
#: Symbols of gaps of Stockholm, where ``.`` never repeats the first taxon.
_STOCKHOLM_GAPS = {ord("."): GAP, ord("_"): GAP, ord("~"): MISSING}
#: Characters of a name in strict PHYLIP.
_NAME_WIDTH = 10


class Misfit(Exception):  # noqa: N818 - tells the next layout to be tried
    """The text does not fit a layout."""


def format_of(data: bytes) -> str | None:
    """Return the format that the first line identifies, or None."""
    start = data[: 2**16].lstrip()
    if start[:6].upper() == b"#NEXUS":
        return "nexus"
    if start.startswith(b">"):
        return "fasta"
    headers = {"phylip": _PHYLIP_HEADER, "clustal": _CLUSTAL_HEADER, "stockholm": _STOCKHOLM_HEADER}
    return next((name for name, header in headers.items() if header.match(start)), None)


def read_fasta(data: bytes) -> Rows:
    """Read FASTA; the whole line after ``>`` is the name.

    Raises ValueError for text before the first name.
    """
    first = _content(data)
    if data[first : first + 1] != b">" or (first and data[first - 1 : first] != b"\n"):
        raise _unexpected(data, first, "'>' and a name")
    names: list[bytes] = []
    spans: list[tuple[int, int, int]] = []
    while first >= 0:
        after = _next_mark(data, first)
        stop = len(data) if after < 0 else after
        end = data.find(b"\n", first, stop)
        end = stop if end < 0 else end
        names.append(data[first + 1 : end].strip())
        spans.append((len(spans), end, stop))
        first = after if after < 0 else after + 1
    return Rows(data, decoded(names), as_spans(spans))


def _next_mark(data: bytes, first: int) -> int:
    """Return the end of the line before the next ``>`` that starts a line, or -1."""
    # Searching one byte is five times faster than searching two.
    mark = data.find(b">", first + 1)
    while mark > 0 and data[mark - 1] != ord("\n"):
        mark = data.find(b">", mark + 1)
    return mark - 1 if mark > 0 else -1


def read_phylip(data: bytes, order: str | None = None) -> Rows:
    """Read PHYLIP, sequential or interleaved, with relaxed or ten-character names.

    ``order`` is "sequential" or "interleaved"; by default, whatever fits the counts of the header.
    Raises ValueError if no layout fits, and if two fit and differ.
    """
    first = _content(data)
    header = _PHYLIP_HEADER.match(data, data.rfind(b"\n", 0, first) + 1)
    if header is None:
        raise _unexpected(data, first, "two numbers: taxa and sites")
    number, length = int(header[1]), int(header[2])
    given = {b"I": "interleaved", b"S": "sequential"}.get(header[3].upper())
    table = lines(data, header.end(), len(data))
    reasons, fits = [], {}
    for names, name_at in (("names end at a blank", _relaxed), ("names of 10 characters", _strict)):
        for layout, read in (("interleaved", _interleaved), ("sequential", _sequential)):
            if layout != (order or given or layout):
                continue
            if ("interleaved", names) in fits and len(table) == number:
                # Taxa of a line each are the same in both layouts.
                continue
            try:
                fits[layout, names] = read(data, table, number, length, name_at)
            except Misfit as misfit:
                reasons.append(f"{layout}, {names}: {misfit}")
    if not fits:
        raise ValueError(
            f"the header says {number} taxa and {length} sites, which the rows do not "
            "have in any layout of PHYLIP ("
            + "; ".join(dict.fromkeys(reasons))
            + "): correct the header or the rows"
        )
    (kept, rows), *others = fits.items()
    for also, other in others:
        if rows.taxa != other.taxa or not _same_symbols(rows, other, length):
            raise ValueError(_two_layouts(kept, also, rows, other))
    return rows


def _two_layouts(a: tuple[str, str], b: tuple[str, str], rows: Rows, other: Rows) -> str:
    remedy = "write it as FASTA, or names of another length"
    if a[0] != b[0]:
        remedy = "say which by format='phylip-interleaved' or format='phylip-sequential'"
    last = len(rows.taxa) - 1
    return (
        f"the rows fit two layouts of PHYLIP, {' with '.join(a)} (taxon {last} is "
        f"{rows.taxa[last]!r}) and {' with '.join(b)} (taxon {last} is {other.taxa[last]!r}): "
        f"{remedy}"
    )


def _same_symbols(rows: Rows, other: Rows, length: int) -> bool:
    """Return whether two layouts with ``length`` symbols a taxon give the same symbols."""
    if rows.spans.shape == other.spans.shape and (rows.spans[:, 2] == other.spans[:, 2]).all():
        # Spans that end at the same places, and have as many symbols, hold the same ones.
        return True
    found = np.empty((2, len(rows.taxa), length), np.uint8)
    for k, layout in enumerate((rows, other)):
        symbols.copy(view(rows.data), layout.spans, found[k], np.zeros(256, np.int64))
    return bool((found[0] == found[1]).all())


def _relaxed(data: bytes, start: int, stop: int) -> tuple[bytes, int]:
    """Return the name at the start of a line, up to a blank, and where it ends."""
    found = cast("re.Match[bytes]", _WORD.search(data, start, stop))
    return found[0], found.end()


def _strict(data: bytes, start: int, stop: int) -> tuple[bytes, int]:
    """Return the name of ten characters at the start of a line, and where it ends."""
    head = data[start : min(stop, start + _NAME_WIDTH)]
    if not head.isascii():
        # The letters of a name are characters, which can take several bytes.
        with suppress(UnicodeDecodeError):
            head = data[start:stop].decode("utf-8")[:_NAME_WIDTH].encode()
    return head.strip(), start + len(head)


def _interleaved(
    data: bytes, table: NDArray[np.int64], number: int, length: int, name_at: NameAt
) -> Rows:
    if len(table) < number or not number or len(table) % number:
        raise Misfit(f"{len(table)} rows are not a multiple of the number of taxa")
    found = [name_at(data, start, stop) for start, stop in table[:number].tolist()]
    spans = np.column_stack([np.arange(len(table)) % number, table])
    spans[:number, 1] = [end for _, end in found]
    # Some programs repeat the names in every block.
    if len(table) > number and name_at(data, *table[number].tolist())[0] == found[0][0]:
        for k in range(number, len(table)):
            name, end = name_at(data, *table[k].tolist())
            if name == found[k % number][0]:
                spans[k, 1] = end
    rows = Rows(data, decoded([name for name, _ in found]), spans)
    counted = lengths(rows)
    if (k := first_true(counted != length)) >= 0:
        raise Misfit(f"taxon {k} ({rows.taxa[k]!r}) has {counted[k]} sites")
    return rows._replace(counted=counted)


def _sequential(
    data: bytes, table: NDArray[np.int64], number: int, length: int, name_at: NameAt
) -> Rows:
    rows = in_sequence(data, 0 if not len(table) else int(table[0, 0]), len(data), length,
                       partial(_named_line, name_at=name_at), whole_lines=True)  # fmt: skip
    if len(rows.taxa) != number:
        raise Misfit(f"{len(rows.taxa)} taxa")
    return rows


def _named_line(data: bytes, at: int, stop: int, *, name_at: NameAt) -> tuple[bytes, int]:
    end = data.find(b"\n", at, stop)
    return name_at(data, data.rfind(b"\n", 0, at) + 1, stop if end < 0 else end)


def in_sequence(
    data: bytes,
    at: int,
    stop: int,
    length: int,
    name_at: NameAt,
    *,
    whole_lines: bool,
    nouns: tuple[str, str] = ("taxon", "sites"),
) -> Rows:
    """Read taxa one after another: a name and ``length`` symbols, on any number of lines.

    ``nouns`` are what messages call a row and its symbols. Raises Misfit if a taxon has too few
    symbols, or ends within a line (of ``whole_lines``) or within a word.
    """
    names: list[bytes] = []
    spans: list[tuple[int, int, int]] = []
    while (at := _content(data, at, stop)) < stop:
        name, begin = name_at(data, at, stop)
        end = symbols.after(view(data), begin, stop, length)
        if end < 0:
            has = f"{len(b''.join(data[begin:stop].split()))} {nouns[1]}"
            raise _misfit(data, at, f"{nouns[0]} {len(names)}", name, has)
        line = data.find(b"\n", end, stop)
        rest = data[end : (stop if line < 0 else line) if whole_lines else min(end + 1, stop)]
        if rest.strip():
            has = f"more than {length} {nouns[1]}"
            raise _misfit(data, at, f"{nouns[0]} {len(names)}", name, has)
        names.append(name)
        spans.append((len(spans), begin, end))
        at = end
    counted = np.full(len(names), length, np.int64)
    return Rows(data, decoded(names), as_spans(spans), counted=counted)


def _misfit(data: bytes, at: int, row: str, name: bytes, has: str) -> Misfit:
    named = f"{row} ({decoded([name])[0]!r})"
    return Misfit(f"line {line_of(data, at)}: {named} has {has}")


def read_clustal(data: bytes) -> Rows:
    """Read CLUSTAL; lines of consensus, and numbers at line ends, are skipped."""
    at = _content(data)
    header = _CLUSTAL_HEADER.match(data, at)
    if header is None:
        raise _unexpected(data, at, "CLUSTAL")
    table = lines(data, header.end(), len(data))
    return by_name(data, table, _NAME, _CONSENSUS, counted=True)


def read_stockholm(data: bytes) -> Rows:
    """Read the single alignment of a Stockholm file; lines of ``#=`` are skipped."""
    at = _content(data)
    header = _STOCKHOLM_HEADER.match(data, at)
    if header is None:
        raise _unexpected(data, at, "# STOCKHOLM 1.0")
    end = _END.search(data, at)
    stop = end.start() if end else len(data)
    if end and (more := _content(data, end.end())) < len(data):
        msg = f"line {line_of(data, more)} follows the end (//): keep one alignment in the file"
        raise ValueError(msg)
    rows = by_name(data, lines(data, header.end(), stop), _NAME, _MARKUP)
    return rows._replace(entries=_STOCKHOLM_GAPS)


def by_name(
    data: bytes,
    table: NDArray[np.int64],
    name: re.Pattern[bytes],
    skipped: re.Pattern[bytes],
    *,
    counted: bool = False,
    blocks: bool = True,
) -> Rows:
    """Read lines of a name and symbols; further lines of a name continue its taxon.

    table: start and stop of the lines that are not blank. ``name`` matches a name up to the
    symbols. ``skipped`` matches the other lines that may occur. With ``counted``, a number may end
    a line. With ``blocks``, a name occurs once between two blank lines. Raises ValueError for other
    lines and names.
    """
    taxa: dict[bytes, int] = {}
    spans, filled = np.empty((len(table), 3), np.int64), 0
    seen: set[int] = set()
    k, before, in_order = 0, 0, True
    while k < len(table):
        first, end = table[k].tolist()
        if first > before + 1:
            seen.clear()
        found = name.match(data, first, end)
        if found is None:
            if not skipped.fullmatch(data, first, end):
                raise _unexpected(data, first, "a name and symbols")
            seen.clear()
            k += 1
            continue
        expected = filled % len(taxa) if found[1] in taxa else filled
        taxon = taxa.setdefault(found[1], len(taxa))
        if blocks and taxon in seen:
            msg = f"line {line_of(data, first)}: a second row of {decoded([found[1]])[0]!r}"
            raise ValueError(f"{msg} in one block: rename one of the taxa")
        seen.add(taxon)
        spans[filled] = taxon, found.end(), end
        in_order &= taxon == expected
        k, before, filled = k + 1, end, filled + 1
        if in_order and filled > len(taxa):
            # A match of each of a million lines would take seconds.
            more = symbols.repeat_names(view(data), table[k:], spans, filled, len(taxa), blocks)
            k, filled = k + more, filled + more
            before = int(spans[filled - 1, 2])
            seen = {*range(filled % len(taxa) or len(taxa))}
    spans = spans[:filled]
    if counted:
        _leave_counts_out(data, spans)
    return Rows(data, decoded([*taxa]), spans)


def _leave_counts_out(data: bytes, spans: NDArray[np.int64]) -> None:
    """End the spans before a number at the end of their lines."""
    last = view(data)[spans[:, 2] - 1]
    for k in np.flatnonzero((last >= ord("0")) & (last <= ord("9"))).tolist():
        _, start, stop = spans[k].tolist()
        if count := _COUNT.search(data, start, stop):
            spans[k, 2] = count.start()


def as_spans(spans: ArrayLike) -> NDArray[np.int64]:
    """Return spans as an array (spans, 3)."""
    return np.array(spans, np.int64).reshape(-1, 3)


def _content(data: bytes, start: int = 0, stop: int | None = None) -> int:
    """Return the place of the first byte that is not blank, or ``stop``."""
    stop = len(data) if stop is None else stop
    found = re.compile(rb"\S").search(data, start, stop)
    return found.start() if found else stop


def _unexpected(data: bytes, at: int, expected: str) -> ValueError:
    line = line_of(data, at)
    return ValueError(f"line {line} is {line_at(data, at)!r}, expected {expected}")
