"""The demonstration: its files, and a report that needs nothing but itself."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import genobit as gb
from genobit import cli
from genobit.launcher import demo

FIGURES = [
    "All pairs of a region",
    "The same region as a triangle",
    "Allele frequencies",
    "Hardy-Weinberg test",
    "Heterozygosity of samples",
    "Mean r² by distance",
    "Components 1 and 2",
    "Components 3 and 4",
    "Shares of the variance",
    "Kinship of all pairs",
    "Relationship matrix",
    "Network of correlated genes",
    "All pairs of the correlated genes",
    "The strongest pair",
    "Penetrance of the best pair",
    "Its variants alone",
    "Penetrance of the best triple",
    "The tree and its changes",
    "Homoplasy along the gene",
]
TABLES = [
    "Summary",
    "Related pairs",
    "Communities and modules",
    "The strongest pairs",
    "The best pairs",
    "The most homoplastic sites",
]
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    cohort = gb.sample_dataset()
    # The first, for their linkage, and the variants that cases were simulated from.
    planted = cohort["variant_planted_pair"].values | cohort["variant_planted_triple"].values
    planted = np.flatnonzero(planted)
    others = np.setdiff1d(np.arange(1_000), planted)
    rows = np.union1d(planted, others[: 1000 - planted.size])
    patch = pytest.MonkeyPatch()
    patch.setattr(gb, "sample_dataset", lambda: cohort.isel(variants=rows), raising=False)
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        status = cli.main(["demo", "--out", str(folder)])
    patch.undo()
    assert status == 0
    # Bars are for terminals.
    assert errors.getvalue() == ""
    return folder


def test_compilation_on_few_variants__warns_of_nothing(capsys):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        demo._compile_kernels({"LD": lambda: warnings.warn("few variants", stacklevel=1)})
    assert not found
    assert "LD: loaded" in capsys.readouterr().out


def test_report__refers_to_no_other_file(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    head = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=", page.split("<script>")[0])
    assert not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=", head)


def test_report__has_pictures_and_timings(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == len(FIGURES)
    titles = re.findall("<h3>(.*?)</h3>", page)
    assert titles == [
        *FIGURES[:2],
        TABLES[0],
        *FIGURES[2:10],
        TABLES[1],
        *FIGURES[10:14],
        *TABLES[2:4],
        *FIGURES[14:17],
        TABLES[4],
        *FIGURES[17:],
        TABLES[5],
    ]
    assert "1,000 variants x 2,000 samples" in page
    assert len(re.findall(r"[\d.]+ G products/s", page)) == 3
    assert "VanRaden 1 of 400 samples" in page
    assert 'class="failed"' not in page
    assert 'class="note"' not in page
    # Figures have keys of their own, so the text names no colours.
    assert not re.search(r"\b(orange|red|blue)\b", " ".join(re.findall("<p>.*?</p>", page)))
    assert "$" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_pairs__are_strong_and_near(written):
    pandas = pytest.importorskip("pandas")
    pairs = pandas.read_parquet(written / "ld_pairs.parquet")
    assert len(pairs) > 100
    assert pairs["r2"].min() >= 0.2
    assert (pairs["variant_position_1"] - pairs["variant_position_0"]).between(0, 200_000).all()


def test_related_pairs__are_in_the_table_of_the_report(written):
    pandas = pytest.importorskip("pandas")
    pairs = pandas.read_parquet(written / "related_pairs.parquet")
    assert pairs["king"].min() >= 0.0884
    known = set(zip(pairs["sample_id_0"], pairs["sample_id_1"], strict=True))
    page = (written / "report.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr><td>(\w+)</td><td>(\w+)</td><td>[a-z ]+</td>", page)
    # The table uses common variants, the file all.
    assert len(rows) == 20
    assert len(known.intersection(rows)) >= 18


def test_correlated_genes__are_strong_and_named_as_in_the_network(written):
    pandas, networkx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    pairs = pandas.read_parquet(written / "kendall_pairs.parquet")
    network = networkx.read_graphml(written / "kendall_pairs.graphml")
    assert pairs["tau"].abs().min() >= 0.6
    assert pairs["qvalue"].max() <= 0.01
    assert set(map(frozenset, network.edges)) == {
        frozenset(pair) for pair in zip(pairs["name_0"], pairs["name_1"], strict=True)
    }
    page = (written / "report.html").read_text(encoding="utf-8")
    strongest = pairs.loc[pairs["tau"].abs().nlargest(8).index]
    rows = re.findall(r"<tr><td>(G\d+)</td><td>(G\d+)</td><td>M", page)
    assert rows == list(zip(strongest["name_0"], strongest["name_1"], strict=True))


def test_communities__are_the_modules_of_the_simulation(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    row = r"<td>G\d+</td><td>(\w+)</td>" + 2 * r'<td class="right">(\d+)</td>'
    rows = re.findall(row, page)
    assert sorted(module for module, *_ in rows) == [f"M{k:02d}" for k in range(1, 19)]
    assert all(genes == within for _, genes, within in rows)
    genes = sum(int(genes) for _, genes, _ in rows)
    assert f"{genes} of {genes} genes belong to the module of their community" in page


def test_planted_combinations__come_first(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    found = re.findall(r"Of ([\d,]+) (pairs|triples), the simulated one has rank (\d+)\.", page)
    assert [(name, rank) for _, name, rank in found] == [("pairs", "1"), ("triples", "1")]
    assert all(int(count.replace(",", "")) > 100_000 for count, *_ in found)
    number = r'<td class="right">([\d.e-]+)</td>'
    rows = re.findall(r"<tr><td>(\d:\d+)</td><td>(\d:\d+)</td>" + 3 * number, page)
    cohort = gb.sample_dataset()
    pair = cohort.isel(variants=np.flatnonzero(cohort["variant_planted_pair"]))
    contigs = pair["contig_id"].values[pair["variant_contig"].values]
    places = zip(contigs, pair["variant_position"].values, strict=True)
    assert rows[0][:2] == tuple(f"{contig}:{position}" for contig, position in places)
    assert [row[4] for row in rows[:1]] == ["0.02"]
    assert [float(row[2]) for row in rows] == sorted((float(r[2]) for r in rows), reverse=True)


def test_peers__are_timed_in_the_run(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    ratios = re.findall(r"([\d,]+) times the CPU time of a pair above", page)
    assert len(ratios) == 2


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")
def test_report__draws_offline(written):
    playwright = pytest.importorskip("playwright.sync_api")
    problems: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        )
        page = browser.new_page(offline=True)
        page.set_default_timeout(180_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto((written / "report.html").as_uri())
        page.locator(".bk-Figure").nth(len(FIGURES) - 1).wait_for()
        page.wait_for_function("Bokeh.documents.every(document => document.is_idle)")
        figures = page.locator(".bk-Figure").all()
        # A canvas that was never painted compresses to almost nothing.
        painted = {title: len(f.screenshot()) for title, f in zip(FIGURES, figures, strict=True)}
        assert min(painted.values()) > 5_000, painted
        assert painted["All pairs of a region"] > 20_000
        assert painted["Relationship matrix"] > 20_000
        assert painted["Network of correlated genes"] > 20_000
        browser.close()
    assert problems == []
