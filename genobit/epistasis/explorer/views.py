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
    from genobit.visual.style import Hook

#: Largest distance in screen pixels between an arc and a click on it.
REACH = 8.0
#: Visible rows of the table.
ROWS = 19
#: Least height in screen pixels of the cells, by the number of members, of the arcs, and of the
#: marginals without and with counts. Rows of pictures share the height that is left.
CELLS_HIGH, ARCS_HIGH = {1: 160, 2: 180, 3: 205, 4: 220}, 160
MARGINALS_HIGH, COUNTED_HIGH = 150, 198
#: Greatest width in screen pixels of the cells, with axes and colour bar, by the number of members.
CELLS_WIDE = {1: 460, 2: 460, 3: 690, 4: 690}
#: Numbers of members whose cells leave no room for the marginals beside them.
BROAD = (3, 4)
#: Greatest width of the marginals with counts, and width of their axis.
MARGINALS_WIDE, MARGINALS_AXIS = 255, 75
#: Smallest width of the arcs, and of the card with its margins where it is beside the cells.
ARCS_LEAST, CARD = 350, 234


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

    def _picked(self, members: np.ndarray) -> None:
        if len(members):
            self._chosen(int(members[-1, 0]))


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
            self._build(self._picture, taps.hook, _filling(ARCS_LEAST, 10), _bare)
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
        picture = draw_cells(found, rank, of_class, reach)
        title = picture.opts.get("plot").kwargs["title"].splitlines()[-1]
        filling = _filling(0, 0, CELLS_WIDE[found.order])
        self._show(picture.opts(title=title, toolbar=None), filling, _plain_title)


class Marginals(_EpistasisView):
    """Bar chart of the share of a class by the genotype of each member."""

    name = "marginals"
    size = (320, 240)

    def draw(self, found: Ranked, rank: int, of_class: int) -> None:
        """Draw the members of combination ``rank``."""
        picture = draw_marginals(found, rank, of_class, MARGINALS_WIDE)
        options = picture.opts.get("plot").kwargs
        title = f"each member by itself; {options['title'].splitlines()[-1]}"
        least = MARGINALS_AXIS + int(options["frame_width"])
        self.box.layout.flex = f"1 1 {least}px"
        self._show(picture.opts(title=title, toolbar=None), _filling(least, 10), _plain_title)


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
    """Return the picture: cells, marginals and arcs, in as many rows as the width needs.

    Broad cells have a row of their own. Narrow ones are beside the marginals, or beside the card
    if the page is narrow, too.
    """
    broad = order in BROAD
    wide = CELLS_WIDE.get(order, CELLS_WIDE[2])
    cells.box.layout.flex = f"0 0 {'100%' if broad else f'min({wide}px, 100% - {CARD}px)'}"
    # Narrow cells, marginals of their least width and arcs never share a row.
    beside = wide + MARGINALS_AXIS + MARGINALS_WIDE - 30
    least = f"{ARCS_LEAST}px" if broad else f"max({ARCS_LEAST}px, 100% - {beside}px)"
    genome.box.layout.flex = f"1 1 {least}"
    high = MARGINALS_HIGH if broad else COUNTED_HIGH
    heights = (cells, CELLS_HIGH.get(order, 0)), (marginals, high), (genome, ARCS_HIGH)
    for view, least_high in heights:
        view.box.layout.min_width, view.box.layout.min_height = "0", f"{least_high}px"
    if broad:
        return wrapping(cells.box, genome.box, marginals.box).add_class("genobit-filled")
    genome.box.add_class("genobit-beside")
    return wrapping(cells.box, marginals.box, genome.box).add_class("genobit-filled")


def card_of(found: Ranked, rank: int) -> list[tuple[str, str]]:
    """Return the values of a combination as rows of a card."""
    result = found.result
    rows = [("rank", f"{found.ranks[rank]} of {found.size:,}")]
    formats = {found.column: (found.label, "{:.4g}"), "g": ("G", "{:.1f}"), "df": ("df", "{:.0f}")}
    formats |= {"effect": ("effect", "{:.4g}"), "standard_error": ("SE", "{:.3g}")}
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


def _filling(least: int, right: int, most: int | None = None) -> Hook:
    """Return a HoloViews hook that lets a figure fill its box, from and up to some width."""

    def hook(plot: Any, element: Any) -> None:
        fluid(None, 58, right)(plot, element)
        plot.state.update(min_width=least, max_width=most)

    return hook


def _plain_title(plot: Any, _element: Any) -> None:
    """Write the title as a quiet note (a HoloViews hook)."""
    plot.state.title.update(text_font_style="normal", visible=True)


def _bare(plot: Any, _element: Any) -> None:
    """Hide the colour key of arcs, which is their heights, too, and put the tools inside."""
    plot.state.toolbar_inner = True
    for bar in plot.state.select({"type": ColorBar}):
        bar.visible = False
