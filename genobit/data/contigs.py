"""Identity of contigs: the names that mean one chromosome, and the contig of each variant.

Regions, genetic maps, genes, tables, autosomes, sexes and writers compare contigs here. Two names
are the same chromosome if they differ in these only:

- the prefix "chr", upper and lower case, and leading zeros: chr1, Chr01, 01 and 1
- ".0", which pandas adds to whole numbers in a column with a missing value: 1.0 and 1
- PLINK's codes of human chromosomes: 23 and X, 24 and Y, 25 and XY, 26 and MT
- M and MT

A number is a code only if all names fit to humans: none is above 26, and none is there twice, as
number and as letter. So 23 is chromosome 23 among the contigs of cattle, and of sheep with an X.

An exact name goes before an equivalent one. Contigs of a Dataset stay apart, even if they are one
chromosome, such as "1" and "chr1". Another name that fits both, such as "01", is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels, model
from genobit.data.checks import first_true

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import xarray as xr
    from numpy.typing import NDArray

HUMAN = 22
"""Number of autosomes of humans."""
UNPLACED = "0"
"""Chromosome of variants without a known place, in every file of PLINK."""
_AFTER_THE_LAST = {1: "X", 2: "Y", 3: "XY", 4: "MT"}
"""PLINK's names of the numbers after the last autosome: 23 to 26 in humans."""
_NUMBER = re.compile(r"0*([0-9]+?)(?:\.0)?")


def chromosome(name: str, autosomes: int | None = None) -> str:
    """Return the text that all names of a chromosome share.

    ``autosomes`` is the number of autosomes of the species that codes are of; None reads no codes.

    >>> chromosome("chr01"), chromosome("1.0"), chromosome("chrM"), chromosome("23", HUMAN)
    ('1', '1', 'MT', 'X')
    """
    found = name.strip().upper()
    found = found.removeprefix("CHR") or found
    number = _NUMBER.fullmatch(found)
    if number is None:
        return "MT" if found == "M" else found
    if autosomes is not None:
        codes = {str(autosomes + place): code for place, code in _AFTER_THE_LAST.items()}
        return codes.get(number[1], number[1])
    return number[1]


def misfit(names: Iterable[str], autosomes: int = HUMAN) -> str | None:
    """Return why numbers among the names are no codes of a species; None if they may be."""
    known = {chromosome(name): name for name in names}
    for text, name in known.items():
        # `float` takes any number of digits, `int` does not.
        if not _NUMBER.fullmatch(text) or float(text) <= autosomes:
            continue
        code = chromosome(name, autosomes)
        if code == text:
            return f"contig {name!r} does not exist in a species of {autosomes} autosomes"
        # A letter beside a number: who writes X does not write 25 for XY either.
        twin = next((known[x] for x in known if code.startswith(x) and x.isalpha()), None)
        if twin is not None:
            return (
                f"contig {name!r} is chromosome {code} in a species of {autosomes} autosomes, but "
                f"there is a contig {twin!r} too"
            )
    return None


def translated(
    theirs: Iterable[str], ours: Iterable[str], aliases: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return our name for each of their contigs that we have.

    ``aliases`` are other names that a file gives for its contigs. Raises ValueError for a name that
    is equivalent to several of ours, and equal to none.
    """
    names, known, other = list(theirs), dict.fromkeys(ours), aliases or {}
    coded = misfit([*names, *other.values()]) is None and misfit(known) is None
    autosomes = HUMAN if coded else None
    by_chromosome: dict[str, list[str]] = {}
    for name in known:
        by_chromosome.setdefault(chromosome(name, autosomes), []).append(name)
    found = {}
    for name in names:
        for text in (name, other[name]) if name in other else (name,):
            same = [text] if text in known else by_chromosome.get(chromosome(text, autosomes), [])
            if len(same) > 1:
                both = " and ".join(map(repr, same))
                raise ValueError(
                    f"contig {text!r} is the same chromosome as the contigs {both} of the Dataset: "
                    "name one of them"
                )
            if same:
                found[name] = same[0]
                break
    return found


def contig_named(name: str, contigs: Iterable[str]) -> str | None:
    """Return the contig that a name means, or None. Raises ValueError if it means several.

    Examples
    --------
    >>> contig_named("CHRx", ["1", "X"]), contig_named("3", ["1", "X"])
    ('X', None)
    """
    return translated([name], contigs).get(name)


def renamed(
    values: NDArray[np.object_], ours: Iterable[str], aliases: Mapping[str, str] | None = None
) -> NDArray[np.object_]:
    """Return contigs (n,) with our names for those that we have; see `translated`."""
    numbers, names = pd.factorize(values)
    found = translated(names, ours, aliases)
    return np.array([found.get(name, name) for name in names], object)[numbers]


class Contigs(NamedTuple):
    """Contig of each variant."""

    numbers: NDArray[np.intp]
    """Index into ``names`` (variants,)."""
    names: NDArray[np.object_]
    """Text (contigs,): `contig_id` if the Dataset has it, else names in order of appearance."""

    def of_variants(self) -> NDArray[np.object_]:
        """Return the contig name of each variant (variants,)."""
        return self.names[self.numbers]

    def used(self) -> list[int]:
        """Return the numbers of the contigs that have variants, ascending."""
        counts = np.bincount(self.numbers.reshape(-1), minlength=self.names.size)
        numbers: list[int] = np.flatnonzero(counts).tolist()
        return numbers


def contigs_in(ds: xr.Dataset) -> Contigs | None:
    """Return the contig of each variant; None without ``variant_contig``.

    Raises ValueError for a number without a name in ``contig_id``.
    """
    return known_contigs(ds) if model.VARIANT_CONTIG in ds.variables else None


def known_contigs(ds: xr.Dataset) -> Contigs:
    """Return the contig of each variant of a Dataset that has ``variant_contig``."""
    names = ds[model.CONTIG_ID].values if model.CONTIG_ID in ds.variables else None
    return contigs_of(ds[model.VARIANT_CONTIG].values, names)


def contigs_of(variant_contig: Any, contig_id: Any = None) -> Contigs:
    """Return the contigs of ``variant_contig``; their numbers have its shape.

    ``variant_contig`` holds numbers into ``contig_id``, or names as text. Numbers without
    ``contig_id`` are their own names. Raises ValueError for a number without a name in
    ``contig_id``.
    """
    given = np.asarray(variant_contig)
    names = None if contig_id is None else _contig_names(contig_id, model.CONTIG_ID)
    if names is not None and given.dtype.kind in "iuf":
        if (k := first_true(~np.isin(given, np.arange(names.size)))) >= 0:
            raise ValueError(
                f"{model.VARIANT_CONTIG} is {given.flat[k]} at variants={k}, but "
                f"{model.CONTIG_ID} has the {names.size} names 0 to {names.size - 1}: give the "
                f"number of a name, or drop {model.CONTIG_ID}"
            )
        return Contigs(given.astype(np.intp), names)
    numbers, found = pd.factorize(_contig_names(given, model.VARIANT_CONTIG).reshape(-1))
    found = np.asarray(found, object)
    if names is not None and np.isin(found, names).all():
        numbers = pd.Index(names).get_indexer(found)[numbers]
        found = names
    # Text that `contig_id` does not list is the name itself.
    return Contigs(numbers.astype(np.intp).reshape(given.shape), found)


def _contig_names(values: Any, name: str) -> NDArray[np.object_]:
    """Return contigs as text; pandas reads whole numbers as 1.0 if one is missing."""
    found = labels.text(values, name)
    if np.asarray(values).dtype.kind == "f":
        found.reshape(-1)[:] = [str(each).removesuffix(".0") for each in found.flat]
    return found


def contig_of_variants(ds: xr.Dataset) -> NDArray[Any] | None:
    """Return the contig name of each variant, or None without ``variant_contig``.

    Numbers stay numbers if the Dataset has no ``contig_id``.
    """
    given = ds.variables.get(model.VARIANT_CONTIG)
    if given is not None and model.CONTIG_ID not in ds.variables and given.dtype.kind in "iuf":
        return np.asarray(given.values)
    found = contigs_in(ds)
    return None if found is None else found.of_variants()


def comparable_contigs(
    ours: xr.Dataset, theirs: xr.Dataset
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the contigs of the variants of two Datasets, in our names; None for code and name."""
    here, there = (np.asarray(contig_of_variants(side)) for side in (ours, theirs))
    if (here.dtype == object) != (there.dtype == object):
        return None
    if here.dtype == object:
        other = known_contigs(theirs)
        there = renamed(other.names, known_contigs(ours).names.tolist())[other.numbers]
    return here, there


def starts_of_contigs(ds: xr.Dataset) -> NDArray[np.int64]:
    """Return the first variant of each contig, in stored order; [0] without contigs.

    Raises ValueError if a contig's variants are not adjacent.
    """
    found = contigs_in(ds)
    if found is None or not found.numbers.size:
        return np.zeros(1, np.int64)
    starts = _starts_of_runs(found.numbers)
    names = found.names[found.numbers[starts]]
    # Numbers may share a name.
    new = _starts_of_runs(names)
    _require_adjacent(starts[new], names[new])
    return starts[new]


def _starts_of_runs(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the first index of each run of equal values; there is at least one value."""
    return np.flatnonzero(np.r_[True, values[1:] != values[:-1]])


def _require_adjacent(starts: NDArray[np.int64], contig: NDArray[Any]) -> None:
    """Raise ValueError if a contig starts twice; ``contig`` is that of each of ``starts``."""
    # pandas takes longer than all else here, so only for the error.
    if np.unique(contig).size == starts.size:
        return
    k = int(np.flatnonzero(pd.Index(contig).duplicated())[0])
    raise ValueError(
        f"contig {contig[k]} starts again at variants={starts[k]}: sort the variants by contig "
        "first (ds.sortby(['variant_contig', 'variant_position']))"
    )
