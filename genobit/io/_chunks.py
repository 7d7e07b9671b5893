"""Cut the variants of a file into chunks, as the argument ``chunks`` of readers says."""

from __future__ import annotations

from typing import Any

from genobit.data.checks import is_whole


def row_chunks(n: int, chunks: Any, automatic: int) -> tuple[int, ...]:
    """Return the variants of each chunk; "auto" makes chunks of ``automatic`` variants."""
    if isinstance(chunks, str) and chunks == "auto":
        chunks = automatic
    if not is_whole(chunks):
        msg = f"chunks is {chunks!r}; it is a number of variants, at least 1, or 'auto'."
        raise ValueError(msg)
    size = int(chunks)
    whole, rest = divmod(n, size)
    return (size,) * whole + ((rest,) if rest or not whole else ())
