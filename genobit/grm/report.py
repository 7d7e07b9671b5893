"""Kinship of the samples of a cohort: its histogram, and the closest pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.genotype_methods import GenotypeMethods
from genobit.grm.kinship import DEGREES, FEW_VARIANTS
from genobit.grm.methods.matrix import GRMMethods
from genobit.grm.methods.pairs import RelativesMethods
from genobit.grm.plots.kinship import kinship_histogram
from genobit.visual.plot_options import on_screen
from genobit.visual.report.cohort import evenly
from genobit.visual.report.sections import Figure, Part, Section, Table
from genobit.visual.style import number

if TYPE_CHECKING:
    import pandas as pd

    from genobit.visual.report.cohort import Cohort
    from genobit.visual.report.sections import Stopwatch

#: Least kinship of second-degree relatives.
THRESHOLD = DEGREES["second degree"]
#: Most samples of the histogram, whose matrix takes 8 bytes a pair.
HISTOGRAM_SAMPLES = 5_000
LISTED = 20


def lacking(cohort: Cohort) -> str:
    """Return what the data lack for the section; "" if nothing."""
    if cohort.samples < 2:
        return "one sample makes no pair"
    return cohort.lacks("grm_pairs") or cohort.without_common()


def section(cohort: Cohort, watch: Stopwatch) -> Section:
    """List the related pairs, and draw the kinship of all pairs."""
    bits = cohort.spread
    with watch.step("Related pairs", f"{cohort.samples:,} samples") as notes:
        related = (
            RelativesMethods(bits)
            .grm_pairs("king", threshold=THRESHOLD)
            .to_dataframe(progress=False)
        )
        notes.append(f"{len(related):,} pairs with a kinship of at least {THRESHOLD:.4f}")
    shown = evenly(np.arange(cohort.samples), HISTOGRAM_SAMPLES)
    work = f"KING-robust of {shown.size:,} samples"
    products = shown.size * (shown.size + 1) // 2 * bits.sizes["variants"]
    with watch.step("Histogram of kinship", work, products=products):
        few = bits if shown.size == cohort.samples else GenotypeMethods(bits).isel(samples=shown)
        drawn = on_screen(kinship_histogram(GRMMethods(few).grm("king", compute=True)))
        drawn = drawn.opts(frame_width=640, frame_height=240)
    caption = "KING-robust kinship of each pair of samples. Shaded bands are degrees."
    if shown.size < cohort.samples:
        caption += f" From {shown.size:,} evenly spaced samples; the table is of all samples."
    items: list[Figure | Table] = [Figure("Kinship of all pairs", caption, drawn)]
    if len(related):
        items.append(_closest(related))
    text = f"{_counts(related)} {cohort.rule(bits, 'evenly spaced')}"
    if bits.sizes["variants"] < FEW_VARIANTS:
        text += f" Fewer than {FEW_VARIANTS:,} variants do not tell degrees apart."
    return Section(PARTS["kinship"].title, text, tuple(items))


def _counts(related: pd.DataFrame) -> str:
    """Return a sentence with the number of related pairs by degree."""
    if not len(related):
        return f"No pair of samples reaches a kinship of {THRESHOLD:.4f} (second degree)."
    counts = related["degree"].value_counts()
    texts = [f"{degree} {counts[degree]:,}" for degree in DEGREES if counts.get(degree, 0)]
    return f"{number(len(related), 'related pair')}: {', '.join(texts)}."


def _closest(related: pd.DataFrame) -> Table:
    """Return the closest pairs as a table."""
    found = related.nlargest(LISTED, "king")
    named = "sample_id" if "sample_id_0" in found else "sample"
    more = f", the closest {LISTED} of {len(related):,}" if len(related) > LISTED else ""
    return Table(
        "Related pairs",
        f"Pairs with a kinship of at least {THRESHOLD:.4f}{more}. The last column is the share of "
        "variants at which the two samples share no allele. It is 0 for parent and child, except "
        "for genotyping errors. ds.genobit.unrelated() chooses an unrelated set.",
        {
            "sample": found[f"{named}_0"].astype(str).tolist(),
            "with": found[f"{named}_1"].astype(str).tolist(),
            "degree": found["degree"].tolist(),
            "kinship": [f"{value:.4f}" for value in found["king"]],
            "opposite homozygotes": [f"{value:.2%}" for value in found["ibs0"]],
        },
        frozenset({"kinship", "opposite homozygotes"}),
    )


PARTS = {"kinship": Part("Kinship", lacking, section)}
