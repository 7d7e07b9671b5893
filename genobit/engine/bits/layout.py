"""The description of the bit layout: planes, words, and the rule for the tail.

May import: kernels (and numpy). Everything that reads or writes planes asks here.

- A plane is an array (rows, words) of uint64. Position ``p`` of a row is bit ``p % 64`` of word
  ``p // 64``.
- The last word is padded with zeros, in every plane. `require_sound` refuses any other plane.
- A chunk of a plane that was never written reads as `UNWRITTEN` in Zarr, and is refused too.
- Dosages g in {0, 1, 2} have the planes ``carrier`` (g >= 1) and ``hom_alt`` (g == 2), so g is
  their sum; haplotypes have ``alt``. A bit is set there only where the call is present.
- ``called`` marks the calls that are present. A layout without it has no missing call.
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
"""Version of the layout; a packed Dataset carries it, and other versions are refused."""

PLANES = {"dosage": ("carrier", "hom_alt"), "haplotype": ("alt",)}
CALLED = "called"
PREFIX = "plane_"
UNWRITTEN = np.uint64(int.from_bytes(b"\xb5genobit"))
"""Fill value of planes in Zarr stores. Its top bit makes it set padding, where there is padding."""
_ATTRIBUTES = {
    "kind": "genobit_layout",
    "rows": "genobit_rows",
    "bits": "genobit_bits",
    "ploidy": "genobit_ploidy",
    "version": "genobit_version",
}


def words_for(bits: int) -> int:
    """Words that hold a row of ``bits`` bits."""
    return -(-bits // 64)


def tail_mask(bits: int) -> np.uint64:
    """The bits of the last word that are not padding."""
    return np.uint64((1 << (bits % 64 or 64)) - 1)


def require_sound(
    words: NDArray[np.uint64], layout: Layout, name: str, row: int = 0, *, last: bool = True
) -> None:
    """Refuse rows of a plane with set padding bits, or that were never written to their store.

    Parameters
    ----------
    words
        A chunk of the plane (rows, words).
    layout
        The layout of the plane.
    name
        The variable that holds the plane, for the message.
    row
        Number of the first row, for the message.
    last
        Whether the chunk holds the last words of its rows.

    Raises
    ------
    ValueError
        Names the plane, the row and the remedy.
    """
    padding = ~tail_mask(layout.bits) if last else np.uint64(0)
    ends = words[:, -1]
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
    """How genotypes are laid out in planes."""

    kind: str
    """"dosage" or "haplotype"."""
    rows: str
    """What a row is: "variants" or "samples"; the other one runs along the bits."""
    bits: int
    """Positions of a row, without the padding."""
    ploidy: int
    """Positions of a sample: 1 for dosages, the ploidy for haplotypes."""
    version: int = VERSION

    @property
    def along(self) -> str:
        """The dimension that runs along the bits."""
        return "samples" if self.rows == "variants" else "variants"

    @property
    def words(self) -> int:
        """Words of a row."""
        return words_for(self.bits)

    @property
    def planes(self) -> tuple[str, ...]:
        """Names of the planes that hold values, without ``called``."""
        return PLANES[self.kind]

    def to_attributes(self) -> dict[str, Any]:
        """Attributes of a packed Dataset."""
        return {_ATTRIBUTES[name]: value for name, value in asdict(self).items()}

    @classmethod
    def from_attributes(cls, attributes: Mapping[str, Any]) -> Layout | None:
        """The layout that a Dataset's attributes describe; none if it is not packed.

        Raises
        ------
        ValueError
            If another version wrote the planes, or an attribute is missing or no layout that
            exists.
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
