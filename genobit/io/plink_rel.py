"""Read and write PLINK relationship matrices: .rel (text) or .rel.bin, and .rel.id.

``--make-rel`` of PLINK 1.9 and plink2 writes tab-separated text of six digits, as a square or a
triangle. With ``bin`` it writes float64 row by row
(https://www.cog-genomics.org/plink/1.9/distance).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.checks import check_one_of
from genobit.data.guards.bounded import lines_of, open_text
from genobit.data.guards.damage import named_damage
from genobit.engine.files import WRITE, replacing
from genobit.engine.options import require_fits
from genobit.engine.own_words import own_words
from genobit.io import _grm_files as files

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMS = ("square", "triangle", "square-bin")
# Above this number of samples, check the file size before allocating the matrix.
_MANY = 2048
_TEXT, _COMPRESSED, _BINARY = ".rel", ".rel.gz", ".rel.bin"


@own_words
def to_plink_rel(
    grm: xr.DataArray,
    prefix: str | os.PathLike[str],
    *,
    form: str = "square",
    digits: int = 6,
    overwrite: bool = False,
) -> Path:
    r"""Write a relationship matrix in the format of ``plink --make-rel``, with PREFIX.rel.id.

    Rows are computed and written a chunk at a time. Both files appear together when writing has
    finished. If an error occurs, existing files stay unchanged.

    Parameters
    ----------
    grm
        Matrix (samples_0, samples_1) with coordinate ``sample_id_0``. NaN is written as nan.
    prefix
        Path without the endings.
    form
        "square" (text, PREFIX.rel), "triangle" (text up to the diagonal, PREFIX.rel), or
        "square-bin" (float64, PREFIX.rel.bin). If the matrix is lazy, the square forms compute each
        off-diagonal tile twice.
    digits
        Significant digits of text. PLINK prints 6; 17 digits are lossless.
    overwrite
        Whether to replace existing files. Otherwise an existing file is an error.

    Returns
    -------
        The path of the matrix.

    Raises
    ------
    TypeError
        If ``grm`` is not a DataArray of real numbers.
    KeyError
        If ``grm`` has no sample ids.
    FileExistsError
        If one of the files exists.
    ValueError
        For other dimensions, ids that the format cannot hold, an unknown form, or a number of
        digits outside 1 to 17.

    Notes
    -----
    A lazy matrix is computed one row of tiles at a time. Each row of tiles takes one pass over the
    genotypes. A row of tiles has ``get_options().chunk_rows`` samples (2,048 by default). Compute
    "endelman_jannink", "hadamard" and leave-one-chromosome-out matrices first, or store them to
    Zarr and reopen them (see `to_gcta`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, xarray as xr, genobit as gb
    >>> prefix = pathlib.Path(tempfile.mkdtemp()) / "cohort"
    >>> grm = xr.DataArray(np.eye(2), dims=("samples_0", "samples_1"))
    >>> grm = grm.assign_coords(sample_id_0=("samples_0", ["a", "b"]))
    >>> _ = gb.to_plink_rel(grm, prefix, form="triangle")
    >>> pathlib.Path(f"{prefix}.rel").read_text()
    '1\n0\t1\n'
    """
    grm = files.require_square(grm, "to_plink_rel")
    check_one_of("form", form, FORMS)
    files.require_digits(digits)
    ids = files.id_text(files.ids_of(grm))
    binary, triangle = form == "square-bin", form == "triangle"
    paths = [
        files.named(prefix, suffix, "to_plink_rel", WRITE)
        for suffix in (_BINARY if binary else _TEXT, ".rel.id")
    ]
    with replacing(*paths, overwrite=overwrite) as (values, names):
        with values.open("wb") as file:
            for start, (block,) in files.row_blocks(grm.data.astype(np.float64), triangle=triangle):
                for k, row in enumerate(block, start=start + 1):
                    numbers = row[:k] if triangle else row
                    file.write(
                        numbers.astype("<f8").tobytes() if binary else _line(numbers, digits)
                    )
        names.write_text(ids, encoding="utf-8")
    return paths[0]


def _line(numbers: NDArray[np.float64], digits: int) -> bytes:
    # One format string for the whole row takes half the time of one per number.
    return ("\t".join([f"%.{digits}g"] * numbers.size) % tuple(numbers) + "\n").encode()


@own_words
def open_plink_rel(prefix: str | os.PathLike[str]) -> xr.DataArray:
    r"""Open a relationship matrix of ``plink --make-rel`` or `to_plink_rel`.

    Parameters
    ----------
    prefix
        Path without .rel, or the file itself: .rel, .rel.gz or .rel.bin.

    Returns
    -------
        Symmetric matrix (samples_0, samples_1). Coordinates are ``sample_id_0`` and
        ``sample_id_1``. If any family id is not 0, the matrix also has ``sample_family_id_0`` and
        ``sample_family_id_1``. Text is read at once, as float64. Binary files are lazy, float64 or
        float32 (plink2's ``bin4``). The form (``square``, ``square0`` or ``triangle``) is detected
        from the lengths of the lines, or from the size of a binary file. Only the lower triangle is
        read, because every form has it.

    Raises
    ------
    FileNotFoundError
        If the file or its .rel.id is missing.
    ValueError
        If a file size does not fit the number of samples, or a line of text is malformed. Also if a
        prefix has files of more than one kind.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> prefix = pathlib.Path(tempfile.mkdtemp()) / "cohort"
    >>> _ = pathlib.Path(f"{prefix}.rel").write_text("1.0\n0.5\t0.9\n")
    >>> _ = pathlib.Path(f"{prefix}.rel.id").write_text("#IID\na\nb\n")
    >>> open_plink_rel(prefix).values
    array([[1. , 0.5],
           [0.5, 0.9]])
    """
    path, suffix = _find(prefix)
    names = path.with_name(path.name.removesuffix(suffix) + ".rel.id")
    ids = files.read_ids(names)
    n = ids[files.ID].size
    data = _binary(path, n, names) if suffix == _BINARY else _text(path, n, names)
    attributes = {"long_name": "relationship", "source": str(path)}
    return files.labelled(data, ids, attributes)


def _find(prefix: str | os.PathLike[str]) -> tuple[Path, str]:
    given = files.named(prefix, "", "open_plink_rel")
    for suffix in (_BINARY, _COMPRESSED, _TEXT):
        if given.name.endswith(suffix) and given.is_file():
            return given, suffix
    candidates = [
        (files.named(prefix, s, "open_plink_rel"), s) for s in (_TEXT, _COMPRESSED, _BINARY)
    ]
    found = [(path, suffix) for path, suffix in candidates if path.is_file()]
    if not found:
        msg = f"there is no {given}.rel, .rel.gz or .rel.bin. Give the path without its ending."
        raise FileNotFoundError(msg)
    if len(found) > 1:
        both = " and ".join(path.name for path, _ in found)
        msg = f"{given.parent} has {both}: give the file that you mean, with its ending."
        raise ValueError(msg)
    return found[0]


def _binary(path: Path, n: int, names: Path) -> Any:
    found = path.stat().st_size
    for dtype, width in (("<f8", 8), ("<f4", 4)):
        for square, count in ((True, n * n), (False, files.triangle_size(n))):
            if found == width * count:
                return files.LowerTriangle(str(path), n, dtype, square).array()
    meant = files.samples_in_words(found / 8, square=True)
    raise ValueError(
        f"{path} has {found} bytes, as float64 the square of {meant}; {names.name} lists {n} "
        f"samples, whose square takes {8 * n * n} bytes and whose triangle "
        f"{8 * files.triangle_size(n)}. The files do not belong together, or one is truncated."
    )


def _text(path: Path, n: int, names: Path) -> NDArray[np.float64]:
    zipped = path.name.endswith(_COMPRESSED)
    # A number takes at least a digit and a separator. gzip shrinks a file at most 1,032-fold.
    most = path.stat().st_size * (1032 if zipped else 1)
    if n > _MANY and 2 * files.triangle_size(n) > most:
        raise ValueError(
            f"{path} has {path.stat().st_size} bytes, too few for the triangle of the {n} samples "
            f"that {names.name} lists. The files do not belong together, or one is truncated."
        )
    require_fits(f"the matrix of {n:,} x {n:,} samples of {path}", 8 * n * n)
    out = np.empty((n, n))
    k = 0
    with named_damage(path), open_text(path) as file:
        for k, line in enumerate(lines_of(file, path), start=1):
            fields = line.split()
            if k > n or len(fields) not in {n, k}:
                expected = f"{n} or {k}" if k <= n else "none"
                raise ValueError(
                    f"{path}, line {k}: it has {len(fields)} numbers, expected {expected}: "
                    f"{names.name} lists {n} samples, and a line is a whole row of the square or "
                    "as much as the triangle has of it."
                )
            try:
                row = np.array(fields[:k], np.float64)
            except ValueError as error:
                raise ValueError(f"{path}, line {k}: {error}.") from error
            out[k - 1, :k] = out[:k, k - 1] = row
    if k < n:
        msg = f"{path} has {k} lines, {names.name} lists {n} samples: the file is truncated."
        raise ValueError(msg)
    return out
