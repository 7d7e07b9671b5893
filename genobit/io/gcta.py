"""Read and write GCTA relationship matrices: .grm.bin, .grm.N.bin and .grm.id.

Both .bin files hold the lower triangle with its diagonal, row by row, as little-endian float32
(https://yanglab.westlake.edu.cn/software/gcta/#MakingaGRM; Yang et al. 2011,
doi:10.1016/j.ajhg.2010.11.011). PLINK 1.9 and plink2 use the same format.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import model
from genobit.engine.files import WRITE, replacing, require_file
from genobit.engine.own_words import own_words
from genobit.io import _grm_files as files

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_FLOAT = "<f4"


@own_words
def to_gcta(grm: xr.DataArray, prefix: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a relationship matrix for GCTA: PREFIX.grm.bin, PREFIX.grm.N.bin, PREFIX.grm.id.

    Rows are computed and written a chunk at a time, so a lazy matrix need not fit in memory. The
    three files appear together when writing has finished. If an error occurs, existing files stay
    unchanged.

    Parameters
    ----------
    grm
        Matrix (samples_0, samples_1) with coordinate ``sample_id_0``. The coordinate
        ``variants_compared`` (samples_0, samples_1) gives the number of variants of each pair.
        Without it, ``attrs["variants"]`` is used for all pairs. The lower triangle is written,
        rounded to float32.
    prefix
        Path without the endings.
    overwrite
        Whether to replace existing files. Otherwise an existing file is an error.

    Returns
    -------
        The path of PREFIX.grm.bin.

    Raises
    ------
    TypeError
        If ``grm`` is not a DataArray of real numbers.
    KeyError
        If ``grm`` has no sample ids or no number of variants.
    FileExistsError
        If one of the files exists.
    ValueError
        For other dimensions, ids that the format cannot hold, or an element that is NaN or
        infinite. GCTA would accept a file with such an element and fail later.

    Notes
    -----
    A lazy matrix is computed one row of tiles at a time. Each row of tiles takes one pass over the
    genotypes. A row of tiles has ``get_options().chunk_rows`` samples (2,048 by default). Some
    matrices repeat work in each pass: "endelman_jannink" recomputes all pairs, "hadamard"
    recomputes the diagonal, and leave-one-chromosome-out matrices read all contigs. Compute these
    matrices before writing (``.genobit.grm(..., compute=True)``), or store them to Zarr and write
    the reopened matrix.

    The family id is ``sample_family_id_0``, or 0 if there is none, as in plink2. If `open_plink`
    has joined family and individual ids, they are split again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, xarray as xr, genobit as gb
    >>> prefix = pathlib.Path(tempfile.mkdtemp()) / "cohort"
    >>> dims = ("samples_0", "samples_1")
    >>> grm = xr.DataArray(np.eye(2), dims=dims, attrs={"variants": 500})
    >>> _ = gb.to_gcta(grm.assign_coords(sample_id_0=("samples_0", ["a", "b"])), prefix)
    >>> gb.open_gcta(prefix).variants_compared.values
    array([[500., 500.],
           [500., 500.]], dtype=float32)
    """
    grm = files.require_square(grm, "to_gcta")
    ids = files.id_text(files.ids_of(grm))
    counts = _variants_compared(grm)
    paths = [
        files.named(prefix, suffix, "to_gcta", WRITE)
        for suffix in (".grm.bin", ".grm.N.bin", ".grm.id")
    ]
    with replacing(*paths, overwrite=overwrite) as (values, numbers, names):
        with values.open("wb") as value_file, numbers.open("wb") as count_file:
            arrays = [array.astype(_FLOAT) for array in (grm.data, counts)]
            for start, (block, count) in files.row_blocks(*arrays, triangle=True):
                _require_finite(block, start)
                for k in range(block.shape[0]):
                    value_file.write(block[k, : start + k + 1].tobytes())
                    count_file.write(count[k, : start + k + 1].tobytes())
        names.write_text(ids, encoding="utf-8")
    return paths[0]


def _variants_compared(grm: xr.DataArray) -> Any:
    """Return numbers of variants (samples_0, samples_1); one number is broadcast."""
    if model.VARIANTS_COMPARED in grm.coords:
        return grm[model.VARIANTS_COMPARED].broadcast_like(grm).transpose(*files.DIMS).data
    if "variants" not in grm.attrs:
        raise KeyError(
            f"the matrix has neither a coordinate {model.VARIANTS_COMPARED!r} nor "
            "attrs['variants'], and .grm.N.bin needs the number of variants: "
            "grm.attrs['variants'] = 500_000"
        )
    return np.broadcast_to(np.asarray(grm.attrs["variants"], np.float64), grm.shape)


def _require_finite(block: NDArray[Any], start: int) -> None:
    rows, columns = np.nonzero(~np.isfinite(np.tril(block, start)))
    if rows.size:
        i, j = int(rows[0]) + start, int(columns[0])
        raise ValueError(
            f"the matrix is {block[rows[0], j]} at samples_0={i}, samples_1={j}, and GCTA takes no "
            "such number: leave out samples without calls (grm.isel of both dimensions), or "
            "fill it, grm.fillna(0)"
        )


@own_words
def open_gcta(prefix: str | os.PathLike[str]) -> xr.DataArray:
    r"""Open a relationship matrix of GCTA, PLINK or `to_gcta` lazily.

    Parameters
    ----------
    prefix
        Path without .grm.bin.

    Returns
    -------
        Symmetric, lazy float32 matrix (samples_0, samples_1). Each tile is read only when needed.
        Coordinates are ``sample_id_0`` and ``sample_id_1``. If any family id is not 0, the matrix
        also has ``sample_family_id_0`` and ``sample_family_id_1``. If .grm.N.bin exists, the matrix
        also has ``variants_compared`` (float32, lazy). The files do not say how the matrix was
        computed.

    Raises
    ------
    FileNotFoundError
        If .grm.bin or .grm.id is missing.
    ValueError
        If a file size does not fit the number of samples.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np
    >>> prefix = pathlib.Path(tempfile.mkdtemp()) / "cohort"
    >>> np.array([1.0, 0.5, 0.9], "float32").tofile(f"{prefix}.grm.bin")
    >>> _ = pathlib.Path(f"{prefix}.grm.id").write_text("F1 a\nF2 b\n")
    >>> open_gcta(prefix).sel(samples_0=1).values
    array([0.5, 0.9], dtype=float32)
    """
    values, counts, names = (
        files.named(prefix, suffix, "open_gcta") for suffix in (".grm.bin", ".grm.N.bin", ".grm.id")
    )
    require_file(values, "give the path without .grm.bin")
    ids = files.read_ids(names)
    grm = files.labelled(_triangle(values, ids, names).array(), ids, {"source": str(values)})
    grm.attrs["long_name"] = "relationship"
    if counts.is_file():
        compared = _triangle(counts, ids, names).array()
        grm = grm.assign_coords({model.VARIANTS_COMPARED: (files.DIMS, compared)})
    return grm


def _triangle(path: Path, ids: dict[str, xr.Variable], names: Path) -> files.LowerTriangle:
    n = ids[files.ID].size
    expected, found = 4 * files.triangle_size(n), path.stat().st_size
    if found != expected:
        meant = files.samples_in_words(found / 4, square=False)
        raise ValueError(
            f"{path} has {found} bytes, the triangle of {meant}; {names.name} lists {n} samples, "
            f"which take {expected}. The files do not belong together, or one is truncated."
        )
    return files.LowerTriangle(str(path), n, _FLOAT, square=False)
