"""Stop `genobit.to_zarr` after some chunks."""

from __future__ import annotations

from typing import Any

import pytest

from genobit.io import resumable_zarr


def stop_after(
    monkeypatch: pytest.MonkeyPatch,
    chunks: int,
    error: BaseException | type[BaseException] = KeyboardInterrupt,
) -> list[Any]:
    """Raise an error where the next chunk would be written; return those written, as they come."""
    genuine, written = resumable_zarr._store, []

    def store(*arguments: Any) -> None:
        if len(written) == chunks:
            raise error
        genuine(*arguments)
        written.append(arguments[1:])

    monkeypatch.setattr(resumable_zarr, "_store", store)
    return written
