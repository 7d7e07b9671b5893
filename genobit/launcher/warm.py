"""Compile the usual kernels of analyses ahead: for `genobit warm`, images and workers of a cluster.

Each analysis runs on small random data of the kinds that have kernels of their own: complete and
with missing calls, phased and not. The compiled kernels go to the cache of this machine.
"""

from __future__ import annotations

import os
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data.analysis import Cohorts, registered
from genobit.engine.own_words import own_words
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIANTS, SAMPLES, CHUNK_ROWS = 320, 96, 192
"""Each chunk has `matrix_unit.FEWEST_ROWS` of "and", so that the matrix unit takes it."""
MISSING = 0.05
_alone = threading.Lock()
"""Settings are those of the process: of overlapping calls, one would restore those of another."""


@own_words
def warm(*analyses: str) -> None:
    """Compile the usual kernels of the given analyses in this process; by default, of all.

    Kernels that are already in the cache of this machine are loaded from it. On a cluster, each
    worker can call `warm` when it starts. If several workers of one machine need the same kernel,
    one compiles it and the others wait.

    If several threads of a process call `warm`, the calls run one after another. Until a call ends,
    all threads of the process have its settings: ``progress=False``, small chunks, and dask's
    synchronous scheduler.

    Parameters
    ----------
    *analyses
        Names of analyses: ``"ld"``, ``"grm"``, ``"pca"``, ``"kendall"``, ``"epistasis"``,
        ``"parsimony"``, ``"similarity"``, ``"quality"``, ``"readers"``.

    Raises
    ------
    ValueError
        For the name of another analysis.

    Examples
    --------
    >>> import genobit as gb
    >>> gb.warm("similarity")
    """
    import dask

    from genobit.engine.options import set_options

    names = named(analyses)
    # A worker that warms itself must not send tasks to its own cluster. Several chunks have tiles
    # off the diagonal, which have kernels of their own.
    with (
        _alone,
        # The data are too small for some analyses, which warn.
        warnings.catch_warnings(action="ignore"),
        dask.config.set(scheduler="synchronous"),
        set_options(progress=False, chunk_rows=CHUNK_ROWS),
    ):
        for name in names:
            ANALYSES[name](_cohorts())


def warm_on_all_cores(*analyses: str) -> Iterator[str]:
    """Compile as `warm` does, each analysis in a process of its own; yield each that is done."""
    names = named(analyses)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    # A forked process would inherit locks of threads.
    with ProcessPoolExecutor(min(len(names), cores or 1), get_context("spawn")) as pool:
        running = {pool.submit(warm, name): name for name in names}
        for done in as_completed(running):
            done.result()
            yield running[done]


def named(analyses: tuple[str, ...]) -> list[str]:
    """Return the analyses, those that compile longest first; ValueError for an unknown name."""
    for name in analyses:
        if name not in ANALYSES:
            msg = (
                f"there is no analysis {name!r} to compile; analyses are "
                f"{', '.join(ANALYSES)}{did_you_mean(name, ANALYSES)}"
            )
            raise ValueError(msg)
    return [name for name in ANALYSES if not analyses or name in analyses]


def _cohorts() -> Iterator[xr.Dataset]:
    """Yield random genotypes of unrelated samples: complete, and with missing calls."""
    rng = np.random.default_rng(1)
    frequency = rng.uniform(0.1, 0.9, (VARIANTS, 1, 1))
    calls = (rng.random((VARIANTS, SAMPLES, 2)) < frequency).astype(np.int8)
    for missing in (0.0, MISSING):
        here = np.where(rng.random((VARIANTS, SAMPLES, 1)) < missing, np.int8(-1), calls)
        yield xr.Dataset(
            {
                "call_genotype": (("variants", "samples", "ploidy"), here),
                "call_genotype_phased": (("variants", "samples"), np.ones(here.shape[:2], bool)),
                "variant_contig": ("variants", np.zeros(VARIANTS, np.int64)),
                "variant_position": ("variants", np.arange(1, VARIANTS + 1)),
                "sample_case": ("samples", rng.integers(0, 2, SAMPLES)),
                "sample_trait": ("samples", rng.normal(size=SAMPLES)),
            }
        )


def _readers(cohorts: Cohorts) -> None:
    import tempfile
    from pathlib import Path

    from genobit.io.alignment import open_alignment
    from genobit.io.vcf import open_vcf
    from genobit.io.writers.vcf import to_vcf

    for ds in cohorts:
        whole = ds.assign(
            variant_allele=(("variants", "alleles"), np.full((VARIANTS, 2), ["A", "C"])),
            sample_id=("samples", np.arange(SAMPLES).astype(str)),
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cohort.vcf.gz"
            to_vcf(whole.assign(contig_id=("contigs", ["1"])), path)
            found = open_vcf(path, cache_dir=False)
            found.compute()
            found.genobit.pack().compute()
    with tempfile.TemporaryDirectory() as folder:
        rows, path = f"a {'ACGT-' * 14}\nb {'ACGTN' * 14}\n", Path(folder) / "alignment.phy"
        path.write_text(f"2 70\n{rows}")
        open_alignment(path).genobit.ld("T").compute()
        path = path.with_suffix(".nex")
        data = "dimensions ntax=2 nchar=140; format datatype=dna interleave"
        path.write_text(f"#NEXUS\nbegin data; {data}; matrix\n{rows}{rows}; end;\n")
        open_alignment(path)
        path = path.with_suffix(".fasta")
        path.write_text(rows.replace("a ", ">a\n").replace("b ", ">b\n"))
        open_alignment(path, chunks=70).genobit.ld("T").compute()


ANALYSES: dict[str, Callable[[Cohorts], None]] = {
    one.name: one.warm
    for one in sorted(registered(), key=lambda analysis: analysis.compiled)
    if one.warm is not None
} | {"readers": _readers}
"""Function that runs each analysis. The analyses that take longest to compile are first."""
