"""The interactive explorers of a Dataset or DataArray: `gb.explore`, `ds.genobit.explore`."""

from __future__ import annotations

import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, ClassVar

import xarray as xr

from genobit.engine.extras import require
from genobit.engine.own_words import SuggestsNames, explained
from genobit.launcher.offers import class_of, explorers, in_words, offers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from genobit.data.analysis import Analysis, Explorer
    from genobit.data.selection import Selection
    from genobit.launcher.launcher import Launcher

require("genobit.explore", "ipywidgets", "holoviews", "bokeh", "anywidget")

_RETURNS = """\


Returns
-------
A widget, which a notebook shows if it is the last expression of a cell."""


class _Explorers(SuggestsNames):
    """The explorers of some data."""

    _called = ""
    _kind: ClassVar[str]

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        """List the explorers, and what those that cannot be opened need."""
        from genobit.data.summary.text import table

        title = f"genobit explorers of {in_words(self._data)}"
        try:
            found = [x for x in offers_of(self._data) if not x.explorer.from_launcher]
        except ValueError as error:
            return f"{title}\n  {error}"
        rows = [
            (
                "–" if offer.why_not else "✓",
                f"explore.{offer.name}({offer.explorer.arguments})",
                offer.why_not or offer.explorer.question,
            )
            for offer in found
        ]
        launcher = ("✓", "explore()", "a launcher with a button for each")
        return "\n".join([title, *table([*rows, launcher])])

    def __call__(self, selection: Selection | None = None, **initial: Any) -> Launcher:
        """Open a launcher: one button for each explorer that these data support.

        Parameters
        ----------
        selection
            `genobit.Selection` to share with other explorers. The explorers of one launcher always
            share a selection.
        **initial
            ``theme``, the initial theme: "auto", "light" or "dark".

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.launcher.launcher import Launcher

        return Launcher(self._data, offers_of(self._data), selection, **initial)


class _Opener:
    """A method that opens an explorer. Its class gives the signature and the documentation."""

    def __init__(self, analysis: Analysis, explorer: Explorer) -> None:
        self._analysis, self._explorer = analysis, explorer

    def __set_name__(self, owner: type[_Explorers], name: str) -> None:
        """Keep the name in errors."""
        self._called = f"{owner._called}.{name}"

    def __get__(self, explorers: _Explorers | None, owner: type[_Explorers]) -> Any:
        """Return the method; its explorer is imported now."""
        return self._method if explorers is None else self._method.__get__(explorers, owner)

    @functools.cached_property
    def _method(self) -> Callable[..., Any]:
        """The function that opens the explorer of an instance."""
        cls, hidden = class_of(self._analysis, self._explorer), self._explorer.hidden
        data, *others = inspect.signature(cls).parameters.values()
        own = inspect.Parameter("self", data.POSITIONAL_ONLY)
        kept = [own, *(each for each in others if each.name not in hidden)]
        names = [each.name for each in kept]

        def method(self: _Explorers, *given: Any, **options: Any) -> Any:
            signature.bind(self, *given, **options)
            return cls(self._data, **dict(zip(names[1:], given, strict=False)), **options)

        signature = inspect.Signature(kept)
        method.__name__ = method.__qualname__ = self._analysis.name
        method.__doc__ = _documentation(cls, {data.name, *hidden})
        method.__signature__ = signature  # type: ignore[attr-defined]
        return explained(method, self._called)


def _documentation(cls: type, hidden: set[str]) -> str:
    """Return the documentation of an explorer without its traits and hidden arguments."""
    text = inspect.getdoc(cls) or ""
    summary, *sections = re.split(r"\n\n(?=\w+\n---)", text.replace("Widget to e", "E", 1))
    kept = [each for each in sections if not each.startswith("Attributes")]
    whole = "\n\n".join([summary, *kept]).replace("listed under Attributes", f"of {cls.__name__}")
    for name in hidden:
        whole = re.sub(rf"^{name}\n(?:    .*(?:\n|\Z))+", "", whole, count=1, flags=re.MULTILINE)
    return whole.replace("\n\nRaises", f"{_RETURNS}\n\nRaises")


class Explore(_Explorers):
    """The explorers of one Dataset: `ds.genobit.explore`.

    Parameters
    ----------
    data
        Genotypes, packed or not.
    """

    _called = "ds.genobit.explore"
    _kind = "explorer"


class ExploreArray(_Explorers):
    """The explorers of one DataArray: `expr.genobit.explore`.

    Parameters
    ----------
    data
        Variables and observations, binary rows, or an alignment.
    """

    _called = "da.genobit.explore"
    _kind = "array_explorer"


for _class in (Explore, ExploreArray):
    for _analysis, _explorer in explorers(_class._kind):
        if not _explorer.from_launcher:
            _opener = _Opener(_analysis, _explorer)
            _opener.__set_name__(_class, _analysis.name)
            setattr(_class, _analysis.name, _opener)


def explorers_of(data: xr.Dataset | xr.DataArray) -> _Explorers:
    """Return the explorers of some data."""
    return Explore(data) if isinstance(data, xr.Dataset) else ExploreArray(data)
