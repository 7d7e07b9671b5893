"""``DataArray.genobit.parsimony_search``: search for the shortest trees of an alignment.

`genobit.parsimony.schedule.steps` runs the searches and `genobit.parsimony.search` merges their
results. This module labels the results.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.alignment import TAXA, alignment_of
from genobit.data.analysis import ArrayMethods
from genobit.data.checks import check_one_of
from genobit.data.labels import text
from genobit.engine.progress import warn_stopped
from genobit.parsimony.methods.lengths import TREES, weights_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from genobit.data.alignment import Alignment
    from genobit.parsimony.effort import SearchEffort
    from genobit.parsimony.schedule.steps import Plan
    from genobit.parsimony.search import Found

METHODS = ("ratchet", "branch_and_bound", "tbr", "spr", "nni", "stepwise")
ADDITIONS = {"stepwise": "random", "closest": "closest"}
SHARE = 0.25
"""Share of the sites that get double weight in a round of the ratchet."""
FEWEST_TAXA = 3


class ParsimonySearchMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that search for trees."""

    def parsimony_search(
        self,
        method: str = "ratchet",
        *,
        seed: int = 0,
        start: Any = "stepwise",
        effort: SearchEffort | None = None,
        bootstrap: int = 0,
        gap: str = "missing",
        weights: str | ArrayLike | xr.DataArray | None = None,
        outgroup: str | Sequence[str] | None = None,
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> xr.Dataset:
        """Search for the trees with the fewest changes.

        Parameters
        ----------
        method
            Search algorithm:

            - "ratchet": branch swapping with some sites reweighted in each round, to escape local
              minima (Nixon 1999)
            - "branch_and_bound": exact search that proves the minimum and finds all shortest trees,
              for up to about 15 taxa
            - "tbr", "spr", "nni": branch swapping alone; "tbr" tries the most rearrangements, and
              "nni" the fewest
            - "stepwise": no search; the shortest starting trees are returned
        seed
            Seed of the random numbers. Results do not depend on threads or on the scheduler.
        start
            Method that builds the starting trees, or a tree as for `parsimony`:

            - "stepwise": add taxa in random order, each to the branch where it adds the fewest
              changes
            - "closest": at each step, add the taxon that adds the fewest changes
            - "neighbour_joining": neighbour joining, with ties in the order of the taxa
        effort
            Numbers of replicates, rounds and trees. The default is ``gb.SearchEffort()``: one
            replicate of at least 100 rounds.
        bootstrap
            Number of bootstrap resamples of the sites, for branch support.
        gap, weights
            As for `parsimony`.
        outgroup
            One or more taxa that root the returned trees.
        progress
            Whether to show a progress bar. The default is the option ``progress``.
        checkpoint
            Folder that keeps finished work. Repeat the call to resume.

        Returns
        -------
            Dataset of

            - ``tree`` (trees): Newick of the shortest trees. Trees are unrooted unless ``outgroup``
              is given. With ``bootstrap``, inner nodes are labelled with their support.
            - ``length`` (trees)
            - ``trace`` (iteration): shortest length so far, over all replicates. The first entry is
              the shortest length of the starting trees. Each later entry is the shortest length
              after one more step of the search. The first step swaps branches until no swap makes a
              tree shorter. Each later step is one round of the ratchet. After these rounds,
              branches of the shortest trees are swapped; a shorter tree found by this adds one
              entry. With branch and bound, the first step is ten rounds of the ratchet, and each
              later step examines up to 20,000 partial trees
            - ``round_length`` (replicate, iteration): length of the tree of each replicate, step
              by step. The first entry is the length of the starting tree. The second is the length
              after its branches were swapped. Each later entry is the length of the tree at the end
              of one round of the ratchet, even if the replicate already had a shorter tree. "tbr",
              "spr" and "nni" have only the first two entries, "stepwise" only the first, and branch
              and bound has none. An entry is NaN if the replicate had ended before that step
            - ``support`` (trees, splits), with ``bootstrap``: percentage of resamples whose tree
              contains each inner branch
            - ``split`` (trees, splits, taxa), with ``bootstrap``: True for the taxa that the branch
              separates from the first taxon

            ``attrs["proven"]`` is True if the search proves that no tree is shorter. Only a
            finished "branch_and_bound" proves this. ``attrs["all_found"]`` is False if the search
            reached the limit ``effort.max_trees``. If ``proven`` and ``all_found`` are both True,
            the result has all shortest trees. After Ctrl-C, a RuntimeWarning is given. The result
            has the shortest trees found so far, and ``attrs["partial"]`` is True.

        Raises
        ------
        ValueError
            For an invalid alignment, tree or weights, fewer than three taxa, and numbers out of
            range. Also for a branch-and-bound search longer than ``get_options().longest_search``
            (one hour by default); the message gives the estimated time.
        MemoryError
            For a dask alignment whose distinct columns need more than ``get_options().eager_limit``
            bytes.
        OSError
            With ``bootstrap``, if the folder ``get_options().spill_to`` has too little space. For a
            very long alignment, the search writes one integer per site there (see
            `genobit.engine.options.Options`).

        Notes
        -----
        Trees are binary. Two trees are equal if they have the same splits. Branches without a
        change are not collapsed, so each resolution of an unresolved node counts as a tree. Equally
        short trees are found by swapping branches of the shortest trees (TBR for the ratchet). Only
        "branch_and_bound" is guaranteed to find all of them.

        Examples
        --------
        >>> import genobit, xarray as xr
        >>> rows = [list("AACCA"), list("AACGA"), list("GATCC"), list("GCTGC")]
        >>> aln = xr.DataArray(rows, {"taxa": list("abcd")}, ("taxa", "sites"))
        >>> best = aln.genobit.parsimony_search("branch_and_bound")
        >>> best.tree.values.tolist(), best.length.values.tolist(), best.attrs["proven"]
        (['(a,b,(c,d));'], [6], True)
        """
        from genobit.parsimony import search
        from genobit.parsimony.effort import effort_of
        from genobit.parsimony.schedule.runs import run

        found = alignment_of(self._da, gap)
        roots = _positions(outgroup, found.taxa)
        each = None if weights is None else weights_of(self._da, weights)
        plan = planned(found, each, start, method, seed, effort_of(effort), bootstrap)
        done = run(
            plan,
            checkpoint=checkpoint,
            about={"taxa": found.taxa},
            progress=progress,
            check=partial(search.check_feasible, plan),
        )
        about = {"method": method, "seed": seed, **found.attrs}
        trees = search.gathered(plan, done)
        if trees.partial:
            warn_stopped("parsimony_search", "the shortest trees found so far", checkpoint)
        return _labelled(trees, plan, found.taxa, roots, about)


def planned(
    found: Alignment,
    weights: NDArray[np.int64] | None,
    start: Any,
    method: str,
    seed: int,
    effort: SearchEffort,
    bootstrap: int,
) -> Plan:
    """Check the arguments and return the plan of the search."""
    from genobit.parsimony.kernels.patterns import informative
    from genobit.parsimony.schedule.steps import Plan
    from genobit.parsimony.site_patterns import site_patterns

    check_one_of("method", method, METHODS)
    if len(found.taxa) < FEWEST_TAXA:
        raise ValueError(f"the alignment has {len(found.taxa)} taxa: a search needs at least three")
    least = {"replicates": 1, "max_trees": 1, "iterations": 0, "patience": 0, "bootstrap": 0}
    given: dict[str, Any] = {**vars(effort), "bootstrap": bootstrap, "seed": seed}
    for name, value in given.items():
        is_number = isinstance(value, int | float | np.integer | np.floating)
        if not is_number or value % 1 != 0 or value < least.get(name, 0):
            msg = f"{name}={value!r} is not a whole number of at least {least.get(name, 0)}"
            raise ValueError(msg)
    columns = site_patterns(
        found.values, found.coding, found.taxa, weights, resampled=bool(bootstrap)
    )
    return Plan(
        informative(columns.sets, columns.weights), columns.drawn, method, _start(start, found),
        int(seed),
        1 if method == "branch_and_bound" else int(effort.replicates), int(effort.iterations),
        int(effort.patience), SHARE, int(effort.max_trees), int(bootstrap),
    )  # fmt: skip


def _start(start: Any, found: Alignment) -> str | NDArray[np.int64]:
    from genobit.parsimony.kernels.half_edges import halves_from_parents

    if start is None:
        start = "stepwise"
    if isinstance(start, str) and start in ADDITIONS:
        return ADDITIONS[start]
    if isinstance(start, str) and start == "neighbour_joining":
        from genobit.data.alignment import sets_by_sites
        from genobit.parsimony.neighbour_joining import neighbour_joining

        parts = sets_by_sites(found.values, found.coding, found.taxa)
        return halves_from_parents(neighbour_joining(parts), len(found.taxa))
    from genobit.io.trees import read_trees

    try:
        trees = read_trees(start, found.taxa).trees
    except FileNotFoundError as error:
        words = ", ".join(map(repr, [*ADDITIONS, "neighbour_joining"]))
        raise FileNotFoundError(f"start={start!r} is not one of {words}, and {error}") from error
    if len(trees) != 1:
        raise ValueError(f"start= has {len(trees)} trees: give one")
    return halves_from_parents(trees[0].parents, len(found.taxa))


def _positions(outgroup: str | Sequence[str] | None, taxa: list[str]) -> list[int]:
    given = [outgroup] if isinstance(outgroup, str) else list(outgroup or ())
    names = text(given, "outgroup").tolist()
    for name in names:
        if name not in taxa:
            some = ", ".join(taxa[:9]) + (", .." if len(taxa) > 9 else "")
            msg = f"outgroup={name!r} is not a taxon of the alignment, which has {some}"
            raise ValueError(msg)
    return [taxa.index(name) for name in names]


def _labelled(
    found: Found, plan: Plan, taxa: list[str], roots: list[int], about: dict[str, Any]
) -> xr.Dataset:
    from genobit.io.trees import newick
    from genobit.parsimony.search import drawn, splits_of, support_of

    support, members = support_of(found, len(taxa))
    texts = []
    for number, back in enumerate(found.trees):
        parents, nodes = drawn(back, len(taxa), roots)
        marks = [""] * parents.size
        if plan.bootstrap:
            percents = dict(zip(sorted(splits_of(back, len(taxa))), support[number], strict=True))
            for split, node in nodes.items():
                marks[node] = f"{percents[split]:.4g}" if split in percents else ""
        texts.append(newick(parents, taxa, marks))
    lengths = np.full(len(texts), found.length, np.int64)
    changes = {"long_name": "length", "units": "changes"}
    variables: dict[str, Any] = {
        "tree": (TREES, np.array(texts, object), {"long_name": "tree, Newick"}),
        "length": (TREES, lengths, changes),
        "trace": ("iteration", found.trace, {**changes, "long_name": "shortest length so far"}),
    }
    if found.of_rounds.size:
        # The last swapping of all trees has an iteration, but no rounds.
        after = ((0, 0), (0, found.trace.size - found.of_rounds.shape[1]))
        lengths_of = np.pad(found.of_rounds, after, constant_values=np.nan)
        about_rounds = {**changes, "long_name": "length of each round"}
        variables["round_length"] = (("replicate", "iteration"), lengths_of, about_rounds)
    if plan.bootstrap:
        percent = {"long_name": "resamples with a branch", "units": "percent"}
        variables["support"] = ((TREES, "splits"), support, percent)
        sides = {"long_name": "side of a branch without the first taxon"}
        variables["split"] = ((TREES, "splits", TAXA), members, sides)
    attrs = {
        **about,
        "proven": found.proven,
        "all_found": found.complete,
        "partial": found.partial,
        "bootstrap": len(found.resamples),
    }
    return xr.Dataset(variables, {TAXA: text(taxa)}, attrs)
