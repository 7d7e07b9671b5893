"""What fuzzers found before, read again; `tests.hostile.fuzz` looks for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hostile.deadlines import within
from tests.hostile.fuzz import CORPUS, one, seeds
from tests.hostile.readers import READERS

if TYPE_CHECKING:
    from pathlib import Path

FOUND = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_is_read_or_refused(tmp_path: Path, path: Path) -> None:
    with within(600):
        one(path.parent.name, tmp_path / "case", path.read_bytes())


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_whole_filesets(tmp_path: Path, name: str) -> None:
    for k, data in enumerate(seeds(READERS[name])):
        one(name, tmp_path / f"case{k}", data)
