"""Open alignments in FASTA, PHYLIP and NEXUS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import alphabets
from genobit.data.alignment import SITES, TAXA, alignment_attributes, require_names
from genobit.data.checks import check_one_of, is_whole
from genobit.data.guards.bounded import GZIP, read_bytes
from genobit.engine.files import local_path
from genobit.engine.options import require_fits
from genobit.io.alignment_files._text import (
    CONTROL,
    FOREIGN_GAPS,
    Rows,
    is_phylip,
    read_fasta,
    read_phylip,
    require_gaps,
)
from genobit.io.tree_files._nexus import read_nexus

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import xarray as xr
    from numpy.typing import NDArray

    from genobit.io.alignment_files._fasta import FastaFile

_READERS = {"fasta": read_fasta, "phylip": read_phylip, "nexus": read_nexus}
_SUFFIXES = {
    **dict.fromkeys((".fasta", ".fas", ".fa", ".fna", ".faa", ".ffn", ".afa", ".mfa"), "fasta"),
    **dict.fromkeys((".phy", ".phylip", ".ph"), "phylip"),
    **dict.fromkeys((".nex", ".nexus", ".nxs"), "nexus"),
}
_PIECE = 2**20
"""Bytes or sites read at a time from files that are not held whole."""
_NEXUS_COST = 40
"""Most bytes of memory per byte of text while DendroPy reads it; 35 were measured."""


def open_alignment(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    kind: str | None = None,
    chunks: int | None = None,
) -> xr.DataArray:
    r"""Open an alignment of nucleotides, amino acids or other characters.

    Parameters
    ----------
    path
        FASTA, PHYLIP or NEXUS file, plain or compressed with gzip. PHYLIP may be sequential or
        interleaved. PHYLIP names may be strict (ten characters) or relaxed (up to a blank).
    format
        "fasta", "phylip" or "nexus". By default it is detected from the first line, or from the
        suffix if the first line is not conclusive.
    kind
        "dna", "protein" or "standard". The default for NEXUS is the kind declared in the file. In
        other formats, the kind is "standard" if a tenth of the letters and digits are digits. It is
        "dna" if more than nine tenths of the letters are IUPAC nucleotide codes, and at least half
        are plain bases or N. Otherwise it is "protein".
    chunks
        Sites per chunk of a lazy alignment, for alignments larger than memory. Lazy reading needs
        uncompressed FASTA with lines of equal width within each record. Opening scans the file
        once. A chunk is read when it is computed.

    Returns
    -------
    DataArray (taxa, sites) of upper-case text, in memory, or lazy with ``chunks``. Each entry is
    a symbol: ``-`` is a gap, ``?`` is missing, ``{01}`` is polymorphic. Of FASTA and PHYLIP, ``.``
    and ``~`` become ``?``, and ``_`` becomes ``-``.

    - Coordinate `taxa`: the names as written; underscores are kept. A name in FASTA is the whole
      header line.
    - `attrs["kind"]`, `attrs["format"]` and `attrs["source"]` (the path). For "standard",
      `attrs["states"]` lists the symbols in order.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        For a file that is empty, not text, of an unknown format, or damaged. For taxa of unequal
        length, a repeated name, or a symbol that the kind does not have (the message names taxon
        and site). With ``chunks``, also for a format other than FASTA, a gzip file, or lines of
        different widths. Without ``chunks``, also if reading needs more than
        ``get_options().eager_limit`` bytes of memory.
    OSError
        If the file has changed before a lazy alignment is computed.
    ImportError
        For NEXUS if DendroPy is not installed.

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
    >>> open_alignment(file, chunks=3).chunks
    ((3,), (3, 1))
    """
    source = local_path(path, "open_alignment")
    if format is not None:
        check_one_of("format", format, _READERS)
    if chunks is not None:
        return _open_lazily(source, format, kind, chunks)
    text = read_text(source)
    try:
        found = format or _format_of(text, source.name)
        if found == "nexus":
            require_fits("the text", len(text), _NEXUS_COST)
        rows = _READERS[found](text)
        aln = labelled_alignment(_entries(rows), rows.taxa, kind or rows.kind, rows.states)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    return aln.assign_attrs(format=found, source=str(source))


def _open_lazily(source: Path, form: str | None, kind: str | None, chunks: Any) -> xr.DataArray:
    import xarray as xr

    from genobit.io.alignment_files._fasta import index_fasta

    if not is_whole(chunks):
        raise ValueError(f"chunks={chunks!r} is not a whole number of sites, at least 1")
    _require_file(source)
    try:
        _require_plain_fasta(source, form)
        file, taxa, counts = index_fasta(source)
        _require_same_length(taxa, file.records[:, 3].tolist())
        require_names(taxa)
        kind, symbols = _described(counts, kind, None)
        if not alphabets.known_symbols(kind, symbols).issuperset(counts):
            _refuse_symbol(file, kind, symbols, taxa)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    attrs = {**alignment_attributes(kind, symbols), "format": "fasta", "source": str(source)}
    return xr.DataArray(file.array(int(chunks)), {TAXA: taxa}, (TAXA, SITES), "alignment", attrs)


def _require_plain_fasta(source: Path, form: str | None) -> None:
    """Refuse files that cannot be read in parts."""
    with source.open("rb") as file:
        start = file.read(_PIECE)
    if start.startswith(GZIP):
        raise ValueError(
            "chunks= reads parts of a file, which gzip does not allow: decompress it, or leave out "
            "chunks= to read it in memory"
        )
    text = start.decode("utf-8-sig", "replace").lstrip()
    if not text and len(start) < _PIECE:
        raise ValueError("the file is empty")
    # A first block of blanks alone is left to the scan of the file.
    is_fasta = form == "fasta" or (form is None and (not text or text.startswith(">")))
    if not is_fasta:
        line = text.splitlines()[0][:40] if text else ""
        msg = (
            f"chunks= reads plain FASTA, and the first line is {line!r}: leave out chunks= to read "
            "other formats in memory"
        )
        raise ValueError(msg)


def _refuse_symbol(file: FastaFile, kind: str, symbols: Sequence[str], taxa: Sequence[str]) -> None:
    """Raise an error for the first entry that is not a symbol of the kind."""
    number, length = file.shape
    for taxon in range(number):
        for site in range(0, length, _PIECE):
            text = file[taxon : taxon + 1, site : site + _PIECE]
            alphabets.require_symbols(text, kind, symbols, taxa, (taxon, site))


def labelled_alignment(
    values: NDArray[np.str_],
    taxa: Sequence[str],
    kind: str | None,
    states: Sequence[str] | None = None,
) -> xr.DataArray:
    """Return entries, upper-case text (taxa, sites), as the DataArray of an alignment.

    Raises ValueError for a repeated name, an unknown kind, or an entry that is not a symbol of it.
    """
    import xarray as xr

    require_names(taxa)
    kind, symbols = _described(alphabets.count_symbols(values), kind, states)
    alphabets.require_symbols(values, kind, symbols, taxa)
    attrs = alignment_attributes(kind, symbols)
    return xr.DataArray(values, {TAXA: list(taxa)}, (TAXA, SITES), "alignment", attrs)


def _described(
    counts: Mapping[str, int], kind: str | None, states: Sequence[str] | None
) -> tuple[str, tuple[str, ...]]:
    """Return kind and states of an alignment with these symbols."""
    alphabets.check_kind(kind)
    kind = kind or alphabets.guess_kind(counts)
    if kind == "standard" and states is not None:
        return kind, tuple(states)
    return kind, alphabets.symbols_of(kind, set(counts))


def read_text(source: Path) -> str:
    """Read a text file, plain or gzipped, with line ends as in Unix.

    Raises FileNotFoundError for a missing file, and ValueError if it is empty or not text.
    """
    _require_file(source)
    data = read_bytes(source)
    if CONTROL.search(data):
        raise ValueError(f"{source} is not a text file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if not text.strip():
        raise ValueError(f"{source} is empty")
    return "\n".join(text.splitlines()) + "\n"


def _require_file(source: Path) -> None:
    if not source.is_file():
        what = "is a directory" if source.is_dir() else "does not exist"
        raise FileNotFoundError(f"{source} {what}.")


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
        f"unknown format: neither the suffix nor the first line, {start.splitlines()[0][:40]!r}, "
        f"identifies it; give format= ({', '.join(_READERS)})"
    )
    raise ValueError(msg)


def _entries(rows: Rows) -> NDArray[np.str_]:
    """Return rows as upper-case text (taxa, sites).

    Raises ValueError for rows of unequal length.
    """
    length = _require_same_length(rows.taxa, [len(row) for row in rows.sequences])
    if isinstance(rows.sequences[0], list):
        return np.array(rows.sequences)
    require_gaps(rows.taxa, lambda taxon: str(rows.sequences[taxon]).find("."))
    gaps = str.maketrans("".join(FOREIGN_GAPS), "".join(FOREIGN_GAPS.values()))
    joined = "".join(str(row) for row in rows.sequences).translate(gaps)
    # Some non-ASCII letters become two in upper case. They are not valid symbols anyway.
    data = (joined.upper() if joined.isascii() else joined).encode("utf-32-le")
    # Each symbol is one code point, so UTF-32 splits the text without a loop.
    entries: NDArray[np.str_] = np.frombuffer(data, "<U1").reshape(len(rows.taxa), length)
    return entries.copy()


def _require_same_length(taxa: Sequence[str], lengths: Sequence[int]) -> int:
    """Return the number of sites; raises ValueError if taxa differ in it or have no name."""
    if not taxa:
        raise ValueError("there are no taxa")
    for number, (name, length) in enumerate(zip(taxa, lengths, strict=True)):
        if not name:
            raise ValueError(f"taxon {number} has no name")
        if length != lengths[0]:
            msg = (
                f"taxon {number} ({name!r}) has {length} sites, the first ({taxa[0]!r}) has "
                f"{lengths[0]}: align the sequences, or correct the file"
            )
            raise ValueError(msg)
    if lengths[0] == 0:
        raise ValueError("there are no sites")
    return lengths[0]
