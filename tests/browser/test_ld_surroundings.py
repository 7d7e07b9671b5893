"""Genes, blocks and tables round the LD picture in JupyterLab, and regions of a long contig."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.browser.explorers import LD
from tests.browser.jupyterlab import Notebook, drawn, open_drawer, redrawn, says, settled, until

pytestmark = pytest.mark.browser

#: Copies of the mosaic along a contig: far more variants than are computed at once.
MAKE_MANY = """
import pathlib
copies = 40
many = xr.concat([ds] * copies, "variants").assign(
    variant_position=("variants", np.concatenate([position + 300_000 * k for k in range(copies)])),
    contig_id=("contigs", np.array(["7"])),
)
many["variant_id"] = ("variants", np.array([f"v{k}" for k in range(many.sizes["variants"])]))
bits = many.genobit.pack(phased=True)
genes = pathlib.Path("genes.gff3")
lines = [
    f"chr7\\t.\\tgene\\t{at}\\t{at + 20_000}\\t.\\t+\\t.\\tName=GENE{k}"
    for k, at in enumerate(range(1_010_000, 12_000_000, 70_000))
]
genes.write_text("##gff-version 3\\n" + "\\n".join(lines))
"""
SHOW = "explorer = bits.genobit.explore.ld(genes=genes, min_maf=0.05)\nexplorer"
OPENS = Notebook("ld_surroundings", (LD.data, MAKE_MANY, SHOW), width=1700, height=1500)
_status, choose_tab = LD.status, LD.turn
_plot, _genes = partial(LD.figure, view="plot"), partial(LD.figure, view="genes")


@pytest.fixture(scope="module")
def page(opened: Any) -> Any:
    opened.wait_for_selector(".genobit-ld-plot .bk-Figure")
    settled(_plot(opened))
    return opened


def _go_to(page: Any, where: str, words: str) -> None:
    """See another region, and wait for words of its status line."""
    LD.search(page, where, "region")
    says(lambda: _status(page), words)


def test_genes_follow_the_region(page: Any) -> None:
    before, genes = settled(_plot(page)), drawn(_genes(page))
    _go_to(page, "7:5,000,000-5,900,000", "computed in")
    redrawn(_plot(page), before)
    redrawn(_genes(page), genes)


def test_the_whole_contig_is_a_sample_and_says_so(page: Any) -> None:
    before = settled(_plot(page))
    _go_to(page, "7", "thinned: 4 neighbours in every")
    redrawn(_plot(page), before)


def test_a_region_seen_before_is_known(page: Any) -> None:
    before = settled(_plot(page))
    _go_to(page, "7:5,000,000-5,900,000", "cached")
    redrawn(_plot(page), before)


def test_the_name_of_a_gene_is_a_region(page: Any) -> None:
    _go_to(page, "gene20", "computed in")
    text = page.locator(".genobit-ld-region input")
    until(lambda: text.input_value() == "7:2,405,000-2,435,000", "the region of the gene")


def test_blocks_are_outlined(page: Any) -> None:
    open_drawer(page, "genobit-ld")
    # The picture makes room for the drawer first.
    page.locator(".genobit-ld-show-blocks").wait_for()
    before = settled(_plot(page))
    page.locator(".genobit-ld-show-blocks").click()
    until(lambda: "blocks of these variants" in _status(page), "blocks in the status line")
    redrawn(_plot(page), before, share=0.001)


def test_a_row_marks_its_pair_and_a_click_selects_a_row(page: Any) -> None:
    before = settled(_plot(page))
    choose_tab(page, "pairs")
    rows = page.locator(".genobit-ld .genobit-table .slick-row")
    rows.nth(2).wait_for()
    rows.nth(2).locator(".slick-cell").first.click()
    says(page.locator(".genobit-ld-selection").inner_text, "2 variants")
    choose_tab(page, "variants")
    until(
        lambda: page.locator(".genobit-ld .genobit-table .slick-row:has(.selected)").count() == 2,
        "the variants of the pair selected in their table",
    )
    choose_tab(page, "picture")
    redrawn(_plot(page), before, share=0.001)
    says(page.locator(".genobit-ld-card").inner_text, "apart")


def test_decay(page: Any) -> None:
    choose_tab(page, "decay")
    figure = page.locator(".genobit-ld .genobit-table .bk-Figure").first
    figure.wait_for()
    drawn(figure)
