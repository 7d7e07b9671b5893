"""Parsimony among the analyses: methods, explorers, warm-up."""

from __future__ import annotations

import numpy as np
import xarray as xr

from genobit.data.analysis import ALIGNMENT, Analysis, Cohorts, Explorer, Method, Needs
from genobit.data.availability import why_not
from genobit.parsimony.methods.alignment import AlignmentMethods
from genobit.parsimony.methods.lengths import ParsimonyMethods
from genobit.parsimony.methods.search import ParsimonySearchMethods

TAXA, SITES = 16, 60
"""Size of the alignment of the warm-up."""


def _warm(_cohorts: Cohorts) -> None:
    from genobit.parsimony.effort import SearchEffort

    rng = np.random.default_rng(1)
    sites = rng.integers(0, 4, (1, SITES))
    while len(sites) < TAXA:
        child = sites[rng.integers(len(sites))].copy()
        child[rng.random(SITES) < 0.1] = rng.integers(4)
        sites = np.vstack([sites, child])
    taxa = [f"t{k}" for k in range(TAXA)]
    aln = xr.DataArray(np.array(list("ACGT"))[sites], {"taxa": taxa}, ("taxa", "sites"))
    effort = SearchEffort(iterations=1, patience=1)
    tree = ParsimonySearchMethods(aln).parsimony_search(seed=1, effort=effort, bootstrap=1)
    few = ParsimonySearchMethods(aln.isel(taxa=slice(0, 6)))
    few.parsimony_search("branch_and_bound")
    newick = str(tree["tree"].values[0])
    ParsimonyMethods(aln).parsimony(newick)
    ParsimonyMethods(aln).ancestral_states(newick).compute()


_PATH, _TITLE = "explorer.explorer.ParsimonyExplorer", "trees"
_QUESTION = "Which tree needs the fewest changes, and where are they?"
ANALYSIS = Analysis(
    "parsimony",
    of_datasets=(AlignmentMethods,),
    of_arrays=(ParsimonyMethods, ParsimonySearchMethods),
    methods={
        "alignment": Method(
            Needs(ploidies=(1,), calls=True), "parsimony", "alignment().genobit.parsimony(tree)"
        )
    },
    array_methods={
        "parsimony": Method(ALIGNMENT, "parsimony", "parsimony(tree)"),
        "ancestral_states": Method(ALIGNMENT, "parsimony", "ancestral_states(tree)"),
        "parsimony_search": Method(ALIGNMENT, "parsimony"),
    },
    explorer=Explorer(
        _PATH,
        _TITLE,
        _QUESTION,
        lambda ds: why_not(ds, "alignment"),
        lambda ds: (AlignmentMethods(ds).alignment(),),
        from_launcher=True,
    ),
    array_explorer=Explorer(_PATH, _TITLE, _QUESTION, lambda aln: why_not(aln, "parsimony")),
    warm=_warm,
    compiled=2,
)
