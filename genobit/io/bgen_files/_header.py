"""Read the header, the sample ids and the labels of all variants of a BGEN file.

The format is that of https://www.chg.ox.ac.uk/~gav/bgen_format/spec/latest.html. All sizes that the
file declares are compared with its own size before anything is read or allocated.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import get_options, require_fits

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_MAGICS = (b"bgen", bytes(4))
_LEAST_HEADER = 20
_LEAST_VARIANT = 16
"""Bytes of the numbers that each variant has."""
_COMPRESSIONS = ("none", "zlib", "zstd")
_VARIANT_COST = 150
"""Bytes of memory per variant with short labels."""
_AGAIN = "Copy it again."


@dataclass(frozen=True)
class Header:
    """The header of a BGEN file."""

    first_variant: int
    """Offset of the first variant, in bytes."""
    variants: int
    samples: int
    layout: int
    compression: int
    """0 none, 1 zlib, 2 zstd."""
    sample_ids: list[str] | None


class Variants(NamedTuple):
    """Labels and offsets of variants, each an array of all of them."""

    offset: NDArray[np.int64]
    position: NDArray[np.int64]
    contig: NDArray[np.object_]
    id: NDArray[np.object_]
    first: NDArray[np.object_]
    """First allele, or "" of a variant with another number of alleles than two."""
    second: NDArray[np.object_]
    alleles: NDArray[np.int64]
    """Number of alleles."""


class _Cursor:
    """A BGEN file that is read in order; each read is checked against the size of the file."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self.file, self.path = file, path
        self.size = path.stat().st_size
        self.at = 0
        self.texts = 0
        self.most_texts = get_options().eager_limit // TEXT_COST

    def fault(self, what: str) -> ValueError:
        return ValueError(f"{self.path} is truncated or damaged: {what}. {_AGAIN}")

    def require(self, end: int, what: str) -> None:
        """Raise ValueError if a part of the file, ``what``, ends behind the file."""
        if end > self.size:
            msg = f"{what} ends at byte {end:,}, the file at {self.size:,}"
            raise self.fault(msg)

    def take(self, length: int, what: str) -> bytes:
        """Return the next bytes; ``what`` names them in an error."""
        self.at += length
        self.require(self.at, what)
        return self.file.read(length)

    def number(self, kind: str, what: str) -> int:
        """Return the next number, of type "<H" (16 bits) or "<I" (32 bits)."""
        (value,) = struct.unpack(kind, self.take(2 if kind == "<H" else 4, what))
        return int(value)

    def text(self, kind: str, what: str) -> str:
        """Return the next text, whose length is a number of type ``kind`` before it."""
        length = self.number(kind, what)
        self.texts += length
        self.require(self.at + length, what)
        if self.texts > self.most_texts:
            require_fits(f"{self.path}: the labels up to {what}", self.texts, TEXT_COST)
        try:
            return self.take(length, what).decode()
        except UnicodeDecodeError as error:
            msg = f"{what} has a label that is not UTF-8 text"
            raise self.fault(msg) from error

    def jump(self, at: int, what: str) -> None:
        """Continue at an offset in bytes."""
        self.require(at, what)
        self.at = at
        self.file.seek(at)


def read_header(path: Path) -> Header:
    """Return the header; raise ValueError if the file is not BGEN, or is damaged there."""
    with path.open("rb") as file:
        cursor = _Cursor(file, path)
        start = file.read(_LEAST_HEADER)
        file.seek(0)
        if len(start) < _LEAST_HEADER or start[16:] not in _MAGICS:
            msg = (
                f"{path} is not a BGEN file: bytes 16 to 19 are "
                f"{start[16:].hex(' ') or 'not there'}, expected 62 67 65 6e. For a .bed use "
                "open_plink, for VCF or BCF open_vcf."
            )
            raise ValueError(msg)
        offset, length, variants, samples, _ = struct.unpack("<5I", cursor.take(20, "the header"))
        if not _LEAST_HEADER <= length <= offset or offset + 4 > cursor.size:
            msg = f"its header takes {length:,} bytes, and its first variant is at {offset + 4:,}"
            raise cursor.fault(msg)
        cursor.take(length - _LEAST_HEADER, "the header")
        flags = cursor.number("<I", "the header")
        compression, layout, has_ids = flags & 0b11, flags >> 2 & 0b1111, flags >> 31
        if layout not in {1, 2} or compression >= len(_COMPRESSIONS):
            msg = f"its header names layout {layout} and compression {compression}"
            raise cursor.fault(f"{msg}, expected layout 1 or 2 and compression 0, 1 or 2")
        if not samples:
            msg = f"{path} has no samples."
            raise ValueError(msg)
        ids = _sample_ids(cursor, samples, offset + 4) if has_ids else None
        return Header(offset + 4, variants, samples, layout, compression, ids)


def _sample_ids(cursor: _Cursor, samples: int, end: int) -> list[str]:
    length, count = (cursor.number("<I", "the block of sample ids") for _ in range(2))
    if count != samples or cursor.at - 8 + length > end:
        msg = f"its header names {samples:,} samples, its {length:,} bytes of ids {count:,}"
        raise cursor.fault(msg)
    ids = [cursor.text("<H", f"the id of sample {k}") for k in range(samples)]
    if cursor.at > end:
        msg = f"its sample ids end at byte {cursor.at:,}, and its first variant is at {end:,}"
        raise cursor.fault(msg)
    return ids


def read_variants(path: Path, header: Header) -> Variants:
    """Return labels and offsets of all variants, without their genotypes.

    Raises ValueError if the file is truncated, or too long for the number of its variants.
    """
    n = header.variants
    names: dict[str, str] = {}
    with path.open("rb") as file:
        cursor = _Cursor(file, path)
        cursor.require(header.first_variant + _LEAST_VARIANT * n, f"the last of {n:,} variants")
        cursor.jump(header.first_variant, "the header")
        require_fits(f"{path}: the labels of {n:,} variants", n, _VARIANT_COST)
        offset, position, counts = (np.empty(n, np.int64) for _ in range(3))
        contig, rsid, first, second = (np.empty(n, object) for _ in range(4))
        for k in range(n):
            what = f"variant {k} of {n}"
            offset[k] = cursor.at
            name, rsid[k], position[k], alleles = _read_labels(cursor, header, what)
            contig[k] = names.setdefault(name, name)
            counts[k] = len(alleles)
            first[k], second[k] = alleles if len(alleles) == 2 else ("", "")
            _skip_genotypes(cursor, header, len(alleles), what)
        if cursor.at != cursor.size:
            msg = f"{cursor.size - cursor.at:,} bytes follow the last of its {n:,} variants"
            raise cursor.fault(msg)
    return Variants(offset, position, contig, rsid, first, second, counts)


def _read_labels(cursor: _Cursor, header: Header, what: str) -> tuple[str, str, int, list[str]]:
    """Return contig, rsid, position and alleles of the next variant."""
    if header.layout == 1:
        samples = cursor.number("<I", what)
        if samples != header.samples:
            msg = f"{what} has {samples:,} samples, the header names {header.samples:,}"
            raise cursor.fault(msg)
    _, rsid, contig = (cursor.text("<H", what) for _ in range(3))
    position = cursor.number("<I", what)
    alleles = 2 if header.layout == 1 else cursor.number("<H", what)
    return contig, rsid, position, [cursor.text("<I", what) for _ in range(alleles)]


def _skip_genotypes(cursor: _Cursor, header: Header, alleles: int, what: str) -> None:
    """Move past the genotypes, and check their sizes."""
    if header.layout == 1:
        packed = header.compression != 0
        length = cursor.number("<I", what) if packed else 6 * header.samples
        cursor.jump(cursor.at + length, what)
        return
    length = cursor.number("<I", what)
    end = cursor.at + length
    if header.compression:
        if length < 4:
            msg = f"the genotypes of {what} take {length} bytes"
            raise cursor.fault(msg)
        length = cursor.number("<I", what)
    # 10 bytes, one for each sample, and at most two probabilities of 32 bits for each.
    least = 10 + header.samples
    if alleles == 2 and not least <= length <= least + 8 * header.samples:
        most = least + 8 * header.samples
        msg = (
            f"the genotypes of {what} have {length:,} decompressed bytes, expected {least:,} to "
            f"{most:,} for {header.samples:,} samples with at most two copies"
        )
        raise cursor.fault(msg)
    cursor.jump(end, what)
