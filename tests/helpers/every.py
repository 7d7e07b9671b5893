"""Every analysis once, on small data in several chunks, each as a call without arguments.

For what has to hold of all: the same bits on any scheduler, in bounded memory, after faults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.helpers.measurements import expression
from tests.helpers.prints import prints, rows_of
from tests.helpers.sites import alignment, letters
from tests.helpers.trees import simulated

VARIANTS, SAMPLES, CHUNK = 192, 70, 64


def everything() -> dict[str, Callable[[], Any]]:
    """Name -> what computes it, on the scheduler that is active then."""
    calls = mosaic_calls(3, VARIANTS, SAMPLES, missing=0.03)
    ds = cohort(calls, contigs=2, chunks=(CHUNK, SAMPLES), phased=True)
    ds["variant_position"] = ds["variant_position"] * 10
    bits = ds.genobit.pack()
    rng = np.random.default_rng(1)
    p = 10 ** rng.uniform(-6, 0, VARIANTS)
    sick = rng.integers(1, 3, SAMPLES)
    few = bits.isel(variants=slice(0, VARIANTS, 8))
    expr = expression(24, 30, missing=0.05).chunk(gene=8)
    sites = alignment(letters(2, 33, 20)).chunk(sites=6)
    aln = simulated(7, 30).chunk(sites=4)
    tree = "('t 0','t 1',('t 2',('t 3',('t 4',('t 5','t 6')))));"
    whole = cohort(np.maximum(calls, 0), chunks=(CHUNK, SAMPLES))
    return {
        "variant_stats": lambda: bits.genobit.variant_stats().compute(),
        "sample_stats": lambda: bits.genobit.sample_stats().compute(),
        "filter": lambda: bits.genobit.filter(min_maf=0.1, max_sample_missing=0.2).compute(),
        "mask_calls": lambda: (
            whole.assign(call_GQ=(whole.call_genotype.sum("ploidy") * 9))
            .genobit.mask_calls(min_gq=10)
            .compute()
        ),
        "ld": lambda: bits.genobit.ld("r2").compute(),
        "ld of a window": lambda: bits.genobit.ld("r2", window=20).compute(),
        "ld by EM": lambda: few.genobit.ld("r2_em").compute(),
        "ld_pairs": lambda: bits.genobit.ld_pairs(threshold=0.3, window=40).to_dataframe(),
        "partners": lambda: bits.genobit.ld_pairs(variants=[3, 70], top=5).to_dataframe(),
        "ld_prune": lambda: bits.genobit.ld_prune(20, 5, 0.3),
        "ld_clump": lambda: bits.genobit.ld_clump(p, 0.2, 40, 1e-2, 0.1),
        "ld_score": lambda: bits.genobit.ld_score(30).compute(),
        "ld_decay": lambda: bits.genobit.ld_decay("100kb", bins=5, resamples=4, parts=3),
        "ld_blocks": lambda: bits.genobit.ld_blocks("100kb"),
        "finite sites": lambda: sites.genobit.ld("T").compute(),
        "similarity": lambda: prints(rows_of(1, 40, 90), (13, 90)).genobit.similarity().compute(),
        "neighbours": lambda: (
            prints(rows_of(1, 40, 90), (13, 90)).genobit.similarity(top=3).compute()
        ),
        "grm": lambda: bits.genobit.grm().compute(),
        "grm by chromosome": lambda: bits.genobit.grm("gcta", loco=True).compute(),
        "king": lambda: bits.genobit.grm("king").compute(),
        "ibs": lambda: bits.genobit.grm("ibs").compute(),
        "grm_pairs": lambda: bits.genobit.grm_pairs(threshold=0.05).to_dataframe(),
        "unrelated": bits.genobit.unrelated,
        "crossproduct": lambda: whole.genobit.crossproduct().compute(),
        "pca": lambda: bits.genobit.pca(3, method="exact").compute(),
        "randomized pca": lambda: bits.genobit.pca(3, method="randomized").compute(),
        "kendall": lambda: expr.genobit.kendall(pvalue=True).compute(),
        "kendall of genotypes": lambda: few.genobit.kendall().compute(),
        "kendall_pairs": lambda: expr.genobit.kendall_pairs(0.2, 0.1).to_dataframe(),
        "epistasis": lambda: few.genobit.epistasis(
            sick, order=2, top=20, limits=gb.EpistasisLimits(min_n=0)
        ),
        "epistasis of order 3": lambda: few.genobit.epistasis(
            sick, order=3, top=20, limits=gb.EpistasisLimits(min_n=0)
        ),
        "epistasis with covariates": lambda: few.genobit.epistasis(
            sick,
            top=20,
            statistic="logistic",
            covariates=few.genobit.pca(2).scores,
            limits=gb.EpistasisLimits(min_n=0),
        ),
        "parsimony": lambda: aln.genobit.parsimony(tree),
        "ancestral_states": lambda: aln.genobit.ancestral_states(tree).compute(),
        "parsimony_search": lambda: aln.genobit.parsimony_search(
            seed=1, effort=gb.SearchEffort(replicates=3, iterations=4), bootstrap=2
        ),
    }


def small_tiles() -> Any:
    """Options under which these small data make several tiles."""
    return gb.set_options(chunk_rows=CHUNK // 2)


def assert_same(found: Any, right: Any) -> None:
    """Equal to the last bit, labels and types included."""
    assert type(found) is type(right)
    if isinstance(right, pd.DataFrame):
        pd.testing.assert_frame_equal(found, right, check_exact=True)
    else:
        xr.testing.assert_identical(found, right)
