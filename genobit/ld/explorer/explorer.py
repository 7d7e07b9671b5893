"""The LD explorer: a heatmap of the variants in view, and a track of LD with a lead variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import ipywidgets
import numpy as np
import traitlets
from bokeh.models import SaveTool

from genobit.io.genes import read_genes
from genobit.ld.explorer.data import Cohort, Window
from genobit.ld.explorer.region import region_text
from genobit.ld.explorer.traits import LDTraits, ld_controls
from genobit.ld.explorer.views import Genes, PaintedDrawing, SidePanel, Track
from genobit.ld.plots.curves import ld_track
from genobit.ld.plots.drawing import Drawing, PictureOptions, square, triangle
from genobit.ld.plots.heatmap import overlay
from genobit.visual.files import Export, dataset_writers
from genobit.visual.frame import framed
from genobit.visual.gestures import Gestures
from genobit.visual.home import Throttled
from genobit.visual.looks import panel, wrapping
from genobit.visual.picture import fill
from genobit.visual.pixels import lay_out, pair_at
from genobit.visual.style import WIDTH, few_marks, margins, number, scale_of
from genobit.visual.traits import refuse_unknown
from genobit.visual.view import Frame, drawn, plot_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import xarray as xr

    from genobit.data.selection import Selection

#: Pixels on a side, and variants computed for them. Longer windows are thinned, as the title says.
#: 2,000 variants x 4,000 haplotypes are 8e9 bit operations, 30 ms on one core.
MAX_PIXELS = 500
MAX_VARIANTS = 2_000


class LDExplorer(LDTraits):
    """Widget to explore linkage disequilibrium of the variants in view.

    Parameters
    ----------
    ds
        Genotypes, or a Dataset packed with rows="variants". It needs variant_position and
        variant_contig.
    genes
        Genes to draw under the picture: path of a GFF3 file, or a table with contig, start, end
        and optionally name and strand (`genobit.io.genes.read_genes`).
    blocks
        Result of `.genobit.ld_blocks()` of these variants; its blocks are outlined. By default,
        blocks are computed for the variants in view.
    selection
        Selection to share with other explorers. The default is a new one.
    **initial
        Initial values of the traits, which `genobit.ld.explorer.traits.LDTraits` lists.

    Raises
    ------
    ValueError
        If the Dataset has no variants or no positions.
    """

    def __init__(
        self,
        ds: xr.Dataset,
        genes: Any = None,
        blocks: xr.Dataset | None = None,
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, ds)
        table = None if genes is None else read_genes(genes)
        self._cohort = self._whole = cohort = Cohort(ds)
        self.statistics, self.contigs = cohort.statistics, cohort.contigs
        self._stale = set()
        self._from_gesture = False
        self._window: Window | None = None
        self._row: xr.DataArray | None = None
        self._blocks = blocks
        self._outlined: xr.Dataset | None = None
        self._found: tuple[Window, xr.Dataset] | None = None
        if "region" not in initial:
            initial["region"] = cohort.first_look(cohort.contig_of(0))
        if blocks is not None:
            initial.setdefault("show_blocks", True)
        super().__init__(**initial)
        self._make_parts(table)
        if self.selected:
            self._select("variants", self.selected)
        else:
            self._follow_quietly("variants", own=False)
        self._later = Throttled(self._home, self.refresh)
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self._stale = {"window", "plot", "track"}
        self.refresh()

    def _make_parts(self, genes: pd.DataFrame | None) -> None:
        self._plot_box = ipywidgets.VBox().add_class("genobit-ld-plot")
        self._track = Track(self._home, self._on_track_tap)
        self._track.box.layout.min_height = "240px"
        self._genes = Genes(self._home, genes)
        self._beside = SidePanel(self._home, self._select_rows)
        pictures = ipywidgets.VBox((self._track.box, self._plot_box, self._genes.box))
        both = wrapping(pictures, panel(self._beside.box))
        self.children = framed(self, ld_controls(self), [both], "ld_window")

    def _on_trait(self, change: Any) -> None:
        if change["name"] == "selected":
            self._select("variants", self.selected)
        stale = set(_STALE_BY_TRAIT[change["name"]])
        if change["name"] == "region" and not self._from_gesture:
            stale.add("aim")
        self._home.run(self._mark, stale)

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "variants" and not own:
            self.selected = tuple(self._places("variants").tolist())
        elif kind == "samples" and self.of_samples == "selected":
            self._mark({"window", "track"})

    # Results and files.

    @property
    def visible(self) -> xr.Dataset:
        """Dataset of the window in view: the statistic of all pairs, and r² with the lead variant.

        The matrix (variants_0, variants_1) has the variants that pass the frequency filter. If
        there is a lead variant, its r² with these variants is a variable too. In a large
        region, the variants are also thinned. `attrs` give the region, the frequency filter, the
        thinning and the number of samples.
        """
        self.refresh()
        window = self._now()
        attrs = {
            "region": region_text(self.region),
            "min_maf": self.min_maf,
            "thinned": window.choice.in_words(),
            "samples": self._cohort.n_samples,
        }
        if self.lead is not None:
            attrs["lead_index"] = self.lead
            attrs["lead"] = self._cohort.name_of(self.lead)
        return window.as_dataset(self._row).assign_attrs(attrs)

    def save(self, path: str | Path) -> Path:
        """Write `visible` to a new .zarr or .nc file.

        Returns the absolute path. Raises FileExistsError for an existing file.
        """
        visible = self.visible
        what = number(visible.sizes["variants_0"], "variant")
        return self._saved(path, dataset_writers(visible), what)

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        window = "the statistic of all pairs in view, with their labels"
        return (
            Export("window (Zarr)", ".zarr", self.save, window),
            Export("window (NetCDF)", ".nc", self.save, window),
            self.page,
        )

    # Computing and drawing.

    def refresh(self) -> None:
        """Compute and draw all stale parts; the widget calls this after every change."""
        stale, self._stale = self._stale, set()
        if not stale:
            return
        try:
            if "window" in stale:
                self._compute_window()
            if "track" in stale:
                self._compute_row()
            self._draw(stale)
        except Exception as error:  # noqa: BLE001  a dead widget tells nobody why
            self._complain(error)

    def _compute_window(self) -> None:
        self._choose_cohort()
        self._window = self._cohort.window(self.statistic, self.region, self.min_maf, MAX_VARIANTS)

    def _outline(self) -> None:
        """Choose the blocks to outline: given ones, or those of a window that is not thinned."""
        window = self._now()
        self.status = window.in_words() + self._of_samples_in_words()
        self._outlined = self._blocks if self.show_blocks else None
        if not self.show_blocks or self._blocks is not None:
            return
        if window.choice.step > 1:
            self.status += f"; blocks: zoom in to {MAX_VARIANTS:,} variants, or give blocks="
            return
        if self._found is None or self._found[0] is not window:
            self._found = window, window.shown.genobit.ld_blocks()
        self._outlined = self._found[1]
        self.status += f"; {number(self._outlined.sizes['blocks'], 'block')} of these variants"

    def _compute_row(self) -> None:
        self._row = None
        if self.lead is None:
            return
        if self._cohort.contig_of(self.lead) != self.region[0]:
            raise ValueError(
                f"the lead variant {self._cohort.name_of(self.lead)} is not on contig "
                f"{self.region[0]}; choose another, or set lead = None"
            )
        self._row = self._cohort.row(self._now(), self.lead)

    def _now(self) -> Window:
        if self._window is None:
            raise ValueError(f"nothing has been computed yet. {self.status}")
        return self._window

    def _draw(self, stale: set[str]) -> None:
        anew = "plot" in stale
        if stale & {"window", "blocks"}:
            self._outline()
        if anew:
            self._build_plot()
        elif stale & {"window", "colours", "track", "selected", "blocks"}:
            if "aim" in stale:
                self._gestures.aim(*self._now().extent(self.axis))
            if not self._repaint.paint(self._drawing(), self._name_file):
                self._frame.event(number=self._frame.number + 1)
        self._draw_around(stale)

    def _draw_around(self, stale: set[str]) -> None:
        """Draw the tracks over and under the picture, and the side panel."""
        anew = "plot" in stale
        extent = self._gestures.target or self._now().extent(self.axis)
        if self._row is None:
            self._track.hint()
        elif stale & {"window", "track", "plot"}:
            self._track.draw(self._track_picture, extent, anew=anew)
        if stale & {"window", "plot"}:
            self._genes.show(self.region[0], self._now(), self.axis, extent, anew=anew)
        if stale & {"window", "beside"} or stale & {"colours", "track"} & _LISTS[self.beside]:
            self._beside.ask(lambda: self._try(self._draw_beside))
        elif "selected" in stale:
            self._beside.mark(self.selected)

    def _draw_beside(self) -> None:
        window = self._now()
        if self.beside == "variants":
            self._beside.list_variants(window, self._row, self.selected)
        elif self.beside == "pairs":
            least = self.threshold * scale_of(self.statistic).limits[1]
            self._beside.list_pairs(window, least, self.selected)
        elif self.beside == "decay":
            self._beside.draw_decay(window)
        else:
            self._beside.clear()

    def _build_plot(self) -> None:
        self._frame, self._repaint = Frame(), PaintedDrawing()
        self._gestures = Gestures(self._home, self._on_move, self._on_tap, self._shape())
        self._gestures.aim(*self._now().extent(self.axis))
        draw = hv.DynamicMap(self._picture, streams=[self._frame])
        fill(self._plot_box, plot_of(draw, self._home))

    def _drawing(self) -> Drawing:
        window = self._now()
        look = PictureOptions(
            axis=self.axis,
            threshold=self.threshold * scale_of(self.statistic).limits[1],
            max_pixels=MAX_PIXELS,
            aggregate=self.aggregate,
            lead=window.index_of(self.lead),
            selected=np.flatnonzero(np.isin(window.choice.variants, self.selected)).tolist(),
            blocks=self._outlined,
            first_rank=window.choice.first_rank,
            rank_step=window.choice.step,
            note=window.choice.in_words(),
        )
        if self.view == "square":
            return square(window.matrix, look)
        return triangle(window.matrix, look, "down")

    def _picture(self, number: int) -> hv.Overlay:  # noqa: ARG002  the counter of the stream
        height = WIDTH if self.view == "square" else WIDTH // 2
        return overlay(self._drawing(), height).opts(
            apply_ranges=False,
            framewise=False,
            hooks=[
                self._gestures.hook,
                self._repaint.hook,
                margins,
                few_marks,
                self._name_file,
            ],
        )

    def _name_file(self, plot: Any, _element: Any) -> None:
        """Name the file of the toolbar's save button after the region (a HoloViews hook)."""
        place = region_text(self.region).replace(",", "").replace(":", "_")
        for tool in plot.state.toolbar.tools:
            if isinstance(tool, SaveTool):
                tool.filename = f"ld_{place}"

    def _track_picture(self) -> hv.Overlay:
        choice = self._now().choice
        ranks = {"first_rank": choice.first_rank, "rank_step": choice.step}
        return ld_track(drawn(self._row), axis=self.axis, **ranks)

    # Gestures in the browser.

    def _on_move(self, start: float, end: float) -> None:
        contig = self.region[0]
        if self.axis == "rank":
            start, end = self._cohort.members(contig, self.min_maf).positions_of_ranks(start, end)
        else:
            start, end = start * 1e6, end * 1e6
        self._from_gesture = True
        try:
            self.region = (contig, max(start, 0.0), end)
        except traitlets.TraitError:
            self.status = "No variants in view; zoom out or pan back"
        finally:
            self._from_gesture = False

    def _on_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_pair, x, y)

    def _choose_pair(self, x: float, y: float) -> None:
        window = self._now()
        choice = window.choice
        bins = lay_out(window.position, self.axis, MAX_PIXELS, choice.first_rank, choice.step)
        pair = pair_at(window.matrix.values, bins, self._shape(), x, y, self.aggregate)
        first, second = choice.variants[list(pair)]
        self.selected = (first, second)
        # A second click on the pair chooses its other variant.
        self.lead = int(second if self.lead == first else first)

    def _on_track_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_point, x, y)

    def _choose_point(self, x: float, y: float) -> None:
        window = self._now()
        if self._row is None:
            return
        start, end = self._gestures.target or window.extent(self.axis)
        # The track is five times as wide as high: scale x to compare distances on the screen.
        across = (window.coordinates(self.axis) - x) / (end - start) * 5
        away = np.hypot(across, np.nan_to_num(self._row.values[:, 0]) - y)
        self.lead = int(window.choice.variants[int(np.argmin(away))])

    def _select_rows(self, variants: tuple[int, ...]) -> None:
        self.selected = variants

    def _shape(self) -> str:
        return "square" if self.view == "square" else "down"


_STALE_BY_TRAIT = {
    "statistic": {"window", "track", "plot"},
    "region": {"window", "track"},
    "min_maf": {"window", "track", "aim"},
    "threshold": {"colours"},
    "view": {"plot"},
    "axis": {"plot"},
    "aggregate": {"colours"},
    "show_blocks": {"blocks"},
    "beside": {"beside"},
    "selected": {"selected"},
    "lead": {"track"},
    "of_samples": {"window", "track"},
}
#: Stale parts, other than the window, that redraw the side panel.
_LISTS = {"nothing": set(), "variants": {"track"}, "pairs": {"colours"}, "decay": set()}
