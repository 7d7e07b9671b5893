"""Open VCF and BCF files, and VCF Zarr stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from genobit.engine.files import is_address, local_path, require_file
from genobit.engine.own_words import own_words
from genobit.io._zarr import open_store
from genobit.io.several import takes_several
from genobit.io.vcf_files.opened import Request, open_cached, open_uncached
from genobit.io.vcf_files.source import Source

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import xarray as xr


@own_words
@takes_several(".vcf.gz", ".vcf.bgz", ".vcf", ".bcf")
def open_vcf(
    path: str | os.PathLike[str],
    *,
    region: str | None = None,
    samples: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    chunks: int | None = None,
    cache_dir: str | os.PathLike[str] | Literal[False] | None = None,
) -> xr.Dataset:
    """Open a VCF or BCF file, or a part of it, as a lazy Dataset.

    One pass reads CHROM to FILTER and GT, and checks them. No other field is looked at, so none can
    refuse a file. The pass writes a cache, from which calls are read later. The next call opens the
    cache, unless the file has changed.

    Parameters
    ----------
    path
        .vcf, .vcf.gz (of bgzip or gzip) or .bcf, or an address such as `s3://bucket/chr22.vcf.gz`.
        The content decides, not the name. A list of paths, or a pattern such as "chr*.vcf.gz",
        joins files of the same samples along the variants; see `concat`.
    region
        `"2"`, `"chr2:136.5Mb-136.7Mb"`, `"2:136000000-136900000"` or `"2:136,000,000-"`, in bp, kb
        or Mb. All names of a chromosome match, such as "X" and "23". Records are selected by
        position, counted from 1, with both ends included. With an index beside the file (.tbi or
        .csi), only the blocks of the region are read. The default is the whole file.
    samples
        Names of the samples to read, in the order that the Dataset gets. The default is all.
    fields
        Fields to read beside the calls: `"DP"` or `"FORMAT/DP"` becomes `call_DP`, and `"INFO/AF"`
        becomes `variant_AF`. The header gives Type and Number. They are lazy: each chunk reads its
        blocks of the file. A Number of "." takes one more pass at opening, as the dimension gets
        the length of the longest list.
    chunks
        Variants per chunk of `call_genotype`; by default about 64 MB. A
        chunk has all samples.
    cache_dir
        Folder of the cache; the user's cache directory by default. False writes nothing: calls stay
        in memory, up to a 16th of ``get_options().eager_limit``. Others are read again from the
        file when they are computed, as are all calls by workers of a cluster. A complete diploid
        call of two alleles takes two bits.

    Returns
    -------
    Dataset of genotypes and labels, with the records in the order of the file:

    - `call_genotype`: lazy, int8 (int16 if a record has more than 128 alleles); allele index, -1
      missing. If a call has a lower ploidy, -2 fills its unused places.
    - `call_genotype_phased`: bool, lazy; true if all alleles of the call are joined by "|", and for
      haploid calls.
    - `variant_position`, `variant_contig`, `variant_id`, `variant_allele`, `variant_quality`,
      `variant_filter`; `contig_id` (contigs that have records, in the order of the file),
      `filter_id` and `filter_description` (filters that records have); `sample_id`. Text is
      decoded when somebody looks. A ";" at the end of FILTER is left out, as bcftools does. Another
      empty name is an error.
    - fields, as VCF Zarr has them: int32 with -1 missing and -2 unused, float32 with NaN, bool for
      flags, or text with "." missing and "" unused. A field of several values has a dimension of
      its own, such as `FORMAT_AD_dim`. Text of one value keeps its commas.

    The call `.` means that all alleles are missing. It counts as haploid only if the sample has
    haploid calls on the contig. A record without GT has missing calls. All alternate alleles are
    kept. Dosages of variants with several alternate alleles need
    ``ds.genobit.pack(multiallelic=...)``.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the region is malformed, has no record, or names a contig that the file lacks; if the
        file lacks a sample or a field. If the file is not VCF or is damaged, or a record is wrong:
        the message gives record, position and sample. If an index does not fit its file. If a
        record would take more than ``get_options().eager_limit`` bytes of memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> header = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "S1"]
    >>> record = ["22", "1000", "rs1", "A", "G", ".", "PASS", ".", "GT", "0|1"]
    >>> lines = ["##fileformat=VCFv4.3", chr(9).join(header), chr(9).join(record)]
    >>> _ = (folder / "tiny.vcf").write_text(chr(10).join(lines))
    >>> ds = open_vcf(folder / "tiny.vcf", region="22:1-2e3", cache_dir=False)
    >>> ds.call_genotype.values.tolist(), ds.call_genotype_phased.values.tolist()
    ([[[0, 1]]], [[True]])
    """
    if not is_address(path):
        found = local_path(path, "open_vcf").absolute()
        require_file(found, "give a VCF or BCF file; for a VCF Zarr store use open_vcf_zarr")
    request = Request.of(Source.of(path), samples, region, fields)
    if cache_dir is False:
        return open_uncached(request, chunks)
    return open_cached(request, chunks, cache_dir)


@own_words
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
    - labels: `variant_position` (int64) and `variant_contig` (int32) in memory, `variant_id` and
      `variant_allele` read when somebody looks, `sample_id`, `contig_id`. Text is objects of str.

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    ValueError
        If the store is not a Zarr group, or has no genotypes, positions, contigs, alleles or
        samples.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, xarray as xr
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
