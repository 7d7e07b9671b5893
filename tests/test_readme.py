"""The README's example gives the output that stands there, and the README stays short."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"


def test_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for package in ("msprime", "holoviews", "matplotlib"):
        pytest.importorskip(package)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(README), module_relative=False, optionflags=options)
    assert found.attempted == 5
    assert not found.failed
    assert (tmp_path / "relatedness.pdf").stat().st_size > 10_000


def test_length() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
