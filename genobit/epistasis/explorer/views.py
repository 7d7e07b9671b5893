"""The views of the epistasis explorer: cells, marginals, genome, table and permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
from bokeh.models.annotations import ColorBar

from genobit.epistasis.plots.arcs import WIDTH, draw_arcs
from genobit.epistasis.plots.marginals import draw_marginals
from genobit.epistasis.plots.penetrance import draw_cells
from genobit.epistasis.plots.ranking import draw_permutations, draw_ranking
from genobit.visual.explorer.selecting import BoxSelection
from genobit.visual.explorer.view import TableView, View, drawn
from genobit.visual.looks import wrapping
from genobit.visual.style import fluid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import holoviews as hv

    from genobit.epistasis.plots.arcs import Arcs
    from genobit.epistasis.result import Ranked
    from genobit.visual.explorer.home import UiThread

#: Largest distance in screen pixels between an arc and a click on it.
REACH = 8.0
#: Visible rows of the table.
ROWS = 19
#: Height in screen pixels of the arcs, and of the cells and marginals by the number of members.
ARCS, CELLS = 240, {1: 260, 2: 268, 3: 285, 4: 290}
#: Width in screen pixels of the cells, without their axes, by the number of members.
CELLS_WIDE = {1: 300, 2: 300, 3: 530, 4: 480}
#: Numbers of members whose cells leave no room for the marginals beside them.
BROAD = (3, 4)
#: Least width of the marginals without their axis, and greatest with counts.
MARGINALS_WIDE = 255
#: Smallest width of the arcs, and width of the place of the card.
ARCS_LEAST, CARD = 350, 254
#: Height of texts above and below the frame of the cells.
_AROUND = 66


class _EpistasisView(View):
    css = "genobit-epistasis"


class Table(_EpistasisView, TableView):
    """Table of the ranking; a click on a row calls ``chosen`` with its rank."""

    name = "table"
    size = (600, 230)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen

    def draw(self, found: Ranked, ranks: np.ndarray, marked: Sequence[int]) -> None:
        """Draw the combinations ``ranks`` as a table, and select the rows of ``marked`` ranks."""
        if len(ranks):
            self._list(draw_ranking(found, ranks, ROWS), ranks[:, None], marked)
        else:
            self.say("No combination is left by the filter and the selection.")

    def _picked(self, rows: list[int]) -> None:
        if rows:
            self._chosen(int(self._members[rows[-1], 0]))


class Genome(_EpistasisView):
    """Arc diagram; a click on an arc calls ``chosen`` with the best rank that holds the pair."""

    name = "genome"
    size = (560, 200)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._arcs: Arcs | None = None
        self._marked: int | None = None

    def draw(self, arcs: Arcs, marked: int | None) -> None:
        """Draw the arcs of the whole ranking, and mark the pairs of rank ``marked``."""
        self._arcs, self._marked = arcs, marked
        if self._frame is None:
            taps = BoxSelection(None, self._tapped)
            self._build(self._picture, taps.hook, fluid(ARCS, 58, 10), _least(ARCS_LEAST), _no_key)
        else:
            self._redraw()

    def _picture(self) -> hv.Overlay:
        room = (ARCS_LEAST - 68) / WIDTH
        return draw_arcs(drawn(self._arcs), self._marked, room).opts(framewise=False)

    def _tapped(self, x: float, y: float) -> None:
        rank, distance = drawn(self._arcs).rank_at(x, y)
        if distance <= REACH:
            self._chosen(rank)


class Cells(_EpistasisView):
    """Heatmap of the share of a class in the cells of a combination."""

    name = "cells"
    size = (420, 240)

    def draw(self, found: Ranked, rank: int, of_class: int, reach: float) -> None:
        """Draw the cells of combination ``rank``; ``reach`` is the range of colours."""
        order = found.order
        picture = draw_cells(found, rank, of_class, reach)
        title = picture.opts.get("plot").kwargs["title"].splitlines()[-1]
        frame = {"frame_width": CELLS_WIDE[order], "frame_height": CELLS[order] - _AROUND}
        self._show(picture.opts(**frame, title=title, toolbar=None), _plain_title)


class Marginals(_EpistasisView):
    """Bar chart of the share of a class by the genotype of each member."""

    name = "marginals"
    size = (320, 240)

    def draw(self, found: Ranked, rank: int, of_class: int) -> None:
        """Draw the members of combination ``rank``."""
        picture = draw_marginals(found, rank, of_class, MARGINALS_WIDE)
        options = picture.opts.get("plot").kwargs
        title = f"each member by itself; {options['title'].splitlines()[-1]}"
        least = 75 + (MARGINALS_WIDE if found.order in CELLS else int(options["frame_width"]))
        self.box.layout.flex = f"1 1 {least}px"
        height = ARCS if found.order in BROAD else CELLS.get(found.order, 285)
        fitted = fluid(height, 58, 10)
        picture = picture.opts(title=title, toolbar=None)
        self._show(picture, fitted, _least(least), _plain_title)


class Permutations(_EpistasisView):
    """Histogram of the best scores of permutations."""

    name = "permutations"
    size = (420, 200)

    def __init__(self, home: UiThread) -> None:
        super().__init__(home)
        self._found: Ranked | None = None
        self._marked: int | None = None

    def draw(self, found: Ranked, marked: int | None) -> None:
        """Draw the histogram, and mark the score of rank ``marked``."""
        self._found, self._marked = found, marked
        if self._frame is None:
            self._build(self._picture, fluid(520))
        else:
            self._redraw()

    def _picture(self) -> hv.Overlay:
        return draw_permutations(drawn(self._found), self._marked)


def picture_of(order: int, cells: Cells, marginals: Marginals, genome: Genome) -> ipywidgets.HBox:
    """Return the picture: cells, marginals and arcs, with a place for the card.

    Broad cells are beside the card. Narrow ones are beside the marginals, or beside the card if
    the page is narrow, too.
    """
    broad = order in BROAD
    cells.box.layout.flex = "0 0 100%" if broad else "0 0 auto"
    genome.box.layout.flex = f"1 1 {ARCS_LEAST}px"
    for view in (marginals, genome):
        view.box.layout.min_width = "0"
    place = ipywidgets.Box(layout={"flex": f"0 1 {CARD}px"})
    line = ipywidgets.Box(layout={"flex": "0 0 100%", "height": "0"}).add_class("genobit-break")
    if broad:
        return wrapping(cells.box, genome.box, marginals.box)
    return wrapping(cells.box, marginals.box, line, genome.box, place)


def card_of(found: Ranked, rank: int) -> list[tuple[str, str]]:
    """Return the values of a combination as rows of a card."""
    result = found.result
    rows = [("rank", f"{found.ranks[rank]} of {found.size:,}")]
    formats = {found.column: (found.label, "{:.4g}"), "g": ("G", "{:.1f}"), "df": ("df", "{:.0f}")}
    formats |= {"p": ("p", "{:.2g}"), "p_familywise": ("family-wise p", "{:.2g}")}
    formats["n"] = ("n", "{:,.0f}")
    rows += [
        (label, text.format(float(result[name].values[rank])))
        for name, (label, text) in formats.items()
        if name in result
    ]
    if "sparse" in result and bool(result["sparse"].values[rank]):
        rows.append(("cells", "too sparse for p"))
    return rows


def left_out(arcs: Arcs | None) -> str:
    """Return in words how many pairs have no arc; "" if there are none."""
    if arcs is None or arcs.out_of == len(arcs.rank):
        return ""
    return f"; arcs of the best {len(arcs.rank):,} of {arcs.out_of:,} pairs"


def _least(width: int) -> Any:
    """Return a HoloViews hook that sets the smallest width of a figure."""

    def hook(plot: Any, _element: Any) -> None:
        plot.state.min_width = width

    return hook


def _plain_title(plot: Any, _element: Any) -> None:
    """Write the title as a quiet note (a HoloViews hook)."""
    plot.state.title.update(text_font_style="normal", visible=True)


def _no_key(plot: Any, _element: Any) -> None:
    """Hide the key of the colours of arcs, which are their heights, too (a HoloViews hook)."""
    for bar in plot.state.select({"type": ColorBar}):
        bar.visible = False
