"""The launcher: a button for each explorer that the data support, and the open explorers."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.launcher.offers import Offer, in_words
from genobit.visual.explorer.controls import dropdown, row
from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.frame import StatusRow
from genobit.visual.explorer.naming import Names
from genobit.visual.explorer.searching import SelectionRow
from genobit.visual.explorer.traits import refuse_unknown
from genobit.visual.looks import style

if TYPE_CHECKING:
    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.visual.explorer.files import Export


class Launcher(Explorer):
    """Widget that opens the explorers of some data; all of them share one selection.

    Parameters
    ----------
    data
        A Dataset or DataArray.
    offers
        Explorers of these data, and the reasons why others cannot be opened.
    selection
        Selection to share with other explorers; by default a new one.
    **initial
        Initial values of traits.
    """

    css = "genobit-launcher"

    def __init__(
        self,
        data: xr.Dataset | xr.DataArray,
        offers: list[Offer],
        selection: Selection | None = None,
        **initial: Any,
    ) -> None:
        refuse_unknown(type(self), initial)
        self._join(selection, data)
        super().__init__(**initial)
        self.offers = {offer.name: offer for offer in offers}
        self.opened: dict[str, Explorer] = {}
        self._initial: dict[str, dict[str, Any]] = {}
        self._choices: dict[str, dict[str, ipywidgets.Dropdown]] = {}
        self._buttons: dict[str, ipywidgets.ToggleButton] = {}
        self._place = ipywidgets.VBox().add_class("genobit-launcher-opened")
        title = ipywidgets.HTML(f"<b>{html.escape(in_words(data))}</b>")
        rows = [self._row(offer) for offer in offers]
        said = row(StatusRow(self), *SelectionRow(self).parts(alone=False))
        parts = [title, *rows, said, self._place, Names(name="explorers of the data")]
        self.children = (style(), *parts)
        count = sum(not offer.why_not for offer in offers)
        self._said = self.status = f"{count} of {len(offers)} explorers can be opened"

    @property
    def exports(self) -> tuple[Export, ...]:
        """Return an empty menu: each open explorer has its own save menu."""
        return ()

    def _row(self, offer: Offer) -> ipywidgets.HBox:
        button = ipywidgets.ToggleButton(
            description=offer.explorer.title,
            tooltip=offer.why_not or offer.explorer.question,
            disabled=bool(offer.why_not),
            layout={"width": "190px"},
        ).add_class(f"genobit-launcher-{offer.name}")
        button.observe(partial(self._pressed, offer.name), "value")
        self._buttons[offer.name] = button
        text = html.escape(offer.explorer.question)
        if offer.why_not:
            text = f'<span class="genobit-quiet">Not here: {html.escape(offer.why_not)}</span>'
        choices = {}
        if not offer.why_not:
            for name, described, values in offer.explorer.choices(offer.data):
                options = [(str(value).removeprefix("sample_"), value) for value in values]
                choices[name] = dropdown(described, options, "190px")
        self._choices[offer.name] = choices
        return row(button, *choices.values(), ipywidgets.HTML(text))

    def _pressed(self, name: str, change: Any) -> None:
        self.try_to(self._begin if change["new"] else self.close_explorer, name)

    def launch(self, name: str, **initial: Any) -> None:
        """Open an explorer below the buttons of the launcher.

        Parameters
        ----------
        name
            One of `offers`.
        **initial
            Initial values of the explorer's traits.

        Raises
        ------
        ValueError
            If there is no such explorer, or the data do not support it.
        """
        offer = self.offers.get(name)
        if offer is None:
            raise ValueError(f"there is no explorer {name!r}; use one of {', '.join(self.offers)}")
        if offer.why_not:
            raise ValueError(f"{offer.explorer.title}: {offer.why_not}")
        self._initial[name] = initial
        self._buttons[name].value = True

    def _begin(self, name: str) -> None:
        offer, initial = self.offers[name], self._initial.pop(name, {})
        what = f"what the explorer of {offer.explorer.title} needs"
        if any(job.what == what for job in self._jobs):
            return
        chosen = {key: choice.value for key, choice in self._choices[name].items()}
        self._work(what, partial(offer.prepare, chosen), partial(self._built, offer, initial))

    def _built(self, offer: Offer, initial: dict[str, Any], result: Any, seconds: float) -> None:
        if isinstance(result, Exception):
            self._buttons[offer.name].value = False
            raise result
        if not self._buttons[offer.name].value:
            return  # closed while it was prepared
        made = {"theme": self.theme, "selection": self.selection} | initial
        explorer = result(**made)
        self.opened[offer.name] = explorer
        self._arrange()
        self._said = f"Opened {offer.explorer.title} in {seconds:.1f} s"

    def close_explorer(self, name: str) -> None:
        """Close an explorer, and stop its computations.

        Parameters
        ----------
        name
            Name of an open explorer.
        """
        explorer = self.opened.pop(name, None)
        if explorer is not None:
            explorer.stop()
            explorer._leave()
            self._arrange()
            self._said = self.status = f"Closed {self.offers[name].explorer.title}"
        self._buttons[name].value = False

    def _arrange(self) -> None:
        kept = {part.explorer: part for part in self._place.children}
        self._place.children = tuple(
            kept.get(explorer) or _Opened(self.offers[name].explorer.title, explorer)
            for name, explorer in self.opened.items()
        )

    def _follow(self, kind: str, *, own: bool) -> None:
        """Do nothing: the open explorers show the selection."""


class _Opened(ipywidgets.VBox):
    """An explorer under its title."""

    def __init__(self, title: str, explorer: Explorer) -> None:
        self.explorer = explorer
        super().__init__((ipywidgets.HTML(f"<b>{html.escape(title)}</b>"), explorer))
        self.add_class("genobit-opened")
