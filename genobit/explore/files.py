"""Where an explorer writes: a new file, never over another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def new_file(path: str | Path, endings: Collection[str]) -> Path:
    """Check that a file can be written.

    Parameters
    ----------
    path
        Where to.
    endings
        What its name may end with.

    Returns
    -------
    The absolute path.

    Raises
    ------
    ValueError
        If the ending is another.
    FileExistsError
        If there is such a file already.
    """
    target = Path(path).expanduser().absolute()
    if target.suffix not in endings:
        raise ValueError(
            f"{target.name} does not say what to write; end it with {', '.join(endings)}"
        )
    if target.exists():
        raise FileExistsError(f"{target} exists already; choose another name")
    return target
