"""Suggest known names that are close to an unknown one. May import: numpy."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

COMPARED = 1_000
"""Most names that difflib compares: 10 ms on a Zen 5. More names are filtered by letters first."""
_BLOCK = 2**16
_RANKED = 100
"""Names chosen by difflib and then ranked by edits."""
_LETTERS = 64
"""Letters of a name that the filter compares."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence with the closest known names, or "." if none is close.

    Examples
    --------
    >>> did_you_mean("heatmpa", ["triangle", "heatmap"])
    "; did you mean 'heatmap'?"
    >>> did_you_mean("grm", ["triangle", "heatmap"])
    '.'
    """
    close = [*map(repr, close_names(str(name), known))]
    if not close:
        return "."
    first = ", ".join(close[:-1])
    return f"; did you mean {first} or {close[-1]}?" if first else f"; did you mean {close[-1]}?"


def close_names(name: str, known: Iterable[object], most: int = 3) -> list[str]:
    """Return at most ``most`` known names that are close to a name, the closest first.

    Upper and lower case are the same. A million names take less than a second.

    Examples
    --------
    >>> close_names("RS4988253", ["rs4988235", "rs182549", "rs4988226"])
    ['rs4988235', 'rs4988226']
    """
    names = [*dict.fromkeys(map(str, known))]
    if len(names) > COMPARED:
        names = _filtered(name, names)
    by_folded = {other.casefold(): other for other in reversed(names)}
    folded = name.casefold()
    if folded in by_folded:
        return [by_folded[folded]]
    # A short name has few letters to share: "r3" and "r2" are alike by half.
    least = 0.5 if len(name) <= 3 else 0.6
    candidates = [*reversed(by_folded)]
    close = difflib.get_close_matches(folded, candidates, _RANKED, least)
    # difflib prefers long names, so count edits. Of ties, names of the same length come first.
    place = {other: k for k, other in enumerate(candidates)}
    close.sort(key=lambda x: (_edits(folded, x), abs(len(x) - len(folded)), place[x]))
    return [by_folded[other] for other in close[:most]]


def _filtered(name: str, names: list[str]) -> list[str]:
    """Return the `COMPARED` names that share most letters with a name at about the same place."""
    kept: list[str] = []
    scores: NDArray[np.int64] = np.empty(0, np.int64)
    for start in range(0, len(names), _BLOCK):
        block = names[start : start + _BLOCK]
        kept += block
        scores = np.append(scores, _shared_letters(name, block))
        if len(kept) > COMPARED:
            best = np.sort(np.argpartition(-scores, COMPARED)[:COMPARED])
            kept, scores = [kept[k] for k in best], scores[best]
    return kept


def _shared_letters(name: str, names: list[str]) -> NDArray[np.int64]:
    """Count letters that names (n,) share with a name, at most one place apart."""
    width = min(len(name) + 1, _LETTERS)
    letters = np.array([ord(letter) for letter in name[:width]], np.uint32)
    ours = np.zeros(width, np.uint32)
    ours[: letters.size] = letters
    theirs = np.array(names, f"U{width}").view(np.uint32).reshape(len(names), width)
    ours, theirs = (np.where((x > 64) & (x < 91), x + 32, x) for x in (ours, theirs))
    shared = theirs == ours
    shared[:, 1:] |= theirs[:, :-1] == ours[1:]
    shared[:, :-1] |= theirs[:, 1:] == ours[:-1]
    lengths = np.fromiter(map(len, names), np.int64, len(names))
    count = shared[:, : letters.size].sum(axis=1, dtype=np.int64)
    return count - np.abs(lengths - len(name))


def _edits(name: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance of the first `_LETTERS` letters."""
    name, other = name[:_LETTERS], other[:_LETTERS]
    earlier: list[int] = []
    before, row = earlier, [*range(len(other) + 1)]
    for i, x in enumerate(name, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(other, 1):
            fewest = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == other[j - 2] and y == name[i - 2]:
                fewest = min(fewest, earlier[j - 2] + 1)
            row.append(fewest)
    return row[-1]
