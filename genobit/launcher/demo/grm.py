"""Relationships of the sample: the matrix, and a table of the related pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.demo.sample import Sample, write
from genobit.visual.report.sections import Figure, Part, Section

if TYPE_CHECKING:
    import xarray as xr

    from genobit.visual.report.sections import Stopwatch

#: Least kinship in the table of pairs: the lower limit of second-degree relatives.
MIN_KINSHIP = 0.0884
#: About this many samples get at least a pixel for each pair in the heatmap.
HEATMAP_SAMPLES = 400


def compile_kernels(bits: xr.Dataset) -> None:
    """Make the section's calls on few variants, which compiles their kernels."""
    # Use all samples, because tiles off the diagonal have their own kernels.
    bits.genobit.grm("vanraden1", compute=True)
    bits.genobit.grm("king", compute=True)
    bits.genobit.grm_pairs("king", threshold=MIN_KINSHIP).to_dataframe()
    bits.genobit.isel(samples=slice(0, 100)).genobit.pca(2)


def section(sample: Sample, watch: Stopwatch) -> Section:
    """Compute and draw the matrix, and write the related pairs to a Parquet folder."""
    from genobit import plots

    bits, table = sample.ds, sample.folder / "related_pairs.parquet"
    n_pairs = sample.samples * (sample.samples + 1) // 2
    pairs = f"{n_pairs:,} pairs of {sample.variants:,} dosages"
    products = n_pairs * sample.variants
    with watch.step("Relationship matrix, VanRaden 1", pairs, products=products):
        matrix = bits.genobit.grm("vanraden1", compute=True)
    with watch.step("Table of related samples, to Parquet") as notes:
        found = write(bits.genobit.grm_pairs("king", threshold=MIN_KINSHIP), table)
        notes.append(f"{found:,} pairs with a kinship of at least {MIN_KINSHIP}")
    every = max(sample.samples // HEATMAP_SAMPLES, 1)
    shown = slice(None, None, every)
    few = matrix.isel(samples_0=shown, samples_1=shown)
    with watch.step("Picture of relationships", f"tree of {len(few)} samples"):
        heatmap = plots.grm_heatmap(few, colour_by=sample.colour.name)
    return Section(
        PART.title,
        f"The relationship of each pair of the {sample.samples:,} samples, from the same planes. "
        "Ten families of twelve were simulated, with twins, parents, siblings, grandparents and "
        f"cousins. {table.name} beside this page lists all pairs with a kinship of at least "
        f"{MIN_KINSHIP}, from all variants. The first two principal components separate the three "
        "populations, although they were computed from genotypes alone.",
        (
            Figure(
                "Relationship matrix",
                f"One in {every} samples, ordered by a clustering tree. The strip shows their "
                "populations. A relationship is relative to the mean of all samples. Samples of "
                "one population are therefore alike, most of all in the population that differs "
                "most from the others.",
                heatmap.opts(frame_width=640, frame_height=497),
            ),
        ),
    )


PART = Part("Relationships", lambda _: "", section)
