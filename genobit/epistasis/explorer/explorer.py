"""The epistasis explorer: a ranking, and views of the chosen combination of variants."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import traitlets

from genobit.epistasis.explorer.views import Cells, Genome, Marginals, Permutations, Table
from genobit.epistasis.plots.arcs import arcs
from genobit.epistasis.plots.penetrance import MOST_MEMBERS, reach_of
from genobit.epistasis.plots.ranking import listed, ranking_width, summary, without_permutations
from genobit.epistasis.result import ranked
from genobit.visual.controls import dropdown, linked, row
from genobit.visual.explorer import Explorer
from genobit.visual.files import Export, csv_writer
from genobit.visual.frame import framed
from genobit.visual.jobs import in_words
from genobit.visual.looks import panel, wrapping
from genobit.visual.style import number
from genobit.visual.traits import refuse_unknown

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import xarray as xr

    from genobit.data.selection import Selection


class EpistasisExplorer(Explorer):
    """Widget to explore ranked combinations of variants.

    Parameters
    ----------
    ds
        Dataset that was searched.
    result
        Result of `.genobit.epistasis()`.
    selection
        Selection to share with other explorers; by default a new one. Choosing a combination
        selects its variants.
    **initial
        Initial values of the traits listed under Attributes.

    Attributes
    ----------
    chosen
        Index of the chosen combination, from 0, or None.
    filter
        Words that each listed combination must match, as in `genobit.plots.ranking_table`. The
        default "" lists all.
    shown_class
        Name of the class to draw. The default is the last class: the cases.
    of_variants
        Combinations to list: "all", or "selected" (the default) for combinations with a variant
        that another explorer selected. If no other explorer has selected variants, all
        combinations are listed.

    Raises
    ------
    TypeError
        If `result` is not a Dataset.
    ValueError
        If `result` is not a result of `.genobit.epistasis()`, or belongs to other variants.
    """

    css = "genobit-epistasis"
    chosen: Any = traitlets.Int(None, allow_none=True)
    filter = traitlets.Unicode("")
    shown_class = traitlets.Unicode("")
    of_variants = traitlets.Enum(("all", "selected"), "selected")

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
        self._reach: dict[str, float] = {}
        first: dict[str, Any] = {"chosen": self._first()} if self.ranked.size else {}
        if self.classes:
            first["shown_class"] = self.classes[-1]
        super().__init__(**(first | initial))
        self._arcs = arcs(self.ranked, ds) if self.ranked.size and self.ranked.order > 1 else None
        self._make_parts()
        self.observe(self._on_trait, ["chosen", "filter", "shown_class", "of_variants"])
        self._said = self.status = summary(self.ranked)
        self._draw({"filter", "chosen"})

    def _make_parts(self) -> None:
        self._table = Table(self._home, self._choose)
        self._genome = Genome(self._home, self._choose)
        self._cells = Cells(self._home)
        self._marginals = Marginals(self._home)
        self._permutations = Permutations(self._home)
        self.count_line = ipywidgets.HTML().add_class("genobit-epistasis-count")
        body = [
            wrapping(panel(self._table.box, ranking_width(self.ranked)), self._permutations.box),
            self._genome.box,
            wrapping(self._cells.box, self._marginals.box),
        ]
        self.children = framed(self, [self._make_controls()], body, "epistasis")

    def _make_controls(self) -> ipywidgets.HBox:
        """Return the row of controls, linked to the traits."""
        text = ipywidgets.Text(
            description="filter",
            placeholder="names, contig:, position, contig:from-to",
            tooltip="words that every listed combination has; then Enter",
            continuous_update=False,
            style={"description_width": "initial"},
            layout={"width": "330px"},
        )
        parts = [linked(self, "filter", text)]
        if self.classes:
            names = [(name, name) for name in self.classes]
            offered = dropdown("share of class", names, "190px")
            parts.append(linked(self, "shown_class", offered))
        every = [("all", "all"), ("of selected variants", "selected")]
        parts.append(linked(self, "of_variants", dropdown("combinations", every, "230px")))
        return row(*parts, self.count_line)

    # Selection: variants from other explorers filter the table; this one selects its combination.

    def _first(self) -> int | None:
        """Return the first combination to show: the best that the selection leaves."""
        if not self._among.size:
            return 0
        left = np.flatnonzero(self._has_some())
        return int(left[0]) if len(left) else None

    def _has_some(self) -> np.ndarray:
        """Return which combinations (rank,) hold a variant that another explorer selected."""
        return np.asarray(np.isin(self.ranked.variants, self._among).any(axis=1))

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "variants" and not own:
            self._among = self._places("variants")
            self._draw({"filter"})

    # Tables for users.

    @property
    def ranking(self) -> pd.DataFrame:
        """The listed combinations with all columns."""
        return listed(self.ranked, self._listed)

    @property
    def table(self) -> pd.DataFrame:
        """Cells of the chosen combination: numbers of samples of each class by genotype."""
        if self.chosen is None:
            raise ValueError("no combination is chosen; click a row of the table first")
        return self.ranked.cell_table(self.chosen)

    # Files.

    def save_ranking(self, path: str | Path) -> Path:
        """Write the listed combinations to a new .csv file.

        Returns the absolute path. Raises ValueError if no combination is listed, and
        FileExistsError for an existing file.
        """
        found = self.ranking
        if not len(found):
            raise ValueError("no combination is listed; clear the filter first")
        return self._saved_table(path, found, "combination")

    def save_table(self, path: str | Path) -> Path:
        """Write the cells of the chosen combination to a new .csv file.

        Returns the absolute path. Raises ValueError if no combination is chosen, and
        FileExistsError for an existing file.
        """
        writers = {".csv": csv_writer(self.table)}
        return self._saved(path, writers, f"the cells of rank {self.ranked.ranks[self.chosen]}")

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        cells = "genotypes, and samples of each class, of the chosen combination"
        return (
            Export("ranking (CSV)", "_ranking.csv", self.save_ranking, "the listed combinations"),
            Export("cells (CSV)", "_cells.csv", self.save_table, cells),
            self.page,
        )

    # Validation of traits.

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal: Any) -> int | None:
        value = proposal["value"]
        if value is not None and not 0 <= value < self.ranked.size:
            raise traitlets.TraitError(
                f"chosen={value} is outside the combinations 0 to {self.ranked.size - 1}"
            )
        return value

    @traitlets.validate("shown_class")
    def _check_class(self, proposal: Any) -> str:
        value = str(proposal["value"])
        if self.classes and value not in self.classes:
            raise traitlets.TraitError(
                f"shown_class is {value!r}; use one of {', '.join(map(repr, self.classes))}"
            )
        return value

    # Drawing.

    def _on_trait(self, change: Any) -> None:
        if change["name"] == "chosen" and self.chosen is not None:
            self._select("variants", self.ranked.variants[self.chosen])
        self.try_to(self._draw, {change["name"]})

    def _choose(self, rank: int) -> None:
        self.chosen = rank

    def _draw(self, stale: set[str]) -> None:
        if not self.ranked.size:
            self._say_empty()
            return
        if stale & {"filter", "of_variants"}:
            self._listed = self.ranked.matching(self.filter)
            if self.of_variants == "selected" and self._among.size:
                self._listed = self._listed[self._has_some()[self._listed]]
            self.count_line.value = self._count()
            self._table.draw(self.ranked, self._listed, self._marked())
        if "chosen" in stale:
            self._table.mark(self._marked())
            self._draw_genome()
            self._draw_permutations()
        if stale & {"chosen", "shown_class"}:
            self._draw_combination()

    def _marked(self) -> tuple[int, ...]:
        return () if self.chosen is None else (self.chosen,)

    def _count(self) -> str:
        text = number(self.ranked.size, "combination")
        conditions = [f"with {html.escape(self.filter)!r}"] if self.filter.split() else []
        if self.of_variants == "selected" and self._among.size:
            conditions.append(f"with one of {number(self._among.size, 'selected variant')}")
        if not conditions:
            return f"<b>{text}</b>"
        return f"<b>{len(self._listed):,}</b> of {text} {' and '.join(conditions)}"

    def _say_empty(self) -> None:
        self.count_line.value = "<b>0 combinations</b>"
        for view in (self._genome, self._cells, self._marginals, self._permutations):
            view.say("There is no combination to show.")
        self._table.say(
            "The search ranked no combination: fewer conditions (min_n, min_count) leave more."
        )

    def _draw_genome(self) -> None:
        if self._arcs is None:
            self._genome.say("Arcs are pairs of variants; these are single ones.")
        else:
            self._genome.draw(self._arcs, self.chosen)

    def _draw_permutations(self) -> None:
        why = without_permutations(self.ranked)
        if why:
            self._permutations.say(why)
        else:
            self._permutations.draw(self.ranked, self.chosen)

    def _draw_combination(self) -> None:
        why = self._why_no_cells()
        if why:
            self._cells.say(why)
            self._marginals.say(why)
            return
        of_class = self.classes.index(self.shown_class) if self.classes else -1
        self._marginals.draw(self.ranked, self.chosen, of_class)
        if self.ranked.order > MOST_MEMBERS:
            self._cells.say(
                f"Cells of up to {MOST_MEMBERS} members are drawn, and these are "
                f"{self.ranked.order}; save the table to have all of them."
            )
            return
        if self.shown_class not in self._reach:
            self._reach[self.shown_class] = reach_of(self.ranked, of_class)
        self._cells.draw(self.ranked, self.chosen, of_class, self._reach[self.shown_class])

    def _why_no_cells(self) -> str:
        if self.chosen is None:
            return "Click a row or an arc to see the combination."
        if not self.classes and not self.ranked.trait:
            try:
                self.ranked.penetrance(self.chosen)
            except ValueError as error:
                return in_words(error)
        return ""
