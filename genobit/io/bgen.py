"""Open BGEN files lazily, as calls and dosages."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from genobit.data import labels, model
from genobit.data.checks import check_one_of
from genobit.data.text import decode, lazy_text
from genobit.engine.files import local_path, require_file
from genobit.engine.own_words import own_words
from genobit.io._chunks import stamp_of
from genobit.io._plink_text import sample_ids
from genobit.io.bgen_files._genotypes import ploidies
from genobit.io.bgen_files._header import Header, read_header, read_variants
from genobit.io.bgen_files._samples import FIRST_LINE, read_sample_file
from genobit.io.bgen_files._source import STRIDE, BgenFile, alleles_of, flagged
from genobit.io.kernels.bgen import PHASED, UNCERTAIN
from genobit.io.kernels.bgen_labels import Labels
from genobit.io.several import takes_several

if TYPE_CHECKING:
    import os


_SECOND = "variant_allele[:, 1] (the second allele of the file)"
_FIRST = "variant_allele[:, 1] (the first allele of the file, as ref='last' asks)"


@own_words
@takes_several(".bgen")
def open_bgen(
    path: str | os.PathLike[str],
    *,
    sample: str | os.PathLike[str] | None = None,
    ref: Literal["first", "last"] = "first",
    hard_call_threshold: float = 0.1,
    multiallelic: Literal["refuse", "drop"] = "refuse",
    chunks: int | Literal["auto"] = "auto",
) -> xr.Dataset:
    r"""Open a BGEN file as a lazy Dataset of calls and dosages.

    Opening reads the header and the labels of all variants, but no genotypes. Versions 1.1, 1.2 and
    1.3 are read, uncompressed or compressed by zlib or Zstandard.

    Parameters
    ----------
    path
        Path of the .bgen file. A list of paths, or a pattern such as "chr*.bgen", joins files of
        the same samples along the variants; see `concat`.
    sample
        Path of the .sample file. By default, sample ids are those of the .bgen file. If it has
        none, they are read from the .sample file of the same name in the same folder.
    ref
        The reference allele: the "first" or the "last" allele of the file. The other allele is
        counted. UK Biobank and qctool write the reference first. plink2 (``--export bgen-1.2``)
        writes it last, unless ``ref-first`` is given.
    hard_call_threshold
        A dosage gives a call if it is at most this far from 0, 1 or 2, else the call is missing.
        At least 0 and below 0.5. The default is that of ``plink2 --hard-call-threshold``.
    multiallelic
        Rule for variants that do not have exactly two alleles, or that have calls of more than two
        copies: "refuse" raises an error, "drop" leaves them out. More copies are found when the
        chunk is computed; "drop" looks for them when the file is opened.
    chunks
        Variants per chunk of `call_genotype`; "auto" makes chunks of up to 2,048 variants and about
        16 MB. A chunk has all samples.

    Returns
    -------
    Dataset over `variants`, `samples`, `ploidy` (2), `alleles` (2) and `contigs`:

    - `call_genotype`: int8, lazy; 0 is the reference allele, 1 is the other allele, -1 is missing.
      A haploid call is (0, -2) or (1, -2).
    - `call_genotype_phased`: bool, lazy; true for the calls of a phased variant and for haploid
      calls. A heterozygous call is phased only if the dosages of its two haplotypes differ by more
      than 0.5, as in plink2.
    - `call_dosage`: float32, lazy; expected copies of the counted allele, NaN if missing. For a
      haploid call, it is between 0 and 1.
    - `call_uncertain`: bool, lazy; true for calls that `hard_call_threshold` sets to missing.
      ``ds.call_uncertain.sum().compute()`` counts them in one pass over the file.
    - `variant_contig`, `contig_id` (in order of first appearance), `variant_position`, `variant_id`
      (the rsid of the file) and `variant_allele` (reference allele, then the counted allele).
    - `sample_id`. From a .sample file this is ID_2, and also `sample_family_id` if ID_1 is another
      name, and `sample_sex` (0 unknown, 1 male, 2 female) if it has the column sex. If individual
      ids repeat, `sample_id` is FAMILY_INDIVIDUAL.

    A dosage is the number of copies of one allele, as stated in
    `call_genotype.attrs["counted_allele"]`. Analyses use the calls. A call is decided by its
    dosage, as in plink2, and not by its most likely genotype. A haploid call is decided by twice
    its dosage, and is missing if that is near 1.

    Raises
    ------
    FileNotFoundError
        If the .bgen or the .sample file does not exist.
    ValueError
        If the file is not BGEN, is truncated or damaged, or has no sample ids. If the .sample file
        has another number of samples. If a variant has more or fewer than two alleles. If
        genotypes are damaged or have more than two copies, when their chunk is computed. Damage is
        found by the checksums of blocks; uncompressed blocks, and blocks of many Zstandard files,
        have none. Without a checksum, only impossible values raise an error.
    OSError
        If the file is changed between opening and computing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bgen import BgenWriter
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.bgen"
    >>> values = np.array([[1, 0, 0], [0, 0.95, 0.05], [0, 0.3, 0.7], [np.nan] * 3])
    >>> with BgenWriter(path, 4, samples=["a", "b", "c", "d"]) as file:
    ...     file.add_variant("1", "rs1", "22", 1000, ["A", "G"], values)
    >>> ds = open_bgen(path)
    >>> ds.call_genotype.values.tolist()
    [[[0, 0], [0, 1], [-1, -1], [-1, -1]]]
    >>> ds.call_dosage.values.round(2)
    array([[0.  , 1.05, 1.7 ,  nan]], dtype=float32)
    >>> ds.call_uncertain.sum("samples").values
    array([1])
    """
    check_one_of("ref", ref, ("first", "last"))
    check_one_of("multiallelic", multiallelic, ("refuse", "drop"))
    _check_threshold(hard_call_threshold)
    source = local_path(path, "open_bgen").absolute()
    require_file(source, "give the .bgen file")
    stamp = stamp_of(source)
    header = read_header(source)
    samples = _samples(source, header, sample)
    every = read_variants(source, header)
    variants = _biallelic(source, every, multiallelic)
    if multiallelic == "drop":
        variants = _chosen(variants, ploidies(source, header, variants.offset) <= 2)
    file = BgenFile(
        path=str(source),
        stamp=stamp,
        layout=header.layout,
        compression=header.compression,
        n_variants=variants.offset.size,
        n_samples=header.samples,
        every_offset=variants.offset[::STRIDE].copy(),
        dropped=np.setdiff1d(every.offset, variants.offset, assume_unique=True),
        swap=ref == "last",
        threshold=float(hard_call_threshold),
    )
    found = {**_calls(file, chunks), **_labels(variants, file), **samples}
    return xr.Dataset(found, attrs={"source": file.path})


def _check_threshold(threshold: Any) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real):
        raise TypeError(f"hard_call_threshold={threshold!r} is not a number: give one below 0.5")
    if not 0 <= float(threshold) < 0.5:
        raise ValueError(f"hard_call_threshold is {threshold}, expected at least 0 and below 0.5")


def _calls(file: BgenFile, chunks: int | Literal["auto"]) -> dict[str, Any]:
    """Return the lazy variables; those of calls and flags share the tasks that decode."""
    decoded = file.calls(chunks)
    alleles = alleles_of(decoded, file.n_samples)
    counted = {model.COUNTED_ALLELE: _FIRST if file.swap else _SECOND}
    threshold = {"hard_call_threshold": file.threshold}
    per_call = (model.VARIANTS, model.SAMPLES)
    return {
        model.CALL_GENOTYPE: ((*per_call, model.PLOIDY), alleles, counted | threshold),
        model.CALL_GENOTYPE_PHASED: (per_call, flagged(decoded, file.n_samples, PHASED)),
        "call_dosage": (per_call, file.dosages(chunks), counted),
        "call_uncertain": (per_call, flagged(decoded, file.n_samples, UNCERTAIN), threshold),
    }


def _labels(variants: Labels, file: BgenFile) -> dict[str, Any]:
    contig, contig_id = _contigs(variants)
    text, edges = variants.text, variants.edges
    starts, ends = edges[:, 1:3], edges[:, 2:4]
    if file.swap:
        starts, ends = starts[:, ::-1], ends[:, ::-1]
    return {
        model.VARIANT_CONTIG: (model.VARIANTS, contig),
        model.VARIANT_POSITION: (model.VARIANTS, variants.position),
        model.VARIANT_ID: (model.VARIANTS, lazy_text(text, edges[:, 0], edges[:, 1])),
        model.VARIANT_ALLELE: ((model.VARIANTS, "alleles"), lazy_text(text, starts, ends)),
        model.CONTIG_ID: ("contigs", contig_id),
    }


def _contigs(variants: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each variant's contig, in order of first appearance, and the names."""
    import pandas as pd

    starts = variants.contig[:, 0]
    new = np.ones(starts.size, bool)
    new[1:] = starts[1:] != starts[:-1]
    names = decode(variants.text, *variants.contig[new].T)
    codes, contig_id = pd.factorize(names)
    return codes.astype(np.int32)[np.cumsum(new) - 1], contig_id


def _biallelic(path: Path, variants: Labels, multiallelic: str) -> Labels:
    """Return the variants with two alleles; others are an error unless they are dropped."""
    biallelic = variants.alleles == 2
    if biallelic.all():
        return variants
    if multiallelic == "refuse":
        k = int(np.flatnonzero(~biallelic)[0])
        name = decode(variants.text, *variants.edges[k, :2]).item()
        raise ValueError(
            f"{path}: {(~biallelic).sum():,} of {biallelic.size:,} variants have more or fewer "
            f"than two alleles, first variant {k} ({name}) with {variants.alleles[k]}: "
            "leave them out with multiallelic='drop', or split them before the file is written"
        )
    return _chosen(variants, biallelic)


def _chosen(variants: Labels, kept: np.ndarray) -> Labels:
    each = {name: getattr(variants, name)[kept] for name in variants._fields[:-1]}
    return variants._replace(**each)


def _samples(
    path: Path, header: Header, sample: str | os.PathLike[str] | None
) -> dict[str, tuple[str, np.ndarray, dict[str, str]]]:
    """Return the variables along samples."""
    beside = path.with_suffix(".sample")
    if sample is None and header.sample_ids is not None:
        return {model.SAMPLE_ID: (model.SAMPLES, _own_ids(path, header.sample_ids), {})}
    if sample is None and not beside.is_file():
        raise ValueError(
            f"{path} holds no sample ids, and {beside.name} is not beside it: give the .sample "
            "file as sample="
        )
    source = beside if sample is None else local_path(sample, "open_bgen").absolute()
    table = read_sample_file(source)
    individual = table["individual"]
    if individual.size != header.samples:
        raise ValueError(
            f"{source} names {individual.size:,} samples, {path.name} has {header.samples:,}: give "
            "the .sample file that was written with it"
        )
    family = table.get("family", np.full(individual.size, "0", object))
    found = {model.SAMPLE_ID: sample_ids(source, family, individual, FIRST_LINE)}
    if "family" in table:
        found["sample_family_id"] = family, {}
    if "sex" in table:
        found["sample_sex"] = table["sex"], {}
    return {name: (model.SAMPLES, *variable) for name, variable in found.items()}


def _own_ids(path: Path, ids: list[str]) -> np.ndarray:
    """Return the sample ids of the .bgen itself; raise ValueError if one repeats."""
    first, again = labels.first_repeat(ids)
    if again:
        raise ValueError(
            f"{path}: samples={first} and samples={again} have the same id {ids[again]!r}. Sample "
            "ids must be unique: give a .sample file with other ids as sample="
        )
    return np.array(ids, object)
