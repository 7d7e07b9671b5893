"""Read the character matrix of a NEXUS file.

Format: Maddison, Swofford and Maddison, Systematic Biology 46:590 (1997).
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.alphabets import GAP, MISSING, NUCLEOTIDE_CODES, members
from genobit.engine.options import require_fits
from genobit.io.alignment_files._layouts import Misfit, by_name, in_sequence
from genobit.io.alignment_files._nexus_commands import BLOCKS, commands, without_comments
from genobit.io.alignment_files._rows import (
    Rows,
    decoded,
    lengths,
    line_of,
    line_of_symbol,
    lines,
    view,
)
from genobit.io.kernels import symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from genobit.io.alignment_files._nexus_commands import Command

_DIMENSION = re.compile(r"\b(ntax|nchar)\s*=\s*(\d+)\b", re.IGNORECASE)
_SETTING = re.compile(r"([A-Za-z]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|\([^)]*\)|\S+))?")
_EQUATE = re.compile(r"(\S)\s*=\s*(\{[^}]*\}|\([^)]*\)|\S)")
_RANGE = re.compile(r"(\S)\s*~\s*(\S)")
_NAME = re.compile(rb"'(?:[^']|'')*'|[^\s']\S*")
_NAMED = re.compile(rb"[ \t]*('(?:[^'\n]|'')*'|[^\s']\S*(?=[ \t]))[ \t]*(?=\S)")
_NOTHING = re.compile(rb"(?!)")
_GROUP = re.compile(rb"'[^']*'|\{[^{}();]*\}|\([^{}();]*\)|[{}()]")
_MOST_DIGITS = 18
_COLUMN_COST = 64
"""Bytes of memory for each symbol of a transposed matrix."""
_KINDS = {
    "DNA": "dna",
    "RNA": "dna",
    "NUCLEOTIDE": "dna",
    "NUCLEOTIDES": "dna",
    "PROTEIN": "protein",
    "STANDARD": "standard",
    "RESTRICTION": "standard",
}
_ASCII = range(ord(" ") + 1, 127)
_SYMBOLIC = {"SYMBOLS", "EQUATE", "MISSING", "GAP", "MATCHCHAR"}
_UNREAD = {
    "TOKENS": "write states as single symbols",
    "LABELS=RIGHT": "write the names of taxa before the symbols",
}


class _Format(NamedTuple):
    """Settings of a FORMAT command."""

    kind: str
    states: list[str] | None
    equate: dict[str, str]
    missing: str
    gap: str
    match: str
    interleave: bool
    labels: bool
    transpose: bool


def read_nexus(data: bytes) -> Rows:
    """Read the single character matrix of a NEXUS file.

    Raises ValueError for no matrix or several, for unsupported FORMAT options, and for rows that do
    not have the dimensions of the file (with the line).
    """
    found = [command for command in commands(data) if command.block in BLOCKS]
    matrices = [command for command in found if command.word == "MATRIX"]
    if not matrices:
        raise ValueError("there is no MATRIX in a DATA or CHARACTERS block")
    if len(matrices) > 1:
        raise ValueError(f"there are {len(matrices)} matrices of characters: keep one in the file")
    matrix = matrices[0]
    own = {c.word: _text(data, c) for c in found if c.block == matrix.block}
    taxa = {c.word: _text(data, c) for c in found if c.block == "TAXA"}
    if len(taxa) < sum(c.block == "TAXA" for c in found):
        # Of several blocks of taxa, it is not clear which one the matrix has.
        taxa = {}
    form = _parse_format(own.get("FORMAT", ""))
    declared = _dimensions(taxa.get("DIMENSIONS", "")) | _dimensions(own.get("DIMENSIONS", ""))
    text, entries = _with_codes(data, matrix, form)
    rows = _rows(text, matrix, form, declared, own.get("TAXLABELS", taxa.get("TAXLABELS", "")))
    codes = "".join(map(chr, entries.keys() - _ASCII))
    for k, name in enumerate(rows.taxa):
        if set(codes).intersection(name):
            msg = f"the name of taxon {k} in the MATRIX has brackets: write it in quotation marks"
            raise ValueError(msg)
    _require_dimensions(rows, declared)
    return rows._replace(entries=entries, match=form.match, kind=form.kind, states=form.states)


def _text(data: bytes, command: Command) -> str:
    if command.word == "MATRIX":
        return ""
    return decoded([without_comments(data[command.start : command.stop])])[0]


def _with_codes(data: bytes, matrix: Command, form: _Format) -> tuple[bytes, dict[int, str]]:
    """Return the text with one byte for each group of symbols, and the entries of all bytes."""
    entries = {byte: _entry(chr(byte).upper(), form) for byte in _ASCII}
    if symbols.first_of(view(data), matrix.start, matrix.stop, view(b"[{(}")) < 0:
        return data, entries
    body = without_comments(data[matrix.start : matrix.stop])
    used = np.flatnonzero(np.bincount(view(body), minlength=256)).tolist()
    free = sorted({*range(127, 256)} - {*used})
    codes: dict[str, int] = {}

    def coded(found: re.Match[bytes]) -> bytes:
        group = found[0]
        if group[:1] == b"'":
            return group
        if len(group) == 1:
            line = line_of(data, matrix.start + found.start())
            raise ValueError(f"line {line}: {group.decode()!r} is not closed")
        entry = _entry("".join(members("".join(group.decode("latin-1").split()))).upper(), form)
        if entry not in codes:
            if not free:
                msg = f"there are more than {len(codes)} different groups of states: recode some"
                raise ValueError(msg)
            codes[entry] = free.pop()
        # Line ends within the group are kept, so that messages give the right line.
        return bytes([codes[entry]]) + re.sub(rb"[^\n]", b" ", group[1:])

    body = _GROUP.sub(coded, body)
    whole = b"".join([data[: matrix.start], body, data[matrix.stop :]])
    return whole, entries | {code: entry for entry, code in codes.items()}


def _rows(
    data: bytes, matrix: Command, form: _Format, declared: Mapping[str, int], labels: str
) -> Rows:
    """Return names and places of the rows of the matrix."""
    _, _, start, stop = matrix
    number, length = declared.get("NTAX"), declared.get("NCHAR")
    if form.transpose:
        return _transposed(data, matrix, form, length, _names(labels))
    if not form.labels:
        return _unnamed(data, matrix, form, length, _names(labels))
    if form.interleave or length is None:
        rows = _one_spelling(
            by_name(data, lines(data, start, stop), _NAMED, _NOTHING, blocks=False)
        )
    else:
        rows = _sequential(data, start, stop, number, length)
    return rows._replace(taxa=[_unquoted(name) for name in rows.taxa])


def _one_spelling(rows: Rows) -> Rows:
    """Join the rows of names that differ in quotation marks, and in blanks for underscores."""
    first: dict[str, int] = {}
    names = [_unquoted(name).replace("_", " ") for name in rows.taxa]
    numbers = np.array([first.setdefault(name, len(first)) for name in names], np.int64)
    taxa = [rows.taxa[k] for k in np.unique(numbers, return_index=True)[1]]
    spans = rows.spans.copy()
    spans[:, 0] = numbers[spans[:, 0]]
    return rows._replace(taxa=taxa, spans=spans)


def _sequential(data: bytes, start: int, stop: int, number: int | None, length: int) -> Rows:
    """Return rows of any number of lines, or of a line each if these are as many as taxa."""
    rows = None
    table = lines(data, start, stop)
    if len(table) == number:
        with suppress(ValueError):
            rows = by_name(data, table, _NAMED, _NOTHING, blocks=False)
            rows = rows._replace(counted=lengths(rows))
    if rows is not None and set(lengths(rows).tolist()) == {length}:
        return rows
    try:
        return in_sequence(data, start, stop, length, _name_at, whole_lines=False)
    except Misfit as misfit:
        if rows is not None:
            # A wrong number of symbols in one of the lines is the likelier fault.
            return rows
        msg = f"DIMENSIONS says NCHAR={length}, and {misfit}: correct one of them, or add "
        raise ValueError(f"{msg}INTERLEAVE to FORMAT if the rows are in blocks") from misfit


def _name_at(data: bytes, at: int, stop: int) -> tuple[bytes, int]:
    found = _NAME.match(data, at, stop)
    if found is None:
        raise ValueError(f"line {line_of(data, at)}: a quotation mark is not closed")
    return found[0], found.end()


def _unquoted(name: str) -> str:
    return name[1:-1].replace("''", "'") if name[:1] == "'" else name


def _names(labels: str) -> list[str]:
    found = _NAME.findall(labels.encode())
    return [_unquoted(name.decode()) for name in found]


def _require_taxa(taxa: list[str], word: str) -> None:
    if not taxa:
        msg = f"the FORMAT command has {word}, and TAXLABELS does not name the taxa: add them"
        raise ValueError(msg)


def _unnamed(
    data: bytes, matrix: Command, form: _Format, length: int | None, taxa: list[str]
) -> Rows:
    """Return rows of a matrix without names, which TAXLABELS gives."""
    _require_taxa(taxa, "NOLABELS")
    _, _, start, stop = matrix
    if form.interleave or length is None:
        table = lines(data, start, stop)
        return Rows(data, taxa, np.column_stack([np.arange(len(table)) % len(taxa), table]))
    try:
        spans = in_sequence(data, start, stop, length, lambda *at: (b"", at[1]), whole_lines=False)
    except Misfit as misfit:
        raise ValueError(f"DIMENSIONS says NCHAR={length}, and {misfit}: correct one") from misfit
    if len(spans.taxa) != len(taxa):
        msg = f"TAXLABELS has {len(taxa)} taxa, and the MATRIX has {len(spans.taxa)} rows: correct"
        raise ValueError(f"{msg} one of them")
    return spans._replace(taxa=taxa)


def _transposed(
    data: bytes, matrix: Command, form: _Format, number: int | None, taxa: list[str]
) -> Rows:
    """Return rows of taxa from a matrix whose rows are characters and whose columns are taxa."""
    _require_taxa(taxa, "TRANSPOSE")
    _, _, start, stop = matrix
    if form.interleave and form.labels:
        rows = by_name(data, lines(data, start, stop), _NAMED, _NOTHING, blocks=False)
    elif form.interleave:
        table = lines(data, start, stop)
        if number is not None and number > len(table):
            lacks = f"and the MATRIX has {len(table):,} lines: correct one"
            raise ValueError(f"DIMENSIONS says NCHAR={number:,}, {lacks}")
        names = [""] * (number or len(table))
        rows = Rows(data, names, np.column_stack([np.arange(len(table)) % len(names), table]))
    else:
        name_at = _name_at if form.labels else lambda *at: (b"", at[1])
        nouns = "character", "symbols"
        try:
            rows = in_sequence(
                data, start, stop, len(taxa), name_at, whole_lines=False, nouns=nouns
            )
        except Misfit as misfit:
            msg = f"TAXLABELS has {len(taxa)} taxa, and {misfit}: correct one of them"
            raise ValueError(msg) from misfit
    for k, found in enumerate(lengths(rows).tolist()):
        if found != len(taxa):
            raise ValueError(
                f"{line_of_symbol(rows, k, 0)}TAXLABELS has {len(taxa)} taxa, and character {k} "
                f"({rows.taxa[k]!r}) of the MATRIX has {found} symbols: correct one of them"
            )
    return Rows(data, taxa, _columns(rows, len(taxa)))


def _columns(rows: Rows, n: int) -> NDArray[np.int64]:
    """Return a span for each symbol of rows with ``n`` symbols, column by column."""
    require_fits("the MATRIX with TRANSPOSE", len(rows.taxa) * n, _COLUMN_COST)
    octets = view(rows.data)
    in_order = rows.spans[np.argsort(rows.spans[:, 0], kind="stable"), 1:].tolist()
    places = [start + np.flatnonzero(octets[start:stop] > ord(" ")) for start, stop in in_order]
    at = np.concatenate([np.zeros(0, np.int64), *places]).reshape(-1, n).T.ravel()
    return np.column_stack([np.repeat(np.arange(n), at.size // n), at, at + 1])


def _dimensions(text: str) -> dict[str, int]:
    found = _DIMENSION.findall(text)
    for name, number in found:
        if len(number) > _MOST_DIGITS:
            raise ValueError(f"DIMENSIONS has {name.upper()} of {len(number)} digits: correct it")
    return {name.upper(): int(number) for name, number in found}


def _require_dimensions(rows: Rows, declared: Mapping[str, int]) -> None:
    taxa = rows.taxa
    number = declared.get("NTAX", len(taxa))
    found = lengths(rows).tolist()
    for k, length in enumerate(found):
        if length != declared.get("NCHAR", length):
            raise ValueError(
                f"{line_of_symbol(rows, k, 0)}DIMENSIONS says NCHAR={declared['NCHAR']}, and taxon "
                f"{k} ({taxa[k]!r}) of the MATRIX has {length} characters: correct one of them"
            )
    if number != len(taxa):
        some = ", ".join(map(repr, taxa[:3])) + (", .." if len(taxa) > 3 else "")
        raise ValueError(
            f"DIMENSIONS says NTAX={number}, and the MATRIX has {len(taxa)} taxa ({some}): correct "
            "one of them, or complete the file"
        )


def _parse_format(settings: str) -> _Format:
    """Return the settings of a FORMAT command; an option with "=no" is off."""
    given = {key.upper(): value.strip("\"'") for key, value in _SETTING.findall(settings)}
    off = {key for key, value in given.items() if value.upper() in {"NO", "N", "OFF", "FALSE"}}
    off -= _SYMBOLIC
    labels = not ("NOLABELS" in {*given} - off or "LABELS" in off)
    given = {key: value for key, value in given.items() if key not in off}
    datatype = given.get("DATATYPE", "STANDARD").upper()
    kind = _KINDS.get(datatype)
    if kind is None:
        msg = f"DATATYPE={datatype} is not supported: keep characters of {', '.join(_KINDS)} only"
        raise ValueError(msg)
    if given.get("LABELS", "").upper() == "RIGHT":
        given["LABELS=RIGHT"] = ""
    if given.get("ITEMS", "STATES").strip("()").upper() != "STATES":
        given["TOKENS"] = ""
    for option, remedy in _UNREAD.items():
        if option in given:
            raise ValueError(f"the FORMAT command has {option}, which is not supported: {remedy}")
    case = [key for key, value in given.items() if key in _SYMBOLIC and value != value.upper()]
    if "RESPECTCASE" in given and kind == "standard" and case:
        raise ValueError(
            f"the FORMAT command has RESPECTCASE and letters in lower case in {case[0]}, which is "
            "not supported: use other symbols for them"
        )
    symbols = _RANGE.sub(_expand, given.get("SYMBOLS", "")).upper()
    states = list(dict.fromkeys("".join(symbols.split()))) if kind == "standard" else None
    equate = {
        key.upper(): "".join(members(value)).upper()
        for key, value in _EQUATE.findall(given.get("EQUATE", ""))
    }
    missing = given.get("MISSING", MISSING).upper()
    gap = given.get("GAP", GAP if missing != GAP else "").upper()
    # Without MATCHCHAR, a dot repeats the first taxon unless it has another meaning.
    other = {missing, gap, *(states or ()), *equate}
    match = given.get("MATCHCHAR", "" if "." in other else ".").upper()
    for name, symbol in (("MISSING", missing), ("GAP", gap), ("MATCHCHAR", match)):
        if symbol and (len(symbol) > 1 or ord(symbol) not in _ASCII):
            raise ValueError(f"{name}={symbol} of FORMAT is not one symbol of ASCII: correct it")
    if missing == gap or match in {missing, gap} - {""}:
        msg = f"MISSING={missing}, GAP={gap} and MATCHCHAR={match} of FORMAT are not different"
        raise ValueError(f"{msg}: correct one of them")
    shape = "INTERLEAVE" in given, labels, "TRANSPOSE" in given
    return _Format(kind, states or None, equate, missing, gap, match, *shape)


def _expand(ends: re.Match[str]) -> str:
    return "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1)))


def _entry(written: Iterable[str], form: _Format) -> str:
    """Return the alignment entry of the symbols written."""
    standing = "".join(form.equate.get(symbol, symbol) for symbol in written)
    special = {form.missing: MISSING, form.gap: GAP}
    symbols = list(dict.fromkeys(special.get(s, s) for s in standing.replace(",", "")))
    if len(symbols) == 1:
        return symbols[0]
    if form.kind == "dna":
        bases = set(symbols)
        for code, of in NUCLEOTIDE_CODES.items():
            if bases == set(of):
                return code
    # One set of states has one entry, whatever their order in the file.
    symbols.sort(key=lambda symbol: (symbol in {MISSING, GAP}, symbol))
    return "{" + "".join(symbols) + "}" if symbols else "".join(written) or "{}"
