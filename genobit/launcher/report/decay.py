"""Decay of linkage disequilibrium of a cohort with distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.launcher.report.cohort import RUN
from genobit.launcher.report.page import Figure, Section
from genobit.visual.style import number

if TYPE_CHECKING:
    from genobit.launcher.report.cohort import Cohort
    from genobit.launcher.report.stopwatch import Stopwatch

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
        decay = cohort.runs.genobit.ld_decay(WINDOW)
        notes.append(f"{int(decay['pairs'].sum()):,} pairs")
    figure = Figure(
        "Mean r² by distance",
        "A diamond marks the distance at which the means have fallen to half of the first. Several "
        "populations or families in one cohort raise r² at all distances.",
        decay.genobit.plot("curve").hv,
    )
    rule = cohort.rule(cohort.runs, f"in evenly spaced runs of {RUN:,} neighbours")
    return Section("Decay of linkage disequilibrium", f"{rule} Pairs within {WINDOW}.", (figure,))
