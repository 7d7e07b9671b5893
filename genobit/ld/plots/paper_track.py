"""LD with a lead variant for papers: points below the genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.ld.plots.drawing import PictureOptions
from genobit.ld.plots.lead_track import ld_track
from genobit.ld.plots.paper_genes import roof_of
from genobit.ld.plots.paper_ld import write_lines
from genobit.ld.plots.paper_text import LINE
from genobit.ld.plots.result import DIMS, computed
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.plain import draw_plain, paper_of
from genobit.visual.paper.texts import lines_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.visual.pixels import Axis

#: Room in millimetres for the ticks and the name of the y axis, to the right, and below.
_BESIDE, _RIGHT, _BELOW = 11.0, 3.0, 1.5


def paper_track(
    r2_row: xr.DataArray,
    *,
    axis: Axis = "position",
    first_rank: int = 0,
    rank_step: int = 1,
    genes: Any = None,
) -> Paper:
    """Return LD with a lead variant, for a page; options as `ld_track`."""
    row, _ = computed(r2_row)
    picture = ld_track(row, axis=axis, first_rank=first_rank, rank_step=rank_step)
    if genes is None:
        return paper_of(picture)
    lead = _index_of_lead(row)
    look = PictureOptions(axis, lead=lead, first_rank=first_rank, rank_step=rank_step)
    roof = roof_of(_turned(row), look, genes)
    bins = look.lay_out(row["variant_position_0"].values)
    title = str(picture.opts.get("plot").kwargs["title"])

    def above(width: float) -> tuple[list[str], float]:
        across = width - _BESIDE - _RIGHT - 2 * MARGIN
        lines = lines_of([". ".join([title, *roof.notes(across)])], width - 2 * MARGIN)
        return lines, LINE * len(lines) + 1.0 + roof.height(across)

    def height(width: float) -> float:
        return above(width)[1] + float(np.clip(0.25 * width, 25.0, 45.0)) + _BELOW + 2 * MARGIN

    def draw(axes: Axes) -> None:
        axes.axis("off")
        width, tall = size_of(axes)
        lines, top = above(width)
        across = width - _BESIDE - _RIGHT - 2 * MARGIN
        shown = panel(
            axes, MARGIN + _BESIDE, MARGIN + top, across, tall - top - _BELOW - 2 * MARGIN
        )
        draw_plain(shown, picture)
        shown.set_title("", loc="left")
        for points in shown.collections:
            # The first and the last variant are at the ends of the axis.
            points.set_clip_on(False)
        shown.set(xlim=(bins.start, bins.stop), xlabel="", xticks=[])
        write_lines(axes, lines, MARGIN, MARGIN, "left")
        roof.draw(axes, MARGIN + _BESIDE, MARGIN + top - roof.height(across), across)

    return Paper(draw, height, whole=True)


def _index_of_lead(row: xr.DataArray) -> int | None:
    """Return the index of the lead variant along variants_0, None if it is not there."""
    same = np.ones(len(row), bool)
    for name in ("variant_position", "variant_contig", "variant_id"):
        if f"{name}_0" in row.coords and f"{name}_1" in row.coords:
            same &= row[f"{name}_0"].values == row[f"{name}_1"].values
    (found,) = np.nonzero(same)
    return int(found[0]) if found.size else None


def _turned(row: xr.DataArray) -> xr.DataArray:
    """Return LD with a lead variant with the variants along variants_1."""
    coords = {
        f"{str(name)[:-1]}{1 - side}": (DIMS[1 - side], label.values)
        for name, label in row.coords.items()
        for side in (0, 1)
        if label.dims == (DIMS[side],)
    }
    return xr.DataArray(row.values.T, coords, DIMS, row.name, row.attrs)
