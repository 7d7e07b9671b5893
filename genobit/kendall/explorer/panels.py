"""Places of the pictures of the Kendall explorer, and the small lines of text over them."""

from __future__ import annotations

import ipywidgets

from genobit.kendall.plots.edges import LISTED
from genobit.visual.looks import escaped


class Caption(ipywidgets.HTML):
    """A line of small text over a picture or a table; `name` is part of its CSS class."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.add_class("genobit-caption").add_class(f"genobit-kendall-{name}")

    def say(self, text: str) -> None:
        """Show a text."""
        self.value = f"<span>{escaped(text)}</span>"


def listed_in_words(count: int, which: str) -> str:
    """Say which rows a table has, if it does not have all ``count`` of them."""
    return f", the {LISTED} {which} are listed" if count > LISTED else ""


def side_by_side(
    network: list[ipywidgets.Widget],
    line: ipywidgets.Widget,
    heatmap: ipywidgets.Box,
    below: list[ipywidgets.Widget],
) -> ipywidgets.HBox:
    """Return the network and, beside it, a line of text, the heatmap and the widgets below it.

    The heatmap fills the height that the others leave.
    """
    left = ipywidgets.VBox(network, layout=_growing(3, 310))
    right = ipywidgets.VBox(
        [line, heatmap.add_class("genobit-fill"), *below], layout=_growing(1, 270)
    )
    return ipywidgets.HBox([left, right], layout={"flex_flow": "row wrap"})


def _growing(share: int, least: int) -> dict[str, str]:
    """Return the layout of a part that takes a share of the free width, and has a least width."""
    return {"flex": f"{share} 1 {least}px", "min_width": "0"}
