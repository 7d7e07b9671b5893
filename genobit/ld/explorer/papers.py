"""The picture in view of the LD explorer as a figure for papers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from genobit.ld.explorer.region import region_text
from genobit.ld.methods.region import region_view
from genobit.ld.plots.drawing import square, triangle
from genobit.ld.plots.genes import under_genes
from genobit.ld.plots.heatmap import overlay
from genobit.visual.figure import Figure
from genobit.visual.style import WIDTH

if TYPE_CHECKING:
    import xarray as xr

    from genobit.ld.explorer.traits import LDTraits
    from genobit.ld.plots.drawing import PictureOptions
    from genobit.visual.paper.page import Paper

#: Most cells on a side on paper.
MAX_PIXELS = 1_000


def triangle_figure(
    explorer: LDTraits, matrix: xr.DataArray, look: PictureOptions, association: Any, genes: Any
) -> Figure:
    """Return the triangle in view under its genes, and under the association if possible.

    The association needs a lead variant in view. The triangle must be evenly spaced and not
    thinned. Otherwise, the figure has no association.
    """
    look = replace(look, max_pixels=MAX_PIXELS)
    ds, lead = explorer._cohort.bits, explorer.lead
    arguments = {
        "region": region_text(explorer.region).replace(",", ""),
        "lead": lead,
        "genes": genes,
        "blocks": look.blocks,
        "statistic": explorer.statistic,
        "min_maf": explorer.min_maf,
    }
    whole = look.axis == "rank" and look.rank_step == 1 and look.lead is not None

    def paper() -> Paper:
        if association is None or not whole:
            from genobit.ld.plots.paper_ld import triangle_of

            return triangle_of(matrix, look, genes=genes)
        from genobit.ld.plots.region import paper_region

        view = region_view(ds, association, genetic_map=None, p=None, log10=False, **arguments)
        return paper_region(
            view, threshold=look.threshold, aggregate=look.aggregate, selected=look.selected
        )

    picture = overlay(triangle(matrix, look, "down"), WIDTH // 2)
    return Figure(under_genes(matrix, look, genes, picture), paper)


def square_figure(matrix: xr.DataArray, look: PictureOptions, genes: Any) -> Figure:
    """Return the square in view under its genes."""
    look = replace(look, max_pixels=MAX_PIXELS)

    def paper() -> Paper:
        from genobit.ld.plots.paper_ld import heatmap_of

        return heatmap_of(matrix, look, genes)

    return Figure(under_genes(matrix, look, genes, overlay(square(matrix, look), WIDTH)), paper)
