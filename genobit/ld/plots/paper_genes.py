"""Genes over an LD map for a page: an axis in Mb, the genes, and lines to the variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.data import model
from genobit.data.selection_by_label import members
from genobit.ld.plots.region_layout import Tracks, lay_out_tracks, padded
from genobit.ld.plots.region_tracks import draw_connectors, draw_genes, name_positions
from genobit.ld.plots.result import contig_name, genes_over
from genobit.visual.paper.page import panel

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.ld.plots.drawing import PictureOptions

#: Room in millimetres for the ticks and the name of the axis above the genes.
_AXIS = 7.5


@dataclass(frozen=True)
class Roof:
    """Genes over the variants along variants_1 of an LD map."""

    matrix: xr.DataArray
    look: PictureOptions
    table: pd.DataFrame
    lacking: str
    """Sentence for genes of other contigs only, or ""."""

    @property
    def position(self) -> np.ndarray:
        """Positions of the variants in base pairs."""
        return np.asarray(self.matrix["variant_position_1"].values)

    def tracks(self, left: float, top: float, across: float) -> Tracks:
        """Return the places of the panels, in millimetres."""
        position = self.position
        place = left, top + _AXIS, across
        if self.look.axis == "rank":
            ends = float(position[0]), float(position[-1])
            return lay_out_tracks(self.table, padded(*ends), *place)
        # Variants to scale need no lines from their positions.
        bins = self.look.lay_out(position)
        return lay_out_tracks(self.table, (bins.start * 1e6, bins.stop * 1e6), *place, lines=False)

    def height(self, across: float) -> float:
        """Return the room in millimetres above a map of this width."""
        return self.tracks(0.0, 0.0, across).map_top

    def notes(self, across: float) -> list[str]:
        """Return what the genes do not show."""
        none = [] if len(self.table) else [self.lacking or "No gene in the region"]
        return [*none, *self.tracks(0.0, 0.0, across).notes]

    def draw(self, axes: Axes, left: float, top: float, across: float) -> None:
        """Draw axis, genes and lines, in millimetres from the upper left corner of an axes."""
        position, tracks = self.position, self.tracks(left, top, across)
        lead = None
        if self.look.lead is not None:
            (lead,) = members(self.matrix, self.look.lead, model.VARIANTS, "lead")
        along = panel(axes, left, tracks.genes_top, across, 0.01)
        along.set_xlim(tracks.low / 1e6, tracks.high / 1e6)
        name_positions(along, contig_name(self.matrix, 1), position[0], position[-1])
        along.xaxis.set_ticks_position("top")
        along.xaxis.set_label_position("top")
        along.set_yticks([])
        for name, side in along.spines.items():
            side.set_visible(name == "top")
        draw_genes(axes, self.table, tracks, None if lead is None else position[lead])
        if tracks.connectors:
            draw_connectors(axes, position, evenly(self.look, position, across), tracks, lead)


def roof_of(matrix: xr.DataArray, look: PictureOptions, genes: Any) -> Roof:
    """Return the genes over an LD map."""
    return Roof(matrix, look, *genes_over(matrix, genes))


def evenly(look: PictureOptions, position: np.ndarray, across: float) -> np.ndarray:
    """Return the places of variants in a map of this width, in millimetres from its left."""
    bins = look.lay_out(position)
    return (look.coordinates(position) - bins.start) * (across / (bins.stop - bins.start))
