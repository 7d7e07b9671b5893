"""Open a VCF or BCF as a lazy Dataset, through a cache or without one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import xarray as xr

from genobit.engine.options import get_options
from genobit.engine.spelling import did_you_mean
from genobit.io._cache import cached_store
from genobit.io._chunks import row_chunks
from genobit.io._filters import filter_descriptions
from genobit.io._zarr import COUNTED_ALLELE
from genobit.io.vcf_files.blocks import BGZF, PLAIN, STREAM, held_in_memory
from genobit.io.vcf_files.cache import CALLS, CallWriter, read_labels, write_labels
from genobit.io.vcf_files.calls import CallFile, CallReader, Located
from genobit.io.vcf_files.fields import field_readers, named_fields
from genobit.io.vcf_files.header import read_header
from genobit.io.vcf_files.index import find_index
from genobit.io.vcf_files.labels import arrays_of, variables_of
from genobit.io.vcf_files.parts import Folder, Memory
from genobit.io.vcf_files.region import Everything, InRegion
from genobit.io.vcf_files.scan import Span, scan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from genobit.io.vcf_files.fields import Field
    from genobit.io.vcf_files.header import Header
    from genobit.io.vcf_files.scan import Found, Shape
    from genobit.io.vcf_files.source import Source

_READER = 8
"""Part of the cache key: increase it when what is read changes."""
_CHUNK_BYTES = 64 * 2**20
_HELD = 16
"""Part of the eager limit that calls may take without a cache."""


Store = TypeVar("Store", Folder, Memory)


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
        what = f"the inflated text of {self.source.name} (without a cache, run bgzip on it)"
        held = held_in_memory(self.source, what)
        return replace(self, source=held, header=replace(self.header, kind=PLAIN))


def open_cached(
    request: Request, chunks: int | None, cache_dir: str | os.PathLike[str] | None
) -> xr.Dataset:
    """Open a file through its cache, which is written if it is missing."""

    def build(folder: Path) -> None:
        (folder / CALLS).mkdir(parents=True)
        found, _, facts = _read(request, lambda: Folder(folder / CALLS))
        arrays, names = arrays_of(found, filter_descriptions(request.header.lines))
        write_labels(folder, arrays, {**names, CALLS: facts})

    folder = cached_store("vcf", request.key(), build, cache_dir)
    arrays, names = read_labels(folder)
    facts = _Facts(*names.pop(CALLS))
    if request.fields and request.header.kind == STREAM:
        # Places in the text of one stream are places in the inflated text.
        request = request.in_memory()
        n = request.source.size
        arrays["blocks"] = np.array([[0], [n], [n], [0]])
    return _dataset(request, Folder(folder / CALLS), facts, arrays, names, chunks)


def open_uncached(request: Request, chunks: int | None) -> xr.Dataset:
    """Open a file without writing anything.

    Calls stay in memory as far as they fit. Chunks of others inflate their own blocks.
    """
    request = request.in_memory()
    limit = get_options().eager_limit // _HELD
    found, memory, facts = _read(request, lambda: Memory(limit))
    arrays, names = arrays_of(found, filter_descriptions(request.header.lines))
    contigs = np.concatenate([part.contigs for part in found.labels])
    sizes = row_chunks(contigs.size, facts.rows, facts.rows)
    parts = Located(request.source, request.header).parts(arrays["blocks"], arrays["places"], sizes)
    pieces = {
        k: (0, *part, contigs[part[2] : part[2] + n].copy())
        for k, (part, n) in enumerate(zip(parts, sizes, strict=True))
    }
    reader = CallReader(request.source, request.header, found.shape, found.haploid, memory, pieces)
    return _dataset(request, reader, facts, arrays, names, chunks)


class _Facts(NamedTuple):
    """Shape and kind of the calls of a file."""

    ploidy: int
    dtype: str
    rows: int
    """Records of a part."""
    plain: bool


def _read(request: Request, store: Callable[[], Store]) -> tuple[Found, Store, _Facts]:
    """Read a file once, and put its calls into a store, which is made anew for other shapes."""
    writers: list[CallWriter] = []
    stores: list[Store] = []

    def sink(shape: Shape) -> CallWriter:
        for writer in writers:
            writer.close()
        stores.append(store())
        writers.append(CallWriter(stores[-1], shape))
        return writers[-1]

    try:
        found, writer = request.scan(sink)
        contigs = np.concatenate([part.contigs for part in found.labels])
        plain = writer.finish(contigs, found.haploid)
    finally:
        for writer in writers:
            writer.close()
    shape = found.shape
    return found, stores[-1], _Facts(shape.ploidy, shape.dtype.str, writer.rows, plain)


def _dataset(
    request: Request,
    store: Folder | CallReader,
    facts: _Facts,
    arrays: dict[str, NDArray[Any]],
    names: dict[str, list[str]],
    chunks: int | None,
) -> xr.Dataset:
    dtype = np.dtype(facts.dtype)
    shape = arrays["variant_position"].size, len(request.names), facts.ploidy
    file = CallFile(store, shape, dtype, facts.rows, request.key(), plain=facts.plain)
    row = shape[1] * shape[2] * dtype.itemsize
    rows = facts.rows * max(_CHUNK_BYTES // (row * facts.rows), 1)
    located, where = Located(request.source, request.header), (arrays["blocks"], arrays["places"])
    readers = field_readers(
        request.fields,
        located,
        request.chosen,
        (int(arrays["counts"].max(initial=1)), facts.ploidy),
        located.parts(*where, row_chunks(shape[0], facts.rows, rows)) if request.fields else [],
    )
    rows = min([rows, *(reader.rows for reader in readers)])
    sizes = row_chunks(shape[0], "auto" if chunks is None else chunks, rows)
    labels = variables_of(arrays, names)
    fields = {reader.field.name: reader.variable(*where, sizes) for reader in readers}
    variables = {
        "call_genotype": (
            ("variants", "samples", "ploidy"),
            file.array("calls", sizes),
            {"counted_allele": COUNTED_ALLELE},
        ),
        "call_genotype_phased": (("variants", "samples"), file.array("phased", sizes)),
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


def _places(samples: Sequence[str], known: tuple[str, ...], name: str) -> NDArray[np.intp]:
    """Return the places of samples in the file; ValueError for one that is not there."""
    wanted = [samples] if isinstance(samples, str) else list(samples)
    place = {sample: k for k, sample in enumerate(known)}
    for k, sample in enumerate(wanted):
        if sample not in place:
            meant = did_you_mean(str(sample), known)
            if meant == ".":
                meant = f"; its first samples are {', '.join(map(repr, known[:3]))}."
            raise ValueError(f"samples[{k}] is {sample!r}, which {name} lacks{meant}")
        if sample in wanted[:k]:
            msg = f"samples[{k}] is {sample!r} again: name each sample once."
            raise ValueError(msg)
    if not wanted:
        msg = "samples is empty: name at least one sample, or leave it out for all."
        raise ValueError(msg)
    return np.array([place[sample] for sample in wanted], np.intp)
