"""Ancestral states by parsimony, for an alignment in memory or chunk by chunk.

Rules and references: `genobit.parsimony.kernels.hartigan`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import numpy as np

from genobit.data.characters import Characters, sets_in
from genobit.data.checks import check_one_of
from genobit.data.coded_text import coded
from genobit.data.topology import children
from genobit.engine.schedule.passes import by_sites
from genobit.parsimony.kernels import hartigan
from genobit.parsimony.kernels.planes import weight_planes
from genobit.parsimony.lengths import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.data.characters import Coding
    from genobit.parsimony.kernels.hartigan import Ancestors
    from genobit.parsimony.lengths import Columns

RESOLUTIONS = tuple(hartigan.RULES)
SAMPLED = "sampled"
"""Attribute of a result that lists the taxa that are inner nodes of the tree."""
_TABLE_STATES = 16
"""Most states for which a table of all sets is used."""


class States(NamedTuple):
    """States of the nodes of a tree."""

    states: NDArray[np.str_] | da.Array
    """Text (nodes, sites), lazy and in the same chunks for a lazy alignment."""
    changes: NDArray[np.int64]
    """Changes on the branch above each node, the fewest with "sets", (nodes,)."""
    most_changes: NDArray[np.int64]
    """Most changes on the branch above each node, (nodes,)."""


def ancestral_states(
    values: NDArray[Any] | da.Array,
    coding: Coding,
    taxa: Sequence[str],
    parents: NDArray[np.int64],
    resolve: str,
    sampled: Sequence[int] = (),
) -> States:
    """Return the states of the nodes of a tree, and the changes on its branches.

    values: (taxa, sites); parents: (nodes,). Changes of a lazy alignment are summed at once, chunk
    by chunk. ``resolve`` and ``sampled``: as in `reconstruct`.

    Examples
    --------
    >>> from genobit.data.characters import Coding
    >>> dna = Coding("dna", tuple("ACGT"), "missing")
    >>> found = ancestral_states(
    ...     np.array([list("AC"), list("AC"), list("AG")]),
    ...     dna,
    ...     "abc",
    ...     np.array([3, 3, 4, 4, -1]),
    ...     "acctran",
    ... )
    >>> found.states[3:].tolist(), found.changes.tolist()
    ([['A', 'C'], ['A', 'C']], [0, 0, 1, 0, 0])
    """
    tree = {"parents": parents, "resolve": resolve, "sampled": sampled}
    values, coding = coded(values, coding)
    rebuilt = partial(_rebuilt, coding=coding, taxa=taxa, tree=tree)
    if not isinstance(values, da.Array):
        nodes, of_site = rebuilt(values, 0)
        text = _text(nodes.sets, coding.symbols)[:, of_site]
        return States(text, nodes.changes, nodes.most_changes)
    found = hartigan.Ancestors(np.empty(0, np.uint64), *np.zeros((2, parents.size), np.int64))
    for _, part in by_sites(partial(_counted, rebuilt=rebuilt), values):
        found = hartigan.Ancestors(
            np.union1d(found.sets, part.sets),
            found.changes + part.changes,
            found.most_changes + part.most_changes,
        )
    dtype = _text(found.sets, coding.symbols).dtype
    states: da.Array = da.map_blocks(
        _states_of, values, rebuilt=rebuilt, symbols=coding.symbols, width=dtype, dtype=dtype,
        chunks=((parents.size,), values.chunks[1]), meta=np.empty((0, 0), dtype),
    )  # fmt: skip
    return States(states, found.changes, found.most_changes)


def _rebuilt(
    values: NDArray[Any],
    first: int,
    *,
    coding: Coding,
    taxa: Sequence[str],
    tree: dict[str, Any],
) -> tuple[Ancestors, NDArray[np.int64]]:
    """Return the nodes of a part by pattern, and the pattern of each site."""
    found = columns(Characters(sets_in(values, coding, taxa, first), coding.symbols))
    return reconstruct(found, **tree), found.patterns.of_site


def _counted(values: NDArray[Any], first: int, *, rebuilt: Any) -> Ancestors:
    """Return the changes of a part, and the different state sets that occur in it."""
    nodes, _ = rebuilt(values, first)
    return nodes._replace(sets=_different(nodes.sets))


def _states_of(
    values: NDArray[Any],
    *,
    rebuilt: Any,
    symbols: tuple[str, ...],
    width: np.dtype[Any],
    block_info: Any = None,
) -> NDArray[np.str_]:
    (first, _) = block_info[0]["array-location"][1]
    nodes, of_site = rebuilt(values, first)
    return _text(nodes.sets, symbols).astype(width)[:, of_site]


def reconstruct(
    found: Columns, parents: NDArray[np.int64], resolve: str, sampled: Sequence[int] = ()
) -> Ancestors:
    """Reconstruct the states of all nodes of a tree.

    Returns state sets (nodes, patterns) and weighted changes on the branch above each node.
    ``resolve`` is "sets", for all states of each node in any shortest reconstruction, or "acctran"
    or "deltran", for one of them. ``sampled`` lists the tips that are inner nodes of the tree.
    Raises ValueError for any other ``resolve``.

    Examples
    --------
    >>> from genobit.data.characters import state_sets
    >>> from genobit.parsimony.lengths import columns
    >>> found = columns(state_sets([["A"], ["C"], ["A"], ["C"], ["C"]], "dna"))
    >>> parents = np.array([5, 5, 6, 7, 8, 6, 7, 8, -1])
    >>> reconstruct(found, parents, "sets").sets[5:, 0].tolist()
    [3, 3, 2, 2]
    >>> reconstruct(found, parents, "deltran").changes.tolist()
    [1, 0, 1, 0, 0, 0, 0, 0, 0]
    """
    check_one_of("resolve", resolve, RESOLUTIONS)
    return hartigan.ancestors(
        found.planes,
        parents,
        children(parents, sampled),
        weight_planes(found.weights),
        found.weights.size,
        resolve,
    )


def _text(sets: NDArray[np.uint64], symbols: tuple[str, ...]) -> NDArray[np.str_]:
    """Write each state set as an entry of an alignment; sets: (nodes, patterns)."""
    different = _different(sets)
    between = "" if all(len(symbol) == 1 for symbol in symbols) else ","
    texts = []
    for found in different.tolist():
        inside = [symbol for state, symbol in enumerate(symbols) if found >> state & 1]
        if len(inside) == 1:
            texts.append(inside[0])
        elif len(inside) == len(symbols):
            texts.append("?")
        else:
            texts.append("{" + between.join(inside) + "}")
    return np.array(texts)[np.searchsorted(different, sets)]


def _different(sets: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the different sets, sorted."""
    every = int(np.bitwise_or.reduce(sets, axis=None))
    if every.bit_length() > _TABLE_STATES:
        return np.unique(sets)
    # A sort takes ten times as long as this table.
    there = np.zeros(every + 1, bool)
    there[sets.reshape(-1)] = True
    return np.flatnonzero(there).astype(np.uint64)
