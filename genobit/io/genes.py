"""Read genes from a GFF3 file or a user's table, for a track under a plot.

GFF3 has nine tab-separated columns. Positions count from 1 with both ends included. Attributes are
``Name=LCT;...`` with reserved characters percent-encoded
(https://github.com/The-Sequence-Ontology/Specifications/blob/master/gff3.md). Lines are read one by
one, because the annotation of a genome has millions of lines and about one in a hundred is kept.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pandas as pd
import xarray as xr

from genobit.data.checks import first_true
from genobit.data.contigs import renamed
from genobit.data.guards.bounded import TEXT_COST, lines_of, open_text
from genobit.data.guards.damage import named_damage
from genobit.data.labels import text
from genobit.engine.files import local_path, require_file
from genobit.engine.options import require_fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

COLUMNS = ("contig", "start", "end", "name", "strand")
#: Column names in tables of GFF, BED, biomaRt and UCSC, in order of preference.
_KNOWN = {
    "contig": ("contig", "chrom", "chromosome", "seqid", "seqname", "chr"),
    "start": ("start", "begin", "txstart", "chromstart", "start_position"),
    "end": ("end", "stop", "txend", "chromend", "end_position"),
    "name": ("name", "gene", "gene_name", "symbol", "gene_symbol", "hgnc_symbol", "id", "gene_id"),
    "strand": ("strand",),
}
_LISTED = 8
"""Most names that an error lists."""
_WHOLE = re.compile(r"[0-9]{1,18}")
_NAMES = ("Name", "gene_name", "gene", "locus_tag", "ID")


def read_genes(source: Any, contigs: Iterable[str] = ()) -> pd.DataFrame:
    """Read genes, sorted by contig and start.

    Parameters
    ----------
    source
        Path of a GFF3 file (plain or gzipped), or a table: a pandas DataFrame, an xarray Dataset
        of one dimension, or a list of dicts. A table has columns ``contig``, ``start``, ``end``
        and optionally ``name`` and ``strand``; other common column names are recognised.
        Positions follow GFF and VCF: from 1, both ends included.
    contigs
        Names of the contigs of the data. The same chromosomes of the genes get these names
        (`genobit.data.contigs`). The lines of type region in a GFF3 file say which chromosome an
        accession number such as NC_000001.11 is.

    Returns
    -------
        DataFrame with columns `COLUMNS`. A GFF3 file gives the features whose type is gene or
        pseudogene, or ends in ``_gene``.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        For a table without contig, start or end, and for a file that is not GFF3 or has no genes.
        Also for a gene that ends before it starts, and for a contig that means several of
        ``contigs``.

    Examples
    --------
    >>> read_genes([{"chrom": "2", "start": 136_545_410, "end": 136_594_750, "symbol": "LCT"}])
      contig      start        end name strand
    0      2  136545410  136594750  LCT      .
    """
    of, accessions = "", defaultdict[str, set[str]](set)
    if isinstance(source, str | os.PathLike):
        path = local_path(source, "read_genes")
        table = pd.DataFrame(_genes_of_gff(path, accessions), columns=list(COLUMNS))
        of = f" of {path.name}"
        if not len(table):
            raise ValueError(
                f"{path.name} has no line whose type (column 3) is gene, pseudogene or ends in "
                "_gene; give a table of what is to be drawn"
            )
    else:
        frame = source.to_dataframe().reset_index() if isinstance(source, xr.Dataset) else source
        if not isinstance(frame, Sized):
            raise TypeError(f"genes= is of type {type(frame).__name__}, expected a path or a table")
        table = _renamed(pd.DataFrame(frame)) if len(frame) else pd.DataFrame(columns=list(COLUMNS))
    if (k := first_true(table[["start", "end"]].isna().any(axis=1))) >= 0:
        raise ValueError(
            f"gene {k}{of} ({table['name'].iloc[k]}) has no start or no end: "
            "give both, or leave it out"
        )
    if (k := first_true(table["end"] < table["start"])) >= 0:
        row = table.iloc[k]
        raise ValueError(
            f"gene {k}{of} ({row['name']}) ends at {row['end']:,}, before its start "
            f"{row['start']:,}; swap start and end"
        )
    # Two assemblies in one file stay apart.
    only = {next(iter(same)): name for name, same in accessions.items() if len(same) == 1}
    names = renamed(table["contig"].to_numpy(object), contigs, only)
    table = table.assign(contig=names)
    table.attrs["source"] = "file" if of else "table"
    return table.sort_values(["contig", "start"], kind="stable", ignore_index=True)


def genes_in(
    source: Any, contig: str, start: float, end: float, contigs: Iterable[str] = ()
) -> tuple[pd.DataFrame, str]:
    """Return the genes that overlap a window, and a sentence if its contig has no gene at all.

    Source and contigs are those of `read_genes`. The contig "" is the only one of unnamed data.
    Raises ValueError if genes of several contigs overlap such a window.
    """
    table = read_genes(source, contigs)
    there = (table["end"] >= start) & (table["start"] <= end)
    if contig:
        there &= table["contig"] == contig
    found = table[there].reset_index(drop=True)
    if found["contig"].nunique() > 1:
        several = _first(list(found["contig"].unique()))
        raise ValueError(
            f"the variants have no contig, and genes of the contigs {several} have their "
            "positions: give the genes of one contig, or assign variant_contig"
        )
    return found, lacks_contig(table, contig) if contig else ""


def lacks_contig(table: pd.DataFrame, contig: str) -> str:
    """Return a sentence for genes of other contigs only; "" if the contig has a gene."""
    known = list(table["contig"].unique())
    if contig in known:
        return ""
    what = table.attrs["source"]
    return f"The {what} has no gene on contig {contig}; it has {_first(known) or 'none'}"


def _first(names: Sequence[Any]) -> str:
    """Return the first names as text."""
    return ", ".join(map(str, names[:_LISTED])) + ", ..." * (len(names) > _LISTED)


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    if isinstance(frame.columns, pd.RangeIndex):
        raise TypeError(
            f"genes= holds {frame.iat[0, 0]!r}: give a GFF3 file, or a table with the columns "
            "contig, start, end and name"
        )
    by_lower = {str(name).lower(): name for name in reversed(list(frame.columns))}
    found = {
        column: next((by_lower[name] for name in names if name in by_lower), None)
        for column, names in _KNOWN.items()
    }
    for column in ("contig", "start", "end"):
        if found[column] is None:
            raise ValueError(
                f"the table of genes has no column {column!r} (nor {', '.join(_KNOWN[column][1:])})"
                f"; it has {_first(list(frame.columns))}: rename one"
            )
    numbers = {column: _numbers(frame[found[column]], column) for column in ("start", "end")}
    texts = {
        column: [""] * len(frame) if found[column] is None else text(frame[found[column]], column)
        for column in ("contig", "name", "strand")
    }
    table = pd.DataFrame(texts | numbers, columns=list(COLUMNS)).reset_index(drop=True)
    return table.assign(strand=table["strand"].where(table["strand"].isin(["+", "-"]), "."))


def _numbers(values: pd.Series, column: str) -> NDArray[Any]:
    """Return a column of positions; ValueError for the first text that is no number."""
    found = pd.to_numeric(values, errors="coerce")
    if (k := first_true(found.isna() & values.notna())) >= 0:
        raise ValueError(f"{column} of gene {k} is {values.iloc[k]!r}: give a number of base pairs")
    return found.to_numpy()


def _genes_of_gff(
    path: Path, accessions: dict[str, set[str]]
) -> Iterator[tuple[str, int, int, str, str]]:
    require_file(path, "give a GFF3 file, or a table of genes")
    kept = 0
    with named_damage(path), open_text(path) as file:
        for number, line in enumerate(lines_of(file, path), 1):
            if line.startswith("##FASTA"):
                return
            if line.startswith("#") or not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) != 9:
                raise ValueError(
                    f"{path.name} is not GFF3: line {number} has {len(columns)} columns between "
                    "tabs instead of 9"
                )
            contig, _, kind, start, end, _, strand, _, attributes = columns
            is_gene = kind in {"gene", "pseudogene"} or kind.endswith("_gene")
            if is_gene or kind == "region":
                kept += len(line)
                require_fits(f"the genes of {path}", kept, TEXT_COST)
            if kind == "region" and (name := _chromosome(attributes)):
                accessions[name].add(unquote(contig))
            if is_gene:
                strand = strand if strand in {"+", "-"} else "."
                if not (_WHOLE.fullmatch(start) and _WHOLE.fullmatch(end)):
                    raise ValueError(
                        f"{path.name} is not GFF3: line {number} has the start {start!r} and the "
                        f"end {end!r}, expected whole numbers"
                    )
                yield unquote(contig), int(start), int(end), _name(attributes), strand


def _chromosome(attributes: str) -> str | None:
    """Return the chromosome that a sequence is, by its line of NCBI; None for a piece of one."""
    values = _attributes(attributes)
    genome = values.get("genome", "chromosome")
    if genome == "mitochondrion":
        return "MT"
    return values.get("chromosome") if genome == "chromosome" else None


def _name(attributes: str) -> str:
    values = _attributes(attributes)
    return next((values[key] for key in _NAMES if values.get(key)), "")


def _attributes(text: str) -> dict[str, str]:
    pairs = (attribute.partition("=") for attribute in text.split(";"))
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs}
