"""The four views of the relationship explorer: each draws, marks, and reports selections."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import holoviews as hv
import numpy as np

from genobit.grm.plots.heatmap import OrderedMatrix, draw_heatmap
from genobit.grm.plots.kinship import PairCounts, count_pairs, draw_histogram, draw_pairs
from genobit.visual.pixels import pair_at
from genobit.visual.selecting import BoxSelection, PointSelection
from genobit.visual.view import TableView, View, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from genobit.grm.plots.result import Measure
    from genobit.visual.colouring import Colouring
    from genobit.visual.home import UiThread

Range = tuple[float, float]


class _GRMView(View):
    css = "genobit-grm"


class Heatmap(_GRMView):
    """The clustered matrix; a box selects its rows and columns, a click its pair.

    ``chosen`` is called with positions of samples.
    """

    name = "heatmap"
    size = (540, 400)

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._arranged: OrderedMatrix | None = None
        self._samples = np.empty(0, dtype="i8")
        self._strip: Colouring | None = None
        self._selected: Sequence[int] = ()

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
        self._strip = None if strip is None else strip.of(samples)
        self._selected = selected
        self._build(self._picture, BoxSelection(self._boxed, self._tapped).hook)

    def mark(self, selected: Sequence[int]) -> None:
        """Mark samples, given by position."""
        self._selected = selected
        self._redraw()

    def _picture(self) -> hv.Overlay:
        here = np.flatnonzero(np.isin(self._samples, self._selected))
        picture = draw_heatmap(drawn(self._arranged), here.tolist(), self._strip)
        return picture.opts(framewise=False)

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
    size = (360, 400)

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home)
        self._picks = PointSelection(chosen)

    def draw(self, picture: hv.Points) -> None:
        """Draw a new scatter plot of all samples, from `pca_scatter`."""
        self._show(picture, self._picks.hook)

    def mark(self, selected: Sequence[int]) -> None:
        """Mark samples, given by position."""
        self._picks.show(selected)


class Histogram(_GRMView):
    """Counts of pairs; a box chooses a range, a click clears it.

    ``chosen`` is called with a range, or None.
    """

    name = "histogram"
    size = (520, 220)

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
        self._build(self._picture, boxes.hook)

    def mark(self, between: Range | None) -> None:
        """Mark a range, or none."""
        self._between = between
        self._redraw()

    def _picture(self) -> hv.Overlay:
        picture = draw_histogram(drawn(self._counted), between=self._between)
        return picture.opts(framewise=False)


class Pairs(_GRMView, TableView):
    """Table of pairs; a row selects its two samples.

    ``chosen`` is called with positions of samples.
    """

    name = "table"
    size = (460, 180)

    def __init__(self, home: UiThread, chosen: Callable[[Iterable[int]], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self.table: pd.DataFrame | None = None

    def draw(self, table: pd.DataFrame, selected: Sequence[int]) -> None:
        """List the pairs of a table from `list_pairs`; rows of two selected samples are marked."""
        self.table = table
        if len(table):
            self._list(draw_pairs(table), table[["sample_0", "sample_1"]].to_numpy(), selected)
        else:
            self.say("There is no such pair.")

    def _picked(self, rows: list[int]) -> None:
        self._chosen(np.unique(self._members[rows]).tolist())
