"""Principal components of a cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.report.page import Figure, Section
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.launcher.report.cohort import Cohort
    from genobit.launcher.report.stopwatch import Stopwatch

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
        pcs = cohort.spread.genobit.pca()
        notes.append(f"{pcs.sizes['components']} components, {pcs.attrs['method']}")
    coloured = f" Colours show {cohort.colour.name}." if cohort.colour.name else ""
    figures = []
    for first in (1, 3):
        if pcs.sizes["components"] > first:
            drawn = pcs.genobit.plot("scatter", x=first, y=first + 1, colour_by=cohort.colour)
            title = f"Components {first} and {first + 1}"
            figures.append(Figure(title, f"Each point is a sample.{coloured}", drawn.hv))
    figures.append(
        Figure(
            "Shares of the variance",
            "Components before the bend of the curve show structure. Later ones are mostly noise.",
            pcs.genobit.plot("scree").hv,
        )
    )
    rule = cohort.rule(cohort.spread, "evenly spaced")
    text = f"{rule} Linked variants were not removed, so long blocks of LD can make a component."
    return Section("Principal components", text, tuple(figures))
