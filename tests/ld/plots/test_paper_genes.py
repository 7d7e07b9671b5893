"""Genes over LD matrices: on paper by their artists, on screen by their elements."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import genobit as gb
from genobit.ld.plots.heatmap import ld_heatmap, ld_triangle
from genobit.ld.plots.lead_track import ld_track
from genobit.ld.plots.paper_ld import paper_heatmap, paper_triangle
from genobit.ld.plots.paper_track import paper_track
from genobit.visual.figure import html_of
from genobit.visual.paper.page import INCH, draw_on, page_of, size_of
from genobit.visual.tokens import DARK, LIGHT
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.ld.plots.results import panels, require_legible, texts_of

PAPERS = {"triangle": paper_triangle, "heatmap": paper_heatmap}
SCREENS = {"triangle": ld_triangle, "heatmap": ld_heatmap}


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    return cohort(mosaic_calls(3, 50, 80), contigs=2)


@pytest.fixture(scope="module")
def r2(ds: xr.Dataset) -> xr.DataArray:
    return ds.genobit.sel(variants="chr1").genobit.ld(compute=True)


def table(r2: xr.DataArray, count: int = 3) -> pd.DataFrame:
    """Genes within the variants, named by number, on both strands."""
    position = r2.variant_position_1.values
    edges = np.linspace(position[0], position[-1], 2 * count + 1).round().astype(int)
    return pd.DataFrame(
        {
            "contig": "1",  # the same chromosome as chr1
            "start": edges[:-1:2],
            "end": edges[1::2],
            "name": [f"GENE{k}" for k in range(count)],
            "strand": [*"+-."][:count] if count <= 3 else "+",
        }
    )


def bars(figure: Figure) -> tuple[Any, list[np.ndarray]]:
    """The panel of the genes, and their outlines."""
    for shown in panels(figure):
        for drawn in shown.collections:
            if isinstance(drawn, PolyCollection):
                return shown, [path.vertices for path in drawn.get_paths()]
    raise AssertionError("no genes are drawn")


@pytest.mark.parametrize("axis", ["rank", "position"])
@pytest.mark.parametrize("kind", PAPERS)
def test_genes_are_at_their_positions_on_the_axis_above(kind, axis, r2):
    genes = table(r2)
    figure = page_of(PAPERS[kind](r2, axis=axis, genes=genes), 180)
    require_legible(figure)
    shown, outlines = bars(figure)
    along = next(p for p in panels(figure) if p.get_xlabel() == "Position on chromosome 1 (Mb)")
    assert along.get_window_extent().x0 == pytest.approx(shown.get_window_extent().x0)
    for gene, outline in zip(genes.itertuples(), outlines, strict=True):
        ends = shown.transData.transform(outline)[:, 0]
        wanted = [along.transData.transform((x / 1e6, 0))[0] for x in (gene.start, gene.end)]
        assert [ends.min(), ends.max()] == pytest.approx(wanted, abs=1.5)
    # The map lies below the genes and is as wide.
    picture = panels(figure)[0].get_window_extent()
    assert picture.y1 <= shown.get_window_extent().y0 + 1
    assert (picture.x0, picture.x1) == pytest.approx(
        (shown.get_window_extent().x0, shown.get_window_extent().x1)
    )


@pytest.mark.parametrize("kind", PAPERS)
def test_lines_join_positions_and_evenly_spaced_variants(kind, r2):
    figure = page_of(PAPERS[kind](r2, genes=table(r2), lead="rs7"), 180)
    picture = panels(figure)[0]
    along = next(p for p in panels(figure) if p.get_xlabel() == "Position on chromosome 1 (Mb)")
    drawn = [
        (p, c)
        for p in panels(figure)
        for c in p.collections
        if isinstance(c, LineCollection) and len(c.get_segments()) == 25
    ]
    ((shown, lines),) = drawn
    for k, line in enumerate(lines.get_segments()):
        x = shown.transData.transform(line)[:, 0]
        position = r2.variant_position_1.values[k] / 1e6
        assert x[0] == pytest.approx(along.transData.transform((position, 0))[0], abs=1)
        assert x[-1] == pytest.approx(picture.transData.transform((k, 0))[0], abs=1)
    figure = page_of(PAPERS[kind](r2, genes=table(r2), axis="position"), 180)
    assert not any(
        isinstance(c, LineCollection) and len(c.get_segments()) == 25
        for p in panels(figure)
        for c in p.collections
    )


@pytest.mark.parametrize("width", [60, 90, 180])
@pytest.mark.parametrize("kind", PAPERS)
def test_texts_stay_on_the_page_and_apart(kind, width, r2):
    genes = table(r2, 12)
    genes["end"] = np.minimum(genes["end"] + 3_000, int(r2.variant_position_1[-1]))
    found = require_legible(page_of(PAPERS[kind](r2, genes=genes, lead="rs3"), width))
    assert any(text.startswith("GENE") for text in found)


def test_it_fits_into_an_axes_of_the_user(r2):
    figure = Figure((10, 4))
    axes = draw_on(paper_triangle(r2, genes=table(r2)), figure.add_subplot(1, 2, 2))
    _, height = size_of(axes)
    for shown in axes.child_axes:
        box = shown.get_window_extent()
        assert box.height / figure.dpi * INCH < height
        assert axes.get_window_extent().y0 - 1 <= box.y0


@pytest.mark.parametrize("axis", ["rank", "position"])
@pytest.mark.parametrize("kind", SCREENS)
def test_genes_share_the_x_axis_of_the_screen(kind, axis, r2):
    picture = SCREENS[kind](r2, axis=axis, genes=table(r2), lead="rs7")
    assert isinstance(picture, hv.Layout)
    model = hv.render(picture, backend="bokeh")
    above, below = (figure for figure, *_ in model.children)
    assert above.x_range is below.x_range
    assert above.y_range is not below.y_range
    left, _, right, _ = SCREENS[kind](r2, axis=axis).Image.I.bounds.lbrt()
    assert (below.x_range.start, below.x_range.end) == pytest.approx((left, right))
    assert "genobit-figure" in html_of(picture)


def test_a_figure_has_both_forms(r2, tmp_path):
    lines = [
        f"chr1\tx\tgene\t{gene.start}\t{gene.end}\t.\t+\t.\tName={gene.name}"
        for gene in table(r2).itertuples(index=False)
    ]
    path = tmp_path / "genes.gff3"
    path.write_text("##gff-version 3\n" + "\n".join(lines) + "\n")
    for kind in PAPERS:
        figure = r2.genobit.plot(kind, genes=path)
        assert isinstance(figure.hv, hv.Layout)
        found = [text.get_text() for text, _ in texts_of(figure.to_matplotlib(90))]
        assert {"GENE0", "GENE1", "GENE2"} <= set(found)
        assert figure.save(tmp_path / "a.html").stat().st_size > 1000
    with gb.set_options(plot_theme="dark", plot_scale=0.5):
        parts = [part for part, *_ in hv.render(r2.genobit.plot(genes=path).hv).children]
    assert [part.border_fill_color for part in parts] == [DARK.paper] * 2
    assert [part.frame_width for part in parts] == [320, 320]


def test_a_region_without_genes_says_so(r2):
    beyond = table(r2).assign(start=10**8, end=10**8 + 5)
    other = table(r2).assign(contig="7")
    for genes, words in ((beyond, "No gene in the region"), (other, "no gene on contig chr1")):
        for kind, paper in PAPERS.items():
            figure = page_of(paper(r2, genes=genes), 180)
            found = [text.get_text() for text, _ in texts_of(figure)]
            assert any(words in text for text in found)
            track = SCREENS[kind](r2, genes=genes)[0, 0]
            assert words in track.opts.get("plot").kwargs["title"]


def test_errors_say_what_to_do(ds, r2):
    several = ds.genobit.ld(compute=True)
    bare = r2.drop_vars(["variant_contig_0", "variant_contig_1"])
    both = pd.concat([table(r2), table(r2).assign(contig="2")])
    backwards = r2.isel(variants_0=slice(None, None, -1), variants_1=slice(None, None, -1))
    for draw in (*PAPERS.values(), *SCREENS.values()):
        with pytest.raises(ValueError, match=r"variants of one contig.*sel\(variants='2'\)"):
            draw(several, genes=table(r2))
        with pytest.raises(ValueError, match="have no contig, and genes of the contigs 1, 2"):
            draw(bare, genes=both)
        with pytest.raises(ValueError, match="variant_position_1 falls at index 1 of variants_1"):
            draw(backwards, genes=table(r2))
        assert draw(bare, genes=table(r2)) is not None
    for draw in (paper_triangle, ld_triangle):
        with pytest.raises(ValueError, match=r'genes= are drawn over the base.*apex="up"'):
            draw(r2, apex="up", genes=table(r2))


@pytest.mark.parametrize("axis", ["rank", "position"])
def test_a_track_has_genes_above(ds, axis, tmp_path):
    row = ds.genobit.sel(variants="chr1").genobit.ld(other="rs7", compute=True)
    genes = table(ds.genobit.sel(variants="chr1").genobit.ld())
    for width in (90, 180):
        figure = page_of(paper_track(row, axis=axis, genes=genes), width)
        require_legible(figure)
        shown, outlines = bars(figure)
        along = next(p for p in panels(figure) if p.get_xlabel() == "Position on chromosome 1 (Mb)")
        points = panels(figure)[0]
        ends = [shown.transData.transform(outline)[:, 0] for outline in outlines]
        for gene, x in zip(genes.itertuples(), ends, strict=True):
            wanted = [along.transData.transform((at / 1e6, 0))[0] for at in (gene.start, gene.end)]
            assert [x.min(), x.max()] == pytest.approx(wanted, abs=1.5)
        box, own = points.get_window_extent(), shown.get_window_extent()
        assert (box.x0, box.x1) == pytest.approx((own.x0, own.x1))
        assert box.y1 <= own.y0 + 1
        (drawn,) = (c for c in points.collections if isinstance(c, PathCollection))
        assert not drawn.get_clip_on()
        blue = (*to_rgb(LIGHT.accent), 1.0)
        (marked,) = (c for c in shown.collections if blue in map(tuple, c.get_edgecolor()))
        leads = [marked.get_segments()[-1][-1][0], float(row.variant_position_1[0]) / 1e6]
        x = [p.transData.transform((at, 0))[0] for p, at in zip((shown, along), leads, strict=True)]
        assert x[0] == pytest.approx(x[1], abs=1)
        if axis == "position":
            middle = row.variant_position_0.values[12] / 1e6
            x = [p.transData.transform((middle, 0))[0] for p in (points, along)]
            assert x[0] == pytest.approx(x[1], abs=0.5)
    model = hv.render(ld_track(row, axis=axis, genes=genes), backend="bokeh")
    above, below = (part for part, *_ in model.children)
    assert above.x_range is below.x_range
    assert row.genobit.plot("track", genes=genes, axis=axis).save(tmp_path / "a.pdf").exists()
    alone = page_of(paper_track(row, axis=axis), 90)
    assert not alone.axes[0].child_axes
