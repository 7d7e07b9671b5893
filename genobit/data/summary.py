"""Summarise a Dataset of genotypes in numbers, from a sample of variants if it is lazy.

`genobit.data.summary_page` puts it in words; `summary_html` and `summary_text` display these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import labels, model
from genobit.engine.bits.layout import CALLED, PREFIX, Layout, unpack_bits, words_for

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

BINS = 25
"""Bins of minor allele frequencies, from 0 to 1/2."""
SMALL = 2**26
"""Largest lazy variable along variants or samples that is computed for a summary, in bytes."""


@dataclass(frozen=True)
class Genotypes:
    """Summary of the genotypes of a Dataset, packed or not."""

    sizes: dict[str, int]
    packing: str
    """Kind and orientation of the planes, or "" if the Dataset is not packed."""
    contigs: tuple[tuple[str, int], ...] | None
    """Name and number of variants of each contig; None if unknown without computing."""
    bytes_packed: int
    """Bytes of the planes, or of the planes that ``pack()`` would make of dosages."""
    bytes_unpacked: int
    """Bytes of the calls as int8."""
    looked_at: int
    """Number of variants that the following fields describe; 0 if none was read."""
    missing: float
    """Share of missing calls."""
    monomorphic: float
    """Share of monomorphic variants."""
    spectrum: NDArray[np.int64]
    """Number of variants in each of `BINS` bins of minor allele frequency."""


def genotypes(ds: xr.Dataset, *, look: bool = True) -> Genotypes | None:
    """Return a summary of the genotypes, or None if the Dataset has none.

    Only a few chunks of lazy genotypes are computed (`genobit.engine.schedule.peek`), and no
    genotypes are read unless ``look``.
    """
    layout = model.layout_of(ds)
    if layout is None and model.CALL_GENOTYPE not in ds:
        return None
    if layout is None:
        calls = ds[model.CALL_GENOTYPE]
        variants, samples = calls.sizes[model.VARIANTS], calls.sizes[model.SAMPLES]
        unpacked = calls.size
        packed = 2 * 8 * words_for(samples) * variants
        counts = _counts_of_calls(calls) if look else None
    else:
        planes = [ds[PREFIX + name] for name in _planes(ds, layout)]
        variants, samples = ds.sizes[model.VARIANTS], ds.sizes[model.SAMPLES]
        packed = sum(plane.nbytes for plane in planes)
        unpacked = variants * samples * (2 if layout.kind == "dosage" else layout.ploidy)
        counts = _counts_of_planes(planes, layout, ds.sizes) if look else None
    missing, monomorphic, spectrum = _reduced(counts)
    return Genotypes(
        {"variants": variants, "samples": samples},
        "" if layout is None else f"{layout.kind} planes, rows are {layout.rows}",
        _contigs(ds, variants),
        packed,
        unpacked,
        0 if counts is None else len(counts),
        missing,
        monomorphic,
        spectrum,
    )


def _planes(ds: xr.Dataset, layout: Layout) -> list[str]:
    return [*layout.planes, *([CALLED] if PREFIX + CALLED in ds else [])]


def _reduced(counts: NDArray[np.int64] | None) -> tuple[float, float, NDArray[np.int64]]:
    """Return the shares of missing calls and monomorphic variants, and the spectrum.

    counts: (variants, [called, alternative, all]).
    """
    if counts is None:
        return np.nan, np.nan, np.zeros(BINS, np.int64)
    called, alternative, possible = counts.T
    with np.errstate(invalid="ignore"):
        frequency = alternative / called
    minor = np.minimum(frequency, 1 - frequency)
    known = minor[~np.isnan(minor)]
    spectrum = np.histogram(known, BINS, (0.0, 0.5))[0]
    share = float((known == 0).mean()) if known.size else np.nan
    return 1 - float(called.sum() / max(possible.sum(), 1)), share, spectrum


def _counts_of_calls(calls: xr.DataArray) -> NDArray[np.int64] | None:
    from genobit.engine.schedule.peek import peek

    found = peek([calls.transpose(model.VARIANTS, model.SAMPLES, ...).data], _count_calls)
    return None if found is None else np.concatenate(found.seen)


def _count_calls(calls: NDArray[np.int8]) -> NDArray[np.int64]:
    flat = calls.reshape(len(calls), -1)
    called, alternative = (np.count_nonzero(flat >= least, axis=1) for least in (0, 1))
    return np.stack([called, alternative, np.full(len(flat), flat.shape[1])], axis=1)


def _counts_of_planes(
    planes: list[xr.DataArray], layout: Layout, sizes: Any
) -> NDArray[np.int64] | None:
    from genobit.engine.schedule.peek import peek

    values = len(layout.planes)
    if layout.rows == model.VARIANTS:
        count = partial(_count_rows, values=values, bits=layout.bits)
        found = peek([plane.data for plane in planes], count)
        return None if found is None else np.concatenate(found.seen)
    # Variants run along the bits: each chunk has some samples of all variants.
    count = partial(_count_bits, values=values, variants=sizes[model.VARIANTS])
    found = peek([plane.data for plane in planes], count, SMALL // 8)
    return None if found is None else np.asarray(np.sum(found.seen, axis=0))


def _count_rows(*planes: NDArray[np.uint64], values: int, bits: int) -> NDArray[np.int64]:
    counts = [np.bitwise_count(plane).sum(axis=1, dtype=np.int64) for plane in planes]
    called = counts[values] if len(counts) > values else np.full(len(counts[0]), bits)
    alternative = np.sum(counts[:values], axis=0)
    whole = np.full(len(called), bits * values)
    return np.stack([called * values, alternative, whole], axis=1)


def _count_bits(*planes: NDArray[np.uint64], values: int, variants: int) -> NDArray[np.int64]:
    counts = [unpack_bits(plane, variants).sum(axis=0, dtype=np.int64) for plane in planes]
    samples = len(planes[0])
    called = counts[values] if len(counts) > values else np.full(variants, samples)
    whole = np.full(variants, samples * values)
    return np.stack([called * values, np.sum(counts[:values], axis=0), whole], axis=1)


def _contigs(ds: xr.Dataset, variants: int) -> tuple[tuple[str, int], ...] | None:
    contig = ds.variables.get(model.VARIANT_CONTIG)
    if contig is None or not variants or contig.nbytes > SMALL:
        return None
    try:
        found = labels.contigs(ds)
    except ValueError:
        return None  # A summary must not fail; the methods raise the error.
    if found is None:
        return None
    counts = np.bincount(found.numbers, minlength=found.names.size)
    return tuple((str(found.names[k]), int(counts[k])) for k in np.flatnonzero(counts))
