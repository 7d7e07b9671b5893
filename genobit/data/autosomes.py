"""Autosomes of a Dataset, told by the names of its contigs.

Relationships, kinship, identity by state and principal components are of two copies of each
chromosome. May import: `labels` and what is below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import labels, model

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

Autosomes = bool | int | Sequence[str]
"""True (human), False (use every variant), the number of autosomes, or names of contigs."""

HUMAN = 22
_PREFIX = "CHR"
_NOT_AUTOSOMES = frozenset({"X", "Y", "MT", "M"})
"""Names of plink that are not autosomes. XY, PAR1 and PAR2 have two copies in everybody."""
_AFTER_THE_LAST = {1: "X", 2: "Y", 3: "XY", 4: "MT"}
"""What plink calls the numbers after the last autosome: 23 to 26 in humans."""


class Chosen(NamedTuple):
    """Variants that an analysis of autosomes uses."""

    kept: NDArray[np.bool_] | None
    """(variants,): which variants are used; None for all."""
    left_out: int
    """Number of variants that are not used."""
    contigs: tuple[str, ...]
    """Names of the contigs that are not used, in the order of the Dataset."""

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the variants that are used, of values (variants,) of all."""
        return values if self.kept is None else values[self.kept]

    def attributes(self) -> dict[str, Any]:
        """What attrs of a result say of the variants that were left out."""
        return {"variants_left_out": self.left_out, "contigs_left_out": ", ".join(self.contigs)}


_ALL = Chosen(None, 0, ())


def choose(ds: xr.Dataset, autosomes: Autosomes) -> Chosen:
    """Return the variants on autosomes.

    Contigs are recognised by name as plink does, in upper or lower case, with or without "chr":
    X, Y, MT and M are left out, as are 23 (X), 24 (Y) and 26 (MT). Every other name is used: 25
    (XY), PAR1, PAR2, 0, and unplaced and HLA contigs.

    Parameters
    ----------
    ds
        With ``variant_contig`` as text or as numbers into ``contig_id``. Other Datasets do not
        name their contigs, and every variant is used.
    autosomes
        True for human chromosomes; the number of autosomes of another species, of n the numbers
        n + 1 (X), n + 2 (Y) and n + 4 (MT) are left out; names of the contigs to use; or False to
        use every variant.

    Raises
    ------
    TypeError
        For any other argument.
    ValueError
        For a chromosome number that the species does not have, a name that is not in the Dataset,
        or if no variant is left.
    """
    names = _checked(autosomes)
    if autosomes is False:
        return _ALL
    contigs = _named(ds)
    if contigs is None:
        if names is None:
            return _ALL
        msg = (
            f"autosomes={autosomes!r} names contigs, and the Dataset does not: assign "
            f"{model.VARIANT_CONTIG} and {model.CONTIG_ID}, or give autosomes=False"
        )
        raise ValueError(msg)
    counts = np.bincount(contigs.numbers, minlength=contigs.names.size)
    used = [str(name) for name, count in zip(contigs.names, counts, strict=True) if count]
    if names is not None:
        _refuse_unknown(names, [str(name) for name in contigs.names])
        wrong = {name for name in used if name not in names}
    else:
        number = HUMAN if autosomes is True else int(autosomes)  # type: ignore[arg-type]
        wrong = _not_autosomes(used, number)
    if not wrong:
        return _ALL
    out = np.isin(contigs.names.astype(str), list(wrong))
    kept = ~out[contigs.numbers]
    left_out = tuple(name for name in used if name in wrong)
    if not kept.any():
        msg = (
            f"autosomes={autosomes!r} leaves out all {kept.size:,} variants (contigs: "
            f"{_few(left_out)}): give autosomes=False to use every variant, or a list of the "
            "contigs to use"
        )
        raise ValueError(msg)
    return Chosen(kept, int(kept.size - kept.sum()), left_out)


def _checked(autosomes: Any) -> frozenset[str] | None:
    """The names in an argument, None for a number or a bool; refuses what is neither."""
    if isinstance(autosomes, bool | np.bool_):
        return None
    if isinstance(autosomes, int | np.integer):
        if autosomes < 1:
            msg = f"autosomes={autosomes} is not a number of autosomes: 22 is that of humans"
            raise ValueError(msg)
        return None
    if np.iterable(autosomes) and not isinstance(autosomes, str | bytes):
        return frozenset(labels.text(list(autosomes), "autosomes").tolist())
    msg = (
        f"autosomes={autosomes!r} is not True, False, the number of autosomes of a species, or a "
        "list of contig names"
    )
    raise TypeError(msg)


def _named(ds: xr.Dataset) -> labels.Contigs | None:
    """Contigs by name; None where variants have none, or numbers without names."""
    if model.VARIANT_CONTIG not in ds.variables:
        return None
    # sgkit numbers contigs from 0: a number without a name is not that of a chromosome.
    if ds[model.VARIANT_CONTIG].dtype.kind in "iuf" and model.CONTIG_ID not in ds.variables:
        return None
    return labels.contigs(ds)


def _refuse_unknown(names: frozenset[str], known: list[str]) -> None:
    unknown = sorted(names.difference(known))
    if unknown:
        msg = f"autosomes= names {unknown[0]!r}, which is no contig here: {_few(known)}"
        raise ValueError(msg)


def _not_autosomes(names: Sequence[str], number: int) -> set[str]:
    """Contigs that are sex chromosomes or mitochondria, by name or by number."""
    short = {name: _without_prefix(name) for name in names}
    wrong = {name for name, text in short.items() if text in _NOT_AUTOSOMES}
    after = {
        name: int(text) - number
        for name, text in short.items()
        if text.isascii() and text.isdecimal() and int(text) > number
    }
    remedy = (
        "give the number of autosomes of the species (cattle: autosomes=29), a list of the "
        "contigs to use, or autosomes=False to use every variant"
    )
    for name, place in after.items():
        if place not in _AFTER_THE_LAST:
            msg = f"contig {name!r} does not exist in a species of {number} autosomes: {remedy}"
            raise ValueError(msg)
        known = _AFTER_THE_LAST[place]
        twin = next((other for other in wrong if known.startswith(short[other])), None)
        if twin is not None:
            msg = (
                f"contig {name!r} is chromosome {known} in a species of {number} autosomes, but "
                f"there is a contig {twin!r} too: {remedy}"
            )
            raise ValueError(msg)
    return wrong | {name for name, place in after.items() if _AFTER_THE_LAST[place] != "XY"}


def _without_prefix(name: str) -> str:
    return name.upper().removeprefix(_PREFIX)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
