"""Rows of controls above the parsimony explorer."""

from __future__ import annotations

from typing import Any

import ipywidgets

from genobit.parsimony.explorer.traits import RESOLVES, VIEWS, ParsimonyTraits
from genobit.parsimony.plots.tree import LAYOUTS, LENGTHS, NUMBERS
from genobit.visual.controls import button, dropdown, linked, row


def parsimony_controls(explorer: ParsimonyTraits) -> tuple[ipywidgets.HBox, ...]:
    """Make the controls of the parsimony explorer, which read and set its traits."""
    of_a_tree = [_look(explorer), _sites(explorer)]

    def offer(_change: Any) -> None:
        for part in of_a_tree:
            part.layout.display = "flex" if explorer.view == "tree" else "none"

    explorer.observe(offer, "view")
    offer(None)
    return (_trees(explorer), *of_a_tree)


def _trees(explorer: ParsimonyTraits) -> ipywidgets.HBox:
    view = _toggles(list(VIEWS.items()), "90px")
    tree = dropdown("tree", [("…", 0)], "260px")
    other = dropdown("second tree", [("…", 0)], "260px")
    search = button(explorer, "search", "search", "100px", explorer.search)

    def offer(_change: Any) -> None:
        for choice, trait in ((tree, "tree"), (other, "other")):
            # The value is set from the trait: a list without the value would reset the trait.
            choice.options = [(text, k) for k, text in enumerate(explorer.tree_names)] or [("…", 0)]
            choice.value = getattr(explorer, trait)
        search.layout.display = "none" if explorer.tree_names else "flex"

    def arrange(_change: Any) -> None:
        other.layout.display = "flex" if explorer.view == "two" else "none"

    explorer.observe(offer, "tree_names")
    explorer.observe(arrange, "view")
    offer(None)
    arrange(None)
    return row(
        linked(explorer, "view", view),
        linked(explorer, "tree", tree),
        linked(explorer, "other", other),
        search,
    )


def _look(explorer: ParsimonyTraits) -> ipywidgets.HBox:
    layout = _toggles([(name, name) for name in LAYOUTS], "104px")
    lengths = _toggles([(name, name) for name in LENGTHS], "84px")
    numbers = dropdown("on branches", [(name, name) for name in NUMBERS], "190px")
    resolve = dropdown("ancestors", list(RESOLVES.items()), "280px")
    here = button(explorer, "root here", "sign-in", "100px", explorer.root_here)
    back = button(explorer, "root as given", "undo", "130px", explorer.root_as_given)

    def offer(_change: Any) -> None:
        here.disabled = explorer.branch is None
        back.disabled = not explorer.outgroup

    explorer.observe(offer, ["branch", "outgroup"])
    offer(None)
    return row(
        linked(explorer, "layout_of_tree", layout),
        ipywidgets.HTML("lengths"),
        linked(explorer, "lengths", lengths),
        linked(explorer, "numbers", numbers),
        linked(explorer, "resolve", resolve),
        here,
        back,
    )


def _sites(explorer: ParsimonyTraits) -> ipywidgets.HBox:
    last = explorer.n_sites - 1
    slider = ipywidgets.IntSlider(
        value=explorer.site,
        min=0,
        max=last,
        description="site",
        readout=False,
        style={"description_width": "initial"},
        layout={"width": "420px"},
    )
    box = ipywidgets.BoundedIntText(
        value=explorer.site,
        min=0,
        max=last,
        tooltip="number of a site, from 0",
        layout={"width": "90px"},
    ).add_class("genobit-parsimony-site-box")
    slider_linked = linked(explorer, "site", slider)
    linked(explorer, "site", box)
    before = button(explorer, "previous", "step-backward", "110px", explorer.previous_site)
    after = button(explorer, "next homoplastic", "step-forward", "160px", explorer.next_site)
    return row(slider_linked, box, before, after, explorer.site_line)


def _toggles(options: list[tuple[str, str]], width: str) -> ipywidgets.ToggleButtons:
    return ipywidgets.ToggleButtons(options=options, style={"button_width": width})
