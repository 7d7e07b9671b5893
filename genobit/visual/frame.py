"""The frame of every explorer: controls, tools and status, then pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.visual.controls import export_menu, row
from genobit.visual.linking import SelectionRow
from genobit.visual.looks import style

if TYPE_CHECKING:
    from collections.abc import Iterable

    import ipywidgets

    from genobit.visual.explorer import Explorer


def framed(
    explorer: Explorer,
    controls: Iterable[ipywidgets.Widget],
    body: Iterable[ipywidgets.Widget],
    file: str,
) -> tuple[ipywidgets.Widget, ...]:
    """Return an explorer's children in the order that all explorers share.

    It also sets `controls` and `menu` of the explorer. `file` is the default name of saved files.
    """
    explorer.controls = tuple(controls)
    explorer.menu = export_menu(explorer, file)
    selecting = SelectionRow(explorer)
    tools = row(selecting, explorer.menu).add_class("genobit-tools")
    said = row(explorer.status_row, selecting.line)
    return (style(), *explorer.controls, tools, said, *body)
