"""Code of the documentation fits its column, hides nothing, and calls what exists."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import asdict, fields
from doctest import DocTestParser
from pathlib import Path
from typing import Any

import pytest

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from tests.helpers.pages import FENCED, blocks

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
WIDEST = 88
CODE = ("python", "bash", "yaml", "", "text", "{code-cell}")
ANALYSES = (
    "epistasis",
    "grm",
    "kendall",
    "ld",
    "parsimony",
    "pca",
    "quality",
    "similarity",
)
OPTION = re.compile(r"^\| `(\w+)` \| `([^`]+)` \| ", re.MULTILINE)

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))


@pages
def test_code__fits_the_column(page: Path) -> None:
    found = [line for body in blocks(page.read_text("utf-8"), CODE) for line in body.splitlines()]
    assert [line for line in found if len(line) > WIDEST] == []


@pages
def test_cells__are_not_hidden(page: Path) -> None:
    assert re.findall(r"(?:remove|hide)-(?:cell|input)", page.read_text("utf-8")) == []


@pages
def test_pictures__have_alternative_text(page: Path) -> None:
    text = page.read_text("utf-8")
    pictures = [
        kind + body
        for kind, body in FENCED.findall(text)
        if kind.startswith("{image}") or "\nImage(" in body
    ]
    assert [picture for picture in pictures if not re.search(r"(?m)^: *alt: .", picture)] == []
    assert "![](" not in text


def wrong_calls(code: str) -> list[str]:
    """Calls of `gb.x` and `.genobit.x` that name no function, or no argument of it."""
    found = []
    if code.startswith(">>>"):
        code = "".join(example.source for example in DocTestParser().get_examples(code))
    code = re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE)
    for node in ast.walk(ast.parse(code)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner, name = node.func.value, node.func.attr
        if isinstance(owner, ast.Name) and owner.id in {"gb", "genobit"}:
            homes: list[Any] = [gb]
        elif isinstance(owner, ast.Attribute) and owner.attr == "genobit":
            homes = [GenobitDatasetAccessor, GenobitDataArrayAccessor]
        else:
            continue
        members = [getattr(home, name) for home in homes if hasattr(home, name)]
        called = [member for member in members if callable(member)]
        if not members:
            found.append(f"{name} does not exist")
        elif called:
            given = {word.arg for word in node.keywords if word.arg}
            if not any(takes(member, given) for member in called):
                found.append(f"{name} does not take {', '.join(sorted(given))}")
    return found


def takes(member: object, given: set[str]) -> bool:
    """Whether a function has all these arguments, or any argument."""
    parameters = inspect.signature(member).parameters  # type: ignore[arg-type]
    every = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return every or given <= set(parameters)


@pages
def test_examples__call_what_exists(page: Path) -> None:
    wrong = [wrong_calls(body) for body in blocks(page.read_text("utf-8"), ("python", CODE[-1]))]
    assert [message for messages in wrong for message in messages] == []


def test_wrong_calls__are_found() -> None:
    code = "gb.open_plank('a')\nds.genobit.ld('r2', windows=5)\nds.genobit.grm('king')\n%load_ext x"
    assert wrong_calls(code) == ["open_plank does not exist", "ld does not take windows"]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_page_of_an_analysis__begins_with_a_picture(analysis: str) -> None:
    text = (DOCS / "tutorials" / f"{analysis}.md").read_text("utf-8")
    first = next(blocks(text, CODE))
    assert "plot" in first
    assert text.index(first) < 700


def test_options__are_those_of_the_code() -> None:
    rows = OPTION.findall((DOCS / "reference" / "options.md").read_text("utf-8"))
    known = {field.name: repr(field.default) for field in fields(type(gb.get_options()))}
    assert {name: value.replace('"', "'") for name, value in rows} == known


STANDING = [
    "index",
    "reference/options",
    *(f"howto/{name}" for name in ("ci", "figures")),
    *(f"tutorials/explore-{name}" for name in ("epistasis", "grm", "kendall", "ld", "parsimony")),
    *(f"tutorials/ld{name}" for name in ("", "-blocks", "-decay", "-finite-sites", "-prune")),
    *(f"tutorials/{name}" for name in ("explorers", "grm-relatives", "kendall-networks")),
    *(f"tutorials/{name}" for name in ("parsimony", "parsimony-search", "pca")),
]
"""Pages whose blocks run one after the other, without set-up and without files."""

ELSEWHERE = {
    "contributing": 2,  # run by tests/test_contributing.py
    "howto/cluster": 4,
    "howto/tables": 1,
    "tutorials/similarity": 1,
}
"""Number of blocks that no build and no test of these pages runs. They need a cluster, or a
package that no extra installs."""


@pages
def test_examples__are_run(page: Path) -> None:
    name = str(page.relative_to(DOCS).with_suffix(""))
    found = len(list(blocks(page.read_text("utf-8"), ("python",))))
    assert name in STANDING or found == ELSEWHERE.get(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_examples__run_as_they_stand(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with gb.set_options(**asdict(gb.get_options())):
        for body in blocks((DOCS / f"{name}.md").read_text("utf-8"), ("python", CODE[-1])):
            exec(compile(body, f"{name}.md", "exec"), names)


def test_texts_that_the_app_shows__do_not_mention_cells() -> None:
    tour = json.loads((DOCS.parent / "notebooks" / "tour.ipynb").read_text())
    hidden = {"notebook-only"}
    texts = [
        "".join(cell["source"])
        for cell in tour["cells"]
        if cell["cell_type"] == "markdown" and not hidden & set(cell["metadata"].get("tags", ()))
    ]
    assert len(texts) > 5
    assert [text for text in texts if "cell" in text.lower()] == []
