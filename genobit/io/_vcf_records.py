"""Pick the records of a region, and write genotypes as one small VCF a contig.

bio2zarr reads whole files, several contigs only with an index, and contigs only where the
header declares them. Files without an index, without ##contig lines or with a region asked
for are therefore first copied: calls without the other FORMAT and INFO fields, one file a
contig, under a header that declares what is there.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import IO, TYPE_CHECKING, cast

from genobit.io._damage import named_damage

if TYPE_CHECKING:
    from pathlib import Path

Lines = Generator[bytes, None, None]

_FIXED_COLUMNS = 9
_OTHER_FORMAT_FIELDS = re.compile(rb":[^\t]*")
_REGION_SYNTAX = "Write 22, 22:16051497-16060000, 22:16051497- or 2:136.0e6-136.9e6."


@dataclass(frozen=True)
class Region:
    """Positions `start` to `end` of a contig, both included, counted from 1."""

    contig: str
    start: int = 1
    end: int | None = None

    def __str__(self) -> str:
        return f"{self.contig}:{self.start}-{'' if self.end is None else self.end}"


def parse_region(text: str) -> Region:
    """Read a region like `2:136.0e6-136.9e6`, `22:16,051,497-16060000` or `22`.

    Raises
    ------
    ValueError
        When it has no contig, one position only, a position that is not a whole number,
        or an end before its start.
    """
    contig, colon, span = text.strip().rpartition(":")
    # Some contigs have colons in their names (HLA:HLA00001); a range begins with a digit.
    if not colon or not re.match(r"[\d.,+-]", span):
        contig, span = text.strip(), "1-"
    start_text, dash, end_text = span.partition("-")
    if not contig or not dash:
        reason = "has no contig" if not contig else f"{span} is one position, not a range"
        msg = f"Region {text!r}: {reason}. {_REGION_SYNTAX}"
        raise ValueError(msg)
    start = _position(start_text, text)
    end = _position(end_text, text) if end_text else None
    if start < 1 or (end is not None and end < start):
        msg = f"Region {text!r}: positions count from 1 and the end is not before the start."
        raise ValueError(msg)
    return Region(contig, start, end)


def _position(text: str, region: str) -> int:
    try:
        value = Decimal(text.replace(",", ""))
        whole = int(value)
    except (InvalidOperation, ValueError, OverflowError):
        whole = None
    if whole is None or value != whole:
        msg = f"Region {region!r}: {text!r} is not a whole position. {_REGION_SYNTAX}"
        raise ValueError(msg)
    return whole


def index_of(path: Path) -> Path | None:
    """Find the .tbi or .csi index beside a file."""
    for suffix in (".tbi", ".csi"):
        index = path.with_name(path.name + suffix)
        if index.is_file():
            return index
    return None


def write_contigs(path: Path, folder: Path, region: Region | None) -> list[Path]:
    """Copy the calls of a VCF or BCF, one VCF a contig in order of appearance.

    Raises
    ------
    ValueError
        When the file is not VCF or BCF, is truncated, has no samples or no records, when
        a record has too many or too few columns, when the contig of the region is not in
        the file, or when the region holds no record.
    """
    header, records = _open_records(path, region)
    columns, filters, declared = _read_header(path, header)
    n_tabs = len(columns) - 1
    seen: dict[bytes, Path] = {}
    n_written, current = 0, b""
    with ExitStack() as stack, closing(records):
        out: IO[bytes] | None = None
        for number, line in enumerate(records, start=1):
            fields = line.split(b"\t", _FIXED_COLUMNS)
            tabs = line.count(b"\t")
            if tabs != n_tabs:
                msg = (
                    f"{path}, record {number} ({_place(fields)}) has {tabs + 1} columns where "
                    f"the header has {n_tabs + 1}. Is the file cut short?"
                )
                raise ValueError(msg)
            contig = fields[0]
            body = seen.setdefault(contig, folder / f"{len(seen):06d}.body")
            if not _inside(fields, region):
                continue
            if out is None or contig != current:
                stack.close()
                out = stack.enter_context(body.open("ab"))
                current = contig
            filters.update(dict.fromkeys(set(fields[6].split(b";")) - {b".", b"PASS"}))
            out.write(_calls_only(fields))
            n_written += 1
    if not n_written:
        raise _nothing_found(path, region, [*dict.fromkeys([*declared, *seen])])
    return _add_headers([body for body in seen.values() if body.exists()], seen, filters, columns)


def _open_records(path: Path, region: Region | None) -> tuple[list[bytes], Lines]:
    """Read the header; give it and the record lines, without their newlines."""
    kind = _kind(path)
    indexed = region is not None and index_of(path) is not None
    if kind == "vcf" and not indexed:
        lines = _text_lines(path)
        header = []
        for line in lines:
            header.append(line)
            if line.startswith(b"#CHROM"):
                return header, lines
            if not line.startswith(b"#"):
                break
        msg = f"{path} has no #CHROM line before its first record; it is not a complete VCF."
        raise ValueError(msg)
    return _htslib_records(path, region if indexed else None)


def _open_binary(path: Path) -> IO[bytes]:
    """Open a file, through gzip (bgzip is a kind of it) where it is compressed."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path)) if compressed else path.open("rb")


def _kind(path: Path) -> str:
    """Tell VCF from BCF by content, compressed or not."""
    with named_damage(path), _open_binary(path) as file:
        first = file.read(12)
    if first.startswith(b"BCF"):
        return "bcf"
    if first.startswith(b"##fileformat"):
        return "vcf"
    msg = (
        f"{path} is neither VCF nor BCF: it begins with {first!r}, not with ##fileformat=VCF. "
        "For a .bed use open_plink, for a VCF Zarr store open_vcf_zarr."
    )
    raise ValueError(msg)


def _text_lines(path: Path) -> Lines:
    with named_damage(path), _open_binary(path) as lines:
        for line in lines:
            stripped = line.rstrip(b"\r\n")
            if stripped:
                yield stripped


def _htslib_records(path: Path, region: Region | None) -> tuple[list[bytes], Lines]:
    from cyvcf2 import VCF

    vcf = VCF(str(path))
    header = vcf.raw_header.encode().splitlines()
    if region is None:
        return header, (str(record).encode().rstrip(b"\n") for record in vcf)
    vcf.set_index(str(index_of(path)))
    contigs = [name.encode() for name in vcf.seqnames]
    if region.contig.encode() not in contigs:
        vcf.close()
        raise _nothing_found(path, region, contigs)
    return header, _query(vcf, region)


def _query(vcf, region: Region) -> Lines:  # type: ignore[no-untyped-def]
    import warnings

    with warnings.catch_warnings():
        # cyvcf2 warns of an empty region; _nothing_found says it better.
        warnings.filterwarnings("ignore", message="no intervals found")
        for record in vcf(f"{{{region.contig}}}:{region.start}-{region.end or ''}"):
            yield str(record).encode().rstrip(b"\n")


def _read_header(
    path: Path, header: list[bytes]
) -> tuple[list[bytes], dict[bytes, None], list[bytes]]:
    """Find the columns, and the ids of the filters and contigs that the header declares."""
    columns = header[-1].split(b"\t")
    if len(columns) <= _FIXED_COLUMNS:
        msg = f"{path} has no samples, so no genotypes: its #CHROM line has {len(columns)} columns."
        raise ValueError(msg)
    filters = dict.fromkeys(_ids(header, b"##FILTER="))
    filters.pop(b"PASS", None)
    return columns, filters, _ids(header, b"##contig=")


def _ids(header: list[bytes], key: bytes) -> list[bytes]:
    found = (re.search(rb"[<,]ID=([^,>]+)", line) for line in header if line.startswith(key))
    return [match.group(1) for match in found if match]


def _inside(fields: list[bytes], region: Region | None) -> bool:
    if region is None:
        return True
    if fields[0] != region.contig.encode():
        return False
    position = int(fields[1])
    return region.start <= position and (region.end is None or position <= region.end)


def _calls_only(fields: list[bytes]) -> bytes:
    """Drop INFO and every FORMAT field but GT, which VCF puts first."""
    *fixed, _, keys, calls = fields
    if keys.startswith(b"GT:"):
        calls = _OTHER_FORMAT_FIELDS.sub(b"", calls)
    elif keys != b"GT":
        calls = b"\t".join([b"."] * (calls.count(b"\t") + 1))
    return b"\t".join([*fixed, b".", b"GT", calls]) + b"\n"


def _add_headers(
    bodies: list[Path], contigs: dict[bytes, Path], filters: dict[bytes, None], columns: list[bytes]
) -> list[Path]:
    """Put a header that declares what was found before the records of each contig."""
    lines = [
        b"##fileformat=VCFv4.3",
        b'##FILTER=<ID=PASS,Description="All filters passed">',
        *(b'##FILTER=<ID=%s,Description="">' % name for name in filters),
        *(b"##contig=<ID=%s>" % name for name, body in contigs.items() if body.exists()),
        b'##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        b"\t".join(columns),
    ]
    paths = []
    for body in bodies:
        vcf = body.with_suffix(".vcf")
        with vcf.open("wb") as out, body.open("rb") as records:
            out.write(b"\n".join(lines) + b"\n")
            while block := records.read(2**24):
                out.write(block)
        body.unlink()
        paths.append(vcf)
    return paths


def _nothing_found(path: Path, region: Region | None, contigs: list[bytes]) -> ValueError:
    if region is None:
        return ValueError(f"{path} has no records.")
    names = [name.decode() for name in contigs]
    if region.contig in names:
        return ValueError(f"{path} has no record in {region}. Positions count from 1.")
    shown = ", ".join(names[:30]) + (f", ... ({len(names)} in all)" if len(names) > 30 else "")
    return ValueError(
        f"{path} has no contig {region.contig!r}; it has {shown or 'none'}. {_REGION_SYNTAX}"
    )


def _place(fields: list[bytes]) -> str:
    return b":".join(fields[:2]).decode(errors="replace")
