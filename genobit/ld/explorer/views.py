"""Tracks over and under the picture of the LD explorer, and the side panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from bokeh.models import SaveTool

from genobit.io.genes import lacks_contig
from genobit.ld.methods.decay import LDDecayMethods
from genobit.ld.plots.association import association_track
from genobit.ld.plots.decay import ld_decay
from genobit.ld.plots.genes import gene_track
from genobit.ld.plots.heatmap import ENDS
from genobit.ld.plots.lead_track import ld_track
from genobit.ld.plots.tables import pairs_table, strongest_pairs, variants_table
from genobit.quality.methods.statistics import QualityMethods
from genobit.visual.explorer.gestures import Gestures
from genobit.visual.explorer.home import UiThread
from genobit.visual.explorer.picture import fill
from genobit.visual.explorer.view import TableView, View, drawn
from genobit.visual.picture import screen
from genobit.visual.repaint import Repaint, send
from genobit.visual.style import few_marks, fluid, hooks_of, margins, number, plain_frame, scale_of
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import holoviews as hv
    import pandas as pd
    import xarray as xr

    from genobit.ld.explorer.data import Window
    from genobit.ld.explorer.region import ShownVariants
    from genobit.ld.plots.drawing import Drawing
    from genobit.ld.plots.outlines import Lines
    from genobit.visual.pixels import Axis
    from genobit.visual.style import Hook

#: Debounce in seconds: the list follows when the window has not changed for this long.
REST = 0.3
#: Largest distance of the decay in base pairs: beyond it the curve is flat.
DECAY = 500e3
#: Fewest variants in a block of the block bootstrap of the decay.
RUN = 30
_HINT = "Click a pair to plot r² with its first variant; click again for the second."


class PaintedDrawing(Repaint):
    """Keeps the plot of an LD picture, which needs no HoloViews objects for a new frame."""

    def paint(self, drawing: Drawing, *hooks: Callable[[Any, Any], None]) -> bool:
        """Draw an LD drawing of the same shape in the existing plot, without HoloViews objects.

        Runs the hooks with the plot and None. Returns False if there is no plot yet.
        """
        if self._plot is None:
            return False
        image, *layers = self._plot.subplots.values()
        _paint_image(image, drawing)
        drawing.hook(image, None)
        lines = (drawing.blocks, drawing.selected, drawing.lead)
        for subplot, some in zip(layers, lines, strict=True):
            send(subplot, _columns(some))
        self._name(drawing.title, drawing.xlabel, drawing.ylabel)
        for hook in hooks:
            hook(self._plot, None)
        return True


def _paint_image(subplot: Any, drawing: Drawing) -> None:
    left, bottom, right, top = drawing.bounds
    place = {"x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom]}
    # bokeh counts rows from the bottom.
    subplot.handles["source"].data = {**place, "image": [drawing.pixels[::-1]]}
    mapper = subplot.handles["glyph"].color_mapper
    if list(mapper.palette) != drawing.colours:  # of a square: its threshold is in the colours
        mapper.palette = drawing.colours


def _columns(lines: Lines) -> dict[str, Any]:
    return dict(zip(ENDS, np.array(lines, "f8").reshape(-1, len(ENDS)).T, strict=True))


class AlignedView(View):
    """A figure that shares the x axis of the picture; calls `tapped` with (x, y)."""

    css = "genobit-ld"
    height: ClassVar[int]
    last_hooks: ClassVar[tuple[Hook, ...]] = ()

    def __init__(self, home: UiThread, tapped: Callable[[float, float], None]) -> None:
        super().__init__(home)
        self._tapped = tapped
        self._picture: Callable[[], hv.Overlay] | None = None
        self._gestures: Gestures
        self._repaint: Repaint

    def draw(
        self, picture: Callable[[], hv.Overlay], extent: tuple[float, float], *, anew: bool
    ) -> None:
        """Draw a picture in the existing figure, or in a new one if `anew`.

        A new figure is needed if the axis counts something else. `extent` is the stretch of the x
        axis to show.
        """
        self._picture = picture
        if self._frame is not None and not anew:
            self._gestures.aim(*extent)
            if not self._repaint.show(self._drawn()):
                self._redraw()
            return
        self._repaint = Repaint()
        self._gestures = Gestures(self._home, lambda *_: None, self._tapped)
        self._gestures.aim(*extent)
        self._build(self._drawn)

    def _drawn(self) -> hv.Overlay:
        picture = drawn(self._picture)()
        given = [hook for hook in hooks_of(picture) if hook is not margins]
        hooks = [*given, few_marks, self._gestures.hook, self._repaint.hook, fluid(self.height)]
        hooks += self.last_hooks
        return picture.opts(apply_ranges=False, framewise=False, hooks=hooks)


def _small_title(plot: Any, _element: Any) -> None:
    """Show the title, which names the lead variant, in a low line (a HoloViews hook)."""
    plot.state.title.update(
        visible=True,
        align="left",
        standoff=2,
        text_font_size="11px",
        text_font_style="normal",
        text_color=LIGHT.slate,
    )


class Track(AlignedView):
    """Track of r² of the window with the lead variant."""

    name = "track"
    size = (500, 120)
    height = 140
    last_hooks = (_small_title,)

    def __init__(self, home: UiThread, tapped: Callable[[float, float], None]) -> None:
        super().__init__(home, tapped)
        self.say(_HINT)

    def hint(self) -> None:
        """Show how to choose a lead, instead of a picture."""
        if self._picture is not None:
            self._picture = None
            self.say(_HINT)


class Genes(AlignedView):
    """Track of the genes of the window, under the picture.

    The table comes from `genobit.io.genes.read_genes`; None shows no track.
    """

    name = "genes"
    size = (500, 80)
    height = 84

    def __init__(self, home: UiThread, table: pd.DataFrame | None) -> None:
        super().__init__(home, lambda *_: None)
        self._table = table
        self.room = 0 if table is None else self.height
        """Screen pixels that the track takes."""
        if table is None:
            self.box.children = ()

    @property
    def names(self) -> list[str]:
        """Names of the genes."""
        return [] if self._table is None else self._table["name"].tolist()

    def find(self, name: str) -> tuple[str, float, float] | None:
        """Return contig, start and end of a gene by its name, ignoring case; None if unknown."""
        if self._table is None:
            return None
        found = self._table[self._table["name"].str.lower() == name.strip().lower()]
        if not len(found):
            return None
        first = found.iloc[0]
        return str(first["contig"]), float(first["start"]), float(first["end"])

    def show(
        self, contig: str, window: Window, axis: Axis, extent: tuple[float, float], *, anew: bool
    ) -> None:
        """Draw the genes of a window."""
        if self._table is None:
            return
        lacking = lacks_contig(self._table, contig)
        if lacking:
            self.say(f"{lacking}.")
            return
        genes = self._table[self._table["contig"] == contig]
        spaced = (
            {"position": window.position, "at": window.coordinates(axis)} if axis == "rank" else {}
        )
        self.draw(lambda: gene_track(genes, extent, lanes=2, **spaced), extent, anew=anew)


class Lists(TableView):
    """The variants or the strongest pairs of the window, or the decay of its LD.

    Calls `picked` with indices along the Dataset when rows are selected.
    """

    css = "genobit-ld"
    name = "list"
    size = (380, 200)

    def __init__(self, home: UiThread, picked: Callable[[tuple[int, ...]], None]) -> None:
        super().__init__(home)
        self._on_picked = picked
        self._request: Any = None
        self.box.children = ()

    def ask(self, draw: Callable[[], None]) -> None:
        """Call `draw` after `REST` seconds without another request (debounce)."""
        if self._request is not None:
            self._request.cancel()
        if self._home.loop is None:
            draw()
        else:
            self._request = self._home.loop.call_later(REST, draw)

    def clear(self) -> None:
        """Show nothing."""
        self._members, self._frame = self._members[:0], None
        fill(self.box)

    def draw(
        self,
        tab: str,
        window: Window,
        row: xr.DataArray | None,
        least: float,
        selected: Sequence[int],
    ) -> str:
        """Draw the tab of a window, and return a text for the status line."""
        if tab == "pairs":
            return self.list_pairs(window, least, selected)
        if tab == "variants":
            self.list_variants(window, row, selected)
        elif tab == "decay":
            return self.draw_decay(window)
        else:
            self.clear()
        return ""

    def list_variants(
        self, window: Window, row: xr.DataArray | None, selected: Sequence[int]
    ) -> None:
        """List the variants of a window, with r² with the lead if `row` is given."""
        frequency = np.asarray(QualityMethods(window.shown).allele_frequency())
        picture = variants_table(window.matrix, frequency, row)
        self._list(picture, window.choice.variants[:, None], selected)

    def list_pairs(self, window: Window, least: float, selected: Sequence[int]) -> str:
        """List the pairs of a window at least `least` from 0, strongest first.

        Rows whose two variants are selected are marked. Returns the number of pairs in words.
        """
        pairs, count = strongest_pairs(window.matrix.values, least)
        label = scale_of(str(window.matrix.name)).label
        if not count:
            self.say(f"No pair in view has |{label}| of {least:g} or more.")
            return ""
        self._list(pairs_table(window.matrix, pairs), window.choice.variants[pairs], selected)
        text = number(count, "pair") + (f" with |{label}| ≥ {least:g}" if least > 0 else "")
        return f"{text}, the {len(pairs):,} strongest are listed" if count > len(pairs) else text

    def _picked(self, members: np.ndarray) -> None:
        self._on_picked(tuple(np.unique(members).tolist()))

    def draw_decay(self, window: Window) -> str:
        """Draw the decay of r² with distance in a window, and return its half-decay distance."""
        self._members = self._members[:0]
        span = float(window.position[-1] - window.position[0])
        # The curve is an expectation of r²: use its EM estimate if the window shows one.
        statistic = "r2_em" if str(window.matrix.name).endswith("_em") else "r2"
        decay = LDDecayMethods(window.shown).ld_decay(
            f"{max(min(span, DECAY), 1.0):.0f}bp",
            statistic=statistic,
            parts=int(np.clip(len(window.position) // RUN, 2, 50)),
        )
        picture = ld_decay(decay)
        self._show(screen.paint(picture).opts(hooks=[plain_frame, fluid(480)]))
        return f"{picture.title}; {picture.notes[0]}"


def track_picture(
    row: xr.DataArray, strength: np.ndarray | None, choice: ShownVariants, axis: Axis
) -> hv.Overlay:
    """Draw r² with the lead variant, or -log10 of p in the colours of this r² if it is given."""
    ranks = {"first_rank": choice.first_rank, "rank_step": choice.step}
    if strength is None:
        return ld_track(row, axis=axis, **ranks)
    top = float(np.nanmax(strength))
    return association_track(row, strength[choice.variants], top, axis=axis, **ranks)


def name_file(plot: Any, name: str) -> None:
    """Name the file of the save button of a figure's toolbar."""
    for tool in plot.state.toolbar.tools:
        if isinstance(tool, SaveTool):
            tool.filename = name.replace(",", "").replace(":", "_")
