"""The picture in view of the relationship explorer as a figure for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.grm.explorer.paper import Relatedness
from genobit.grm.plots.heatmap import arrange
from genobit.grm.plots.paper_matrix import MAX_PIXELS, matrix_panel, paper_of_panel
from genobit.grm.plots.paper_tree import group_codes
from genobit.visual.figure import Figure

if TYPE_CHECKING:
    import xarray as xr

    from genobit.grm.explorer.traits import GRMTraits
    from genobit.grm.plots.heatmap import OrderedMatrix
    from genobit.visual.colouring import Colouring
    from genobit.visual.paper.page import Paper

#: Fewest samples of the figure with components and kinship.
_FEWEST = 3


def figure_of(
    explorer: GRMTraits, view: OrderedMatrix, pcs: xr.Dataset | None, chosen: Colouring
) -> Figure:
    """Return the figure of a matrix in view, with components and kinship if all samples are shown.

    ``chosen`` has the colours of all samples.
    """
    relations, everyone = explorer.relations, np.arange(explorer.relations.n_samples)
    samples = everyone if explorer.shown is None else np.asarray(explorer.shown)
    here = np.flatnonzero(np.isin(samples, explorer.selected)).tolist()
    named = chosen.of(samples) if explorer.colour_by else None

    def paper() -> Paper:
        panel = matrix_panel(arrange(view.matrix, MAX_PIXELS), named)
        few = len(everyone) < _FEWEST or explorer.shown is not None
        if few or pcs is None or not relations.genotypes:
            return paper_of_panel(panel, here)
        groups, colours = group_codes(named, len(everyone))
        pairs = relations.kinship(groups, len(colours))
        axes = explorer.component_x, explorer.component_y
        return Relatedness(panel, pcs, pairs, chosen, groups, colours, axes, here).paper()

    return Figure(None, paper, f"{relations.label_of(explorer.method)} of {len(samples):,} samples")
