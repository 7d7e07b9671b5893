"""The states of one site at the nodes of a tree, as colours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.labels import text
from genobit.visual.colouring import OKABE_ITO
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import xarray as xr

#: Several states are possible, or none is known.
UNSURE = "#ffffff"
#: States beyond the palette; their letters tell them apart.
OTHER = "#9a9a9a"
#: Colours on which letters are white.
DARK = {"#0072b2", "#009e73", "#d55e00", "#882255"}
#: States that have the same colour at every site.
_FAMILIAR = ("ACGT-", "0123456")
_UNKNOWN = "?"


@dataclass(frozen=True)
class SiteStates:
    """A site: `states` and `colours` of all nodes, `changed` of the branches above them."""

    name: str
    title: str
    states: list[str]
    changed: np.ndarray
    colours: list[str]
    key: dict[str, str]


def site_states(ancestors: xr.Dataset, site: int, title: str = "") -> SiteStates:
    """Take the states of a site.

    Parameters
    ----------
    ancestors
        Result of `.genobit.ancestral_states()`.
    site
        Its place.
    title
        More about the site.
    """
    states = [str(state) for state in ancestors["states"][:, site].values]
    parents = ancestors["node_parent"].values
    of_nodes = np.array(states)
    changed = np.append(_apart(of_nodes[:-1], of_nodes[parents[:-1]]), False)
    known = colours_of_states([state for state in states if len(members(state)) == 1])
    unsure = [state for state in states if state not in known]
    key = dict(known)
    if unsure:
        key["several or unknown"] = UNSURE
    about = title or number(int(changed.sum()), "change")
    colours = [known.get(state, UNSURE) for state in states]
    return SiteStates(f"site {site:,}", f"site {site:,}: {about}", states, changed, colours, key)


def changes_of(ancestors: xr.Dataset, branch: int) -> pd.DataFrame:
    """List the changes of a branch.

    Parameters
    ----------
    ancestors
        Result of `.genobit.ancestral_states()`.
    branch
        The node below it.

    Returns
    -------
        A row a change: `site`, its place, `from` and `to`. The root has none.
    """
    import pandas as pd

    states = ancestors["states"].values
    parent = int(ancestors["node_parent"].values[branch])
    before, after = (text(states[node]).astype(str) for node in (max(parent, 0), branch))
    found = np.flatnonzero(_apart(after, before)) if parent >= 0 else np.empty(0, dtype="i8")
    return pd.DataFrame({"site": found, "from": before[found], "to": after[found]})


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two entries have no state in common."""
    apart = np.asarray(one != other)
    several = np.char.startswith(one, "{") | np.char.startswith(other, "{")
    apart &= (one != _UNKNOWN) & (other != _UNKNOWN)
    for place in np.flatnonzero(apart & several):
        apart[place] = not members(str(one[place])) & members(str(other[place]))
    return apart


def members(state: str) -> frozenset[str]:
    """Take the states that an entry may be; none for one that may be any.

    Examples
    --------
    >>> sorted(members("{AG}")), sorted(members("{9,10}")), sorted(members("?"))
    (['A', 'G'], ['10', '9'], [])
    """
    if state == _UNKNOWN:
        return frozenset()
    if not state.startswith("{"):
        return frozenset([state])
    inside = state.strip("{}")
    return frozenset(inside.split(",") if "," in inside else inside)


def colours_of_states(states: Sequence[str]) -> dict[str, str]:
    """Give states their colours; nucleotides and the first digits have the same at every site.

    Parameters
    ----------
    states
        As often as they occur.

    Examples
    --------
    >>> colours_of_states("GAG") == {"A": "#0072b2", "G": "#009e73"}
    True
    """
    counts = Counter(states)
    for familiar in _FAMILIAR:
        if set(counts) <= set(familiar):
            return {s: OKABE_ITO[k] for k, s in enumerate(familiar) if s in counts}
    common = sorted(s for s, _ in counts.most_common(len(OKABE_ITO)))
    colours = dict(zip(common, OKABE_ITO, strict=False))
    return colours | dict.fromkeys(sorted(set(counts) - set(colours)), OTHER)
