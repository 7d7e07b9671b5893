"""Open a VCF or BCF as a lazy Dataset, through a cache or without one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.engine.spelling import did_you_mean
from genobit.io._cache import cached_store
from genobit.io._chunks import row_chunks
from genobit.io._filters import filter_descriptions
from genobit.io._new_store import new_store
from genobit.io._stored import lazy
from genobit.io._zarr import COUNTED_ALLELE
from genobit.io.vcf_files.blocks import BGZF, PLAIN, STREAM, held_in_memory
from genobit.io.vcf_files.cache import CALLS, CallWriter, chunk_rows, read_labels, write_labels
from genobit.io.vcf_files.calls import CallReader, alleles_of, phases_of
from genobit.io.vcf_files.fields import field_variables, named_fields
from genobit.io.vcf_files.header import read_header
from genobit.io.vcf_files.index import find_index
from genobit.io.vcf_files.labels import arrays_of, variables_of
from genobit.io.vcf_files.region import Everything, InRegion
from genobit.io.vcf_files.scan import Span, scan

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from genobit.io.vcf_files.fields import Field
    from genobit.io.vcf_files.header import Header
    from genobit.io.vcf_files.scan import Found, Shape
    from genobit.io.vcf_files.source import Source

_READER = 5
"""Part of the cache key: increase it when what is read changes."""


@dataclass(frozen=True)
class Request:
    """A file, and what of it to read."""

    source: Source
    header: Header
    chosen: NDArray[np.intp] | None
    """Places of the samples, or None for all."""
    select: Everything | InRegion
    fields: list[Field]

    @classmethod
    def of(
        cls,
        source: Source,
        samples: Sequence[str] | None,
        region: str | None,
        fields: Sequence[str],
    ) -> Request:
        """Read the header, and the index if a region needs it."""
        header = read_header(source)
        asked = named_fields(fields, header, source.name)
        chosen = None if samples is None else _places(samples, header.samples, source.name)
        if region is None:
            return cls(source, header, chosen, Everything(), asked)
        index = find_index(source, header) if header.kind == BGZF else None
        return cls(source, header, chosen, InRegion(region, header.contigs, index), asked)

    @property
    def names(self) -> list[str]:
        """The names of the chosen samples."""
        names = np.array(self.header.samples, object)
        return (names if self.chosen is None else names[self.chosen]).tolist()

    @property
    def region(self) -> str | None:
        """The region as text, or None."""
        if not isinstance(self.select, InRegion):
            return None
        return str(self.select.region or self.select.text.strip())

    def key(self) -> str:
        """Return a file name that depends on all that decides the content."""
        index = self.select.index if isinstance(self.select, InRegion) else None
        key = (
            self.source.name,
            self.source.stamp,
            self.region,
            None if self.chosen is None else self.chosen.tolist(),
            None if index is None else index.source.stamp,
            _READER,
        )
        stem = self.source.name.rpartition("/")[2].split(".")[0] or "vcf"
        return f"{stem}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"

    def scan(self, sink: Any) -> tuple[Found, Any]:
        """Pass over the file; raise ValueError if nothing is found."""
        whole = Span(skip=self.header.size)
        spans = self.select.spans(whole)
        found, target = scan(self.source, self.header, spans, self.chosen, self.select.keep, sink)
        if not found.places:
            if isinstance(self.select, InRegion):
                raise self.select.nothing(self.source.name)
            raise ValueError(f"{self.source.name} has no records.")
        if not found.called:
            msg = (
                f"{self.source.name} has no genotypes: no record that was read has GT in its "
                "FORMAT column. Call genotypes first, or open the file that has them."
            )
            raise ValueError(msg)
        return found, target

    def in_memory(self) -> Request:
        """Return the same of a file whose blocks can be read alone; others are inflated."""
        if self.header.kind != STREAM:
            return self
        held = held_in_memory(self.source)
        return replace(self, source=held, header=replace(self.header, kind=PLAIN))


def open_cached(
    request: Request, chunks: int | None, cache_dir: str | os.PathLike[str] | None
) -> xr.Dataset:
    """Open a file through its cache, which is written if it is missing."""

    def build(folder: Path) -> None:
        folder.mkdir()
        with new_store(folder / CALLS) as store:
            writers: list[CallWriter] = []

            def sink(shape: Shape) -> CallWriter:
                for writer in writers:
                    writer.close()
                writers.append(CallWriter(store, shape))
                return writers[-1]

            try:
                found, writer = request.scan(sink)
                arrays, names = arrays_of(found, filter_descriptions(request.header.lines))
                writer.finish(
                    np.concatenate([part.contigs for part in found.labels]), found.haploid
                )
            finally:
                for writer in writers:
                    writer.close()
        write_labels(folder, arrays, names)

    folder = cached_store("vcf", request.key(), build, cache_dir)
    arrays, names = read_labels(folder)
    group = xr.open_zarr(folder / CALLS, chunks=None, consolidated=False, mask_and_scale=False)
    calls, phased = group["call_genotype"].variable, group["call_genotype_phased"].variable
    rows = chunks or _rows_of_chunk(calls)
    sizes = {"variants": rows}
    if request.fields and request.header.kind == STREAM:
        # Places in the text of one stream are places in the inflated text.
        request = request.in_memory()
        n = request.source.size
        arrays["blocks"] = np.array([[0], [n], [n], [0]])
    return _dataset(
        request,
        lazy("call_genotype", calls, sizes, folder / CALLS),
        lazy("call_genotype_phased", phased, sizes, folder / CALLS),
        arrays,
        names,
    )


def open_uncached(request: Request, chunks: int | None) -> xr.Dataset:
    """Open a file without writing anything: chunks inflate their own blocks when computed."""
    request = request.in_memory()
    found, _ = request.scan(lambda _shape: None)
    arrays, names = arrays_of(found, filter_descriptions(request.header.lines))
    shape = found.shape
    n = arrays["variant_position"].size
    contigs = np.concatenate([part.contigs for part in found.labels])
    sizes = row_chunks(n, "auto" if chunks is None else chunks, chunk_rows(shape))
    reader = CallReader(request.source, request.header, shape, found.haploid)
    decoded = reader.decoded(arrays["blocks"], arrays["places"], contigs, sizes)
    calls, phased = alleles_of(decoded, shape), phases_of(decoded, shape)
    return _dataset(request, calls, phased, arrays, names)


def _dataset(
    request: Request,
    calls: Any,
    phased: Any,
    arrays: dict[str, NDArray[Any]],
    names: dict[str, list[str]],
) -> xr.Dataset:
    labels = variables_of(arrays, names)
    fields = field_variables(
        request.fields,
        request.source,
        request.header,
        request.chosen,
        arrays["blocks"],
        arrays["places"],
        int(arrays["counts"].max(initial=1)),
        calls.chunks[0],
    )
    variables = {
        "call_genotype": (
            ("variants", "samples", "ploidy"),
            calls,
            {"counted_allele": COUNTED_ALLELE},
        ),
        "call_genotype_phased": (("variants", "samples"), phased),
        **dict(sorted(labels.items(), key=lambda item: _ORDER.index(item[0]))),
        "sample_id": ("samples", np.array(request.names, object)),
        **fields,
    }
    attrs = {"source": request.source.name}
    if request.region is not None:
        attrs["region"] = request.region
    return xr.Dataset(variables, attrs=attrs)


_ORDER = (
    "variant_allele",
    "variant_contig",
    "variant_filter",
    "variant_id",
    "variant_position",
    "variant_quality",
    "contig_id",
    "filter_id",
    "filter_description",
)


def _rows_of_chunk(calls: xr.Variable) -> int:
    """Return about 64 MB of calls, in whole chunks of the store."""
    stored = calls.encoding["preferred_chunks"]["variants"]
    row = max(calls.dtype.itemsize * calls.shape[1] * calls.shape[2], 1)
    return int(stored) * max(64 * 2**20 // (row * int(stored)), 1)


def _places(samples: Sequence[str], known: tuple[str, ...], name: str) -> NDArray[np.intp]:
    """Return the places of samples in the file; ValueError for one that is not there."""
    wanted = [samples] if isinstance(samples, str) else list(samples)
    place = {sample: k for k, sample in enumerate(known)}
    for k, sample in enumerate(wanted):
        if sample not in place:
            msg = (
                f"samples[{k}] is {sample!r}, which {name} lacks{did_you_mean(str(sample), known)}"
            )
            raise ValueError(msg)
        if sample in wanted[:k]:
            msg = f"samples[{k}] is {sample!r} again: name each sample once."
            raise ValueError(msg)
    if not wanted:
        msg = "samples is empty: name at least one sample, or leave it out for all."
        raise ValueError(msg)
    return np.array([place[sample] for sample in wanted], np.intp)
