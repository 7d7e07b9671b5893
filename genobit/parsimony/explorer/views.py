"""The views of the parsimony explorer: each draws, marks, and tells what was chosen."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from genobit.parsimony.explorer.patching import Patches
from genobit.parsimony.plots.homoplasy import draw_sites, draw_track, site_mark
from genobit.parsimony.plots.layers import layers_of
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.tanglegram import draw_faced, face
from genobit.parsimony.plots.tree import draw_tree, title_of
from genobit.visual.selecting import Boxes, Picks
from genobit.visual.view import View, hooks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    import xarray as xr

    from genobit.parsimony.explorer.data import Ancestry
    from genobit.parsimony.plots.placing import Placed
    from genobit.parsimony.plots.states import SiteStates
    from genobit.visual.bridge import Home

#: Screen pixels beside a branch that are still a click on it.
REACH = 10.0


class _ParsimonyView(View):
    css = "genobit-parsimony"


class TreeView(_ParsimonyView):
    """One tree; a click chooses a branch.

    Parameters
    ----------
    home
        Where to draw.
    chosen
        Called with the node below a branch, or None.
    """

    name = "tree"
    size = (720, 320)
    _patches: Patches | None = None

    def __init__(self, home: Home, chosen: Callable[[int | None], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._placed: Placed | None = None

    def draw(self, placed: Placed, states: SiteStates | None, **options: Any) -> None:
        """Draw a tree.

        Parameters
        ----------
        placed
            From `genobit.parsimony.plots.placing.arrange`.
        states
            Of the site.
        **options
            As `genobit.parsimony.plots.tree.draw_tree` takes them.
        """
        alike = self._placed is not None and self._placed.drawn_alike(placed)
        self._placed = placed
        if alike and self._patches is not None:
            title = options.pop("title", "")
            layers = layers_of(placed, states, **options)
            self._patches.show(layers, title_of(placed, states, title))
            return
        self._patches = patches = Patches()
        taps = Boxes(lambda *_box: None, self._tapped)
        picture = draw_tree(placed, states, **options)
        self._show(picture.opts(hooks=[*hooks_of(picture), taps.hook, patches.hook]))

    def say(self, text: str) -> None:
        """Write a sentence in the place of the tree.

        Parameters
        ----------
        text
            Plain text.
        """
        self._patches = None
        super().say(text)

    def _tapped(self, x: float, y: float) -> None:
        branch, distance = self._placed.branch_at(x, y)
        self._chosen(branch if distance <= REACH else None)


class Track(_ParsimonyView):
    """The homoplasy of all sites; a click chooses one.

    Parameters
    ----------
    home
        Where to draw.
    chosen
        Called with the place of a site.
    """

    name = "track"
    size = (960, 150)

    def __init__(self, home: Home, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self._homoplasy = np.empty(0, dtype="i8")

    def draw(self, homoplasy: np.ndarray, site: int) -> None:
        """Draw the track.

        Parameters
        ----------
        homoplasy
            From `genobit.parsimony.plots.homoplasy.homoplasy_of`.
        site
            The marked one.
        """
        self._homoplasy, self._patches = homoplasy, Patches()
        taps = Boxes(lambda *_box: None, self._tapped)
        picture = draw_track(homoplasy, site)
        self._show(picture.opts(hooks=[*hooks_of(picture), taps.hook, self._patches.hook]))

    def mark(self, site: int) -> None:
        """Mark another site.

        Parameters
        ----------
        site
            Its place.
        """
        if len(self._homoplasy):
            self._patches.show([site_mark(self._homoplasy, site)])

    def _tapped(self, x: float, _y: float) -> None:
        self._chosen(int(np.clip(round(x), 0, len(self._homoplasy) - 1)))


class Sites(_ParsimonyView):
    """The table of sites; a row chooses its site.

    Parameters
    ----------
    home
        Where to draw.
    chosen
        Called with the place of a site.
    """

    name = "sites"
    size = (395, 200)

    def __init__(self, home: Home, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen

    def draw(self, table: pd.DataFrame, marked: int) -> None:
        """List sites.

        Parameters
        ----------
        table
            From `genobit.parsimony.plots.homoplasy.site_table`.
        marked
            The site whose row is to be selected.
        """
        self.table: pd.DataFrame | None = table
        # Made anew: SlickGrid reports the rows of the old list as selected in the new one.
        self._picks = Picks(self._picked)
        self.mark(marked)
        picture = draw_sites(table)
        self._show(picture.opts(hooks=[*hooks_of(picture), self._picks.hook]))

    def say(self, text: str) -> None:
        """Write a sentence in the place of the table.

        Parameters
        ----------
        text
            Plain text.
        """
        self.table = None
        super().say(text)

    def mark(self, site: int) -> None:
        """Select the row of a site, if it is listed.

        Parameters
        ----------
        site
            Its place.
        """
        if self.table is not None:
            self._picks.show(np.flatnonzero(self.table["site"] == site).tolist())

    def _picked(self, rows: list[int]) -> None:
        if rows:
            self._chosen(int(self.table["site"].iloc[rows[-1]]))


class Changes(_ParsimonyView):
    """The changes of a branch; one of them chooses its site.

    A list of ipywidgets and not a table of bokeh, which takes half a second for each branch.

    Parameters
    ----------
    home
        Where to draw.
    chosen
        Called with the place of a site.
    """

    name = "changes"
    size = (395, 150)

    def __init__(self, home: Home, chosen: Callable[[int], None]) -> None:
        super().__init__(home)
        self._chosen = chosen
        self.list = ipywidgets.Select(
            layout={"width": "300px", "height": "150px", "margin": "4px 10px"}
        )
        self.list.observe(self._picked, "value")

    def draw(self, table: pd.DataFrame, marked: int) -> None:
        """List changes.

        Parameters
        ----------
        table
            From `genobit.parsimony.plots.states.changes_of`.
        marked
            The site that is to be selected.
        """
        rows = zip(table["site"], table["from"], table["to"], strict=True)
        with self._quiet():
            self.list.options = [(f"site {k:,}:  {a} → {b}", int(k)) for k, a, b in rows]
        self.box.children = (self.list,)
        self.mark(marked)

    def mark(self, site: int) -> None:
        """Select the change of a site, if it is listed.

        Parameters
        ----------
        site
            Its place.
        """
        listed = {value for _, value in self.list.options}
        with self._quiet():
            self.list.value = site if site in listed else None

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """What is selected here, and not by the reader, chooses nothing."""
        self.list.unobserve(self._picked, "value")
        try:
            yield
        finally:
            self.list.observe(self._picked, "value")

    def _picked(self, change: Any) -> None:
        if change["new"] is not None:
            self._home.run(self._chosen, change["new"])


class Faces(_ParsimonyView):
    """Two trees face to face."""

    name = "faces"
    size = (900, 320)

    def draw(self, left: Ancestry, right: Ancestry, names: tuple[str, str]) -> None:
        """Draw two trees.

        Parameters
        ----------
        left, right
            The trees.
        names
            Of both.
        """
        labels = left.tree.names[: left.tree.n_tips]
        faced = face(left.tree.parents, right.tree.parents)
        self._show(draw_faced(faced, labels, names))


class Trace(_ParsimonyView):
    """How the search went."""

    name = "trace"
    size = (640, 260)

    def draw(self, search: xr.Dataset) -> None:
        """Draw the trace.

        Parameters
        ----------
        search
            Result of `.genobit.parsimony_search()`.
        """
        self._show(search_trace(search))
