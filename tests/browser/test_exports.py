"""Every entry of every explorer's export menu in JupyterLab, Notebook 7 and Voila."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pandas as pd
import pytest
import xarray as xr

from tests.browser.explorers import EPISTASIS, GRM, KENDALL, LD, PARSIMONY, Explorer
from tests.browser.exports import saved
from tests.browser.hosts import in_hosts
from tests.browser.jupyterlab import drawn, save, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "expr[:300].genobit.explore.kendall(threshold=0.5)"
CELLS = (
    *LD.cells,
    *(GRM.data, "ds.genobit.explore.grm(selected=(0, 1, 2))"),
    *(KENDALL.data, SMALL),
    *EPISTASIS.cells,
    *PARSIMONY.cells,
)
OPENS = in_hosts("exports", CELLS, 1500, 5000)
FIGURES = {
    LD: "plot",
    GRM: "scatter",
    KENDALL: "network",
    EPISTASIS: "genome",
    PARSIMONY: "tree",
}
explorers = pytest.mark.parametrize("explorer", FIGURES, ids=lambda explorer: explorer.name)
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


def is_sound(file: Path) -> bool:
    """Whether a file has what its name says."""
    if file.suffix in BEGINS:
        return file.read_bytes().startswith(BEGINS[file.suffix])
    return len(READERS[file.suffix](file)) > 0


@explorers
def test_every_entry_writes_its_file(opened: Any, explorer: Explorer) -> None:
    drawn(explorer.figure(opened, FIGURES[explorer]))
    menu = explorer.part(opened, "export").locator("option").all_inner_texts()
    # The widget writes its spaces so that no line breaks there.
    title, *entries, copy = (text.replace("\xa0", " ") for text in menu)
    assert (title, copy) == ("Export", "copy Python")
    files = [saved(opened, explorer, entry) for entry in entries]
    assert {".pdf", ".svg", ".png", ".html"} < {file.suffix for file in files}
    assert len(set(files)) == len(entries)
    assert [file.name for file in files if not is_sound(file)] == []


@explorers
def test_the_code_is_copied(opened: Any, explorer: Explorer) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.bring_to_front()
    save(opened, f"genobit-{explorer.name}", "copy Python")
    until(lambda: explorer.status(opened).startswith("Copied: "), "the code")
    code = explorer.status(opened).removeprefix("Copied: ")
    assert f".genobit.explore.{explorer.name}(" in code
    until(lambda: opened.evaluate("navigator.clipboard.readText()") == code, "the clipboard")
