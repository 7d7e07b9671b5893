"""Every entry of every explorer's export menu in JupyterLab, Notebook 7 and Voila."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pandas as pd
import pytest
import xarray as xr

from tests.browser import test_epistasis, test_grm, test_kendall, test_ld, test_parsimony
from tests.browser.hosts import in_hosts
from tests.browser.jupyterlab import drawn, save, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    *(test_ld.MAKE_DATA, test_ld.SHOW),
    *(test_grm.MAKE_DATA, "ds.genobit.explore.grm(selected=(0, 1, 2))"),
    *(test_kendall.MAKE_DATA, "expr[:300].genobit.explore.kendall(threshold=0.5)"),
    *(test_epistasis.MAKE_DATA, test_epistasis.SHOW),
    *(test_parsimony.MAKE_DATA, test_parsimony.SHOW),
)
OPENS = in_hosts("exports", CELLS, 1500, 5000)
FIGURES = {
    "ld": "plot",
    "grm": "scatter",
    "kendall": "network",
    "epistasis": "genome",
    "parsimony": "tree",
}
BEGINS = {
    ".pdf": b"%PDF-",
    ".png": b"\x89PNG\r\n\x1a\n",
    ".html": b"<!DOCTYPE html>",
    ".nwk": b"(",
    ".nex": b"#NEXUS",
    ".txt": b"s00\n",
}
READERS = {
    ".svg": lambda path: ET.parse(path).findall("{http://www.w3.org/2000/svg}*"),
    ".csv": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".graphml": nx.read_graphml,
    ".cyjs": lambda path: json.loads(path.read_text(encoding="utf-8"))["elements"]["edges"],
    ".nc": xr.open_dataset,
    ".zarr": xr.open_zarr,
}


def status(page: Any, explorer: str) -> str:
    return str(page.locator(f".genobit-{explorer}-status").inner_text())


def saved(page: Any, explorer: str, entry: str) -> Path:
    """The new file that an entry of the export menu writes into the kernel's folder."""
    before, now = status(page, explorer), ""
    save(page, f"genobit-{explorer}", entry)

    def wrote() -> bool:
        nonlocal now
        now = status(page, explorer)
        return now != before and ("Error" in now or path_in(now) not in before)

    until(wrote, f"the file of {entry!r}")
    file = Path(path_in(now))
    assert file.parent == page.folder, now
    return file


def path_in(words: str) -> str:
    """The file that a status line says was saved, if it does."""
    found = re.search(r"Saved .* to (/\S+)$", words)
    return found[1] if found else ""


def is_sound(file: Path) -> bool:
    """Whether a file has what its name says."""
    if file.suffix in BEGINS:
        return file.read_bytes().startswith(BEGINS[file.suffix])
    return len(READERS[file.suffix](file)) > 0


@pytest.mark.parametrize("explorer", list(FIGURES))
def test_every_entry_writes_its_file(opened: Any, explorer: str) -> None:
    drawn(opened.locator(f".genobit-{explorer}-{FIGURES[explorer]} .bk-Figure").first)
    menu = opened.locator(f".genobit-{explorer}-export option").all_inner_texts()
    # The widget writes its spaces so that no line breaks there.
    title, *entries, copy = (text.replace("\xa0", " ") for text in menu)
    assert (title, copy) == ("Export", "copy Python")
    files = [saved(opened, explorer, entry) for entry in entries]
    assert {".pdf", ".svg", ".png", ".html"} < {file.suffix for file in files}
    assert len(set(files)) == len(entries)
    assert [file.name for file in files if not is_sound(file)] == []


@pytest.mark.parametrize("explorer", list(FIGURES))
def test_the_code_is_copied(opened: Any, explorer: str) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.bring_to_front()
    save(opened, f"genobit-{explorer}", "copy Python")
    until(lambda: status(opened, explorer).startswith("Copied: "), "the code")
    code = status(opened, explorer).removeprefix("Copied: ")
    assert f".genobit.explore.{explorer}(" in code
    until(lambda: opened.evaluate("navigator.clipboard.readText()") == code, "the clipboard")


def test_nothing_of_ours_complained(opened: Any) -> None:
    assert opened.complaints == []
