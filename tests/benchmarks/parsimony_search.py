"""Searches of the shortest trees against R's phangorn, on the alignment that comes with it."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np

import genobit as gb
from genobit.io.trees import newick, read_trees
from genobit.parsimony.kernels import swaps
from genobit.parsimony.kernels.half_edges import halves_from_parents, parents_from_halves
from genobit.parsimony.kernels.patterns import informative
from genobit.parsimony.kernels.planes import sites_of

from .measure import Row, ratio, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

ROUNDS = 10
SEEDS = (1, 2, 3)
BEST_KNOWN = 9713
# fitch_spr cuts off every tip and every subtree below the root in turn, and scores them at all
# branches of the rest: the scores are its candidates.
SPR = """
data <- phangorn:::removeParsimonyUninfomativeSites(data, recursive = TRUE)
data <- subset(data, tree$tip.label, order(attr(data, "weight"), decreasing = TRUE),
               site.pattern = TRUE)
f <- phangorn:::init_fitch(data, FALSE, FALSE, m = 4L)
tree <- reorder(unroot(tree), "postorder"); count <- 0; n <- length(tree$tip.label)
for (i in 1:n) count <- count + nrow(phangorn:::dropTip(tree, i)$edge)
children <- phangorn:::allChildren(tree)
for (i in (n + 1L):max(tree$edge)) if (i != phangorn:::getRoot(tree)) {
  rest <- phangorn:::dropNode(tree, i, all.ch = children)
  if (!is.null(rest)) count <- count + nrow(rest[[1]]$edge)
}
"""


def _r(code: str) -> list[float]:
    """Numbers that R prints."""
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    return [float(word) for word in done.stdout.split()] if done.returncode == 0 else []


def _passes(aln: xr.DataArray, folder: Path) -> Iterator[Row]:
    """Rearrangements a second of a pass of SPR that finds nothing shorter."""
    from genobit.data.characters import state_sets

    taxa = aln.taxa.values.tolist()
    sets = state_sets(aln.values, "dna").sets
    sites = sites_of(informative(sets, np.ones(sets.shape[1], np.int64)))
    found = aln.genobit.parsimony_search("spr", seed=1, effort=gb.SearchEffort(max_trees=1))
    parents = read_trees(found.tree.values[0], taxa).trees[0].parents
    back, work = halves_from_parents(parents, len(taxa)), swaps.room_for_search(sites)
    stream = np.array([1], np.uint64)
    counts: dict[str, list[float]] = {"ours": [], "phangorn": []}
    trees = 2 * (len(taxa) - 3) * (2 * len(taxa) - 7)
    swaps.swap(back, sites, swaps.SPR, work, stream)
    for _ in range(ROUNDS):
        taken = seconds(lambda: swaps.swap(back, sites, swaps.SPR, work, stream))
        counts["ours"].append(trees / taken)
    tree = folder / "tree.nwk"
    tree.write_text(newick(parents_from_halves(back, len(taxa)), taxa))
    counts["phangorn"] = _r(
        "suppressMessages(library(phangorn));"
        f"data <- read.phyDat('{folder}/laurasiatherian.fasta', format = 'fasta');"
        f"tree <- read.tree('{tree}');{SPR}"
        f"for (k in 1:{ROUNDS}) cat(count / system.time(for (j in 1:3)"
        " phangorn:::fitch_spr(tree, f))[['elapsed']] * 3, '')"
    )
    if counts["phangorn"]:
        what = f"SPR neighbourhood of laurasiatherian, {trees:,} trees"
        rate = statistics.median(counts["ours"]) / 1e6
        theirs = statistics.median(counts["phangorn"]) / 1e6
        at = f"phangorn:::fitch_spr ({theirs:.3f})"
        quotient = ratio(counts["ours"], counts["phangorn"])
        yield Row("parsimony", what, rate, "million trees/s", at, quotient, 20)


def _ratchets(aln: xr.DataArray, folder: Path, seeds: tuple[int, ...]) -> Iterator[Row]:
    """A hundred rounds from a tree of distances, with all that comes before and after."""

    def search(seed: int) -> Any:
        return aln.genobit.parsimony_search(
            seed=seed, start="neighbour_joining", effort=gb.SearchEffort(max_trees=1)
        )

    search(0)
    ours: list[float] = []
    for seed in seeds:
        found: list[Any] = []
        ours.append(1 / seconds(lambda s=seed, f=found: f.append(search(s))))
        if int(found[0].length[0]) != BEST_KNOWN:
            return
    theirs = _r(
        "suppressMessages(library(phangorn));"
        f"data <- read.phyDat('{folder}/laurasiatherian.fasta', format = 'fasta');"
        f"for (seed in 1:{len(seeds)}) {{ set.seed(seed);"
        " t <- system.time(r <- pratchet(data, trace = 0))[['elapsed']];"
        f" if (attr(r, 'pscore') == {BEST_KNOWN}) cat(1 / t, '') }}"
    )
    if theirs:
        what = f"ratchet on laurasiatherian to {BEST_KNOWN:,}, 100 rounds"
        at = f"phangorn::pratchet ({1 / statistics.median(theirs):.1f} s)"
        quotient = statistics.median(ours) / statistics.median(theirs)
        yield Row("parsimony", what, 1 / statistics.median(ours), "s", at, quotient, 10)


def searches(*, quick: bool) -> Iterator[Row]:
    """Branch swapping and the parsimony ratchet."""
    if shutil.which("Rscript") is None:
        return
    with tempfile.TemporaryDirectory() as name, dask.config.set(scheduler="synchronous"):
        folder = Path(name)
        path = folder / "laurasiatherian.fasta"
        _r(
            "suppressMessages(library(phangorn)); data(Laurasiatherian);"
            f"write.phyDat(Laurasiatherian, '{path}', format = 'fasta')"
        )
        if path.exists():
            aln = gb.open_alignment(path)
            yield from _passes(aln, folder)
            yield from _ratchets(aln, folder, SEEDS[:1] if quick else SEEDS)
