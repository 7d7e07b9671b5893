"""Trees with the changes on their branches, and the states of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import holoviews as hv

from genobit.data.aligning import aligned_numbers
from genobit.data.checks import check_one_of
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.layout import PlacedTree, arrange, tree_of
from genobit.parsimony.plots.pixel_layers import figure
from genobit.parsimony.plots.states import SiteStates, site_states
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from numpy.typing import ArrayLike

LAYOUTS = ("rectangular", "radial")
LENGTHS = ("changes", "equal")
NUMBERS = ("changes", "support", "none")
#: Width of the key beside the tree, in screen pixels.
KEY = 130.0


def parsimony_tree(
    ancestors: xr.Dataset,
    *,
    site: int | None = None,
    layout: str = "rectangular",
    lengths: str = "changes",
    numbers: str = "changes",
    support: ArrayLike | xr.DataArray | None = None,
) -> hv.Overlay:
    """Draw a tree with the changes on its branches.

    Parameters
    ----------
    ancestors
        Result of `.genobit.ancestral_states()`.
    site
        Index of a site whose states colour the nodes.
    layout
        "rectangular", or "radial" with the root in the middle.
    lengths
        "changes" draws branches in proportion to their numbers of changes. "equal" puts all tips at
        one distance from the root, and lengths then mean nothing.
    numbers
        Numbers on the branches: "changes", "support" or "none".
    support
        Support of the branch above each node, (nodes,), in any unit; NaN where there is none. A
        DataArray is aligned by its labels.

    Returns
    -------
        hv.Overlay. Branches with more changes are darker. If the names of all tips do not fit, only
        every second (third, ...) tip is named; the title says so.

    Raises
    ------
    ValueError
        For an unknown ``layout``, ``lengths`` or ``numbers``.

    Examples
    --------
    >>> import genobit, xarray as xr
    >>> rows = [list("AACA"), list("ATCA"), list("GTCC"), list("GTAC"), list("AACC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
    >>> ancestors = aln.genobit.ancestral_states("((a,b),(c,d),e);")
    >>> sorted(parsimony_tree(ancestors, site=1).Labels.Names["text"])
    ['a', 'b', 'c', 'd', 'e']
    """
    for name, value, known in (
        ("layout", layout, LAYOUTS),
        ("lengths", lengths, LENGTHS),
        ("numbers", numbers, NUMBERS),
    ):
        check_one_of(name, value, known)
    of_nodes = None if support is None else aligned_numbers(ancestors, support, "nodes", "support")
    placed = arrange(tree_of(ancestors, of_nodes), layout, lengths)
    shown = None if site is None else site_states(ancestors, site)
    return draw_tree(placed, shown, numbers=numbers)


def draw_tree(
    placed: PlacedTree,
    states: SiteStates | None = None,
    *,
    numbers: str = "changes",
    marked: int | None = None,
    selected: Sequence[int] = (),
    title: str = "",
    key: float = KEY,
) -> hv.Overlay:
    """Draw a tree placed by `arrange`.

    ``states`` is a site from `site_states`, ``marked`` the node below a marked branch, and
    ``selected`` the tips with a ring. ``title`` replaces the length and number of tips. ``key`` is
    the width of the key.
    """
    width, height = placed.frame[0] + key, placed.frame[1]
    layers = layers_of(placed, states, numbers=numbers, marked=marked, selected=selected)
    return figure(layers, width, height, title_of(placed, states, title))


def title_of(placed: PlacedTree, states: SiteStates | None = None, title: str = "") -> str:
    """Return the title: the length of the tree, the names omitted, and the site."""
    tree = placed.tree
    length = number(tree.length, "change")
    length = f"length {length}" if tree.resolved else f"{length} on certain branches"
    first = title or f"{length}, {number(tree.n_tips, 'tip')}"
    return f"{first}{omitted(placed)}\n{states.title if states else 'no site is chosen'}"


def omitted(placed: PlacedTree) -> str:
    """Return the end of a sentence on the names that are not written; "" if all are."""
    if placed.every == 1:
        return ""
    suffix = {2: "nd", 3: "rd"}.get(placed.every, "th")
    return f"; every {placed.every}{suffix} name is written"
