"""The relationship explorer: heatmap with tree, components, histogram and closest pairs."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.grm.explorer.data import GIVEN, GRMData
from genobit.grm.explorer.traits import GRMTraits, grm_controls, pair_filter
from genobit.grm.explorer.views import Heatmap, Histogram, Pairs, Scatter
from genobit.grm.plots.heatmap import OrderedMatrix
from genobit.grm.plots.kinship import list_pairs
from genobit.grm.plots.result import measure_of
from genobit.pca.plots.scatter import pca_scatter
from genobit.visual.colouring import Colouring, colouring
from genobit.visual.files import Export, dataset_writers
from genobit.visual.frame import framed
from genobit.visual.home import Throttled
from genobit.visual.jobs import in_words
from genobit.visual.looks import panel, wrapping
from genobit.visual.style import number
from genobit.visual.traits import refuse_unknown
from genobit.visual.view import drawn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import xarray as xr

    from genobit.data.autosomes import Autosomes
    from genobit.data.selection import Selection

#: Most pairs in the table; `grm_pairs()` lists all.
LISTED = 200
#: File endings for lists of samples.
_OF_IDS = (".txt", ".id", ".keep")


class GRMExplorer(GRMTraits):
    """Widget to explore the relationships of samples.

    Parameters
    ----------
    ds
        Genotypes, packed or not. If `grm` and `pcs` are given, `ds` needs only samples.
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
        Initial values of the traits listed under Attributes.

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
        Positions of the selected samples along `samples`, ascending.
    shown
        Samples that the heatmap shows, as positions along `samples`; None for all.
    between
        Range (low, high) of the relationships listed in the table, None for all.
    pairs_of
        Pairs to list in the table. "all" lists all pairs, "any" the pairs with at least one
        selected sample, and "both" the pairs of two selected samples.
    of_variants
        Variants to use for relationships: "all", or "selected" for the selected variants only.
        Principal components and a given matrix always use all variants.

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
        self._from_table = False
        self._stale = {"compute", "components", "selection"}
        initial.setdefault("method", self.methods[0])
        if "sample_population" in relations.variables:
            initial.setdefault("colour_by", "sample_population")
        if relations.n_components < 2:
            initial.setdefault("component_y", 1)
        super().__init__(**initial)
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
        table = ipywidgets.VBox([pair_filter(self), self._table_line, self._table.box])
        body = [
            wrapping(self._heatmap.box, self._scatter.box),
            wrapping(self._histogram.box, panel(table, 400)),
        ]
        self.children = framed(self, grm_controls(self), body, "relationships")

    # Files.

    def save(self, path: str | Path) -> Path:
        """Write the ids of the selected samples to a new text file, as `plink --keep` reads them.

        The suffix is .txt, .id or .keep. Returns the absolute path. Raises ValueError if nothing is
        selected, and FileExistsError for an existing file.
        """
        if not self.selected:
            raise ValueError("nothing is selected; draw a lasso round samples first")
        write = partial(self.relations.write_ids, self.selected)
        return self._saved(
            path, dict.fromkeys(_OF_IDS, write), number(len(self.selected), "sample id")
        )

    def save_matrix(self, path: str | Path) -> Path:
        """Write the relationships of all samples to a new .zarr or .nc file.

        Returns the absolute path. Raises FileExistsError for an existing file.
        """
        matrix = self.matrix
        what = f"the relationships of {number(self.relations.n_samples, 'sample')}"
        return self._saved(path, dataset_writers(matrix.to_dataset(name=matrix.name)), what)

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
            Export("selected samples (ids)", ".txt", self.save, "a sample a line, as plink --keep"),
            Export("listed pairs (CSV)", ".csv", self.save_pairs, "the pairs of the table"),
            Export("matrix (Zarr)", ".zarr", self.save_matrix, "relationships of all pairs"),
            Export("matrix (NetCDF)", ".nc", self.save_matrix, "relationships of all pairs"),
            self.page,
        )

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
        if self._components is not None and stale & {"scatter", "selection"}:
            self._try(self._draw_scatter, self._components, stale)
        if self._all is not None and "compute" not in stale:
            self._try(self._draw_pairs, self._all, stale)

    def _compute(self) -> None:
        relations, shown = self.relations, self.shown
        wanted = method, variants = self.method, self._chosen_variants()

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
        return (*wanted, shown) == (self.method, self._chosen_variants(), self.shown)

    def _got_matrix(
        self, wanted: tuple[Any, ...], shown: tuple[int, ...] | None, result: Any, seconds: float
    ) -> None:
        if result is None or not self._wants(wanted, shown):
            return
        if isinstance(result, Exception):
            self._all, self._drawn, self._said = None, (), f"Error: {in_words(result)}"
            for view in (self._heatmap, self._histogram, self._table):
                view.say("There is nothing to draw: see the message above.")
            self._table_line.value = ""
            return
        self._all, self._view = every, _ = result
        self._drawn = wanted
        self._said = self._in_words(every, seconds)
        self._draw_pairs(every, {"matrix"})

    def _in_words(self, every: OrderedMatrix, seconds: float) -> str:
        text = f"{measure_of(every.matrix).label}: {number(every.n_samples, 'sample')}, "
        text += number(len(every.pairs), "pair")
        variants = every.matrix.attrs.get("variants")
        if variants is not None:
            text += f" over {number(int(variants), 'variant')}"
        left_out = int(every.matrix.attrs.get("variants_left_out", 0))
        if left_out:
            text += f" ({left_out:,} on {every.matrix.attrs['contigs_left_out']} left out)"
        if self.of_variants == "selected" and not self._chosen_variants():
            text += " (as given)" if self.method == GIVEN else " (none is selected, so all)"
        if every.tree.without:
            text += f", {number(every.tree.without, 'sample')} without a value"
        return f"{text}; ready in {seconds:.1f} s"

    def _got_components(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            self._scatter.say(f"No principal components: {in_words(result)}")
            return
        self._components = result
        self._draw_scatter(result, {"scatter"})

    def _colouring(self) -> Colouring:
        nothing = np.zeros(self.relations.n_samples)
        return colouring(self.colour_by, self.relations.variables.get(self.colour_by, nothing))

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
            strip = self._colouring() if self.colour_by else None
            self._heatmap.draw(drawn(self._view), np.asarray(shown), strip, self.selected)
        elif "selection" in stale:
            self._heatmap.mark(self.selected)
        listed_anew = stale & {"matrix", "range", "listed"}
        if listed_anew or ("selection" in stale and self.pairs_of != "all"):
            self._list_pairs(every)
        self._table.mark(self.selected)

    # The table of pairs, and the selection.

    def _list_pairs(self, every: OrderedMatrix) -> None:
        of = None
        if self.pairs_of != "all" and self._listed_of:
            of = np.zeros(self.relations.n_samples, dtype=bool)
            of[list(self._listed_of)] = True
        table = list_pairs(
            every.matrix,
            every.pairs,
            limit=LISTED,
            between=self.between,
            of=of,
            both=self.pairs_of == "both",
        )
        self._table.draw(table, self.selected)
        n_found = int(table.attrs["found"])
        text = number(n_found, "pair") + (f", the {LISTED} closest" if n_found > LISTED else "")
        if self.between is not None:
            text += f", from {self.between[0]:.4g} to {self.between[1]:.4g}"
        if self.pairs_of != "all" and of is None:
            text += "; nothing is selected, so of all samples"
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
}
