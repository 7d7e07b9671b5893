"""The relationship explorer by its traits: no browser, no kernel, so every change is at once."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import traitlets
import xarray as xr
from matplotlib.text import Text

import genobit as gb
from genobit.grm.explorer.explorer import GRMExplorer
from genobit.grm.explorer.tables import component_table, sample_table
from genobit.grm.plots.relatives import draw_relatives
from genobit.visual.explorer.selecting import BoxSelection, PointSelection
from genobit.visual.tokens import OTHER_GROUP

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    """Two populations of 12 samples; 4 is a copy of 3, and 6 is a child of 5 and 7."""
    generator = np.random.default_rng(4)
    n_variants, n_samples = 300, 24
    frequency = generator.uniform(0.2, 0.8, (n_variants, 2))
    population = np.repeat([0, 1], n_samples // 2)
    calls = generator.random((n_variants, n_samples, 2)) < frequency[:, population, None]
    calls[:, 4] = calls[:, 3]
    calls[:, 6] = calls[:, [5, 7], 0]
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls.astype("int8")),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(n_samples)])),
            "sample_population": ("samples", np.array(["north", "south"])[population]),
            "sample_height": ("samples", generator.normal(size=n_samples)),
        }
    )


@pytest.fixture(scope="module")
def grm(ds: xr.Dataset) -> xr.DataArray:
    return ds.genobit.grm("king").compute()


@pytest.fixture(scope="module")
def pcs(ds: xr.Dataset) -> xr.Dataset:
    return ds.genobit.pca(4)


@pytest.fixture
def explorer(ds: xr.Dataset, grm: xr.DataArray, pcs: xr.Dataset) -> GRMExplorer:
    return ds.genobit.explore.grm(grm, pcs)


def table_of(explorer: GRMExplorer):
    return explorer._table.table


def control(explorer: GRMExplorer, trait: str):
    """The control of a trait, in the toolbar or in the drawer."""

    def within(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from within(child)

    return next(w for w in within(explorer) if f"genobit-grm-{trait}" in w._dom_classes)


def said(view) -> str:
    """The sentence in the place of a picture; "" where there is a picture."""
    inside = getattr(view.box.children[0], "children", ())
    return inside[0].value if inside and hasattr(inside[0], "value") else ""


class TestFromGenotypes:
    def test_computes_what_grm_and_pca_compute(self, drawn, ds):
        explorer = ds.genobit.explore.grm()
        assert explorer.method == "vanraden1"
        np.testing.assert_array_equal(explorer.matrix, ds.genobit.grm("vanraden1"))
        assert explorer.status.startswith("VanRaden 1: 24 samples, 276 pairs over 300 variants")
        assert not explorer.busy
        assert not said(explorer._scatter)

    def test_packed_planes_are_enough(self, ds):
        explorer = ds.genobit.pack().genobit.explore.grm(method="ibs")
        np.testing.assert_array_equal(explorer.matrix, ds.genobit.grm("ibs"))

    @pytest.mark.parametrize("method", ["gcta", "dominance", "king", "hadamard"])
    def test_another_method(self, explorer, ds, method):
        explorer.method = method
        np.testing.assert_array_equal(explorer.matrix, ds.genobit.grm(method))
        assert table_of(explorer).columns[4] == method

    def test_selected_variants_alone(self, ds):
        selection = gb.Selection(ds)
        explorer = ds.genobit.explore.grm(selection=selection, of_variants="selected")
        assert "over 300 variants (none is selected, so all are used)" in explorer.status
        for some in (slice(0, 40), slice(40, 100)):
            few = ds.isel(variants=some)
            selection.variants = range(some.start, some.stop)
            np.testing.assert_array_equal(explorer.matrix, few.genobit.grm("vanraden1"))
            assert f"over {few.sizes['variants']} variants;" in explorer.status
        explorer.of_variants = "all"
        np.testing.assert_array_equal(explorer.matrix, ds.genobit.grm("vanraden1"))

    def test_autosomes_alone(self, drawn, ds):
        names = np.array(["1", "X"], object)
        ds = ds.assign(variant_contig=("variants", np.repeat([0, 1], [250, 50])))
        ds = ds.assign(contig_id=("contigs", names))
        explorer = ds.genobit.explore.grm(method="king")
        some = ds.isel(variants=slice(0, 250))
        np.testing.assert_array_equal(explorer.matrix, some.genobit.grm("king"))
        assert "over 250 variants (50 on X left out); ready" in explorer.status
        assert (explorer._components.loadings[250:] == 0).all()
        every = ds.genobit.explore.grm(method="king", autosomes=False)
        assert "over 300 variants; ready" in every.status
        assert (every._components.loadings[250:] != 0).any()

    def test_what_fails_is_a_message(self, explorer, monkeypatch):
        def fail(*_arguments):
            raise ValueError("no variant is polymorphic; choose others")

        monkeypatch.setattr(explorer.relations, "matrix", fail)
        explorer.method = "gcta"
        assert explorer.status == "Error: no variant is polymorphic; choose others"
        assert "see the message below" in said(explorer._heatmap)
        assert not explorer.busy
        monkeypatch.undo()
        explorer.method = "king"
        assert explorer.status.startswith("KING: 24 samples")
        assert not said(explorer._heatmap)

    def test_a_failing_pca_leaves_the_rest(self, ds, grm):
        explorer = ds.drop_vars("call_genotype").genobit.explore.grm(grm)
        assert "No principal components: components need genotypes" in said(explorer._scatter)
        assert explorer.methods == ("given",)
        assert not explorer.status.startswith("Error")

    def test_nothing_to_explore(self):
        with pytest.raises(ValueError, match="needs genotypes"):
            xr.Dataset({"sample_id": ("samples", ["a"])}).genobit.explore.grm()

    def test_matrices_of_several_contigs_are_refused(self, ds, grm):
        loco = xr.concat([grm, grm], "contigs")
        with pytest.raises(ValueError, match=r"'contigs': 2, .*\.isel\(contigs=k\)"):
            ds.genobit.explore.grm(loco)
        assert ds.genobit.explore.grm(loco.isel(contigs=1)).methods[0] == "given"

    def test_other_samples_are_refused(self, ds, grm, pcs):
        with pytest.raises(ValueError, match="grm= has 23 samples"):
            ds.genobit.explore.grm(grm[1:, 1:])
        turned = grm[::-1, ::-1]
        with pytest.raises(ValueError, match=r"sample_id\[0\] is 's0' in the Dataset and 's23'"):
            ds.genobit.explore.grm(turned)
        with pytest.raises(ValueError, match="pcs= has 20 samples"):
            ds.genobit.explore.grm(grm, pcs.isel(samples=slice(20)))


class TestSelection:
    def test_by_lasso(self, explorer):
        explorer._scatter._picks._picked([7, 3, 5])
        assert explorer.selected == (3, 5, 7)
        assert explorer.selection.samples == ("s3", "s5", "s7")

    def test_reaches_every_view(self, drawn, explorer):
        explorer.tab = "relatives"
        explorer.selected = [3, 4, 9]
        assert explorer._scatter._picks.shown == {3, 4, 9}
        assert list(explorer._heatmap._selected) == [3, 4, 9]
        marked = table_of(explorer).iloc[sorted(explorer._table._picks.shown)]
        assert set(zip(marked["sample_0"], marked["sample_1"], strict=True)) == {
            (3, 4), (3, 9), (4, 9),
        }  # fmt: skip

    def test_by_a_box_in_the_heatmap(self, explorer):
        order = explorer._view.tree.order
        explorer._heatmap._boxed(1.6, 4.9, 3.2, 6.1)
        assert explorer.selected == tuple(sorted(order[[2, 3, 5, 6]].tolist()))

    def test_by_a_click_in_the_heatmap(self, explorer):
        order = explorer._view.tree.order
        explorer._heatmap._tapped(5.2, 1.0)
        assert explorer.selected == tuple(sorted(order[[1, 5]].tolist()))
        explorer._heatmap._tapped(-3.0, 1.0)
        assert len(explorer.selected) == 2

    def test_by_a_row_of_the_table(self, explorer):
        explorer.tab = "relatives"
        explorer._table._picks._picked([0])
        assert explorer.selected == (3, 4)
        explorer.pairs_of = "both"
        explorer.selected = [3, 5, 6, 7]
        assert len(table_of(explorer)) == 6
        explorer._table._picks._picked([0])
        assert len(table_of(explorer)) == 6

    def test_clear(self, explorer):
        explorer.selected, explorer.between = [1], (0.0, 1.0)
        explorer.selection.clear()
        assert explorer.selected == ()
        explorer.show_any()
        assert explorer.between is None

    def test_dataset_of_the_selection(self, explorer, ds):
        explorer.selected = [2, 20]
        xr.testing.assert_identical(explorer.selected_dataset, ds.genobit.isel(samples=[2, 20]))

    def test_bad_samples(self, explorer):
        with pytest.raises(traitlets.TraitError, match="samples are 0 to 23"):
            explorer.selected = [1, 24]
        with pytest.raises(traitlets.TraitError, match="use one of"):
            explorer.method = "pearson"
        with pytest.raises(traitlets.TraitError, match="use one of"):
            explorer.colour_by = "sample_weight"
        with pytest.raises(traitlets.TraitError, match="use 1 to 4"):
            explorer.component_x = 5

    def test_zoom_draws_the_selection_with_a_tree_of_its_own(self, explorer):
        explorer.selected = [3, 4, 5, 6, 7]
        explorer.zoom_to_selection()
        assert explorer._view.n_samples == 5
        assert explorer._all.n_samples == 24
        explorer._heatmap._boxed(-0.4, -0.4, 0.4, 0.4)
        assert len(explorer.selected) == 1
        assert explorer.selected[0] in {3, 4, 5, 6, 7}
        explorer.show_all()
        assert explorer._view.n_samples == 24
        explorer.selected = ()
        explorer.try_to(explorer.zoom_to_selection)
        assert "select two samples" in explorer.status


class TestPairs:
    def test_closest_first(self, explorer):
        table = table_of(explorer)
        assert table.iloc[0].tolist() == [3, 4, "s3", "s4", 0.5, "duplicate or twin"]
        assert {(5, 6), (6, 7)} <= set(
            zip(table["sample_0"][1:3], table["sample_1"][1:3], strict=True)
        )

    def test_range_of_the_histogram(self, drawn, explorer):
        explorer.tab = "relatives"
        explorer._histogram._chosen((0.15, 0.35))
        assert explorer.between == (0.15, 0.35)
        assert table_of(explorer)["king"].between(0.15, 0.35).all()
        assert "2 pairs, from 0.15 to 0.35" in explorer._table_line.value
        explorer._histogram._chosen((0.45, 0.49))
        assert "There is no such pair" in said(explorer._table)
        explorer._histogram._chosen(None)
        assert len(table_of(explorer)) == 200
        assert "276 pairs, the 200 closest" in explorer._table_line.value

    @pytest.mark.parametrize("kind", ["histogram", "kinship"])
    def test_plot_of_pairs_leaves_room_for_the_card(self, drawn, explorer, kind):
        explorer.pairs_as = kind
        picture = getattr(explorer, f"_{kind}").box.children[0]
        figure = picture.document.roots[0]
        shown, (low, high) = figure.y_range, figure.yaxis[0].bounds

        def share():
            ends = np.array([shown.start, high, shown.end])
            below, top, above = np.log(ends) if kind == "histogram" else ends
            return (top - below) / (above - below)

        assert (shown.start, shown.end) == (low, high)
        explorer.selected = (1, 2)
        assert share() == pytest.approx(0.57)
        assert figure.yaxis[0].bounds == (low, high)
        explorer.selected = ()
        assert share() == pytest.approx(1.0)

    @pytest.mark.parametrize(("pairs_of", "found"), [("any", 23 + 22), ("both", 1)])
    def test_of_the_selection(self, explorer, pairs_of, found):
        explorer.pairs_of = pairs_of
        assert "no sample is selected" in explorer._table_line.value
        explorer.selected = [8, 9]
        assert len(table_of(explorer)) == found

    def test_a_click_in_the_table_keeps_its_list(self, explorer):
        explorer.pairs_of = "any"
        listed = table_of(explorer)
        explorer._table._picked(np.array([[8, 9]]))
        assert explorer.selected == (8, 9)
        assert table_of(explorer).equals(listed)
        assert "no sample is selected" not in explorer._table_line.value
        assert "rows that you click do not change the list" in explorer._table_line.value
        explorer.pairs_of = "both"
        assert len(table_of(explorer)) == 1
        assert explorer._table_line.value == "1 pair"


class TestKinship:
    def test_is_computed_when_it_is_wanted(self, drawn, explorer):
        assert explorer._kinship._plot is None
        explorer.pairs_as = "kinship"
        plot = explorer._kinship._plot
        assert plot.pairs.degrees()["duplicate or twin"] == 1
        assert explorer._histogram.box.layout.display == "none"
        assert plot.colours == list(dict.fromkeys(plot.each[plot.each != OTHER_GROUP]))
        explorer.colour_by = ""
        assert explorer._kinship._plot.pairs is plot.pairs
        assert len(explorer._kinship._plot.colours) == 1
        assert explorer.status.startswith("KING: 24 samples")

    def test_box_and_click_select_pairs(self, explorer):
        explorer.pairs_as = "kinship"
        plot = explorer._kinship._plot
        explorer._choose(plot.inside(-0.1, 0.4, 0.1, 0.6).tolist())
        assert explorer.selected == (3, 4)
        twin = np.flatnonzero(plot.pairs.king > 0.4)[0]
        near = plot.nearest(plot.pairs.ibs0[twin], plot.pairs.king[twin] + 0.001)
        assert near.tolist() == [3, 4]
        assert plot.nearest(plot.pairs.ibs0[twin] + 0.05, 0.45).tolist() == []
        picture = draw_relatives(plot, [3, 4, 5])
        assert len(picture.Points.Selected) == 3
        assert picture.opts.get("plot").kwargs["xlim"] == plot.limits[0]

    def test_without_genotypes(self, ds, grm):
        explorer = ds.drop_vars("call_genotype").genobit.explore.grm(grm, pairs_as="kinship")
        assert "No KING kinship: KING kinship needs genotypes" in said(explorer._kinship)
        assert not explorer.status.startswith("Error")


class TestColours:
    def test_population_is_where_it_begins(self, explorer):
        assert explorer.colour_by == "sample_population"

    @pytest.mark.parametrize("colour_by", ["", "sample_height", "sample_population"])
    def test_each_variable(self, drawn, explorer, colour_by):
        explorer.colour_by = colour_by
        assert not explorer.status.startswith("Error")

    def test_name_without_its_prefix(self, explorer):
        explorer.colour_by = "height"
        assert explorer.colour_by == "sample_height"

    def test_no_variables(self, ds):
        explorer = ds[["call_genotype"]].genobit.explore.grm()
        assert explorer.colour_by == ""
        assert explorer.relations.variables == {}
        explorer.selected = [0, 1]
        assert explorer.selection.samples == (0, 1)

    def test_controls_follow_the_traits_and_lead_them(self, explorer):
        method, colour, x = (control(explorer, t) for t in ("method", "colour-by", "component-x"))
        explorer.method = "ibs"
        assert method.value == "ibs"
        colour.value = "sample_height"
        assert explorer.colour_by == "sample_height"
        x.value = 3
        assert explorer.component_x == 3


class TestFrame:
    def test_tables_wait_for_their_tabs(self, drawn, explorer):
        assert said(explorer._table) == said(explorer._samples) == "computing …"
        explorer.tab = "samples"
        assert said(explorer._table) == "computing …"
        assert not said(explorer._samples)
        explorer._samples._picks._picked([2, 7])
        assert explorer.selected == (2, 7)
        explorer.tab = "relatives"
        assert not said(explorer._table)
        assert not said(explorer._component_list)
        with pytest.raises(traitlets.TraitError, match="use one of 'picture', 'relatives'"):
            explorer.tab = "pairs"

    def test_samples_have_their_closest_relatives(self, explorer):
        table = sample_table(explorer.relations, explorer._all)
        assert table.loc[3, ["sample", "population", "closest"]].tolist() == ["s3", "north", "s4"]
        assert table.loc[3, "KING"] == 0.5

    def test_components_add_up(self, explorer, pcs):
        table = component_table(pcs)
        assert table["component"].tolist() == ["PC1", "PC2", "PC3", "PC4"]
        total = float(pcs["explained_variance_ratio"].sum())
        assert table["sum of shares"].iloc[-1] == pytest.approx(total)
        assert list(component_table(pcs[["scores"]])) == ["component"]

    def test_card(self, explorer):
        explorer.method = "king"
        assert not explorer.card.value
        explorer.selected = [3, 4]
        for text in ("KING", "s3 × s4", "0.5000", "duplicate or twin"):
            assert text in explorer.card.value
        explorer.selected = [5, 6, 7]
        assert explorer.card.value.count(" × ") == 3
        explorer.selected = [3, 4, 5, 6]
        assert "4 samples" in explorer.card.value
        assert "0.5000" in explorer.card.value
        explorer.selected = [9]
        assert "<h4>s9</h4>" in explorer.card.value
        explorer.selected = []
        assert explorer.card.layout.display == "none"

    def test_search_finds_samples_and_populations(self, explorer):
        box = control(explorer, "search")
        assert box.placeholder == "sample or population"
        box.value = "s5, s2"
        assert explorer.selected == (2, 5)
        assert box.value == "s2, s5"
        box.value = "north"
        assert explorer.selected == tuple(range(12))
        box.value = "s1 nobody"
        assert "no sample or population named 'nobody'" in explorer.status
        assert explorer.selected == tuple(range(12))
        box.value = " "
        assert box.value == ""
        assert explorer.status.startswith("KING: 24 samples")
        box.value = "s1 nobody"
        box.value = "s1"
        assert explorer.status.startswith("KING: 24 samples")

    def test_python_opens_the_same_view(self, explorer, ds, grm, pcs):
        explorer.method, explorer.tab, explorer.selected = "ibs", "samples", (1, 2)
        text = explorer.python()
        assert text.startswith("ds.genobit.explore.grm(grm=grm, pcs=pcs, ")
        again = eval(text, {"ds": ds, "grm": grm, "pcs": pcs})
        assert again.python() == text
        assert (again.method, again.tab, again.selected) == ("ibs", "samples", (1, 2))
        every = ds.genobit.explore.grm(autosomes=False)
        assert "autosomes=False" in every.python()


class TestFigure:
    @pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
    def test_is_written(self, explorer, tmp_path, kind):
        written = explorer.save_figure(tmp_path / f"figure.{kind}")
        assert written.stat().st_size > 5_000
        assert str(written) in explorer.status

    def test_has_components_and_kinship_of_all_samples(self, explorer):
        whole = explorer.figure().to_matplotlib(180)
        texts = {text.get_text() for text in whole.findobj(Text)}
        assert {"a", "b", "c"} <= texts
        explorer.shown = tuple(range(8))
        explorer.selected = [3, 20]
        part = explorer.figure().to_matplotlib(180)
        assert not {"b", "c"} & {text.get_text() for text in part.findobj(Text)}

    def test_without_genotypes_is_the_matrix(self, ds, grm):
        explorer = ds.drop_vars("call_genotype").genobit.explore.grm(grm)
        alone = explorer.figure().to_matplotlib(180)
        assert "b" not in {text.get_text() for text in alone.findobj(Text)}


class TestUnusualCohorts:
    def test_one_sample(self, drawn, ds):
        explorer = ds.isel(samples=[0]).genobit.explore.grm()
        assert explorer.status.startswith("VanRaden 1: 1 sample, 0 pairs")
        assert "one sample has none" in said(explorer._scatter)
        explorer.tab = "relatives"
        assert "no such pair" in said(explorer._table)

    def test_two_samples(self, drawn, ds):
        explorer = ds.isel(samples=[0, 1]).genobit.explore.grm()
        assert not explorer.status.startswith("Error")

    def test_sample_without_calls(self, drawn, ds):
        calls = ds.call_genotype.values.copy()
        calls[:, 5] = -1
        missing = ds.assign(call_genotype=(ds.call_genotype.dims, calls))
        explorer = missing.genobit.explore.grm(method="king")
        assert "1 sample without a value" in explorer.status
        assert explorer._view.tree.order[-1] == 5
        assert 5 not in set(table_of(explorer)["sample_0"])

    def test_no_samples(self, ds):
        with pytest.raises(ValueError, match="no samples"):
            ds.isel(samples=[]).genobit.explore.grm()


class TestSave:
    def test_ids(self, explorer, tmp_path):
        explorer.selected = [1, 2]
        written = explorer.save(tmp_path / "ids.txt")
        assert written.read_text("utf-8") == "s1\ns2\n"
        assert str(written) in explorer.status
        with pytest.raises(FileExistsError, match="choose another name"):
            explorer.save(written)

    @pytest.mark.parametrize("kind", ["U", "S", object])
    def test_families(self, ds, grm, pcs, tmp_path, kind):
        names = np.array([f"f{k // 2}" for k in range(24)], kind)
        families = ds.assign(sample_family_id=("samples", names))
        explorer = families.genobit.explore.grm(grm, pcs, selected=(2, 4))
        written = explorer.save(tmp_path / "ids.txt")
        assert written.read_text("utf-8") == "f1\ts2\nf2\ts4\n"

    def test_nothing_selected(self, explorer, tmp_path):
        with pytest.raises(ValueError, match="nothing is selected"):
            explorer.save(tmp_path / "ids.txt")


class TestInAKernel:
    def test_computes_beside_the_loop_and_draws_on_it(self, ds, grm, pcs):
        threads, go_on = [], threading.Event()

        async def session() -> GRMExplorer:
            explorer = ds.genobit.explore.grm(grm, pcs)
            matrix = explorer.relations.matrix

            def slow(method: str, variants: tuple[int, ...]) -> xr.DataArray:
                threads.append(threading.get_ident())
                go_on.wait(60)
                return matrix(method, variants)

            explorer.relations.matrix = slow
            explorer.method = "gcta"
            explorer.method = "ibs"
            await asyncio.sleep(0.1)
            assert explorer.busy
            assert explorer.status.startswith("Computing")
            line, cancel, _ = explorer.status_row.children
            assert "spinner" in line.value
            assert cancel.layout.display == "flex"
            go_on.set()
            while explorer.busy:
                await asyncio.sleep(0.01)
            return explorer

        explorer = asyncio.run(session())
        assert explorer.status.startswith("IBS: 24 samples")
        assert threading.get_ident() not in threads
        assert explorer._drawn == ("ibs", ())


class Source:
    """What bokeh's ColumnDataSource does for PointSelection."""

    def __init__(self) -> None:
        self.selected = self
        self._indices: list[int] = []
        self._listeners: list = []

    def on_change(self, _name, listener) -> None:
        self._listeners.append(listener)

    @property
    def indices(self) -> list[int]:
        return self._indices

    @indices.setter
    def indices(self, new: list[int]) -> None:
        old, self._indices = self._indices, new
        for listener in self._listeners:
            listener("indices", old, new)


class Plot:
    def __init__(self) -> None:
        self.handles = {"source": Source()}


class TestPicks:
    def test_tells_of_the_reader_and_not_of_itself(self, monkeypatch):
        # An echo that comes later than this is taken for the reader's.
        monkeypatch.setattr("genobit.visual.explorer.selecting.ECHO", 3600.0)
        told: list = []
        picks, plot = PointSelection(told.append), Plot()
        picks.show([4])
        picks.hook(plot, None)
        source = plot.handles["source"]
        assert source.indices == [4]
        source.indices = [2, 1]
        picks.show([9, 8])
        source.indices = [4]  # an echo that is late
        assert told == [[1, 2]]
        assert picks.shown == {8, 9}


class TestBoxes:
    def test_corners_are_sorted_and_only_complete_boxes_count(self):
        boxed: list = []
        boxes = BoxSelection(lambda *corners: boxed.append(corners), lambda *_: None)

        event = SimpleNamespace(geometry={"type": "rect", "x0": 3, "x1": 1, "y0": 2, "y1": 4})
        for event.final in (False, True):
            boxes._on_geometry(event)
        assert boxed == [(1, 2, 3, 4)]
