"""Open VCF and BCF files through VCF Zarr, and VCF Zarr stores directly."""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.regions import Region, parse_region
from genobit.engine.extras import require
from genobit.engine.files import full_disk, local_path
from genobit.io._cache import cached_store
from genobit.io._vcf_records import (
    check_records,
    index_of,
    known_contigs,
    no_genotypes,
    require_records_fit,
    write_contigs,
)
from genobit.io._zarr import open_store

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    import xarray as xr
    from numpy.typing import NDArray

# Part of the cache key: increase it when the conversion changes.
_CONVERSION = 2

# bio2zarr converts all fields of an indexed file; open_vcf returns only these.
_KEPT = (
    "call_genotype",
    "call_genotype_phased",
    "variant_contig",
    "variant_position",
    "variant_id",
    "variant_allele",
    "variant_quality",
    "variant_filter",
    "filter_id",
    "contig_id",
    "sample_id",
)


def open_vcf(
    path: str | os.PathLike[str],
    *,
    region: str | None = None,
    chunks: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    worker_processes: int = 0,
) -> xr.Dataset:
    """Open a VCF or BCF file, or a region of it, as a lazy Dataset.

    The first call converts the genotypes to VCF Zarr (bio2zarr) in the cache directory. Later calls
    open the converted store, unless the file's size or modification time has changed. A .tbi or
    .csi index makes reading a region fast. Without an index, the whole file is scanned. To index a
    large file, run `bcftools index FILE` once.

    Parameters
    ----------
    path
        .vcf, .vcf.gz or .bcf.
    region
        `"2"`, `"chr2:136.5Mb-136.7Mb"`, `"2:136000000-136900000"` or `"2:136,000,000-"`, in bp, kb
        or Mb. All names of a chromosome match, such as "X" and "23". Records are selected by
        position, counted from 1, with both ends included. The default is the whole file.
    chunks
        Variants per chunk of `call_genotype`; by default about 64 MB. A chunk has all
        samples.
    cache_dir
        Folder of the converted files; the user's cache directory by default.
    worker_processes
        Number of processes for converting the file; 0 uses the current process alone. Regions, and
        files without an index, are always converted in the current process.

    Returns
    -------
    Dataset of genotypes and labels, as `open_vcf_zarr` returns them:

    - `call_genotype`: int8, lazy; allele index, -1 missing. If a call has a lower ploidy, -2 fills
      its unused places.
    - `call_genotype_phased`: bool, lazy; true for phased and for haploid calls.
    - variables with the prefixes `variant_`, `contig_`, `filter_` and `sample_`.

    The call `.` means that all alleles are missing. It counts as haploid only if the sample has
    haploid calls on the contig. INFO and FORMAT fields other than GT are left out. To read them,
    run `vcf2zarr convert` and use `open_vcf_zarr`. All alternate alleles are kept. Dosages of
    variants with several alternate alleles need ``ds.genobit.pack(multiallelic=...)``.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the region is malformed, has no record, or names a contig that the file lacks. If the
        file is not VCF, is damaged, or has no samples or no genotypes. If a position is outside 1
        to 2,147,483,647, or a line would take more than ``get_options().eager_limit`` bytes of
        memory.
    ImportError
        If bio2zarr or cyvcf2 is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> header = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "S1"]
    >>> record = ["22", "1000", "rs1", "A", "G", ".", "PASS", ".", "GT", "0|1"]
    >>> lines = ["##fileformat=VCFv4.3", chr(9).join(header), chr(9).join(record)]
    >>> _ = (folder / "tiny.vcf").write_text(chr(10).join(lines))
    >>> ds = open_vcf(folder / "tiny.vcf", region="22:1-2e3", cache_dir=folder)
    >>> ds.call_genotype.values.tolist(), ds.call_genotype_phased.values.tolist()
    ([[[0, 1]]], [[True]])
    """
    source = local_path(path, "open_vcf").absolute()
    if not source.is_file():
        msg = f"{source} does not exist."
        if source.is_dir():
            msg = f"{source} is a directory. For a VCF Zarr store use open_vcf_zarr."
        raise FileNotFoundError(msg)
    require("open_vcf", "bio2zarr", "cyvcf2")
    wanted = None if region is None else parse_region(region, known_contigs(source))

    def build(store: Path) -> None:
        _convert(source, wanted, store, worker_processes)

    store = cached_store("vcf", _cache_name(source, wanted), build, cache_dir)
    ds = open_store(store, chunks)
    ds = ds[[name for name in _KEPT if name in ds.variables]]
    ds.attrs = {"source": str(source)} | ({"region": str(wanted)} if wanted else {})
    return ds


def open_vcf_zarr(store: Any, *, chunks: int | None = None) -> xr.Dataset:
    """Open a VCF Zarr or sgkit store as a lazy Dataset.

    Parameters
    ----------
    store
        Path or address of a directory (.vcz, .zarr) or of its .zip file, or a zarr store, of
        obstore for example. Zarr formats 2 and 3 are supported.
    chunks
        Variants per chunk. By default, chunks of the store are joined up to about 64 MB of calls. A
        chunk has all samples.

    Returns
    -------
    Dataset with all variables of the store:

    - `call_genotype` and other fields of several dimensions, lazy. Calls are as stored: allele
      index, -1 missing. If a call has a lower ploidy, -2 fills its unused places.
      `call_genotype.attrs["counted_allele"]` states that a dosage counts ALT.
    - labels in memory: `variant_position` (int64), `variant_contig` (int32), `variant_id`,
      `variant_allele`, `sample_id`, `contig_id`. Text is an object array of str.

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    ValueError
        If the store is not a Zarr group, or has no genotypes, positions, contigs, alleles or
        samples.

    Examples
    --------
    >>> import pathlib, tempfile, xarray as xr
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "tiny.vcz"
    >>> tiny = xr.Dataset(
    ...     {
    ...         "call_genotype": (("variants", "samples", "ploidy"), np.array([[[0, 1]]], "i1")),
    ...         "variant_position": ("variants", [1000]),
    ...         "variant_contig": ("variants", [0]),
    ...         "variant_allele": (("variants", "alleles"), [["A", "G"]]),
    ...         "contig_id": ("contigs", ["22"]),
    ...         "sample_id": ("samples", ["S1"]),
    ...     }
    ... )
    >>> _ = tiny.to_zarr(store, zarr_format=2)
    >>> ds = open_vcf_zarr(store)
    >>> ds.call_genotype.values.tolist(), ds.contig_id.values.tolist()
    ([[[0, 1]]], ['22'])
    """
    return open_store(store, chunks)


def _cache_name(source: Path, region: Region | None) -> str:
    stat = source.stat()
    key = (
        str(source),
        stat.st_size,
        stat.st_mtime_ns,
        str(region),
        importlib.metadata.version("bio2zarr"),
        _CONVERSION,
    )
    return f"{source.name.split('.')[0]}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.vcz"


def _convert(source: Path, region: Region | None, store: Path, worker_processes: int) -> None:
    """Write the VCF Zarr of a file, directly or from one small VCF per contig."""
    if region is None and index_of(source) is not None:
        require_records_fit(source)
        _bio2zarr([source], store, source, worker_processes)
    else:
        with tempfile.TemporaryDirectory(dir=store.parent) as folder:
            parts = write_contigs(source, Path(folder), region)
            _bio2zarr(parts, store, source, worker_processes=0)
    _settle_ploidy(source, store)


def _bio2zarr(parts: list[Path], store: Path, source: Path, worker_processes: int) -> None:
    from bio2zarr import vcf

    try:
        with _quiet("bio2zarr"):
            vcf.convert(parts, store, worker_processes=worker_processes)
    # A bad record can make bio2zarr and htslib raise almost anything, even a bare Exception.
    except Exception as error:
        if full_disk(error):
            raise
        # Raises a better error if a record has a known fault.
        check_records(source)
        msg = (
            f"{source} could not be converted: {type(error).__name__}: {error}. Check it with "
            "'bcftools view FILE > /dev/null'; if it changed since it was indexed, run "
            "'bcftools index -f FILE'."
        )
        raise ValueError(msg) from error


def _settle_ploidy(source: Path, store: Path) -> None:
    """Mark haploid calls as phased, and give a single "." the ploidy of the sample.

    VCF treats a call of one allele as phased. For a haploid call beside diploid ones, cyvcf2 reads
    the phase past its end, and bio2zarr 0.2 stores a phase that differs between runs. PLINK,
    vcftools and bcftools read `.` as a missing call. It is haploid only if the sample has haploid
    calls on the contig.
    """
    import zarr

    group = zarr.open_group(store, mode="r+")
    calls, phased = group.get("call_genotype"), group.get("call_genotype_phased")
    if not isinstance(calls, zarr.Array) or not isinstance(phased, zarr.Array):
        msg = f"{source} has no genotypes: no GT among the FORMAT fields of its header."
        raise ValueError(msg)
    contigs = np.asarray(group["variant_contig"])
    rows = [
        slice(start, start + calls.chunks[0]) for start in range(0, calls.shape[0], calls.chunks[0])
    ]
    haploid_on = np.zeros((int(contigs.max(initial=-1)) + 1, calls.shape[1]), bool)
    called = False
    for part in rows:
        block = np.asarray(calls[part])
        found = (block[:, :, 0] >= 0) & _is_haploid(block)
        called = called or bool((block >= 0).any())
        for contig in np.unique(contigs[part]):
            haploid_on[contig] |= found[contigs[part] == contig].any(axis=0)
    if not called and not check_records(source):
        raise no_genotypes(source, calls.shape[0])
    for part in rows:
        block, phase = np.asarray(calls[part]), np.asarray(phased[part])
        haploid = _is_haploid(block)
        if haploid.any():
            dots = haploid & (block[:, :, 0] == -1) & ~haploid_on[contigs[part]]
            if block.shape[2] > 1:
                block[dots] = -1
                calls[part] = block
                phase[dots] = False
                haploid &= ~dots
            phased[part] = phase | haploid


def _is_haploid(calls: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which calls (variants, samples, ploidy) have one allele, missing or not."""
    haploid: NDArray[np.bool_] = (calls[:, :, 1:] == -2).all(axis=2)
    return haploid


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger's warnings, which concern temporary files rather than the user's."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
