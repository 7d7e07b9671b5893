"""Read the header, the sample ids and the labels of all variants of a BGEN file.

The format is that of https://www.chg.ox.ac.uk/~gav/bgen_format/spec/latest.html. All sizes that the
file declares are compared with its own size before anything is read or allocated.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import numpy as np

from genobit.data.guards.bounded import TEXT_COST
from genobit.engine.options import get_options, require_fits
from genobit.io.kernels.bgen_labels import CUT, ODD, Labels, Sizes, scan_labels

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


_SHORT, _LONG = struct.Struct("<H"), struct.Struct("<I")
_WINDOW = 512
"""Bytes that are read at once: of most variants all up to their genotypes."""
_MANY = 2**20
"""Bytes that are read at once if variants are near each other."""
_NEAR = 4096
"""Bytes from variant to variant, at most, to read genotypes too: a disk reads pages of them."""


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
            raise self.fault(f"{what} ends at byte {end:,}, the file at {self.size:,}")

    def take(self, length: int, what: str) -> bytes:
        """Return the next bytes; ``what`` names them in an error."""
        self.at += length
        self.require(self.at, what)
        return self.file.read(length)

    def window(self, at: int, size: int) -> NDArray[np.uint8]:
        """Return up to ``size`` bytes of the file from a place on."""
        self.file.seek(at)
        return np.frombuffer(self.file.read(size), np.uint8)

    def number(self, kind: str, what: str) -> int:
        """Return the next number, of type "<H" (16 bits) or "<I" (32 bits)."""
        (value,) = struct.unpack(kind, self.take(2 if kind == "<H" else 4, what))
        return int(value)

    def text(self, kind: str, what: str) -> str:
        """Return the next text, whose length is a number of type ``kind`` before it."""
        length = self.number(kind, what)
        self.require(self.at + length, what)
        self.count_text(length, what)
        try:
            return self.take(length, what).decode()
        except UnicodeDecodeError as error:
            raise self.fault(f"{what} has a label that is not UTF-8 text") from error

    def count_text(self, length: int, what: str) -> None:
        """Raise ValueError if the text that was read takes more memory than the limit."""
        self.texts += length
        if self.texts > self.most_texts:
            require_fits(f"{self.path}: the labels up to {what}", self.texts, TEXT_COST)


def read_header(path: Path) -> Header:
    """Return the header; raise ValueError if the file is not BGEN, or is damaged there."""
    with path.open("rb") as file:
        cursor = _Cursor(file, path)
        start = file.read(_LEAST_HEADER)
        file.seek(0)
        # Zeros are a magic too, and many other files have zeros there.
        impossible = start[16:] == bytes(4) and not _possible(start, cursor.size)
        if len(start) < _LEAST_HEADER or start[16:] not in _MAGICS or impossible:
            raise ValueError(
                f"{path} is not a BGEN file: bytes 16 to 19 are "
                f"{start[16:].hex(' ') or 'not there'}, expected 62 67 65 6e. For a .bed use "
                "open_plink, for a .pgen open_pgen, for VCF or BCF open_vcf."
            )
        offset, length, variants, samples, _ = struct.unpack("<5I", cursor.take(20, "the header"))
        if not _possible(start, cursor.size):
            msg = f"its header takes {length:,} bytes, and its first variant is at {offset + 4:,}"
            raise cursor.fault(msg)
        cursor.take(length - _LEAST_HEADER, "the header")
        flags = cursor.number("<I", "the header")
        compression, layout, has_ids = flags & 0b11, flags >> 2 & 0b1111, flags >> 31
        if layout not in {1, 2} or compression >= len(_COMPRESSIONS):
            msg = f"its header names layout {layout} and compression {compression}"
            raise cursor.fault(f"{msg}, expected layout 1 or 2 and compression 0, 1 or 2")
        if not samples:
            raise ValueError(f"{path} has no samples.")
        ids = _sample_ids(cursor, samples, offset + 4) if has_ids else None
        return Header(offset + 4, variants, samples, layout, compression, ids)


def _possible(start: bytes, size: int) -> bool:
    """Return whether the header ends before the first variant, and this is in the file."""
    offset, length = struct.unpack("<2I", start[:8])
    return bool(_LEAST_HEADER <= length <= offset and offset + 4 <= size)


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


def read_variants(path: Path, header: Header) -> Labels:
    """Return labels and offsets of all variants, without their genotypes.

    Raises ValueError if the file is truncated, or too long for the number of its variants.
    """
    n = header.variants
    with path.open("rb", buffering=0) as file:
        cursor = _Cursor(file, path)
        cursor.require(header.first_variant + _LEAST_VARIANT * n, f"the last of {n:,} variants")
        require_fits(f"{path}: the labels of {n:,} variants", n, _VARIANT_COST)
        many = cursor.size - header.first_variant < _NEAR * n
        found, at = _scanned(cursor, header, _MANY if many else _WINDOW)
        if at != cursor.size:
            raise cursor.fault(f"{cursor.size - at:,} bytes follow the last of its {n:,} variants")
    return found


def _scanned(cursor: _Cursor, header: Header, window: int) -> tuple[Labels, int]:
    """Return the labels of all variants, read in windows, and where the last variant ends."""
    n = header.variants
    sizes = Sizes(cursor.size, n, header.samples, header.layout, bool(header.compression))
    offset, position, alleles = (np.empty(n, np.int64) for _ in range(3))
    contig, edges = np.empty((n, 2), np.int64), np.empty((n, 4), np.int64)
    found = Labels(offset, position, alleles, contig, edges, np.empty(0, np.uint8))
    k, used, at, base, data = 0, 0, header.first_variant, 0, np.empty(0, np.uint8)
    while k < n:
        if not base <= at < base + data.size:
            base, data = at, cursor.window(at, window)
        found = found._replace(text=_with_room(found.text, used + data.size))
        before = k
        k, at, used, why = scan_labels(data, at - base, base, k, used, sizes, found)
        if used > _WINDOW * k:
            cursor.count_text(used - cursor.texts, f"variant {k}")
        if why == CUT and k == before and at > base:
            base, data = at, cursor.window(at, window)
        elif why == ODD or k == before:
            found, used, at = _with_variant(cursor, header, found, k, used, at)
            k += 1
    return found._replace(text=found.text[:used].copy()), at


def _with_room(text: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return a buffer of at least ``size`` bytes that begins with ``text``."""
    if text.size >= size:
        return text
    wider = np.empty(2 * size, np.uint8)
    wider[: text.size] = text
    return wider


def _with_variant(
    cursor: _Cursor, header: Header, found: Labels, k: int, used: int, at: int
) -> tuple[Labels, int, int]:
    """Add a variant that `scan_labels` stopped at; return the labels, bytes used and its end."""
    found.offset[k] = at
    (contig, rsid, *alleles), found.position[k], at = _read_variant(cursor, at, header, k)
    found.alleles[k] = len(alleles)
    names = [x.encode() for x in (contig, rsid, *(alleles if len(alleles) == 2 else ("", "")))]
    edges = used + np.cumsum([0, *map(len, names)])
    found = found._replace(text=_with_room(found.text, int(edges[-1])))
    found.text[used : edges[-1]] = np.frombuffer(b"".join(names), np.uint8)
    found.contig[k], found.edges[k] = edges[:2], edges[1:]
    return found, int(edges[-1]), at


def _read_variant(cursor: _Cursor, at: int, header: Header, k: int) -> tuple[list[str], int, int]:
    """Return contig, rsid and alleles of a variant, its position, and where the next one begins."""
    size = _WINDOW
    while True:
        cursor.file.seek(at)
        data = cursor.file.read(size)
        try:
            texts, position, used, length = parse_variant(data, header)
        except struct.error as error:
            if len(data) < size:
                raise cursor.fault(f"the file ends in variant {k} of {header.variants}") from error
            size *= 8
            require_fits(f"{cursor.path}: the labels of variant {k}", size, TEXT_COST)
        except (_DamageError, UnicodeDecodeError) as error:
            raise cursor.fault(f"variant {k} of {header.variants}: {error}") from error
        else:
            break
    if used > _WINDOW:
        cursor.count_text(used, f"variant {k}")
    end = at + used + length
    cursor.require(end, f"variant {k} of {header.variants}")
    return texts, position, end


class _DamageError(Exception):
    """Sizes of a variant that cannot be right."""


def parse_variant(data: bytes, header: Header) -> tuple[list[str], int, int, int]:
    """Return texts, position and bytes of the labels at the start of ``data``, and of the rest.

    Raises struct.error if ``data`` ends before the genotypes.
    """
    at, alleles = 0, 2
    if header.layout == 1:
        (samples,) = _LONG.unpack_from(data)
        if samples != header.samples:
            raise _DamageError(f"it has {samples:,} samples, the header names {header.samples:,}")
        at = 4
    _, at = _label(data, at, _SHORT)
    rsid, at = _label(data, at, _SHORT)
    contig, at = _label(data, at, _SHORT)
    (position,) = _LONG.unpack_from(data, at)
    at += 4
    if header.layout == 2:
        (alleles,) = _SHORT.unpack_from(data, at)
        at += 2
    texts = [contig, rsid]
    for _ in range(alleles):
        text, at = _label(data, at, _LONG)
        texts.append(text)
    if header.layout == 1 and not header.compression:
        return texts, position, at, 6 * header.samples
    (length,) = _LONG.unpack_from(data, at)
    if header.layout == 2:
        size = length
        if header.compression:
            (size,) = _LONG.unpack_from(data, at + 4)
        _check_size(header, alleles, length, size)
    return texts, position, at + 4, length


def _label(data: bytes, at: int, length_type: struct.Struct) -> tuple[str, int]:
    """Return the text at an offset, and where it ends; raise struct.error if it is not whole."""
    (length,) = length_type.unpack_from(data, at)
    start = at + length_type.size
    end = start + length
    if end > len(data):
        raise struct.error
    return data[start:end].decode(), end


def _check_size(header: Header, alleles: int, length: int, size: int) -> None:
    """Raise an error if genotypes are compressed to or decompressed from impossible sizes."""
    # 10 bytes, one for each sample, and at most 63 probabilities of 32 bits for each.
    least = 10 + header.samples
    most = least + 63 * 4 * header.samples
    if (alleles == 2 and not least <= size <= most) or length < 4:
        raise _DamageError(
            f"its genotypes have {size:,} decompressed bytes, expected {least:,} to {most:,} for "
            f"{header.samples:,} samples"
        )
