"""Find the cache folder for compiled kernels, converted VCF files and the sample cohort.

May import: platformdirs and the standard library.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

import platformdirs


def user_cache() -> Path:
    """Return the user's cache folder, or a private temporary folder if there is none.

    A container often runs under a user id without an account and without HOME, or with a HOME that
    the user cannot write to.
    """
    try:
        home = platformdirs.user_cache_path("genobit")
    except RuntimeError:
        home = Path("~/.cache/genobit")
    # Without a home, some releases of platformdirs raise and others keep the "~".
    if home.is_absolute():
        with contextlib.suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
            return home
    try:
        return _temporary()
    except OSError:
        # The folder cannot be written; a later write will raise an error with its name.
        return home.absolute()


def _temporary() -> Path:
    """Return a temporary folder that only this user can write to, the same one in each process."""
    if not hasattr(os, "getuid"):
        # On Windows the folder for temporary files belongs to the user.
        return Path(tempfile.gettempdir()) / "genobit"
    folder = Path(tempfile.gettempdir()) / f"genobit-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        # Cached code is executed, so do not trust a folder of another user.
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
        if not private or found.st_uid != os.getuid():
            return Path(tempfile.mkdtemp(prefix="genobit-"))
    return folder
