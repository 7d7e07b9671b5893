"""The header of a VCF or BCF: samples, contigs, filters, and the dictionary of a BCF."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import require_fits
from genobit.io._filters import PASS, attributes
from genobit.io.vcf_files.blocks import Blocks, kind_of, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genobit.io.vcf_files.source import Source

FIXED_COLUMNS = 9
_BCF_HEADER = 9
"""Bytes before the text of a BCF's header: a magic number and the size of the text."""
_FEWEST = 16
"""Bytes that show what a file is."""
_BEYOND = re.compile(rb"[<,]IDX=(\d{11,})")
"""A number that no record of a BCF can hold."""


@dataclass(frozen=True)
class Header:
    """What the lines before the first record say."""

    kind: str
    """How the file is compressed."""
    is_bcf: bool
    size: int
    """Bytes of inflated text before the first record."""
    lines: tuple[str, ...]
    samples: tuple[str, ...]

    @property
    def contigs(self) -> list[str]:
        """The contigs that the header declares."""
        return [name for _, name in _declared(self.lines, "contig")]

    def contig_by_number(self) -> dict[int, str]:
        """Return the contigs of a BCF by the number that records give."""
        return _numbered(_declared(self.lines, "contig"))

    def word_by_number(self) -> dict[int, str]:
        """Return the filters and fields of a BCF by the number that records give."""
        found = list(_declared(self.lines, "(?:FILTER|INFO|FORMAT)"))
        if not any(name == PASS for _, name in found):
            found.insert(0, (None, PASS))
        # PASS is 0 wherever its line stands.
        found.sort(key=lambda pair: pair[1] != PASS or pair[0] is not None)
        return _numbered(found)


def read_header(source: Source) -> Header:
    """Read the header of a file.

    Raises ValueError if the file is neither VCF nor BCF, is cut within its header, or has no
    samples.
    """
    kind = kind_of(source)
    text = bytearray()
    with ThreadPoolExecutor(1) as pool:
        for part in texts(source, kind, Blocks(), pool.submit, ahead=0):
            # The last line may be cut at any byte.
            seen = max(len(text) - len(b"\n#CHROM"), 0)
            text += part.data[part.first : part.stop].tobytes()
            if len(text) < _FEWEST:
                # A file may begin with small or empty blocks.
                continue
            if text.startswith(b"BCF"):
                size = _BCF_HEADER + int.from_bytes(text[5:9], "little")
                require_fits(f"{source.name}: the header", size, TEXT_COST)
                if len(text) >= size and len(text) >= _BCF_HEADER:
                    return _of_bcf(source, kind, bytes(text[:size]))
            else:
                _require_vcf(source, text)
                found = _text_size(text, seen)
                if found:
                    return _header(source, kind, bytes(text[:found]))
                _require_header(source, text, seen)
            require_fits(f"{source.name}: the header", len(text), TEXT_COST)
    _require_vcf(source, text)
    if text.startswith(b"BCF"):
        raise ValueError(f"{source.name} is truncated: it ends within its header. Copy it again.")
    if b"\n#CHROM" in text:
        return _header(source, kind, bytes(text))
    raise _no_columns(source)


def _text_size(text: bytearray, seen: int) -> int:
    """Return the bytes up to the end of the #CHROM line, or 0 if it is not whole."""
    line = text.find(b"\n#CHROM", seen)
    if line < 0:
        line = text.find(b"\n#CHROM", 0, seen + 8)
    return text.find(b"\n", line + 1) + 1 if line >= 0 else 0


def _require_vcf(source: Source, text: bytes | bytearray) -> None:
    if text.startswith((b"##fileformat", b"BCF\2")) or text[3:].startswith(b"##fileformat"):
        return
    msg = (
        f"{source.name} is neither VCF nor BCF: it begins with {bytes(text[:12])!r}, not with "
        "##fileformat=VCF. For a .bed use open_plink, for a VCF Zarr store open_vcf_zarr."
    )
    raise ValueError(msg)


def _require_header(source: Source, text: bytearray, seen: int) -> None:
    """Refuse a line that begins with something else than "#"."""
    at = text.find(b"\n", max(seen - 1, 0))
    while 0 <= at < len(text) - 1:
        if text[at + 1] not in b"#\r\n":
            raise _no_columns(source)
        at = text.find(b"\n", at + 1)


def _no_columns(source: Source) -> ValueError:
    return ValueError(
        f"{source.name} has no #CHROM line before its first record; it is not a complete VCF."
    )


def _of_bcf(source: Source, kind: str, text: bytes) -> Header:
    if text[:5] not in (b"BCF\2\1", b"BCF\2\2"):
        msg = f"{source.name} is a BCF of version {text[3]}.{text[4]}; genobit reads 2.1 and 2.2."
        raise ValueError(msg)
    beyond = _BEYOND.search(text)
    if beyond:
        number = beyond[1].decode()[:20]
        msg = f"{source.name} is damaged: its header has IDX={number}. Copy it again."
        raise ValueError(msg)
    return _header(source, kind, text[_BCF_HEADER:].rstrip(b"\0"), _BCF_HEADER, len(text))


def _header(
    source: Source, kind: str, text: bytes, before: int = 0, size: int | None = None
) -> Header:
    try:
        lines = tuple(text.decode().splitlines())
    except UnicodeDecodeError as error:
        msg = (
            f"{source.name} is not UTF-8 text: its header holds the byte "
            f"0x{text[error.start]:02x}. Convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW."
        )
        raise ValueError(msg) from error
    last = next((line for line in reversed(lines) if line.startswith("#CHROM")), None)
    if last is None:
        raise _no_columns(source)
    columns = last.split("\t")
    if len(columns) <= FIXED_COLUMNS:
        msg = (
            f"{source.name} has no samples, so no genotypes: its #CHROM line has {len(columns)} "
            "columns."
        )
        if len(last.split()) > FIXED_COLUMNS:
            msg = (
                f"{source.name} has blanks in its #CHROM line, where a VCF has tabs: "
                r"sed '/^##/!s/ \+/\t/g' FILE > NEW"
            )
        raise ValueError(msg)
    samples = tuple(columns[FIXED_COLUMNS:])
    twice = (
        {name for name in samples if samples.count(name) > 1}
        if len(set(samples)) < len(samples)
        else ()
    )
    if twice:
        name = next(x for x in samples if x in twice)
        at = samples.index(name, samples.index(name) + 1)
        msg = (
            f"{source.name}: sample {at + 1} ({name!r}) has the name of an earlier one. Rename it "
            "with 'bcftools reheader -s'."
        )
        raise ValueError(msg)
    return Header(kind, before > 0, len(text) if size is None else size, lines, samples)


def _declared(lines: tuple[str, ...], key: str) -> Iterator[tuple[int | None, str]]:
    """Yield number (IDX) and name (ID) of the lines of a kind."""
    begins = re.compile(f"##{key}=<")
    for line in filter(begins.match, lines):
        found = attributes(line)
        if found.get("ID"):
            number = found.get("IDX", "")
            yield int(number) if number.isdecimal() else None, found["ID"]


def _numbered(found: Iterable[tuple[int | None, str]]) -> dict[int, str]:
    """Return names by number: that of the line, or the next one for a name that is new."""
    by_number: dict[int, str] = {}
    known: set[str] = set()
    for number, name in found:
        if name in known and number is None:
            continue
        by_number[len(known) if number is None else number] = name
        known.add(name)
    return by_number
