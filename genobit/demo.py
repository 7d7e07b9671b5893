"""The demonstration: a simulated cohort, its linkage disequilibrium, one report and its timings.

It does what a user would do, by public calls alone, so it stands above every other layer.
"""

from __future__ import annotations

import os
import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.terminal import progress, save

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray as xr

#: Pairs below this r2 are left out of the table of pairs.
MIN_R2 = 0.2
WINDOW = "200kb"
#: What a screen shows at once with a pixel or two for each pair.
REGION_VARIANTS = 400
#: Two million pairs give a smooth decay in every bin.
DECAY_VARIANTS = 2000
COMMON = 0.05
DECAY_DISTANCE = 500_000


@dataclass(frozen=True)
class Figure:
    """One picture of the report."""

    title: str
    caption: str
    plot: Any


@dataclass
class Stopwatch:
    """What was done, and how long it took."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, work: str = "") -> Iterator[list[str]]:
        """Time a step; append to the yielded list what was only known when it was over."""
        notes = [work] if work else []
        begin = time.perf_counter()
        yield notes
        seconds = time.perf_counter() - begin
        self.rows.append((name, ", ".join(notes), seconds))

    def __str__(self) -> str:
        """Return the table of timings."""
        width = max(len(name) for name, _, _ in self.rows)
        lines = [f"{name:<{width}} {seconds:9.2f}  {work}" for name, work, seconds in self.rows]
        return "\n".join([f"{'step':<{width}} {'seconds':>9}  what", *lines])


def run(folder: Path) -> Path:
    """Run the demonstration and write its report.

    Parameters
    ----------
    folder
        Where `report.html`, the packed planes `sample.gb` and the table `ld_pairs.parquet` go;
        made if it is missing, and what an earlier run left there is replaced.

    Returns
    -------
    The path of the report.
    """
    import genobit as gb

    folder.mkdir(parents=True, exist_ok=True)
    watch = Stopwatch()
    print("Opening the sample; the first run simulates it, which takes some seconds", flush=True)
    with watch.step("Open the sample (simulated on the first run)") as notes:
        cohort = gb.sample_dataset()
        notes.append(f"{size(cohort, 'variants')} x {size(cohort, 'samples')}")
    bits = pack(cohort, folder / "sample.gb", watch)
    found = compute(bits, folder / "ld_pairs.parquet", watch)
    figures = draw(bits, watch)
    report = folder / "report.html"
    report.write_text(render(cohort, found, figures, watch), encoding="utf-8")
    print(f"\n{watch}")
    return report


def pack(cohort: xr.Dataset, store: Path, watch: Stopwatch) -> xr.Dataset:
    """Pack phased haplotypes into planes on disk, and open them."""
    import xarray as xr

    planes = cohort.genobit.pack(phased=True)
    with watch.step("Pack haplotypes into bit planes on disk") as notes:
        save(planes, store, "Packing haplotypes", mode="w")
        packed = sum(planes[name].nbytes for name in planes.data_vars)
        notes.append(f"{megabytes(cohort['call_genotype'].nbytes)} of calls")
        notes.append(f"{megabytes(packed)} of planes")
    return xr.open_zarr(store)


def compute(bits: xr.Dataset, table: Path, watch: Stopwatch) -> int:
    """Compute LD of all pairs, and the table of the strong ones; return how many there are."""
    n_variants = bits.sizes["variants"]
    with watch.step("Compile the kernels, or load them from the cache", "256 variants"):
        bits.genobit.isel(variants=slice(0, 256)).genobit.ld("r2").compute()
    with watch.step("r² of all pairs, tile by tile") as notes:
        r2 = bits.genobit.ld("r2")
        with progress("r² of all pairs"):
            strong = int((r2 >= MIN_R2).sum())
        n_pairs = n_variants * (n_variants - 1) // 2
        notes.append(f"{n_pairs:,} pairs of {bits.attrs['genobit_bits']:,} bits")
        # The diagonal is no pair, and every pair stands on both sides of it.
        share = (strong - n_variants) / 2 / n_pairs
        notes.append(f"{share:.2%} reach r² = {MIN_R2}")
    with watch.step(f"Table of pairs within {WINDOW}, to Parquet") as notes:
        pairs = bits.genobit.ld_pairs(min_r2=MIN_R2, window=WINDOW)
        with progress(f"Table of pairs in {WINDOW}"):
            pairs.to_parquet(table, overwrite=True)
        found = count_rows(table)
        notes.append(f"{found:,} pairs with r² of at least {MIN_R2}")
    return found


def draw(bits: xr.Dataset, watch: Stopwatch) -> list[Figure]:
    """Draw the four pictures of the report."""
    from genobit import plots

    with watch.step("LD of a region, its decay, and four pictures") as notes:
        frequency = bits.genobit.allele_frequency().compute()
        common = np.flatnonzero(np.minimum(frequency, 1 - frequency) >= COMMON)
        first_contig = bits["variant_contig"].values[common] == bits["variant_contig"].values[0]
        common = common[first_contig]
        middle = max((len(common) - REGION_VARIANTS) // 2, 0)
        region = bits.genobit.isel(variants=common[middle : middle + REGION_VARIANTS])
        r2 = region.genobit.ld("r2").compute()
        spread = common[:: max(len(common) // DECAY_VARIANTS, 1)]
        decay = bits.genobit.isel(variants=spread).genobit.ld("r2")
        notes.append(f"{r2.shape[0]} and {len(spread):,} variants")
        return [
            Figure(
                "All pairs of a region",
                f"r² between {r2.shape[0]} neighbouring variants whose rarer allele has a "
                f"frequency of at least {COMMON:.0%}. Dark blocks are inherited together. "
                "Point at a pair to read it; the tools at the side pan and zoom.",
                plots.ld_heatmap(r2),
            ),
            Figure(
                "The same region as a triangle",
                "A pair stands under the middle of its two variants, as deep as they are apart.",
                plots.ld_triangle(r2),
            ),
            Figure(
                "Decay with distance",
                f"Mean r² of the pairs of {len(spread):,} variants spread over the contig: "
                "recombination has had more room between variants that are farther apart.",
                plots.ld_decay(decay, max_distance=DECAY_DISTANCE),
            ),
            Figure(
                "Allele frequencies",
                "Most variants of a population are rare, in a simulated one as in a real one.",
                plots.allele_frequency_spectrum(frequency),
            ),
        ]


def render(cohort: xr.Dataset, found: int, figures: list[Figure], watch: Stopwatch) -> str:
    """Put pictures, timings and explanations into one page that needs no other file.

    Parameters
    ----------
    cohort
        The sample.
    found
        Rows of the table of pairs.
    figures
        The pictures, in the order of the page.
    watch
        The timings.
    """
    import holoviews as hv
    from bokeh.embed import components
    from bokeh.resources import Resources

    models = [hv.render(figure.plot, backend="bokeh") for figure in figures]
    for model in models:
        # In a page, the wheel scrolls the page until the reader asks for zoom.
        model.toolbar.active_scroll = None
        model.toolbar.logo = None
    script, divisions = components(models)
    blocks = [
        f"<h2>{escape(figure.title)}</h2>\n<p>{escape(figure.caption)}</p>\n"
        f"<figure>{division}</figure>"
        for figure, division in zip(figures, divisions, strict=True)
    ]
    timings = [
        f"<tr><td>{escape(name)}</td><td>{escape(work)}</td>"
        f'<td class="right">{seconds:.2f}</td></tr>'
        for name, work, seconds in watch.rows
    ]
    page = Template((Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
    return page.substitute(
        # Not .render(), which adds a link for every extension that panel registers.
        bokeh_js="\n".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        summary=escape(
            f"{size(cohort, 'samples')} of three populations, simulated with realistic "
            f"recombination, at {size(cohort, 'variants')}. {found:,} pairs within {WINDOW} of "
            f"each other have an r² of at least {MIN_R2}; they are in ld_pairs.parquet beside "
            "this page."
        ),
        figures="\n".join(blocks),
        timings="\n".join(timings),
        min_r2=MIN_R2,
        window=WINDOW,
        machine=escape(machine()),
        script=script,
    )


def count_rows(table: Path) -> int:
    """Count the rows of a folder of Parquet files from their footers."""
    from pyarrow import parquet

    return sum(parquet.read_metadata(part).num_rows for part in table.glob("*.parquet"))


def size(dataset: xr.Dataset, dim: str) -> str:
    """Write a dimension's size with its name, as in "2,000 samples"."""
    return f"{dataset.sizes[dim]:,} {dim}"


def megabytes(count: int) -> str:
    """Write a number of bytes in MB."""
    return f"{count / 1e6:,.1f} MB"


def machine() -> str:
    """Say what the timings were measured on."""
    from genobit import __version__

    packages = ", ".join(f"{name} {version(name)}" for name in ("numba", "dask", "xarray"))
    return (
        f"Measured on {processor()}, {os.cpu_count()} logical processors, "
        f"genobit {__version__}, Python {platform.python_version()}, {packages}."
    )


def processor() -> str:
    """Name the processor as Linux knows it, or as Python does."""
    description = Path("/proc/cpuinfo")
    if description.is_file():
        for line in description.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
