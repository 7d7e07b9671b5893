"""Keep converted and simulated data in the user's cache directory, whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from genobit.engine.files import disk_full_named, local_path
from genobit.engine.simd.user_cache import user_cache

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


def cached_store(
    folder: str, name: str, build: Callable[[Path], None], cache_dir: str | os.PathLike[str] | None
) -> Path:
    """Return the path of a cached store, building it where it is not there yet.

    It is built under another name and renamed, so a reader never meets half a store, and
    of several processes that build at once each succeeds and one result stays.

    Parameters
    ----------
    folder, name
        Where it is kept below the cache directory. The name must change with everything
        that the content depends on.
    build
        Writes the store as a new directory at the path that it is given.
    cache_dir
        The cache directory; the user's own by default.
    """
    root = (
        user_cache() if cache_dir is None else local_path(cache_dir, "cache_dir=", "name a folder")
    )
    store = root.absolute() / folder / name
    if store.exists():
        return store
    store.parent.mkdir(parents=True, exist_ok=True)
    with (
        disk_full_named(store, "free some space, or name another folder with cache_dir="),
        tempfile.TemporaryDirectory(prefix=".building-", dir=store.parent) as building,
    ):
        built = Path(building) / name
        build(built)
        try:
            built.rename(store)
        except OSError:
            # Another process was faster; what it built is the same.
            if not store.exists():
                raise
    return store
