"""Principal components of a cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.pca.methods import PCAMethods
from genobit.pca.plots.kinds import RESULTS
from genobit.visual.report.sections import Figure, Part, Section
from genobit.visual.results import draw
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.visual.report.cohort import Cohort
    from genobit.visual.report.sections import Stopwatch

#: Fewest samples and variants that have two components.
FEWEST = 3


def lacking(cohort: Cohort) -> str:
    """Return what the data lack for the section; "" if nothing."""
    if cohort.samples < FEWEST:
        return f"{number(cohort.samples, 'sample')}, and {FEWEST} are needed"
    return cohort.lacks("pca") or cohort.without_common(FEWEST)


def section(cohort: Cohort, watch: Stopwatch) -> Section:
    """Compute the components, and draw the first ones and their shares of the variance."""
    with watch.step("Principal components", f"{cohort.samples:,} samples") as notes:
        pcs = PCAMethods(cohort.spread).pca()
        notes.append(f"{pcs.sizes['components']} components, {pcs.attrs['method']}")
    coloured = f" Colours show {cohort.colour.name}." if cohort.colour.name else ""
    figures = []
    for first in (1, 3):
        if pcs.sizes["components"] > first:
            options = {"x": first, "y": first + 1, "colour_by": cohort.colour}
            title = f"Components {first} and {first + 1}"
            drawn = draw(pcs, RESULTS, "scatter", **options)
            figures.append(Figure(title, f"Each point is a sample.{coloured}", drawn))
    figures.append(
        Figure(
            "Shares of the variance",
            "Components before the bend of the curve show structure. Later ones are mostly noise.",
            draw(pcs, RESULTS, "scree"),
        )
    )
    rule = cohort.rule(cohort.spread, "evenly spaced")
    text = f"{rule} Linked variants were not removed, so long blocks of LD can make a component."
    return Section(PARTS["pca"].title, text, tuple(figures))


PARTS = {"pca": Part("Principal components", lacking, section)}
