"""The Kendall explorer: a threshold with linked network, heatmap, edge table and scatter plot."""

from __future__ import annotations

import html
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.kendall.explorer.data import KendallData, Scene
from genobit.kendall.explorer.traits import THRESHOLD, KendallTraits, kendall_controls
from genobit.kendall.explorer.views import Edges, Heatmap, Histogram, Network, Pair, Scatter
from genobit.kendall.plots.edges import LISTED, strongest_edges
from genobit.kendall.plots.heatmap import pair_scatter
from genobit.kendall.plots.network import colours_of
from genobit.visual.colouring import Colouring, colouring
from genobit.visual.explorer import in_words
from genobit.visual.files import Export, csv_writer
from genobit.visual.frame import framed
from genobit.visual.home import Throttled
from genobit.visual.looks import panel, wrapping
from genobit.visual.style import number
from genobit.visual.traits import refuse_unknown
from genobit.visual.view import drawn

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from pathlib import Path

    import xarray as xr

    from genobit.data.pairs import network
    from genobit.data.pairs.table import PairTable
    from genobit.data.selection import Selection
    from genobit.kendall.explorer.candidates import Candidates
    from genobit.visual.files import Writers

#: Debounce of the threshold in seconds, before its network is arranged and drawn.
REST = 0.15
_FORMATS = {
    ".csv": "CSV",
    ".graphml": "GraphML",
    ".cyjs": "Cytoscape JSON",
    ".parquet": "Parquet",
}


class KendallExplorer(KendallTraits):
    """Widget to explore correlated variables.

    Parameters
    ----------
    data
        DataArray of variables and observations, or Dataset of genotypes, packed or not.
    pairs
        Result of `.genobit.kendall_pairs()` on the same data; by default it is computed.
    dim
        Dimension of the observations, as for `.genobit.kendall()`.
    selection
        Selection to share with other explorers; by default a new one. If the variables are
        variants, the chosen pair becomes the selection. A selection of two variants becomes the
        chosen pair.
    **initial
        Initial values of the traits listed under Attributes.

    Attributes
    ----------
    threshold_by
        Criterion for edges: "tau" (`threshold`, the default) or "fdr".
    threshold
        Smallest absolute tau of an edge. The default is 0.6. It is higher if more than 20,000 edges
        pass, and lower if none passes.
    fdr
        Largest q-value of an edge; by default 0.01.
    floor
        Smallest absolute tau of the candidate edges, set by the widget. Weaker edges are never
        shown.
    colour_by
        Label of the variables that colours the nodes; "" colours them by community.
    colour_points_by
        Label of the observations that colours the points; "" for none.
    pair
        The two variables that the scatter plot shows, counted from 0 and ascending, or None.
    variable
        Position of the variable whose edges the table lists, or None for all.
    opened
        Positions of the variables of the opened community, or None for all.

    Raises
    ------
    ValueError
        For fewer than two variables, or if `pairs` belongs to other data.
    """

    def __init__(
        self,
        data: xr.DataArray | xr.Dataset,
        pairs: PairTable | network.Network | None = None,
        dim: Hashable | None = None,
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, data)
        self.correlated = KendallData(data, pairs, dim)
        self._asked = "threshold" in initial
        self._candidates: Candidates | None = None
        self._rows = np.empty(0, dtype="i8")
        self._scene: Scene | None = None
        self._wanted: object = None
        self._pair_found: tuple[Any, ...] | None = None
        self._stale = {"candidates", "pair"}
        super().__init__(**initial)
        if self.pair is None:
            self._follow_quietly("variants", own=False)
        else:
            self._select("variants", self.pair)
        self._later = Throttled(self._home, self.refresh)
        self._make_parts()
        self.observe(self._on_trait, list(_STALE_BY_TRAIT))
        self.refresh()

    def _make_parts(self) -> None:
        choose = self._choose
        self._network = Network(self._home, choose, self._choose_variable, self._open)
        self._heatmap = Heatmap(self._home, choose)
        self._histogram = Histogram(self._home)
        self._scatter = Scatter(self._home)
        self._table = Edges(self._home, self.correlated.row, choose)
        self.count_line = ipywidgets.HTML().add_class("genobit-kendall-count")
        self._table_line = ipywidgets.HTML().add_class("genobit-kendall-table-line")
        lists = ipywidgets.VBox([self._histogram.box, self._table_line, self._table.box])
        body = [
            wrapping(self._network.box, self._heatmap.box),
            wrapping(panel(lists, 520), self._scatter.box),
        ]
        self.children = framed(self, kendall_controls(self), body, "kendall_edges")

    # Files.

    def save(self, path: str | Path) -> Path:
        """Write the edges that pass the threshold to a new file.

        The path ends in .csv, .graphml, .cyjs or .json (Cytoscape), or .parquet. Returns the
        absolute path. Raises ValueError if there is no edge, and FileExistsError for an existing
        file.
        """
        pairs = self.pairs
        if not len(pairs):
            raise ValueError("there is no edge to save; lower the threshold first")
        table = pairs.to_dataframe()
        writers: Writers = {
            ".csv": csv_writer(table),
            ".graphml": pairs.to_graphml,
            ".cyjs": pairs.to_cytoscape,
            ".json": pairs.to_cytoscape,
            ".parquet": partial(table.to_parquet, index=False),
        }
        return self._saved(path, writers, number(len(pairs), "edge"))

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        edges = "the edges of the threshold"
        formats = _FORMATS.items()
        return (
            *(Export(f"edges ({text})", ending, self.save, edges) for ending, text in formats),
            self.page,
        )

    # Observers of traits and of the selection: a pair is two variants, points are samples.

    def _on_trait(self, change: Any) -> None:
        self._asked |= change["name"] == "threshold"
        if change["name"] == "pair":
            self._select("variants", self.pair or ())
        self._home.run(self._mark, set(_STALE_BY_TRAIT[change["name"]]))

    def _follow(self, kind: str, *, own: bool) -> None:
        if kind == "samples":
            if self._pair_found is not None:
                self._scatter.mark(self._marked_samples())
            return
        selected = self._places("variants")
        if not own and len(selected) == 2:
            self.pair = tuple(selected.tolist())
        elif self._scene is not None:
            self._network.mark(self.pair, selected.tolist())

    def _marked_nodes(self) -> list[int]:
        return self._places("variants").tolist()

    def _observed(self) -> np.ndarray:
        """Return the positions of the observations in the scatter plot."""
        _, x, y, *_ = drawn(self._pair_found)
        values = np.asarray([x.values, y.values], dtype="f8")
        return np.flatnonzero(~np.isnan(values).any(axis=0))

    def _marked_samples(self) -> list[int]:
        drawn = np.isin(self._observed(), self._places("samples"))
        return np.flatnonzero(drawn).tolist()

    def _choose_samples(self, points: Sequence[int]) -> None:
        chosen = self._observed()[list(points)].tolist()
        self._select("samples", chosen)

    # Computation in a worker thread; drawing on the event loop.

    def refresh(self) -> None:
        """Compute and draw all stale parts; the widget calls this after every change."""
        stale, self._stale = self._stale, set()
        if "candidates" in stale:
            what = f"τ of all pairs of {number(self.correlated.n_variables, 'variable')}"
            self._work(what, self.correlated.candidates, self._got_candidates)
        if self._candidates is not None:
            if stale & {"edges", "scene"}:
                self._try(self._cut if "edges" in stale else self._ask_scene, self._candidates)
            elif self._scene is not None:
                self._try(self._draw_scene, self._scene, stale)
        if stale & {"pair", "points"}:
            self._try(self._ask_pair if "pair" in stale else self._draw_pair)

    def _got_candidates(self, result: Any, seconds: float) -> None:
        if isinstance(result, Exception):
            self._said = f"Error: {in_words(result)}"
            self._say_in_all("There is nothing to draw: see the message above.")
            return
        self._candidates = held = result
        self.has_fdr = held.qvalue is not None
        self.floor = held.floor
        if not self._asked or self.threshold < held.floor:
            self.threshold = held.first_look(THRESHOLD if not self._asked else held.floor)
        text = f"{number(held.tested, 'pair')} tested, {number(len(held.strength), 'edge')} held"
        if held.floor:
            text += f": all of |τ| ≥ {held.floor:.2f}, weaker ones are not shown"
        self._said = f"{text}; ready in {seconds:.1f} s"
        self._cut(held)

    def _cut(self, held: Candidates) -> None:
        """Count the edges that pass the threshold and request their network."""
        self._rows = self._found(held)
        if not len(self._rows):
            self._say_empty(held)
            return
        degree = held.degree(self._rows)
        self.count_line.value = (
            f"<b>{number(len(self._rows), 'edge')}</b> of "
            f"{number(int(np.count_nonzero(degree)), 'variable')}, {self._condition()}"
        )
        self._histogram.draw(degree)
        self._ask_scene(held)

    def _condition(self) -> str:
        if self.threshold_by == "tau":
            return f"|τ| ≥ {self.threshold:.2f}"
        text = f"FDR ≤ {self.fdr:.2g}"
        return f"{text} and |τ| ≥ {self.floor:.2f}" if self.floor else text

    def _say_empty(self, held: Candidates) -> None:
        self._scene, self._wanted = None, None
        self.count_line.value = f"<b>0 edges</b>, {self._condition()}"
        by_tau = self.threshold_by == "tau"
        self._say_in_all(held.why_none(self.threshold if by_tau else None, self.fdr))

    def _say_in_all(self, text: str) -> None:
        self._network.say(text)
        for view in (self._heatmap, self._histogram, self._table):
            view.say("There is no edge to show.")
        self._table_line.value = ""

    def _ask_scene(self, held: Candidates) -> None:
        self._wanted = wanted = object()
        rows, opened = self._rows, self.opened

        def work() -> tuple[object, Scene | None]:
            # A moving slider updates only the counts, so check again after it has rested.
            if wanted is self._wanted and self._home.loop is not None:
                time.sleep(REST)
            if wanted is not self._wanted:
                return wanted, None
            return wanted, self.correlated.scene(held.table(rows), opened)

        self._work("the network", work, self._got_scene)

    def _got_scene(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            raise result
        wanted, scene = result
        if wanted is self._wanted and scene is not None:
            self._scene = scene
            self._draw_scene(scene, {"colour", "heatmap", "listed"})

    def _draw_scene(self, scene: Scene, stale: set[str]) -> None:
        if "colour" in stale:
            self._network.select(self._marked_nodes())
            labels = self.correlated.variable_labels
            chosen = colouring(self.colour_by, labels[self.colour_by]) if self.colour_by else None
            self._network.draw(scene.laid, colours_of(scene.shown, chosen), self.pair)
        elif "pair" in stale:
            self._network.mark(self.pair, self._marked_nodes())
        if "heatmap" in stale:
            self._heatmap.draw(scene.ordered, scene.heatmap, self.pair)
        elif "pair" in stale:
            self._heatmap.mark(self.pair)
        if "listed" in stale:
            self._list_edges(scene)
        elif "pair" in stale:
            self._table.mark(self.pair or ())

    def _list_edges(self, scene: Scene) -> None:
        links, whose = scene.shown, "" if self.opened is None else " of this community"
        if self.variable is not None:
            links = scene.links.of_variable(self.variable)
            whose = f" of {self.correlated.names[self.variable]}"
        self._table.draw(strongest_edges(links.pairs), self.pair)
        text = f"{number(len(links.pairs), 'edge')}{whose}"
        if len(links.pairs) > LISTED:
            text += f", the {LISTED} strongest"
        self._table_line.value = html.escape(text)

    # The pair in the scatter plot.

    def _ask_pair(self) -> None:
        pair, known = self.pair, self.correlated
        if pair is None:
            self._scatter.say("Click an edge, a cell or a row to see its two variables.")
            return

        scene = self._scene

        def work() -> tuple[Any, ...]:
            found = None if scene is None else scene.pair(pair)
            if found is None:  # The pair has too few edges for the heatmap.
                found = known.tau(np.asarray(pair))[{f"{known.variable}_{k}": k for k in (0, 1)}]
            values = [known.values(place) for place in pair]
            return pair, *values, float(found["tau"]), float(found["pvalue"])

        self._work("the scatter", work, self._got_pair)

    def _got_pair(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            raise result
        if result[0] == self.pair:
            self._pair_found = result
            self._draw_pair()

    def _draw_pair(self) -> None:
        if self._pair_found is None:
            return
        _, x, y, tau, pvalue = self._pair_found
        name = self.colour_points_by
        chosen: Colouring | None = None
        if name:
            chosen = colouring(name, self.correlated.observation_labels[name])
        picture = pair_scatter(x, y, tau=tau, pvalue=pvalue, colour_by=chosen)
        self._scatter.draw(picture, self._marked_samples(), self._choose_samples)

    def _choose(self, pair: Pair) -> None:
        self.pair = pair

    def _choose_variable(self, place: int) -> None:
        self.variable = place

    def _open(self, members: tuple[int, ...]) -> None:
        self.opened = members


_STALE_BY_TRAIT = {
    "threshold_by": {"edges"},
    "threshold": {"edges"},
    "fdr": {"edges"},
    "colour_by": {"colour"},
    "colour_points_by": {"points"},
    "pair": {"pair"},
    "variable": {"listed"},
    "opened": {"scene"},
}
