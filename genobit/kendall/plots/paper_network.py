"""The network of correlated variables on paper: components, communities and names of hubs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.pairs.table import as_network
from genobit.kendall.plots import paper_key as key
from genobit.kendall.plots.links import Links, links_of
from genobit.kendall.plots.network import NODES, values_of
from genobit.kendall.plots.paper_bubbles import Bubbles
from genobit.kendall.plots.paper_names import names_of
from genobit.kendall.plots.paper_picture import Picture
from genobit.visual.paper.page import Paper
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import xarray as xr
    from numpy.typing import ArrayLike

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.table import PairTable
    from genobit.visual.colouring import Colouring


def paper_network(
    pairs: PairTable | Network,
    *,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    labels: Mapping[Any, Any] | pd.Series | xr.DataArray | Sequence[Any] | None = None,
    min_component: int = 2,
    hubs: int = 3,
    marked: Sequence[Any] = (),
    limit: int = NODES,
    seed: int = 0,
) -> Paper:
    """Draw correlated variables as a network for a paper.

    Parameters
    ----------
    pairs
        Result of `.genobit.kendall_pairs()`, another table of pairs, or a `Network`.
    colour_by
        Values that colour the nodes, as for `kendall_network`. By default, nodes are coloured by
        community.
    labels
        Mapping or Series from the name of a variable to its label, such as a gene symbol. These
        labels are bold italic, and hubs that have one come first. A list of names writes these
        names and no hubs.
    min_component
        Fewest nodes of a drawn component. The note counts the components that are left out. By
        default all are drawn.
    hubs
        Most names of a community.
    marked
        Names of variables that get a ring and their label.
    limit
        Largest number of nodes to draw one by one. With more nodes, or with ten times as many
        edges, each community is drawn as one bubble, and the note says so.
    seed
        Seed of the community detection.

    Returns
    -------
        The page. The largest component is above and the others are in rows. The layout has no
        random numbers, so a figure drawn twice is the same.

    Raises
    ------
    ValueError
        If there is no edge, no component of `min_component` nodes, or no label for any variable.
    KeyError
        If a name in `labels` or `marked` is no variable.

    Examples
    --------
    >>> import genobit
    >>> from genobit.visual.paper.page import page_of
    >>> pairs = genobit.sample_expression().genobit.kendall_pairs(threshold=0.7)
    >>> figure = page_of(paper_network(pairs, min_component=4), 90)
    >>> figure.axes[0].texts[-1].get_text().endswith("3 nodes")
    True
    """
    network = as_network(pairs)
    links = links_of(network, seed)
    if not links.size:
        raise ValueError("there is no edge to draw; make the table with a lower threshold=")
    groups = _groups(links, min_component)
    kept = np.zeros(links.size, bool)
    kept[np.concatenate(groups)] = True
    names = names_of(links, labels, marked, hubs)
    of_all = values_of(network, colour_by)
    if of_all is None:
        colours = key.colours_by_community(links, kept, names)
    else:
        colours = key.colours_by_value(links, kept, of_all)
    picture: Picture | Bubbles = Picture(links, groups, kept, names, colours)
    n_edges = int(kept[links.first].sum())
    many = kept.sum() > limit or n_edges > 10 * limit
    if many and len(links.communities) > 1:
        picture = Bubbles(links, names, colours, min_component, limit)
    return Paper(picture.draw, picture.height, whole=True)


def _groups(links: Links, min_component: int) -> list[np.ndarray]:
    """Return the components of at least so many nodes, the largest first."""
    groups = [group for group in links.components if len(group) >= min_component]
    if not groups:
        largest = len(links.components[0])
        raise ValueError(
            f"no component has min_component={min_component} nodes; the largest has "
            f"{number(largest, 'node')}. Give min_component={largest} or less"
        )
    return groups
