"""Cache converted and simulated data in the user's cache directory."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from genobit.engine.files import disk_full_named, local_path, remove
from genobit.engine.simd.user_cache import user_cache

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


def cached_store(
    folder: str, name: str, build: Callable[[Path], None], cache_dir: str | os.PathLike[str] | None
) -> Path:
    """Return the path of a cached store, and build it if it is missing.

    The store is built under a temporary name and renamed, so readers never see half a store. If
    several processes build it at once, each succeeds and one result stays. The store lies in
    ``folder`` below the cache directory (default: the user's own). Its ``name`` must depend on
    everything that decides the content. The function ``build`` writes a new directory at the path
    that it receives.
    """
    root = (
        user_cache() if cache_dir is None else local_path(cache_dir, "cache_dir=", "name a folder")
    )
    store = root.absolute() / folder / name
    if store.exists():
        return store
    store.parent.mkdir(parents=True, exist_ok=True)
    building = store.parent / f".building-{uuid.uuid4().hex[:12]}"
    try:
        with disk_full_named(store, "free some space, or name another folder with cache_dir="):
            building.mkdir()
            built = building / name
            build(built)
            try:
                built.rename(store)
            except OSError:
                # Another process was faster and built the same store.
                if not store.exists():
                    raise
                remove(built)
            building.rmdir()
    except BaseException:
        remove(building)
        raise
    return store
