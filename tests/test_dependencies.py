"""Each package of `pyproject.toml`, and no other, has its reason in the list of dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def _named(requirements: list[object]) -> set[str]:
    names = (re.match(r"[A-Za-z0-9_.-]+", text) for text in requirements if isinstance(text, str))
    return {name[0] for name in names if name}


def test_each_dependency_has_its_reason() -> None:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("not in a checkout or an sdist")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = {
        "": project["project"]["dependencies"],
        **project["project"]["optional-dependencies"],
        **project["dependency-groups"],
    }
    asked = {
        (name, group)
        for group, requirements in groups.items()
        for name in _named(requirements) - {"genobit"}
    }
    text = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")
    tables = [table for table in text.split("\n\n") if table.startswith("| package |")]
    rows = [line.strip("| ").split(" | ") for table in tables for line in table.splitlines()[2:]]
    assert all(row[-1] for row in rows)
    listed = {(row[0], row[1] if len(row) == 3 else "") for row in rows}
    # dask is there for its arrays, and again for its tables.
    assert listed == asked - {("dask", "io")}
