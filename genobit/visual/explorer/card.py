"""The card over the picture of an explorer."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import ipywidgets

if TYPE_CHECKING:
    from collections.abc import Sequence


class Card(ipywidgets.HTML):
    """The selection on a card over the picture: its title, and values of it."""

    def __init__(self, css: str) -> None:
        super().__init__()
        self.add_class("genobit-card").add_class(f"{css}-card")
        self._over_picture = True
        self.show("", [])

    def show(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        """Show a title and rows of a name and a value; without a title there is no card."""
        cells = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>"
            for name, value in rows
        )
        self.value = f"<h4>{html.escape(title)}</h4><table>{cells}</table>" if title else ""
        self.place(over_picture=self._over_picture)

    def place(self, *, over_picture: bool) -> None:
        """Show the card if it is over the picture and has a title."""
        self._over_picture = over_picture
        self.layout.display = "block" if self.value and over_picture else "none"
