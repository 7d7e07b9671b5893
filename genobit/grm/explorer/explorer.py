"""The relationship explorer: heatmap with tree, components and histogram, and tables."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.grm.explorer.controls import drawer, search, toolbar
from genobit.grm.explorer.data import GRMData
from genobit.grm.explorer.figures import figure_of
from genobit.grm.explorer.tables import (
    card_of,
    component_table,
    listed_in_words,
    matrix_in_words,
    relatives_table,
    sample_table,
)
from genobit.grm.explorer.traits import GRMTraits
from genobit.grm.explorer.views import (
    CARD_TOP,
    Components,
    Heatmap,
    Histogram,
    Kinship,
    Pairs,
    Samples,
    Scatter,
)
from genobit.grm.plots.result import measure_of
from genobit.pca.plots.scatter import pca_scatter
from genobit.visual.colouring import Colouring, colouring
from genobit.visual.explorer.files import Export
from genobit.visual.explorer.frame import PICTURE, framed
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.jobs import in_words
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.explorer.view import drawn
from genobit.visual.looks import wrapping
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import xarray as xr

    from genobit.data.autosomes import Autosomes
    from genobit.data.selection import Selection
    from genobit.grm.plots.heatmap import OrderedMatrix
    from genobit.visual.figure import Figure


class GRMExplorer(GRMTraits):
    """Widget to explore relationships: heatmap with a clustering tree, components, closest pairs.

    Parameters
    ----------
    ds
        Genotypes, packed or not. With `grm` and `pcs`, the dimension `samples` is enough.
    grm
        Initial relationship matrix, for example from `genobit.open_gcta()`. By default the matrix
        of `method` is computed.
    pcs
        Principal components. By default `.genobit.pca()` is computed.
    selection
        Selection to share with other explorers; by default a new one.
    autosomes
        Chromosomes to use for relationships and components, as for `.genobit.grm()`.
    **initial
        Initial values of the traits listed under Attributes, such as ``method="king"``.

    Attributes
    ----------
    method
        A method of `.genobit.grm()`, or "given" for the matrix ``grm``.
    colour_by
        Name of a variable of the samples, "" for none. The default is ``sample_population``, if it
        exists.
    component_x, component_y
        Principal components of the scatter plot, counted from 1.
    selected
        Positions of the selected samples along `samples`, ascending. Ids or a mask set them too.
    shown
        Samples that the heatmap shows, as positions along `samples`; None for all. Ids or a mask
        set them too.
    between
        Range (low, high) of the relationships listed in the table, None for all.
    pairs_of
        Pairs to list in the table. "all" lists all pairs, "any" the pairs with at least one
        selected sample, and "both" the pairs of two selected samples.
    pairs_as
        Plot of pairs: "histogram" of the relationships, or "kinship": KING kinship against the
        share of opposite homozygotes. "kinship" ignores `of_variants` and uses all `autosomes`.
    of_variants
        Variants to use for relationships: "all", or "selected" for the selected variants only.
        Principal components and a given matrix always use all variants.
    tab
        Tab in view: the "picture", or the table of "relatives" (the closest pairs), "samples" or
        "components".

    Raises
    ------
    ValueError
        If there are no samples, if both genotypes and `grm` are missing, or if `grm` or `pcs`
        belong to other samples.
    """

    def __init__(
        self,
        ds: xr.Dataset,
        grm: xr.DataArray | None = None,
        pcs: xr.Dataset | None = None,
        selection: Selection | None = None,
        *,
        autosomes: Autosomes = True,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, ds)
        self.relations = relations = GRMData(ds, grm, pcs, autosomes=autosomes)
        self.methods = relations.methods
        self._all: OrderedMatrix | None = None
        self._view: OrderedMatrix | None = None
        self._components: xr.Dataset | None = None
        self._drawn: tuple[Any, ...] = ()
        self._from_table, self._undrawn = False, set[str]()
        self._stale = {"compute", "components", "selection", "pairs"}
        initial.setdefault("method", self.methods[0])
        if "sample_population" in relations.variables:
            initial.setdefault("colour_by", "sample_population")
        if relations.n_components < 2:
            initial.setdefault("component_y", 1)
        super().__init__(**initial)
        self._given = {
            "grm": grm,
            "pcs": pcs,
            "autosomes": None if autosomes is True else autosomes,
        }
        if self.selected:
            self._select("samples", self.selected)
        else:
            self._follow_quietly("samples", own=False)
        self._listed_of = self.selected
        self._later = Throttled(self._home, self.refresh)
        self._make_parts()
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self.refresh()

    def _make_parts(self) -> None:
        self._heatmap = Heatmap(self._home, self._choose)
        self._scatter = Scatter(self._home, self._choose)
        self._histogram = Histogram(self._home, self._choose_range)
        self._table = Pairs(self._home, self._choose_in_table)
        self._table_line = ipywidgets.HTML().add_class("genobit-grm-table-line")
        self._samples = Samples(self._home, self._choose)
        self._component_list = Components(self._home)
        self._kinship = Kinship(self._home, self._choose)
        beside = ipywidgets.VBox([self._scatter.box, self._histogram.box, self._kinship.box])
        beside.layout.flex, beside.layout.min_width = "1 1 250px", "0"
        tabs = {
            PICTURE: wrapping(self._heatmap.box, beside),
            "relatives": ipywidgets.VBox([self._table_line, self._table.box]),
            "samples": self._samples.box,
            "components": self._component_list.box,
        }
        self.children = framed(
            self, toolbar(self), drawer(self), tabs, "relationships", search(self)
        )
        self.card.layout.top, self.card.layout.bottom = f"{CARD_TOP}px", "auto"

    # Files.

    def save_pairs(self, path: str | Path) -> Path:
        """Write the listed pairs to a new .csv file.

        Returns the absolute path. Raises ValueError if no pair is listed, and FileExistsError for
        an existing file.
        """
        table = self._table.table
        if table is None or not len(table):
            raise ValueError("no pair is listed; wait, or choose another range")
        return self._saved_table(path, table, "pair")

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        return (
            *self.papers,
            Export(
                "selected samples (ids)", ".txt", self.save, "a line per sample, for plink --keep"
            ),
            Export("listed pairs (CSV)", ".csv", self.save_pairs, "the pairs of the table"),
            Export("matrix (Zarr)", ".zarr", self.save_matrix, "relationships of all pairs"),
            Export("matrix (NetCDF)", ".nc", self.save_matrix, "relationships of all pairs"),
            self.page,
        )

    def figure(self) -> Figure:
        """Return the picture in view as a figure for papers.

        The figure has the matrix, the components and the kinship of all samples. Before the
        components are computed, it has only the matrix. The same holds for fewer than three
        samples, a heatmap of a part of the samples, and a Dataset without genotypes.
        """
        return figure_of(self, drawn(self._view), self._components, self._colouring())

    # Observers of traits and of the selection.

    def _on_trait(self, change: Any) -> None:
        if change["name"] == "selected":
            self._select("samples", self.selected)
            if not self._from_table:
                self._listed_of = self.selected
        self._home.run(self._mark, set(_STALE_BY_TRAIT[change["name"]]))

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "samples" and not own:
            self.selected = tuple(self._places("samples").tolist())
        elif kind == "variants" and self.of_variants == "selected":
            self._mark({"compute"})

    # Computing on a worker thread, drawing on the home thread.

    def refresh(self) -> None:
        """Compute and draw all stale parts; the widget calls this after every change."""
        stale, self._stale = self._stale, set()
        if "compute" in stale:
            self._compute()
        if "components" in stale:
            self._work("principal components", self.relations.components, self._got_components)
        if stale & {"pairs", "colour"}:
            self._turn_pairs()
        elif "selection" in stale:
            self._kinship.mark(self.selected)
        if self._components is not None and stale & {"scatter", "selection"}:
            self._try(self._draw_scatter, self._components, stale)
        if self._all is not None and "compute" not in stale:
            self._try(self._draw_pairs, self._all, stale)

    def _compute(self) -> None:
        relations, shown = self.relations, self.shown
        wanted = method, variants = self.method, self.chosen_variants()

        def work() -> tuple[OrderedMatrix, OrderedMatrix] | None:
            if not self._wants(wanted, shown):
                return None  # the traits have changed since
            every = self._all if self._drawn == wanted else None
            every = every or relations.arranged(*wanted, None)
            return every, every if shown is None else relations.arranged(*wanted, shown)

        what = f"{relations.label_of(method)} of {number(relations.n_samples, 'sample')}"
        if variants:
            what += f" over {number(len(variants), 'selected variant')}"
        self._work(what, work, partial(self._got_matrix, wanted, shown))

    def _wants(self, wanted: tuple[Any, ...], shown: tuple[int, ...] | None) -> bool:
        return (*wanted, shown) == (self.method, self.chosen_variants(), self.shown)

    def _got_matrix(
        self, wanted: tuple[Any, ...], shown: tuple[int, ...] | None, result: Any, seconds: float
    ) -> None:
        if result is None or not self._wants(wanted, shown):
            return
        if isinstance(result, Exception):
            self._all, self._drawn, self._said = None, (), f"Error: {in_words(result)}"
            for view in (self._heatmap, self._histogram, self._table, self._samples):
                view.say("There is nothing to draw: see the message below.")
            self._table_line.value = ""
            self.card.show("", [])
            return
        self._all, self._view = every, _ = result
        self._drawn = wanted
        self._said = f"{matrix_in_words(self, every)}; ready in {seconds:.1f} s"
        self._draw_pairs(every, {"matrix"})

    def _got_components(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            for view in (self._scatter, self._component_list):
                view.say(f"No principal components: {in_words(result)}")
            return
        self._components = result
        self._component_list.draw(component_table(result))
        self._draw_scatter(result, {"scatter"})

    def _turn_pairs(self) -> None:
        """Show the plot of pairs that is wanted, and compute it if it is of kinship."""
        for name, view in (("histogram", self._histogram), ("kinship", self._kinship)):
            view.box.layout.display = "flex" if name == self.pairs_as else "none"
        if self.pairs_as == "kinship":
            work = partial(self.relations.kinship_plot, self._strip())
            self._work("KING kinship", work, self._got_kinship)

    def _got_kinship(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._kinship.say(f"No KING kinship: {in_words(result)}")
        else:
            self._kinship.draw(result, self.selected)

    def _colouring(self) -> Colouring:
        nothing = np.zeros(self.relations.n_samples)
        return colouring(self.colour_by, self.relations.variables.get(self.colour_by, nothing))

    def _strip(self) -> Colouring | None:
        return self._colouring() if self.colour_by else None

    def _draw_scatter(self, components: xr.Dataset, stale: set[str]) -> None:
        if "scatter" in stale:
            picture = pca_scatter(
                components,
                x=self.component_x,
                y=self.component_y,
                colour_by=self._colouring(),
                names=self.relations.names,
            )
            self._scatter.draw(picture)
        self._scatter.mark(self.selected)

    def _draw_pairs(self, every: OrderedMatrix, stale: set[str]) -> None:
        if "matrix" in stale:
            self._histogram.draw(every.pairs, measure_of(every.matrix), self.between)
        elif "range" in stale:
            self._histogram.mark(self.between)
        if stale & {"matrix", "colour"}:
            shown = np.arange(self.relations.n_samples) if self.shown is None else self.shown
            self._heatmap.draw(drawn(self._view), np.asarray(shown), self._strip(), self.selected)
        elif "selection" in stale:
            self._heatmap.mark(self.selected)
        listed_anew = stale & {"matrix", "range", "listed"}
        if listed_anew:
            self._listed_of = self.selected
        if listed_anew or ("selection" in stale and self.pairs_of != "all"):
            self._list_pairs(every)
            self._undrawn.add("relatives")
        if "matrix" in stale:
            self._undrawn.add("samples")
        self._draw_tab()
        self.card.show(*card_of(self, every))
        for view in (self._histogram, self._kinship):
            view.leave_room(raised=bool(self.selected))

    def _draw_tab(self) -> None:
        """Draw the table in view if it is stale, and mark the selection in it."""
        if self.tab == "relatives":
            if self.tab in self._undrawn:
                self._table.draw(self.selected)
            self._table.mark(self.selected)
        elif self.tab == "samples":
            if self.tab in self._undrawn:
                self._samples.draw(sample_table(self.relations, drawn(self._all)), self.selected)
            self._samples.mark(self.selected)
        self._undrawn.discard(self.tab)

    # The table of pairs, and the selection.

    def _list_pairs(self, every: OrderedMatrix) -> None:
        self._table.table = table = relatives_table(self, every, self._listed_of)
        text = listed_in_words(self, int(table.attrs["found"]), self._listed_of)
        self._table_line.value = html.escape(text)

    def _choose(self, samples: Iterable[int]) -> None:
        self.selected = tuple(samples)

    def _choose_in_table(self, samples: Iterable[int]) -> None:
        # Keep the list as it is, so that a clicked row does not move.
        self._from_table = True
        try:
            self._choose(samples)
        finally:
            self._from_table = False

    def _choose_range(self, between: tuple[float, float] | None) -> None:
        self.between = between


_STALE_BY_TRAIT = {
    "method": {"compute"},
    "shown": {"compute"},
    "colour_by": {"scatter", "colour"},
    "component_x": {"scatter"},
    "component_y": {"scatter"},
    "selected": {"selection"},
    "between": {"range"},
    "pairs_of": {"listed"},
    "of_variants": {"compute"},
    "tab": {"tab"},
    "pairs_as": {"pairs"},
}
