"""The base class of explorers: one worker thread, a status line and a shared selection."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets
import numpy as np
import traitlets
import xarray as xr

from genobit.data.model import require_label_dims, with_prefix
from genobit.data.selection import KINDS, NOUNS, Names, Selection
from genobit.engine.spelling import did_you_mean
from genobit.visual.explorer.files import Export, Writers, csv_writer, write_new, write_page
from genobit.visual.explorer.home import Throttled
from genobit.visual.explorer.jobs import Computing
from genobit.visual.explorer.traits import TOLD, meanings, refuse_misspelt, refuse_unknown
from genobit.visual.looks import THEMES
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import pandas as pd

    from genobit.visual.explorer.card import Card
    from genobit.visual.figure import Figure

#: Names of the lists of a `genobit.Selection`.
SELECTED = ("variants", "samples")


class Explorer(Computing):
    """A widget with a status line that reports the last computation or error.

    Parameters
    ----------
    **initial
        Initial values of traits.

    Attributes
    ----------
    theme
        Colours of the explorer: "auto" follows the theme of the page; "light" and "dark" are fixed.
    tab
        Tab in view: "picture", or the name of a table.
    status
        Description of the last computation or error.
    busy
        True while something is being computed.

    Raises
    ------
    TypeError
        If a trait is unknown.
    """

    #: Kind of names in the placeholder of the text box.
    selectable: ClassVar[str] = "variants or samples"
    #: Whether the search box finds all names, so that the drawer needs no text box for them.
    finds_all: ClassVar[bool] = False
    #: Singular and plural nouns for the lists of the selection.
    nouns: ClassVar[Mapping[str, tuple[str, str]]] = NOUNS
    #: Name of the method that opens this explorer.
    opened_by: ClassVar[str] = "explore"
    #: Values of the trait `tab`.
    tabs: ClassVar[tuple[str, ...]] = ("picture",)
    theme = traitlets.Enum(THEMES, "auto")
    tab = traitlets.Unicode("picture")
    menu: ipywidgets.Dropdown
    drawer: ipywidgets.VBox
    card: Card
    status_row: ipywidgets.HBox
    selection: Selection
    _names: dict[str, Names]
    _quiet = False
    _given: dict[str, Any]
    """Arguments that are no traits, by name, such as a table of genes."""
    _stale: set[str]
    _later: Throttled

    def __init__(self, **initial: Any) -> None:
        refuse_unknown(type(self), initial)
        self._given = {}
        super().__init__(**initial)
        for name in ("genobit-explorer", self.css, f"genobit-theme-{self.theme}"):
            self.add_class(name)
        self.observe(self._dress, "theme")

    def __repr__(self) -> str:
        """Return one line: ipywidgets would print the HTML and CSS of all parts in a shell."""
        return f"{type(self).__name__} is shown in notebooks: `genobit lab` opens JupyterLab"

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse a misspelt trait, which would change nothing."""
        own = name.startswith("_") or name in self.__dict__ or hasattr(type(self), name)
        # Without children, it is still being made.
        if not own and self._trait_values.get("children"):
            refuse_misspelt(type(self), name)
        super().__setattr__(name, value)

    @traitlets.validate("tab")
    def _check_tab(self, proposal: Any) -> str:
        return one_of("tab", proposal["value"], self.tabs)

    def _dress(self, change: Any) -> None:
        self.remove_class(f"genobit-theme-{change['old']}")
        self.add_class(f"genobit-theme-{change['new']}")

    def meaning(self, trait: str) -> str:
        """Return the meaning of a trait.

        Parameters
        ----------
        trait
            Name of the trait.
        """
        kind: Any = type(self)
        return meanings(kind)[trait]

    def _mark(self, stale: set[str]) -> None:
        """Add parts to those that the next refresh computes and draws."""
        self._stale |= stale
        self._later()

    # Sharing a selection: explorers with the same `genobit.Selection` follow each other.

    def _join(self, selection: Selection | None, data: xr.Dataset | xr.DataArray) -> None:
        """Share the given selection, or start a new one.

        Data without variants, sites, samples or taxa are accepted if no selection is given.
        """
        if selection is not None and not isinstance(selection, Selection):
            raise TypeError(
                f"selection is a {type(selection).__name__}; give a genobit.Selection, such as "
                "another explorer's .selection"
            )
        if isinstance(data, xr.Dataset):
            require_label_dims(data)
        self.selection = Selection() if selection is None else selection
        self._data = data
        shares = selection is not None or any(dim in KINDS for dim in data.dims)
        self._names = self.selection.know(data) if shares else {}
        self._watchers: list[Callable[[Any], None]] = []
        self._watch_selection(self._on_selection)

    def _watch_selection(self, watcher: Callable[[Any], None]) -> None:
        """Call `watcher` at each change of the selection, until `_leave`."""
        self._watchers.append(watcher)
        self.selection.observe(watcher, SELECTED)

    def _leave(self) -> None:
        """Stop sharing the selection."""
        for watcher in self._watchers:
            self.selection.unobserve(watcher, SELECTED)

    def _places(self, kind: str) -> np.ndarray:
        """Return the positions of the selected members in this explorer's data."""
        if kind not in self._names:
            return np.empty(0, dtype="i8")
        return self.selection.places(kind, self._names[kind])

    def _select(self, kind: str, places: Iterable[int]) -> None:
        """Select members by their positions, for all explorers that share the selection."""
        if self._quiet or kind not in self._names:
            return
        self._quiet = True
        try:
            setattr(self.selection, kind, self._names[kind].index[list(places)].tolist())
        finally:
            self._quiet = False

    def _on_selection(self, change: Any) -> None:
        # Run at home: another explorer may have changed the selection on another thread.
        show = partial(self._follow_quietly, change["name"], own=self._quiet)
        self._home.run(self._try, show)

    def _follow_quietly(self, kind: str, *, own: bool) -> None:
        before, self._quiet = self._quiet, True
        try:
            self._follow(kind, own=own)
        finally:
            self._quiet = before

    def _follow(self, kind: str, *, own: bool) -> None:
        """Show the current selection; `own` is True if this explorer made it."""
        raise NotImplementedError

    # Saving.

    @property
    def exports(self) -> tuple[Export, ...]:
        """The entries of the save menu."""
        raise NotImplementedError

    def python(self) -> str:
        """Return the code that opens the explorer with this view.

        The code calls the data by the notebook variable that holds them, or "ds" if there is none.
        """
        kind: Any = type(self)
        values = {"theme": self.theme, "tab": self.tab}
        values |= {name: getattr(self, name) for name in meanings(kind) if name not in TOLD}
        known = {name: value for name, value in values.items() if name in kind.class_traits()}
        changed = {k: v for k, v in known.items() if v != self.trait_defaults(k)}
        given = {k: name_in_notebook(v, k) for k, v in self._given.items() if v is not None}
        texts = given | {name: repr(value) for name, value in changed.items()}
        arguments = ", ".join(f"{name}={text}" for name, text in texts.items())
        data = name_in_notebook(self._data, "ds")
        return f"{data}.genobit.{self.opened_by}({arguments})"

    def figure(self) -> Figure:
        """Return the picture in view as a figure for papers."""
        raise NotImplementedError

    def save_figure(self, path: str | Path, *, width_mm: float = 180.0) -> Path:
        """Write the picture in view to a new file for a paper.

        Parameters
        ----------
        path
            Path of the new file, which ends in .pdf, .svg or .png.
        width_mm
            Width in millimetres.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If nothing has been drawn yet, or for another file ending.
        FileExistsError
            If the file exists already.
        """
        drawn = self.figure()
        writers = {
            f".{kind}": partial(_write_figure, drawn, width_mm, kind)
            for kind in ("pdf", "svg", "png")
        }
        return self._saved(path, writers, "the figure")

    @property
    def papers(self) -> tuple[Export, ...]:
        """The entries of the export menu for papers."""
        meaning = "the picture in view, 180 mm wide"
        return tuple(
            Export(f"figure ({kind.upper()})", f".{kind}", self.save_figure, meaning)
            for kind in ("pdf", "svg", "png")
        )

    @property
    def page(self) -> Export:
        """The save menu entry that all explorers share: all pictures as HTML."""
        return Export(
            "all pictures (HTML)", ".html", self.save_page, "a page of all plots and tables in view"
        )

    def save_page(self, path: str | Path) -> Path:
        """Write all drawn plots and tables to a new HTML page, which needs no network.

        Parameters
        ----------
        path
            Path of the new file, which ends in .html.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If nothing has been drawn yet, or the path does not end in .html.
        FileExistsError
            If the file exists already.
        """
        return self._saved(
            path, {".html": lambda target: write_page(self, self.css, target)}, "the pictures"
        )

    def _saved(self, path: str | Path, writers: Writers, what: str) -> Path:
        target = write_new(path, writers)
        saved = f"Saved {what} to {target}"
        if self.busy:
            # Append to the status of the running job, so that neither message hides the other.
            self._aside = f" · {saved}"
            self._say_what()
        else:
            self.status = saved
        return target

    def _saved_table(self, path: str | Path, table: pd.DataFrame, noun: str) -> Path:
        return self._saved(path, {".csv": csv_writer(table)}, number(len(table), noun))


def _write_figure(drawn: Figure, width_mm: float, kind: str, target: Path) -> None:
    from genobit.visual.paper import page

    page.write(drawn.to_matplotlib(width_mm), target, kind)


def name_in_notebook(value: Any, otherwise: str) -> str:
    """Return the name of an object in the notebook, or another one if it has none there."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    named = {} if shell is None else shell.user_ns
    names = (k for k, v in named.items() if not k.startswith("_") and _stands_for(v, value))
    return repr(value) if isinstance(value, str | int | tuple) else next(names, otherwise)


def _stands_for(value: Any, held: Any) -> bool:
    """Return whether an object is `held`, or the data that an accessor holds in plain labels."""
    if value is held or type(value) is not type(held):
        return value is held
    return getattr(getattr(value, "genobit", None), "_data", None) is held


def label_of(trait: str, value: str, labels: Iterable[str], dim: str) -> str:
    """Return the name of a label, given with or without the prefix of `dim`; "" for none."""
    known = tuple(labels)
    return one_of(trait, with_prefix(value, dim, known) or value, ("", *known))


def one_of(trait: str, value: str, known: Iterable[str]) -> str:
    """Return `value` if it is among the known ones; raise TraitError otherwise."""
    names = tuple(known)
    if value not in names:
        raise traitlets.TraitError(
            f"{trait} is {value!r}; use one of {', '.join(map(repr, names))}"
            f"{did_you_mean(value, names)}"
        )
    return value
