"""Files that go with the last reference to what is in them."""

from __future__ import annotations

import gc
import time
from pathlib import Path


def left(folder: Path, most: int = 0) -> list[str]:
    """Names in a folder once there are so many at most, or after a minute.

    A thread of dask's pool holds what its last task was about until it runs again, which may be
    after the result was taken.
    """
    end = time.monotonic() + 60
    while True:
        names = sorted(path.name for path in folder.iterdir())
        if len(names) <= most or time.monotonic() > end:
            return names
        gc.collect()
        time.sleep(0.02)
