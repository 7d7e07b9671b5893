"""Pack calls or the rows of a file into planes, one task per chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import getitem
from typing import TYPE_CHECKING, Any, Protocol

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import CALLED, Layout, words_for
from genobit.engine.options import get_options
from genobit.engine.schedule.dask_private import Task, TaskRef
from genobit.engine.schedule.graphs import Grid, full, named_layer
from genobit.engine.schedule.tiles import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DaskPlanes = dict[str, da.Array]
"""Plane name -> uint64 (rows, words)."""


class PlaneFile(Protocol):
    """A file of dosages that packs its own variants. Tasks carry it, so it can be pickled."""

    @property
    def n_variants(self) -> int:
        """Number of variants."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    def part(self, start: int, stop: int) -> PlaneFile:
        """Return the file, or what of it a task of some variants needs."""

    def planes(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Return carrier, hom_alt and called of some variants: (3, stop - start, words)."""


_CHUNK_BYTES = 2**28
_TOGETHER_BYTES = 2**20
"""Bytes of planes that a task reads at least: chunks of few samples share a task."""


def row_chunk(bytes_per_row: int, wanted: int | None = None) -> int:
    """Return the variants per chunk, in whole words: ``wanted``, or fewer to fit 256 MiB.

    By default the option ``chunk_rows`` sets ``wanted``.
    """
    fitting = _CHUNK_BYTES // max(1, bytes_per_row)
    return max(64, min(wanted or get_options().edge, fitting) // 64 * 64)


def _stacked(
    function: Any,
    layout: Layout,
    planes: int,
    calls: da.Array,
    indices: str,
    rows: tuple[NDArray[Any], ...],
    samples: int,
    **keywords: Any,
) -> da.Array:
    """Return an array (planes, rows, words) with one task per chunk of variants."""
    along = tuple(da.from_array(row, chunks=(calls.chunks[0],)) for row in rows)
    by_variants = layout.rows == "variants"
    arguments = [x for row in along for x in (row, "v")]
    return da.blockwise(
        function,
        "pvw" if by_variants else "psv",
        calls,
        indices,
        *arguments,
        new_axes={"p": planes, **({"w": layout.words} if by_variants else {"s": samples})},
        adjust_chunks=None if by_variants else {"v": words_for},
        dtype=np.uint64,
        meta=np.empty((0, 0, 0), np.uint64),
        align_arrays=False,
        layout=layout,
        **keywords,
    )


def named(stacked: da.Array, names: tuple[str, ...]) -> DaskPlanes:
    """Return the planes by name: views of the stack if all are named, else copies.

    A copy lets go of the planes that are not named.
    """
    if len(names) < stacked.shape[0]:
        return {name: stacked[k] for k, name in enumerate(names)}
    return _planes(stacked, names, stacked.chunks[1], 1)


def _planes(
    stacked: da.Array, names: tuple[str, ...], sizes: tuple[int, ...], together: int
) -> DaskPlanes:
    """Return planes in chunks of ``sizes``, so many ``together`` in a block of the stack."""
    return {name: _plane(stacked, k, sizes, together) for k, name in enumerate(names)}


def _plane(stacked: da.Array, k: int, sizes: tuple[int, ...], together: int) -> da.Array:
    """Return plane k of a stack (planes, rows, words), as views of its blocks."""
    rows = sizes[0] if together > 1 else 0
    view = partial(_view, stack=stacked.name, k=k, together=together, rows=rows)
    columns = full(len(sizes), stacked.numblocks[2])
    layer = _Views([stacked], "genobit-plane", columns, view)
    return da.Array(layer.graph(), layer.name, (sizes, stacked.chunks[2]), stacked.dtype)


@dataclass(eq=False)
class _Views(Grid):
    """Views of the blocks of a stack."""

    costly = False


def _view(
    layer: Grid, i: int, j: int, *, stack: str, k: int, together: int, rows: int
) -> tuple[Any, ...]:
    del layer
    block, part = divmod(i, together)
    ref = TaskRef((stack, 0, block, j))
    if together == 1:
        return getitem, ref, k
    return getitem, ref, (k, slice(part * rows, part * rows + rows))


def stack_of(planes: Sequence[da.Array]) -> da.Array | None:
    """Return the stack (planes, rows, words) that exactly these planes are views of, or None."""
    layers = [plane.dask.layers[plane.name] for plane in planes]
    makes = [layer.make for layer in layers if isinstance(layer, Grid)]
    keywords = [make.keywords for make in makes if isinstance(make, partial) and make.func is _view]
    stacks = {found["stack"] for found in keywords}
    alone = all(found["together"] == 1 for found in keywords)
    in_order = [found["k"] for found in keywords] == list(range(len(planes)))
    if not (in_order and alone and len(stacks) == 1):
        return None
    (name,) = stacks
    return da.Array(planes[0].dask, name, ((len(planes),), *planes[0].chunks), planes[0].dtype)


def joined_planes(parts: Sequence[DaskPlanes]) -> DaskPlanes:
    """Return the planes of several files, their rows below each other."""
    stacks = [stack_of(list(planes.values())) for planes in parts]
    whole = [stack for stack in stacks if stack is not None]
    if len(whole) == len(parts):
        return named(da.concatenate(whole, axis=1), tuple(parts[0]))
    return {name: da.concatenate([each[name] for each in parts]) for name in parts[0]}


def pack_calls(
    calls: da.Array,
    layout: Layout,
    numbers: NDArray[np.int64],
    alleles: NDArray[np.int8],
    limits: NDArray[np.int8],
    *,
    chunk: int | None = None,
    refuse_missing: bool,
    haploid: bool = False,
) -> DaskPlanes:
    """Pack calls (variants, samples, ploidy) into lazy planes of ``layout``.

    alleles, limits: (variants,) int8; numbers: (variants,) int64.

    Row i counts allele ``alleles[i]`` and refuses alleles above ``limits[i]``. Messages name it
    variant ``numbers[i]``. With ``refuse_missing`` the plane ``called`` is omitted and a missing
    call is an error. With ``haploid`` the call (a, -2) is the dosage of (a, a), else an error.
    """
    calls = calls.rechunk({0: row_chunk(calls.shape[1] * calls.shape[2], chunk)})
    names = (*layout.planes, CALLED)
    # Index s is the samples of a transposed plane, so the samples of the calls are c.
    stacked = _stacked(
        _pack_chunk,
        layout,
        len(names),
        calls,
        "vch",
        (alleles, limits, numbers),
        samples=calls.shape[1],
        refuse_missing=refuse_missing,
        haploid=haploid,
    )
    return named(stacked, names[:-1] if refuse_missing else names)


def _pack_chunk(
    blocks: Any,
    alleles: NDArray[np.int8],
    limits: NDArray[np.int8],
    positions: NDArray[np.int64],
    *,
    layout: Layout,
    refuse_missing: bool,
    haploid: bool,
) -> NDArray[np.uint64]:
    from genobit.engine.bits import pack

    calls = joined(blocks)
    rows, samples, ploidy = calls.shape
    if rows != alleles.size:
        # Kernels do not check sizes.
        msg = (
            f"call_genotype has {rows} rows in the chunk from variants={positions[0]}, whose chunk "
            f"sizes say {alleles.size}: what computes it gives other sizes than it declares"
        )
        raise ValueError(msg)
    narrow = _as_int8(calls, positions).reshape(rows, samples * ploidy)
    dosage = layout.kind == "dosage"
    bits = samples if dosage else samples * ploidy
    planes = np.empty((3 if dosage else 2, rows, words_for(bits)), np.uint64)
    kernel = pack.pack_dosages if dosage else pack.pack_haplotypes
    rule, i, k = kernel(narrow, alleles, limits, refuse_missing, planes)
    if rule == pack.PLOIDY:
        # A single "." in a VCF gives the call -1, -2. It has no allele, so treat it as missing.
        pairs = narrow.reshape(rows, samples, ploidy)
        dots = (pairs[:, :, 0] == -1) & (pairs[:, :, 1] == -2)
        pairs = np.where(dots[:, :, None], np.int8(-1), pairs)
        if haploid:
            pairs = np.where(pairs == -2, pairs[:, :, :1], pairs)
        narrow = pairs.reshape(narrow.shape)
        rule, i, k = kernel(narrow, alleles, limits, refuse_missing, planes)
    if rule != pack.FINE:
        if narrow[i, k - k % ploidy] == -2:
            rule = pack.VALUE
        raise ValueError(_complaint(rule, narrow[i, k], positions[i], k // ploidy, limits[i]))
    return _oriented(planes, layout, bits)


def _as_int8(calls: NDArray[Any], positions: NDArray[np.int64]) -> NDArray[np.int8]:
    if calls.dtype == np.int8:
        return np.ascontiguousarray(calls)
    wrong = np.argwhere((calls < -128) | (calls > 127))
    if wrong.size:
        i, s, h = wrong[0]
        msg = (
            f"call_genotype is {calls[i, s, h]} at variants={positions[i]}, samples={s}: "
            "an allele index is at most 127"
        )
        raise ValueError(msg)
    return np.ascontiguousarray(calls.astype(np.int8))


EXPECTED_CALL = (
    "expected an allele index or -1 (missing); -2 fills a call after its first allele only. To "
    "make calls of -2 alone missing: ds.assign(call_genotype=ds.call_genotype.where("
    "(ds.call_genotype != -2).any('ploidy'), -1))"
)
"""Values that a call may have, for messages."""


def _complaint(rule: int, call: int, variant: int, sample: int, limit: int) -> str:
    from genobit.engine.bits import pack

    place = f"call_genotype is {call} at variants={variant}, samples={sample}"
    return {
        pack.ALLELE: (
            f"{place}: expected alleles 0..{limit}; name all alleles of that variant in "
            "variant_allele, or make the call missing (-1)"
        ),
        pack.VALUE: f"{place}: {EXPECTED_CALL}",
        pack.PLOIDY: (
            f"{place}: this sample has lower ploidy here, which has no diploid dosage; select "
            "diploid samples or variants, or pack with phased=True to analyse haplotypes (to_plink "
            "would write their haploid calls as missing). To count a haploid call twice, as PLINK "
            "does: ds.assign(call_genotype=ds.call_genotype.where(ds.call_genotype != -2, "
            "ds.call_genotype.isel(ploidy=0)))"
        ),
        pack.MISSING: f"{place} (missing), but the planes allow no missing call: "
        "pack with missing='keep'",
    }[rule]


def _oriented(planes: NDArray[np.uint64], layout: Layout, bits: int) -> NDArray[np.uint64]:
    if layout.rows == "variants":
        return planes
    from genobit.engine.bits.words import transpose_bits

    return np.stack([transpose_bits(plane, bits) for plane in planes])


def require_phased(calls: da.Array, phased: Any | None, numbers: NDArray[np.int64]) -> da.Array:
    """Return the calls; an unphased heterozygous call is an error when its chunk is computed.

    calls: (variants, samples, ploidy); phased: (variants, samples), None if no call is phased;
    numbers: (variants,), the number of each variant in the message.
    """
    if phased is None:
        phased = da.zeros(calls.shape[:2], dtype=bool, chunks=calls.chunks[:2])
    positions = [
        da.from_array(along, chunks=(calls.chunks[axis],))
        for axis, along in enumerate((numbers, np.arange(calls.shape[1])))
    ]
    return da.blockwise(
        _check_phase,
        "vch",
        calls,
        "vch",
        da.asarray(phased).rechunk(calls.chunks[:2]),
        "vc",
        positions[0],
        "v",
        positions[1],
        "c",
        dtype=calls.dtype,
        meta=np.empty((0, 0, 0), calls.dtype),
    )


def _check_phase(
    calls: NDArray[Any],
    phased: NDArray[np.bool_],
    variants: NDArray[np.int64],
    samples: NDArray[np.int64],
) -> NDArray[Any]:
    unphased = ~phased
    # A chunk of another size than it declares is refused when it is packed.
    if unphased.any() and len(calls) == len(variants):
        # Phase matters if two alleles of a call differ, and a missing allele counts as different.
        # -2 only pads a call of lower ploidy.
        mixed = np.zeros(calls.shape[:2], bool)
        # `any` along so short an axis takes ten times as long.
        for k in range(1, calls.shape[2]):
            mixed |= (calls[:, :, k] != calls[:, :, 0]) & (calls[:, :, k] != -2)
        mixed &= unphased
        if mixed.any():
            i, s = np.argwhere(mixed)[0]
            msg = (
                f"the call {'/'.join(map(str, calls[i, s]))} at variants={variants[i]}, "
                f"samples={samples[s]} has different alleles and is not phased: pack dosages "
                "(phased=False), or phase the genotypes first. If the order of the alleles is the "
                "phase in all calls: "
                "ds.assign(call_genotype_phased=ds.call_genotype.notnull().all('ploidy'))"
            )
            raise ValueError(msg)
    return calls


def pack_file(file: PlaneFile, mark: Any, layout: Layout, rows: int) -> DaskPlanes:
    """Return the planes of a file, read and packed ``rows`` variants at a time.

    ``mark`` changes if the file changes.
    """
    starts = range(0, file.n_variants, rows)
    sizes = tuple(min(rows, file.n_variants - start) for start in starts) or (0,)
    by_variants, names = layout.rows == "variants", (*layout.planes, CALLED)
    row_bytes = 8 * len(names) * words_for(file.n_samples)
    together = max(1, _TOGETHER_BYTES // (row_bytes * rows)) if by_variants else 1
    read = tuple(sum(sizes[k : k + together]) for k in range(0, len(sizes), together))
    name, graph = named_layer("genobit-packed", _file_tasks, file, layout, read, mark)
    along = (file.n_samples,), tuple(map(words_for, read))
    chunks = (read, (layout.words,)) if by_variants else along
    stacked = da.Array(graph, name, ((len(names),), *chunks), np.uint64)
    return _planes(stacked, names, sizes if by_variants else stacked.chunks[1], together)


def _file_tasks(
    name: str, file: PlaneFile, layout: Layout, sizes: tuple[int, ...], mark: Any
) -> dict[Any, Any]:
    del mark
    ends = np.cumsum([0, *sizes]).tolist()
    by_variants = layout.rows == "variants"
    keys = [(name, 0, k, 0) if by_variants else (name, 0, 0, k) for k in range(len(sizes))]
    return {
        key: Task(key, _file_chunk, file.part(start, stop), start, stop, layout)
        for key, start, stop in zip(keys, ends[:-1], ends[1:], strict=True)
    }


def _file_chunk(file: PlaneFile, start: int, stop: int, layout: Layout) -> NDArray[np.uint64]:
    return _oriented(file.planes(start, stop), layout, file.n_samples)
