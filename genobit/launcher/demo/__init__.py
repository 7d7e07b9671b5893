"""The demonstration: the report of simulated data, with sections of more analyses.

Its own sections call only public functions. May import: everything but `cli`.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from genobit.engine.simd.jit import cache_folder
from genobit.io.resumable_zarr import discard, to_zarr
from genobit.launcher.demo import epistasis, grm, kendall, ld, parsimony
from genobit.launcher.demo.sample import Sample
from genobit.launcher.report import PARTS, write_page
from genobit.visual.colouring import colouring_of
from genobit.visual.report.sections import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

POPULATION = "sample_population"
TITLE = "Linkage, relationships, rank correlations, epistasis and trees of simulated data"


def run(folder: Path) -> Path:
    """Run the demonstration, write its report and return the path of the report.

    The folder gets `report.html`, the packed planes `sample.gb`, the tables `ld_pairs.parquet`,
    `related_pairs.parquet` and `kendall_pairs.parquet`, and the network `kendall_pairs.graphml`.
    The folder is created if it is missing. Files of an earlier run are replaced.
    """
    import genobit as gb

    folder.mkdir(parents=True, exist_ok=True)
    watch = Stopwatch()
    print("Opening the sample; the first run simulates it, which takes some seconds", flush=True)
    with watch.step("Open the sample (simulated on the first run)") as notes:
        cohort = gb.sample_dataset()
        notes.append(f"{size(cohort, 'variants')} x {size(cohort, 'samples')}")
    bits = pack(cohort, folder / "sample.gb", watch)
    expr = gb.sample_expression()
    aln = gb.sample_alignment()
    with watch.step(
        "Compile the kernels, or load them from the cache", "256 variants", "all genes"
    ):
        few = bits.genobit.isel(variants=slice(0, 256))
        _compile_kernels(
            {
                "LD": partial(ld.compile_kernels, few),
                "relationships": partial(grm.compile_kernels, few),
                "Kendall's tau": partial(kendall.compile_kernels, few, expr),
                "epistasis": partial(epistasis.compile_kernels, few),
                "parsimony": partial(parsimony.compile_kernels, aln),
            }
        )
    parts = {"linkage": ld.PART, **PARTS, "relationships": grm.PART, "correlation": kendall.PART}
    parts |= {"interactions": epistasis.PART, "trees": parsimony.PART}
    summary = (
        f"{size(cohort, 'samples')} of three populations and {size(cohort, 'variants')}, simulated "
        "with realistic recombination. The report shows linkage disequilibrium of the variants, "
        f"relationships of the samples, the co-expression of {expr.sizes['gene']:,} genes, and "
        "interactions of variants in a disease. The last section is a gene of 24 species, and "
        "where it changed on their tree."
    )
    ending = Template((Path(__file__).parent / "notebook.html").read_text(encoding="utf-8"))
    code = ending.substitute(
        min_r2=ld.MIN_R2,
        window=ld.WINDOW,
        min_kinship=grm.MIN_KINSHIP,
        min_tau=kendall.MIN_TAU,
        fdr=kendall.FDR,
    )
    stats = bits.genobit.variant_stats
    colour = colouring_of(bits, POPULATION, "samples")
    sample = Sample(bits, colour, lambda: stats().compute(), expr, aln, folder)
    report = folder / "report.html"
    with warnings.catch_warnings():
        # The sample allows every section.
        warnings.filterwarnings("error", "report: ", RuntimeWarning)
        write_page(report, TITLE, [summary], parts, sample, watch, ending=code)
    print(f"\n{watch}")
    return report


def pack(cohort: xr.Dataset, store: Path, watch: Stopwatch) -> xr.Dataset:
    """Pack phased haplotypes into planes on disk, and open them."""
    import xarray as xr

    planes = cohort.genobit.pack(phased=True)
    with watch.step("Pack haplotypes into bit planes on disk") as notes:
        discard(store)
        to_zarr(planes, store)
        packed = sum(planes[name].nbytes for name in planes.data_vars)
        notes.append(f"{megabytes(cohort['call_genotype'].nbytes)} of calls")
        notes.append(f"{megabytes(packed)} of planes")
    return xr.open_zarr(store)


def size(dataset: xr.Dataset, dim: str) -> str:
    """Return a dimension's size with its name, as in "2,000 samples"."""
    return f"{dataset.sizes[dim]:,} {dim}"


def megabytes(count: int) -> str:
    """Return a number of bytes in MB, as text."""
    return f"{count / 1e6:,.1f} MB"


def _compile_kernels(analyses: dict[str, Callable[[], None]]) -> None:
    """Run each analysis on little data, and print how many kernels were compiled for it."""
    print("Getting the kernels of five analyses; a new machine compiles each once", flush=True)
    for name, compile_kernels in analyses.items():
        before = len(list(cache_folder().glob("*.nbc")))
        # The data are too small for some analyses, which warn.
        with warnings.catch_warnings(action="ignore"):
            compile_kernels()
        compiled = len(list(cache_folder().glob("*.nbc"))) - before
        print(f"  {name}: {f'{compiled} compiled' if compiled else 'loaded'}", flush=True)
