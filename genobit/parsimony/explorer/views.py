"""Views of the parsimony explorer: each one draws, marks, and reports choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from genobit.parsimony.plots.homoplasy import (
    bars_in_words,
    draw_sites,
    draw_track,
    site_mark,
    sites_in_a_bar,
)
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.tanglegram import draw_faced, face
from genobit.parsimony.plots.tree import draw_tree
from genobit.visual.explorer.gestures import on_size
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.selecting import BoxSelection
from genobit.visual.explorer.view import TableView, View, drawn
from genobit.visual.picture.screen import paint_panel
from genobit.visual.repaint import Repaint, send
from genobit.visual.style import fluid, whole_ticks
from genobit.visual.tables import Column, draw_table, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd
    import xarray as xr

    from genobit.parsimony.explorer.data import Ancestry
    from genobit.parsimony.plots.layout import PlacedTree
    from genobit.parsimony.plots.pixel_layers import Layer
    from genobit.parsimony.plots.states import SiteStates
    from genobit.parsimony.plots.tanglegram import TreePair
    from genobit.visual.explorer.home import UiThread

#: Screen pixels beside a branch within which a click chooses it.
REACH = 10.0
#: Width in screen pixels of the key and of the card below it, beside the tree.
CARD = 254.0
#: Height in screen pixels of the track, of the tree below it, and of a picture without a track.
TRACK, TREE, ALONE = 112, 420, 532
#: Width and height of the frame in screen pixels, until the page tells them.
_WIDE, _ABOVE, _BESIDE = 1000.0, 0.0, 8
#: Least width in screen pixels of a tree with its names.
_LEAST = 240.0
#: Visible rows of tables, and their height in screen pixels.
_TABLE = 470


class _ParsimonyView(View):
    css = "genobit-parsimony"


class Patches(Repaint):
    """Replaces single layers of a figure by their labels, also before its first frame."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: dict[str, Layer] = {}
        self._width: float | None = None

    def hook(self, plot: Any, element: Any) -> None:
        """Keep the plot, and show what came before it (a HoloViews hook)."""
        if self._plot is not plot and hasattr(plot, "subplots"):
            super().hook(plot, element)
            self.replace(self._wanted.values(), self._width)

    def replace(self, layers: Iterable[Layer], width: float | None = None) -> None:
        """Replace the layers with the same labels, and show x from 0 to ``width``."""
        if self._plot is None:
            self._wanted |= {layer.label: layer for layer in layers}
            self._width = width or self._width
            return
        subplots = {plot.current_frame.label: plot for plot in self._plot.subplots.values()}
        for layer in layers:
            subplot = subplots[layer.label]
            if send(subplot, layer.columns()):
                # HoloViews turns a column with equal values into a single value of the glyph.
                subplot.handles["glyph"].update(**layer.fields)
        if width is not None:
            shown = self._plot.state.x_range
            if shown.reset_end != width:
                shown.update(start=0, end=width, reset_start=0, reset_end=width)


class FittedView(_ParsimonyView):
    """View in screen pixels; calls ``resized`` when the page gives it another size.

    Texts and circles have sizes in screen pixels, so the picture is laid out for its size.
    """

    height: ClassVar[int]

    def __init__(self, home: UiThread, resized: Callable[[], None]) -> None:
        super().__init__(home)
        self.room = (_WIDE, self.height - _ABOVE)
        """Width and height of the frame, in screen pixels."""
        self._resized = Throttled(home, resized)

    def _fit(self, plot: Any, _element: Any) -> None:
        """Hear of the size of a figure (a HoloViews hook)."""
        figure = plot.state
        fluid(self.height, _BESIDE, _BESIDE)(plot, None)
        # Inside, the tools would cover names at the right.
        figure.update(toolbar_location="right", outline_line_color=None)
        figure.update(min_border_top=0, min_border_bottom=0)
        on_size(figure, self._on_size)

    def _on_size(self, _attr: str, _old: list[Any], new: list[Any]) -> None:
        before, now = np.array(self.room), np.array(new, dtype="f8")
        # A scroll bar that comes and goes is no reason to lay out a tree anew.
        if (abs(now - before) > before / 50).any():
            self.room = (float(now[0]), float(now[1]))
            self._resized()


class TreeView(FittedView):
    """View of one tree; a click calls ``chosen`` with the node below the branch, or None."""

    name = "tree"
    size = (500, 320)
    height = TREE
    _patches: Patches | None = None

    def __init__(
        self,
        home: UiThread,
        chosen: Callable[[int | None], None],
        resized: Callable[[], None],
    ) -> None:
        super().__init__(home, resized)
        self._chosen = chosen
        self._placed: PlacedTree | None = None

    @property
    def frame(self) -> tuple[float, float]:
        """Width and height for a tree beside its key and the card."""
        return max(self.room[0] - CARD, _LEAST), self.room[1]

    def draw(self, placed: PlacedTree, states: SiteStates | None, **options: Any) -> None:
        """Draw a tree placed by `arrange`; ``options`` are arguments of `layers_of`."""
        alike = self._placed is not None and self._placed.drawn_alike(placed)
        self._placed = placed
        if alike and self._patches is not None:
            layers = layers_of(placed, states, **options)
            self._patches.replace(layers, placed.frame[0] + CARD)
            return
        self._patches = patches = Patches()
        taps = BoxSelection(None, self._tapped)
        picture = draw_tree(placed, states, **options, key=CARD)
        self._show(picture, taps.hook, patches.hook, self._fit)

    def say(self, text: str) -> None:
        """Show a sentence in place of the tree."""
        self._patches = None
        super().say(text)

    def _tapped(self, x: float, y: float) -> None:
        branch, distance = drawn(self._placed).branch_at(x, y)
        self._chosen(branch if distance <= REACH else None)


def _compact(plot: Any, _element: Any) -> None:
    """Take no height for tools, and little for the axis (a HoloViews hook)."""
    figure = plot.state
    figure.update(toolbar_inner=True, min_border_top=8, min_border_bottom=0)
    figure.xaxis[0].update(axis_label_standoff=2)
    for axis in figure.axis:
        axis.minor_tick_line_color = None


class Track(_ParsimonyView):
    """View of the homoplasy of all sites; a click calls ``chosen`` with the index of a site."""

    name = "track"
    size = (500, 90)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._homoplasy = np.empty(0, dtype="i8")

    def draw(self, homoplasy: np.ndarray, site: int) -> None:
        """Draw the track of homoplasy (sites,), with one site marked."""
        self._homoplasy, self._patches = homoplasy, Patches()
        taps = BoxSelection(None, self._tapped)
        width = sites_in_a_bar(len(homoplasy))
        picture = draw_track(homoplasy, site)
        picture.opts(
            xlabel=f"site; {bars_in_words(width)}" if width > 1 else "site",
            ylabel="extra",
            yticks=whole_ticks(0, float(homoplasy.max(initial=1)), 3),
            fontsize={"labels": "8pt", "ticks": "8pt"},
        )
        self._show(picture, taps.hook, self._patches.hook, fluid(TRACK, 44, 14), _compact)

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
        self._list(draw_sites(table, 620, _TABLE), table[["site"]].to_numpy(), [site])

    def _picked(self, members: np.ndarray) -> None:
        if len(members):
            self._chosen(int(members[-1, 0]))


class Changes(_ParsimonyView, TableView):
    """Table of the changes of a branch; a click calls ``chosen`` with the index of the site."""

    name = "changes"
    size = (395, 150)

    def __init__(self, home: UiThread, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen

    def draw(self, table: pd.DataFrame, site: int) -> None:
        """List changes from `changes_of`, with the row of a site selected."""
        columns = {name: Column(80) for name in ("from", "to")}
        columns = {"site": Column(80, numbers("0,0"))} | columns
        picture = draw_table(table, columns, width=360, height=_TABLE, fit=True)
        self._list(picture, table[["site"]].to_numpy(), [site])

    def _picked(self, members: np.ndarray) -> None:
        if len(members):
            self._chosen(int(members[-1, 0]))


class Faces(FittedView):
    """View of two trees face to face."""

    name = "faces"
    size = (600, 320)
    height = ALONE

    def __init__(self, home: UiThread, resized: Callable[[], None]) -> None:
        super().__init__(home, resized)
        self._faced: tuple[Any, TreePair] | None = None

    def draw(self, both: Sequence[Ancestry], names: tuple[str, str]) -> str:
        """Draw the tanglegram of two trees with these names, and describe it as text."""
        left, right = (of.tree for of in both)
        if self._faced is None or self._faced[0] != (id(both[0]), id(both[1])):
            self._faced = (id(both[0]), id(both[1])), face(left.parents, right.parents)
        labels = left.names[: left.n_tips]
        picture = draw_faced(self._faced[1], labels, names, self.room)
        self._show(picture, self._fit)
        return "; ".join(picture.opts.get("plot").kwargs["title"].split("\n"))


class Trace(_ParsimonyView):
    """View of the search trace."""

    name = "trace"
    size = (500, 260)

    def draw(self, search: xr.Dataset) -> str:
        """Draw the trace of a result of `.genobit.parsimony_search()`; return it in words."""
        picture = search_trace(search)
        self._show(paint_panel(picture.panel), fluid(ALONE, 58, 20))
        return " ".join([f"{picture.title}.", *picture.notes])


def card_of(
    scores: xr.Dataset, site: int, branch: tuple[str, int, bool] | None
) -> list[tuple[str, str]]:
    """Return the values of a site, and of a branch: name, changes, and whether the site changes.

    scores: result of `.genobit.parsimony()` of one tree.
    """
    changes, least = (int(scores[name][site]) for name in ("changes", "min_changes"))
    rows = [("changes", f"{changes:,}"), ("fewest possible", f"{least:,}")]
    for name in ("ci", "ri"):
        value = float(scores[f"site_{name}"][site])
        rows.append((name.upper(), "–" if np.isnan(value) else f"{value:.2f}"))
    if branch is not None:
        name, many, here = branch
        rows += [("branch to", name), ("changes on it", f"{many:,}")]
        rows.append(("site changes there", "yes" if here else "no"))
    return rows
