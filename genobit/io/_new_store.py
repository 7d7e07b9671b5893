"""Write a Zarr store that nobody writes to any longer after an error or Ctrl-C."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr.storage import LocalStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zarr.core.buffer import Buffer

_PAUSE = 0.01
"""Seconds between looks at whether the last write has ended."""


@contextmanager
def new_store(folder: Path) -> Iterator[LocalStore]:
    """Yield a store in a new folder; after an error, wait for its last writes and refuse others.

    Threads of dask and zarr go on after an error or Ctrl-C, and make a folder that was removed
    anew. Afterwards, the folder can be removed.
    """
    store = _Stoppable(folder)
    try:
        yield store
    except BaseException:
        store.stop()
        raise


class _Stoppable(LocalStore):
    """A local store that counts its running writes, and refuses them once it is stopped."""

    stopped = False
    running = 0

    async def set(self, key: str, value: Buffer) -> None:
        """Write a value, unless the store is stopped."""
        with self._counted():
            await super().set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Write a value that is not there, unless the store is stopped."""
        with self._counted():
            await super().set_if_not_exists(key, value)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        # All writes of a process run in zarr's one event loop, so counting needs no lock.
        self.running += 1
        try:
            if self.stopped:
                raise OSError(f"{self.root}: the store is no longer written, after an error")
            yield
        finally:
            self.running -= 1

    def stop(self) -> None:
        """Refuse further writes, and wait for those that have begun."""
        self.stopped = True
        while self.running:
            time.sleep(_PAUSE)
