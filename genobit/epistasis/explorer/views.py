"""The five views of the epistasis explorer: table, genome, cells, marginals and permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.epistasis.plots.arcs import draw_arcs
from genobit.epistasis.plots.marginals import draw_marginals
from genobit.epistasis.plots.penetrance import draw_cells
from genobit.epistasis.plots.ranking import draw_permutations, draw_ranking
from genobit.visual.selecting import BoxSelection
from genobit.visual.view import TableView, View, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import holoviews as hv

    from genobit.epistasis.plots.arcs import Arcs
    from genobit.epistasis.result import Ranked
    from genobit.visual.home import UiThread

#: Largest distance in screen pixels between an arc and a click on it.
REACH = 8.0


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
            self._list(draw_ranking(found, ranks), ranks[:, None], marked)
        else:
            self.say("No combination is left by the filter and the selection.")

    def _picked(self, rows: list[int]) -> None:
        if rows:
            self._chosen(int(self._members[rows[-1], 0]))


class Genome(_EpistasisView):
    """Arc diagram; a click on an arc calls ``chosen`` with the best rank that holds the pair."""

    name = "genome"
    size = (900, 200)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._arcs: Arcs | None = None
        self._marked: int | None = None

    def draw(self, arcs: Arcs, marked: int | None) -> None:
        """Draw the arcs of the whole ranking, and mark the pairs of rank ``marked``."""
        self._arcs, self._marked = arcs, marked
        if self._frame is None:
            self._build(self._picture, BoxSelection(None, self._tapped).hook)
        else:
            self._redraw()

    def _picture(self) -> hv.Overlay:
        return draw_arcs(drawn(self._arcs), self._marked).opts(framewise=False)

    def _tapped(self, x: float, y: float) -> None:
        rank, distance = drawn(self._arcs).rank_at(x, y)
        if distance <= REACH:
            self._chosen(rank)


class Cells(_EpistasisView):
    """Heatmap of the share of a class in the cells of a combination."""

    name = "cells"
    size = (420, 260)

    def draw(self, found: Ranked, rank: int, of_class: int, reach: float) -> None:
        """Draw the cells of combination ``rank``; ``reach`` is the range of colours."""
        self._show(draw_cells(found, rank, of_class, reach))


class Marginals(_EpistasisView):
    """Bar chart of the share of a class by the genotype of each member."""

    name = "marginals"
    size = (420, 260)

    def draw(self, found: Ranked, rank: int, of_class: int) -> None:
        """Draw the members of combination ``rank``."""
        self._show(draw_marginals(found, rank, of_class))


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
            self._build(self._picture)
        else:
            self._redraw()

    def _picture(self) -> hv.Overlay:
        return draw_permutations(drawn(self._found), self._marked)
