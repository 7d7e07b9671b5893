"""The launcher, the frame that all explorers have, and the selection that they share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import ipywidgets
import numpy as np
import pytest
import traitlets
import xarray as xr

import genobit as gb
from genobit.epistasis import analysis
from genobit.launcher.launcher import Launcher
from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.menu import Copier
from genobit.visual.explorer.naming import Names
from genobit.visual.explorer.picture import Picture

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    generator = np.random.default_rng(3)
    calls = generator.integers(0, 2, (15, 40, 2)).astype("int8")
    calls[1::3] = calls[0::3]
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(15)])),
            "variant_contig": ("variants", np.repeat([0, 1], [10, 5])),
            "variant_position": ("variants", 1_000 * np.arange(1, 16)),
            "contig_id": ("contigs", np.array(["1", "2"])),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(40)])),
            "sample_case": ("samples", generator.integers(0, 2, 40)),
            "sample_height": ("samples", generator.normal(size=40)),
        }
    )


@pytest.fixture(scope="module")
def aln() -> xr.DataArray:
    symbols = [list(word) for word in ("AACGT", "AACGA", "GACTT", "GTCTA", "GTATA")]
    return xr.DataArray(symbols, {"taxa": list("vwxyz")}, ("taxa", "sites"), attrs={"kind": "dna"})


@pytest.fixture(scope="module")
def top(ds) -> xr.Dataset:
    return ds.genobit.epistasis("sample_case", top=105)


def every(ds: xr.Dataset, aln: xr.DataArray, top: xr.Dataset) -> dict[str, object]:
    return {
        "ld": ds.genobit.explore.ld,
        "grm": ds.genobit.explore.grm,
        "kendall": ds.genobit.explore.kendall,
        "epistasis": lambda **initial: ds.genobit.explore.epistasis(top, **initial),
        "parsimony": lambda **initial: aln.genobit.explore.parsimony("((v,w),x,(y,z));", **initial),
    }


NAMES = ("ld", "grm", "kendall", "epistasis", "parsimony")


class TestFrame:
    @pytest.mark.parametrize("name", NAMES)
    def test_an_unknown_trait_is_refused_with_those_there_are(self, ds, aln, top, name):
        make = every(ds, aln, top)[name]
        with pytest.raises(TypeError, match=r"has no trait 'sites'.* It has .*theme"):
            make(sites=1)
        with pytest.raises(TypeError, match=r"no trait 'status'"):
            make(status="ready")

    def test_a_slip_of_the_pen_is_guessed(self, aln):
        with pytest.raises(TypeError, match="did you mean 'site'"):
            aln.genobit.explore.parsimony("((v,w),x,(y,z));", sites=1)

    @pytest.mark.parametrize("name", NAMES)
    def test_a_shell_shows_one_line(self, ds, aln, top, name):
        shown = repr(every(ds, aln, top)[name]())
        assert shown.endswith("Explorer is shown in notebooks: `genobit lab` opens JupyterLab")
        assert len(shown) <= 110  # ipywidgets cuts longer ones where it shows them as text

    @pytest.mark.parametrize("name", NAMES)
    def test_every_control_says_what_it_is_for(self, ds, aln, top, name):
        explorer = every(ds, aln, top)[name]()
        assert explorer.status
        assert not explorer.status.startswith("Error")
        for control in focusable(explorer):
            assert control.tooltip, (control.description, control)

    @pytest.mark.parametrize("name", NAMES)
    def test_the_menu_offers_what_there_is_and_the_page(self, ds, aln, top, name, tmp_path):
        explorer = every(ds, aln, top)[name]()
        texts = [text for text, _ in explorer.menu.options]
        assert texts[0] == "Export"
        assert texts[-2:] == ["all pictures (HTML)", "copy Python"]
        assert {"figure (PDF)", "figure (SVG)", "figure (PNG)"} < set(texts)
        part_of(explorer, "file").value = str(tmp_path / "page")
        explorer.menu.value = len(texts) - 2
        assert "nothing has been drawn yet" in explorer.status
        assert explorer.menu.value == 0
        explorer.menu.value = len(texts) - 1
        assert explorer.status == f"Copied: {explorer.python()}"

    def test_theme(self, ds):
        explorer = ds.genobit.explore.ld(theme="dark")
        assert "genobit-theme-dark" in explorer._dom_classes
        explorer.theme = "auto"
        assert "genobit-theme-dark" not in explorer._dom_classes
        with pytest.raises(traitlets.TraitError, match="theme"):
            explorer.theme = "blue"


def focusable(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    if hasattr(widget, "children"):
        return [found for child in widget.children for found in focusable(child)]
    return [] if isinstance(widget, ipywidgets.HTML | Copier | Names | Picture) else [widget]


def part_of(explorer: Any, name: str) -> Any:
    """Return the control of an explorer with this CSS class."""
    parts = focusable(explorer)
    return next(part for part in parts if f"{explorer.css}-{name}" in part._dom_classes)


class TestSharing:
    def test_pair_of_one_is_marked_and_filters_in_the_others(self, ds, top):
        selection = gb.Selection(ds)
        ld = ds.genobit.explore.ld(selection=selection)
        kendall = ds.genobit.explore.kendall(selection=selection)
        epistasis = ds.genobit.explore.epistasis(top, selection=selection)
        ld.selected = (3, 4)
        assert selection.variants == ("rs3", "rs4")
        assert kendall.pair == (3, 4)
        members = epistasis.ranked.variants[epistasis._listed]
        assert np.isin(members, (3, 4)).any(axis=1).all()
        assert "of 105 combinations with one of 2 selected variants" in epistasis.count_line.value
        # What is chosen in the filtered table is the selection, and leaves the table as it is.
        listed = epistasis._listed.copy()
        epistasis.chosen = int(listed[-1])
        names = tuple(f"rs{k}" for k in epistasis.ranked.variants[listed[-1]])
        assert selection.variants == names
        assert ld.selected == kendall.pair == tuple(epistasis.ranked.variants[listed[-1]])
        np.testing.assert_array_equal(epistasis._listed, listed)
        selection.clear()
        assert ld.selected == ()
        assert len(epistasis._listed) == 105

    def test_samples_of_one_are_the_cohort_of_another(self, ds):
        selection = gb.Selection()
        grm = ds.genobit.explore.grm(selection=selection)
        ld = ds.genobit.explore.ld(selection=selection, of_samples="selected")
        assert "fewer than two samples" in ld.status
        grm.selected = tuple(range(10, 30))
        assert ld.status.endswith("among 20 selected samples")
        expected = ds.genobit.isel(samples=slice(10, 30)).genobit.pack()
        expected = expected.isel(variants=slice(0, 10)).genobit.ld("r2").compute()
        np.testing.assert_array_equal(ld.visible["r2"], expected)
        selection.samples = ["s1"]
        assert grm.selected == (1,)
        ld.of_samples = "all"
        assert ld.visible.attrs["samples"] == 40

    def test_points_of_a_scatter(self, ds):
        selection = gb.Selection(ds, samples=["s5", "s7"])
        kendall = ds.genobit.explore.kendall(selection=selection, pair=(0, 1))
        assert kendall._scatter._picks.shown == {5, 7}
        kendall._scatter._picks._picked([1, 2])
        assert selection.samples == ("s1", "s2")
        assert selection.variants == ("rs0", "rs1")

    def test_taxa_and_sites(self, aln):
        selection = gb.Selection()
        trees = "((v,w),x,(y,z));"
        first = aln.genobit.explore.parsimony(trees, selection=selection)
        second = aln.genobit.explore.parsimony(trees, selection=selection)
        assert selection.variants == ()
        first.site = 1
        assert (selection.variants, second.site) == ((1,), 1)
        parents = first.ancestry.tree.parents
        first.branch = int(parents[0])
        assert selection.samples == ("v", "w")
        assert second._marks()["selected"] == [0, 1]

    def test_by_name_with_the_keyboard(self, ds):
        explorer = ds.genobit.explore.grm()
        box = part_of(explorer, "select")
        box.value = "s3, rs2 s4"
        assert explorer.selected == (3, 4)
        assert explorer.selection.variants == ("rs2",)
        box.value = "nobody"
        assert explorer.status.startswith("Error: there is no 'nobody'")

    def test_refuses_what_is_no_selection_or_of_other_data(self, ds):
        with pytest.raises(TypeError, match="selection is a str"):
            ds.genobit.explore.ld(selection="rs1")
        with pytest.raises(ValueError, match="there is no 'rs99'"):
            ds.genobit.explore.ld(selection=gb.Selection(variants=["rs99"]))
        genes = gb.sample_expression()[:5].rename(gene="g", sample="donor")
        with pytest.raises(ValueError, match=r"or taxa\), and these data have 'g', 'donor'"):
            genes.genobit.explore.kendall(dim="donor", selection=gb.Selection())

    def test_a_selection_far_away_is_gone_to(self, ds):
        explorer = ds.genobit.explore.ld()
        explorer.selection.variants = ["rs12", "rs13"]
        explorer.go_to_selection()
        assert explorer.region[0] == "2"
        assert list(explorer.visible["variant_id_0"].values) == [f"rs{k}" for k in range(10, 15)]


class TestLauncher:
    def test_says_what_a_dataset_supports(self, ds):
        launcher = ds.genobit.explore()
        why = {name: offer.why_not for name, offer in launcher.offers.items()}
        assert [name for name in why if not why[name]] == ["ld", "grm", "kendall", "epistasis"]
        assert "ploidy 2" in why["parsimony"]
        assert launcher.status == "4 of 5 explorers can be opened"
        assert isinstance(launcher, Launcher)

    @pytest.mark.parametrize(
        ("change", "name", "said"),
        [
            (lambda ds: ds.drop_vars(["sample_case", "sample_height"]), "epistasis", "phenotype"),
            (lambda ds: ds.isel(variants=[0]), "ld", "needs two variants"),
            (lambda ds: ds.isel(samples=[0]), "grm", "needs two samples"),
            (lambda ds: ds.drop_vars("variant_position"), "ld", "no variant_position"),
            (lambda ds: ds.drop_vars("call_genotype"), "kendall", "it needs genotypes"),
            (lambda ds: ds.genobit.pack(rows="samples"), "kendall", "it needs pack"),
            (lambda ds: ds.genobit.pack(), "parsimony", "genotypes that the planes"),
        ],
    )
    def test_says_why_not(self, ds, change, name, said):
        launcher = change(ds).genobit.explore()
        assert said in launcher.offers[name].why_not
        button = launcher._buttons[name]
        assert button.disabled
        with pytest.raises(ValueError, match=said):
            launcher.launch(name)

    def test_says_what_an_array_supports(self, aln):
        array = xr.DataArray(np.zeros((4, 9)), dims=("gene", "sample"))
        offered = {name: offer.why_not for name, offer in array.genobit.explore().offers.items()}
        assert offered["kendall"] == ""
        assert "here gene, sample" in offered["parsimony"]
        offered = {name: offer.why_not for name, offer in aln.genobit.explore().offers.items()}
        assert "numbers, not" in offered["kendall"]
        assert offered["parsimony"] == ""

    def test_buttons_open_and_close_what_shares_a_selection(self, ds):
        launcher = ds.genobit.explore(theme="dark")
        for name in ("ld", "grm"):
            launcher._buttons[name].value = True
        ld, grm = launcher.opened["ld"], launcher.opened["grm"]
        assert ld.theme == "dark"
        grm.selected = (1, 2)
        assert launcher.selection.samples == ("s1", "s2")
        launcher.selection.variants = ["rs3"]
        assert ld.selected == (3,)
        launcher._buttons["grm"].value = False
        assert list(launcher.opened) == ["ld"]
        launcher.selection.samples = []
        assert grm.selected == (1, 2)

    def test_searches_the_phenotype_that_is_chosen(self, ds):
        launcher = ds.genobit.explore()
        choice = launcher._choices["epistasis"]["phenotype"]
        assert [value for _, value in choice.options] == ["sample_case", "sample_height"]
        launcher._buttons["epistasis"].value = True
        explorer = launcher.opened["epistasis"]
        assert explorer.ranked.result.attrs["phenotype"] == "sample_case"
        launcher._buttons["epistasis"].value = False
        choice.value = "sample_height"
        launcher._buttons["epistasis"].value = True
        assert launcher.opened["epistasis"].ranked.trait

    def test_a_search_that_takes_too_long_is_refused(self, ds, monkeypatch):
        monkeypatch.setattr(analysis, "PATIENCE", 0.0)
        launcher = ds.genobit.explore()
        launcher._buttons["epistasis"].value = True
        assert "105 combinations would take about" in launcher.status
        assert not launcher._buttons["epistasis"].value
        assert launcher.opened == {}

    def test_unknown_names(self, ds):
        with pytest.raises(ValueError, match="no explorer 'pca'; use one of ld, grm"):
            ds.genobit.explore().launch("pca")

    def test_in_a_kernel_it_prepares_beside_the_loop(self, ds):
        async def session() -> Explorer:
            launcher = ds.genobit.explore()
            launcher.launch("ld")
            assert launcher.busy
            end = time.monotonic() + 600
            while "ld" not in launcher.opened and time.monotonic() < end:
                await asyncio.sleep(0.02)
            return launcher.opened["ld"]

        explorer = asyncio.run(session())
        assert explorer.status.startswith("r²: 10 variants")


def test_text__lists_explorers_and_what_the_others_need(ds) -> None:
    def marks(explore: object) -> dict[str, str]:
        rows = [line.split(maxsplit=2) for line in repr(explore).splitlines()[1:]]
        return {call: mark for mark, call, _ in rows}

    title = repr(ds.genobit.explore).splitlines()[0]
    assert title == "genobit explorers of 15 variants × 40 samples"
    of_all = dict.fromkeys(["explore.ld()", "explore.grm()", "explore.kendall()"], "✓")
    of_all |= {"explore.epistasis(result)": "✓", "explore()": "✓"}
    assert marks(ds.genobit.explore) == of_all
    turned = ds.genobit.pack(rows="samples").genobit.explore
    assert [call for call, mark in marks(turned).items() if mark == "✓"] == [
        "explore.grm()",
        "explore()",
    ]
    assert "it needs pack(rows='variants')" in repr(turned)
    expr = gb.sample_expression()
    assert marks(expr.genobit.explore) == {
        "explore.kendall()": "✓",
        "explore.parsimony()": "–",
        "explore()": "✓",
    }
    broken = ds.genobit.pack().drop_vars("plane_carrier")
    assert "lacks the plane 'plane_carrier'" in repr(broken.genobit.explore)
