"""The epistasis explorer: a ranking, and views of the chosen combination of variants."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.epistasis.explorer.controls import drawer, toolbar
from genobit.epistasis.explorer.traits import EpistasisTraits
from genobit.epistasis.explorer.views import (
    BROAD,
    Cells,
    Genome,
    Marginals,
    Permutations,
    Table,
    card_of,
    left_out,
    picture_of,
)
from genobit.epistasis.plots.arcs import arcs
from genobit.epistasis.plots.marginals import draw_marginals
from genobit.epistasis.plots.paper_arcs import arcs_of
from genobit.epistasis.plots.paper_penetrance import grids_of
from genobit.epistasis.plots.paper_permutations import null_of
from genobit.epistasis.plots.paper_ranking import table_of
from genobit.epistasis.plots.penetrance import MOST_MEMBERS, draw_cells, reach_of
from genobit.epistasis.plots.ranking import (
    draw_permutations,
    draw_ranking,
    summary,
    without_permutations,
)
from genobit.epistasis.result import ranked
from genobit.visual.explorer.frame import PICTURE, framed
from genobit.visual.explorer.jobs import in_words
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.figure import Figure
from genobit.visual.paper.page import stacked
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.epistasis.plots.arcs import Arcs
    from genobit.epistasis.result import Ranked
    from genobit.visual.paper.page import Paper


class EpistasisExplorer(EpistasisTraits):
    """Widget to explore combinations of variants that are associated with a phenotype.

    Parameters
    ----------
    ds
        Dataset that was searched.
    result
        Result of `.genobit.epistasis()` of these variants.
    selection
        Selection to share with other explorers; by default a new one. Choosing a combination
        selects its variants.
    **initial
        Initial values of the traits listed under Attributes, such as ``filter="2:"``.

    Attributes
    ----------
    chosen
        Index of the chosen combination, from 0, or None. The default is the best combination.
    filter
        Words that each listed combination must match, as in `genobit.plots.ranking_table`. The
        default "" lists all.
    shown_class
        Name of the class to draw. The default is the last class: the cases.
    tab
        Tab in view: the "picture", the table of the "ranking", or the histogram of the
        "permutations".
    of_variants
        Combinations to list: "all", or "selected" (the default) for combinations with a variant
        that was selected by name or in another explorer. Without such a variant, all are listed.

    Raises
    ------
    TypeError
        If `result` is not a Dataset.
    ValueError
        If `result` is not a result of `.genobit.epistasis()`, or belongs to other variants.
    """

    def __init__(
        self,
        ds: xr.Dataset,
        result: xr.Dataset,
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, ds)
        self._among = self._places("variants")
        self.ranked = ranked(result, ds)
        self.classes = self.ranked.classes
        self._listed = np.arange(self.ranked.size)
        self._reaches: dict[str, float] = {}
        self._stale = set()
        super().__init__(**initial)
        self._given = {"result": result}
        self._arcs = arcs(self.ranked, ds) if self.ranked.size and self.ranked.order > 1 else None
        self._make_parts()
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self._said = self.status = summary(self.ranked)
        self._draw({"filter", "chosen"})

    def _make_parts(self) -> None:
        self._table = Table(self._home, self._choose)
        self._genome = Genome(self._home, self._choose)
        self._cells = Cells(self._home)
        self._marginals = Marginals(self._home)
        self._permutations = Permutations(self._home)
        self.count_line = ipywidgets.HTML().add_class("genobit-epistasis-count")
        tabs = {
            PICTURE: picture_of(self.ranked.order, self._cells, self._marginals, self._genome),
            "ranking": ipywidgets.VBox([self.count_line, self._table.box]),
            "permutations": ipywidgets.VBox([self._permutations.box]),
        }
        self.children = framed(self, toolbar(self), drawer(self), tabs, "epistasis")
        self.card.add_class("genobit-aside" if self.ranked.order in BROAD else "genobit-below")

    # Selection: variants from other explorers filter the table; this one selects its combination.

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "variants" and not own:
            self._among = self._places("variants")
            self._draw({"filter"})

    # Figures for papers.

    def figure(self) -> Figure:
        """Return the picture in view as a figure: arcs and cells, the ranking, or permutations.

        For a combination of more than four variants, marginal effects of its members replace the
        cells. Raises ValueError if no combination is chosen, or if the result lacks the cells or
        permutations of the open tab.
        """
        if self.tab == "ranking":
            shown = draw_ranking(self.ranked, self._listed)
            return Figure(shown, partial(table_of, self.ranked, self._listed))
        if self.tab == "permutations":
            if why := without_permutations(self.ranked):
                raise ValueError(why)
            shown = draw_permutations(self.ranked, self.chosen)
            return Figure(shown, partial(null_of, self.ranked, self.chosen))
        if why := self._why_no_cells():
            raise ValueError(why)
        of_class = self._class()
        if self.ranked.order > MOST_MEMBERS:
            return Figure(draw_marginals(self.ranked, self.chosen, of_class))
        reach = self._reach()
        shown = draw_cells(self.ranked, self.chosen, of_class, reach)
        # The figure keeps its combination when another one is chosen before it is saved.
        return Figure(shown, partial(_paper, self.ranked, self._arcs, self.chosen, of_class, reach))

    # Drawing. A tab that is not in view is drawn when it is chosen.

    def _on_trait(self, change: Any) -> None:
        if change["name"] == "chosen" and self.chosen is not None:
            self._select("variants", self.ranked.variants[self.chosen])
        self.try_to(self._draw, {change["name"]})

    def _choose(self, rank: int) -> None:
        self.chosen = rank

    def _draw(self, changed: set[str]) -> None:
        if not self.ranked.size:
            self._say_empty()
            return
        if changed & {"filter", "of_variants"}:
            self._list()
        if "chosen" in changed:
            self._table.mark(self._marked())
            self._show_card()
        for name in changed:
            self._stale |= _STALE_BY_TRAIT[name]
        drawn = self._stale & _PARTS[self.tab]
        self._stale -= drawn
        for part in sorted(drawn):
            getattr(self, f"_draw_{part}")()

    def _list(self) -> None:
        """Find the combinations to list."""
        self._listed = self.ranked.matching(self.filter)
        if self.of_variants == "selected" and self._among.size:
            self._listed = self._listed[self._has_some()[self._listed]]
        count, filtered = self._count()
        self.count_line.value = html.escape(count)
        text = summary(self.ranked) + left_out(self._arcs)
        self._said = self.status = f"{count}; {text}" if filtered else text

    def _show_card(self) -> None:
        if self.chosen is None:
            self.card.show("", [])
        else:
            self.card.show(self.ranked.title(self.chosen), card_of(self.ranked, self.chosen))

    def _marked(self) -> tuple[int, ...]:
        return () if self.chosen is None else (self.chosen,)

    def _count(self) -> tuple[str, bool]:
        """Return the number of listed combinations in words, and whether some are not listed."""
        text = number(self.ranked.size, "combination")
        conditions = [f"with {self.filter!r}"] if self.filter.split() else []
        if self.of_variants == "selected" and self._among.size:
            conditions.append(f"with one of {number(self._among.size, 'selected variant')}")
        if not conditions:
            return text, False
        return f"{len(self._listed):,} of {text} {' and '.join(conditions)}", True

    def _say_empty(self) -> None:
        self.count_line.value = "0 combinations"
        for view in (self._genome, self._cells, self._marginals, self._permutations):
            view.say("There is no combination to show.")
        self._table.say("The search ranked no combination. A lower min_n or min_count keeps more.")

    def _draw_table(self) -> None:
        self._table.draw(self.ranked, self._listed, self._marked())

    def _draw_genome(self) -> None:
        if self._arcs is None:
            self._genome.say("An arc joins two variants, and these combinations have one.")
        else:
            self._genome.draw(self._arcs, self.chosen)

    def _draw_permutations(self) -> None:
        why = without_permutations(self.ranked)
        if why:
            self._permutations.say(why)
        else:
            self._permutations.draw(self.ranked, self.chosen)

    def _draw_cells(self) -> None:
        why = self._why_no_cells()
        if why:
            self._cells.say(why)
            self._marginals.say(why)
            return
        of_class = self._class()
        self._marginals.draw(self.ranked, self.chosen, of_class)
        if self.ranked.order > MOST_MEMBERS:
            self._cells.say(
                f"Cells of up to {MOST_MEMBERS} variants are drawn, and this combination has "
                f"{self.ranked.order}. The menu Export saves its cells as CSV."
            )
            return
        self._cells.draw(self.ranked, self.chosen, of_class, self._reach())

    def _class(self) -> int:
        """Return the index of the class to draw."""
        return self.classes.index(self.shown_class) if self.classes else -1

    def _reach(self) -> float:
        """Return the range of colours, the same for all combinations."""
        if self.shown_class not in self._reaches:
            self._reaches[self.shown_class] = reach_of(self.ranked, self._class())
        return self._reaches[self.shown_class]

    def _why_no_cells(self) -> str:
        if self.chosen is None:
            return "Click a row or an arc to see the combination."
        if not self.classes and not self.ranked.trait:
            try:
                self.ranked.penetrance(self.chosen)
            except ValueError as error:
                return in_words(error)
        return ""


def _paper(found: Ranked, drawn: Arcs | None, rank: int, of_class: int, reach: float) -> Paper:
    """Return the cells of a combination for a page, below the arcs of all."""
    cells = grids_of(found, [rank], of_class, reach)
    return cells if drawn is None else stacked(arcs_of(drawn, rank), cells)


_STALE_BY_TRAIT: dict[str, set[str]] = {
    "filter": {"table"},
    "of_variants": {"table"},
    "chosen": {"cells", "genome", "permutations"},
    "shown_class": {"cells"},
    "tab": set(),
}
#: Parts that are drawn in each tab.
_PARTS = {"picture": {"cells", "genome"}, "ranking": {"table"}, "permutations": {"permutations"}}
