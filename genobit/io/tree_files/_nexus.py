"""Read the character matrix of a NEXUS file, tokenised by DendroPy.

Format: Maddison, Swofford and Maddison, Systematic Biology 46:590 (1997). DendroPy 5 does not
support EQUATE or ranges of SYMBOLS, and refuses symbols without naming their place. DendroPy
therefore receives a FORMAT command in which every symbol is a state, and this module interprets the
symbols.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any, NamedTuple

from genobit.data.alphabets import GAP, MISSING, NUCLEOTIDE_CODES, members
from genobit.io.alignment_files._text import Rows
from genobit.io.tree_files._dendropy import dendropy, nexus, reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BLOCK = re.compile(r"\bbegin\s+(?:data|characters)\s*;", re.IGNORECASE)
_FORMAT = re.compile(r"\bformat\b((?:\"[^\"]*\"|[^;\"])*);", re.IGNORECASE)
_COMMENT_OR_NAME = re.compile(r"\[[^\]]*\]|'[^']*'")
_MATRIX = re.compile(r"\bmatrix\b", re.IGNORECASE)
_BEGIN = re.compile(r"\bbegin\s+(\w+)\s*;", re.IGNORECASE)
_DIMENSIONS = re.compile(r"\bdimensions\b([^;]*);", re.IGNORECASE)
_DIMENSION = re.compile(r"\b(ntax|nchar)\s*=\s*(\d+)\b", re.IGNORECASE)
_GROUP = re.compile(r"\{[^}]*\}|\([^)]*\)")
_SETTING = re.compile(r"([A-Za-z]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|\S+))?")
_EQUATE = re.compile(r"(\S)\s*=\s*(\{[^}]*\}|\([^)]*\)|\S)")
_RANGE = re.compile(r"(\S)\s*~\s*(\S)")
_MOST_DIGITS = 18
#: Symbols that a state may have; all others are NEXUS punctuation.
_WRITABLE = string.digits + string.ascii_uppercase + "!#$%&*+/:<>@^_`|~-?.,"
_KINDS = {
    "DNA": "dna",
    "RNA": "dna",
    "NUCLEOTIDE": "dna",
    "NUCLEOTIDES": "dna",
    "PROTEIN": "protein",
    "STANDARD": "standard",
    "RESTRICTION": "standard",
}
_SYMBOLIC = {"SYMBOLS", "EQUATE", "MISSING", "GAP", "MATCHCHAR"}
_UNREAD = {
    "TOKENS": "write states as single symbols",
    "TRANSPOSE": "write a row a taxon",
    "NOLABELS": "write the names of taxa in the matrix",
}


class _Format(NamedTuple):
    """Settings of a FORMAT command."""

    kind: str
    states: list[str] | None
    equate: dict[str, str]
    missing: str
    gap: str | None
    match: str
    interleave: bool

    def for_dendropy(self) -> str:
        """Return a FORMAT command in which every symbol is a state."""
        special = {self.missing, self.gap, self.match}
        symbols = " ".join(s for s in _WRITABLE if s not in special)
        gap = self.gap or next(s for s in "~^`|" if s not in special)
        return (
            f'FORMAT DATATYPE=STANDARD SYMBOLS="{symbols}" MISSING={self.missing} GAP={gap} '
            f"MATCHCHAR={self.match} INTERLEAVE={'YES' if self.interleave else 'NO'};"
        )


def read_nexus(text: str) -> Rows:
    """Read the single character matrix of a NEXUS file.

    Raises ValueError for no matrix or several, for unsupported FORMAT options, and for text that
    DendroPy cannot read (with the line). Raises ImportError without DendroPy.
    """
    # Replace comments and quoted names by text of the same length, which keeps positions.
    plain = _COMMENT_OR_NAME.sub(_blanked, text)
    block = _BLOCK.search(plain)
    matrix = _MATRIX.search(plain, block.end()) if block else None
    if block is None or matrix is None:
        raise ValueError("there is no MATRIX in a DATA or CHARACTERS block")
    begin, end, settings = _find_format(text, plain, block, matrix)
    form = _parse_format(settings)
    declared = _declared(plain, block, matrix)
    # Keep the number of lines, so that messages give the right line.
    lines = "\n" * text.count("\n", begin, end)
    text = text[:begin] + form.for_dendropy() + lines + " " + text[end:]
    try:
        taxa, entries = _matrix(text, form)
        _require_dimensions(taxa, entries, declared)
    except ValueError:
        if not form.interleave:
            _require_lines(plain[matrix.end() : plain.find(";", matrix.end())], declared)
        raise
    return Rows(taxa, entries, form.kind, form.states)


def _matrix(text: str, form: _Format) -> tuple[list[str], list[list[str]]]:
    """Return the taxa and their entries, read by DendroPy."""
    with reading("NEXUS"):
        data = dendropy().DataSet.get(
            data=text, schema=nexus(), preserve_underscores=True, exclude_trees=True
        )
    if len(data.char_matrices) != 1:
        msg = f"there are {len(data.char_matrices)} matrices of characters: keep one in the file"
        raise ValueError(msg)
    characters = data.char_matrices[0]
    meaning: dict[int, str] = {}
    taxa = [taxon.label for taxon in characters]
    entries = [[_symbol(state, form, meaning) for state in characters[name]] for name in characters]
    return taxa, entries


def _blanked(found: re.Match[str]) -> str:
    """Return blanks for a comment, and one word for a quoted name."""
    return ("_" if found[0].startswith("'") else " ") * len(found[0])


def _declared(plain: str, block: re.Match[str], matrix: re.Match[str]) -> dict[str, int]:
    """Return NTAX and NCHAR of the DIMENSIONS of the matrix, as far as they are clear."""
    own = _dimensions(plain[block.end() : matrix.start()])
    if "NTAX" not in own:
        blocks = [*_BEGIN.finditer(plain, 0, block.end())]
        taxa = [begin.end() for begin in blocks if begin[1].upper() == "TAXA"]
        if len(taxa) == 1:
            known = _dimensions(plain[taxa[0] : block.start()])
            own |= {"NTAX": known["NTAX"]} if "NTAX" in known else {}
    return own


def _dimensions(plain: str) -> dict[str, int]:
    command = _DIMENSIONS.search(plain)
    found = _DIMENSION.findall(command[1]) if command else []
    for name, number in found:
        if len(number) > _MOST_DIGITS:
            msg = f"DIMENSIONS has {name.upper()} of {len(number)} digits: correct it"
            raise ValueError(msg)
    return {name.upper(): int(number) for name, number in found}


def _require_lines(rows: str, declared: dict[str, int]) -> None:
    """Raise ValueError if each taxon has a line, and one has another number of sites than NCHAR.

    DendroPy takes NCHAR symbols for each taxon, and goes on in the next line.
    """
    lines = [line.split(maxsplit=1) for line in rows.splitlines() if line.strip()]
    if len(lines) != declared.get("NTAX") or "NCHAR" not in declared:
        return
    for k, (_, *rest) in enumerate(lines):
        symbols = _GROUP.sub("0", "".join(rest))
        length = len("".join(symbols.split()))
        if length != declared["NCHAR"] and not set("{(").intersection(symbols):
            msg = (
                f"DIMENSIONS says NCHAR={declared['NCHAR']}, and the line of taxon {k} in the "
                f"MATRIX has {length} characters: correct one of them"
            )
            raise ValueError(msg)


def _require_dimensions(
    taxa: Sequence[str], entries: Sequence[Sequence[str]], declared: dict[str, int]
) -> None:
    number = declared.get("NTAX", len(taxa))
    if number != len(taxa):
        some = ", ".join(map(repr, taxa[:3])) + (", .." if len(taxa) > 3 else "")
        msg = (
            f"DIMENSIONS says NTAX={number}, and the MATRIX has {len(taxa)} taxa ({some}): correct "
            "one of them, or complete the file"
        )
        raise ValueError(msg)
    for k, row in enumerate(entries):
        if len(row) != declared.get("NCHAR", len(row)):
            msg = (
                f"DIMENSIONS says NCHAR={declared['NCHAR']}, and taxon {k} ({taxa[k]!r}) of the "
                f"MATRIX has {len(row)} characters: correct one of them"
            )
            raise ValueError(msg)


def _find_format(
    text: str, plain: str, block: re.Match[str], matrix: re.Match[str]
) -> tuple[int, int, str]:
    """Return start, end and settings of the FORMAT command, or where it would stand."""
    command = _FORMAT.search(plain, block.end(), matrix.start())
    if command is None:
        return matrix.start(), matrix.start(), ""
    return command.start(), command.end(), text[command.start(1) : command.end(1)]


def _parse_format(settings: str) -> _Format:
    given = {key.upper(): value.strip("\"'") for key, value in _SETTING.findall(settings)}
    for option, remedy in _UNREAD.items():
        if option in given or (option == "NOLABELS" and given.get("LABELS", "").upper() == "NO"):
            raise ValueError(f"the FORMAT command has {option}, which is not supported: {remedy}")
    datatype = given.get("DATATYPE", "STANDARD").upper()
    kind = _KINDS.get(datatype)
    if kind is None:
        msg = f"DATATYPE={datatype} is not supported: keep characters of {', '.join(_KINDS)} only"
        raise ValueError(msg)
    case = [key for key, value in given.items() if key in _SYMBOLIC and value != value.upper()]
    if "RESPECTCASE" in given and kind == "standard" and case:
        msg = (
            f"the FORMAT command has RESPECTCASE and letters in lower case in {case[0]}, which is "
            "not supported: use other symbols for them"
        )
        raise ValueError(msg)
    symbols = _RANGE.sub(_expand, given.get("SYMBOLS", "")).upper()
    states = list(dict.fromkeys("".join(symbols.split()))) if kind == "standard" else None
    return _Format(
        kind,
        states or None,
        {key.upper(): _joined(value) for key, value in _EQUATE.findall(given.get("EQUATE", ""))},
        given.get("MISSING", MISSING).upper(),
        given.get("GAP", GAP if given.get("MISSING") != GAP else "").upper() or None,
        given.get("MATCHCHAR", ".").upper(),
        "INTERLEAVE" in given and not given["INTERLEAVE"].upper().startswith("N"),
    )


def _expand(ends: re.Match[str]) -> str:
    return "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1)))


def _joined(entry: str) -> str:
    return "".join(members(entry)).upper()


def _symbol(state: Any, form: _Format, meaning: dict[int, str]) -> str:
    """Return the alignment entry of a DendroPy state."""
    if id(state) not in meaning:
        written = (
            [state.symbol]
            if state.symbol is not None
            else [member.symbol for member in state.fundamental_states]
        )
        meaning[id(state)] = _entry(written, form)
    return meaning[id(state)]


def _entry(written: Iterable[str], form: _Format) -> str:
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
    return "{" + "".join(symbols) + "}"
