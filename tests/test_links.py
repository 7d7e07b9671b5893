"""Links of the README, the documentation and the notebooks lead to files that are there.

Sphinx checks those between its own pages; it sees neither the README nor the notebooks as a
checkout has them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]
FENCED = re.compile(r"^( *)(`{3,}|:{3,}).*?^\1\2`*:* *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
QUOTED = re.compile(r"`((?:docs|genobit|notebooks|tests)/[\w/.-]+\.(?:c|cpp|ipynb|js|md|py))`")
ELSEWHERE = re.compile(r"[a-z]+:")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def text_of(page: Path) -> str:
    """Markdown of a page, without what is fenced in."""
    source = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(source)["cells"]
        source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return FENCED.sub("", source)


def anchors(page: Path) -> set[str]:
    """What a browser finds its headings by, as GitHub and MyST name them."""
    words = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(text_of(page)))
    return {text.replace(" ", "-") for text in words}


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    lost = []
    for link in LINK.findall(text_of(page)):
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    return lost


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links__lead_somewhere(page: Path) -> None:
    assert broken(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_in_the_text__are_there(page: Path) -> None:
    paths = [path for path in QUOTED.findall(text_of(page)) if "NAME" not in path]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_broken_links__are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title: here\n[a](page.md#a-title-here) [b](#a-title-here) [c](https://x.org)\n"
        "[d](none.md) [e](page.md#none)\n```python\n[f](none.py)\n```\n",
        encoding="utf-8",
    )
    assert broken(page) == ["none.md", "page.md#none"]
