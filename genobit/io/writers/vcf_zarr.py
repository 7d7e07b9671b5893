"""Write VCF Zarr 0.4 stores, which bio2zarr, sgkit and vcztools read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import labels, layouts, model
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import own_words
from genobit.engine.schedule.computing import compute
from genobit.io._new_store import new_store
from genobit.io.writers._checks import require_dataset
from genobit.io.writers._unpacked import unpacked
from genobit.io.writers._vcf_columns import fixed_columns
from genobit.io.writers._vcf_fields import checked_calls, typed

if TYPE_CHECKING:
    import os
    from pathlib import Path


_VERSION = "0.4"
_KEPT_ATTRIBUTES = ("vcf_meta_information", "vcf_header")
# Sizes of bio2zarr's chunks; one of variants has fewer if its calls would take more than this.
_VARIANTS, _SAMPLES = 1_000, 10_000
_CHUNK_BYTES = 64 * 2**20
_LENGTH = "variant_length"
_ROOT = (".zmetadata", ".zgroup")
"""Metadata of the root; without them, a folder is no store."""
_PARTIAL = ".partial"
_INDEX = ("region_index_values", "region_index_fields")


@own_words
def to_vcf_zarr(ds: xr.Dataset, path: str | os.PathLike[str]) -> Path:
    """Write genotypes as a VCF Zarr 0.4 store.

    Genotypes are computed and written a chunk at a time, so they need not fit in memory. The store
    gets its name when it is complete. `open_vcf_zarr`, sgkit and ``vcztools`` read it. ``vcztools
    view`` converts it to VCF.

    Parameters
    ----------
    ds
        Genotypes of any ploidy with any number of alleles, or planes of `pack` with rows along
        variants. Both may be lazy.
    path
        Folder of the store, such as "cohort.vcz". An existing one is not overwritten, because
        ``ds`` may still read it.

    Returns
    -------
        The path, for `open_vcf_zarr`.

    Raises
    ------
    FileExistsError
        If the path exists.
    KeyError
        If the Dataset lacks ``variant_position``, ``variant_contig``, ``variant_allele`` or
        ``sample_id``.
    TypeError
        For anything but a Dataset, or for a variable of a type that VCF does not have.
    ValueError
        For dimensions that VCF does not have. For a position below 1, and for ids, alleles, contigs
        and text that a VCF cannot hold, such as those with white space. For an allele that
        ``variant_allele`` does not name, or a number that needs more than 32 bits. The message
        names the first variant or sample, and the remedy.

    Notes
    -----
    - All variables are written. Readers of VCF Zarr ignore those that they do not know; ``vcztools
      view`` prints those along variants as INFO, and those with ``call_`` as FORMAT.
    - Calls stay as they are. Calls without ``call_genotype_phased`` are unphased. Planes of
      haplotypes are phased.
    - Types become those of VCF: calls int8, other integers int8 to int32, and booleans of calls 0
      and 1. The allele "0" of PLINK 1 is missing: REF "N", ALT ".", as in ``plink2 --export vcf``.
    - Packed haplotypes do not distinguish the haploid call (1, -2) from the call (1, -1), which has
      a missing allele. Both are written as (1, -1). To keep haploid calls, write genotypes.
    - NaN is "." in the VCF, and so are the integers -1 of INFO and FORMAT fields.
    - All variables have the same chunks: 1,000 variants, or as many as take 64 MB, and 10,000
      samples. ``region_index`` lets ``vcztools view --regions`` read few of them.
    - The store has Zarr format 2 and consolidated metadata.

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
    ...         "variant_allele": (("variants", "alleles"), [["A", "G"]]),
    ...         "sample_id": ("samples", ["ann", "bob", "cem"]),
    ...     }
    ... )
    >>> again = gb.open_vcf_zarr(gb.to_vcf_zarr(ds, tempfile.mkdtemp() + "/tiny.vcz"))
    >>> again.call_genotype.values.tolist(), again.contig_id.values.tolist()
    ([[[0, 1], [1, 1], [-1, -1]]], ['22'])
    """
    ds = require_dataset(ds, "to_vcf_zarr")
    place = local_path(path, "to_vcf_zarr", WRITE).absolute()
    if place.exists():
        raise FileExistsError(f"{place} exists: remove it, or name another path")
    store = _described(ds)
    sizes = _chunks(store)
    store = _chunked(store.assign(region_index=_region_index(store, sizes[model.VARIANTS])), sizes)
    encoding = {
        str(name): {"chunks": tuple(sizes.get(str(d), store.sizes[d]) for d in variable.dims)}
        for name, variable in store.variables.items()
        if variable.size and variable.ndim
    }
    with replacing(place) as (new,), new_store(new) as target:
        # zarr leaves out chunks of fill values. They read back as NaN of other bits, so a missing
        # quality would become "nan".
        written = store.to_zarr(
            target,
            mode="w-",
            compute=False,
            consolidated=True,
            encoding=encoding,
            zarr_format=2,
            write_empty_chunks=True,
        )
        # If the process is killed, no reader takes the incomplete folder for a store.
        for name in _ROOT:
            (new / name).replace(new / (name + _PARTIAL))
        compute(written)
        for name in _ROOT:
            (new / (name + _PARTIAL)).replace(new / name)
    return place


def _described(ds: xr.Dataset) -> xr.Dataset:
    """Return the variables of the store with the types of VCF Zarr."""
    calls = _with_calls(ds)
    columns = fixed_columns(ds, "VCF Zarr")
    model.phase_of(ds)
    variables = {str(name): typed(str(name), x) for name, x in calls.variables.items()}
    variables |= {name: xr.Variable(dims, x) for name, (dims, x) in columns.items()}
    marks = {k: x for k, x in ds[model.SAMPLE_ID].attrs.items() if labels.JOINED.get(k) == x}
    variables[model.SAMPLE_ID].attrs = marks
    if layouts.layout_of(ds) is None:
        counts = labels.known_allele_counts(ds)
        variables[model.CALL_GENOTYPE] = checked_calls(variables[model.CALL_GENOTYPE], counts)
    if _LENGTH not in variables:
        lengths = [len(x) for x in variables[model.VARIANT_ALLELE].values[:, 0].tolist()]
        variables[_LENGTH] = xr.Variable(model.VARIANTS, np.array(lengths, np.int32))
    kept = {name: ds.attrs[name] for name in _KEPT_ATTRIBUTES if name in ds.attrs}
    return xr.Dataset(variables, attrs={**kept, "vcf_zarr_version": _VERSION, "source": "genobit"})


def _with_calls(ds: xr.Dataset) -> xr.Dataset:
    """Return a Dataset with calls (variants, samples, ploidy), unpacked if they are planes."""
    if layouts.layout_of(ds) is not None:
        return unpacked(ds)
    calls = model.require_genotypes(ds)
    # These attributes name the file that was read, not the store.
    attributes = {k: v for k, v in calls.attrs.items() if not str(k).startswith("plink_")}
    variable = xr.Variable(calls.dims, calls.data, attributes)
    return ds.drop_vars(model.CALL_GENOTYPE).assign({model.CALL_GENOTYPE: variable})


def _chunks(store: xr.Dataset) -> dict[str, int]:
    """Return the chunk sizes of the store along variants and samples."""
    calls = store[model.CALL_GENOTYPE]
    variants, samples, ploidy = calls.shape
    fitting = _CHUNK_BYTES // (samples * ploidy * calls.dtype.itemsize)
    return {
        model.VARIANTS: max(1, min(_VARIANTS, variants, fitting)),
        model.SAMPLES: min(_SAMPLES, samples),
    }


def _chunked(store: xr.Dataset, sizes: dict[str, int]) -> xr.Dataset:
    """Return lazy variables in chunks that are whole chunks of the store."""
    calls = store[model.CALL_GENOTYPE]
    row = calls.shape[1] * calls.shape[2] * calls.dtype.itemsize
    rows = max(1, _CHUNK_BYTES // row // sizes[model.VARIANTS]) * sizes[model.VARIANTS]
    along = {model.VARIANTS: rows, model.SAMPLES: -1}
    changed = {
        name: variable.chunk({dim: along.get(str(dim), -1) for dim in variable.dims})
        for name, variable in store.variables.items()
        if variable.chunks is not None
    }
    return store.assign(changed)


def _region_index(store: xr.Dataset, rows: int) -> xr.Variable:
    """Return the index of regions: a row for each contig of each chunk of variants.

    The columns are chunk, contig, first and last position, largest end, and number of records.
    """
    contig, start, length = (
        np.asarray(store[name].values, np.int64)
        for name in (model.VARIANT_CONTIG, model.VARIANT_POSITION, _LENGTH)
    )
    chunk = np.arange(contig.size) // rows
    begins = np.flatnonzero(np.r_[True, (np.diff(contig) != 0) | (np.diff(chunk) != 0)])
    stops = np.r_[begins[1:], contig.size]
    columns = (
        chunk[begins],
        contig[begins],
        start[begins],
        start[stops - 1],
        np.maximum.reduceat(start + length - 1, begins),
        stops - begins,
    )
    index = np.stack(columns, axis=1).astype(store[model.VARIANT_POSITION].dtype)
    return xr.Variable(_INDEX, index)
