"""The form for papers of a parsimony tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data.aligning import aligned_numbers
from genobit.data.alignment import SITES
from genobit.data.checks import check_one_of
from genobit.parsimony.plots import paper_marks, paper_sites
from genobit.parsimony.plots.layout import Tree, tree_of
from genobit.parsimony.plots.paper_layout import Content, natural_pitch
from genobit.parsimony.plots.paper_plan import Plan, plan
from genobit.parsimony.plots.states import UNSURE, SiteStates, site_states
from genobit.parsimony.plots.tree import LENGTHS, NUMBERS
from genobit.visual.paper.page import Paper, size_of
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from genobit.parsimony.plots.paper_sites import Column, SiteScores, TipCharacters

#: Least height of all tips in an axes of the user, in millimetres.
_LOWEST = 10.0
#: Difference of two heights that counts as none.
_SAME = 0.01


def paper_tree(
    ancestors: xr.Dataset,
    *,
    site: int | str | None = paper_sites.AUTO,
    sites: int | Sequence[int] = 8,
    alignment: xr.DataArray | None = None,
    names: Mapping[str, str] | pd.Series | None = None,
    title: str = "Parsimony tree",
    lengths: str = "changes",
    numbers: str = "changes",
    support: ArrayLike | xr.DataArray | None = None,
) -> Paper:
    """Return the form for papers of a tree with its changes and a matrix of sites.

    Parameters
    ----------
    ancestors
        Result of `.genobit.ancestral_states()`.
    site
        Index of the site whose states and changes are on the tree. "auto" takes the informative
        site with most changes, the first of several. None shows no site.
    sites
        Sites of the matrix: their indices, or the number of sites that change most. 0 shows none.
    alignment
        Alignment that the states were computed from. Give it if tips have ambiguous characters or
        gaps: the states hold one reconstructed state for each tip.
    names
        Names to write in place of taxa, such as ``{"Chimp": "Chimpanzee"}``. Taxa without an entry
        keep their name.
    title
        Start of the title, before the length, the consistency index and the retention index.
    lengths, numbers, support
        As for the interactive plot, `parsimony_tree`.

    Returns
    -------
        Form for papers. The page grows with the tips, up to 213 tips. Larger trees leave out names
        and the matrix. A note below the tree lists omitted parts.

    Raises
    ------
    TypeError, ValueError, IndexError
        For a site that does not exist, unknown options, and an alignment of other data.

    Notes
    -----
    A coordinate `sites` labels the sites of the figure; without it, sites count from 0.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> from genobit.visual.paper.page import page_of
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> ancestors = aln.genobit.ancestral_states("((a,b),(c,d),e);")
    >>> page = page_of(paper_tree(ancestors, site=1, names={"a": "Apple"}), width_mm=90)
    >>> page.axes[0].texts[0].get_text()
    'Parsimony tree: 5 changes, CI 0.80, RI 0.67'
    """
    check_one_of("lengths", lengths, LENGTHS)
    check_one_of("numbers", numbers, NUMBERS)
    of_nodes = None if support is None else aligned_numbers(ancestors, support, "nodes", "support")
    tree = tree_of(ancestors, of_nodes)
    _check_tree(tree)
    shown = _sites_shown(ancestors, alignment, site, sites)
    notes = [*_branch_notes(ancestors, tree, numbers, lengths, shown.scored), *shown.notes]
    content = Content(
        tree, _names(tree, names), lengths, _numbers(tree, numbers), shown.states, shown.focus,
        shown.columns, shown.colours, _title(tree, shown.scored, title), notes, shown.column_note,
    )  # fmt: skip
    return _paper_of(content)


class _Shown(NamedTuple):
    """The sites of a figure."""

    scored: SiteScores
    states: SiteStates | None
    focus: Column | None
    columns: list[Column]
    colours: dict[str, str]
    notes: list[str]
    column_note: str


def _sites_shown(ancestors: xr.Dataset, alignment: Any, site: Any, sites: Any) -> _Shown:
    """Choose the sites of a figure, with their colours and the sentences on them."""
    found = paper_sites.tip_characters(ancestors, alignment)
    scored = paper_sites.site_scores(ancestors, found)
    focus = paper_sites.focus_site(site, scored)
    chosen = paper_sites.matrix_sites(sites, scored, focus)
    columns = paper_sites.columns_of(ancestors, found, scored, chosen)
    focused, states, notes = [], None, []
    if focus is not None:
        focused = paper_sites.columns_of(ancestors, found, scored, [focus])
        states = _lettered(site_states(ancestors, focus), found)
        kind = "informative site" if scored.informative[focus] else "site"
        why = f", the {kind} with most changes" if isinstance(site, str) else ""
        certain = "" if ancestors.attrs.get("resolve") != "sets" else "certain "
        words = f"Circles on the tree: state of site {focused[0].label}{why}"
        white = "; white: several states" if UNSURE in states.colours else ""
        notes.append(f"{words}{white}; bars: its {certain}changes.")
    shown = [*focused, *columns]
    if shown and not paper_sites.has_labels(ancestors):
        notes.append("Sites count from 0.")
    if not found.exact and (shown or np.isfinite(scored.ci)):
        parts = ["Letters"] if shown else []
        parts += ["CI and RI"] if np.isfinite(scored.ci) else ["consistency"]
        notes.append(f"{', '.join(parts)}: states of the tips as reconstructed.")
    many = np.ndim(sites) == 0
    words = f"Columns: the {'other ' if focused else ''}sites with most changes." if many else ""
    colours = paper_sites.colours_of(shown, states.states if states else [], found.coding)
    return _Shown(scored, states, focused[0] if focused else None, columns, colours, notes, words)


def _paper_of(content: Content) -> Paper:
    """Return the form for papers of the content of a figure."""
    n_tips = content.tree.n_tips
    natural = natural_pitch(n_tips)

    @cache
    def planned(width: float, pitch: float) -> Plan:
        return plan(content, width, pitch)

    def height(width: float) -> float:
        return planned(width, natural).height

    def draw(axes: Axes) -> None:
        width, high = size_of(axes)
        # A width that is a whole number of micrometres is free of the noise of pixels.
        width = round(width, 3)
        found, pitch = planned(width, natural), natural
        for _ in range(4):
            if abs(found.height - high) < _SAME:
                break
            pitch = max(pitch + (high - found.height) / n_tips, _LOWEST / n_tips)
            found = planned(width, pitch)
        if found.height > high + 1.0:
            raise ValueError(
                f"the axes is {width:.0f} by {high:.0f} mm, and this tree needs a height of at "
                f"least {found.height:.0f} mm at this width: make the figure larger"
            )
        paper_marks.draw(axes, found, (width, high))

    return Paper(draw, height, whole=True)


def _check_tree(tree: Tree) -> None:
    """Raise ValueError for the first node whose parent is absent, as after a selection of nodes."""
    parents, count = tree.parents, tree.parents.size
    node = np.arange(count)
    bad = np.where(node < count - 1, (parents <= node) | (parents >= count), parents != -1)
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"node_parent is {parents[k]} at nodes={k}, which is not a later node of {count}: draw "
            "the result of .ancestral_states() with all of its nodes"
        )


def _lettered(states: SiteStates, found: TipCharacters) -> SiteStates:
    """Return states with a short text for several possible states."""
    symbols = found.coding.symbols
    return replace(
        states, states=[paper_sites.letter_of(state, symbols) for state in states.states]
    )


def _names(tree: Tree, names: Any) -> list[str]:
    """Return the name of each tip. Raises TypeError or ValueError for names of something else."""
    taxa = [str(name) for name in tree.names[: tree.n_tips]]
    if names is None:
        return taxa
    if not isinstance(names, Mapping | pd.Series):
        raise TypeError(
            f"names= is a {type(names).__name__}: give a dict or a Series from taxon to name"
        )
    given = {str(taxon): name for taxon, name in names.items()}
    if given and not set(taxa) & set(given):
        raise ValueError(
            f"names= has no taxon of the tree, such as {taxa[0]!r}; its first is "
            f"{next(iter(given))!r}: use the names along 'taxa' of the alignment as keys"
        )
    found = [given.get(taxon) for taxon in taxa]
    # A table may hold NaN or an empty text for taxa without another name.
    return [
        taxon if pd.isna(name) or not str(name).strip() else " ".join(str(name).split())
        for taxon, name in zip(taxa, found, strict=True)
    ]


def _numbers(tree: Tree, numbers: str) -> list[str]:
    """Return the number above each branch; empty for none."""
    if numbers == "changes":
        return [f"{count:,}" if count else "" for count in tree.changes[:-1].tolist()]
    if numbers == "support":
        return ["" if np.isnan(value) else f"{value:g}" for value in tree.support[:-1]]
    return [""] * (tree.parents.size - 1)


def _title(tree: Tree, scored: SiteScores, title: str) -> str:
    words = number(tree.length if tree.resolved else scored.length, "change")
    # An index of 0 / 0 is no number, and a selection of the sites has other indices than the tree.
    for name, value in (("CI", scored.ci), ("RI", scored.ri)):
        if np.isfinite(value):
            words += f", {name} {value:.2f}"
    return f"{title}: {words}" if title else words


def _branch_notes(
    ancestors: xr.Dataset, tree: Tree, numbers: str, lengths: str, scored: SiteScores
) -> list[str]:
    """Return sentences on the numbers and the lengths of the branches."""
    resolve = str(ancestors.attrs.get("resolve", ""))
    changes = f"changes on the branch ({resolve.upper()})" if resolve else "changes on the branch"
    if not tree.resolved:
        changes = "fewest changes on the branch"
    here = number(ancestors.sizes[SITES], "site")
    if not scored.complete:
        here = f"of all sites; {here} of them in this result"
    if numbers == "changes":
        return [f"Numbers: {changes}, {here}."]
    words = [f"Branch lengths: {changes}, {here}."] if lengths == "changes" else []
    return [*words, "Numbers: support of the branch."] if numbers == "support" else words
