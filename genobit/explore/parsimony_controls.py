"""The rows of controls over the parsimony explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from genobit.plots.trees import LAYOUTS, LENGTHS, NUMBERS

from .controls import dropdown, linked, row

if TYPE_CHECKING:
    from .parsimony import ParsimonyExplorer

VIEWS = {"tree": "tree", "two trees": "two", "search": "search"}
RESOLVES = {
    "changes early (ACCTRAN)": "acctran",
    "changes late (DELTRAN)": "deltran",
    "all possible states": "sets",
}


def parsimony_controls(explorer: ParsimonyExplorer) -> tuple[ipywidgets.HBox, ...]:
    """Make the controls of the parsimony explorer.

    Parameters
    ----------
    explorer
        Its traits are read and set by the controls.
    """
    of_a_tree = [_look(explorer), _sites(explorer)]

    def offer(_change: Any) -> None:
        for part in of_a_tree:
            part.layout.display = "flex" if explorer.view == "tree" else "none"

    explorer.observe(offer, "view")
    offer(None)
    return (_trees(explorer), *of_a_tree, _export(explorer))


def _trees(explorer: ParsimonyExplorer) -> ipywidgets.HBox:
    view = _toggles(list(VIEWS.items()), "90px")
    tree = dropdown("tree", [("…", 0)], "260px")
    other = dropdown("beside", [("…", 0)], "260px")
    search = _button(explorer, "search", "search", explorer.search, "100px")

    def offer(_change: Any) -> None:
        for choice, trait in ((tree, "tree"), (other, "other")):
            # Values first taken from the trait: a list without the value would reset it.
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


def _look(explorer: ParsimonyExplorer) -> ipywidgets.HBox:
    layout = _toggles([(name, name) for name in LAYOUTS], "100px")
    lengths = _toggles([(f"lengths: {name}", name) for name in LENGTHS], "150px")
    numbers = dropdown("on branches", [(name, name) for name in NUMBERS], "190px")
    resolve = dropdown("ancestors", list(RESOLVES.items()), "270px")
    here = _button(explorer, "root here", "sign-in", explorer.root_here, "110px")
    back = _button(explorer, "root as given", "undo", explorer.root_as_given, "130px")

    def offer(_change: Any) -> None:
        here.disabled = explorer.branch is None
        back.disabled = not explorer.outgroup

    explorer.observe(offer, ["branch", "outgroup"])
    offer(None)
    return row(
        linked(explorer, "layout_of_tree", layout),
        linked(explorer, "lengths", lengths),
        linked(explorer, "numbers", numbers),
        linked(explorer, "resolve", resolve),
        here,
        back,
    )


def _sites(explorer: ParsimonyExplorer) -> ipywidgets.HBox:
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
        value=explorer.site, min=0, max=last, layout={"width": "90px"}
    ).add_class("genobit-parsimony-site-box")
    slider_linked = linked(explorer, "site", slider)
    linked(explorer, "site", box)
    before = _button(explorer, "previous", "step-backward", explorer.previous_site, "110px")
    after = _button(explorer, "next homoplastic", "step-forward", explorer.next_site, "160px")
    return row(slider_linked, box, before, after, explorer.site_line)


def _export(explorer: ParsimonyExplorer) -> ipywidgets.HBox:
    name = ipywidgets.Text(
        value="parsimony",
        description="file",
        style={"description_width": "initial"},
        layout={"width": "200px"},
    ).add_class("genobit-parsimony-file")
    buttons = []
    for text, action, ending, what in (
        ("Newick", explorer.save_tree, ".nwk", "the tree with changes as branch lengths"),
        ("SVG", explorer.save_picture, ".svg", "the picture of the tree"),
        ("sites CSV", explorer.save_sites, "_sites.csv", "all sites and their changes"),
        ("changes CSV", explorer.save_changes, "_changes.csv", "the changes of all branches"),
    ):
        button = ipywidgets.Button(
            description=f"save {text}", icon="save", tooltip=what, layout={"width": "auto"}
        ).add_class(f"genobit-parsimony-save-{text.split()[0].lower()}")
        button.on_click(
            lambda _, action=action, ending=ending: explorer.try_to(action, f"{name.value}{ending}")
        )
        buttons.append(button)
    return row(name, *buttons)


def _toggles(options: list[tuple[str, str]], width: str) -> ipywidgets.ToggleButtons:
    return ipywidgets.ToggleButtons(options=options, style={"button_width": width})


def _button(
    explorer: ParsimonyExplorer, text: str, icon: str, action: Any, width: str
) -> ipywidgets.Button:
    button = ipywidgets.Button(description=text, icon=icon, layout={"width": width})
    button.on_click(lambda _: explorer.try_to(action))
    return button.add_class(f"genobit-parsimony-{text.replace(' ', '-')}")
