"""A regional association above its genes and the triangle of LD, for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.ld.methods.region import RegionView, region_view
from genobit.ld.plots.drawing import PictureOptions
from genobit.ld.plots.paper_genes import evenly
from genobit.ld.plots.paper_ld import write_lines
from genobit.ld.plots.paper_map import colour_bar, draw_triangle
from genobit.ld.plots.paper_text import LINE
from genobit.ld.plots.region_association import draw_association, place_texts, significance_note
from genobit.ld.plots.region_layout import Layout, fitting, lay_out
from genobit.ld.plots.region_tracks import draw_connectors, draw_genes
from genobit.ld.plots.result import computed
from genobit.visual.paper.page import MARGIN, Paper, letter, panel, size_of
from genobit.visual.paper.texts import hinted_width
from genobit.visual.pixels import AGGREGATES
from genobit.visual.style import number
from genobit.visual.tokens import LIGHT, NOTE_PT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import xarray as xr
    from matplotlib.axes import Axes

    from genobit.visual.pixels import Aggregate
    from genobit.visual.style import Scale

#: Smallest block to outline, and to label with its length, as shares of the variants.
_OUTLINED, _LABELLED = 0.02, 0.097
#: Most cells on a side of the triangle.
_MAX_PIXELS = 1_000


def region(
    ds: xr.Dataset,
    association: Any,
    *,
    region: str | None = None,
    lead: str | int | None = None,
    genes: Any = None,
    genetic_map: Any = None,
    blocks: bool | xr.Dataset | None = True,
    statistic: str = "r2",
    min_maf: float = 0.05,
    p: str | None = None,
    log10: bool = False,
    significance: float | None = 5e-8,
    note: str = "",
) -> Paper:
    """Draw p-values of a region, its genes and its linkage disequilibrium, for papers.

    `genobit.data.plotting.DatasetPlot.region` describes the parameters and errors.
    """
    if significance is not None and not 0 < significance < 1:
        raise ValueError(f"significance={significance!r} is no p-value between 0 and 1")
    view = region_view(
        ds,
        association,
        region=region,
        lead=lead,
        genes=genes,
        genetic_map=genetic_map,
        blocks=blocks,
        statistic=statistic,
        min_maf=min_maf,
        p=p,
        log10=log10,
    )
    return paper_region(view, significance=significance, note=note)


def paper_region(
    view: RegionView,
    *,
    significance: float | None = 5e-8,
    note: str = "",
    threshold: float = 0.0,
    aggregate: Aggregate = "max",
    selected: Sequence[int] | Sequence[str] = (),
) -> Paper:
    """Return the form of a computed regional association for a page.

    The options of the triangle are those of `ld_triangle`.
    """
    look = PictureOptions(
        threshold=threshold,
        max_pixels=_MAX_PIXELS,
        aggregate=aggregate,
        lead=view.lead,
        selected=selected,
        blocks=_outlined(view),
    )
    matrix, scale = computed(view.matrix)
    notes = _notes(view, look, scale) + [line for line in note.splitlines() if line.strip()]

    def layout(width: float) -> Layout:
        found = lay_out(view, notes, width)
        if significance is None or place_texts(view, found, significance).line is not None:
            return found
        return lay_out(view, [*notes, significance_note(significance)], width)

    return Paper(
        lambda axes: _draw(axes, view, look, layout, significance, (matrix, scale)),
        lambda width: layout(width).height,
        whole=True,
    )


def _draw(
    axes: Axes,
    view: RegionView,
    look: PictureOptions,
    layout_of: Callable[[float], Layout],
    significance: float | None,
    drawn: tuple[xr.DataArray, Scale],
) -> None:
    axes.axis("off")
    layout = fitting(layout_of, *size_of(axes))
    draw_association(axes, view, layout, significance)
    genes = draw_genes(axes, view.genes, layout, view.position[view.lead])
    below = evenly(look, view.position, layout.across)
    draw_connectors(axes, view.position, below, layout, view.lead)
    _triangle(axes, view, layout, look, *drawn)
    tops = [MARGIN, layout.genes_top, layout.map_top]
    if genes is None:
        del tops[1]
    for text, top in zip("abc", tops, strict=False):
        letter(axes, text, MARGIN / 2, -top, va="top")


def _triangle(
    axes: Axes,
    view: RegionView,
    layout: Layout,
    look: PictureOptions,
    matrix: xr.DataArray,
    scale: Scale,
) -> None:
    shown = panel(axes, layout.left, layout.map_top, layout.across, layout.half)
    shown.axis("off")
    draw_triangle(shown, matrix, scale, look, "down")
    _label_blocks(shown, view, layout, look.blocks)
    wide = float(np.clip(0.2 * layout.across, 14.0, 32.0))
    box = (2.0, layout.half - 5.5, wide, 2.2)
    colour_bar(shown, scale, str(matrix.name), look.threshold, box)
    lines = layout.beside
    write_lines(shown, lines, layout.across, layout.half - LINE * len(lines), "right")
    if layout.below:
        top = layout.height - MARGIN - LINE * len(layout.below)
        write_lines(axes, layout.below, MARGIN, top, "left")


def _outlined(view: RegionView) -> xr.Dataset | None:
    """Return the blocks that are long enough to outline."""
    if view.blocks is None or "n" not in view.blocks:
        return view.blocks
    least = _least(view)
    return view.blocks.isel(blocks=np.flatnonzero(view.blocks["n"].values >= least))


def _least(view: RegionView) -> int:
    return max(2, int(np.ceil(_OUTLINED * len(view.position))))


def _label_blocks(axes: Axes, view: RegionView, layout: Layout, blocks: xr.Dataset | None) -> None:
    """Write the lengths of the longest blocks below their apex, off the lines of the lead."""
    if blocks is None or "kb" not in blocks:
        return
    count = len(view.position)
    cell = layout.across / count
    lead = (view.lead + 0.5) * cell
    taken: list[tuple[float, float]] = []
    for k in np.argsort(-blocks["n"].values, kind="stable").tolist():
        ends = [float(blocks[f"{end}_position"].values[k]) for end in ("first", "last")]
        first, last = np.interp(ends, view.position, np.arange(count))
        if last - first + 1 < _LABELLED * count:
            continue
        text = f"{float(blocks['kb'].values[k]):,.0f} kb"
        wide = hinted_width(text) + 1.0
        x, y = (first + last + 1) / 2 * cell, (last - first + 1) / 2 * cell + 2.2
        # The legs are at 45 degrees.
        apart = abs(abs(x - lead) - y)
        free = all(abs(x - a) > wide + 1 or abs(y - b) > 3 for a, b in taken)
        if apart < wide / 2 + 1.6 or not free or y + 1.5 > layout.half:
            continue
        taken.append((x, y))
        axes.text(
            x / layout.across,
            1 - y / layout.half,
            text,
            transform=axes.transAxes,
            ha="center",
            va="center_baseline",
            fontsize=NOTE_PT,
            zorder=4,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": LIGHT.paper, "edgecolor": "none"},
        )


def _notes(view: RegionView, look: PictureOptions, scale: Scale) -> list[str]:
    """Return what is shown, and what is left out."""
    outlined = look.blocks
    count = len(view.position)
    of = f" of {view.present:,}" if view.present > count else ""
    rule = f", MAF ≥ {view.min_maf:g}" if view.min_maf > 0 else ""
    notes = [f"{count:,}{of} variants{rule}", number(view.samples, "sample")]
    if view.blocks is not None and outlined is not None:
        some = outlined.sizes["blocks"]
        which = f" of ≥ {_least(view)} variants" if some < view.blocks.sizes["blocks"] else ""
        blocks = f"Outlined: {number(some, 'haplotype block')}" if some else "No haplotype block"
        notes.append(f"{blocks}{which}")
    without = int(np.isnan(view.strength).sum())
    if without:
        notes.append(f"{number(without, 'variant')} without P")
    if view.lost:
        notes.append(f"{number(view.lost, 'table row')} without a variant")
    if view.underflow:
        notes.append(f"{number(view.underflow, 'variant')} with P = 0, drawn at the smallest P")
    if view.stronger:
        notes.append(f"{view.stronger} has a smaller P, but is too rare to show")
    missing = int(np.isnan(view.lead_r2).sum())
    if missing:
        notes.append(f"{number(missing, 'variant')} without r²")
    if view.genes is not None and not len(view.genes):
        notes.append(view.no_genes or "No gene in the region")
    if count > _MAX_PIXELS:
        side = -(-count // _MAX_PIXELS)
        notes.append(f"Cell: {AGGREGATES[look.aggregate]} {side} × {side} pairs")
    if look.threshold > 0:
        notes.append(f"White: |{scale.label}| < {look.threshold:g}")
    return notes
