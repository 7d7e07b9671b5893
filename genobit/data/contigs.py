"""Identity of contigs: the names that mean one chromosome.

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
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
                msg = (
                    f"contig {text!r} is the same chromosome as the contigs {both} of the Dataset: "
                    "name one of them"
                )
                raise ValueError(msg)
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
