"""The bit layout: planes, words and the padding rule.

All code that reads or writes planes takes the layout from this module.

- A plane is an array (rows, words) of uint64. Position ``p`` of a row is bit ``p % 64`` of word
  ``p // 64``.
- The last word of a row is padded with zeros in every plane. `require_sound` refuses other planes.
- `UNWRITTEN` is the fill value of planes in Zarr stores. `require_sound` refuses a chunk that was
  never written.
- Dosages g in {0, 1, 2} have the planes ``carrier`` (g >= 1) and ``hom_alt`` (g == 2); g is their
  sum. Haplotypes have the plane ``alt``. These planes have zero bits where a call is missing.
- The plane ``called`` marks the calls that are present. A layout without it has no missing call.
- Haplotype h of sample s is position ``ploidy * s + h``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

VERSION = 1
"""Version of the layout. Packed Datasets store it; other versions are refused."""

PLANES = {"dosage": ("carrier", "hom_alt"), "haplotype": ("alt",)}
CALLED = "called"
PREFIX = "plane_"
UNWRITTEN = np.uint64(int.from_bytes(b"\xb5genobit"))
"""Fill value of planes in Zarr stores. Its top bit is set, so an unwritten last word with
padding has a padding bit set."""
_ATTRIBUTES = {
    "kind": "genobit_layout",
    "rows": "genobit_rows",
    "bits": "genobit_bits",
    "ploidy": "genobit_ploidy",
    "version": "genobit_version",
}


def words_for(bits: int) -> int:
    """Return the number of words that hold a row of ``bits`` bits."""
    return -(-bits // 64)


def tail_mask(bits: int) -> np.uint64:
    """Return a mask of the last word's bits without the padding bits."""
    return ~np.uint64(0) >> np.uint64(-bits % 64)


def pack_bits(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack bits (..., n) into words (..., ceil(n / 64)) with zero padding bits."""
    n = bits.shape[-1]
    octets = np.zeros((*bits.shape[:-1], 8 * words_for(n)), np.uint8)
    octets[..., : -(-n // 8)] = np.packbits(bits, axis=-1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack_bits(words: NDArray[np.uint64], bits: int) -> NDArray[np.uint8]:
    """Unpack words (..., words) into the first ``bits`` bits of each row, 0 or 1: (..., bits)."""
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=bits, bitorder="little")


def require_sound(
    words: NDArray[np.uint64], layout: Layout, name: str, row: int = 0, *, last: bool = True
) -> None:
    """Raise ValueError for rows that have set padding bits or were never written to their store.

    words: a chunk (rows, words) of the plane. ``row`` is the number of the chunk's first row, for
    the message. ``last`` tells whether the chunk holds the last words of its rows.
    """
    padding = ~tail_mask(layout.bits) if last else np.uint64(0)
    # A copy, because rows are cache lines apart and this is read twice.
    ends = words[:, -1].copy()
    suspects = np.flatnonzero(((ends & padding) != 0) | (ends == UNWRITTEN))
    for k in suspects:
        place = f"{name} at {layout.rows}={row + int(k)}"
        if (words[k] == UNWRITTEN).all():
            msg = (
                f"{place} was never written: the store is not complete. Copy it again, or remove "
                "it and write it with genobit.to_zarr; repeat that call to resume if it is stopped"
            )
            raise ValueError(msg)
        if ends[k] & padding:
            msg = (
                f"{place} has bits set past the {layout.bits:,} of a row, where padding has to be "
                "zero: the plane is damaged; pack the genotypes again"
            )
            raise ValueError(msg)


@dataclass(frozen=True)
class Layout:
    """Layout of genotypes in bit planes."""

    kind: str
    """"dosage" or "haplotype"."""
    rows: str
    """"variants" or "samples": the dimension of the rows. The other dimension runs along the
    bits."""
    bits: int
    """Positions per row, without the padding."""
    ploidy: int
    """Positions per sample: 1 for dosages, the ploidy for haplotypes."""
    version: int = VERSION

    @property
    def along(self) -> str:
        """The dimension that runs along the bits."""
        return "samples" if self.rows == "variants" else "variants"

    @property
    def words(self) -> int:
        """Words per row."""
        return words_for(self.bits)

    @property
    def planes(self) -> tuple[str, ...]:
        """Names of the planes that hold values: all but ``called``."""
        return PLANES[self.kind]

    def to_attributes(self) -> dict[str, Any]:
        """Return the attributes of a packed Dataset."""
        return {_ATTRIBUTES[name]: value for name, value in asdict(self).items()}

    @classmethod
    def from_attributes(cls, attributes: Mapping[str, Any]) -> Layout | None:
        """Return the layout that a Dataset's attributes describe, or None if it is not packed.

        Raises ValueError for planes of another layout version and for missing or invalid
        attributes.
        """
        if _ATTRIBUTES["version"] not in attributes:
            return None
        version = attributes[_ATTRIBUTES["version"]]
        if version != VERSION:
            msg = (
                f"the planes have layout version {version}, this genobit reads version {VERSION}: "
                "pack the genotypes again"
            )
            raise ValueError(msg)
        absent = [name for name in _ATTRIBUTES.values() if name not in attributes]
        if absent:
            msg = f"the packed Dataset lacks the attribute {absent[0]!r}: pack the genotypes again"
            raise ValueError(msg)
        layout = cls(**{field: attributes[name] for field, name in _ATTRIBUTES.items()})
        numbers = [attributes[_ATTRIBUTES[field]] for field in ("bits", "ploidy")]
        whole = all(isinstance(number, int | np.integer) and number >= 1 for number in numbers)
        if layout.kind not in PLANES or layout.rows not in {"variants", "samples"} or not whole:
            msg = f"the attributes describe no known layout: {layout}; pack the genotypes again"
            raise ValueError(msg)
        return layout
