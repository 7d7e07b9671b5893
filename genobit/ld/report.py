"""Decay of linkage disequilibrium of a cohort with distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.ld.methods.decay import LDDecayMethods
from genobit.ld.plots.decay import ld_decay
from genobit.visual.report.cohort import RUN
from genobit.visual.report.sections import Figure, Part, Section
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.visual.report.cohort import Cohort
    from genobit.visual.report.sections import Stopwatch

WINDOW = "500kb"
#: Fewest samples whose r2 can differ from 1.
FEWEST = 3


def lacking(cohort: Cohort) -> str:
    """Return what the data lack for the section; "" if nothing."""
    if cohort.samples < FEWEST:
        return f"{number(cohort.samples, 'sample')}, and {FEWEST} are needed"
    return cohort.lacks("ld_decay") or cohort.without_common(2)


def section(cohort: Cohort, watch: Stopwatch) -> Section:
    """Compute and draw the decay of r2."""
    with watch.step("Decay of r²", f"window of {WINDOW}") as notes:
        decay = LDDecayMethods(cohort.runs).ld_decay(WINDOW)
        notes.append(f"{int(decay['pairs'].sum()):,} pairs")
    figure = Figure(
        "Mean r² by distance",
        "A diamond marks the distance at which the means have fallen to half of the first. Several "
        "populations or families in one cohort raise r² at all distances.",
        ld_decay(decay),
    )
    rule = cohort.rule(cohort.runs, f"in evenly spaced runs of {RUN:,} neighbours")
    return Section(PARTS["decay"].title, f"{rule} Pairs within {WINDOW}.", (figure,))


PARTS = {"decay": Part("Decay of linkage disequilibrium", lacking, section)}
