"""Write lazy results to Zarr, chunk by chunk, and resume an interrupted run.

- Each chunk is a file, written whole or not at all. An existing file marks a finished chunk.
- The metadata of the root mark a complete store. They are written last, by a rename. Until then the
  root declares a Zarr format that does not exist. Every Zarr reader therefore raises an error that
  shows how to resume.
"""

from __future__ import annotations

import itertools
import json
import shutil
import warnings
from math import isqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from dask.array import zeros
from dask.base import compute
from dask.delayed import Delayed

from genobit.data import labels
from genobit.engine.bits.layout import PREFIX, UNWRITTEN, Layout
from genobit.engine.files import disk_full_named, local_path
from genobit.engine.own_words import own_words
from genobit.engine.progress import bar
from genobit.engine.schedule.checkpoints import LOCK, MANIFEST, Checkpoint, digest, digest_of_inputs
from genobit.engine.schedule.graphs import at_a_time, named_layer
from genobit.io._result_chunks import as_chunks

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import dask.array as da
    import zarr

Place = tuple[int, ...]

SIDE = 8
"""Most chunks along a side of the block that is being written. The planes of 16 chunks of rows are
held, and each is computed again for every 8 chunks of rows it is paired with."""
PROGRESS = ".progress"
UNFINISHED = ".partial"
"""Suffix of zarr's temporary files."""
ROOT = "zarr.json"
"""Metadata file of the store's root, kept in the `PROGRESS` folder until the store is complete."""


@own_words
def to_zarr(
    result: xr.DataArray | xr.Dataset,
    path: str | os.PathLike[str],
    *,
    progress: bool | None = None,
) -> Path:
    """Write a lazy result to a Zarr store; if interrupted, repeat the call to resume.

    Dask's active scheduler computes and writes the chunks, and releases each one once it is
    written. On a cluster, all workers need access to the file system of the store. Memory holds the
    chunks being written, and the packed genotypes of 16 chunks of rows (variants or samples).

    A store opens only when it is complete. Until then, every Zarr reader raises an error that says
    how to resume. Keep the folder ``STORE.progress`` next to an incomplete store, because a resumed
    run needs it.

    A resumed run keeps finished chunks if the result is the same: the version of genobit, labels,
    attributes, a digest of all bit planes or ranks, and one chunk, which is computed again. Of a
    result that takes a single pass over the data, such as packed genotypes, all finished chunks are
    computed again and compared.

    Parameters
    ----------
    result
        Any result of genobit, or another xarray object.
    path
        Folder of the store, not a URL; created if it does not exist.
    progress
        Whether to show a progress bar. The default is the option ``progress``.

    Returns
    -------
        The path, for ``xarray.open_zarr(path)``.

    Raises
    ------
    TypeError
        For anything but an xarray object.
    ValueError
        If the store belongs to another result, or the path is a URL.
    FileExistsError
        If the path exists and is not an interrupted run of this function. If the store is complete,
        nothing is computed.
    OSError
        If the disk is full. The message names the path; finished chunks stay.
    RuntimeError
        If another run is writing to the store.

    Examples
    --------
    >>> import tempfile, numpy as np, xarray as xr, genobit as gb
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> path = gb.to_zarr(ds.genobit.ld("r2"), tempfile.mkdtemp() + "/r2.zarr")
    >>> xr.open_zarr(path).r2.values.tolist()
    [[1.0, 0.75], [0.75, 1.0]]
    """
    _require_labelled(result)
    place = local_path(path, "genobit.to_zarr", f"write there with xarray, .to_zarr({str(path)!r})")
    whole = as_chunks(result)
    arrays: dict[str, Any] = {
        str(name): x.data for name, x in whole.variables.items() if x.chunks is not None
    }
    kept = place.with_name(place.name + PROGRESS)
    if place.exists() and not kept.exists():
        raise FileExistsError(_there(place))

    def begun(question: Mapping[str, Any]) -> bool:
        whole = place.exists() and not unfinished(place)
        return whole or any((place / name / "c").exists() for name in question["variables"])

    question = _question(whole, arrays)
    with disk_full_named(place), Checkpoint(kept, question, called="", begun=begun) as checkpoint:
        waiting = (kept / ROOT).exists()
        if place.exists() and not unfinished(place):
            # A run killed after its last rename leaves its folder beside a complete store.
            if waiting or not checkpoint.units():
                raise FileExistsError(_there(place))
        else:
            try:
                if not (checkpoint.begun() and waiting):
                    _describe(whole, arrays, place, kept)
                _fill(place, arrays, every=question["inputs"] is None, progress=progress)
            except BaseException:
                if not checkpoint.begun():
                    shutil.rmtree(place, ignore_errors=True)
                    _clear(kept)
                raise
            checkpoint.write(0, {})
            (kept / ROOT).replace(place / ROOT)
    _remove(kept)
    return place


def _require_labelled(result: object) -> None:
    if not isinstance(result, xr.DataArray | xr.Dataset):
        raise TypeError(
            f"genobit.to_zarr takes a DataArray or Dataset, not {type(result).__name__}: give the "
            "result itself, not its .values; write a table with its .to_parquet()"
        )


def _remove(kept: Path) -> None:
    """Remove the folder of a finished run, its manifest last: a folder without one is refused."""
    _clear(kept)
    shutil.rmtree(kept)


def _clear(kept: Path) -> None:
    """Remove all files of a run but those that mark its folder."""
    shutil.rmtree(kept / "store", ignore_errors=True)
    for path in kept.iterdir():
        if path.is_file() and path.name not in {MANIFEST, LOCK}:
            path.unlink()


def unfinished(place: Path) -> bool:
    """Return whether a store is being written by `to_zarr`, or was interrupted."""
    try:
        return isinstance(json.loads((place / ROOT).read_bytes())["zarr_format"], str)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def discard(place: Path) -> None:
    """Remove a store, complete or not."""
    for folder in (place, place.with_name(place.name + PROGRESS)):
        shutil.rmtree(folder, ignore_errors=True)


def _there(place: Path) -> str:
    return (
        f"{str(place)!r} exists, complete or no store of an interrupted run: nothing is computed; "
        "open it with xarray.open_zarr(), remove it, or name another path"
    )


def _fill(
    place: Path,
    arrays: dict[str, da.Array],
    *,
    every: bool,
    progress: bool | None,
) -> None:
    """Write the missing chunks, after comparing ``every`` finished chunk, or one."""
    for left in place.rglob(f"*{UNFINISHED}"):
        left.unlink()
    todo = {name: _missing(place, name, array) for name, array in arrays.items()}
    total = sum(array.npartitions for array in arrays.values())
    finished = {name: sorted({*_places(array)} - {*todo[name]}) for name, array in arrays.items()}
    done = sum(map(len, finished.values()))
    side = min(map(_side, arrays.values()), default=SIDE)
    for part in _batches(finished, arrays, side):
        _compare(place, arrays, part if every else part[:1])
        if not every:
            break
    with bar(progress=progress, total=total, initial=done, desc="chunks", unit="chunk") as steps:
        for part in _batches(todo, arrays, side):
            _each(_store, place, arrays, part)
            steps.update(len(part))


def _describe(whole: xr.Dataset, arrays: dict[str, da.Array], place: Path, kept: Path) -> None:
    """Make a store of labels without chunks of results, and keep its true root in ``kept``.

    Zeros in one chunk replace each lazy array, because xarray makes a task for every chunk.
    """
    described: dict[str, xr.Variable] = {}
    encoding: dict[str, dict[str, Any]] = {}
    packed = Layout.from_attributes(whole.attrs) is not None
    for name, array in arrays.items():
        nothing = zeros(array.shape, chunks=-1, dtype=array.dtype)
        described[name] = whole.variables[name].copy(data=nothing)
        encoding[name] = {"chunks": tuple(max(1, sizes[0]) for sizes in array.chunks)}
        if packed and name.startswith(PREFIX):
            encoding[name]["fill_value"] = UNWRITTEN
    new = kept / "store"
    for old in (new, place):
        shutil.rmtree(old, ignore_errors=True)
    with warnings.catch_warnings():
        # Consolidated metadata are not part of Zarr 3 yet, but servers that cannot list folders
        # need them.
        warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
        whole.assign(described).to_zarr(
            new, mode="w", compute=False, consolidated=True, encoding=encoding, zarr_format=3
        )
    (new / ROOT).replace(kept / ROOT)
    (new / ROOT).write_text(json.dumps({"zarr_format": _resume(place), "node_type": "group"}))
    new.rename(place)


def _resume(place: Path) -> str:
    """Return the text that readers show for an incomplete store, as the format they refuse."""
    return (
        f"'incomplete'. {str(place)!r} is not complete: to resume, repeat the call of "
        "genobit.to_zarr, or the command genobit pack, that was writing it"
    )


def _question(whole: xr.Dataset, arrays: dict[str, da.Array]) -> dict[str, Any]:
    """Return what identifies a result, whatever the order of its variables."""
    variables = {str(name): x for name, x in whole.variables.items()}
    known = {name: x for name, x in variables.items() if name not in arrays}
    return {
        "variables": {
            name: [list(map(str, whole[name].dims)), str(array.dtype), array.chunks]
            for name, array in arrays.items()
        },
        "labels": {
            name: digest([labels.by_value(x.values, name)]) for name, x in sorted(known.items())
        },
        "inputs": digest_of_inputs([arrays[name] for name in sorted(arrays)]),
        "attributes": {str(key): repr(value) for key, value in whole.attrs.items()},
        "described": {
            name: {str(key): repr(value) for key, value in x.attrs.items()}
            for name, x in variables.items()
        },
    }


def _missing(place: Path, name: str, array: da.Array) -> list[Place]:
    """Return the chunks that have no file."""
    import zarr

    stored = zarr.open_array(place / name, mode="r")
    key = stored.metadata.encode_chunk_key
    return [at for at in _places(array) if not (place / name / key(at)).exists()]


def _places(array: da.Array) -> Iterator[Place]:
    return itertools.product(*map(range, array.numblocks))


def _side(array: da.Array) -> int:
    return isqrt(at_a_time(array.dask, SIDE**2))


def _batches(
    todo: dict[str, list[Place]], arrays: dict[str, da.Array], side: int
) -> Iterator[list[tuple[str, Place]]]:
    """Yield blocks of ``side`` x ``side`` chunks of all arrays, with the mirrored chunks.

    Mirrored chunks share tasks. An array of one column has as many chunks in a row: those next to
    each other are often made from one chunk of a file.
    """
    blocks: dict[Place, list[tuple[str, Place]]] = {}
    for name, places in todo.items():
        step = side**2 if arrays[name].numblocks[1:] == (1,) else side
        for place in places:
            block = tuple(sorted(at // step for at in place[-2:]))
            blocks.setdefault(block, []).append((name, place))
    for _, part in sorted(blocks.items(), key=itemgetter(0)):
        yield part


def _each(
    function: Callable[..., Any],
    place: Path,
    arrays: dict[str, da.Array],
    part: list[tuple[str, Place]],
) -> list[Any]:
    """Return ``function(chunk, path of its array, place)`` of some chunks."""
    used = {name: arrays[name] for name, _ in part}
    inputs = function, place.absolute(), used, part
    name, graph = named_layer("genobit-to-zarr", _calls, *inputs)
    (found,) = compute(Delayed(name, graph, layer=name))
    return list(found)


def _calls(
    name: str,
    function: Callable[..., Any],
    place: Path,
    arrays: dict[str, da.Array],
    part: list[tuple[str, Place]],
) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    for number, (variable, at) in enumerate(part):
        array = arrays[variable]
        layer[name, number] = (function, (array.name, *at), str(place / variable), at)
    layer[name] = (list, list(layer))
    return layer


def _store(chunk: Any, path: str, at: Place) -> None:
    import zarr

    # Write a file for a chunk of fill values too, which marks it as finished. Configure only this
    # array: zarr's global settings belong to the user and to all threads.
    stored = zarr.open_array(path, mode="r+").with_config({"write_empty_chunks": True})
    stored[_span(stored, chunk, at)] = chunk


def _is_stored(chunk: Any, path: str, at: Place) -> bool:
    import zarr

    stored = zarr.open_array(path, mode="r")
    there = np.asarray(stored[_span(stored, chunk, at)])
    return np.array_equal(there, chunk, equal_nan=there.dtype.kind in "fcmM")


def _span(stored: zarr.Array[Any], chunk: Any, at: Place) -> tuple[slice, ...]:
    """Return where a chunk stands in its array."""
    return tuple(
        slice(k * size, k * size + length)
        for k, size, length in zip(at, stored.chunks, chunk.shape, strict=True)
    )


def _compare(place: Path, arrays: dict[str, da.Array], part: list[tuple[str, Place]]) -> None:
    """Compute finished chunks again: other tasks or data can have the same description."""
    for (name, at), equal in zip(part, _each(_is_stored, place, arrays, part), strict=True):
        if not equal:
            raise ValueError(
                f"{str(place)!r} holds another {name}: its chunk {at} differs; name another path, "
                f"or remove it and {place.name}{PROGRESS}"
            )
