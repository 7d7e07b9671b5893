"""Prove laziness: a dask scheduler that counts, and refuses to compute more than it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask


class CountingScheduler:
    """A dask scheduler that raises once it has computed more than `max_computes` times."""

    def __init__(self, max_computes: int = 0) -> None:
        self.max_computes = max_computes
        self.total_computes = 0

    def __call__(self, dsk: Any, keys: Any, **kwargs: Any) -> Any:
        self.total_computes += 1
        if self.total_computes > self.max_computes:
            raise AssertionError(
                f"dask computed {self.total_computes} times; at most {self.max_computes} expected"
            )
        return dask.get(dsk, keys, **kwargs)


@contextmanager
def raise_if_dask_computes(max_computes: int = 0) -> Iterator[CountingScheduler]:
    """Fail where the block computes more than `max_computes` times; yields the counter."""
    scheduler = CountingScheduler(max_computes)
    with dask.config.set(scheduler=scheduler):
        yield scheduler
