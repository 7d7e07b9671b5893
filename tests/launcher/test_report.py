"""The report of a cohort: its sections, the reasons for those that are missing, and its file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit import cli
from genobit.launcher import report
from genobit.visual.report.cohort import evenly, runs_of

TITLES = [
    "Quality control",
    "Decay of linkage disequilibrium",
    "Principal components",
    "Kinship",
    "How long it took",
]
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def ds() -> xr.Dataset:
    chosen = gb.sample_dataset().isel(variants=slice(0, 1500), samples=slice(0, None, 12))
    calls = chosen["call_genotype"].values.copy()
    calls[::7, 3] = -1
    return chosen.assign(call_genotype=(chosen["call_genotype"].dims, calls))


@pytest.fixture(scope="module")
def written(ds: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "study.html"
    return ds.genobit.report(path, colour_by="population")


def page_of(path: Path) -> str:
    """Return a page without its scripts."""
    return re.sub(r"<script.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def problems(path: Path) -> dict[str, str]:
    """Return the reasons of the sections without content, by heading."""
    found = re.findall(
        r'<h2 id="[^"]*">(.*?)</h2>\n<p class="(?:note|failed)">(.*?)</p>', page_of(path)
    )
    return dict(found)


class TestPage:
    def test_has_all_sections(self, written: Path) -> None:
        page = page_of(written)
        assert re.findall("<h2[^>]*>(.*?)</h2>", page) == TITLES
        assert page.count("<figure>") == 9
        assert "study: 167 samples, 1,500 variants" in page
        assert "Colours show population." in page
        assert not problems(written)
        for at in re.findall('href="#([^"]*)"', page):
            assert f'id="{at}"' in page

    def test_needs_no_network(self, written: Path) -> None:
        page = page_of(written)
        assert not re.search(r"(?:src|href)=\"(?!#)", page)
        assert "@import" not in page
        assert "url(" not in page
        assert "<script src" not in written.read_text(encoding="utf-8")

    def test_numbers_are_those_of_the_methods(self, ds: xr.Dataset, written: Path) -> None:
        page, stats = page_of(written), ds.genobit.variant_stats().compute()
        low = int((stats["call_rate"] < 0.98).sum())
        assert f'<td>variants with a call rate below 98%</td><td class="right">{low:,} (' in page
        common = int((stats["maf"] >= 0.05).sum())
        assert f"From {common:,} of 1,500 variants: all on autosomes" in page
        used = ds.isel(variants=np.flatnonzero(stats["maf"] >= 0.05))
        pairs = used.genobit.grm_pairs("king", threshold=2**-3.5).to_dataframe()
        assert f"{len(pairs):,} related pairs" in page
        sample = str(ds["sample_id"].values[3])
        assert f"<td>{sample}</td><td>call rate</td><td" in page

    def test_follows_the_theme_of_the_reader_and_not_the_option(
        self, ds: xr.Dataset, tmp_path: Path
    ) -> None:
        few = ds.isel(variants=slice(0, 200))
        with gb.set_options(plot_theme="dark"):
            path = few.genobit.report(tmp_path / "a.html", sections="quality")
        assert "#111111" not in path.read_text(encoding="utf-8").split("</body>")[0][-300_000:]
        assert "prefers-color-scheme: dark" in page_of(path)

    def test_names_of_the_data_are_text(self, ds: xr.Dataset, tmp_path: Path) -> None:
        names = ds["sample_id"].values.copy()
        names[3] = "</script><script>alert(1)</script>"
        told = ds.assign(sample_id=("samples", names))
        path = told.genobit.report(tmp_path / "a.html", sections=["quality"])
        assert "<script>alert" not in path.read_text(encoding="utf-8")


class TestMissing:
    def test_sections_that_the_data_do_not_allow_say_why(
        self, ds: xr.Dataset, tmp_path: Path
    ) -> None:
        bare = ds[["call_genotype", "variant_position"]].isel(samples=[0])
        found = problems(bare.genobit.report(tmp_path / "one.html"))
        assert found["Kinship"] == "Left out: one sample makes no pair."
        assert found["Principal components"] == "Left out: 1 sample, and 3 are needed."
        unplaced = ds[["call_genotype"]]
        found = problems(unplaced.genobit.report(tmp_path / "unplaced.html"))
        assert list(found) == [TITLES[1]]
        assert "ld_decay needs variant_position, which the Dataset lacks" in found[TITLES[1]]

    def test_no_common_variant(self, ds: xr.Dataset, tmp_path: Path) -> None:
        calls = np.zeros((5, 8, 2), "int8")
        same = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        found = problems(same.genobit.report(tmp_path / "same.html"))
        assert "0 autosomal variants of 5 with a minor allele frequency" in found["Kinship"]
        assert "Quality control" not in found

    def test_chosen_sections_in_the_order_of_the_page(self, ds: xr.Dataset, tmp_path: Path) -> None:
        path = ds.genobit.report(tmp_path / "a.html", sections=["kinship", "quality"])
        assert re.findall("<h2[^>]*>(.*?)</h2>", page_of(path)) == [TITLES[0], *TITLES[3:]]

    def test_packed_planes(self, ds: xr.Dataset, tmp_path: Path) -> None:
        bits = ds.genobit.pack(phased=True)
        assert not problems(bits.genobit.report(tmp_path / "a.html", colour_by="population"))


class TestFailure:
    @pytest.fixture
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any) -> None:
            raise OSError("the disk <is> gone")

        monkeypatch.setitem(report.PARTS, "pca", report.PARTS["pca"]._replace(section=fail))

    @pytest.mark.usefixtures("broken")
    def test_other_sections_are_kept(self, ds: xr.Dataset, tmp_path: Path) -> None:
        with pytest.warns(RuntimeWarning, match="Principal components failed with OSError"):
            path = ds.genobit.report(tmp_path / "a.html")
        assert problems(path) == {
            TITLES[2]: "This section failed. OSError: the disk &lt;is&gt; gone"
        }
        assert page_of(path).count("<figure>") == 6

    @pytest.mark.usefixtures("broken")
    def test_without_any_section_the_old_file_stays(self, ds: xr.Dataset, tmp_path: Path) -> None:
        old = tmp_path / "a.html"
        old.write_text("old", encoding="utf-8")
        with (
            pytest.warns(RuntimeWarning, match="failed"),
            pytest.raises(RuntimeError, match="no section of the report could be made"),
        ):
            ds.genobit.report(old, sections="pca")
        assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
        assert old.read_text(encoding="utf-8") == "old"

    def test_an_interrupt_keeps_the_old_file(
        self, ds: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setitem(report.PARTS, "pca", report.PARTS["pca"]._replace(section=stop))
        old = tmp_path / "a.html"
        old.write_text("old", encoding="utf-8")
        with pytest.raises(KeyboardInterrupt):
            ds.genobit.report(old)
        assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
        assert old.read_text(encoding="utf-8") == "old"

    def test_arguments_are_refused_before_the_work(self, ds: xr.Dataset, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"did you mean 'quality'\? The sections are"):
            ds.genobit.report(tmp_path / "a.html", sections="qualty")
        with pytest.raises(ValueError, match="empty report"):
            ds.genobit.report(tmp_path / "a.html", sections=[])
        with pytest.raises(ValueError, match=r"end the name with \.html"):
            ds.genobit.report(tmp_path / "a.pdf")
        with pytest.raises(KeyError, match="did you mean 'sample_population'"):
            ds.genobit.report(tmp_path / "a.html", colour_by="sample_populaton")
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            ds.genobit.report(tmp_path / "none" / "a.html")
        with pytest.raises(KeyError, match="call_genotype"):
            xr.Dataset({"a": ("samples", [1])}).genobit.report(tmp_path / "a.html")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("count", "most", "run"), [(10, 20, 5), (2_000, 300, 100), (301, 300, 100)]
)
def test_variants_are_thinned_evenly(count: int, most: int, run: int) -> None:
    places = np.arange(count) * 3
    spread, runs = evenly(places, most), runs_of(places, most, run)
    assert spread.size == min(count, most)
    assert len(np.unique(spread)) == spread.size
    assert (spread[0], spread[-1]) == (0, places[-1])
    assert (np.diff(runs) > 0).all()
    assert runs.size <= most
    assert (runs[0], runs[-1]) == (0, places[-1])


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path / "none.bed"), "--out", str(tmp_path / "a.html")]) == 1
    assert "genobit report: no such file" in capsys.readouterr().err


def test_command_line_joins_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared_data: Path
) -> None:
    folder, out = shared_data / "lct_1kg", tmp_path / "lct.html"
    table = str(folder / "samples.tsv")
    command = ["report", str(folder / "lct_1kg.bed"), "--out", str(out), "--join", table]
    assert cli.main([*command, "--colour-by", "pop"]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert "Colours show pop." in page_of(out)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (800, "dark")])
def test_page_draws_offline(written: Path, width: int, scheme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    wrong: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        )
        page = browser.new_page(
            offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        page.set_default_timeout(180_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.goto(written.as_uri())
        page.locator(".bk-Figure").nth(8).wait_for()
        page.wait_for_function("Bokeh.documents.every(document => document.is_idle)")
        # A canvas that was never painted compresses to almost nothing.
        painted = [len(figure.screenshot()) for figure in page.locator(".bk-Figure").all()]
        assert min(painted) > 5_000, painted
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert wrong == []
