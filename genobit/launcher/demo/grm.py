"""Relationships of the sample: matrix, principal components, kinship and the closest pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.demo.steps import progress, write
from genobit.visual.report.sections import Figure, Section, Table

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from genobit.visual.report.sections import Stopwatch

#: Least kinship in the table of pairs: the lower limit of second-degree relatives.
MIN_KINSHIP = 0.0884
COMPONENTS = 10
POPULATION = "sample_population"
#: About this many samples get at least a pixel for each pair in the heatmap.
HEATMAP_SAMPLES = 400
CLOSEST = 8


def compile_kernels(bits: xr.Dataset) -> None:
    """Make the section's calls on few variants, which compiles their kernels."""
    # Use all samples, because tiles off the diagonal have their own kernels.
    bits.genobit.grm("vanraden1", compute=True)
    bits.genobit.grm("king", compute=True)
    bits.genobit.grm_pairs("king", threshold=MIN_KINSHIP).to_dataframe()
    bits.genobit.isel(samples=slice(0, 100)).genobit.pca(2)


def section(bits: xr.Dataset, table: Path, watch: Stopwatch) -> Section:
    """Compute and draw the section, and write the related pairs to a Parquet folder `table`.

    The planes hold haplotypes or dosages of the sample.
    """
    n_samples, n_variants = bits.sizes["samples"], bits.sizes["variants"]
    n_pairs = n_samples * (n_samples + 1) // 2
    pairs = f"{n_pairs:,} pairs of {n_variants:,} dosages"
    products = n_pairs * n_variants
    step = "Relationship matrix, VanRaden 1"
    with watch.step(step, pairs, products=products), progress("Relationship matrix"):
        matrix = bits.genobit.grm("vanraden1", compute=True)
    step = "Kinship matrix, KING-robust"
    with watch.step(step, pairs, products=products), progress("Kinship matrix"):
        kinship = bits.genobit.grm("king", compute=True)
    with watch.step("Principal components", f"{COMPONENTS} of {n_samples:,} samples") as notes:
        pcs = bits.genobit.pca(COMPONENTS)
        notes.append(pcs.attrs["method"])
    with watch.step("Table of related samples, to Parquet") as notes:
        related = bits.genobit.grm_pairs("king", threshold=MIN_KINSHIP)
        found = write(related, table)
        notes.append(f"{found:,} pairs with a kinship of at least {MIN_KINSHIP}")
    with watch.step("Three pictures of relationships") as notes:
        every = max(n_samples // HEATMAP_SAMPLES, 1)
        notes.append(f"tree of {len(range(0, n_samples, every))} samples")
        figures = draw(matrix, kinship, pcs, every)
    return Section(
        "Relationships",
        f"The relationship of each pair of the {n_samples:,} samples, from the same planes.",
        (*figures, closest(table)),
    )


def draw(
    matrix: xr.DataArray, kinship: xr.DataArray, pcs: xr.Dataset, every: int
) -> tuple[Figure, ...]:
    """Draw the three pictures of the section.

    `matrix` is VanRaden's first method and `kinship` KING-robust. The heatmap shows one in `every`
    samples.
    """
    from genobit import plots
    from genobit.visual.colouring import colouring

    shown = slice(None, None, every)
    population = colouring(POPULATION, pcs[POPULATION].values)
    first = population.values[0]
    alike = population.values == first
    return (
        Figure(
            "Principal components",
            "Each point is a sample, coloured by population. The first two components separate "
            "the three populations, although they were computed from genotypes alone.",
            plots.pca_scatter(pcs, colour_by=population).opts(frame_width=560, frame_height=400),
        ),
        Figure(
            "Relationship matrix",
            f"One in {every} samples, ordered by a clustering tree. The strip shows their "
            "populations in the colours above. A relationship is relative to the mean of all "
            "samples. Samples of one population are therefore alike, most of all in the "
            "population that differs most from the others.",
            plots.grm_heatmap(
                matrix.isel(samples_0=shown, samples_1=shown), colour_by=POPULATION
            ).opts(frame_width=640, frame_height=497),
        ),
        Figure(
            "Kinship",
            f"KING-robust kinship of the pairs within {first}. Shaded bands are degrees of "
            "relationship. Ten families of twelve were simulated, with twins, parents, siblings, "
            "grandparents and cousins.",
            plots.kinship_histogram(kinship.isel(samples_0=alike, samples_1=alike)).opts(
                frame_width=640, frame_height=240
            ),
        ),
    )


def closest(table: Path) -> Table:
    """Return the closest pairs from the Parquet folder of related pairs."""
    import pandas as pd

    found = pd.read_parquet(table).nlargest(CLOSEST, "king")
    return Table(
        "The closest pairs",
        f"The pairs of highest kinship. {table.name} beside this page lists all pairs with a "
        f"kinship of at least {MIN_KINSHIP}. The last column is the share of variants at which "
        "the two samples share no allele. It is near 0 for relatives, and 0 for parent and child.",
        {
            "sample": found["sample_id_0"].tolist(),
            "with": found["sample_id_1"].tolist(),
            "degree": found["degree"].tolist(),
            "kinship": [f"{value:.4f}" for value in found["king"]],
            "opposite homozygotes": [f"{share:.2%}" for share in found["ibs0"]],
        },
        frozenset({"kinship", "opposite homozygotes"}),
    )
