"""Write PLINK 1 filesets (.bed, .bim, .fam) chunk by chunk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed

from genobit.data import layouts, model, packed
from genobit.engine.bits.layout import Layout
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import own_words
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import named_layer
from genobit.engine.schedule.packing import row_chunk
from genobit.engine.schedule.tiles import as_rows, joined, ordered
from genobit.io._grm_files import require_digits
from genobit.io.plink import HEADER, bed_source
from genobit.io.writers._checks import put, require_dataset, require_labels
from genobit.io.writers._plink_columns import bim_columns, fam_columns

if TYPE_CHECKING:
    import os

    import xarray as xr
    from numpy.typing import NDArray


@own_words
def to_plink(
    ds: xr.Dataset,
    prefix: str | os.PathLike[str],
    *,
    digits: int | None = None,
    overwrite: bool = False,
) -> Path:
    r"""Write genotypes as a PLINK 1 fileset: PREFIX.bed, PREFIX.bim and PREFIX.fam.

    Genotypes are computed and written a chunk at a time, so they need not fit in memory. The files
    are the same as from ``plink2 --make-bed``, byte by byte. They get their names when all three
    are complete, the .bed last.

    Parameters
    ----------
    ds
        Genotypes, or planes of `pack` with rows along variants. Both may be lazy.
    prefix
        Path without the endings; the path of the .bed works too.
    digits
        Significant digits of phenotypes and centimorgans. The default is that of plink2, 6 and 8;
        17 digits are lossless.
    overwrite
        Whether to replace existing files. Otherwise an existing file is an error. If ``ds`` reads
        these files, open them again afterwards.

    Returns
    -------
        The path of the .bed, for `open_plink`.

    Raises
    ------
    FileExistsError
        If one of the three files exists.
    KeyError
        If the Dataset lacks ``variant_position``, ``variant_contig``, ``variant_allele`` or
        ``sample_id``.
    TypeError
        For positions or phenotypes of another type.
    ValueError
        If the ploidy is not 2, or a call has a lower ploidy. If a variant has more than two
        alleles. If text has white space, two samples have the same ids, or PLINK would not read a
        position, an id or a phenotype as it is written. The message names the first variant or
        sample, and the remedy. Also for a number of digits outside 1 to 17.

    Notes
    -----
    - A1 (column 5 of the .bim) is the counted allele, ``variant_allele[:, 1]``, and A2 the other,
      as `open_plink` reads them. An allele without a name is written as ".".
    - A call with one missing allele is missing, as with ``plink2 --vcf-half-call m``. The file
      keeps no phase.
    - In packed haplotypes, a haploid call cannot be distinguished from a call with one missing
      allele, so it becomes missing. To keep haploid calls, count them twice in the genotypes; the
      message about a lower ploidy shows how.
    - The .fam has ``sample_family_id``, ``sample_id``, ``sample_father_id``, ``sample_mother_id``,
      ``sample_sex`` and ``sample_phenotype`` (a boolean is 1 for false and 2 for true). Without
      them it has 0, and -9 for the phenotype.
      Centimorgans are ``variant_genetic_position``, 0 for NaN.
    - Contigs keep their names. plink2 writes "chr1" as "1" and "23" as "X", unless
      ``--output-chr`` says otherwise. Two names of one chromosome, "1" and "chr1", raise an error.
    - If the Dataset comes from `open_plink` without changes, the rows of the .bed are copied.

    Examples
    --------
    >>> import tempfile, numpy as np, xarray as xr, genobit as gb
    >>> ds = xr.Dataset(
    ...     {
    ...         "call_genotype": (
    ...             ("variants", "samples", "ploidy"),
    ...             np.array([[[0, 1], [1, 1], [-1, -1]]], "int8"),
    ...         ),
    ...         "variant_position": ("variants", [1000]),
    ...         "variant_contig": ("variants", ["22"]),
    ...         "variant_id": ("variants", ["rs1"]),
    ...         "variant_allele": (("variants", "alleles"), [["A", "G"]]),
    ...         "sample_id": ("samples", ["ann", "bob", "cem"]),
    ...     }
    ... )
    >>> bed = gb.to_plink(ds, tempfile.mkdtemp() + "/tiny")
    >>> bed.read_bytes().hex(" "), bed.with_suffix(".bim").read_text()
    ('6c 1b 01 12', '22\trs1\t0\t1000\tG\tA\n')
    """
    ds = require_dataset(ds, "to_plink")
    bed, bim, fam = _paths(prefix)
    _require_diploid(ds)
    require_labels(ds, "a PLINK 1 fileset")
    if digits is not None:
        require_digits(digits)
    tables = bim_columns(ds, digits), fam_columns(ds, digits)
    rows = _bed_rows(ds)
    # The .bed comes last: without it, no reader takes the fileset for a whole one.
    with replacing(bim, fam, bed, overwrite=overwrite) as (new_bim, new_fam, new_bed):
        for path, columns in zip((new_bim, new_fam), tables, strict=True):
            with path.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(columns.lines())
        _write(rows, new_bed)
    return bed


def _paths(prefix: str | os.PathLike[str]) -> tuple[Path, Path, Path]:
    """Return the absolute paths of .bed, .bim and .fam."""
    given = local_path(prefix, "to_plink", WRITE).absolute()
    stem = given.name.removesuffix(".bed")
    bed, bim, fam = (given.with_name(stem + suffix) for suffix in (".bed", ".bim", ".fam"))
    return bed, bim, fam


def _require_diploid(ds: xr.Dataset) -> None:
    layout = layouts.layout_of(ds)
    if layout is None:
        ploidy = model.require_genotypes(ds).sizes[model.PLOIDY]
    else:
        ploidy = 2 if layout.kind == "dosage" else layout.ploidy
    if ploidy == 2:
        return
    remedy = "write VCF Zarr with genobit.to_vcf_zarr"
    if ploidy == 1:
        remedy = "give both copies the same allele, ds.isel(ploidy=[0, 0]) of the genotypes"
    msg = f"the genotypes have ploidy {ploidy}, and a .bed holds diploid calls: {remedy}"
    raise ValueError(msg)


def _bed_rows(ds: xr.Dataset) -> da.Array:
    """Return the rows of the .bed lazily: uint8 (variants, bytes)."""
    from genobit.io.kernels.bed import clear_padding

    bed = None if layouts.layout_of(ds) is not None else bed_source(ds[model.CALL_GENOTYPE])
    if bed is not None:
        stored = bed.raw_array(row_chunk(bed.bytes_per_row))
        return da.map_blocks(clear_padding, stored, bed.n_samples, dtype=np.uint8)
    _, layout, planes = packed.by_variants(ds, phased=False)
    arrays = [plane.rechunk({1: -1}) for plane in ordered(planes, layout)]
    return da.blockwise(
        _shuffled,
        "vb",
        *[x for array in arrays for x in (array, "vw")],
        new_axes={"b": (layout.bits + 3) // 4},
        dtype=np.uint8,
        meta=np.empty((0, 0), np.uint8),
        layout=layout,
    )


def _shuffled(*blocks: Any, layout: Layout) -> NDArray[np.uint8]:
    from genobit.io.kernels.bed import bed_rows_of

    rows = as_rows([joined(block) for block in blocks], layout)
    carrier, hom_alt = rows.planes
    return bed_rows_of(carrier, hom_alt, rows.call_mask(), layout.bits)


def _write(rows: da.Array, path: Path) -> None:
    """Write the rows, and then the header; each task writes its own chunk at its place.

    If the process is killed, the file may have its whole size, but no reader takes it for a .bed.
    """
    path.touch()
    name, graph = named_layer("genobit-to-plink", _writes, path, rows)
    compute(Delayed(name, graph, layer=name))
    put(HEADER, str(path), 0)


def _writes(name: str, path: Path, rows: da.Array) -> dict[Any, Any]:
    layer: dict[Any, Any] = {}
    at = len(HEADER)
    for k, size in enumerate(rows.chunks[0]):
        layer[name, k] = (put, (rows.name, k, 0), str(path), at)
        at += size * rows.shape[1]
    layer[name] = (len, list(layer))
    return layer
