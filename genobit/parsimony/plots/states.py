"""States of one site at the nodes of a tree, with their colours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.labels import text
from genobit.visual.style import number
from genobit.visual.tokens import BASES, GROUPS, LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import xarray as xr

#: Colour of nodes with several possible states or an unknown one.
UNSURE = LIGHT.paper
#: Colour of states beyond the palette; their letters tell them apart.
OTHER = OTHER_GROUP
#: Colours on which letters are white.
DARK = {GROUPS[k] for k in (0, 2, 5, 6, 7)}
#: States with the same colour at every site.
_FAMILIAR = (BASES | {"-": GROUPS[5]}, dict(zip("0123456", GROUPS, strict=False)))
_UNKNOWN = "?"


@dataclass(frozen=True)
class SiteStates:
    """States and colours of all nodes at one site, and the branches on which it changes."""

    name: str
    title: str
    states: list[str]
    changed: np.ndarray
    colours: list[str]
    key: dict[str, str]


def site_states(ancestors: xr.Dataset, site: int, title: str = "") -> SiteStates:
    """Return the states of a site from a result of `.genobit.ancestral_states()`.

    ``title`` replaces the number of changes in the title.
    """
    site = site_index("site", site, ancestors.sizes["sites"])
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
    name = f"site {site:,}"
    return SiteStates(name, f"{name}: {about}", states, changed, colours, key)


def site_index(name: str, site: Any, n_sites: int) -> int:
    """Return the index of a site; TypeError or IndexError if there is no such site."""
    if isinstance(site, bool) or not isinstance(site, int | np.integer):
        raise TypeError(f"{name}={site!r} is not the index of a site: give a whole number")
    if not 0 <= site < n_sites:
        raise IndexError(
            f"{name}={site} is not a site: the states have {n_sites:,} sites along 'sites', with "
            f"indices 0 to {n_sites - 1}"
        )
    return int(site)


def changes_of(ancestors: xr.Dataset, branch: int) -> pd.DataFrame:
    """List the changes on the branch above node ``branch``: `site` (its index), `from` and `to`.

    The root has no changes. ancestors: result of `.genobit.ancestral_states()`.
    """
    import pandas as pd

    states = ancestors["states"].values
    parent = int(ancestors["node_parent"].values[branch])
    before, after = (text(states[node]).astype(str) for node in (max(parent, 0), branch))
    found = np.flatnonzero(_apart(after, before)) if parent >= 0 else np.empty(0, dtype="i8")
    return pd.DataFrame({"site": found, "from": before[found], "to": after[found]})


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where two arrays of entries share no state, (sites,) bool."""
    apart = np.asarray(one != other)
    several = np.char.startswith(one, "{") | np.char.startswith(other, "{")
    apart &= (one != _UNKNOWN) & (other != _UNKNOWN)
    for place in np.flatnonzero(apart & several):
        apart[place] = not members(str(one[place])) & members(str(other[place]))
    return apart


def members(state: str) -> frozenset[str]:
    """Return the states that an entry may be, none if it may be any state.

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
    """Return the colour of each state; nucleotides and digits to 6 are the same at every site.

    ``states`` lists each state as often as it occurs.

    Examples
    --------
    >>> colours_of_states("GAG") == {"A": "#009e73", "G": "#e69f00"}
    True
    """
    counts = Counter(states)
    for familiar in _FAMILIAR:
        if set(counts) <= set(familiar):
            return {state: colour for state, colour in familiar.items() if state in counts}
    common = sorted(s for s, _ in counts.most_common(len(GROUPS)))
    colours = dict(zip(common, GROUPS, strict=False))
    return colours | dict.fromkeys(sorted(set(counts) - set(colours)), OTHER)
