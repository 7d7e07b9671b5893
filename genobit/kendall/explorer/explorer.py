"""The Kendall explorer: a threshold with linked network, heatmap, edge table and scatter plot."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.kendall.explorer.card import pair_rows, variable_rows
from genobit.kendall.explorer.data import KendallData, PairValues, Scene
from genobit.kendall.explorer.files import KendallFiles
from genobit.kendall.explorer.panels import Caption, listed_in_words, side_by_side
from genobit.kendall.explorer.traits import THRESHOLD, drawer, search, toolbar
from genobit.kendall.explorer.views import (
    Edges,
    Heatmap,
    Histogram,
    Network,
    Pair,
    Scatter,
    Variables,
)
from genobit.kendall.plots.edges import LISTED, strongest_edges
from genobit.kendall.plots.heatmap import pair_scatter
from genobit.kendall.plots.network import colours_of
from genobit.kendall.plots.nodes import nodes_table
from genobit.visual.colouring import Colouring, colouring
from genobit.visual.explorer.card import Card
from genobit.visual.explorer.frame import PICTURE, framed
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.jobs import in_words
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.explorer.view import drawn
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import xarray as xr

    from genobit.data.pairs import network
    from genobit.data.pairs.table import PairTable
    from genobit.data.selection import Selection
    from genobit.kendall.explorer.candidates import Candidates

#: Debounce of the threshold in seconds, before its network is arranged and drawn.
REST = 0.15


class KendallExplorer(KendallFiles):
    """Widget to explore rank correlations: a threshold, and the network of pairs above it.

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
        Initial values of the traits listed under Attributes, such as ``threshold=0.8``.

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
        The two variables that the scatter plot shows, counted from 0 and ascending, or None. Their
        names set them too.
    variable
        Position of the chosen variable, or None. Its name sets it too. The chosen variable has a
        ring, and the table lists only its edges.
    opened
        Positions of the variables of the opened community, or None for all. Names set them too.
    tab
        Tab in view: the "picture", or the table of the "edges" or of the "variables".

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
        self._pair_found: PairValues | None = None
        self._chosen_last = "pair"
        self._stale = {"candidates", "pair"}
        super().__init__(**initial)
        self._given = {"pairs": pairs, "dim": dim}
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
        self._variables = Variables(self._home, self._choose_variable)
        self.count_line, self._heatmap_line = Caption("count"), Caption("heatmap-line")
        self._table_line, self._variables_line = Caption("table-line"), Caption("variables-line")
        # Over the network, the card would cover variables.
        card = Card(self.css).add_class("genobit-docked")
        tabs = {
            PICTURE: side_by_side(
                [self.count_line, self._network.box],
                self._heatmap_line,
                self._heatmap.box,
                [card, self._histogram.box, self._scatter.box],
            ),
            "edges": ipywidgets.VBox([self._table_line, self._table.box]),
            "variables": ipywidgets.VBox([self._variables_line, self._variables.box]),
        }
        name = "kendall_edges"
        self.children = framed(self, toolbar(self), drawer(self), tabs, name, search(self), card)

    # Observers of traits and of the selection: a pair is two variants, points are samples.

    def _on_trait(self, change: Any) -> None:
        self._asked |= change["name"] == "threshold"
        if change["name"] in ("pair", "variable"):
            self._chosen_last = change["name"]
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
        elif not own and "variants" in self._names and not len(selected):
            self.pair = None
        elif self._scene is not None:
            self._network.mark(self.pair, self._marked_nodes())

    def _marked_nodes(self) -> list[int]:
        chosen = [] if self.variable is None else [self.variable]
        return [*self._places("variants").tolist(), *chosen]

    def _marked_samples(self) -> list[int]:
        shown = np.isin(drawn(self._pair_found).observed, self._places("samples"))
        return np.flatnonzero(shown).tolist()

    def _choose_samples(self, points: Sequence[int]) -> None:
        self._select("samples", drawn(self._pair_found).observed[list(points)].tolist())

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
        if "variable" in stale:
            self._try(self._show_card)

    def _got_candidates(self, result: Any, seconds: float) -> None:
        if isinstance(result, Exception):
            self._said = f"Error: {in_words(result)}"
            self._say_in_all("There is nothing to draw: see the message below.", "")
            return
        self._candidates = held = result
        self.has_fdr = held.qvalue is not None
        self.floor = held.floor
        if not self._asked or self.threshold < held.floor:
            self.threshold = held.first_look(THRESHOLD if not self._asked else held.floor)
        text = f"{number(held.tested, 'pair')} tested"
        if held.floor:
            kept = f"{len(held.strength):,} of |τ| ≥ {held.floor:.2f}"
            text += f", {kept} (weaker pairs are not shown)"
        self._said = f"{text}; {seconds:.1f} s"
        self._cut(held)

    def _cut(self, held: Candidates) -> None:
        """Count the edges that pass the threshold and request their network."""
        self._rows = self._found(held)
        if not len(self._rows):
            self._say_empty(held)
            return
        degree = held.degree(self._rows)
        self._counted = (
            f"{number(len(self._rows), 'edge')} of "
            f"{number(int(np.count_nonzero(degree)), 'variable')}, {self._condition()}"
        )
        self.count_line.say(self._counted)
        self._histogram.draw(degree)
        self._ask_scene(held)

    def _condition(self) -> str:
        if self.threshold_by == "tau":
            return f"|τ| ≥ {self.threshold:.2f}"
        text = f"FDR ≤ {self.fdr:.2g}"
        return f"{text} and |τ| ≥ {self.floor:.2f}" if self.floor else text

    def _say_empty(self, held: Candidates) -> None:
        self._scene, self._wanted = None, None
        self.count_line.say(f"0 edges, {self._condition()}")
        by_tau = self.threshold_by == "tau"
        self._say_in_all(held.why_none(self.threshold if by_tau else None, self.fdr))

    def _say_in_all(self, text: str, beside: str = "There is no edge to show.") -> None:
        self._network.say(text)
        for view in (self._heatmap, self._histogram, self._table, self._variables):
            view.say(beside)
        for line in (self._heatmap_line, self._table_line, self._variables_line):
            line.say("")

    def _ask_scene(self, held: Candidates) -> None:
        self._wanted = wanted = object()
        rows, limits, opened = self._rows, self._limits, self.opened

        def work() -> tuple[object, Scene | None]:
            # A moving slider updates only the counts, so check again after it has rested.
            if wanted is self._wanted and self._home.loop is not None:
                time.sleep(REST)
            if wanted is not self._wanted:
                return wanted, None
            return wanted, self.correlated.scene(held.table(rows, limits), opened)

        self._work("the network", work, self._got_scene)

    def _got_scene(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            raise result
        wanted, scene = result
        if wanted is self._wanted and scene is not None:
            self._scene = scene
            self._draw_scene(scene, {"colour", "heatmap", "listed"})
            self._show_card()

    def _draw_scene(self, scene: Scene, stale: set[str]) -> None:
        if "colour" in stale:
            self._network.select(self._marked_nodes())
            labels = self.correlated.variable_labels
            chosen = colouring(self.colour_by, labels[self.colour_by]) if self.colour_by else None
            self._network.draw(scene.laid, colours_of(scene.shown, chosen), self.pair)
        elif stale & {"pair", "variable"}:
            self._network.mark(self.pair, self._marked_nodes())
        if "heatmap" in stale:
            self._heatmap.draw(scene.ordered, scene.heatmap, self.pair)
            self._say_what_is_drawn(scene)
        elif "pair" in stale:
            self._heatmap.mark(self.pair)
        if stale & {"listed", "variable"}:
            self._list(scene)
        elif "pair" in stale:
            self._table.mark(self.pair or ())

    def _say_what_is_drawn(self, scene: Scene) -> None:
        """Say in the captions which edges, communities and variables the pictures leave out."""
        self.count_line.say(f"{self._counted} · {scene.in_words()}")
        ordered = scene.ordered
        most = f"the {ordered.size:,} of {number(ordered.out_of, 'variable')} with most edges"
        of = most if ordered.out_of > ordered.size else number(ordered.size, "variable")
        self._heatmap_line.say(f"τ of {of}")

    def _list(self, scene: Scene) -> None:
        """Draw the table of the tab: in a hidden one, a table would have no rows."""
        if self.tab == "edges":
            self._list_edges(scene)
        elif self.tab == "variables":
            links = scene.shown
            table = nodes_table(links, self.correlated.variable_labels)
            self._variables.draw(table.iloc[:LISTED], self.variable)
            text = f"{number(len(table), 'variable')} with an edge{self._whose()}"
            self._variables_line.say(text + listed_in_words(len(table), "with the most edges"))

    def _whose(self) -> str:
        return "" if self.opened is None else " of this community"

    def _list_edges(self, scene: Scene) -> None:
        links, whose = scene.shown, self._whose()
        if self.variable is not None:
            links = scene.links.of_variable(self.variable)
            whose = f" of {self.correlated.names[self.variable]}"
        self._table.draw(strongest_edges(links.pairs), self.pair)
        text = f"{number(len(links.pairs), 'edge')}{whose}"
        text += listed_in_words(len(links.pairs), "strongest")
        self._table_line.say(text)

    # The pair in the scatter plot, and the card.

    def _ask_pair(self) -> None:
        pair, scene = self.pair, self._scene
        self._scatter.box.layout.display = "none" if pair is None else "flex"
        self._histogram.box.layout.display = "flex" if pair is None else "none"
        if pair is None:
            self._pair_found = None
            self._show_card()
            return
        self._work("the scatter", lambda: self.correlated.pair(pair, scene), self._got_pair)

    def _got_pair(self, result: Any, _seconds: float) -> None:
        if isinstance(result, Exception):
            raise result
        if result.places == self.pair:
            self._pair_found = result
            self._draw_pair()

    def _draw_pair(self) -> None:
        found, name = self._pair_found, self.colour_points_by
        if found is None:
            return
        chosen: Colouring | None = None
        if name:
            chosen = colouring(name, self.correlated.observation_labels[name])
        picture = pair_scatter(found.x, found.y, colour_by=chosen)
        self._scatter.draw(picture, self._marked_samples(), self._choose_samples)
        self._show_card()

    def _show_card(self) -> None:
        """Show the pair or the variable on the card: of two, the one chosen last."""
        found, known = self._pair_found, self.correlated
        if self.variable is not None and (found is None or self._chosen_last == "variable"):
            if self._scene is not None:
                rows = variable_rows(self.variable, self._scene.links, known.variable_labels)
                self.card.show(str(known.names[self.variable]), rows)
        elif found is not None:
            held = self._candidates
            qvalue = None if held is None else held.qvalue_of(found.places)
            self.card.show(f"{found.x.name} × {found.y.name}", pair_rows(found, qvalue))
        else:
            self.card.show("", [])

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
    "variable": {"variable"},
    "opened": {"scene"},
    "tab": {"listed"},
}
