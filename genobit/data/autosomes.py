"""Autosomes of a Dataset, recognised by the names of its contigs.

Relationships, kinship, identity by state and principal components assume two copies of each
chromosome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data import labels, model
from genobit.data.contigs import HUMAN, Contigs, chromosome, contigs_in, misfit, translated
from genobit.data.haploid import is_haploid

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

Autosomes = bool | int | Sequence[str]
"""True (human), False (use every variant), the number of autosomes, or names of contigs."""


class Chosen(NamedTuple):
    """Variants that an analysis of autosomes uses."""

    kept: NDArray[np.bool_] | None
    """Mask of the variants used (variants,), or None for all."""
    left_out: int
    """Number of unused variants."""
    contigs: tuple[str, ...]
    """Names of the unused contigs, in the order of the Dataset."""

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values (variants,) of the variants that are used."""
        return values if self.kept is None else values[self.kept]

    def attributes(self) -> dict[str, Any]:
        """Return attributes of a result that describe the unused variants."""
        return {"variants_left_out": self.left_out, "contigs_left_out": ", ".join(self.contigs)}


_ALL = Chosen(None, 0, ())
DIPLOID, X, Y, MT = range(4)
"""Kinds of chromosomes: two copies in everybody; one X in males; Y in males; one MT. XY, PAR1 and
PAR2 have two copies in everybody."""
_KINDS = {"X": X, "Y": Y, "MT": MT}


def kinds(ds: xr.Dataset, autosomes: Autosomes) -> NDArray[np.uint8]:
    """Return the kind of each variant's chromosome, uint8 (variants,).

    Contigs are recognised as in `choose`. Contigs that a list names, and all with False, have two
    copies. Raises TypeError and ValueError as `choose` does, but accepts data without autosomes.
    """
    names = _checked(autosomes)
    contigs = None if autosomes is False else _named(ds)
    if contigs is None:
        return np.zeros(ds.sizes[model.VARIANTS], np.uint8)
    used = [str(contigs.names[k]) for k in contigs.used()]
    if names is not None:
        known = {name: _KINDS.get(chromosome(name), DIPLOID) for name in used}
        known |= dict.fromkeys(_of_dataset(names, contigs), DIPLOID)
    else:
        known = _kinds_of(used, autosomes)
    of_contig = [known.get(str(name), DIPLOID) for name in contigs.names]
    return np.asarray(of_contig, np.uint8)[contigs.numbers]


def choose(ds: xr.Dataset, autosomes: Autosomes) -> Chosen:
    """Return the variants on autosomes.

    Contigs are recognised by name (`genobit.data.contigs`). The contigs X, Y, MT, M, 23 (X), 24 (Y)
    and 26 (MT) are left out. All other contigs are used: 25 (XY), PAR1, PAR2, 0, and unplaced and
    HLA contigs.

    ``autosomes`` is one of these:

    - True: human chromosomes.
    - The number n of autosomes of another species: leaves out n + 1 (X), n + 2 (Y) and n + 4 (MT).
    - Names of the contigs to use.
    - False: every variant.

    Haploid genotypes have one copy of each chromosome. They use every variant unless contigs are
    named.

    ``variant_contig`` names the contigs, as text or as numbers into ``contig_id``. If the
    Dataset has no contig names, every variant is used.

    Raises TypeError for any other argument. Raises ValueError for a chromosome number that the
    species does not have, for a name that is not in the Dataset, and if no variant is left.
    """
    names = _checked(autosomes)
    if autosomes is False:
        return _ALL
    contigs = None if names is None and is_haploid(ds) else _named(ds)
    if contigs is None:
        if names is None:
            return _ALL
        raise ValueError(
            f"autosomes={autosomes!r} needs contigs, which the Dataset lacks: assign "
            f"{model.VARIANT_CONTIG} and {model.CONTIG_ID}, or give autosomes=False"
        )
    used = [str(contigs.names[k]) for k in contigs.used()]
    if names is not None:
        wrong = set(used) - _of_dataset(names, contigs)
    else:
        wrong = {name for name, kind in _kinds_of(used, autosomes).items() if kind != DIPLOID}
    if not wrong:
        return _ALL
    out = np.isin(contigs.names.astype(str), list(wrong))
    kept = ~out[contigs.numbers]
    left_out = tuple(name for name in used if name in wrong)
    if not kept.any():
        raise ValueError(
            f"autosomes={autosomes!r} leaves out all {kept.size:,} variants (contigs: "
            f"{_few(left_out)}): give autosomes=False to use every variant, or a list of the "
            "contigs to use"
        )
    return Chosen(kept, int(kept.size - kept.sum()), left_out)


def are_human(ds: xr.Dataset) -> bool:
    """Return whether humans have all chromosomes that the contigs name."""
    try:
        kinds(ds, autosomes=True)
    except ValueError:
        return False
    return True


def _checked(autosomes: Any) -> frozenset[str] | None:
    """Return the names in an argument, or None for a number or a bool; refuse other types."""
    if isinstance(autosomes, bool | np.bool_):
        return None
    if isinstance(autosomes, int | np.integer):
        if autosomes < 1:
            raise ValueError(f"autosomes={autosomes} is not a number of autosomes: humans have 22")
        return None
    if np.iterable(autosomes) and not isinstance(autosomes, str | bytes):
        return frozenset(labels.text(list(autosomes), "autosomes").tolist())
    raise TypeError(
        f"autosomes={autosomes!r} is not True, False, the number of autosomes of a species, or a "
        "list of contig names"
    )


def _named(ds: xr.Dataset) -> Contigs | None:
    """Return contigs by name, or None if the variants have no contigs or only unnamed numbers."""
    if model.VARIANT_CONTIG not in ds.variables:
        return None
    # sgkit numbers contigs from 0, so an unnamed number is not a chromosome number.
    if ds[model.VARIANT_CONTIG].dtype.kind in "iuf" and model.CONTIG_ID not in ds.variables:
        return None
    return contigs_in(ds)


def _of_dataset(names: frozenset[str], contigs: Contigs) -> set[str]:
    """Return the contigs of the Dataset that are named; refuse a name of none."""
    known = [str(name) for name in contigs.names]
    found = translated(sorted(names), known)
    unknown = sorted(names.difference(found))
    if unknown:
        raise ValueError(
            f"autosomes= names {unknown[0]!r}, which is not a contig of the Dataset: {_few(known)}"
        )
    return set(found.values())


def _kinds_of(names: Sequence[str], autosomes: Any) -> dict[str, int]:
    """Return the kind of each contig; ``autosomes`` is their number, or True for humans."""
    number = HUMAN if autosomes is True else int(autosomes)
    reason = misfit(names, number)
    if reason is not None:
        raise ValueError(
            f"{reason}: give the number of autosomes of the species (cattle: autosomes=29), a list "
            "of the contigs to use, or autosomes=False to use every variant"
        )
    known = {name: _KINDS.get(chromosome(name, number), DIPLOID) for name in names}
    if any(chromosome(name) == "IX" for name in names):
        # Of roman numbers, as in yeast, X is the tenth chromosome.
        known |= {name: DIPLOID for name in names if chromosome(name) == "X"}
    return known


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
