"""Symbols of alignments and their states: nucleotides, amino acids, morphological states.

Codes are those of IUPAC-IUB (Nucleic Acids Research 13:3021, 1985; European Journal of Biochemistry
138:9, 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.checks import check_one_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

KINDS = ("dna", "protein", "standard")
MISSING, GAP = "?", "-"
NUCLEOTIDES = "ACGT"
NUCLEOTIDE_CODES: Mapping[str, str] = {
    "U": "T",
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
    "N": "ACGT",
    "X": "ACGT",
}
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
AMINO_ACID_CODES: Mapping[str, str] = {"B": "DN", "Z": "EQ", "J": "IL"}
"""Ambiguity codes without X (any amino acid), which depends on whether O and U occur."""
RARE_AMINO_ACIDS = "OU"
"""Pyrrolysine and selenocysteine."""
STOP = "*"

#: An empty entry reads as chr(0). Brackets enclose the members of a polymorphic entry.
_NO_SYMBOL = "\0 {}()"
#: Gaps of other programs (mothur, SILVA, GCG), which readers of files translate.
_FOREIGN_GAPS = ".~_"
_NUCLEOTIDE_SYMBOLS = {*NUCLEOTIDES, *NUCLEOTIDE_CODES}
_TENTH = 10
"""A tenth of the symbols decides the kind; fewer are odd symbols, which raise an error."""


def check_kind(kind: str | None) -> None:
    """Raise ValueError for an unknown kind; None leaves the kind to the symbols."""
    if kind is not None:
        check_one_of("kind", kind, KINDS)


def symbols_of(kind: str, seen: set[str]) -> tuple[str, ...]:
    """Return the states of a kind of characters, in order, given the symbols seen.

    Nucleotides are A, C, G and T. Amino acids are the 20, plus pyrrolysine, selenocysteine and the
    stop if they are seen. The stop is a state of its own, as in NEXUS. For "standard" characters,
    each symbol seen is a state.
    """
    if kind == "dna":
        return tuple(NUCLEOTIDES)
    if kind == "protein":
        return (*AMINO_ACIDS, *(s for s in RARE_AMINO_ACIDS + STOP if s in seen))
    unusable = {MISSING, GAP, *_NO_SYMBOL}
    states = {s for s in seen if not unusable.intersection({s, *s})}.difference(_FOREIGN_GAPS)
    return tuple(sorted(states, key=_rank))


def _rank(symbol: str) -> tuple[int, int, str]:
    """Return a sort key: numbers before other symbols, by value (2 before 10)."""
    return (0, int(symbol), "") if symbol.isdecimal() else (1, 0, symbol)


def codes_of(kind: str, symbols: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Map each symbol of a kind to its possible states; ``?`` and ``-`` are not included."""
    codes: dict[str, tuple[str, ...]] = {symbol: (symbol,) for symbol in symbols}
    if kind == "dna":
        codes.update({code: tuple(states) for code, states in NUCLEOTIDE_CODES.items()})
    elif kind == "protein":
        codes.update({code: tuple(states) for code, states in AMINO_ACID_CODES.items()})
        codes["X"] = tuple(symbol for symbol in symbols if symbol != STOP)
    return codes


def guess_kind(counts: Mapping[str, int]) -> str:
    """Guess the kind of characters from the count of each symbol (upper case).

    Letters include the stop ``*``. "standard" if at least a tenth of the letters and digits are
    digits. "dna" if more than nine tenths of the letters are IUPAC nucleotide codes, and at least
    half are plain bases or N. Otherwise "protein".

    Examples
    --------
    >>> guess_kind({"A": 30, "R": 9, "0": 1}), guess_kind({"A": 30, "R": 9, "0": 9})
    ('dna', 'standard')
    """
    digits = sum(n for symbol, n in counts.items() if symbol.isdecimal())
    letters = {symbol: n for symbol, n in counts.items() if symbol.isalpha() or symbol == STOP}
    number = sum(letters.values())
    if digits and _TENTH * digits >= number + digits:
        return "standard"
    plain = sum(n for symbol, n in letters.items() if symbol in "ACGTUN")
    others = sum(n for symbol, n in letters.items() if symbol not in _NUCLEOTIDE_SYMBOLS)
    odd = others and _TENTH * others >= number
    return "dna" if not odd and 2 * plain >= number else "protein"


def members(entry: str) -> tuple[str, ...]:
    """Return the symbols of an entry.

    A polymorphic entry has several: ``{01}``, ``(01)`` or ``{10,11}``.
    """
    if len(entry) > 1 and entry[0] + entry[-1] in {"{}", "()"}:
        inner = entry[1:-1].replace(" ", "")
        return tuple(inner.split(",")) if "," in inner else tuple(inner)
    return (entry,)


def code_points(values: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Return the first code point of each text, vectorised; same shape as values."""
    text = np.ascontiguousarray(values)
    width = text.dtype.itemsize // 4
    points: NDArray[np.uint32] = text.view(np.uint32).reshape(*text.shape, width)[..., 0]
    return points


def is_wide(values: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return which entries have more than one character; same shape as values."""
    text = np.ascontiguousarray(values)
    width = text.dtype.itemsize // 4
    if width == 1:
        return np.zeros(text.shape, dtype=bool)
    return np.not_equal(text.view(np.uint32).reshape(*text.shape, width)[..., 1], 0)


def known_symbols(kind: str, symbols: Sequence[str]) -> set[str]:
    """Return all valid single entries of a kind, in both cases."""
    known = {MISSING, GAP, *codes_of(kind, symbols)}
    return known | {s.upper() for s in known} | {s.lower() for s in known}


def require_symbols(
    text: NDArray[np.str_],
    kind: str,
    symbols: Sequence[str],
    taxa: Sequence[Any] | None = None,
    corner: tuple[int, int] = (0, 0),
) -> None:
    """Raise ValueError if an alignment (taxa, sites) has entries that are not symbols of its kind.

    ``corner`` is the taxon and site of the first entry within the whole alignment, and ``taxa`` are
    the names of the whole.
    """
    known = known_symbols(kind, symbols)
    wide = is_wide(text)
    points = code_points(text)
    strange = np.zeros(int(points.max()) + 1, dtype=bool)
    for point in np.flatnonzero(np.bincount(points[~wide])):
        strange[point] = chr(point) not in known
    bad = strange[points] & ~wide
    if wide.any():
        entries, inverse = np.unique(text[wide], return_inverse=True)
        unknown = [not members(entry) or bool({*members(entry)} - known) for entry in entries]
        bad[wide] = np.array(unknown)[inverse]
    if bad.any():
        taxon, site = (int(index) for index in np.argwhere(bad)[0])
        at = place(corner[0] + taxon, corner[1] + site, taxa)
        listed = ("" if all(len(s) == 1 for s in symbols) else ", ").join(symbols)
        codes = {"dna": " and the codes of IUPAC", "protein": ", B, Z, J and X"}.get(kind, "")
        entry = str(text[taxon, site])
        remedy = 'name another kind, in kind= of open_alignment or attrs["kind"] of the alignment'
        if entry in _FOREIGN_GAPS:
            remedy = "write '?' or '-' instead"
        elif kind == "standard":
            remedy = (
                'add it to attrs["states"] of the alignment, or to SYMBOLS of NEXUS, or open the '
                "file with kind='standard', which takes every symbol as a state"
            )
        raise ValueError(
            f"{at}: {entry!r} is not a symbol of kind {kind!r}, which has {listed}{codes}, "
            f"'?' for missing and '-' for a gap: correct it, or {remedy}"
        )


def place(taxon: int, site: int, taxa: Sequence[Any] | None) -> str:
    """Return the position of an entry as text, for messages."""
    name = "" if taxa is None else f" ({str(taxa[taxon])!r})"
    return f"taxon {taxon}{name}, site {site}"


def count_symbols(values: NDArray[np.str_]) -> dict[str, int]:
    """Count each symbol in upper case; each member of a polymorphic entry counts."""
    counts: dict[str, int] = {}
    wide = is_wide(values)
    numbers = np.bincount(code_points(values[~wide]))
    for point in np.flatnonzero(numbers):
        symbol = chr(point).upper()
        counts[symbol] = counts.get(symbol, 0) + int(numbers[point])
    for entry, number in zip(*np.unique(values[wide], return_counts=True), strict=True):
        for symbol in members(str(entry).upper()):
            counts[symbol] = counts.get(symbol, 0) + int(number)
    return counts
