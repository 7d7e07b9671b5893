"""Select the records of a region, and write genotypes as one small VCF per contig.

bio2zarr reads whole files. It reads several contigs only with an index, and only contigs that the
header declares. Files without an index or ##contig lines, and files read by region, are therefore
copied first. The copy has one file per contig, only GT in FORMAT, no INFO, and a complete header.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import ExitStack, closing
from itertools import chain, islice
from typing import IO, TYPE_CHECKING

from genobit.data.guards.bounded import TEXT_COST, lines_of, open_bytes
from genobit.data.guards.damage import named_damage, named_failure
from genobit.data.regions import REGION_SYNTAX, Region
from genobit.engine.options import require_fits
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

Lines = Generator[bytes, None, None]

_FIXED_COLUMNS = 9
_OTHER_FORMAT_FIELDS = re.compile(rb":[^\t]*")
_POSITION = re.compile(rb"0*[1-9][0-9]{0,9}")
_MOST_POSITION = 2**31 - 1
_CHECK = "Check it with 'bcftools view FILE > /dev/null', or copy it again."
_BLOCK = 2**20


def index_of(path: Path) -> Path | None:
    """Return the .tbi or .csi index beside a file, or None."""
    for suffix in (".tbi", ".csi"):
        index = path.with_name(path.name + suffix)
        if index.is_file():
            return index
    return None


def write_contigs(path: Path, folder: Path, region: Region | None) -> list[Path]:
    """Copy the calls of a VCF or BCF to one VCF per contig, in order of appearance.

    Raises ValueError if the file is not VCF or BCF, is truncated, or has no samples or no records;
    if a record has the wrong number of columns or an invalid position; if the region's contig is
    missing or the region has no record; or if no record has genotypes.
    """
    header, records = _open_records(path, region)
    columns, filters, declared = _read_header(path, header)
    n_tabs = len(columns) - 1
    seen: dict[bytes, Path] = {}
    n_written, n_called, current = 0, 0, b""
    with ExitStack() as stack, closing(records):
        out: IO[bytes] | None = None
        for number, line in enumerate(records, start=1):
            fields = _checked_fields(path, number, line, n_tabs)
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
            n_called += _has_genotypes(fields)
    if not n_written:
        raise _nothing_found(path, region, [*dict.fromkeys([*declared, *seen])])
    if not n_called:
        raise no_genotypes(path, n_written)
    return _add_headers([body for body in seen.values() if body.exists()], seen, filters, columns)


def known_contigs(path: Path) -> list[str]:
    """Return the contigs that the header declares, or else those of the records."""
    header, records = _open_records(path, None)
    with closing(records):
        names = _ids(header, b"##contig=")
        if not names:
            names = [*dict.fromkeys(line.split(b"\t", 1)[0] for line in records)]
    return [name.decode(errors="replace") for name in names]


def check_records(path: Path) -> int:
    """Check all records, and return how many have genotypes.

    Raises ValueError for the first record with a wrong number of columns or without a position.
    """
    header, records = _open_records(path, None)
    n_tabs = header[-1].count(b"\t")
    with closing(records):
        checked = (_checked_fields(path, k, line, n_tabs) for k, line in enumerate(records, 1))
        return sum(map(_has_genotypes, checked))


def _checked_fields(path: Path, number: int, line: bytes, n_tabs: int) -> list[bytes]:
    """Return the first columns of a record and the rest as one field, after checking the record."""
    fields = line.split(b"\t", _FIXED_COLUMNS)
    tabs = line.count(b"\t")
    if tabs != n_tabs:
        msg = (
            f"{path}, record {number} ({_place(fields)}) has {tabs + 1} columns where "
            f"the header has {n_tabs + 1}. Is the file cut short?"
        )
        raise ValueError(msg)
    # Position 0 is a telomere in VCF. genobit counts from 1, and VCF Zarr stores 32 bits.
    if not _POSITION.fullmatch(fields[1]) or int(fields[1]) > _MOST_POSITION:
        msg = (
            f"{path}, record {number} ({_place(fields)}) has the position "
            f"{fields[1].decode(errors='replace')!r}, expected a whole number from 1 to "
            f"{_MOST_POSITION:,}. Correct the record, or leave it out with "
            "'bcftools view -e'."
        )
        raise ValueError(msg)
    return fields


def _has_genotypes(fields: list[bytes]) -> bool:
    return fields[8] == b"GT" or fields[8].startswith(b"GT:")


def no_genotypes(path: Path, records: int) -> ValueError:
    """Return the error for a file of no records, or of records that have no GT."""
    if not records:
        return _nothing_found(path, None, [])
    return ValueError(
        f"{path} has no genotypes: no record that was read has GT in its FORMAT column. Call "
        "genotypes first, or open the file that has them."
    )


def require_records_fit(path: Path) -> None:
    """Refuse a file with a header or record larger than the memory limit.

    htslib allocates the size that a record declares, without a limit. Raises ValueError for the
    first such record, or for a damaged file.
    """
    is_bcf = _kind(path) == "bcf"
    with named_damage(path), open_bytes(path) as file:
        if is_bcf:
            _require_binary_records_fit(file, path)
        else:
            _require_lines_fit(file, path)


def _require_lines_fit(file: IO[bytes], path: Path) -> None:
    number, length = 1, 0
    while block := file.read(_BLOCK):
        ends = block.count(b"\n")
        length += block.index(b"\n") if ends else len(block)
        require_fits(f"{path}: line {number}", length, TEXT_COST)
        if ends:
            number, length = number + ends, len(block) - block.rindex(b"\n") - 1


def _require_binary_records_fit(file: IO[bytes], path: Path) -> None:
    # Format: https://samtools.github.io/hts-specs/VCFv4.3.pdf, section 6.3.
    size = int.from_bytes(file.read(9)[5:], "little")
    require_fits(f"{path}: the header", size, TEXT_COST)
    number = 0
    while True:
        file.seek(size, 1)
        sizes = file.read(8)
        if len(sizes) < 8:
            return
        number += 1
        size = int.from_bytes(sizes[:4], "little") + int.from_bytes(sizes[4:], "little")
        require_fits(f"{path}: record {number}", size, TEXT_COST)


def _open_records(path: Path, region: Region | None) -> tuple[list[bytes], Lines]:
    """Return the header and the record lines, without newlines."""
    kind = _kind(path)
    indexed = region is not None and index_of(path) is not None
    if kind == "vcf" and not indexed:
        lines = _text_lines(path)
        header = []
        size = 0
        for line in lines:
            header.append(line)
            size += len(line)
            require_fits(f"{path}: the header", size, TEXT_COST)
            if line.startswith(b"#CHROM"):
                return header, lines
            if not line.startswith(b"#"):
                break
        msg = f"{path} has no #CHROM line before its first record; it is not a complete VCF."
        raise ValueError(msg)
    return _htslib_records(path, region if indexed else None)


def _kind(path: Path) -> str:
    """Return "vcf" or "bcf" by content, compressed or not."""
    with named_damage(path), open_bytes(path) as file:
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
    with named_damage(path), open_bytes(path) as file:
        for line in lines_of(file, path):
            stripped = line.rstrip(b"\r\n")
            if stripped:
                yield stripped


def _htslib_records(path: Path, region: Region | None) -> tuple[list[bytes], Lines]:
    from cyvcf2 import VCF

    if region is None:
        require_records_fit(path)
    with named_failure(path, _CHECK):
        vcf = VCF(str(path))
        header = vcf.raw_header.encode().splitlines()
        if region is None:
            return header, _all_records(vcf, path)
        vcf.set_index(str(index_of(path)))
        contigs = [name.encode() for name in vcf.seqnames]
    if region.contig.encode() not in contigs:
        vcf.close()
        raise _nothing_found(path, region, contigs)
    return header, _query(vcf, region, path)


def _all_records(vcf, path: Path) -> Lines:  # type: ignore[no-untyped-def]
    with named_failure(path, _CHECK):
        for record in vcf:
            yield _line(record)


def _query(vcf, region: Region, path: Path) -> Lines:  # type: ignore[no-untyped-def]
    import warnings

    records = vcf(f"{{{region.contig}}}:{max(region.start, 1)}-{region.end or ''}")
    with named_failure(path, _CHECK):
        # cyvcf2 warns of an empty region; _nothing_found gives a better message.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no intervals found")
            first = list(islice(records, 1))
        for record in chain(first, records):
            yield _line(record)


def _line(record: object) -> bytes:
    return str(record).encode().rstrip(b"\n")


def _read_header(
    path: Path, header: list[bytes]
) -> tuple[list[bytes], dict[bytes, None], list[bytes]]:
    """Return the columns, and the ids of the filters and contigs that the header declares."""
    columns = header[-1].split(b"\t")
    if len(columns) <= _FIXED_COLUMNS:
        msg = f"{path} has no samples, so no genotypes: its #CHROM line has {len(columns)} columns."
        if len(header[-1].split()) > _FIXED_COLUMNS:
            msg = (
                f"{path} has blanks in its #CHROM line, where a VCF has tabs: "
                r"sed '/^##/!s/ \+/\t/g' FILE > NEW"
            )
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
    """Return the record without INFO and with GT as its only FORMAT field; VCF puts GT first."""
    *fixed, _, keys, calls = fields
    if keys.startswith(b"GT:"):
        calls = _OTHER_FORMAT_FIELDS.sub(b"", calls)
    elif keys != b"GT":
        calls = b"\t".join([b"."] * (calls.count(b"\t") + 1))
    return b"\t".join([*fixed, b".", b"GT", calls]) + b"\n"


def _add_headers(
    bodies: list[Path], contigs: dict[bytes, Path], filters: dict[bytes, None], columns: list[bytes]
) -> list[Path]:
    """Prepend a header to the records of each contig, which declares their filters and contigs."""
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
    meant = did_you_mean(region.contig, names)
    return ValueError(
        f"{path} has no contig {region.contig!r}; it has {shown or 'none'}{meant} {REGION_SYNTAX}"
    )


def _place(fields: list[bytes]) -> str:
    return b":".join(fields[:2]).decode(errors="replace")
