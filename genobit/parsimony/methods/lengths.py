"""``DataArray.genobit.parsimony`` and ``ancestral_states``: trees scored against alignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import aligning
from genobit.data.alignment import SITES, alignment_of
from genobit.data.analysis import ArrayMethods
from genobit.data.labels import text

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from genobit.io.trees import Phylogeny
    from genobit.parsimony.scores import Scores

TREES, NODES = "trees", "nodes"
_TOO_LARGE = 2.0**63
"""Costs from here on do not fit int64."""


class ParsimonyMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that score trees against an alignment."""

    def parsimony(
        self,
        tree: Any,
        *,
        gap: str = "missing",
        weights: str | ArrayLike | xr.DataArray | None = None,
        costs: ArrayLike | None = None,
        sites: bool = True,
    ) -> xr.Dataset:
        """Compute lengths of trees, changes of each site, and indices of homoplasy.

        Parameters
        ----------
        tree
            One or more trees, rooted or unrooted. A tree is Newick or NEXUS (text or a path), or a
            tree object of DendroPy, tskit, scikit-bio or Bio.Phylo. A list of trees, a TreeSequence
            of tskit and the result of `parsimony_search` are accepted too. Nodes may have any
            number of children. A taxon may be an inner node or the root; that node then has the
            states of the taxon. One call prepares the alignment once for all trees.
        gap
            "missing": a gap may be any state. "state": a gap is one more state.
        weights
            Weight of each site, an integer of at least 0; 1 by default. A DataArray is aligned by
            its labels.
        costs
            Cost matrix (states, states). Each entry is the cost of a change from the state of its
            row to the state of its column. The order of the states is ``attrs["states"]`` of the
            result of `ancestral_states`. A DataArray with the states as labels is aligned by label.
            Costs are at least 0, and 0 for no change. They need not be a metric. Asymmetric costs
            need rooted trees. With costs, lengths are computed by Sankoff's algorithm, which is
            exact but slower.
        sites
            Whether to return results of single sites. Use False to save memory with many trees.

        Returns
        -------
            Dataset with one value for each tree, or scalars for a single tree:

            - ``length``: weighted length
            - ``ci``, ``ri``, ``rc``: consistency, retention and rescaled consistency index of all
              sites

            With ``sites`` it also has

            - ``changes``, ``site_ci``, ``site_ri``: (trees, sites), or (sites) for a single tree
            - ``min_changes`` (sites): fewest changes on any tree
            - ``max_changes`` (sites): changes on a star tree

            Results of single sites are not weighted. An index of 0 / 0 is NaN, for example
            ``site_ci`` of a constant site. ``site_ri`` is NaN if ``min_changes`` equals
            ``max_changes``. With ``costs``, the only variables are ``length`` and ``changes``.
            Indices need the minimum cost over all trees, and finding it requires a search.

            All results are in memory. A dask alignment is read a few chunks of sites at a time,
            with the same results.

        Raises
        ------
        ValueError
            For an invalid alignment, tree, weights or costs; the message names the first problem.

        Examples
        --------
        >>> import genobit, xarray as xr
        >>> rows = [list("AACC"), list("AACG"), list("GATC"), list("GCTG")]
        >>> aln = xr.DataArray(rows, {"taxa": list("abcd")}, ("taxa", "sites"))
        >>> res = aln.genobit.parsimony("((a,b),(c,d));")
        >>> int(res.length), res.changes.values.tolist(), float(res.ci)
        (5, [1, 1, 1, 2], 0.8)
        """
        from genobit.io.trees import read_trees
        from genobit.parsimony import scores as tree_scores

        aligned = alignment_of(self._da, gap)
        trees, one = read_trees(tree, aligned.taxa)
        each = None if weights is None else weights_of(self._da, weights)
        matrix = None if costs is None else _costs(costs, aligned.coding.symbols)
        asked = tree_scores.Trees([each.children for each in trees], matrix, sites)
        found = tree_scores.scores(aligned.values, aligned.coding, aligned.taxa, asked, each)
        kernel = "planes" if matrix is None else "costs"
        attrs = {**aligned.attrs, "taxa": len(aligned.taxa), "kernel": kernel}
        ds = _scored(found, matrix)
        ds = ds.assign_coords(aligned.coords if sites else {}).assign_attrs(attrs)
        return ds.isel({TREES: 0}) if one else ds

    def ancestral_states(
        self, tree: Any, *, resolve: str = "acctran", gap: str = "missing"
    ) -> xr.Dataset:
        """Reconstruct the states of the inner nodes of a tree, and the changes on its branches.

        Parameters
        ----------
        tree
            One tree, as for `parsimony`.
        resolve
            Reconstruction to return:

            - "acctran": a shortest reconstruction with changes as close to the root as possible
            - "deltran": a shortest reconstruction with changes as close to the tips as possible
            - "sets": all states that a node has in at least one shortest reconstruction
        gap
            As for `parsimony`.

        Returns
        -------
            Dataset with the variables

            - ``states`` (nodes, sites): text, one state. With "sets" it may be several states, such
              as ``{AG}``, or ``?`` for all states
            - ``node_parent`` (nodes): parent of each node, -1 for the root
            - ``branch_changes`` (nodes): number of changes on the branch above each node. With
              "acctran" and "deltran", the sum is the length of the tree. With "sets", each value is
              the minimum over all shortest reconstructions
            - ``most_branch_changes`` (nodes), with "sets": maximum number of changes over all
              shortest reconstructions

            For a dask alignment, ``states`` are lazy, in the same chunks of sites. The changes
            are counted during the call, a few chunks at a time.

            ``attrs["states"]`` lists all states in order. The index ``node`` has the names of taxa
            and inner nodes. Inner nodes without a name are called "node 14", for example. A numeric
            label of an inner node is read as support, not as a name. A taxon that is an inner node
            is a tip below that node, on a branch without changes; ``attrs["sampled"]`` lists such
            taxa.

        Raises
        ------
        ValueError
            As for `parsimony`. Also for several trees, and for an unknown ``resolve``.

        Notes
        -----
        If several states of a node suit "acctran" or "deltran" equally well, the first one in the
        order of ``attrs["states"]`` is taken. Nodes with more than two children are hard polytomies
        (true multiple splits). Their states follow Hartigan (1973).

        Examples
        --------
        >>> import genobit, xarray as xr
        >>> rows = [list("AA"), list("CA"), list("AG"), list("CG"), list("CG")]
        >>> aln = xr.DataArray(rows, {"taxa": list("abcde")}, ("taxa", "sites"))
        >>> anc = aln.genobit.ancestral_states("((((a,b)w,c)x,d)y,e)z;", resolve="sets")
        >>> anc.states.sel(node=["w", "x", "y", "z"]).values.tolist()
        [['{AC}', 'A'], ['{AC}', 'G'], ['C', 'G'], ['C', 'G']]
        """
        from genobit.io.trees import read_trees
        from genobit.parsimony import ancestral

        aligned = alignment_of(self._da, gap)
        trees = read_trees(tree, aligned.taxa).trees
        if len(trees) != 1:
            msg = (
                f"ancestral states need one tree, not {len(trees)}: select one, such as "
                "search.isel(trees=0) of a search, or trees[0] of a list"
            )
            raise ValueError(msg)
        (one,) = trees
        nodes = ancestral.ancestral_states(
            aligned.values, aligned.coding, aligned.taxa, one.parents, resolve, one.sampled
        )
        changes = {"branch_changes": ("changes on the branch above", nodes.changes)}
        if resolve == "sets":
            changes = {
                "branch_changes": ("fewest changes on the branch above", nodes.changes),
                "most_branch_changes": ("most changes on the branch above", nodes.most_changes),
            }
        about = {name: (NODES, x, {"long_name": long}) for name, (long, x) in changes.items()}
        ds = xr.Dataset(
            {
                "states": ((NODES, SITES), nodes.states, {"long_name": "state"}),
                "node_parent": (NODES, one.parents, {"long_name": "number of the parent"}),
                **about,
            },
            {"node": (NODES, _node_names(one)), **aligned.coords},
            {**aligned.attrs, "resolve": resolve, "taxa": len(aligned.taxa)},
        )
        if one.sampled:
            ds.attrs[ancestral.SAMPLED] = [aligned.taxa[tip] for tip in one.sampled]
        return ds.set_xindex("node")


def weights_of(
    alignment: xr.DataArray, weights: str | ArrayLike | xr.DataArray
) -> NDArray[np.int64]:
    """Return checked weights in the order of the sites, (sites,)."""
    from genobit.parsimony.lengths import whole_weights

    return whole_weights(aligning.aligned_numbers(alignment, weights, SITES, "weights"))


def _costs(costs: ArrayLike, symbols: tuple[str, ...]) -> NDArray[np.float64]:
    """Return checked costs (states, states) in the order of the states, aligned by label."""
    from genobit.parsimony.lengths import cost_matrix

    if isinstance(costs, pd.DataFrame):
        costs = xr.DataArray(costs)
    if isinstance(costs, xr.DataArray):
        for dim in costs.dims:
            if dim not in costs.indexes:
                continue
            labels = text(costs.indexes[dim], "costs").tolist()
            twice = next((label for k, label in enumerate(labels) if label in labels[:k]), None)
            if twice is not None:
                raise ValueError(f"costs= has the label {twice!r} along {dim!r} twice: keep one")
            if bare := [other for other in costs.dims if other not in costs.indexes]:
                msg = f"costs= has labels along {dim!r} and none along {bare[0]!r}: label both"
                raise ValueError(msg)
            absent = [symbol for symbol in symbols if symbol not in labels]
            if absent and aligning.is_default(costs.indexes[dim]):
                continue
            if absent:
                msg = f"costs= has no label {absent[0]!r} along {dim!r}: give costs of all states"
                raise ValueError(msg)
            costs = costs.isel({dim: [labels.index(symbol) for symbol in symbols]})
        costs = costs.data
    return cost_matrix(costs, symbols)


def _scored(found: Scores, costs: NDArray[np.float64] | None) -> xr.Dataset:
    """Label scores of trees."""
    from genobit.parsimony.lengths import indices

    changes, lengths = found.changes, found.lengths
    if costs is not None:
        lengths = np.array([_as_float(length) for length in lengths])
        scores = lengths if changes is None else np.append(lengths, changes)
        if (costs == np.floor(costs)).all() and (scores < _TOO_LARGE).all():
            # Whole costs are exact in float64 up to 2**53, and their sums are exact as fractions.
            lengths = found.lengths.astype(np.int64)
            changes = None if changes is None else changes.astype(np.int64)
    about = {"long_name": "length", "units": "changes"}
    variables: dict[str, Any] = {"length": (TREES, lengths, about)}
    if changes is not None:
        about = {"long_name": "changes of a site, not weighted"}
        variables["changes"] = ((TREES, SITES), changes, about)
    if costs is not None:
        return xr.Dataset(variables)
    names = ("consistency index", "retention index", "rescaled consistency index")
    ratios = indices(lengths, *found.total)
    for key, name, values in zip(("ci", "ri", "rc"), names, ratios, strict=True):
        variables[key] = (TREES, values, {"long_name": name})
    if changes is not None and found.bounds is not None:
        fewest, most = found.bounds
        about = {"long_name": "fewest changes of a site on any tree"}
        variables["min_changes"] = (SITES, fewest, about)
        about = {"long_name": "changes of a site on a star"}
        variables["max_changes"] = (SITES, most, about)
        ratios = indices(changes, fewest, most)
        for key, name, values in zip(("site_ci", "site_ri"), names[:2], ratios[:2], strict=True):
            variables[key] = ((TREES, SITES), values, {"long_name": f"{name} of a site"})
    return xr.Dataset(variables)


def _as_float(length: Fraction | float) -> float:
    try:
        return float(length)
    except OverflowError:
        return float("inf")


def _node_names(tree: Phylogeny) -> list[str]:
    """Return unique names of nodes; support values and repeated names become "node N"."""
    from genobit.data.topology import tips
    from genobit.io.tree_files.tree_nodes import is_number

    names = list(tree.labels)
    given = {name: names.count(name) for name in names}
    for node in range(tips(tree.parents), len(names)):
        if not names[node] or given[names[node]] > 1 or is_number(names[node]):
            names[node] = f"node {node}"
            while names[node] in given:
                names[node] += "'"
    return names
