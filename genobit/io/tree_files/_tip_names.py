"""Which taxon of an alignment each tip of a tree is, and what to say where names differ."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED = 5
_COMPARED = 100
"""Names of each side that are compared for a hint."""


def match_tips(names: Sequence[str | None], taxa: Sequence[str]) -> list[int]:
    """The number of the taxon that each tip is.

    An underscore of a name stands for a blank in Newick and NEXUS. Where names differ in that
    alone, one to one, they are the same.

    Raises
    ------
    ValueError
        For a tip without a name, the same name twice, or names that differ from the taxa.
    """
    numbers: dict[str, int] = {}
    for name in names:
        if not name:
            raise ValueError("a tip has no name: name every tip as a taxon of the alignment")
        if name in numbers:
            raise ValueError(f"two tips are named {name!r}: a taxon is at one tip")
        numbers[name] = len(numbers)
    known = {taxon: number for number, taxon in enumerate(taxa)}
    unknown = [name for name in numbers if name not in known]
    missing = [taxon for taxon in taxa if taxon not in numbers]
    if unknown:
        blank = {taxon.replace("_", " "): known[taxon] for taxon in missing}
        same = {name: blank.get(name.replace("_", " "), -1) for name in unknown}
        if len(blank) == len(missing) == len(unknown) and {*same.values()} == {*blank.values()}:
            known.update(same)
            unknown, missing = [], []
    if unknown or missing:
        raise ValueError(_difference(unknown, missing, len(numbers), len(taxa)))
    return [known[str(name)] for name in names]


def _difference(unknown: list[str], missing: list[str], tips: int, taxa: int) -> str:
    parts, remedies = [], []
    if unknown:
        parts.append(f"{len(unknown)} of the {tips} tips not in the alignment: {_list(unknown)}")
        remedies.append("prune the tree or rename its tips")
    if missing:
        parts.append(f"{len(missing)} of the {taxa} taxa not in the tree: {_list(missing)}")
        remedies.append("leave them out with aln.sel(taxa=[...])")
    pairs = product(unknown[:_COMPARED], missing[:_COMPARED])
    hint = next((hint for name, taxon in pairs if (hint := _hint(name, taxon))), "")
    return f"the tips are not the taxa: {'; '.join(parts)}{hint}; {' and '.join(remedies)}"


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more


def _hint(tip: str, taxon: str) -> str:
    """Why a tip and a taxon may be the same, or nothing."""
    plain = {name: " ".join(name.replace("_", " ").split()) for name in (tip, taxon)}
    bare, known = plain[tip], plain[taxon]
    if bare == known:
        why = "they differ in blanks and underscores alone"
    elif bare.casefold() == known.casefold():
        why = "they differ in case alone"
    elif bare.strip("'\" ") == known.strip("'\" "):
        why = "they differ in quotation marks alone"
    elif taxon.split()[:1] == [tip] or tip.split()[:1] == [taxon]:
        why = "one is the first word of the other"
    elif min(len(tip), len(taxon)) == 10 and (taxon.startswith(tip) or tip.startswith(taxon)):
        why = "one is the other cut to ten characters"
    else:
        return ""
    return f". {tip!r} may be {taxon!r}, {why}: rename one"
