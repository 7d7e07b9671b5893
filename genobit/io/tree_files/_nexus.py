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
    from collections.abc import Iterable

_BLOCK = re.compile(r"\bbegin\s+(?:data|characters)\s*;", re.IGNORECASE)
_FORMAT = re.compile(r"\bformat\b((?:\"[^\"]*\"|[^;\"])*);", re.IGNORECASE)
_COMMENT_OR_NAME = re.compile(r"\[[^\]]*\]|'[^']*'")
_MATRIX = re.compile(r"\bmatrix\b", re.IGNORECASE)
_SETTING = re.compile(r"([A-Za-z]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|\S+))?")
_EQUATE = re.compile(r"(\S)\s*=\s*(\{[^}]*\}|\([^)]*\)|\S)")
_RANGE = re.compile(r"(\S)\s*~\s*(\S)")
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
_UNREAD = {
    "TOKENS": "write states as single symbols",
    "TRANSPOSE": "write a row a taxon",
    "NOLABELS": "write the names of taxa in the matrix",
    "RESPECTCASE": "use other symbols for states in lower case",
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
    found = _find_format(text)
    if found is None:
        raise ValueError("there is no MATRIX in a DATA or CHARACTERS block")
    begin, end, settings = found
    form = _parse_format(settings)
    # Keep the number of lines, so that messages give the right line.
    lines = "\n" * text.count("\n", begin, end)
    text = text[:begin] + form.for_dendropy() + lines + " " + text[end:]
    with reading("NEXUS"):
        data = dendropy().DataSet.get(
            data=text, schema=nexus(), preserve_underscores=True, exclude_trees=True
        )
    if len(data.char_matrices) != 1:
        msg = f"there are {len(data.char_matrices)} matrices of characters: keep one in the file"
        raise ValueError(msg)
    matrix = data.char_matrices[0]
    meaning: dict[int, str] = {}
    rows = [[_symbol(state, form, meaning) for state in matrix[taxon]] for taxon in matrix]
    return Rows([taxon.label for taxon in matrix], rows, form.kind, form.states)


def _find_format(text: str) -> tuple[int, int, str] | None:
    """Return start, end and settings of the FORMAT command, or where it would stand, or None."""
    # Replace comments and quoted names by blanks of the same length, which keeps positions.
    plain = _COMMENT_OR_NAME.sub(lambda found: " " * len(found[0]), text)
    block = _BLOCK.search(plain)
    matrix = _MATRIX.search(plain, block.end()) if block else None
    if block is None or matrix is None:
        return None
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
