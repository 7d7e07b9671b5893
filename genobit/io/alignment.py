"""Open alignments: FASTA, PHYLIP and NEXUS."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit import alphabets
from genobit.io._alignment_text import Rows, is_phylip, read_fasta, read_phylip
from genobit.io._damage import named_damage
from genobit.io._nexus import read_nexus

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import xarray as xr
    from numpy.typing import NDArray

TAXA, SITES = "taxa", "sites"
_READERS = {"fasta": read_fasta, "phylip": read_phylip, "nexus": read_nexus}
_SUFFIXES = {
    **dict.fromkeys((".fasta", ".fas", ".fa", ".fna", ".faa", ".ffn", ".afa", ".mfa"), "fasta"),
    **dict.fromkeys((".phy", ".phylip", ".ph"), "phylip"),
    **dict.fromkeys((".nex", ".nexus", ".nxs"), "nexus"),
}
_GZIP = b"\x1f\x8b"
#: Control characters other than tabs and ends of lines.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1b]")


def open_alignment(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    kind: str | None = None,
) -> xr.DataArray:
    r"""Open an alignment of nucleotides, amino acids or other characters.

    Parameters
    ----------
    path
        FASTA, PHYLIP (names of ten characters or up to a blank; interleaved or not) or NEXUS, plain
        or compressed by gzip.
    format
        "fasta", "phylip" or "nexus". By default what the first line or else the suffix says.
    kind
        "dna", "protein" or "standard". By default what a NEXUS file says; for others "standard"
        with any digit, "dna" with IUPAC codes of nucleotides alone, most of them plain bases,
        otherwise "protein".

    Returns
    -------
    DataArray (taxa, sites) of text, in memory, in upper case, an entry a symbol: ``-`` is a gap,
    ``?`` missing, ``{01}`` a polymorphic entry. Coordinate `taxa`: the names, for FASTA the whole
    line, as written, underscores and all. `attrs["kind"]`; `attrs["states"]`, for "standard": the
    symbols in order; `attrs["format"]`, `attrs["source"]`.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        For a file that is empty, not text, of no known format or damaged; taxa of unequal length,
        the same name twice, or a symbol that the kind does not have, with taxon and site.
    ImportError
        For NEXUS when DendroPy is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "three.fasta"
    >>> _ = file.write_text(">a\nACGT\n>b\nACRT\n>c\nA-GT\n")
    >>> aln = open_alignment(file)
    >>> aln.attrs["kind"], dict(aln.sizes)
    ('dna', {'taxa': 3, 'sites': 4})
    >>> aln.sel(taxa="b").values
    array(['A', 'C', 'R', 'T'], dtype='<U1')
    """
    source = Path(path).expanduser()
    if format is not None and format not in _READERS:
        msg = f"format={format!r} is none of {', '.join(_READERS)}"
        raise ValueError(msg)
    text = read_text(source)
    try:
        found = format or _format_of(text, source.name)
        rows = _READERS[found](text)
        aln = labelled_alignment(_entries(rows), rows.taxa, kind or rows.kind, rows.states)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    return aln.assign_attrs(format=found, source=str(source))


def labelled_alignment(
    values: NDArray[np.str_],
    taxa: Sequence[str],
    kind: str | None,
    states: Sequence[str] | None = None,
) -> xr.DataArray:
    """Label entries, text (taxa, sites) in upper case, as the DataArray of an alignment.

    Raises
    ------
    ValueError
        For a name twice, an unknown kind, or an entry that is no symbol of the kind.
    """
    import xarray as xr

    numbers: dict[str, int] = {}
    for number, name in enumerate(taxa):
        if name in numbers:
            msg = f"taxa {numbers[name]} and {number} are both named {name!r}: rename one of them"
            raise ValueError(msg)
        numbers[name] = number
    if kind is not None and kind not in alphabets.KINDS:
        msg = f"kind={kind!r} is none of {', '.join(alphabets.KINDS)}"
        raise ValueError(msg)
    counts = alphabets.count_symbols(values)
    kind = kind or alphabets.guess_kind(counts)
    symbols = alphabets.symbols_of(kind, set(counts))
    if kind == "standard" and states is not None:
        symbols = tuple(states)
    alphabets.require_symbols(values, kind, symbols, taxa)
    attrs: dict[str, Any] = {"long_name": "alignment", "kind": kind}
    if kind == "standard":
        attrs["states"] = list(symbols)
    return xr.DataArray(values, {TAXA: list(taxa)}, (TAXA, SITES), "alignment", attrs)


def read_text(source: Path) -> str:
    """Read a text file, plain or compressed by gzip, with ends of lines as in Unix.

    Raises
    ------
    FileNotFoundError, ValueError
        Where there is none, or it is empty or not text.
    """
    if not source.is_file():
        what = "is a directory" if source.is_dir() else "does not exist"
        raise FileNotFoundError(f"{source} {what}.")
    data = source.read_bytes()
    if data.startswith(_GZIP):
        with named_damage(source):
            data = gzip.decompress(data)
    if _CONTROL.search(data):
        raise ValueError(f"{source} is not a text file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if not text.strip():
        raise ValueError(f"{source} is empty")
    return "\n".join(text.splitlines()) + "\n"


def _format_of(text: str, name: str) -> str:
    start = text.lstrip()
    if start[:6].upper() == "#NEXUS":
        return "nexus"
    if start.startswith(">"):
        return "fasta"
    if is_phylip(text):
        return "phylip"
    *_, suffix = ["", *Path(name.lower().removesuffix(".gz")).suffixes]
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    msg = (
        f"the format is not known: the first line is {start.splitlines()[0][:40]!r}, and neither "
        f"it nor the suffix tells; give format= ({', '.join(_READERS)})"
    )
    raise ValueError(msg)


def _entries(rows: Rows) -> NDArray[np.str_]:
    """Rows as text (taxa, sites) in upper case; refuses rows of unequal length."""
    if not rows.taxa:
        raise ValueError("there are no taxa")
    length = len(rows.sequences[0])
    for number, (name, row) in enumerate(zip(rows.taxa, rows.sequences, strict=True)):
        if not name:
            raise ValueError(f"taxon {number} has no name")
        if len(row) != length:
            msg = (
                f"taxon {number} ({name!r}) has {len(row)} sites, the first ({rows.taxa[0]!r}) "
                f"has {length}: align the sequences, or mend the file"
            )
            raise ValueError(msg)
    if length == 0:
        raise ValueError("there are no sites")
    if isinstance(rows.sequences[0], list):
        return np.array(rows.sequences)
    joined = "".join(str(row) for row in rows.sequences)
    # Other alphabets have letters that become two in upper case; they are no symbols anyway.
    data = (joined.upper() if joined.isascii() else joined).encode("utf-32-le")
    # A symbol is one code point: no loop over the symbols.
    entries: NDArray[np.str_] = np.frombuffer(data, "<U1").reshape(len(rows.taxa), length)
    return entries.copy()
