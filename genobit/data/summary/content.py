"""Summarise a Dataset of genotypes in numbers, from a sample of variants if it is lazy.

`html` and `text` display them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import availability, layouts, model
from genobit.data.contigs import contigs_in
from genobit.data.joining import JOINED
from genobit.data.labels import text
from genobit.data.packed import plane_names
from genobit.engine.bits.layout import PREFIX, Layout, unpack_bits, words_for
from genobit.engine.options import in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.data.availability import Applicable

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

    Only a few chunks of lazy genotypes are computed (`genobit.data.summary.peek`), and no
    genotypes are read unless ``look``.
    """
    layout = layouts.layout_of(ds)
    if layout is None and model.CALL_GENOTYPE not in ds:
        return None
    if layout is None:
        calls = ds[model.CALL_GENOTYPE]
        variants, samples = calls.sizes[model.VARIANTS], calls.sizes[model.SAMPLES]
        unpacked = calls.size
        counts = _counts_of_calls(calls) if look else None
        # Missing calls need a third plane.
        gaps = counts is not None and bool((counts[:, 0] < counts[:, 2]).any())
        packed = (2 + gaps) * 8 * words_for(samples) * variants
    else:
        planes = [ds[PREFIX + name] for name in plane_names(ds, layout)]
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
    from genobit.data.summary.peek import peek

    found = peek([calls.transpose(model.VARIANTS, model.SAMPLES, ...).data], _count_calls)
    return None if found is None else np.concatenate(found.seen)


def _count_calls(calls: NDArray[np.int8]) -> NDArray[np.int64]:
    flat = calls.reshape(len(calls), -1)
    called, alternative = (np.count_nonzero(flat >= least, axis=1) for least in (0, 1))
    return np.stack([called, alternative, np.full(len(flat), flat.shape[1])], axis=1)


def _counts_of_planes(
    planes: list[xr.DataArray], layout: Layout, sizes: Any
) -> NDArray[np.int64] | None:
    from genobit.data.summary.peek import peek

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
        found = contigs_in(ds)
    except ValueError:
        return None  # A summary must not fail; the methods raise the error.
    if found is None:
        return None
    counts = np.bincount(found.numbers)
    return tuple((str(found.names[k]), int(counts[k])) for k in found.used())


CONTIGS = 8
"""Most contigs that are named."""
MOST = 2**26
"""Largest array in memory whose values are read, in bytes."""


@dataclass(frozen=True)
class Page:
    """Content of a summary."""

    title: str
    facts: dict[str, str] = field(default_factory=dict)
    analyses: list[Applicable] = field(default_factory=list)
    spectrum: NDArray[np.int64] | None = None
    """Number of variants in each bin of minor allele frequency; None without genotypes."""
    trouble: str = ""
    """Reason why the data cannot be used."""


def of_dataset(ds: xr.Dataset, *, look: bool = True) -> Page:
    """Return the summary of a Dataset of genotypes, packed or not; ``look`` reads some of them."""
    try:
        found, analyses = genotypes(ds, look=look), availability.of_dataset(ds)
    except ValueError as error:
        return Page("genotypes that cannot be used", trouble=str(error))
    if found is None:
        names = ", ".join(sorted(map(str, ds.data_vars))[:6]) or "no variables"
        trouble = f"no variable call_genotype, and not packed; there are: {names}"
        return Page("no genotypes", trouble=trouble)
    title = " × ".join(number(found.sizes[f"{kind}s"], kind) for kind in ("variant", "sample"))
    if found.packing:
        title += f", packed: {found.packing}"
    facts = _facts(found, look=look)
    if JOINED in ds.attrs:
        facts["joined"] = str(ds.attrs[JOINED])
    return Page(title, facts, analyses, found.spectrum)


def of_dataarray(da: xr.DataArray, *, look: bool = True) -> Page:
    """Return the summary of measurements, binary rows or an alignment; ``look`` reads values."""
    analyses = availability.of_dataarray(da)
    sizes = " × ".join(f"{size:,} {dim}" for dim, size in da.sizes.items()) or "one value"
    facts = {"values": f"{da.dtype}, {in_units(da.nbytes)}"}
    if look:
        facts |= _missing(da)
    return Page(sizes, facts, analyses)


def page_of(data: xr.Dataset | xr.DataArray, *, look: bool = True) -> Page:
    """Return the summary of some data; ``look`` reads some of them."""
    if isinstance(data, xr.Dataset):
        return of_dataset(data, look=look)
    return of_dataarray(data, look=look)


def number(count: int, thing: str) -> str:
    """Return a count and its noun."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def _missing(da: xr.DataArray) -> dict[str, str]:
    if da.chunks is not None:
        return {"missing": "not computed: the values are lazy"}
    if da.nbytes > MOST or not da.size:
        return {"missing": f"not counted past {in_units(MOST)}"}
    if {*da.dims} == {availability.TAXA, availability.SITES} and da.dtype.kind in "OUST":
        symbols, counts = np.unique(text(da.values).astype(str), return_counts=True)
        gaps = counts[np.isin(symbols, ("-", "?"))].sum() / da.size
        plain = [str(symbol) for symbol in symbols if symbol not in {"-", "?"}]
        named = " ".join(plain[:24]) + (" …" if len(plain) > 24 else "")
        return {"symbols": named, "gaps and missing": f"{gaps:.2%}"}
    if da.dtype.kind == "f":
        return {"missing": f"{float(np.isnan(da.values).mean()):.2%}"}
    return {}


def _facts(found: Genotypes, *, look: bool) -> dict[str, str]:
    facts = {"contigs": _contig_sizes(found)}
    if found.looked_at:
        of = "" if found.looked_at == found.sizes["variants"] else f" ({_share(found)})"
        facts["missing calls"] = f"{found.missing:.2%}{of}"
        facts["monomorphic"] = f"{found.monomorphic:.1%} of variants{of}"
    elif look:
        facts["missing calls"] = (
            "not computed: the genotypes are lazy, and some of them would take much work"
        )
    packed, unpacked = in_units(found.bytes_packed), in_units(found.bytes_unpacked)
    ratio = found.bytes_unpacked / max(found.bytes_packed, 1)
    would = "packed" if found.packing else "packed as dosages"
    if not found.packing and not found.looked_at:
        would += " if no call is missing"
    facts["bytes"] = f"{packed} {would}, {unpacked} as int8 calls: {ratio:.0f} ×"
    return facts


def _share(found: Genotypes) -> str:
    return f"of {number(found.looked_at, 'variant')} spread over all"


def _contig_sizes(found: Genotypes) -> str:
    if found.contigs is None:
        return "not known"
    listed = [f"{name} ({count:,})" for name, count in found.contigs[:CONTIGS]]
    more = len(found.contigs) - CONTIGS
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
