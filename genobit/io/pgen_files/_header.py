"""Check the header and the size of a .pgen file.

The specification of the format is
https://github.com/chrchang/plink-ng/blob/master/pgen_spec/pgen_spec.tex.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from genobit.io.plink import MAGIC

COUNTED_ALLELE = "variant_allele[:, 1] (ALT)"
PROVISIONAL = "variant_allele[:, 1] (ALT; which allele is the reference is provisional)"
"""Counted allele of files that were made of a .bed, where REF is only the more common allele."""

HEADER_BYTES = 12
_FIXED, _STANDARD = 0x02, 0x10
_BED_MODES = (0x00, 0x01)
_BLOCK = 2**16
"""Variants in a block of the header."""
_PROVISIONAL = (2, 3)
"""Codes in the header for references that are provisional for all, or for some variants."""


class Header(NamedTuple):
    """Facts of a .pgen file's header."""

    n_variants: int
    n_samples: int
    provisional: bool
    """Whether some alleles 0 may not be the reference, as in files made of a .bed."""


def read_header(path: str) -> Header:
    """Return the header of a .pgen file.

    Raises ValueError if the file is not a .pgen, is stored in a way that is not read, or has
    another size than its header says.
    """
    with Path(path).open("rb") as file:
        start = file.read(HEADER_BYTES)
        _require_pgen(path, start)
        n_variants, n_samples = struct.unpack("<II", start[3:11])
        if not n_variants or not n_samples:
            raise ValueError(
                f"{path} is damaged: its header says {n_variants} variants and {n_samples} "
                "samples. Copy it again."
            )
        control = start[11]
        found = file.seek(0, 2)
        if start[2] == _FIXED:
            expected = HEADER_BYTES + n_variants * ((n_samples + 3) // 4)
        else:
            expected = _standard_size(file, path, n_variants, control)
    if found != expected:
        fault = "truncated" if found < expected else "damaged or too long"
        raise ValueError(
            f"{path} is {fault}: by its header it takes {expected} bytes, and it has {found}. "
            "Copy it again."
        )
    return Header(n_variants, n_samples, control >> 6 in _PROVISIONAL)


def _require_pgen(path: str, start: bytes) -> None:
    if start[:2] != MAGIC:
        raise ValueError(
            f"{path} is not a PLINK 2 .pgen file: it begins with {start[:2].hex(' ') or 'nothing'} "
            f"instead of {MAGIC.hex(' ')}. For VCF or BCF use open_vcf."
        )
    if len(start) < HEADER_BYTES:
        msg = f"{path} is truncated: it has {len(start)} bytes, and a header takes {HEADER_BYTES}."
        raise ValueError(msg)
    if start[2] in _BED_MODES:
        raise ValueError(f"{path} is a PLINK 1 .bed file: name it .bed and use open_plink.")
    if start[2] not in {_FIXED, _STANDARD}:
        raise ValueError(
            f"{path} has the storage mode 0x{start[2]:02x}, which is not read. Rewrite it: "
            "plink2 --pfile NAME --make-pgen --out NEW."
        )


def _standard_size(file: IO[bytes], path: str, n_variants: int, control: int) -> int:
    """Return the size of a file in storage mode 0x10: the place and length of its last block."""
    blocks = -(-n_variants // _BLOCK)
    lengths = (control & 3) + 1
    # For each variant: a type of 4 or 8 bits, the length of its record, and its alleles if stored.
    halves = 2 if control & 4 else 1
    counts = (control >> 4) & 3
    flags = control >> 6 == 3

    def skipped(rows: int) -> int:
        return (rows * halves + 1) // 2

    def size(rows: int) -> int:
        return skipped(rows) + rows * (lengths + counts) + ((rows + 7) // 8 if flags else 0)

    rows = n_variants - (blocks - 1) * _BLOCK
    at = HEADER_BYTES + 8 * blocks + (blocks - 1) * size(_BLOCK)
    file.seek(HEADER_BYTES + 8 * (blocks - 1))
    place = file.read(8)
    file.seek(at + skipped(rows))
    stored = np.frombuffer(file.read(rows * lengths), np.uint8)
    if control & 8 or len(place) < 8 or stored.size < rows * lengths:
        msg = f"{path} is truncated or damaged: its header lists no records. Copy it again."
        raise ValueError(msg)
    weights = 256 ** np.arange(lengths, dtype=np.int64)
    total = int((stored.reshape(rows, lengths).sum(axis=0, dtype=np.int64) * weights).sum())
    return int.from_bytes(place, "little") + total
