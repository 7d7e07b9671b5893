"""The controls of the parsimony explorer, which read and set its traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets
import traitlets

from genobit.parsimony.explorer.traits import RESOLVES, VIEWS
from genobit.parsimony.plots.tree import LAYOUTS, LENGTHS, NUMBERS
from genobit.visual.explorer.controls import button, dropdown, linked

if TYPE_CHECKING:
    from typing import Any

    from genobit.parsimony.explorer.traits import ParsimonyTraits


def toolbar(explorer: ParsimonyTraits) -> list[ipywidgets.Widget]:
    """Return the view, the tree, the steps through the sites, and a search while it can help."""
    view = ipywidgets.Dropdown(options=list(VIEWS.items()), layout={"width": "100px"})
    search = button(explorer, "find trees", "search", "104px", explorer.search)
    tree, other = _trees(explorer, "tree", "180px"), _trees(explorer, "other", "180px")
    sites = _site_steps(explorer)

    def offer(_change: Any) -> None:
        known = bool(explorer.tree_names)
        offered = {search: not known, tree: known}
        offered |= {sites: known and explorer.view == "tree", other: explorer.view == "two"}
        for part, there in offered.items():
            part.layout.display = "flex" if there else "none"

    explorer.observe(offer, ["tree_names", "view"])
    offer(None)
    return [linked(explorer, "view", view), tree, other, sites, search]


def drawer(explorer: ParsimonyTraits) -> dict[str, list[ipywidgets.Widget]]:
    """Return the sections of the drawer."""
    looks = [
        linked(explorer, trait, dropdown(text, options, ""))
        for trait, text, options in (
            ("layout_of_tree", "layout", [(name, name) for name in LAYOUTS]),
            ("lengths", "lengths", [(name, name) for name in LENGTHS]),
            ("numbers", "numbers", [(name, name) for name in NUMBERS]),
            ("resolve", "ancestors", list(RESOLVES.items())),
        )
    ]
    last = explorer.n_sites - 1
    slider = ipywidgets.IntSlider(value=explorer.site, max=last, description="site", readout=False)
    return {
        "Tree": looks,
        "Root": [_roots(explorer)],
        "Site": [linked(explorer, "site", slider)],
    }


def search_box(explorer: ParsimonyTraits) -> ipywidgets.Text:
    """Return the search box, which finds taxa by name and sites by index."""
    text = ipywidgets.Text(
        placeholder="taxon, or index of a site",
        tooltip="names of taxa, with commas between, or the index of a site, from 0; then Enter",
        continuous_update=False,
    ).add_class("genobit-parsimony-find")

    def ask(change: Any) -> None:
        if change["new"].strip():
            explorer.try_to(find, change["new"])

    def find(words: str) -> None:
        explorer.find(words)
        text.value = ""  # a text with an error stays, to be corrected

    text.observe(ask, "value")
    return text


def _trees(explorer: ParsimonyTraits, trait: str, width: str) -> ipywidgets.Dropdown:
    # A list without the value of the trait would reset the trait.
    waiting = [("…", k) for k in range(getattr(explorer, trait) + 1)]
    choice = ipywidgets.Dropdown(options=waiting, layout={"width": width})

    link = traitlets.link((explorer, trait), (choice, "value"))

    def offer(_change: Any) -> None:
        # New options would choose the first one in place of the reader's choice.
        link.unlink()
        choice.options = [(text, k) for k, text in enumerate(explorer.tree_names)]
        choice.value = getattr(explorer, trait)
        link.link()

    explorer.observe(offer, "tree_names")
    choice.tooltip = explorer.meaning(trait)
    return choice.add_class(f"{explorer.css}-{trait}")


def _site_steps(explorer: ParsimonyTraits) -> ipywidgets.HBox:
    box = ipywidgets.BoundedIntText(
        value=explorer.site,
        max=explorer.n_sites - 1,
        description="site",
        tooltip="index of a site, from 0",
        style={"description_width": "initial"},
        layout={"width": "104px"},
    ).add_class("genobit-parsimony-site-box")
    before = button(explorer, "", "step-backward", "32px", explorer.previous_site)
    after = button(explorer, "", "step-forward", "32px", explorer.next_site)
    before.add_class("genobit-parsimony-previous")
    after.add_class("genobit-parsimony-next-homoplastic")
    linked(explorer, "site", box)
    parts = ipywidgets.HBox([before, box, after], layout={"align_items": "center"})
    return parts.add_class("genobit-group")


def _roots(explorer: ParsimonyTraits) -> ipywidgets.HBox:
    here = button(explorer, "root here", "sign-in", "", explorer.root_here)
    back = button(explorer, "root as given", "undo", "", explorer.root_as_given)

    def offer(_change: Any) -> None:
        here.disabled = explorer.branch is None
        back.disabled = not explorer.outgroup

    explorer.observe(offer, ["branch", "outgroup"])
    offer(None)
    return ipywidgets.HBox([here, back], layout={"flex_flow": "row wrap"})
