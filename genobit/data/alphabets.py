"""What the symbols of an alignment stand for: nucleotides, amino acids, states of morphology.

May import: numpy. Codes are those of IUPAC-IUB (Nucleic Acids Research 13:3021, 1985; European
Journal of Biochemistry 138:9, 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
"""Without X, any amino acid: which those are depends on whether O and U are there."""
RARE_AMINO_ACIDS = "OU"
"""Pyrrolysine and selenocysteine."""
STOP = "*"

#: An entry that is empty reads as chr(0); brackets hold the members of a polymorphic one.
_NO_SYMBOL = "\0 {}()"
_NUCLEOTIDE_SYMBOLS = {*NUCLEOTIDES, *NUCLEOTIDE_CODES}


def symbols_of(kind: str, seen: set[str]) -> tuple[str, ...]:
    """The states of characters of a kind, in order, where these symbols were seen.

    Nucleotides are A, C, G and T. Amino acids are the 20; pyrrolysine, selenocysteine and the stop,
    which is a state of its own as in NEXUS, only where they are seen. States of other characters
    are all that is seen.
    """
    if kind == "dna":
        return tuple(NUCLEOTIDES)
    if kind == "protein":
        return (*AMINO_ACIDS, *(s for s in RARE_AMINO_ACIDS + STOP if s in seen))
    unusable = {MISSING, GAP, *_NO_SYMBOL}
    return tuple(sorted((s for s in seen if not unusable.intersection({s, *s})), key=_rank))


def _rank(symbol: str) -> tuple[int, int, str]:
    """Numbers before other symbols, and by their value: 2 before 10."""
    return (0, int(symbol), "") if symbol.isdecimal() else (1, 0, symbol)


def codes_of(kind: str, symbols: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Map each symbol of a kind to the states it may be; ``?`` and ``-`` are not among them."""
    codes: dict[str, tuple[str, ...]] = {symbol: (symbol,) for symbol in symbols}
    if kind == "dna":
        codes.update({code: tuple(states) for code, states in NUCLEOTIDE_CODES.items()})
    elif kind == "protein":
        codes.update({code: tuple(states) for code, states in AMINO_ACID_CODES.items()})
        codes["X"] = tuple(symbol for symbol in symbols if symbol != STOP)
    return codes


def guess_kind(counts: Mapping[str, int]) -> str:
    """Guess the kind of characters from how often each symbol (upper case) occurs.

    With a digit, "standard". With IUPAC codes of nucleotides alone, of which at least half are
    plain bases or N, "dna". Anything else "protein".
    """
    known = {s: n for s, n in counts.items() if s not in {MISSING, GAP}}
    if any(symbol.isdecimal() for symbol in known):
        return "standard"
    plain = sum(n for symbol, n in known.items() if symbol in "ACGTUN")
    if _NUCLEOTIDE_SYMBOLS.issuperset(known) and 2 * plain >= sum(known.values()):
        return "dna"
    return "protein"


def members(entry: str) -> tuple[str, ...]:
    """The symbols of an entry: of a polymorphic one, ``{01}``, ``(01)`` or ``{10,11}``, several."""
    if len(entry) > 1 and entry[0] + entry[-1] in {"{}", "()"}:
        inner = entry[1:-1].replace(" ", "")
        return tuple(inner.split(",")) if "," in inner else tuple(inner)
    return (entry,)


def code_points(values: NDArray[np.str_]) -> NDArray[np.uint32]:
    """The first code point of each text, without a loop over them, shape as values."""
    text = np.ascontiguousarray(values)
    width = text.dtype.itemsize // 4
    points: NDArray[np.uint32] = text.view(np.uint32).reshape(*text.shape, width)[..., 0]
    return points


def is_wide(values: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Which entries have more than one character, shape as values."""
    text = np.ascontiguousarray(values)
    width = text.dtype.itemsize // 4
    if width == 1:
        return np.zeros(text.shape, dtype=bool)
    return np.not_equal(text.view(np.uint32).reshape(*text.shape, width)[..., 1], 0)


def known_symbols(kind: str, symbols: Sequence[str]) -> set[str]:
    """What an entry of a kind may be, in either case."""
    known = {MISSING, GAP, *codes_of(kind, symbols)}
    return known | {s.upper() for s in known} | {s.lower() for s in known}


def require_symbols(
    text: NDArray[np.str_],
    kind: str,
    symbols: Sequence[str],
    taxa: Sequence[Any] | None = None,
    corner: tuple[int, int] = (0, 0),
) -> None:
    """Refuse an alignment, (taxa, sites), with entries that are no symbols of its kind.

    ``corner`` are taxon and site of its first entry in the whole, of which `taxa` are the names.

    Raises
    ------
    ValueError
        Names the taxon, the site and the entry, and says what to do.
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
        remedy = "mend it or give another kind=" + (" or more states=" * (kind == "standard"))
        msg = (
            f"{at}: {str(text[taxon, site])!r} is no symbol of kind {kind!r}, which has "
            f"{listed}{codes}, '?' for missing and '-' for a gap: {remedy}"
        )
        raise ValueError(msg)


def place(taxon: int, site: int, taxa: Sequence[Any] | None) -> str:
    """Where an entry is, for messages."""
    name = "" if taxa is None else f" ({str(taxa[taxon])!r})"
    return f"taxon {taxon}{name}, site {site}"


def count_symbols(values: NDArray[np.str_]) -> dict[str, int]:
    """How often each symbol occurs, in upper case, the members of a polymorphic entry each."""
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
