"""Stores that nobody writes to after an error."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import zarr

from genobit.io._cache import cached_store
from genobit.io._new_store import new_store


def test_after_an_error__nothing_is_written(tmp_path: Path) -> None:
    made = []

    def interrupted() -> None:
        with new_store(tmp_path / "a") as store:
            made.append(zarr.open_group(store, mode="w"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(OSError, match="no longer written"):
        made[0].create_array("x", data=np.arange(3))
    assert list(tmp_path.iterdir()) == []


def test_a_cached_store_that_fails__leaves_nothing(tmp_path: Path) -> None:
    def build(place: Path) -> None:
        with new_store(place) as store:
            zarr.open_group(store, mode="w")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_store("sample", "a.zarr", build, tmp_path)
    assert list((tmp_path / "sample").iterdir()) == []
