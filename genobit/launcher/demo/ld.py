"""Linkage disequilibrium of the sample: all pairs, the table of strong pairs, two pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.demo.sample import Sample, write
from genobit.visual.report.cohort import MIN_MAF
from genobit.visual.report.sections import Figure, Part, Section

if TYPE_CHECKING:
    import xarray as xr

    from genobit.visual.report.sections import Stopwatch

#: Least r2 in the table of pairs.
MIN_R2 = 0.2
WINDOW = "200kb"
#: Variants of the region: a screen shows all their pairs with one or two pixels each.
REGION_VARIANTS = 400


def compile_kernels(bits: xr.Dataset) -> None:
    """Compute r2 of few variants, which compiles the kernels of the section."""
    bits.genobit.ld("r2").compute()


def section(sample: Sample, watch: Stopwatch) -> Section:
    """Compute and draw the section, and write the strong pairs to a Parquet folder."""
    bits, table = sample.ds, sample.folder / "ld_pairs.parquet"
    n_pairs = sample.variants * (sample.variants - 1) // 2
    n_bits = bits.attrs["genobit_bits"]
    with watch.step(
        "r² of all pairs of variants, tile by tile",
        f"{n_pairs:,} pairs of {n_bits:,} bits",
        products=n_pairs * n_bits,
    ) as notes:
        strong = int((bits.genobit.ld("r2") >= MIN_R2).sum())
        # The diagonal holds no pairs, and every pair occurs twice.
        share = (strong - sample.variants) / 2 / n_pairs
        notes.append(f"{share:.2%} reach r² = {MIN_R2}")
    with watch.step(f"Table of variants within {WINDOW}, to Parquet") as notes:
        found = write(bits.genobit.ld_pairs(threshold=MIN_R2, window=WINDOW), table)
        notes.append(f"{found:,} pairs with r² of at least {MIN_R2}")
    return Section(
        PART.title,
        f"{found:,} pairs of variants within {WINDOW} have an r² of at least {MIN_R2}. "
        f"The file {table.name} beside this page lists them.",
        draw(sample, watch),
    )


def draw(sample: Sample, watch: Stopwatch) -> tuple[Figure, ...]:
    """Draw the two pictures of the section."""
    from genobit import plots

    with watch.step("LD of a region, two pictures") as notes:
        first_contig = sample.ds["variant_contig"].values == sample.ds["variant_contig"].values[0]
        common = sample.common[first_contig[sample.common]]
        middle = max((len(common) - REGION_VARIANTS) // 2, 0)
        region = sample.ds.genobit.isel(variants=common[middle : middle + REGION_VARIANTS])
        r2 = region.genobit.ld("r2").compute()
        notes.append(f"{len(r2)} variants")
        return (
            Figure(
                "All pairs of a region",
                f"r² between {len(r2)} neighbouring variants with a minor allele frequency of "
                f"at least {MIN_MAF:.0%}. Dark blocks are inherited together. "
                "Point at a pair to read its value. The tools at the side pan and zoom.",
                plots.ld_heatmap(r2),
            ),
            Figure(
                "The same region as a triangle",
                "Each cell is a pair of variants, midway between the two. Its depth is their "
                "distance.",
                plots.ld_triangle(r2),
            ),
        )


PART = Part("Linkage disequilibrium", lambda _: "", section)
