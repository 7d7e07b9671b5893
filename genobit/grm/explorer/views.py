"""The views of the relationship explorer: each draws, marks, and reports selections."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import holoviews as hv
import numpy as np

from genobit.grm.plots.clustered import BREADTH, HEIGHT, draw_clustered
from genobit.grm.plots.kinship import PairCounts, count_pairs, draw_histogram, draw_pairs
from genobit.grm.plots.paper_matrix import matrix_panel
from genobit.grm.plots.relatives import draw_relatives
from genobit.visual.explorer.selecting import BoxSelection, PointSelection
from genobit.visual.explorer.view import TableView, View, drawn
from genobit.visual.pixels import pair_at
from genobit.visual.style import fluid, with_hooks
from genobit.visual.tables import Column, draw_table, numbers
from genobit.visual.tokens import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    import pandas as pd

    from genobit.grm.plots.heatmap import OrderedMatrix
    from genobit.grm.plots.paper_matrix import MatrixPanel
    from genobit.grm.plots.relatives import KinshipPlot
    from genobit.grm.plots.result import Measure
    from genobit.visual.colouring import Colouring
    from genobit.visual.explorer.home import UiThread

Range = tuple[float, float]
#: Height of each of the two plots beside the heatmap, and of tables, in screen pixels.
_HALF, _TABLE = HEIGHT // 2, 470
#: Space at the left and right of the two plots, so that their frames stand in line.
_SIDES = 58, 14
#: Share of the height of a plot that the card takes, and its place below the top of the picture.
_CARD, CARD_TOP = 0.43, _HALF - 2


def _small(plot: Any, element: Any) -> None:
    """Fit a plot into the column beside the heatmap (a HoloViews hook)."""
    fluid(_HALF, *_SIDES)(plot, element)
    plot.state.update(toolbar_location="right", toolbar_inner=True, outline_line_color=None)


def _small_with_title(plot: Any, element: Any) -> None:
    """Fit a plot as `_small` does, with its title in one quiet line (a HoloViews hook)."""
    _small(plot, element)
    title = plot.state.title
    title.update(
        visible=True,
        text=str(title.text).replace("\n", " · "),
        text_font_size="11px",
        text_font_style="normal",
        text_color=LIGHT.slate,
    )


class _GRMView(View):
    css = "genobit-grm"


class _SampleView(_GRMView):
    """View that calls ``chosen`` with positions of samples."""

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home)
        self._chosen = chosen


class _MarkedView(_SampleView):
    """Picture that is drawn again when other samples are selected."""

    _selected: Sequence[int] = ()

    def mark(self, selected: Sequence[int]) -> None:
        """Mark samples, given by position."""
        self._selected = selected
        self._redraw()


class _ListView(_SampleView, TableView):
    """Table whose rows choose their samples."""

    size = (460, 180)

    def _picked(self, members: np.ndarray) -> None:
        self._chosen(np.unique(members).tolist())


class Heatmap(_MarkedView):
    """The clustered matrix; a box selects its rows and columns, a click its pair."""

    name = "heatmap"
    size = (BREADTH - 20, HEIGHT - 20)
    _arranged: OrderedMatrix | None = None
    _samples = np.empty(0, dtype="i8")
    _panel: MatrixPanel | None = None

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home, chosen)
        self.box.layout.flex, self.box.layout.max_width = "8 1 330px", f"{BREADTH}px"

    def draw(
        self,
        arranged: OrderedMatrix,
        samples: np.ndarray,
        strip: Colouring | None,
        selected: Sequence[int],
    ) -> None:
        """Draw a matrix, and mark the selected samples.

        samples: (rows of the matrix,), their positions in the Dataset. ``strip`` has the colours of
        all samples of the Dataset, or is None.
        """
        self._arranged, self._samples = arranged, samples
        self._panel = matrix_panel(arranged, None if strip is None else strip.of(samples))
        self._selected = selected
        self._build(self._picture, BoxSelection(self._boxed, self._tapped).hook)

    def _picture(self) -> hv.Overlay:
        here = np.flatnonzero(np.isin(self._samples, self._selected))
        return draw_clustered(drawn(self._panel), here.tolist()).opts(framewise=False)

    def _boxed(self, x0: float, y0: float, x1: float, y1: float) -> None:
        arranged = drawn(self._arranged)
        ranks = np.arange(arranged.n_samples)
        # A sample is in the box if its centre is.
        inside = ((ranks >= x0) & (ranks <= x1)) | ((ranks >= y0) & (ranks <= y1))
        self._chosen(self._samples[arranged.tree.order[inside]].tolist())

    def _tapped(self, x: float, y: float) -> None:
        arranged = drawn(self._arranged)
        order = arranged.tree.order
        values = cast("np.ndarray", _Ordered(arranged.matrix.values, order))
        try:
            pair = pair_at(values, arranged.bins, "square", x, y)
        except ValueError:
            return  # outside the matrix
        self._chosen(self._samples[order[list(pair)]].tolist())


class _Ordered:
    """Blocks of a reordered matrix, without a second matrix of its size."""

    def __init__(self, values: np.ndarray, order: np.ndarray) -> None:
        self._values, self._order = values, order

    def __getitem__(self, block: tuple[slice, slice]) -> np.ndarray:
        rows, columns = (self._order[side] for side in block)
        return self._values[np.ix_(rows, columns)]


class Scatter(_GRMView):
    """Samples along components; lasso and box select.

    ``chosen`` is called with positions of samples.
    """

    name = "scatter"
    size = (320, _HALF - 20)

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home)
        self._picks = PointSelection(chosen)

    def draw(self, picture: hv.Points) -> None:
        """Draw a new scatter plot of all samples, from `pca_scatter`."""
        self._show(picture, self._picks.hook, _small)

    def mark(self, selected: Sequence[int]) -> None:
        """Mark samples, given by position."""
        self._picks.show(selected)


class _UnderCard(_GRMView):
    """A plot of pairs that leaves its upper part to the card while there is one."""

    size = (250, _HALF - 20)
    _raised = False
    _ends: tuple[Any, float, float] = None, 0.0, 0.0

    def leave_room(self, *, raised: bool) -> None:
        """Leave the upper part empty, or not."""
        if raised != self._raised:
            self._raised = raised
            self._redraw()

    def _fitted(self, picture: hv.Overlay) -> hv.Overlay:
        options = picture.opts.get("plot").kwargs
        low, end = options["ylim"]
        if self._raised:
            share = 1 / (1 - _CARD)
            end = low * (end / low) ** share if options.get("logy") else low + (end - low) * share

        def hook(plot: Any, _element: Any) -> None:
            # Once: a reader who zoomed in keeps the place.
            if self._ends != (plot.state, low, end):
                self._ends = plot.state, low, end
                plot.state.y_range.update(start=low, end=end)
                plot.state.yaxis[0].bounds = options["ylim"]

        return with_hooks(picture.opts(framewise=False), hook)


class Histogram(_UnderCard):
    """Counts of pairs; a box chooses a range, a click clears it.

    ``chosen`` is called with a range, or None.
    """

    name = "histogram"

    def __init__(self, home: UiThread, chosen: Callable[[Range | None], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._between: Range | None = None
        self._counted: PairCounts | None = None

    def draw(self, pairs: np.ndarray, measure: Measure, between: Range | None) -> None:
        """Draw a histogram of pairs, and mark the range ``between``."""
        self._counted, self._between = count_pairs(pairs, measure), between
        boxes = BoxSelection(
            lambda x0, _y0, x1, _y1: self._chosen((x0, x1)), lambda _x, _y: self._chosen(None)
        )
        self._build(self._picture, boxes.hook, _small_with_title)

    def mark(self, between: Range | None) -> None:
        """Mark a range, or none."""
        self._between = between
        self._redraw()

    def _picture(self) -> hv.Overlay:
        return self._fitted(draw_histogram(drawn(self._counted), between=self._between))


class Kinship(_UnderCard, _MarkedView):
    """KING kinship of pairs; a box selects the samples of its pairs, a click those of one pair."""

    name = "kinship"
    _plot: KinshipPlot | None = None

    def draw(self, plot: KinshipPlot, selected: Sequence[int]) -> None:
        """Draw pairs, with rings around those of two selected samples."""
        self._plot, self._selected = plot, selected
        boxes = BoxSelection(
            lambda *corners: self._chosen(plot.inside(*corners).tolist()),
            lambda x, y: self._chosen(plot.nearest(x, y).tolist()),
        )
        self._build(self._picture, boxes.hook, _small)

    def _picture(self) -> hv.Overlay:
        return self._fitted(draw_relatives(drawn(self._plot), self._selected))


class Pairs(_ListView):
    """Table of pairs; a row selects its two samples."""

    name = "table"
    table: pd.DataFrame | None = None

    def draw(self, selected: Sequence[int]) -> None:
        """Draw ``table``, from `list_pairs`; rows of two selected samples are marked."""
        table = drawn(self.table)
        if len(table):
            members = table[["sample_0", "sample_1"]].to_numpy()
            self._list(draw_pairs(table, _TABLE), members, selected)
        else:
            self.say("There is no such pair.")


class Samples(_ListView):
    """Table of samples; rows select them."""

    name = "samples"

    def draw(self, table: pd.DataFrame, selected: Sequence[int]) -> None:
        """Draw a table with a row for each sample, in the order of the data."""
        columns = {
            name: Column(110, numbers("0.0000") if values.dtype.kind == "f" else None)
            for name, values in table.items()
        }
        picture = draw_table(table, columns, width=95 * len(columns), height=_TABLE, fit=True)
        self._list(picture, np.arange(len(table))[:, None], selected)


class Components(_GRMView):
    """Table of components with their shares of the variance."""

    name = "components"

    def draw(self, table: pd.DataFrame) -> None:
        """Draw a table with a row for each component."""
        columns = {name: Column(140, numbers("0.0000")) for name in table.columns}
        columns["component"] = Column(100)
        self._show(draw_table(table, columns, width=480, height=_TABLE, fit=True))
