from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import holoviews as hv
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure as Page

import genobit as gb
from genobit.launcher.figures import RESULTS
from genobit.visual import figure
from genobit.visual.figure import Figure
from genobit.visual.results import result_of
from tests.helpers.cases import INPUTS, everything, small_tiles
from tests.helpers.programs import run

#: Kinds that need more than the result of `everything`, and what they say.
NEEDS = {("epistasis", "permutations"): "search with .*permutations=1000"}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    with small_tiles():
        made = {name: make() for name, make in everything().items()}
    drawn = {k: v for k, v in made.items() if k.split()[0] not in INPUTS}
    return {k: v for k, v in drawn.items() if isinstance(v, xr.DataArray | xr.Dataset)}


@pytest.mark.slow
def test_every_result_has_every_kind_of_plot(results: dict[str, Any]) -> None:
    drawn = 0
    for name, result in results.items():
        for kind in (None, *result_of(result, RESULTS).kinds):
            refusal = NEEDS.get((name.split()[0], str(kind)))
            if refusal:
                with pytest.raises(ValueError, match=refusal):
                    result.genobit.plot(kind)
                continue
            page = result.genobit.plot(kind)._repr_html_()
            assert 'class="genobit-figure"' in page, (name, kind)
            drawn += 1
    assert drawn > 60


def test_every_kind_of_plot_has_a_form_for_papers(results: dict[str, Any]) -> None:
    for name, result in results.items():
        for kind in result_of(result, RESULTS).kinds:
            if (name.split()[0], kind) in NEEDS:
                continue
            axes = Page((3.5, 3.5)).add_subplot()
            assert result.genobit.plot(kind, ax=axes) is axes
            panels = [axes, *axes.child_axes]
            assert any(part.has_data() or part.texts for part in panels), (name, kind)


def test_results_are_recognised_by_the_call_that_made_them(results: dict[str, Any]) -> None:
    made = {name: result_of(result, RESULTS).made_by for name, result in results.items()}
    for name, by in made.items():
        method = re.split(r"[(.]", by)[1]
        others = {"finite": "ld", "neighbours": "similarity", "king": "grm", "ibs": "grm"}
        others["randomized"] = "pca"
        first = name.split()[0]
        assert others.get(first, first) == method, (name, by)


def test_selected_and_lazy_results_are_drawn(results: dict[str, Any]) -> None:
    r2 = results["ld of packed"]
    assert result_of(r2[:40, 50:80], RESULTS).kind(None)[0] == "heatmap"
    assert result_of(r2[:, 5:6], RESULTS).kind(None)[0] == "track"
    assert result_of(r2[:40, :40].chunk(), RESULTS).kind(None)[0] == "triangle"
    unplaced = r2.drop_vars([name for name in r2.coords if "position" in str(name)])
    for part in (r2[:40, 50:80], r2[:, 5:6], r2[:40, :40].chunk(), unplaced):
        assert part.genobit.plot()._repr_html_()
    tau = results["kendall of genes pvalue=True"]
    assert tau.isel(gene_1=slice(3)).genobit.plot()._repr_html_()
    assert tau["tau"].genobit.plot("histogram")._repr_html_()
    ds = gb.sample_dataset().isel(samples=slice(0, None, 20), variants=slice(0, 300))
    pcs = ds.genobit.pca(2)
    assert ds.genobit.project(pcs).genobit.plot(colour_by="population")._repr_html_()
    assert ds.genobit.allele_frequency().genobit.plot(folded=False)._repr_html_()


def test_tables_of_pairs_draw_their_network(tmp_path: Path) -> None:
    expr = gb.sample_expression().isel(gene=slice(0, 60))
    pairs = expr.genobit.kendall_pairs(0.5, 0.01)
    drawn = pairs.plot()
    assert isinstance(drawn, Figure)
    assert drawn.save(tmp_path / "network.html").stat().st_size > 100_000
    assert isinstance(pairs.plot("network", colour_by=expr["gene_module"]), Figure)
    with pytest.raises(ValueError, match="no plot 'netwrk'; did you mean 'network'"):
        pairs.plot("netwrk")
    with pytest.raises(TypeError, match="no option 'color_by'; did you mean 'colour_by'"):
        pairs.plot(color_by="module")


def test_clumps_of_p_values_and_their_logarithms() -> None:
    ds = gb.sample_dataset().isel(samples=slice(0, None, 20), variants=slice(0, 200))
    p = 10 ** -np.linspace(0.0, 8.0, 200)
    plain = ds.genobit.ld_clump(p, 0.2, 20, 1e-2, 0.1)
    logs = ds.genobit.ld_clump(-np.log10(p), 0.2, 20, 1e-2, 0.1, log10=True)
    heights = [found.genobit.plot().hv.Points.Index_variants["y"] for found in (plain, logs)]
    np.testing.assert_allclose(*heights)
    assert heights[0].max() == pytest.approx(8.0)


def test_contigs_have_their_names(results: dict[str, Any]) -> None:
    begins = ("ld_prune ", "ld_clump ", "ld_score ", "ld_blocks ")
    names = [name for name in results if name.startswith(begins)]
    assert len(names) == 5
    for name in names:
        ticks = results[name].genobit.plot().hv.opts.get("plot").kwargs["xticks"]
        assert [text for _, text in sorted(ticks)] == ["chr1", "chr2"], name


@pytest.mark.parametrize("kind", ["i8", "U", "S", object])
def test_equally_many_variables_of_two_sets_are_no_square(kind: Any) -> None:
    expr = xr.DataArray(
        np.random.default_rng(1).random((6, 9)),
        {"gene": np.arange(6).astype(kind)},
        ("gene", "sample"),
    )
    bars = [
        tau.genobit.plot("histogram").picture.panel.marks[0].hover["pairs"].sum()
        for tau in (
            expr[:3].genobit.kendall(compute=True),
            expr[:3].genobit.kendall(other=expr[3:], compute=True),
        )
    ]
    assert bars == [3, 9]


def test_no_blocks_are_an_empty_track() -> None:
    ds = gb.sample_dataset().isel(variants=slice(0, 12), samples=slice(0, 20))
    blocks = ds.genobit.ld_blocks("5kb")
    assert blocks.sizes["blocks"] == 0
    drawn = blocks.genobit.plot().hv
    assert drawn.opts.get("plot").kwargs["title"] == "0 blocks of 0 variants"


def test_unknown_kinds_and_options_list_those_that_exist(results: dict[str, Any]) -> None:
    r2 = results["ld of packed"]
    with pytest.raises(ValueError, match=r"did you mean 'heatmap'\? Its plots are 'triangle', 'he"):
        r2.genobit.plot("heatmpa")
    with pytest.raises(TypeError, match=r"no option 'treshold'; did you mean 'threshold'\?"):
        r2.genobit.plot(treshold=0.2)
    with pytest.raises(TypeError, match="no option 'colour'; did you mean 'colour_by'"):
        results["pca of packed components=3"].genobit.plot(colour="population")


@pytest.mark.parametrize(
    "data", [xr.Dataset({"call_genotype": ("x", [1])}), xr.DataArray([1.0, 2.0], dims="x")]
)
def test_data_that_are_no_result(data: Any) -> None:
    with pytest.raises(ValueError, match=r"not a result that has a plot.*\.ld\(\).*explore\(\)"):
        data.genobit.plot()


def test_colour_by_a_name_values_and_labels() -> None:
    ds = gb.sample_dataset().isel(samples=slice(0, None, 20), variants=slice(0, 300))
    pcs = ds.genobit.pca(2)
    population = ds["sample_population"]
    series = population.to_series()
    series.index = ds["sample_id"].values
    ways = ["population", "sample_population", population.values, series[::-1]]
    ways.append(series[::-1].to_frame("population"))
    colours = [pcs.genobit.plot(colour_by=way).hv["colour"].tolist() for way in ways]
    assert all(found == colours[0] for found in colours)
    strips = [ds.genobit.grm().genobit.plot(colour_by=way).hv.Rectangles.Strip for way in ways]
    assert all(strip["colour"].tolist() == strips[0]["colour"].tolist() for strip in strips)
    with pytest.raises(KeyError, match="did you mean 'sample_population'"):
        pcs.genobit.plot(colour_by="sample_populaton")
    with pytest.raises(ValueError, match="choose one of a, b"):
        pcs.genobit.plot(colour_by=series.to_frame("a").assign(b=1))


class TestFigure:
    def test_saves_a_page_that_needs_no_network(self, tmp_path: Path) -> None:
        path = Figure(hv.Curve([1, 2])).save(tmp_path / "f.html")
        page = path.read_text(encoding="utf-8")
        assert "http" not in re.sub(r'"[A-Za-z0-9+/=]{500,}"', "", page)
        assert len(page) < 600_000
        Figure(hv.Curve([1, 2])).save(path)  # and again

    def test_show_opens_a_page(self, monkeypatch: pytest.MonkeyPatch) -> None:
        opened: list[str] = []
        monkeypatch.setattr(figure.webbrowser, "open", opened.append)
        Figure(hv.Curve([1, 2])).show()
        assert opened[0].startswith("file://")
        assert opened[0].endswith("figure.html")

    def test_tables_bring_their_pieces(self) -> None:
        page = Figure(hv.Table({"a": [1, 2]}, [], ["a"]))._repr_html_()
        assert '"bokeh-tables": "H4sI' in page
        assert '"bokeh-tables"' not in Figure(hv.Curve([1, 2]))._repr_html_()

    def test_data_end_no_script(self) -> None:
        page = Figure(hv.Curve([1, 2]).opts(title="</script><script>"))._repr_html_()
        assert page.count("</script>") == 1


class TestLibrary:
    """The output of which cells brings BokehJS."""

    @pytest.fixture
    def kernel(self, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
        kernel = SimpleNamespace(parent={}, shell=SimpleNamespace(execution_count=0))
        kernel.get_parent = lambda: kernel.parent
        monkeypatch.setattr(figure, "_kernel", lambda: kernel)
        monkeypatch.setattr(figure, "_sent", {})
        return kernel

    @staticmethod
    def brings(kernel: SimpleNamespace, cell: str | None, page: str = "one", n: int = 1) -> list:
        kernel.shell.execution_count += 1
        kernel.parent = {"header": {"session": page}, "metadata": {"cellId": cell} if cell else {}}
        pages = [Figure(hv.Curve([1, 2]))._repr_html_() for _ in range(n)]
        return ['{"bokeh": "H4sI' in page for page in pages]

    def test_the_first_figure_of_a_page(self, kernel: SimpleNamespace) -> None:
        assert self.brings(kernel, "a", n=2) == [True, False]
        assert self.brings(kernel, "b") == [False]
        assert self.brings(kernel, "a") == [True]  # its output is replaced
        assert self.brings(kernel, "b") == [False]

    def test_a_page_that_was_reloaded(self, kernel: SimpleNamespace) -> None:
        assert self.brings(kernel, "a") == [True]
        assert self.brings(kernel, "b", page="two") == [True]
        assert self.brings(kernel, "a", page="two") == [False]

    def test_every_cell_where_cells_have_no_id(self, kernel: SimpleNamespace) -> None:
        assert self.brings(kernel, None, n=2) == [True, False]
        assert self.brings(kernel, None) == [True]


def test_plots_display_without_hv_extension() -> None:
    code = (
        "import genobit, numpy as np, holoviews as hv\n"
        "f = genobit.plots.allele_frequency_spectrum(np.array([0.1, 0.3]))\n"
        "forms = f._repr_mimebundle_()[0]\n"
        "assert 'genobit-figure' in forms['text/html'], forms\n"
        "assert 'genobit-figure' in (f + f)._repr_mimebundle_()[0]['text/html']\n"
    )
    assert run("-c", code) == ""


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"title": 'the "a" & b\nof c', "ylabel": ""}, "the &quot;a&quot; &amp; b, of c; x"),
        ({"title": "", "xlabel": "score", "ylabel": "variants"}, "score; variants"),
        ({"title": "a", "yaxis": None}, "a; x"),
    ],
)
def test_figures_have_a_name_for_screen_readers(options: dict[str, Any], name: str) -> None:
    page = Figure(hv.Curve(np.arange(3.0)).opts(**options))._repr_html_()
    assert f'role="figure" aria-label="{name}">' in page


def test_loader_takes_the_arguments_in_order() -> None:
    page = Figure(hv.Curve(np.arange(3.0)))._repr_html_()
    values = re.search(r"\}\)\((.*)\)\n</script>", page, re.DOTALL)
    assert values
    target, version, needed, parts, item = json.loads(f"[{values[1]}]")
    assert page.startswith(f'<div class="genobit-figure" id="{target}" ')
    assert (needed, list(parts)) == (["bokeh"], ["bokeh"])
    assert item.startswith("H4sI")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", version)
