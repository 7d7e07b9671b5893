"""The README's example gives the output that stands there."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"


def test_example() -> None:
    for package in ("msprime", "holoviews"):
        pytest.importorskip(package)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(README), module_relative=False, optionflags=options)
    assert found.attempted == 5
    assert not found.failed
