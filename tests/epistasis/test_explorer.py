"""The epistasis explorer by its traits: no browser, no kernel, so every change is at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import traitlets
import xarray as xr

import genobit  # noqa: F401  the accessor
from genobit.epistasis.explorer.explorer import EpistasisExplorer
from genobit.epistasis.explorer.views import card_of
from tests.helpers.explorers import said
from tests.visual.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    """Twelve variants on two contigs; the third and the ninth make cases together."""
    generator = np.random.default_rng(5)
    calls = generator.integers(0, 2, (12, 240, 2)).astype("int8")
    one = (calls[2].sum(axis=1) == 1) ^ (calls[8].sum(axis=1) == 1)
    case = generator.random(240) < np.where(one, 0.85, 0.2)
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_id": ("variants", np.array([f"rs{k}" for k in range(12)])),
            "variant_contig": ("variants", np.repeat([0, 1], 6)),
            "variant_position": ("variants", np.tile(1000 * np.arange(1, 7), 2)),
            "variant_allele": (("variants", "alleles"), np.array([["A", "G"]] * 12)),
            "contig_id": ("contigs", np.array(["1", "2"])),
            "sample_case": ("samples", case),
            "sample_kind": ("samples", np.array(["x", "y", "z"])[np.arange(240) % 3]),
            "sample_height": ("samples", generator.normal(size=240)),
        }
    )


@pytest.fixture(scope="module")
def result(ds: xr.Dataset) -> xr.Dataset:
    return ds.genobit.epistasis("sample_case", top=30, permutations=20, seed=1)


@pytest.fixture
def explorer(ds: xr.Dataset, result: xr.Dataset) -> EpistasisExplorer:
    return ds.genobit.explore.epistasis(result)


def control(explorer: EpistasisExplorer, name: str) -> Any:
    """Return the control with a name, wherever it is in the frame."""

    def within(widget: Any) -> Iterator[Any]:
        yield widget
        for child in getattr(widget, "children", ()):
            yield from within(child)

    wanted = f"{explorer.css}-{name}"
    return next(part for part in within(explorer) if wanted in part._dom_classes)


def views(explorer: EpistasisExplorer) -> list:
    parts = ("_table", "_genome", "_cells", "_marginals", "_permutations")
    return [getattr(explorer, part) for part in parts]


class TestBegins:
    def test_with_the_best(self, explorer, ds):
        assert explorer.chosen == 0
        assert explorer.ranked.names[0].tolist() == ["rs2", "rs8"]
        assert explorer.classes == ["False", "True"]
        assert explorer.shown_class == "True"
        assert "30 combinations of 2 by MI (nats), of 66 searched" in explorer.status
        for tab in explorer.tabs:
            explorer.tab = tab
        assert not any(said(view) for view in views(explorer))
        assert ".epistasis(result)" in repr(ds.genobit.explore)

    def test_with_traits(self, ds, result):
        explorer = ds.genobit.explore.epistasis(result, chosen=3, filter="rs2", shown_class="False")
        assert explorer.chosen == 3
        assert explorer.ranking["rank"].tolist() == [k + 1 for k in explorer.ranked.matching("rs2")]

    def test_partial(self, ds, result):
        explorer = ds.genobit.explore.epistasis(result.assign_attrs(partial=True))
        assert explorer.status.startswith("Partial: the search was stopped")

    def test_nothing_ranked(self, ds, result):
        explorer = ds.genobit.explore.epistasis(result.isel(rank=slice(0, 0)))
        assert "ranked no combination" in said(explorer._table)
        assert all(said(view) for view in views(explorer))
        explorer.filter = "rs2"
        assert not explorer.status.startswith("Error")

    def test_without_permutations(self, ds, result):
        explorer = ds.genobit.explore.epistasis(
            result.drop_vars(["permutation_maximum", "p_familywise"])
        )
        explorer.tab = "permutations"
        assert "permutations=1000" in said(explorer._permutations)
        with pytest.raises(ValueError, match="permutations=1000"):
            explorer.figure()

    def test_what_is_no_ranking(self, ds):
        with pytest.raises(
            TypeError, match=r"DataArray 'r2' .* the Dataset that ds\.genobit\.epist"
        ):
            ds.genobit.explore.epistasis(ds.genobit.ld())
        with pytest.raises(TypeError, match="result= is of type Estimate;"):
            ds.genobit.explore.epistasis(ds.genobit.estimate.epistasis("sample_case"))

    def test_ranks_of_the_result(self, ds, result, tmp_path):
        numbered = result.assign_coords(rank=np.arange(1, 31))
        explorer = ds.genobit.explore.epistasis(numbered.isel(rank=[20, 4, 7]), chosen=1)
        assert explorer.ranking["rank"].tolist() == [21, 5, 8]
        explorer.save_table(tmp_path / "cells.csv")
        assert "the cells of rank 5" in explorer.status
        plain = ds.genobit.explore.epistasis(result.isel(rank=[20, 4, 7]))
        assert plain.ranking["rank"].tolist() == [1, 2, 3]

    def test_other_variants(self, ds, result):
        with pytest.raises(ValueError, match="a search of these variants"):
            ds.isel(variants=slice(3, 9)).genobit.explore.epistasis(result)


class TestChooses:
    def test_row_and_arc(self, explorer):
        explorer.tab = "ranking"
        explorer._table._picks._picked([4])
        assert explorer.chosen == 4
        arcs = explorer._arcs
        top = float(arcs.heights(np.array([0]))[0])
        explorer._genome._tapped(float(arcs.x[0].mean()), top)
        assert explorer.chosen == 0
        assert explorer._table._picks.shown == {0}
        explorer.chosen = 2
        explorer._genome._tapped(450.0, 900.0)
        assert explorer.chosen == 2

    def test_row_of_a_filtered_table(self, explorer):
        explorer.tab = "ranking"
        explorer.filter = "2:"
        ranks = explorer.ranked.matching("2:")
        explorer._table._picks._picked([1])
        assert explorer.chosen == ranks[1]
        assert explorer._table._picks.shown == {1}

    def test_none(self, explorer):
        explorer.chosen = None
        assert "Click a row" in said(explorer._cells)
        with pytest.raises(ValueError, match="no combination is chosen"):
            _ = explorer.table

    def test_filter_without_a_match(self, explorer):
        explorer.tab = "ranking"
        explorer.filter = "<b>nothing"
        assert "No combination is left" in said(explorer._table)
        assert "&lt;b&gt;" in explorer.count_line.value
        explorer.filter = ""
        assert not said(explorer._table)
        assert explorer.count_line.value == "30 combinations"

    def test_refuses(self, explorer):
        with pytest.raises(traitlets.TraitError, match="0 to 29"):
            explorer.chosen = 30
        with pytest.raises(traitlets.TraitError, match="'False', 'True'"):
            explorer.shown_class = "other"

    def test_controls_follow(self, explorer):
        control(explorer, "filter").value = "rs8"
        assert explorer.filter == "rs8"
        assert explorer.status.startswith(f"{len(explorer.ranking)} of 30 combinations with 'rs8'")
        control(explorer, "shown-class").value = "False"
        assert explorer.shown_class == "False"

    def test_steps_through_the_list(self, explorer):
        explorer.filter = "2:"
        ranks = explorer.ranked.matching("2:").tolist()
        explorer.chosen = ranks[0]
        control(explorer, "after").click()
        assert explorer.chosen == ranks[1]
        control(explorer, "before").click()
        assert explorer.chosen == ranks[0]
        control(explorer, "before").click()
        assert "the first combination of the list" in explorer.status
        explorer.chosen = ranks[-1]
        control(explorer, "after").click()
        assert "the last combination of the list" in explorer.status
        explorer.chosen = None
        control(explorer, "after").click()
        assert explorer.chosen == ranks[0]
        explorer.filter = "nothing"
        control(explorer, "after").click()
        assert "clear the filter" in explorer.status

    def test_search_selects_variants(self, explorer):
        control(explorer, "select").value = "rs8"
        holds = (explorer.ranked.names == "rs8").any(axis=1)
        assert len(explorer.ranking) == holds.sum() < 30
        assert "with one of 1 selected variant" in explorer.status


class TestFrame:
    def test_tabs_are_drawn_when_they_are_chosen(self, explorer):
        assert said(explorer._table)
        assert said(explorer._permutations)
        explorer.tab = "ranking"
        assert not said(explorer._table)
        assert explorer.card.layout.display == "none"
        explorer.chosen = 3
        explorer.tab = "permutations"
        assert explorer._permutations._marked == 3
        explorer.tab = "picture"
        assert explorer._genome._marked == 3
        assert explorer.card.layout.display == "block"

    def test_card_says_what_is_chosen(self, explorer, result):
        explorer.chosen = 4
        names = explorer.ranked.names[4]
        assert all(name in explorer.card.value for name in names)
        assert "<td>rank</td><td>5 of 30</td>" in explorer.card.value
        assert f"<td>p</td><td>{float(result.p[4]):.2g}</td>" in explorer.card.value
        explorer.chosen = None
        assert explorer.card.layout.display == "none"

    def test_status_says_how_many_arcs_are_drawn(self, ds, monkeypatch):
        monkeypatch.setattr("genobit.epistasis.plots.arcs.MOST_ARCS", 7)
        explorer = ds.genobit.explore.epistasis(ds.genobit.epistasis("sample_case", top=30))
        assert explorer.status.endswith("; arcs of the best 7 of 30 pairs")

    @pytest.mark.parametrize("tab", EpistasisExplorer.tabs)
    def test_figure(self, explorer, tab, tmp_path):
        explorer.tab = tab
        path = explorer.save_figure(tmp_path / "shown.pdf")
        assert path.read_bytes().startswith(b"%PDF")

    def test_figure_of_the_view(self, explorer):
        explorer.chosen, explorer.shown_class = 2, "False"
        names = " × ".join(explorer.ranked.names[2])
        shown = explorer.figure()
        assert f"3. {names}" in repr(shown)
        assert "False" in shown.hv.opts.get("plot").kwargs["title"]
        explorer.chosen = None
        with pytest.raises(ValueError, match="Click a row"):
            explorer.figure()

    def test_a_figure_keeps_its_combination(self, explorer):
        explorer.chosen = 2
        shown = explorer.figure()
        before = sorted(text for text, _ in texts_of(shown.to_matplotlib(180)))
        explorer.chosen = 5
        assert sorted(text for text, _ in texts_of(shown.to_matplotlib(180))) == before
        now = explorer.figure().to_matplotlib(180)
        assert sorted(text for text, _ in texts_of(now)) != before

    def test_python(self, ds, result, explorer):
        view = {"chosen": 4, "filter": "rs8", "shown_class": "False", "tab": "ranking"}
        for name, value in view.items():
            setattr(explorer, name, value)
        again = eval(explorer.python(), {"ds": ds, "result": result})
        assert {name: getattr(again, name) for name in view} == view
        assert again.status == explorer.status


class TestKinds:
    def test_three_classes(self, ds):
        result = ds.genobit.epistasis("sample_kind", top=5)
        explorer = ds.genobit.explore.epistasis(result)
        assert explorer.classes == ["x", "y", "z"]
        explorer.shown_class = "x"
        assert not said(explorer._cells)

    def test_trait(self, ds):
        result = ds.genobit.epistasis("sample_height", statistic="f", top=5)
        explorer = ds.genobit.explore.epistasis(result)
        assert explorer.classes == []
        assert not said(explorer._cells)
        assert "mean sample_height" in explorer.table

    @pytest.mark.slow
    @pytest.mark.parametrize("order", [1, 3, 4])
    def test_orders(self, ds, order, drawn):
        result = ds.genobit.epistasis("sample_case", order=order, top=5)
        explorer = ds.genobit.explore.epistasis(result)
        explorer.chosen = 2
        assert not said(explorer._cells)
        assert bool(said(explorer._genome)) == (order == 1)
        assert not explorer.status.startswith("Error")

    def test_too_many_members_for_cells(self, ds):
        result = ds.genobit.epistasis("sample_case", order=5, top=5)
        explorer = ds.genobit.explore.epistasis(result)
        assert "up to 4 variants are drawn" in said(explorer._cells)
        assert not said(explorer._marginals)
        assert len(explorer.table) == 243


class TestSaves:
    def test_ranking(self, explorer, tmp_path):
        explorer.filter = "rs8"
        path = explorer.save_ranking(tmp_path / "top.csv")
        pd.testing.assert_frame_equal(
            pd.read_csv(path),
            explorer.ranking.astype({"variant_contig_0": int, "variant_contig_1": int}),
        )
        assert str(path) in explorer.status

    def test_table(self, explorer, tmp_path, ds):
        saved = pd.read_csv(explorer.save_table(tmp_path / "cells.csv"))
        assert saved["n"].sum() == 240
        assert saved["n True"].sum() == int(ds.sample_case.sum())

    def test_refuses(self, explorer, tmp_path):
        with pytest.raises(ValueError, match=r"end it with \.csv"):
            explorer.save_ranking(tmp_path / "top.xlsx")
        (tmp_path / "top.csv").write_text("mine")
        explorer.try_to(explorer.save_table, tmp_path / "top.csv")
        assert explorer.status.startswith("Error")
        assert (tmp_path / "top.csv").read_text() == "mine"
        explorer.filter = "nothing"
        with pytest.raises(ValueError, match="clear the filter"):
            explorer.save_ranking(tmp_path / "other.csv")


@pytest.mark.parametrize(
    ("phenotype", "statistic", "covariate", "label"),
    [("case", "logistic", "height", "LR"), ("height", "linear", "case", "F")],
)
def test_regressions_are_explored_with_their_statistic(
    ds: xr.Dataset, phenotype: str, statistic: str, covariate: str, label: str
) -> None:
    found = ds.genobit.epistasis(phenotype, statistic=statistic, covariates=covariate, top=8)
    explorer = ds.genobit.explore.epistasis(found)
    assert f"8 combinations of 2 by {label}, of 66 searched" in explorer.status
    card = dict(card_of(explorer.ranked, 2))
    assert card["effect"] == f"{float(found.effect[2]):.4g}"
    assert {label, "SE", "p", "n"} <= set(card)
    for tab in explorer.tabs:
        explorer.tab = tab
    assert not any(said(view) for view in views(explorer)[:4])
