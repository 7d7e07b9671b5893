"""Shared parts of relationship matrix files: ids, checks, row blocks, lazy lower triangles."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr

from genobit.data import labels, model
from genobit.data.labels import first_difference, text
from genobit.engine.files import READ, local_path, require_file
from genobit.engine.options import get_options
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import named_layer

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMS = (model.SAMPLES + "_0", model.SAMPLES + "_1")
ID, FAMILY, NO_FAMILY = model.SAMPLE_ID, labels.FAMILY, labels.NO_FAMILY

_BLOCK_BYTES = 2**26
_ONE_CONTIG = (
    ": write one contig at a time, grm.isel(contigs=0), of a matrix that is computed "
    "(grm(loco=True, compute=True)) or opened from Zarr, for a lazy one computes all contigs "
    "for each"
)


def require_digits(digits: int) -> None:
    """Raise ValueError for a number of digits that no float64 has."""
    if not 1 <= digits <= 17:
        raise ValueError(f"digits={digits!r} is not within 1 to 17, what a float64 holds")


def require_square(grm: object, function: str) -> xr.DataArray:
    """Return the matrix with its dimensions in order, or raise an error.

    Raises TypeError if it is not a DataArray of real numbers, and ValueError if its dimensions are
    not samples by the same samples.
    """
    if not isinstance(grm, xr.DataArray):
        msg = f"{function} takes the DataArray of ds.genobit.grm(), not {type(grm).__name__}"
        raise TypeError(msg)
    if set(grm.dims) != set(DIMS):
        hint = _ONE_CONTIG if "contigs" in grm.dims else ""
        msg = f"{function} takes a matrix with dimensions {DIMS}, this one has {grm.dims}{hint}"
        raise ValueError(msg)
    rows, columns = (grm.sizes[dim] for dim in DIMS)
    if rows != columns or not rows:
        msg = f"{function} takes a square matrix, this one is {rows} x {columns} samples"
        raise ValueError(msg)
    if grm.dtype.kind not in "fiu":
        raise TypeError(f"{function} takes real numbers, this matrix is of {grm.dtype}")
    _require_same_samples(grm, function)
    return grm.transpose(*DIMS)


def _require_same_samples(grm: xr.DataArray, function: str) -> None:
    for name in (ID, FAMILY):
        if f"{name}_0" in grm.coords and f"{name}_1" in grm.coords:
            rows, columns = (text(grm[f"{name}_{side}"].values) for side in (0, 1))
            found = first_difference(rows, columns)
            if found is not None:
                k, row, column = found
                raise ValueError(
                    f"{name}_0[{k}] is {row!r} and {name}_1[{k}] is {column!r}: {function} "
                    "writes one list of samples; select the same in both dimensions"
                )


def ids_of(grm: xr.DataArray) -> list[tuple[str, str]]:
    """Return family and individual id of each sample, as written to an id file.

    Raises KeyError without sample ids, and ValueError for an id that is empty or has white space,
    or for two samples with the same ids.
    """
    if f"{ID}_0" not in grm.coords:
        raise KeyError(
            f"the matrix has no coordinate {ID + '_0'!r}, and the id file needs names: "
            f"grm.assign_coords({ID}_0=({DIMS[0]!r}, names))"
        )
    individuals = grm[f"{ID}_0"]
    known = f"{FAMILY}_0" in grm.coords
    families = text(grm[f"{FAMILY}_0"].values) if known else None
    return id_pairs(text(individuals.values), families, individuals.attrs)


def id_pairs(
    names: NDArray[np.object_],
    families: NDArray[np.object_] | None,
    attrs: Mapping[Any, Any],
) -> list[tuple[str, str]]:
    """Return family and individual id of each sample, as written to a file of samples.

    ``attrs`` are the attributes of ``names``. Raises ValueError for an id that is empty or has
    white space, or for two samples with the same ids.
    """
    if families is None:
        families = np.full(names.size, NO_FAMILY, object)
    else:
        names = labels.individuals(families, names, attrs)
    pairs = list(zip(families.tolist(), names.tolist(), strict=True))
    first: dict[tuple[str, str], int] = {}
    for k, pair in enumerate(pairs):
        if any(not name or len(name.split()) != 1 or name != name.strip() for name in pair):
            raise ValueError(
                f"samples={k} has the family id {pair[0]!r} and the id {pair[1]!r}: the file is "
                "split at white space, so ids must be there and hold none; rename them"
            )
        if first.setdefault(pair, k) != k:
            msg = f"samples={first[pair]} and samples={k} are both {pair}: ids must be unique"
            raise ValueError(msg)
    return pairs


def id_text(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the lines of an id file: family id, tab, sample id."""
    return "".join(f"{family}\t{name}\n" for family, name in pairs)


def read_ids(path: Path) -> dict[str, xr.Variable]:
    """Read an id file of GCTA, PLINK 1.9 or plink2, with or without a header.

    Returns ``sample_id`` as `open_plink` makes it, and ``sample_family_id`` unless all are 0, as
    variables of str objects. Raises FileNotFoundError for a missing file, and
    ValueError for a file without samples, a line with the wrong number of fields, or two equal
    samples.
    """
    from genobit.io._plink_text import sample_ids
    from genobit.io._text_tables import Table

    table = Table(require_file(path, "it lists the samples of the matrix and belongs to it"))
    table.columns = table.columns or ["FID", "IID"]
    columns = table.read()
    if not columns.get("IID", np.empty(0)).size:
        raise ValueError(f"{path} lists no sample.")
    family = columns.get("FID", np.full(columns["IID"].size, NO_FAMILY, object))
    ids = {ID: xr.Variable(model.SAMPLES, *sample_ids(path, family, columns["IID"], table.first))}
    if (family != NO_FAMILY).any():
        ids[FAMILY] = xr.Variable(model.SAMPLES, family)
    return ids


def labelled(
    data: da.Array | NDArray[Any],
    ids: dict[str, xr.Variable],
    attributes: dict[str, Any],
) -> xr.DataArray:
    """Return the matrix with ids on both dimensions."""
    coords = {
        f"{name}_{side}": (dim, x.values, x.attrs)
        for side, dim in enumerate(DIMS)
        for name, x in ids.items()
    }
    return xr.DataArray(data, coords, DIMS, "relationship", attributes)


def row_blocks(*arrays: Any, triangle: bool) -> Iterator[tuple[int, list[NDArray[Any]]]]:
    """Yield (first row, rows of each array) for blocks of square arrays, computed on demand.

    With ``triangle`` the rows end at the block's last diagonal element.
    """
    n = arrays[0].shape[0]
    chunked = next((array for array in arrays if isinstance(array, da.Array)), None)
    if chunked is not None:
        heights = list(chunked.chunks[0])
    else:
        height = max(1, _BLOCK_BYTES // (8 * n))
        heights = [height] * (n // height) + ([n % height] if n % height else [])
    start = 0
    for height in heights:
        stop = start + height
        width = stop if triangle else n
        yield start, list(compute(*[array[start:stop, :width] for array in arrays]))
        start = stop


def named(prefix: str | os.PathLike[str], suffix: str, function: str, instead: str = READ) -> Path:
    """Return the absolute path of a file of a fileset; the folder must exist."""
    given = local_path(prefix, function, instead)
    return given.with_name(given.name + suffix).absolute()


def triangle_size(n: int) -> int:
    """Return the number of elements in the lower triangle of n samples, with the diagonal."""
    return n * (n + 1) // 2


def samples_in_words(values: float, *, square: bool) -> str:
    """Describe how many samples a square or triangle of this many numbers has."""
    whole = int(values)
    n = math.isqrt(whole) if square else (math.isqrt(8 * whole + 1) - 1) // 2
    exact = whole == values and (n * n if square else triangle_size(n)) == whole
    return f"{n} samples" if exact else f"no whole number of samples (about {n})"


@dataclass(frozen=True)
class LowerTriangle:
    """A binary matrix file, stored row by row, whose lower triangle is read.

    No file is held open, so it can be pickled to a process that sees the same path.
    """

    path: str
    samples: int
    dtype: str
    square: bool
    """Whether rows are stored whole; else each row ends at its diagonal element."""

    def array(self) -> da.Array:
        """Return the lazy symmetric matrix; a tile is read when it is computed."""
        stat = Path(self.path).stat()
        chunk = get_options().edge
        edges = [*range(0, self.samples, chunk), self.samples]
        sizes = tuple(stop - start for start, stop in itertools.pairwise(edges))
        inputs = self, edges, stat.st_size, stat.st_mtime_ns
        name, graph = named_layer("genobit-triangle", _tiles, *inputs)
        return da.Array(graph, name, chunks=(sizes, sizes), dtype=np.dtype(self.dtype))

    def tile(self, start: int, stop: int, left: int, right: int) -> NDArray[Any]:
        """Return rows start:stop and columns left:right of a tile at or below the diagonal."""
        numbers = np.memmap(self.path, dtype=self.dtype, mode="r")
        out = np.empty((stop - start, right - left), self.dtype)
        for k in range(start, stop):
            at = k * self.samples if self.square else triangle_size(k)
            row = numbers[at + left : at + min(right, k + 1)]
            out[k - start, : row.size] = row
            if start == left:
                out[: row.size, k - start] = row
        return out


def _tiles(name: str, file: LowerTriangle, edges: list[int], *_: int) -> dict[Any, Any]:
    """Return the tasks of the tiles. The file's size and time only enter the layer's name."""
    layer: dict[Any, Any] = {}
    for i in range(len(edges) - 1):
        for j in range(i + 1):
            layer[name, i, j] = (file.tile, *edges[i : i + 2], *edges[j : j + 2])
            if j < i:
                layer[name, j, i] = (_transposed, (name, i, j))
    return layer


def _transposed(tile: NDArray[Any]) -> NDArray[Any]:
    from genobit.engine.bits.transpose import transposed

    return transposed(tile)
