"""Lazy results to Zarr, chunk by chunk, in a run that may be stopped and goes on where it was.

A chunk is a file of its own, written whole or not at all. So what is finished is what is there: a
run that was killed, or met a full disk, leaves a store that opens, and the same call writes the
chunks that are missing.
"""

from __future__ import annotations

import itertools
import os
import shutil
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from dask.array import zeros
from dask.base import compute
from dask.delayed import Delayed

from genobit.lazy.checkpoints import Checkpoint, digest
from genobit.lazy.names import named_layer
from genobit.progress import bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dask.array as da

Place = tuple[int, ...]

SIDE = 8
"""Chunks along a side of the block of chunks that is under way: planes of twice as many chunks of
rows are held, and each is made anew for every 8 that it is set against."""
PROGRESS = ".progress"
UNFINISHED = ".partial"
"""What zarr calls a file before it has its name."""


def to_zarr(
    result: xr.DataArray | xr.Dataset,
    path: str | os.PathLike[str],
    *,
    progress: bool | None = None,
) -> Path:
    """Write a lazy result to a Zarr store; stopped, and called again, it goes on.

    Chunks are computed, written and forgotten on the scheduler of dask that is active; on a cluster
    workers write them, to a file system that all of them see. Held at a time are those under way
    and what 16 chunks of rows of the genotypes take. Until all are written a folder beside the
    store, its name with ``.progress``, keeps what was asked.

    Parameters
    ----------
    result
        Any result of genobit, or another xarray object.
    path
        Of the store, a folder; made if it is not there.
    progress
        Whether to show a bar; by default what `get_options` says.

    Returns
    -------
        The path, for ``xarray.open_zarr(path, consolidated=False)``. In a store of a run that was
        stopped, chunks that are missing read as NaN, or 0 of whole numbers.

    Raises
    ------
    ValueError
        If the store is one of another result.
    FileExistsError
        If there is something at the path that no such run left: also a store that is whole.
    OSError
        If the disk is full; what was written stays.
    RuntimeError
        If another run is at work there.

    Examples
    --------
    >>> import tempfile, numpy as np, xarray as xr, genobit as gb
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> path = gb.to_zarr(ds.genobit.ld("r2"), tempfile.mkdtemp() + "/r2.zarr")
    >>> xr.open_zarr(path, consolidated=False).r2.values.tolist()
    [[1.0, 0.75], [0.75, 1.0]]
    """
    whole = _named(result)
    arrays: dict[str, Any] = {
        str(name): x.data for name, x in whole.variables.items() if x.chunks is not None
    }
    place = Path(path).expanduser()
    kept = place.with_name(place.name + PROGRESS)
    if place.exists() and not kept.exists():
        msg = (
            f"{str(place)!r} is there, and no run that could go on: open it with "
            "xarray.open_zarr(), remove it, or name another path"
        )
        raise FileExistsError(msg)
    with Checkpoint(kept, _question(whole, arrays)) as checkpoint:
        if not checkpoint.units():
            shutil.rmtree(place, ignore_errors=True)
            _describe(whole, arrays, place)
            checkpoint.write(0, {})
        for left in place.rglob(f"*{UNFINISHED}"):
            left.unlink()
        todo = {name: _missing(place, name, array) for name, array in arrays.items()}
        total = sum(array.npartitions for array in arrays.values())
        done = total - sum(map(len, todo.values()))
        if done:
            _compare(place, arrays, todo)
        with bar(
            progress=progress, total=total, initial=done, desc="chunks", unit="chunk"
        ) as steps:
            for part in _passes(todo):
                _write(place, arrays, part)
                steps.update(len(part))
    shutil.rmtree(kept)
    return place


def _named(result: xr.DataArray | xr.Dataset) -> xr.Dataset:
    """A Dataset in chunks as Zarr has them: of one size, but for the last."""
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="result" if result.name is None else result.name)
    changed: dict[Any, Any] = {}
    for name, variable in result.variables.items():
        if variable.chunks is None:
            continue
        # Labels are in memory elsewhere; what is of objects has no type on disk before it is seen.
        label = name in result.coords and variable.ndim == 1
        if label or variable.dtype.kind == "O":
            changed[name] = variable.compute()
        else:
            sizes = {dim: max(sizes) for dim, sizes in variable.chunksizes.items()}
            changed[name] = variable.chunk(sizes)
    # How a file was compressed says nothing of the result.
    return result.assign(changed).drop_encoding()


def _describe(whole: xr.Dataset, arrays: dict[str, da.Array], place: Path) -> None:
    """Write a store of labels and of no chunks.

    xarray makes a task for each chunk of what it is to write later, and of zeros there is one.
    """
    described, encoding = {}, {}
    for name, array in arrays.items():
        nothing = zeros(array.shape, chunks=-1, dtype=array.dtype)
        described[name] = whole.variables[name].copy(data=nothing)
        encoding[name] = {"chunks": tuple(max(1, sizes[0]) for sizes in array.chunks)}
    whole.assign(described).to_zarr(
        place, mode="w", compute=False, consolidated=False, encoding=encoding
    )


def _question(whole: xr.Dataset, arrays: dict[str, da.Array]) -> dict[str, Any]:
    labels = {str(name): x for name, x in whole.variables.items() if x.chunks is None}
    texts = [np.asarray(x.values) for x in labels.values()]
    return {
        "variables": {
            name: [list(map(str, whole[name].dims)), str(array.dtype), array.chunks]
            for name, array in arrays.items()
        },
        "labels": digest([x.astype("U") if x.dtype.kind in "OT" else x for x in texts]),
        "names": sorted(labels),
        "attributes": {str(key): repr(value) for key, value in whole.attrs.items()},
    }


def _missing(place: Path, name: str, array: da.Array) -> list[Place]:
    """Chunks that have no file, in the order in which mirrored ones stand together."""
    import zarr

    stored = zarr.open_array(place / name, mode="r")
    key = stored.metadata.encode_chunk_key
    every = itertools.product(*map(range, array.numblocks))
    return [at for at in every if not (place / name / key(at)).exists()]


def _passes(todo: dict[str, list[Place]]) -> Iterator[list[tuple[str, Place]]]:
    """Blocks of chunks, of all arrays together: arrays of one result share tasks."""
    blocks: dict[Place, list[tuple[str, Place]]] = {}
    for name, places in todo.items():
        for place in places:
            block = tuple(sorted(at // SIDE for at in place[-2:]))
            blocks.setdefault(block, []).append((name, place))
    for _, part in sorted(blocks.items(), key=itemgetter(0)):
        yield part


def _write(place: Path, arrays: dict[str, da.Array], part: list[tuple[str, Place]]) -> None:
    used = {name: arrays[name] for name, _ in part}
    name, graph = named_layer("genobit-to-zarr", _writes, place.absolute(), used, part)
    compute(Delayed(name, graph, layer=name))


def _writes(
    name: str, place: Path, arrays: dict[str, da.Array], part: list[tuple[str, Place]]
) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    for number, (variable, at) in enumerate(part):
        array = arrays[variable]
        layer[name, number] = (_store, (array.name, *at), str(place / variable), at)
    layer[name] = (len, list(layer))
    return layer


def _store(chunk: Any, path: str, at: Place) -> None:
    import zarr

    # A chunk of nothing but the fill value has a file too, which says that it is finished. It is
    # said of this array alone: zarr's own settings are the user's, and of all threads.
    stored = zarr.open_array(path, mode="r+").with_config({"write_empty_chunks": True})
    spans = [
        slice(k * size, k * size + length)
        for k, size, length in zip(at, stored.chunks, chunk.shape, strict=True)
    ]
    stored[tuple(spans)] = chunk


def _compare(place: Path, arrays: dict[str, da.Array], todo: dict[str, list[Place]]) -> None:
    """Compute one chunk that is there again: the same question may be of other genotypes."""
    import zarr

    for name, array in arrays.items():
        missing = set(todo[name])
        every = itertools.product(*map(range, array.numblocks))
        at = next((at for at in every if at not in missing), None)
        if at is None:
            continue
        block = array.blocks[at]
        edges = [np.cumsum([0, *sizes]) for sizes in array.chunks]
        spans = tuple(slice(int(e[k]), int(e[k + 1])) for e, k in zip(edges, at, strict=True))
        stored = np.asarray(zarr.open_array(place / name, mode="r")[spans])
        if not np.array_equal(stored, block.compute(), equal_nan=stored.dtype.kind in "fc"):
            msg = (
                f"{str(place)!r} holds another {name}: its chunk {at} differs; name another path, "
                f"or remove it and {place.name}{PROGRESS}"
            )
            raise ValueError(msg)
        return
