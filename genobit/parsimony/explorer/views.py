"""Views of the parsimony explorer: each draws, marks, and reports what is chosen."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.parsimony.plots.homoplasy import draw_sites, draw_track, site_mark
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.tanglegram import draw_faced, face
from genobit.parsimony.plots.tree import draw_tree, title_of
from genobit.visual.repaint import Repaint, send
from genobit.visual.selecting import BoxSelection
from genobit.visual.view import TableView, View, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd
    import xarray as xr

    from genobit.parsimony.explorer.data import Ancestry
    from genobit.parsimony.plots.layout import PlacedTree
    from genobit.parsimony.plots.pixel_layers import Layer
    from genobit.parsimony.plots.states import SiteStates
    from genobit.visual.home import UiThread

#: Screen pixels beside a branch within which a click chooses it.
REACH = 10.0


class _ParsimonyView(View):
    css = "genobit-parsimony"


class Patches(Repaint):
    """Replaces single layers of a figure by their labels, also before its first frame."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: dict[str, Layer] = {}
        self._title = ""

    def hook(self, plot: Any, element: Any) -> None:
        """Keep the plot, and show what came before it (a HoloViews hook)."""
        if self._plot is not plot and hasattr(plot, "subplots"):
            super().hook(plot, element)
            self.replace(self._wanted.values(), self._title)

    def replace(self, layers: Iterable[Layer], title: str = "") -> None:
        """Replace the layers with the same labels; an empty ``title`` keeps the old title."""
        if self._plot is None:
            self._wanted |= {layer.label: layer for layer in layers}
            self._title = title or self._title
            return
        subplots = {plot.current_frame.label: plot for plot in self._plot.subplots.values()}
        for layer in layers:
            subplot = subplots[layer.label]
            if send(subplot, layer.columns()):
                # HoloViews turns a column with equal values into a single value of the glyph.
                subplot.handles["glyph"].update(**layer.fields)
        if title:
            self._name(title)


class TreeView(_ParsimonyView):
    """View of one tree; a click calls ``chosen`` with the node below the branch, or None."""

    name = "tree"
    size = (720, 320)
    _patches: Patches | None = None

    def __init__(self, home: UiThread, chosen: Callable[[int | None], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._placed: PlacedTree | None = None

    def draw(self, placed: PlacedTree, states: SiteStates | None, **options: Any) -> None:
        """Draw a tree placed by `arrange`; ``options`` are arguments of `draw_tree`."""
        alike = self._placed is not None and self._placed.drawn_alike(placed)
        self._placed = placed
        if alike and self._patches is not None:
            title = options.pop("title", "")
            layers = layers_of(placed, states, **options)
            self._patches.replace(layers, title_of(placed, states, title))
            return
        self._patches = patches = Patches()
        taps = BoxSelection(None, self._tapped)
        self._show(draw_tree(placed, states, **options), taps.hook, patches.hook)

    def say(self, text: str) -> None:
        """Show a sentence in place of the tree."""
        self._patches = None
        super().say(text)

    def _tapped(self, x: float, y: float) -> None:
        branch, distance = drawn(self._placed).branch_at(x, y)
        self._chosen(branch if distance <= REACH else None)


class Track(_ParsimonyView):
    """View of the homoplasy of all sites; a click calls ``chosen`` with the index of a site."""

    name = "track"
    size = (960, 150)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._homoplasy = np.empty(0, dtype="i8")

    def draw(self, homoplasy: np.ndarray, site: int) -> None:
        """Draw the track of homoplasy (sites,), with one site marked."""
        self._homoplasy, self._patches = homoplasy, Patches()
        taps = BoxSelection(None, self._tapped)
        self._show(draw_track(homoplasy, site), taps.hook, self._patches.hook)

    def mark(self, site: int) -> None:
        """Mark another site."""
        if len(self._homoplasy):
            self._patches.replace([site_mark(self._homoplasy, site)])

    def _tapped(self, x: float, _y: float) -> None:
        self._chosen(int(np.clip(round(x), 0, len(self._homoplasy) - 1)))


class Sites(_ParsimonyView, TableView):
    """Table of sites; a click on a row calls ``chosen`` with the index of its site."""

    name = "sites"
    size = (395, 200)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen

    def draw(self, table: pd.DataFrame, site: int) -> None:
        """Draw a table from `site_table`, with the row of a site selected."""
        self._list(draw_sites(table), table[["site"]].to_numpy(), [site])

    def _picked(self, rows: list[int]) -> None:
        if rows:
            self._chosen(int(self._members[rows[-1], 0]))


class Changes(_ParsimonyView):
    """List of the changes of a branch; a click calls ``chosen`` with the index of the site.

    The list is an ipywidgets.Select, because a bokeh table takes half a second for each branch.
    """

    name = "changes"
    size = (395, 150)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self.list = ipywidgets.Select(
            layout={"width": "300px", "height": "150px", "margin": "4px 10px"}
        )
        self.list.observe(self._picked, "value")

    def draw(self, table: pd.DataFrame, marked: int) -> None:
        """List changes from `changes_of`, with the change of site ``marked`` selected."""
        rows = zip(table["site"], table["from"], table["to"], strict=True)
        with self._quiet():
            self.list.options = [(f"site {k:,}:  {a} → {b}", int(k)) for k, a, b in rows]
        self.box.children = (self.list,)
        self.mark(marked)

    def mark(self, site: int) -> None:
        """Select the change of a site, if it is listed."""
        listed = {value for _, value in self.list.options}
        with self._quiet():
            self.list.value = site if site in listed else None

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Suspend the observer, so that a selection by code chooses no site."""
        self.list.unobserve(self._picked, "value")
        try:
            yield
        finally:
            self.list.observe(self._picked, "value")

    def _picked(self, change: Any) -> None:
        if change["new"] is not None:
            self._home.run(self._chosen, change["new"])


class Faces(_ParsimonyView):
    """View of two trees face to face."""

    name = "faces"
    size = (900, 320)

    def draw(self, left: Ancestry, right: Ancestry, names: tuple[str, str]) -> None:
        """Draw the tanglegram of two trees with these names."""
        labels = left.tree.names[: left.tree.n_tips]
        faced = face(left.tree.parents, right.tree.parents)
        self._show(draw_faced(faced, labels, names))


class Trace(_ParsimonyView):
    """View of the search trace."""

    name = "trace"
    size = (640, 260)

    def draw(self, search: xr.Dataset) -> None:
        """Draw the trace of a result of `.genobit.parsimony_search()`."""
        self._show(search_trace(search))
