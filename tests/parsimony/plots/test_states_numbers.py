"""A site has one number, counted from 0, in calls, tables, figures, files and the explorer."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.launcher.plots import homoplasy_track, parsimony_tree, ranking_table, site_table
from genobit.parsimony.plots.homoplasy import draw_sites
from genobit.parsimony.plots.paper_tree import paper_tree
from genobit.parsimony.plots.states import changes_of
from genobit.visual.genome import places
from tests.helpers.explorers import named
from tests.parsimony.plots.drawn import drawn, words

pytestmark = pytest.mark.usefixtures("undrawn")

TREE = "((a,b),(c,d),e);"
#: The only site that varies: it changes on the branches to b and d, where once would do.
SITE = 27


@pytest.fixture(scope="module")
def made() -> SimpleNamespace:
    values = np.full((5, 40), "A")
    values[[1, 3], SITE] = "C"
    taxa = {"taxa": list("abcde")}
    aln = xr.DataArray(values, taxa, ("taxa", "sites"), attrs={"kind": "dna"})
    return SimpleNamespace(
        aln=aln,
        scores=aln.genobit.parsimony(TREE),
        ancestors=aln.genobit.ancestral_states(TREE),
    )


@pytest.fixture
def explorer(made):
    return made.aln.genobit.explore.parsimony(TREE)


def after(word: str, text: str) -> int:
    """Return the number after a word."""
    return int(re.search(rf"\b{word} (\d+)", text)[1])


def title(picture) -> str:
    return picture.opts.get("plot").kwargs["title"]


def symbol_error(x) -> int:
    wrong = x.aln.copy()
    wrong[2, SITE] = "!"
    with pytest.raises(ValueError, match="site") as caught:
        wrong.genobit.parsimony(TREE)
    return after("site", str(caught.value))


def track(x):
    return homoplasy_track(x.scores, SITE)


def middle(bars) -> float:
    return float((bars["x"] + bars["x1"])[0] / 2)


def bold(figure) -> int:
    shown = (t for t in figure.axes[0].texts if t.get_fontweight() == "bold")
    return next(int(t.get_text()) for t in shown if t.get_text().isdecimal())


SHOWN = {
    "parsimony": lambda x: np.argmax(x.scores["changes"].values),
    "symbol that is none": symbol_error,
    "table of sites": lambda x: site_table(x.scores)["site"][0],
    "drawn table of sites": lambda x: draw_sites(site_table(x.scores))["site"][0],
    "table of changes": lambda x: changes_of(x.ancestors, 1)["site"][0],
    "title of a tree": lambda x: after("site", title(parsimony_tree(x.ancestors, site=SITE))),
    "column of a paper tree": lambda x: bold(drawn(paper_tree(x.ancestors))),
    "note of a paper tree": lambda x: after("state of site", words(drawn(paper_tree(x.ancestors)))),
    "bar of the track": lambda x: middle(track(x).Rectangles.Sites),
    "hover of the track": lambda x: int(track(x).Rectangles.Sites["sites"][0]),
    "mark of the track": lambda x: track(x).Segments.Site["x"][0],
}


@pytest.mark.parametrize("place", SHOWN)
def test_results_and_figures(made, place):
    assert SHOWN[place](made) == SITE


def saved(explorer, folder, what: str) -> int:
    getattr(explorer, f"save_{what}")(folder / "table.csv")
    return pd.read_csv(folder / "table.csv")["site"][0]


def changes_shown(explorer, _folder) -> int:
    explorer.branch, explorer.tab = 1, "changes"
    return explorer._changes._members[0, 0]


EXPLORED = {
    "trait": lambda x, _: x.site,
    "card": lambda x, _: after("site", x.card.value),
    "box": lambda x, _: named(x, "genobit-parsimony-site-box").value,
    "table of sites": lambda x, _: x.sites["site"][0],
    "table of changes": changes_shown,
    "file of sites": lambda x, folder: saved(x, folder, "sites"),
    "file of changes": lambda x, folder: saved(x, folder, "changes"),
}


@pytest.mark.parametrize("place", EXPLORED)
def test_explorer(explorer, tmp_path, place):
    assert EXPLORED[place](explorer, tmp_path) == SITE


def test_explorer_is_led_by_the_same_number(explorer):
    for lead in (
        lambda: explorer.find(str(SITE)),
        lambda: explorer._track._tapped(SITE + 0.4, 0.0),
        lambda: setattr(named(explorer, "genobit-parsimony-site-box"), "value", SITE),
    ):
        explorer.site = 0
        lead()
        assert explorer.site == SITE
    explorer.find("0")
    assert explorer.site == 0


def test_variants_without_names_count_from_0_too():
    calls = np.zeros((12, 40, 2), "i1")
    calls[7, 20:] = 1
    bare = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    found = bare.genobit.epistasis(np.arange(40) >= 20, order=2, top=1)
    assert 7 in found["variants"].values
    assert "variant 7" in ranking_table(found).data["variants"][0]
    assert places(bare).names[7] == "variant 7"
