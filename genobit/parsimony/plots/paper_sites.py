"""Sites that a paper figure of a tree shows: their scores, characters and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.alignment import SITES, TAXA, alignment_of, states_of
from genobit.data.alphabets import MISSING, NUCLEOTIDE_CODES, NUCLEOTIDES, symbols_of
from genobit.data.characters import Coding
from genobit.data.checks import is_whole
from genobit.data.labels import text
from genobit.data.topology import children, tips
from genobit.engine.schedule.passes import whole_columns
from genobit.parsimony.ancestral import SAMPLED
from genobit.parsimony.lengths import indices
from genobit.parsimony.plots.states import DARK, UNSURE, colours_of_states, members, site_index
from genobit.parsimony.scores import Trees, scores
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

AUTO = "auto"
#: Letter of a character with several possible states and no code of its own.
SEVERAL = "+"
_CODES = {frozenset(states): code for code, states in NUCLEOTIDE_CODES.items() if code != "X"}


@dataclass(frozen=True)
class TipCharacters:
    """Characters of the tips (taxa, sites), and the symbols of their states."""

    values: Any
    coding: Coding
    exact: bool
    """Whether the characters are those of the alignment, not the reconstructed ones."""

    def letters(self, site: int) -> list[str]:
        """Return the letter of each tip at a site."""
        column = np.asarray(self.values[:, site])
        if column.dtype.kind in "iu":
            return [self.coding.symbols[k] if k >= 0 else MISSING for k in column.tolist()]
        return [letter_of(entry, self.coding.symbols) for entry in text(column).tolist()]


@dataclass(frozen=True)
class SiteScores:
    """Changes, consistency and informativeness of all sites, (sites,), and indices of the tree."""

    length: int
    ci: float
    ri: float
    changes: Numbers
    consistency: NDArray[np.float64]
    informative: NDArray[np.bool_]
    complete: bool
    """Whether the changes of these sites are those on the branches: no sites were selected."""


@dataclass(frozen=True)
class Column:
    """A site of the matrix: its label, numbers, and the letters of the tips."""

    label: str
    changes: int
    consistency: float
    letters: list[str]


def letter_of(entry: str, symbols: Sequence[str]) -> str:
    """Return a short text for the entry of an alignment.

    Examples
    --------
    >>> [letter_of(entry, "ACGT") for entry in ("a", "{AG}", "?", "-")]
    ['A', 'R', '?', '-']
    >>> letter_of("{01}", "012")
    '+'
    """
    if entry in symbols:
        return entry
    if entry.startswith(("{", "(")):
        several = members(entry.replace("(", "{").replace(")", "}"))
        code = _CODES.get(several)
        return code if code and set(NUCLEOTIDES).issuperset(symbols) else SEVERAL
    return entry.upper()


def tip_characters(ancestors: xr.Dataset, alignment: xr.DataArray | None) -> TipCharacters:
    """Return the characters of the tips, from the alignment if it is given.

    Raises TypeError for an alignment that is no DataArray, and ValueError if it has other sites or
    lacks a tip.
    """
    gap = str(ancestors.attrs.get("gap", "missing"))
    n_tips = tips(ancestors["node_parent"].values)
    states = ancestors["states"]
    if alignment is None:
        data = states.data[:n_tips]
        if states.chunks is not None:
            data = whole_columns(data)
        symbols = states_of(ancestors.attrs)
        if symbols is None:
            seen = {state for entry in np.unique(np.asarray(data)) for state in members(str(entry))}
            symbols = list(symbols_of("standard", seen) or "0")
        return TipCharacters(data, Coding("standard", tuple(symbols), gap), exact=False)
    if not isinstance(alignment, xr.DataArray):
        raise TypeError(
            f"alignment= is a {type(alignment).__name__}: give the DataArray (taxa, sites) that "
            "the states were computed from"
        )
    aligned = alignment_of(alignment, gap)
    if aligned.values.shape[1] != states.sizes[SITES]:
        raise ValueError(
            f"alignment= has {aligned.values.shape[1]:,} sites along {SITES!r} and the states have "
            f"{states.sizes[SITES]:,}: give the alignment that the states were computed from"
        )
    row = {name: k for k, name in enumerate(aligned.taxa)}
    names = text(ancestors["node"].values[:n_tips]).tolist()
    for k, name in enumerate(names):
        if name not in row:
            raise ValueError(
                f"alignment= has no {name!r} along {TAXA!r}, which is the tip at nodes={k}: give "
                "the alignment that the states were computed from"
            )
    rows = [row[name] for name in names]
    return TipCharacters(aligned.values[rows], aligned.coding, exact=True)


def site_scores(ancestors: xr.Dataset, found: TipCharacters) -> SiteScores:
    """Score all sites on the tree.

    Raises ValueError for an alignment whose changes are not those of the branches.
    """
    parents = ancestors["node_parent"].values.astype(np.int64)
    names = text(ancestors["node"].values).tolist()
    # netCDF returns a list of one text as text.
    inner = np.atleast_1d(ancestors.attrs.get(SAMPLED, [])).tolist()
    tree = children(parents, [names.index(name) for name in inner])
    scored: Any = scores(found.values, found.coding, names, Trees([tree], None, sites=True))
    length, changes, (fewest, most) = int(scored.lengths[0]), scored.changes[0], scored.bounds
    matches = _matches(ancestors, length)
    if found.exact and not matches:
        raise ValueError(
            f"alignment= has {length:,} changes on this tree, and branch_changes sum to "
            f"{int(ancestors['branch_changes'].sum()):,}: give the alignment that the states were "
            "computed from"
        )
    whole = indices(np.array(length), *scored.total)
    ci, ri = (float(whole.ci), float(whole.ri)) if matches else (np.nan, np.nan)
    ratios = indices(changes, fewest, most)
    return SiteScores(length, ci, ri, changes, ratios.ci, most > fewest, matches)


def _matches(ancestors: xr.Dataset, length: int) -> bool:
    """Return whether the changes on the branches are those of the sites that are present."""
    fewest = int(ancestors["branch_changes"].sum())
    if "most_branch_changes" in ancestors:
        return fewest <= length <= int(ancestors["most_branch_changes"].sum())
    return fewest == length


def focus_site(site: Any, scored: SiteScores) -> int | None:
    """Return the index of the focus site; "auto" is the informative site with most changes.

    Raises TypeError or ValueError for another text or type, and IndexError for a site that does
    not exist.
    """
    if site is None:
        return None
    if isinstance(site, str):
        if site != AUTO:
            raise ValueError(f"site={site!r} is neither {AUTO!r} nor the index of a site")
        counts = np.where(scored.informative, scored.changes, 0)
        if not counts.any():
            counts = scored.changes
        return int(np.argmax(counts)) if counts.any() else None
    return site_index("site", site, scored.changes.size)


def matrix_sites(sites: Any, scored: SiteScores, focus: int | None) -> list[int]:
    """Return the sites of the matrix in ascending order of their changes, without the focus.

    A number asks for that many sites that change most. Raises TypeError, ValueError or IndexError
    for sites that are no indices.
    """
    if is_whole(sites, 0):
        order = np.argsort(-scored.changes, kind="stable")
        found = [k for k in order.tolist() if scored.changes[k] and k != focus][: int(sites)]
    else:
        if isinstance(sites, str) or np.ndim(sites) != 1 or np.asarray(sites).dtype == bool:
            raise TypeError(
                f"sites={sites!r} is neither a whole number from 0 nor a sequence of indices: give "
                "8, or [3, 15, 20]; turn a mask into indices by np.flatnonzero"
            )
        listed = list(np.asarray(sites).tolist())
        found = [
            site_index(f"sites[{k}]", site, scored.changes.size) for k, site in enumerate(listed)
        ]
        for k, site in enumerate(found):
            if site in found[:k]:
                raise ValueError(f"sites[{k}] is {site} for the second time: leave it out")
        found = [site for site in found if site != focus]
    return sorted(found, key=lambda site: (int(scored.changes[site]), site))


def site_labels(ancestors: xr.Dataset, sites: Sequence[int]) -> list[str]:
    """Return labels of sites: the coordinate `sites` if there is one, else their indices."""
    if not has_labels(ancestors):
        return [str(site) for site in sites]
    return text(ancestors[SITES].values[list(sites)]).tolist()


def has_labels(ancestors: xr.Dataset) -> bool:
    """Return whether the sites have a coordinate that labels them."""
    return SITES in ancestors.coords and ancestors[SITES].dims == (SITES,)


def columns_of(
    ancestors: xr.Dataset, found: TipCharacters, scored: SiteScores, sites: Sequence[int]
) -> list[Column]:
    """Return the columns of a matrix of sites."""
    labels = site_labels(ancestors, sites)
    return [
        Column(
            label, int(scored.changes[site]), float(scored.consistency[site]), found.letters(site)
        )
        for label, site in zip(labels, sites, strict=True)
    ]


def colours_of(columns: Sequence[Column], more: Sequence[str], coding: Coding) -> dict[str, str]:
    """Return the colour of each letter, the same in all columns and on the tree.

    Letters that are not one state are white.
    """
    shown = [letter for column in columns for letter in column.letters] + list(more)
    known = colours_of_states([letter for letter in shown if letter in coding.symbols])
    return known | dict.fromkeys(sorted(set(shown) - set(known)), UNSURE)


def letter_colour(colour: str) -> str:
    """Return the colour of a letter on a dot of this colour."""
    return LIGHT.paper if colour in DARK else LIGHT.ink


def consistency_text(value: float) -> str:
    """Return a consistency index with two digits.

    Examples
    --------
    >>> [consistency_text(value) for value in (0.5, 1.0, 1 / 3, np.nan)]
    ['.50', '1', '.33', '–']
    """
    if np.isnan(value):
        return "–"
    words = f"{value:.2f}"
    return "1" if value == 1 else words.removeprefix("0")
