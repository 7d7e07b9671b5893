"""Convert VCF Zarr and sgkit stores to the names and types of genobit's input Dataset."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec
import numpy as np
import xarray as xr
import zarr

from genobit.data import model
from genobit.data.guards.chunks import GuardedStore
from genobit.data.guards.damage import named_failure
from genobit.engine.files import address, is_address
from genobit.io._stored import label, lazy, require_plain, require_written

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

COUNTED_ALLELE = "variant_allele[:, 1] (ALT)"

_REQUIRED = {
    "call_genotype": ("variants", "samples", "ploidy"),
    "variant_position": ("variants",),
    "variant_contig": ("variants",),
    "variant_allele": ("variants", "alleles"),
    "sample_id": ("samples",),
}

# Labels of variants that opening reads: every analysis needs them.
_CHECKED = ("variant_contig", "variant_position")

# A chunk of calls joins whole chunks of the store, up to about this size.
_CHUNK_BYTES = 64 * 2**20

_ORDER = ("call_", "variant_", "contig_", "filter_", "sample_")

# Index into the chunks of the store (VCF Zarr 0.4), invalid after a selection of variants.
_STORE_ONLY = ("region_index",)


_ZIP_FSSPEC = 2026, 9
"""First release of fsspec whose zips at addresses zarr can read."""


def open_store(store: Any, chunks: int | None = None) -> xr.Dataset:
    """Open a VCF Zarr or sgkit store lazily, with positions, contigs and samples in memory.

    The store is the path of a directory or .zip, an address, or a zarr store. Lazy chunks have
    ``chunks`` variants (default: whole store chunks of about 64 MB of calls).
    """
    if isinstance(store, str | os.PathLike):
        store = _store_of_path(os.fspath(store))
    ds = _open_without_dask(store)
    _validate(ds, store)
    return normalise(ds.drop_vars(_STORE_ONLY, errors="ignore"), chunks, store)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def _open_without_dask(store: Any) -> xr.Dataset:
    try:
        given = zarr.open_group(store, mode="r")
        guarded = GuardedStore(given.store)
        group = zarr.open_group(guarded, path=given.path, mode="r")
    # Damaged metadata can make zarr raise almost any error.
    except Exception as error:
        msg = f"{store} is not a Zarr group: {str(error) or type(error).__name__}"
        if "range request" in msg and str(store).startswith("zip::"):
            copied = str(store).replace("zip::", "zip::simplecache::", 1)
            msg = f"the server of {store} sends no parts of files: open {copied}, which copies it"
        elif str(store).startswith("zip::") and _version(fsspec.__version__) < _ZIP_FSSPEC:
            least = ".".join(map(str, _ZIP_FSSPEC))
            msg = (
                f"{store} needs fsspec {least} or later, and {fsspec.__version__} is installed: "
                "pip install --upgrade fsspec"
            )
        raise ValueError(msg) from error
    try:
        _require_calls(group, store)
        unlisted = require_plain(group, store)
        guarded.guard({array.path: array for _, array in group.arrays()})
        for name, array in unlisted.items():
            require_written(name, array, store)
        # No masking: zarr's fill value is not xarray's missing value, and calls stay int8.
        # concat_characters would join one-letter alleles into words.
        return xr.open_zarr(
            guarded,
            group=given.path or None,
            chunks=None,
            consolidated=group.metadata.consolidated_metadata is not None,
            mask_and_scale=False,
            concat_characters=False,
        )
    # Damaged metadata can make zarr and xarray raise almost any error.
    except Exception as error:
        named = str(store) in str(error)
        reason = f"{type(error).__name__}: {str(error) or 'it declares more than fits into memory'}"
        msg = str(error) if named else f"{store} is not a Zarr store that can be read: {reason}"
        raise ValueError(msg) from error


def normalise(ds: xr.Dataset, chunks: int | None = None, store: Any = "the store") -> xr.Dataset:
    """Give a store opened without dask the types and attributes of the input Dataset.

    Labels (one dimension, and `variant_allele`) get text as objects of str, positions as int64,
    contig indices as int32. Positions, contigs, and labels of samples are read; other labels of
    variants are read at first look. All other variables become lazy.
    """
    ds = _contig_variable(ds, store)
    chunked = {"variants": chunks or _rows_per_chunk(ds["call_genotype"]), "samples": -1}
    for name, variable in list(ds.variables.items()):
        if variable.ndim == 1 or name == "variant_allele":
            found = label(str(name), variable, store)
            if "variants" not in variable.dims or name in _CHECKED:
                found.load()
            ds[name] = found
        else:
            data = lazy(str(name), variable, chunked, store)
            ds[name] = xr.Variable(variable.dims, data, variable.attrs)
    if "variant_id" not in ds:
        ds["variant_id"] = ("variants", np.full(ds.sizes["variants"], ".", dtype=object))
    ds["variant_position"] = ds["variant_position"].astype(np.int64)
    if ds["variant_contig"].dtype.kind in "iuf":
        ds["variant_contig"] = ds["variant_contig"].astype(np.int32)
    ds["call_genotype"].attrs.setdefault("counted_allele", COUNTED_ALLELE)
    for variable in ds.variables.values():
        variable.attrs.pop("_FillValue", None)
    # Sort, because a store lists its arrays in the order of the file system. Drop the encoding,
    # because its compressors may be invalid in the Zarr format that to_zarr() writes.
    return ds[sorted(ds.variables, key=_place)].drop_encoding()


def _place(variable: Hashable) -> tuple[int, str]:
    name = str(variable)
    ranks = [rank for rank, prefix in enumerate(_ORDER) if name.startswith(prefix)]
    return (ranks[0] if ranks else len(_ORDER), name)


def _store_of_path(path: str) -> Any:
    if is_address(path):
        found = address(path)
        return f"zip::{found}" if found.endswith(".zip") and "::" not in found else found
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} does not exist. For a VCF file use open_vcf.")
    if path.endswith(".zip") and not Path(path).is_dir():
        # zipfile would wait forever for the data of a pipe.
        if not Path(path).is_file():
            raise ValueError(f"{path} is not a regular file.")
        with named_failure(
            path, "It is not a .zip of a VCF Zarr store, or it is damaged: copy it again."
        ):
            zipfile.ZipFile(path).close()
            return zarr.storage.ZipStore(path, mode="r")
    if Path(path).is_file():
        raise ValueError(f"{path} is a file, not a Zarr directory. For VCF or BCF use open_vcf.")
    return path


def _require_calls(group: zarr.Group, store: Any) -> None:
    """Raise ValueError for a group of something else than calls, which xarray may fail to read."""
    names = sorted(group.keys())
    if names and "call_genotype" not in names:
        raise ValueError(_lacks(store, "call_genotype", names))


def _lacks(store: Any, name: str, names: Sequence[str]) -> str:
    msg = f"{store} has no {name}, so it is not a VCF Zarr store with genotypes"
    if "calldata" in names:
        msg += " (it has the layout of scikit-allel: convert the VCF with vcf2zarr)"
    return f"{msg}; it has {', '.join(names)}."


def _validate(ds: xr.Dataset, store: Any) -> None:
    if not ds.variables:
        raise ValueError(f"{store} has no variables. {model.NOT_CONSOLIDATED}")
    for name, dims in _REQUIRED.items():
        if name not in ds:
            raise ValueError(_lacks(store, name, sorted(map(str, ds.variables))))
        if ds[name].dims != dims:
            raise ValueError(f"{name} of {store} has dimensions {ds[name].dims}, expected {dims}.")


def _rows_per_chunk(calls: xr.DataArray) -> int:
    stored = calls.encoding.get("preferred_chunks", {}).get("variants", 1)
    row_bytes = max(calls.dtype.itemsize * calls.shape[1] * calls.shape[2], 1)
    return int(stored) * max(_CHUNK_BYTES // (row_bytes * int(stored)), 1)


def _contig_variable(ds: xr.Dataset, store: Any) -> xr.Dataset:
    """Take contig names from the attributes, where sgkit stored them before 0.6."""
    if "contig_id" in ds or ds["variant_contig"].dtype.kind not in "iuf":
        return ds  # Text contigs are the names themselves.
    if "contigs" not in ds.attrs:
        msg = f"{store} has neither contig_id nor the attribute contigs; variant_contig needs one."
        raise ValueError(msg)
    return ds.assign(contig_id=("contigs", np.array(ds.attrs["contigs"], dtype=object)))
