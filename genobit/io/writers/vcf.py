"""Write VCF files, plain or compressed as BGZF, chunk by chunk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from dask.delayed import Delayed

from genobit.data import labels, layouts, model
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import own_words
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.graphs import named_layer
from genobit.io._filters import filter_lines
from genobit.io.writers import _checks
from genobit.io.writers._checks import require_dataset
from genobit.io.writers._unpacked import unpacked
from genobit.io.writers._vcf_columns import QUALITY, fixed_columns
from genobit.io.writers._vcf_fields import checked_calls, typed
from genobit.io.writers._vcf_text import END, Columns, bgzf, records

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    import dask.array as da
    from numpy.typing import NDArray

_CHUNK_BYTES = 2**24
"""Bytes of calls that a task writes. Tasks take little memory, and the last block of BGZF, which is
shorter, makes the file no larger."""
_COLUMNS = ("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT")
_PHASE = "phase"
_FIELDS = {
    "AD": ("R", "Read depth for each allele"),
    "DP": ("1", "Read depth"),
    "GQ": ("1", "Genotype quality"),
}
"""FORMAT fields beside GT, all of integers: Number and Description."""


@own_words
def to_vcf(ds: xr.Dataset, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    r"""Write genotypes as a VCF file.

    Genotypes are computed, compressed and written a chunk at a time, so they need not fit in
    memory. The file gets its name when it is complete. After an error, it does not exist.

    Parameters
    ----------
    ds
        Genotypes of any ploidy with any number of alleles, or planes of `pack` with rows along
        variants. Both may be lazy.
    path
        Path of the file. The ending ".vcf" writes plain text. The endings ".vcf.gz" and ".vcf.bgz"
        write BGZF, which ``bcftools`` and ``tabix`` can index.
    overwrite
        Whether to replace an existing file. Otherwise it is an error. If ``ds`` reads this file,
        open it again afterwards.

    Returns
    -------
        The path, for `open_vcf`.

    Raises
    ------
    FileExistsError
        If the file exists.
    KeyError
        If the Dataset lacks ``variant_position``, ``variant_contig``, ``variant_allele`` or
        ``sample_id``.
    TypeError
        For anything but a Dataset, or for a variable of another type.
    ValueError
        For another ending. For a position below 1, and for ids, alleles, contigs, filters and
        numbers that a VCF cannot hold, such as ids with white space. For an allele that
        ``variant_allele`` does not name. The message names the first variant or sample, and the
        remedy.

    Notes
    -----
    - Calls are phased where ``call_genotype_phased`` is true. Without it, no call is phased. Planes
      of haplotypes are phased.
    - A missing diploid call is "./.", and a missing haploid call is ".". Places with -2 are left
      out.
    - REF is the first allele of ``variant_allele``, ALT the others. The allele "0" of PLINK 1 is
      "N" in REF and "." in ALT, as in ``plink2 --export vcf``.
    - ID, QUAL and FILTER are ``variant_id``, ``variant_quality`` and ``variant_filter``. The header
      has all names of ``contig_id`` and ``filter_id``, and ``contig_length`` and
      ``filter_description`` if the Dataset has them.
    - The integers ``call_AD``, ``call_DP`` and ``call_GQ`` are written as FORMAT fields. Other
      fields are left out; `to_vcf_zarr` writes them all.
    - Packed haplotypes do not distinguish the haploid call (1, -2) from the call (1, -1), which has
      a missing allele. Both are written as "1|.". To keep haploid calls, write genotypes.
    - Variants keep their order. An index needs variants sorted by position on each contig.
    - Compression favours speed: files are about 1.6 times as large as those of ``bgzip``.

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
    >>> path = gb.to_vcf(ds, tempfile.mkdtemp() + "/tiny.vcf")
    >>> path.read_text().splitlines()[-1]
    '22\t1000\trs1\tA\tG\t.\t.\t.\tGT\t0/1\t1/1\t./.'
    """
    ds = require_dataset(ds, "to_vcf")
    place = local_path(path, "to_vcf", WRITE).absolute()
    end = END if _is_compressed(place) else b""
    if layouts.layout_of(ds) is not None:
        ds = unpacked(ds)
    calls = model.require_genotypes(ds)
    fixed = {name: values for name, (_, values) in fixed_columns(ds, "a VCF").items()}
    fields = _fields(ds)
    columns = _columns(ds, fixed, fields)
    counts = labels.known_allele_counts(ds)
    variables = {"GT": checked_calls(calls.variable, counts)}
    phase = model.phase_of(ds)
    if phase is not None:
        variables[_PHASE] = phase.variable
    arrays = {name: _chunked(x, calls.sizes) for name, x in (variables | fields).items()}
    header = _header(ds, fixed, [*fields])
    with replacing(place, overwrite=overwrite) as (new,):
        at = new.write_bytes(b"".join(bgzf(header)) if end else header)
        name, graph = named_layer("genobit-to-vcf", _tasks, str(new), at, columns, arrays, end)
        compute(Delayed(name, graph, layer=name))
    return place


def _is_compressed(path: Path) -> bool:
    """Return whether the ending of a path means BGZF; raise ValueError for an unknown ending."""
    if path.name.endswith((".vcf.gz", ".vcf.bgz")):
        return True
    if path.suffix == ".vcf":
        return False
    msg = f"to_vcf writes .vcf, .vcf.gz and .vcf.bgz, not {path.name!r}: name such a file"
    if path.suffix == ".bcf":
        msg += f". To make a BCF of it: bcftools view -Ob -o {path.name} {path.stem}.vcf.gz"
    raise ValueError(msg)


def _fields(ds: xr.Dataset) -> dict[str, xr.Variable]:
    """Return the FORMAT fields beside GT by key, as integers of 32 bits or fewer."""
    found = {}
    for key, (number, _) in _FIELDS.items():
        name = f"call_{key}"
        if name not in ds:
            continue
        field = typed(name, ds.variables[name])
        remedy = f"or leave it out, ds.drop_vars({name!r})"
        if field.dtype.kind != "i":
            raise TypeError(
                f"{name} is {field.dtype}, and to_vcf takes whole numbers, -1 for missing: "
                f"ds.assign({name}=ds.{name}.fillna(-1).round().astype('int32')), {remedy}"
            )
        if field.ndim != 2 + (number != "1"):
            one = "one number" if number == "1" else "a number of each allele"
            msg = f"{name} has dimensions {field.dims}, and a VCF has {one} for a call: {remedy}"
            raise ValueError(msg)
        found[key] = field
    return found


def _columns(
    ds: xr.Dataset, fixed: dict[str, NDArray[Any]], fields: dict[str, xr.Variable]
) -> Columns:
    failed = None
    if "variant_filter" in ds:
        failed = np.asarray(ds["variant_filter"].transpose(model.VARIANTS, ...).values)
    return Columns(
        fixed[model.CONTIG_ID][fixed[model.VARIANT_CONTIG]],
        fixed[model.VARIANT_POSITION],
        fixed.get(model.VARIANT_ID),
        fixed[model.VARIANT_ALLELE],
        fixed.get(QUALITY),
        failed,
        fixed.get("filter_id", np.empty(0, object)),
        ":".join(["GT", *fields]),
    )


def _header(ds: xr.Dataset, fixed: dict[str, NDArray[Any]], fields: list[str]) -> bytes:
    """Return the header, from the file format to the names of the samples."""
    names = fixed[model.CONTIG_ID]
    lengths = _checks.numbers(ds, "contig_length", model.CONTIGS)
    if lengths is None:
        lengths = np.zeros(names.size)
    contigs = (
        f"##contig=<ID={name}{f',length={size:.0f}' if size > 0 else ''}>"
        for name, size in zip(names, lengths, strict=True)
    )
    filters = fixed.get("filter_id", np.array([], object)).tolist()
    texts = fixed.get(_checks.DESCRIPTION, np.full(len(filters), "", object)).tolist()
    described = {"GT": ("1", "String", "Genotype")}
    described |= {key: (_FIELDS[key][0], "Integer", _FIELDS[key][1]) for key in fields}
    lines = [
        "##fileformat=VCFv4.3",
        "##source=genobit",
        *filter_lines(filters, texts),
        *contigs,
        *(
            f'##FORMAT=<ID={key},Number={number},Type={kind},Description="{text}">'
            for key, (number, kind, text) in described.items()
        ),
        "\t".join([*_COLUMNS, *fixed[model.SAMPLE_ID]]),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _chunked(variable: xr.Variable, sizes: Mapping[Any, int]) -> da.Array:
    """Return a lazy array in chunks of whole rows, as many as a task writes."""
    row = sizes[model.SAMPLES] * sizes[model.PLOIDY]
    rows = max(1, _CHUNK_BYTES // row)
    chunks = {dim: rows if dim == model.VARIANTS else -1 for dim in variable.dims}
    return variable.chunk(chunks).data


def _tasks(
    name: str, path: str, at: int, columns: Columns, arrays: dict[str, da.Array], end: bytes
) -> dict[Any, Any]:
    """Return a task for the text of each chunk, and one that writes it after the chunk before.

    The first chunk begins at byte ``at``. ``end`` are the last bytes of a compressed file; without
    them the text is plain.
    """
    layer: dict[Any, Any] = {}
    last: Any = at
    start = 0
    make = partial(_text, [*arrays], compressed=bool(end))
    for k, size in enumerate(arrays["GT"].chunks[0]):
        blocks = [(x.name, k, *(0,) * (x.ndim - 1)) for x in arrays.values()]
        layer[name, "text", k] = (make, columns.of(slice(start, start + size)), *blocks)
        layer[name, "put", k] = (_checks.put, (name, "text", k), path, last)
        last, start = (name, "put", k), start + size
    layer[name] = (_checks.put, end, path, last)
    return layer


def _text(names: list[str], columns: Columns, *blocks: NDArray[Any], compressed: bool) -> bytes:
    found = dict(zip(names, blocks, strict=True))
    calls, phased = found.pop("GT"), found.pop(_PHASE, None)
    return records(columns, calls, phased, *found.values(), compressed=compressed)
