"""Contents of a summary: a title, facts and analyses, to be rendered as HTML or as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from genobit.data import availability
from genobit.data.joining import JOINED
from genobit.data.labels import text
from genobit.data.summary import Genotypes, genotypes
from genobit.engine.options import in_units

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    from genobit.data.availability import Analysis

CONTIGS = 8
"""Most contigs that are named."""
MOST = 2**26
"""Largest array in memory whose values are read, in bytes."""


@dataclass(frozen=True)
class Page:
    """What a summary says."""

    title: str
    facts: dict[str, str] = field(default_factory=dict)
    analyses: list[Analysis] = field(default_factory=list)
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
    facts = {"contigs": _contigs(found)}
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
    would = "packed" if found.packing else "packed as dosages without missing calls"
    facts["bytes"] = f"{packed} {would}, {unpacked} as int8 calls: {ratio:.0f} ×"
    return facts


def _share(found: Genotypes) -> str:
    return f"of {number(found.looked_at, 'variant')} spread over all"


def _contigs(found: Genotypes) -> str:
    if found.contigs is None:
        return "not known"
    listed = [f"{name} ({count:,})" for name, count in found.contigs[:CONTIGS]]
    more = len(found.contigs) - CONTIGS
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
