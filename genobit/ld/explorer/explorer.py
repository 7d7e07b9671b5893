"""The LD explorer: a heatmap of the variants in view, and a track of LD with a lead variant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import holoviews as hv
import ipywidgets
import numpy as np
import traitlets

from genobit.io.genes import read_genes
from genobit.ld.explorer.choice import nearest_point, selected_pair
from genobit.ld.explorer.data import Cohort, Window
from genobit.ld.explorer.files import LDFiles
from genobit.ld.explorer.region import region_text
from genobit.ld.explorer.traits import LISTS, STALE_BY_TRAIT, drawer, search, toolbar
from genobit.ld.explorer.views import Genes, Lists, PaintedDrawing, Track, name_file, track_picture
from genobit.ld.plots.drawing import Drawing, PictureOptions, square, triangle
from genobit.ld.plots.heatmap import KEY, SQUARE_KEY, overlay
from genobit.ld.plots.outlines import check_blocks
from genobit.visual.explorer.frame import PICTURE, framed
from genobit.visual.explorer.gestures import Gestures
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.picture import fill
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.explorer.view import Frame, drawn, plot_of
from genobit.visual.pixels import ACROSS, pair_at
from genobit.visual.style import WIDTH, few_marks, fluid, number, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.ld.explorer.region import Region

#: Pixels on a side, and variants computed for them. Longer windows are thinned, as the title says.
#: 2,000 variants x 4,000 haplotypes are 8e9 bit operations, 30 ms on one core.
MAX_PIXELS = 550
MAX_VARIANTS = 2_000
#: Least and largest width in pixels of the raster of a triangle.
_WIDTHS = 100, 1_600
#: Height of all pictures in screen pixels.
HEIGHT = 530


class LDExplorer(LDFiles):
    """Widget to explore linkage disequilibrium: heatmap, triangle, the region of a lead variant.

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
    association
        Table with a p-value for each variant, as for `ds.genobit.plot.region`. The track shows
        -log10 of p, coloured by r² with the lead variant. A click on a point chooses the lead.
    selection
        Selection to share with other explorers. The default is a new one.
    **initial
        Initial values of the traits, which `genobit.ld.explorer.traits.LDTraits` lists, such as
        ``lead="rs699"``, whose region is shown, or ``region="2:136Mb-136.5Mb"``.

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
        association: Any = None,
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, ds)
        given = {"genes": genes, "blocks": blocks, "association": association}
        self._cohort = self._whole = cohort = Cohort(ds)
        table = None if genes is None else read_genes(genes, cohort.contigs)
        self.statistics, self.contigs = cohort.statistics, cohort.contigs
        self._stale = set()
        self._from_gesture = False
        self._window: Window | None = None
        self._row: xr.DataArray | None = None
        self._drawn_look = PictureOptions()
        self._blocks = blocks
        self._outlined: xr.Dataset | None = None
        self._strength = None if association is None else cohort.strength(association)
        if self._strength is not None and "lead" not in initial:
            initial["lead"] = int(np.nanargmax(self._strength))
        for name in {"lead", "selected"} & set(initial):
            initial[name] = getattr(type(self), name)._validate(self, initial[name])
        if "region" not in initial:
            initial["region"] = self._first_region(initial.get("lead"), initial.get("selected"))
        if blocks is not None:
            check_blocks(blocks)
            initial.setdefault("show_blocks", True)
        super().__init__(**initial)
        self._given = given
        self._make_parts(table)
        if self.selected:
            self._select("variants", self.selected)
        else:
            self._follow_quietly("variants", own=False)
        self._later = Throttled(self._home, self.refresh)
        self.observe(self._on_trait, list(STALE_BY_TRAIT))
        self._stale = {"window", "plot", "track"}
        self.refresh()

    def _first_region(self, lead: int | None, selected: Sequence[int] | None) -> Region:
        """Return the region around the lead variant, or of the selected variants, or the first."""
        around = selected[0] if lead is None and selected else lead
        found = self._cohort.first_look(self._cohort.contig_of(around or 0), around)
        if lead is not None or not selected:
            return found
        every = self._cohort.region_of(selected)
        return found[0], min(found[1], every[1]), max(found[2], every[2])

    def _make_parts(self, genes: pd.DataFrame | None) -> None:
        self._plot_box = ipywidgets.VBox().add_class("genobit-ld-plot")
        self._track = Track(self._home, self._on_track_tap)
        self._genes = Genes(self._home, genes)
        self._lists = Lists(self._home, lambda rows: setattr(self, "selected", rows))
        picture = ipywidgets.VBox((self._track.box, self._genes.box, self._plot_box))
        tabs = dict.fromkeys(self.tabs, self._lists.box) | {PICTURE: picture}
        self.children = framed(self, toolbar(self), drawer(self), tabs, "ld", search(self))

    def _on_trait(self, change: Any) -> None:
        if change["name"] == "selected":
            self._select("variants", self.selected)
        stale = set(STALE_BY_TRAIT[change["name"]])
        if change["name"] == "region" and not self._from_gesture:
            stale.add("aim")
        self._home.run(self._mark, stale)

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "variants" and not own:
            self.selected = tuple(self._places("variants").tolist())
        elif kind == "samples" and self.of_samples == "selected":
            self._mark({"window", "track"})

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
            if self._window is None:
                self._track.say("There is nothing to draw: see the message below.")

    def _compute_window(self) -> None:
        self._choose_cohort()
        self._window = self._cohort.window(self.statistic, self.region, self.min_maf, MAX_VARIANTS)

    def _outline(self) -> None:
        """Choose the blocks to outline: given ones, or those of a window that is not thinned."""
        window = self._now()
        said = window.in_words() + self._of_samples_in_words()
        self._outlined = self._blocks if self.show_blocks else None
        if self.show_blocks and self._blocks is None:
            if window.choice.step > 1:
                said += f"; blocks: zoom in to {MAX_VARIANTS:,} variants, or give blocks="
            else:
                self._outlined = window.blocks
                said += f"; {number(self._outlined.sizes['blocks'], 'block')} of these variants"
        self._of_window = self._said = self.status = said

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
            if not self._repaint.paint(self._drawing(), self._name_file, self._axes):
                self._frame.event(number=self._frame.number + 1)
        self._draw_around(stale)
        if stale & {"window", "selected", "blocks", "plot"}:
            names = [self._cohort.name_of(k) for k in self.selected]
            pair = selected_pair(self._now(), names, self.selected, self.statistic, self._outlined)
            self.card.show(*pair)

    def _draw_around(self, stale: set[str]) -> None:
        """Draw the tracks over and under the picture, and the list."""
        anew = "plot" in stale
        extent = self._gestures.target or self._now().extent(self.axis)
        if self._row is None:
            self._track.hint()
        elif stale & {"window", "track", "plot"}:
            self._track.draw(self._track_picture, extent, anew=anew)
        if stale & {"window", "plot"}:
            self._genes.show(self.region[0], self._now(), self.axis, extent, anew=anew)
        if stale & {"window", "tab"} or stale & {"colours", "track"} & LISTS[self.tab]:
            self._lists.ask(lambda: self._try(self._draw_list))
        elif "selected" in stale:
            self._lists.mark(self.selected)

    def _draw_list(self) -> None:
        least = self.threshold * scale_of(self.statistic).limits[1]
        said = self._lists.draw(self.tab, self._now(), self._row, least, self.selected)
        self._said = said or self._of_window
        if said or not self.status.startswith("Error"):
            self.status = self._said

    def _build_plot(self) -> None:
        self._frame, self._repaint = Frame(), PaintedDrawing()
        unit = "variants" if self.axis == "rank" else "Mb"
        self._gestures = Gestures(
            self._home, self._on_move, self._on_tap, self._shape(), unit, self._on_resize
        )
        self._gestures.aim(*self._now().extent(self.axis))
        draw = hv.DynamicMap(self._picture, streams=[self._frame])
        fill(self._plot_box, plot_of(draw, self._home))

    def _look(self) -> PictureOptions:
        window = self._now()
        pixels = self._gestures.pixels(*window.extent(self.axis))
        across = ACROSS if pixels is None else int(np.clip(round(pixels), *_WIDTHS))
        # A triangle has two pixels for each variant, see `raster_width`.
        most = min(MAX_PIXELS, across // 2) if self.view == "triangle" else MAX_PIXELS
        return PictureOptions(
            axis=self.axis,
            threshold=self.threshold * scale_of(self.statistic).limits[1],
            max_pixels=most,
            aggregate=self.aggregate,
            lead=window.index_of(self.lead),
            selected=np.flatnonzero(np.isin(window.choice.variants, self.selected)).tolist(),
            blocks=self._outlined,
            first_rank=window.choice.first_rank,
            rank_step=window.choice.step,
            note=window.choice.in_words(),
            across=across,
        )

    def _drawing(self) -> Drawing:
        matrix, look = self._now().matrix, self._look()
        self._drawn_look = look
        drawing = square(matrix, look) if self.view == "square" else triangle(matrix, look, "down")
        # With a label on its y axis, a square would be narrower than the tracks.
        drawing = replace(drawing, ylabel="")
        self._gestures.say(*drawing.cells)
        return drawing

    def _picture(self, number: int) -> hv.Overlay:  # noqa: ARG002  the counter of the stream
        key = SQUARE_KEY if self.view == "square" else KEY
        return overlay(self._drawing(), WIDTH // 2, **key).opts(
            apply_ranges=False,
            framewise=False,
            hooks=[
                self._gestures.hook,
                self._repaint.hook,
                few_marks,
                self._name_file,
                fluid(HEIGHT - self._track.height - self._genes.room),
                self._axes,
            ],
        )

    def _axes(self, plot: Any, _element: Any) -> None:
        """Leave the axis to the track of the lead variant, if there is one (a HoloViews hook)."""
        plot.state.xaxis[0].visible = self._row is None or self.view == "square"
        plot.state.yaxis[0].visible = self.view == "square"

    def _name_file(self, plot: Any, _element: Any) -> None:
        """Name the file of the toolbar's save button after the region (a HoloViews hook)."""
        name_file(plot, f"ld_{region_text(self.region)}")

    def _track_picture(self) -> hv.Overlay:
        return track_picture(drawn(self._row), self._strength, self._now().choice, self.axis)

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
        self._on_resize()

    def _on_resize(self) -> None:
        """Draw the cells of a triangle anew if they have another size on the screen."""
        if self.view == "triangle" and not self._stale:
            ratio = self._look().across / self._drawn_look.across
            if not 0.97 < ratio < 1.03:
                self._mark({"colours"})

    def _on_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_pair, x, y)

    def _choose_pair(self, x: float, y: float) -> None:
        window, look = self._now(), self._drawn_look
        bins, values = look.lay_out(window.position), window.matrix.values
        pair = pair_at(values, bins, self._shape(), x, y, self.aggregate, look.across)
        first, second = window.choice.variants[list(pair)]
        self.selected = (first, second)
        # A second click on the pair chooses its other variant.
        self.lead = int(second if self.lead == first else first)

    def _on_track_tap(self, x: float, y: float) -> None:
        self.try_to(self._choose_point, x, y)

    def _choose_point(self, x: float, y: float) -> None:
        window = self._now()
        if self._row is None:
            return
        heights, top = self._row.values[:, 0], 1.0
        if self._strength is not None:
            heights = self._strength[window.choice.variants]
            top = float(np.nanmax(self._strength))
        seen = self._gestures.target or window.extent(self.axis)
        nearest = nearest_point(window.coordinates(self.axis), heights / top, x, y / top, seen)
        self.lead = int(window.choice.variants[nearest])

    def _shape(self) -> str:
        return "square" if self.view == "square" else "down"
