"""Open alignments in FASTA, PHYLIP, NEXUS, CLUSTAL and Stockholm."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import alphabets
from genobit.data.alignment import SITES, TAXA, alignment_attributes, require_names
from genobit.data.checks import check_one_of, first_true, is_whole
from genobit.data.coded_text import CodedText, text_of
from genobit.data.guards.bounded import GZIP
from genobit.engine.files import local_path, require_file
from genobit.engine.own_words import own_words
from genobit.engine.schedule.graphs import layer_name
from genobit.io.alignment_files._layouts import (
    format_of,
    read_clustal,
    read_fasta,
    read_phylip,
    read_stockholm,
)
from genobit.io.alignment_files._nexus import read_nexus
from genobit.io.alignment_files._rows import (
    line_at,
    read_plain,
    read_symbols,
    require_same_length,
    with_line,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import xarray as xr
    from numpy.typing import NDArray

    from genobit.io.alignment_files._rows import Rows

_READERS: dict[str, Callable[[bytes], Rows]] = {
    "fasta": read_fasta,
    "phylip": read_phylip,
    "phylip-interleaved": partial(read_phylip, order="interleaved"),
    "phylip-sequential": partial(read_phylip, order="sequential"),
    "nexus": read_nexus,
    "clustal": read_clustal,
    "stockholm": read_stockholm,
}
_SUFFIXES = {
    **dict.fromkeys((".fasta", ".fas", ".fa", ".fna", ".faa", ".ffn", ".afa", ".mfa"), "fasta"),
    **dict.fromkeys((".phy", ".phylip", ".ph"), "phylip"),
    **dict.fromkeys((".nex", ".nexus", ".nxs"), "nexus"),
    **dict.fromkeys((".aln", ".clustal", ".clw"), "clustal"),
    **dict.fromkeys((".sto", ".stk", ".stockholm"), "stockholm"),
}
_PIECE = 2**20
"""Bytes or sites read at a time from files that are not held whole."""
_COST = 8
"""Bytes of memory per byte of a file that `eager_limit` counts. Most files take two; NEXUS with
comments takes six."""
_MOST_TEXT = 2**26
"""Most bytes of text of an alignment that is not lazy. numpy has 4 bytes for a letter."""
_CHUNK = 2**22
"""Symbols per chunk of a larger alignment."""
_WHOLE = 512
"""Sites of which a wide chunk has a multiple: tiles of products then split it without copies."""


@own_words
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
        FASTA, PHYLIP, NEXUS, CLUSTAL or Stockholm file, plain or compressed with gzip. PHYLIP may
        be sequential or interleaved. PHYLIP names may be strict (ten characters) or relaxed (up to
        a blank).
    format
        "fasta", "phylip", "phylip-sequential", "phylip-interleaved", "nexus", "clustal" or
        "stockholm". By default it is detected from the first line, or from the suffix if the first
        line is not conclusive.
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
    DataArray (taxa, sites) of upper-case text, in memory, or lazy with ``chunks``. An alignment of
    more than 64 MiB of text (16 million symbols) is lazy, too: it keeps one byte for each symbol in
    memory, and makes text of a chunk when it is computed. Each entry is a symbol: ``-`` is a gap,
    ``?`` is missing, ``{01}`` is polymorphic. Except in NEXUS, ``~`` becomes ``?`` and ``_``
    becomes ``-``. ``.`` becomes ``?``, in Stockholm ``-``.

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
        length, a repeated name, or a symbol that the kind does not have (the message names line,
        taxon and site). For PHYLIP that fits two layouts. With ``chunks``, also for a format other
        than FASTA, a gzip file, or lines of different widths. Without ``chunks``, also if reading
        needs more than ``get_options().eager_limit`` bytes of memory.
    OSError
        If the file has changed before a lazy alignment is computed.

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
    require_file(source, "give the file of an alignment")
    if chunks is not None:
        return _open_lazily(source, format, kind, chunks)
    data = read_plain(source, _COST)
    try:
        found = format or format_of(data) or _format_of_name(data, source.name)
        changed = source.stat().st_mtime_ns
        name = layer_name("symbols", str(source.absolute()), changed, len(data), found)
        aln = _alignment(_READERS[found](data), kind, name)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    return aln.assign_attrs(format=found.split("-")[0], source=str(source))


def _alignment(rows: Rows, kind: str | None, name: str) -> xr.DataArray:
    """Return an alignment as text, decoded chunk by chunk if it is large."""
    import xarray as xr

    codes, entries, used, counts = read_symbols(rows)
    require_names(rows.taxa)
    states = rows.states
    if kind == "standard" and states is not None:
        # Asked for by name, the kind takes every symbol as a state.
        states += [s for s in alphabets.symbols_of(kind, {*counts}) if s not in states]
    kind, symbols = _described(counts, kind or rows.kind, states)
    if not alphabets.known_symbols(kind, symbols).issuperset(counts):
        _refuse_entry(rows, codes, entries, kind, symbols)
    values: Any
    if entries.itemsize * codes.size <= _MOST_TEXT:
        values = text_of(codes, entries)
    else:
        sites = max(1, _CHUNK // len(codes))
        values = CodedText(codes, entries, used, name).lazy(sites // _WHOLE * _WHOLE or sites)
    attrs = alignment_attributes(kind, symbols)
    return xr.DataArray(values, {TAXA: rows.taxa}, (TAXA, SITES), "alignment", attrs)


def _refuse_entry(
    rows: Rows,
    codes: NDArray[np.uint8],
    entries: NDArray[np.str_],
    kind: str,
    symbols: Sequence[str],
) -> None:
    """Raise an error for the first entry that is not a symbol of the kind, with its line."""
    known = alphabets.known_symbols(kind, symbols)
    parts = [alphabets.members(entry) for entry in entries.tolist()]
    odd = np.array([not part or not known.issuperset(part) for part in parts])
    for taxon, row in enumerate(codes):
        if (site := first_true(odd[row])) >= 0:
            entry = text_of(row[None, site : site + 1], entries)
            try:
                alphabets.require_symbols(entry, kind, symbols, rows.taxa, (taxon, site))
            except ValueError as error:
                raise with_line(rows, taxon, site, error) from error


def _open_lazily(source: Path, form: str | None, kind: str | None, chunks: Any) -> xr.DataArray:
    import xarray as xr

    from genobit.io.alignment_files._fasta import index_fasta

    if not is_whole(chunks):
        raise ValueError(f"chunks={chunks!r} is not a whole number of sites, at least 1")
    try:
        _require_plain_fasta(source, form)
        text, taxa, counts = index_fasta(source)
        require_same_length(taxa, text.codes.records[:, 3].tolist())
        require_names(taxa)
        kind, symbols = _described(counts, kind, None)
        if not alphabets.known_symbols(kind, symbols).issuperset(counts):
            _refuse_symbol(text, kind, symbols, taxa)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    attrs = {**alignment_attributes(kind, symbols), "format": "fasta", "source": str(source)}
    return xr.DataArray(text.lazy(int(chunks)), {TAXA: taxa}, (TAXA, SITES), "alignment", attrs)


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
        raise ValueError(
            f"chunks= reads plain FASTA, and the first line is {line!r}: leave out chunks= to read "
            "other formats in memory"
        )


def _refuse_symbol(text: CodedText, kind: str, symbols: Sequence[str], taxa: Sequence[str]) -> None:
    """Raise an error for the first entry that is not a symbol of the kind."""
    number, length = text.shape
    for taxon in range(number):
        for site in range(0, length, _PIECE):
            part = text[taxon : taxon + 1, site : site + _PIECE]
            alphabets.require_symbols(part, kind, symbols, taxa, (taxon, site))


def labelled_alignment(
    values: NDArray[np.str_],
    taxa: Sequence[str],
    kind: str | None,
) -> xr.DataArray:
    """Return entries, upper-case text (taxa, sites), as the DataArray of an alignment.

    Raises ValueError for a repeated name, an unknown kind, or an entry that is not a symbol of it.
    """
    import xarray as xr

    require_names(taxa)
    kind, symbols = _described(alphabets.count_symbols(values), kind, None)
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


def _format_of_name(data: bytes, name: str) -> str:
    *_, suffix = ["", *Path(name.lower().removesuffix(".gz")).suffixes]
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    at = len(data) - len(data.lstrip())
    raise ValueError(
        f"unknown format: neither the suffix nor the first line, {line_at(data, at)!r}, "
        f"identifies it; give format= ({', '.join(_READERS)})"
    )
