"""Parsimony of a simulated gene: its tree, the changes on it, and its homoplastic sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.parsimony.effort import SearchEffort
from genobit.visual.report.sections import Figure, Part, Section, Table

if TYPE_CHECKING:
    import xarray as xr

    from genobit.launcher.demo.sample import Sample
    from genobit.visual.report.sections import Stopwatch

LISTED = 8


def compile_kernels(aln: xr.DataArray) -> None:
    """Make the section's calls on few sites, which compiles their kernels."""
    few = aln.isel(sites=slice(0, 60))
    few.genobit.parsimony(aln.attrs["tree"])
    few.genobit.ancestral_states(aln.attrs["tree"])
    # The tour searches trees, and it follows the report on a terminal.
    few.genobit.parsimony_search(seed=1, effort=SearchEffort(iterations=1, patience=1))


def section(sample: Sample, watch: Stopwatch) -> Section:
    """Score the tree of the alignment, draw the pictures and return the section."""
    aln, tree = sample.aln, sample.aln.attrs["tree"]  # the alignment was simulated on the tree
    work = f"{aln.sizes['taxa']} taxa x {aln.sizes['sites']} sites"
    with watch.step("Fitch parsimony of a tree", work) as notes:
        scores = aln.genobit.parsimony(tree)
        ancestors = aln.genobit.ancestral_states(tree)
        notes.append(f"{int(scores['length']):,} changes")
    with watch.step("Two pictures of a tree"):
        figures = draw(scores, ancestors)
    return Section(
        PART.title,
        f"A gene of {aln.sizes['sites']} sites was simulated along a tree of "
        f"{aln.sizes['taxa']} species. It needs at least {int(scores['length']):,} changes on this "
        f"tree, and at least {int(scores['min_changes'].sum()):,} on any tree. The consistency "
        f"index is {float(scores['ci']):.3f} and the retention index {float(scores['ri']):.3f}.",
        (*figures, homoplastic(scores)),
    )


def draw(scores: xr.Dataset, ancestors: xr.Dataset) -> tuple[Figure, ...]:
    """Draw the tree with the most homoplastic site, and the track of all sites."""
    from genobit import plots

    site = int(plots.site_table(scores, 1)["site"].iloc[0])
    return (
        Figure(
            "The tree and its changes",
            "Length and shade of a branch show its number of changes. A dot is the state of one "
            "site in a species or an ancestor. A black bar marks a branch on which it changes.",
            plots.parsimony_tree(ancestors, site=site),
        ),
        Figure(
            "Homoplasy along the gene",
            "Changes of each site beyond the minimum of any tree. At such sites a base arose more "
            "than once, or was lost again.",
            plots.homoplasy_track(scores, site),
        ),
    )


def homoplastic(scores: xr.Dataset) -> Table:
    """Return the most homoplastic sites as a table."""
    from genobit import plots

    found = plots.site_table(scores, LISTED)
    columns: dict[str, Any] = {
        "site": found["site"],
        "position in its codon": scores["codon_position"].values[found["site"]],
        "changes": found["changes"],
        "fewest on any tree": found["min_changes"],
    }
    words = {name: [str(value) for value in values] for name, values in columns.items()}
    words["CI"] = [f"{value:.3f}" for value in found["ci"]]
    return Table(
        "The most homoplastic sites",
        "Sites count from 0. Third codon positions were simulated to change most.",
        words,
        frozenset(words),
    )


PART = Part("Parsimony", lambda _: "", section)
