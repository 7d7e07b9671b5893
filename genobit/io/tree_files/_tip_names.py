"""Match the tips of a tree to the taxa of an alignment, and explain names that differ."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED = 5
_COMPARED = 100
"""Most names of each side that are compared for a hint."""


def match_tips(names: Sequence[str | None], taxa: Sequence[str]) -> list[int]:
    """Return the taxon number of each tip.

    An underscore in Newick and NEXUS can mean a blank. Names that differ only in that match if the
    match is one to one. Raises ValueError for a tip without a name, a repeated name, or names that
    are not the taxa.
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
    """Return why a tip and a taxon may be the same, or ""."""
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
