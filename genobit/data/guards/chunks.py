"""A Zarr store that refuses chunks which inflate beyond the declared size of their array."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numcodecs
import numpy as np
import zarr
from zarr.abc.store import RangeByteRequest, Store
from zarr.storage import LocalStore, WrapperStore, ZipStore

from genobit.data.guards.bounded import TEXT_COST
from genobit.data.guards.inflation import INFLATING, inflated_size, is_cut
from genobit.engine.options import get_options, in_units, require_fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype

_WORD_COST = 8
"""Bytes of memory that a byte of stored text takes as Python objects."""
_FILTERED = 8
"""Factor by which filters, such as a change of dtype, may change the size of a chunk."""
_SLACK = 2**16
_ABSENT = 2**64 - 1
"""Offset of a missing chunk in the index of a shard."""


@dataclass(frozen=True)
class _Chunks:
    """Declared properties of an array's chunks."""

    most: int
    """Most bytes of a decompressed chunk."""
    codec: str
    """Compression codec of a stored chunk, or "" if it is not compressed."""
    inner: int
    """Chunks per shard; 0 without shards."""
    entries: int
    """Texts per chunk, each stored after its length; 0 for other dtypes."""


class GuardedStore(WrapperStore[Store]):
    """A store that checks chunks before they are inflated."""

    def __init__(self, store: Store, arrays: dict[str, _Chunks] | None = None) -> None:
        super().__init__(store)
        self._arrays = {} if arrays is None else arrays
        self._sizes = _zip_sizes(store)

    def _with_store(self, store: Store) -> Self:
        return type(self)(store, self._arrays)

    def __str__(self) -> str:
        """Return the name of the store."""
        return str(self._store)

    def guard(self, arrays: Mapping[str, zarr.Array[Any]]) -> None:
        """Register the declared sizes of arrays, by their paths in the store."""
        self._arrays.update({path: _declared(path, array) for path, array in arrays.items()})

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return a chunk or metadata.

        Raises ValueError if it would take more memory than its array declares, or than the limit.
        """
        path = next((path for path in self._arrays if key.startswith(f"{path}/")), None)
        chunks = None if path is None or key.endswith(_METADATA) else self._arrays[path]
        stored = self._stored_size(key)
        if chunks is None:
            require_fits(f"{key} of {self}", stored, TEXT_COST)
        elif stored > max(1, chunks.inner) * (2 * chunks.most + _SLACK):
            raise ValueError(_past(key, self, stored, chunks.most))
        found = await super().get(key, prototype, byte_range)
        if found is not None and chunks is not None:
            for data in _compressed_parts(found, chunks, byte_range):
                size = inflated_size(chunks.codec, data, chunks.most)
                if size is not None and size > chunks.most:
                    raise ValueError(_past(key, self, size, chunks.most))
                if is_cut(chunks.codec, data):
                    raise ValueError(f"{key} of {self} is cut: it declares more than it holds")
                _require_entries(f"{key} of {self}", data, chunks)
        return found

    def _stored_size(self, key: str) -> int:
        """Return the bytes of a file or .zip member; 0 if that would need another request."""
        if isinstance(self._store, LocalStore):
            path = self._store.root / key
            return path.stat().st_size if path.is_file() else 0
        return self._sizes.get(key, 0)


_TEXTS = ("vlen-utf8", "vlen-bytes")
_METADATA = (".json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


def _zip_sizes(store: Store) -> dict[str, int]:
    if not isinstance(store, ZipStore):
        return {}
    with zipfile.ZipFile(Path(store.path)) as file:
        return {member.filename: member.file_size for member in file.infolist()}


def _past(key: str, store: object, size: int, most: int) -> str:
    return (
        f"{key} of {store} takes {in_units(size)} or more when it is decompressed, and its array "
        f"declares {in_units(most)} for a chunk"
    )


def _declared(path: str, array: zarr.Array[Any]) -> _Chunks:
    """Return the declared properties of an array's chunks.

    Raises ValueError for chunks that are compressed twice, whose size cannot be told.
    """
    metadata: Any = array.metadata.to_dict()
    if "codecs" in metadata:
        steps = [dict(codec) for codec in metadata["codecs"]]
        if steps and steps[0]["name"] == "sharding_indexed":
            steps = [dict(codec) for codec in steps[0]["configuration"]["codecs"]]
        names = [str(step["name"]) for step in steps]
    else:
        filters = [*(metadata.get("filters") or ()), metadata.get("compressor")]
        names = [_id_of(codec) for codec in filters if codec is not None]
    inflating = [name for name in names if name.removeprefix("numcodecs.") in INFLATING]
    if len(inflating) > 1:
        msg = f"{path} is compressed by {' and by '.join(inflating)}: store it with one of them"
        raise ValueError(msg)
    limit = get_options().eager_limit
    if array.dtype.kind in "OT":
        most = limit // _WORD_COST
    else:
        filtered = len(names) > len(inflating) + 1
        size = int(np.prod(array.chunks, dtype=object)) * array.dtype.itemsize
        most = min(size * (_FILTERED if filtered else 1) + _SLACK, limit)
    entries = int(np.prod(array.chunks, dtype=object)) if names and names[0] in _TEXTS else 0
    shards = array.shards
    inner = 0
    if shards is not None:
        inner = int(np.prod([a // b for a, b in zip(shards, array.chunks, strict=True)]))
    return _Chunks(most, inflating[0] if inflating else "", inner, entries)


def _require_entries(what: str, data: bytes, chunks: _Chunks) -> None:
    """Raise ValueError for a chunk with more texts than its array: the codec allocates for each."""
    if not chunks.entries:
        return
    if chunks.codec:
        codec = numcodecs.get_codec({"id": chunks.codec.removeprefix("numcodecs.")})
        # Damaged chunks pass this check; reading them raises an error with the file's name.
        try:
            data = bytes(codec.decode(data))
        except Exception:  # noqa: BLE001
            return
    declared = int.from_bytes(data[:4], "little")
    if declared > chunks.entries:
        raise ValueError(f"{what} declares {declared:,} texts, and its array {chunks.entries:,}")


def _id_of(codec: Any) -> str:
    return str(codec["id"] if isinstance(codec, dict) else codec.get_config()["id"])


def _compressed_parts(
    found: Buffer, chunks: _Chunks, byte_range: ByteRequest | None
) -> Iterator[bytes]:
    """Yield the stored chunks in a buffer: one chunk, or all chunks of a shard."""
    if not chunks.codec and not chunks.entries:
        return
    data = found.to_bytes()
    if not chunks.inner:
        yield data
    elif byte_range is None:
        # The index holds offset and size of each chunk, then a 4-byte checksum.
        size = 16 * chunks.inner
        index = np.frombuffer(data[-size - 4 : -4], "<u8")
        for offset, length in index[: index.size // 2 * 2].reshape(-1, 2).tolist():
            if offset != _ABSENT:
                yield data[offset : offset + length]
    elif isinstance(byte_range, RangeByteRequest):
        yield data
