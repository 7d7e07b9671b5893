"""Linkage disequilibrium of the sample: all pairs, the table of strong pairs, four pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.launcher.demo.steps import progress, write
from genobit.visual.report.sections import Figure, Section

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from genobit.visual.report.sections import Stopwatch

#: Least r2 in the table of pairs.
MIN_R2 = 0.2
WINDOW = "200kb"
#: Variants of the region: a screen shows all their pairs with one or two pixels each.
REGION_VARIANTS = 400
#: Variants of the decay curve: two million pairs give a smooth curve in every bin.
DECAY_VARIANTS = 2000
COMMON = 0.05
DECAY_DISTANCE = 30_000


def compile_kernels(bits: xr.Dataset) -> None:
    """Compute r2 of few variants, which compiles the kernels of the section."""
    bits.genobit.ld("r2").compute()


def section(bits: xr.Dataset, table: Path, watch: Stopwatch) -> Section:
    """Compute and draw the section, and write the strong pairs to a Parquet folder `table`.

    The planes hold haplotypes of the sample.
    """
    n_variants = bits.sizes["variants"]
    n_pairs, n_bits = n_variants * (n_variants - 1) // 2, bits.attrs["genobit_bits"]
    with watch.step(
        "r² of all pairs of variants, tile by tile",
        f"{n_pairs:,} pairs of {n_bits:,} bits",
        products=n_pairs * n_bits,
    ) as notes:
        r2 = bits.genobit.ld("r2")
        with progress("r² of all pairs"):
            strong = int((r2 >= MIN_R2).sum())
        # The diagonal holds no pairs, and every pair occurs twice.
        share = (strong - n_variants) / 2 / n_pairs
        notes.append(f"{share:.2%} reach r² = {MIN_R2}")
    with watch.step(f"Table of variants within {WINDOW}, to Parquet") as notes:
        pairs = bits.genobit.ld_pairs(threshold=MIN_R2, window=WINDOW)
        found = write(pairs, table)
        notes.append(f"{found:,} pairs with r² of at least {MIN_R2}")
    return Section(
        "Linkage disequilibrium",
        f"{found:,} pairs of variants within {WINDOW} have an r² of at least {MIN_R2}. "
        f"The file {table.name} beside this page lists them.",
        draw(bits, watch),
    )


def draw(bits: xr.Dataset, watch: Stopwatch) -> tuple[Figure, ...]:
    """Draw the four pictures of the section."""
    from genobit import plots

    with watch.step("LD of a region, its decay, and four pictures") as notes:
        frequency = bits.genobit.allele_frequency().compute()
        common = np.flatnonzero(np.minimum(frequency, 1 - frequency) >= COMMON)
        first_contig = bits["variant_contig"].values[common] == bits["variant_contig"].values[0]
        common = common[first_contig]
        middle = max((len(common) - REGION_VARIANTS) // 2, 0)
        region = bits.genobit.isel(variants=common[middle : middle + REGION_VARIANTS])
        r2 = region.genobit.ld("r2").compute()
        first = common[:DECAY_VARIANTS]
        decay = bits.genobit.isel(variants=first).genobit.ld("r2")
        notes.append(f"{r2.shape[0]} and {len(first):,} variants")
        return (
            Figure(
                "All pairs of a region",
                f"r² between {r2.shape[0]} neighbouring variants with a minor allele frequency of "
                f"at least {COMMON:.0%}. Dark blocks are inherited together. "
                "Point at a pair to read its value. The tools at the side pan and zoom.",
                plots.ld_heatmap(r2),
            ),
            Figure(
                "The same region as a triangle",
                "Each cell is a pair of variants, midway between the two. Its depth is their "
                "distance.",
                plots.ld_triangle(r2),
            ),
            Figure(
                "Decay with distance",
                f"Mean r² of the pairs of {len(first):,} neighbouring variants, by distance. "
                "Recombination is more frequent between distant variants, so r² falls.",
                plots.ld_decay(decay, max_distance=DECAY_DISTANCE),
            ),
            Figure(
                "Allele frequencies",
                "Most variants are rare, as in a real population.",
                plots.allele_frequency_spectrum(frequency),
            ),
        )
