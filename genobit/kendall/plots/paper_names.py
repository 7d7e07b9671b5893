"""Names of the nodes of a network on paper: labels of the user, hubs, and marked nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from genobit.engine.spelling import did_you_mean
from genobit.visual.paper.texts import fitted, write_text
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.kendall.plots.links import Links

#: Nodes of a community per name.
PER_NAME = 6
#: Names along these dimensions are no gene symbols, so they are upright.
_UPRIGHT = {"variant", "sample", "variants", "samples"}


#: Most width of a name on the picture in millimetres.
WIDEST = 32.0
_BACKING: dict[str, Any] = {
    "boxstyle": "square,pad=0.02",
    "facecolor": LIGHT.paper,
    "edgecolor": "none",
    "alpha": 0.7,
}


@dataclass(frozen=True)
class Names:
    """Texts of the nodes of a network.

    `texts` has a text for each node and `given` says which texts are labels of the user. `wanted`
    lists nodes that need a name, and `marked` those with a ring. `hubs` is the number of further
    names of a community.
    """

    texts: np.ndarray
    given: np.ndarray
    wanted: tuple[int, ...]
    marked: tuple[int, ...]
    hubs: int
    italic: bool

    def is_italic(self, node: int) -> bool:
        """Return whether the text of a node is a symbol."""
        return self.italic and bool(self.given[node])

    def text(self, node: int) -> str:
        """Return the text of a node, cut if it is long."""
        return fitted(str(self.texts[node]), WIDEST)

    def look(self, node: int) -> tuple[dict[str, bool], dict[str, str]]:
        """Return the options of the text of a node for `text_size` and for matplotlib."""
        bold, italic = bool(self.given[node]), self.is_italic(node)
        look = {"fontweight": "bold"} if bold else {}
        return {"bold": bold, "italic": italic}, look | ({"fontstyle": "italic"} if italic else {})

    def hubs_of(self, links: Links, group: np.ndarray, most: int | None = None) -> list[int]:
        """Return the nodes that name a group, by degree; those with a label of the user first.

        Without such a label, and where other groups have one, only the first hub names it.
        """
        ranked = links.hubs(group)
        labelled = ranked[self.given[ranked]]
        if self.given.any():
            ranked = labelled if len(labelled) else ranked[:1]
        chosen: dict[str, int] = {}
        for node in ranked.tolist():
            # Several probes of one gene have the same symbol.
            chosen.setdefault(str(self.texts[node]), node)
        if most is None:
            most = min(self.hubs, -(-len(group) // PER_NAME))
        return list(chosen.values())[:most]


def write_name(axes: Axes, text: str, x: float, y: float, look: dict[str, str]) -> None:
    """Write a name with its centre at a place, on a backing through which edges are seen."""
    write_text(axes, x, y, text, ha="center", bbox=_BACKING, zorder=4, **look)


def names_of(
    links: Links,
    labels: Mapping[Any, Any] | pd.Series | xr.DataArray | Sequence[Any] | None,
    marked: Sequence[Any],
    hubs: int,
) -> Names:
    """Read the options that name nodes; the parameters are those of `paper_network`."""
    if hubs < 0:
        raise ValueError(f"hubs is {hubs}; give the number of names for each community, 0 or more")
    texts, given = links.names.copy(), np.zeros(links.size, bool)
    rings = _nodes(links, marked, "marked")
    wanted = rings
    if isinstance(labels, Mapping | pd.Series | xr.DataArray):
        of = _by_name(labels)
        for k, name in enumerate(links.names):
            if name in of:
                texts[k], given[k] = of[name], True
        if of and not given.any():
            _require_some(links, of)
    elif labels is not None:
        wanted, hubs = [*_nodes(links, labels, "labels"), *rings], 0
    italic = links.pairs.dim not in _UPRIGHT
    return Names(texts, given, tuple(dict.fromkeys(wanted)), tuple(rings), hubs, italic)


def _by_name(labels: Mapping[Any, Any] | pd.Series | xr.DataArray) -> dict[str, str]:
    """Return labels by name, without empty and missing ones."""
    if isinstance(labels, xr.DataArray):
        if labels.ndim != 1 or labels.dims[0] not in labels.coords:
            raise ValueError(
                f"labels has the dimensions {labels.dims} and coordinates {list(labels.coords)}; "
                "give one dimension with a coordinate of names"
            )
        labels = labels.to_series()
    return {
        str(name): str(label)
        for name, label in labels.items()
        if not pd.isna(label) and str(label).strip()
    }


def _require_some(links: Links, labels: Mapping[str, str]) -> None:
    """Raise ValueError if labels belong to none of the variables of the data."""
    known = set(links.pairs.names.tolist())
    if known.isdisjoint(labels):
        raise ValueError(
            f"labels has no label for any of the {len(known):,} variables, which are named "
            f"{', '.join(map(repr, links.pairs.names[:3].tolist()))} and so on; its first name is "
            f"{next(iter(labels))!r}. Index labels by these names"
        )


def _nodes(links: Links, names: Sequence[Any], option: str) -> list[int]:
    """Return the nodes of some names; variables without an edge are left out."""
    if isinstance(names, str):
        raise TypeError(
            f"{option} is the text {names!r}; give a list of names"
            + (", or a mapping or Series from name to label" if option == "labels" else "")
        )
    node_of = {name: k for k, name in enumerate(links.names.tolist())}
    known = set(links.pairs.names.tolist())
    for k, name in enumerate(names):
        if str(name) not in known:
            raise KeyError(
                f"{option}[{k}] is {name!r}, which is no variable of the pairs"
                f"{did_you_mean(name, links.pairs.names.tolist())}"
            )
    return [node_of[str(name)] for name in names if str(name) in node_of]
