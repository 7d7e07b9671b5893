"""The rows of controls over the epistasis explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from .controls import dropdown, linked, row

if TYPE_CHECKING:
    from .epistasis import EpistasisExplorer


def epistasis_controls(explorer: EpistasisExplorer) -> tuple[ipywidgets.HBox, ...]:
    """Make the controls of the epistasis explorer.

    Parameters
    ----------
    explorer
        Its traits are read and set by the controls.
    """
    return (_choice(explorer), _export(explorer))


def _choice(explorer: EpistasisExplorer) -> ipywidgets.HBox:
    text = ipywidgets.Text(
        description="filter",
        placeholder="names, contig:, position, contig:from-to",
        continuous_update=False,
        style={"description_width": "initial"},
        layout={"width": "330px"},
    )
    parts = [linked(explorer, "filter", text)]
    if explorer.classes:
        names = [(name, name) for name in explorer.classes]
        offered = dropdown("share of class", names, "190px")
        parts.append(linked(explorer, "shown_class", offered))
    return row(*parts, explorer.count_line)


def _export(explorer: EpistasisExplorer) -> ipywidgets.HBox:
    name = ipywidgets.Text(
        value="epistasis",
        description="file",
        style={"description_width": "initial"},
        layout={"width": "220px"},
    ).add_class("genobit-epistasis-file")
    ranking = _button("save ranking CSV", "the listed combinations")
    ranking.on_click(lambda _: explorer.try_to(explorer.save_ranking, f"{name.value}_ranking.csv"))
    cells = _button("save table CSV", "the cells of the chosen combination")
    cells.on_click(
        lambda _: explorer.try_to(explorer.save_table, _table_name(explorer, name.value))
    )

    def offer(_change: Any) -> None:
        cells.disabled = explorer.chosen is None

    explorer.observe(offer, "chosen")
    offer(None)
    picture = ipywidgets.HTML("<i>PNG: the disk button over each picture</i>")
    return row(name, ranking, cells, picture)


def _table_name(explorer: EpistasisExplorer, name: str) -> str:
    rank = "" if explorer.chosen is None else f"_rank{explorer.chosen + 1}"
    return f"{name}{rank}.csv"


def _button(text: str, what: str) -> ipywidgets.Button:
    button = ipywidgets.Button(
        description=text, icon="save", tooltip=what, layout={"width": "auto"}
    )
    return button.add_class(f"genobit-epistasis-{text.removesuffix(' CSV').replace(' ', '-')}")
