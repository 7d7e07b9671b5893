"""`SearchEffort`: how long a search for trees goes on, as the caller gives it."""

from __future__ import annotations

from dataclasses import dataclass

from genobit.engine.own_words import own_words


@own_words
@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """Settings for the effort of the search by ``da.genobit.parsimony_search``.

    Parameters
    ----------
    replicates
        Number of starting trees, each with its own search. Dask runs the searches in parallel.
    iterations
        Minimum number of rounds of the parsimony ratchet. A round changes the weights of some
        sites, swaps branches, and swaps branches again with the original weights.
    patience
        Number of successive rounds without improvement after which the ratchet stops. The ratchet
        makes at least ``iterations`` rounds.
    max_trees
        Largest number of equally short trees to keep.

    Notes
    -----
    ``parsimony_search`` checks the values.

    Examples
    --------
    >>> import genobit as gb, xarray as xr
    >>> rows = [list("AACCA"), list("AACGA"), list("GATCC"), list("GCTGC")]
    >>> aln = xr.DataArray(rows, {"taxa": list("abcd")}, ("taxa", "sites"))
    >>> effort = gb.SearchEffort(replicates=2, iterations=5)
    >>> aln.genobit.parsimony_search(effort=effort).length.values.tolist()
    [6]
    """

    replicates: int = 1
    iterations: int = 100
    patience: int = 10
    max_trees: int = 100


def effort_of(effort: object) -> SearchEffort:
    """Return the effort of a call, by default `SearchEffort()`; TypeError for another object."""
    if effort is None:
        return SearchEffort()
    if not isinstance(effort, SearchEffort):
        msg = (
            f"effort={effort!r} is not a gb.SearchEffort: give for example "
            "gb.SearchEffort(replicates=10)"
        )
        raise TypeError(msg)
    return effort
