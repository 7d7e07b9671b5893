"""Write genotypes as a PLINK 2 fileset: .pgen, .pvar and .psam."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from genobit.data import labels, layouts, model
from genobit.data.checks import first_true
from genobit.engine.extras import require
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import own_words
from genobit.engine.schedule.computing import compute
from genobit.io.pgen_files._header import PROVISIONAL
from genobit.io.plink import COUNTED_ALLELE as COUNTED_BY_BED
from genobit.io.writers._checks import require_dataset, require_labels
from genobit.io.writers._pgen_calls import (
    CALL_DOSAGE,
    HALF_REMEDY,
    HALF_REMEDY_OF_PLANES,
    alleles_to_write,
    dosages_to_write,
)
from genobit.io.writers._pgen_tables import psam_text, pvar_text
from genobit.io.writers._unpacked import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import xarray as xr
    from numpy.typing import NDArray

_ROWS_BYTES = 2**25
"""Bytes of int32 alleles that are converted at once."""


@own_words
def to_pgen(
    ds: xr.Dataset,
    prefix: str | os.PathLike[str],
    *,
    dosages: bool = False,
    overwrite: bool = False,
) -> Path:
    r"""Write genotypes as a PLINK 2 fileset: PREFIX.pgen, PREFIX.pvar and PREFIX.psam.

    Calls are computed and written a chunk at a time, so lazy genotypes need not fit in memory. The
    three files get their names together when writing has finished. After an error, none of them
    exists.

    Parameters
    ----------
    ds
        Dataset with `call_genotype`, `variant_allele`, `variant_position`, `variant_contig` and
        `sample_id`, as the readers of files return it. If it has `call_genotype_phased`,
        heterozygous calls keep their phase; otherwise no call is phased. Planes of `pack` with rows
        along variants are written too: those of dosages without phase, those of haplotypes with it.
    prefix
        Path without the endings; the path of the .pgen works too.
    dosages
        Whether to write `call_dosage` (variants, samples; from 0 to 2, NaN is missing) too. The
        dosage of a haploid call, from 0 to 1, is written twice as large, as in plink2. pgenlib
        then derives the calls from the dosages: a dosage within 0.1 of a whole number is that
        call, any other is a missing call. `call_genotype` must be equal to these calls.
        No heterozygous call may be phased, and no variant may have more than two alleles.
    overwrite
        Whether to replace existing files. Otherwise an existing file is an error. If ``ds`` reads
        these files, open them again afterwards.

    Returns
    -------
        The path of the .pgen, for `open_pgen`.

    Raises
    ------
    KeyError
        If the Dataset lacks a variable.
    TypeError
        If `call_genotype_phased` or `variant_filter` are not booleans, if positions are not whole
        numbers, or if labels that PLINK takes as numbers are text.
    ValueError
        For a call that the format does not hold: with one missing allele, of a ploidy above 2, or
        with an allele that `variant_allele` does not name. For labels with white space, for two
        names of one chromosome, or for phenotypes that PLINK would read as missing, or not at all.
        For categories that are numbers or missing to PLINK.
    FileExistsError
        If one of the three files exists.
    ModuleNotFoundError
        If pgenlib is not installed.

    Notes
    -----
    - A haploid call is written as a homozygous one, as PLINK does. Packed haplotypes do not
      distinguish it from a call with one missing allele, which raises an error. Therefore write
      genotypes.
    - The .pvar has CHROM, POS, ID, REF and ALT, and QUAL, FILTER and CM if the Dataset has
      `variant_quality`, `variant_filter` and `variant_genetic_position` (0 for NaN). Its header
      has `filter_description`.
    - The .psam has IID, and FID, PAT, MAT and SEX if the Dataset has their variables.
      `sample_phenotype` is the column PHENO1. Any other variable `sample_NAME` of numbers or
      booleans is the column NAME; a boolean is 1 for false and 2 for true. Text is a column of
      categories, as plink2 reads it: "" is NONE, and a number or "NA" among them is an error.
    - If the genotypes come from a .bed, their reference alleles are marked as provisional.

    References
    ----------
    Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
    datasets. *GigaScience* 4:7.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, xarray as xr, genobit as gb
    >>> calls = np.array([[[0, 1], [1, 1]], [[2, 0], [-1, -1]]], "int8")
    >>> ds = xr.Dataset(
    ...     {
    ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
    ...         "call_genotype_phased": (("variants", "samples"), [[False, True], [True, False]]),
    ...         "variant_allele": (("variants", "alleles"), [["A", "C", ""], ["G", "T", "TA"]]),
    ...         "variant_position": ("variants", [1000, 2000]),
    ...         "variant_contig": ("variants", [0, 0]),
    ...         "contig_id": ("contigs", ["22"]),
    ...         "sample_id": ("samples", ["a", "b"]),
    ...     }
    ... )
    >>> path = gb.to_pgen(ds, pathlib.Path(tempfile.mkdtemp()) / "small")
    >>> path.with_suffix(".pvar").read_text()
    '#CHROM\tPOS\tID\tREF\tALT\n22\t1000\t.\tA\tC\n22\t2000\t.\tG\tT,TA\n'
    >>> gb.open_pgen(path).call_genotype.values.tolist()
    [[[0, 1], [1, 1]], [[2, 0], [-1, -1]]]
    """
    ds = require_dataset(ds, "to_pgen")
    half = HALF_REMEDY
    if layouts.layout_of(ds) is not None:
        ds, half = unpacked(ds), HALF_REMEDY_OF_PLANES
    calls = model.require_genotypes(ds)
    _require_ploidy(calls)
    require_labels(ds, "a PLINK 2 fileset")
    model.phase_of(ds)
    counts = np.maximum(labels.known_allele_counts(ds), 2)
    if dosages:
        _require_dosages(ds, counts)
    tables = {".psam": psam_text(ds), ".pvar": pvar_text(ds)}
    require("to_pgen", "pgenlib")
    given = local_path(prefix, "to_pgen", WRITE).absolute()
    stem = given.with_suffix("") if given.suffix == ".pgen" else given
    # The .pgen last: an opened fileset begins with it.
    targets = [stem.with_name(stem.name + suffix) for suffix in (*tables, ".pgen")]
    with replacing(*targets, overwrite=overwrite) as (*texts, binary):
        for text, new in zip(tables.values(), texts, strict=True):
            new.write_text(text, encoding="utf-8")
        provisional = calls.attrs.get(model.COUNTED_ALLELE) in {COUNTED_BY_BED, PROVISIONAL}
        arrays = _arrays(ds, calls, dosages=dosages)
        _write(binary, targets[-1], arrays, counts, half, provisional=provisional)
    return targets[-1]


def _require_ploidy(calls: xr.DataArray) -> None:
    ploidy = calls.sizes[model.PLOIDY]
    if ploidy > 2:
        msg = f"{model.CALL_GENOTYPE} has ploidy {ploidy}, and a .pgen holds 1 or 2 alleles a call"
        raise ValueError(msg)


def _require_dosages(ds: xr.Dataset, counts: NDArray[np.int64]) -> None:
    if CALL_DOSAGE not in ds:
        raise KeyError(f"dosages=True needs the variable {CALL_DOSAGE!r}, which the Dataset lacks")
    if (k := first_true(counts > 2)) >= 0:
        raise ValueError(
            f"variants={k} has {counts[k]} alleles, and dosages are written for "
            "two only: leave out such variants, or write with dosages=False"
        )


def _arrays(ds: xr.Dataset, calls: xr.DataArray, *, dosages: bool) -> dict[str, Any]:
    """Return the arrays to write, variants first, by the name of their variable."""
    found = {model.CALL_GENOTYPE: calls.data}
    for name in (model.CALL_GENOTYPE_PHASED, *([CALL_DOSAGE] if dosages else [])):
        if name in ds:
            found[name] = ds[name].transpose(model.VARIANTS, model.SAMPLES).data
    return found


def _write(
    new: Path,
    target: Path,
    arrays: dict[str, Any],
    counts: NDArray[np.int64],
    half: str,
    *,
    provisional: bool,
) -> None:
    """Write a .pgen file at ``new``; errors name the ``target``, and ``half`` is a remedy."""
    import pgenlib

    variants, samples, _ = arrays[model.CALL_GENOTYPE].shape
    dosages = CALL_DOSAGE in arrays
    try:
        with _named(target):
            writer = pgenlib.PgenWriter(
                os.fsencode(new),
                samples,
                variant_ct=variants,
                nonref_flags=provisional,
                allele_ct_limit=int(counts.max()),
                hardcall_phase_present=model.CALL_GENOTYPE_PHASED in arrays and not dosages,
                dosage_present=dosages,
            )
        for start, blocks in _blocks(arrays, samples):
            part = counts[start : start + len(blocks[model.CALL_GENOTYPE])]
            alleles, phased = alleles_to_write(blocks, start, part, half)
            with _named(target):
                if dosages:
                    found = dosages_to_write(blocks, alleles, phased, start)
                    writer.append_dosages_batch(found)
                elif phased is None:
                    writer.append_alleles_batch(alleles, allele_cts=part)
                else:
                    writer.append_partially_phased_batch(alleles, phased, allele_cts=part)
        with _named(target):
            writer.close()
    finally:
        # The library collects records here if variants have more than two alleles.
        new.with_name(new.name + ".tmp").unlink(missing_ok=True)


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Turn errors of the library, which do not tell why, into an OSError that names the file."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(f"{target} cannot be written ({error}): is the disk full?") from error


def _blocks(arrays: dict[str, Any], samples: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the first variant and the rows of each array, in parts of at most `_ROWS_BYTES`."""
    rows = max(_ROWS_BYTES // (8 * samples), 1)
    calls = arrays[model.CALL_GENOTYPE]
    sizes = calls.chunks[0] if isinstance(calls, da.Array) else (calls.shape[0],)
    start = 0
    for size in _joined(sizes, rows):
        found = compute(*(array[start : start + size] for array in arrays.values()))
        for at in range(0, size, rows):
            part = (block[at : at + rows] for block in found)
            yield start + at, dict(zip(arrays, part, strict=True))
        start += size


def _joined(sizes: tuple[int, ...], rows: int) -> Iterator[int]:
    """Yield sizes of neighbouring chunks joined up to ``rows``; larger chunks stay alone.

    Each call of dask looks at the names of all chunks, so one a chunk takes quadratic time.
    """
    joined = 0
    for size in sizes:
        if joined and joined + size > rows:
            yield joined
            joined = 0
        joined += size
    yield joined
