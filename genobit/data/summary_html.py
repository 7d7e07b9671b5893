"""HTML summaries for notebooks: `_repr_html_` of the accessors.

Colours follow JupyterLab's light or dark theme if the page has one. Text from data is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from genobit.data import availability
from genobit.data.labels import text
from genobit.data.summary import BINS, Genotypes, genotypes
from genobit.engine.options import in_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import xarray as xr

    from genobit.data.availability import Analysis

CONTIGS = 8
"""Most contigs that are named."""
_STYLE = """<style>
.genobit-summary {color: var(--jp-content-font-color1, inherit); font-size: 13px;
 line-height: 1.45; margin: 2px 0 8px}
.genobit-summary table {border-collapse: collapse; margin: 4px 0; font-size: 13px; display: table}
.genobit-summary td {text-align: left !important; vertical-align: top; border: none;
 padding: 1px 16px 1px 0; background: none; color: inherit; white-space: normal}
.genobit-summary tr {background: none !important}
.genobit-summary .dim, .genobit-summary .dim td {color: var(--jp-content-font-color2, #666)}
.genobit-summary code {color: inherit !important; background: none !important;
 padding: 0 !important}
.genobit-summary svg rect {fill: var(--jp-brand-color1, #1976d2)}
.genobit-summary svg text {fill: var(--jp-content-font-color2, #666); font-size: 11px}
.genobit-summary svg line {stroke: var(--jp-border-color1, #999)}
.genobit-summary .beside {display: flex; flex-wrap: wrap; gap: 0 36px; align-items: flex-start}
</style>"""


def dataset_html(ds: xr.Dataset) -> str:
    """Return an HTML summary of a Dataset of genotypes, packed or not."""
    try:
        found, analyses = genotypes(ds), availability.of_dataset(ds)
    except ValueError as error:
        return _page("genotypes that cannot be used", [f"<p>{escape(str(error))}</p>"])
    if found is None:
        names = ", ".join(sorted(map(str, ds.data_vars))[:6]) or "no variables"
        text = f"no variable call_genotype, and not packed; there are: {names}"
        return _page("no genotypes", [f"<p>{escape(text)}</p>"])
    title = " × ".join(_number(found.sizes[f"{kind}s"], kind) for kind in ("variant", "sample"))
    if found.packing:
        title += f", packed: {found.packing}"
    parts = [_rows(_facts(found)), _spectrum(found)]
    return _page(title, [f'<div class="beside">{"".join(parts)}</div>', _analyses(analyses)])


def dataarray_html(da: xr.DataArray) -> str:
    """Return an HTML summary of a DataArray: measurements, binary rows or an alignment."""
    analyses = availability.of_dataarray(da)
    sizes = " × ".join(f"{size:,} {dim}" for dim, size in da.sizes.items()) or "one value"
    facts = {"values": f"{da.dtype}, {in_units(da.nbytes)}"}
    if da.chunks is None and da.size and da.nbytes <= MOST:
        facts |= _values(da)
    elif da.chunks is not None:
        facts["missing"] = "not computed: the values are lazy"
    else:
        facts["missing"] = f"not counted past {in_units(MOST)}"
    return _page(sizes, [_rows(facts), _analyses(analyses)])


MOST = 2**26
"""Largest array in memory whose values are read, in bytes."""


def _values(da: xr.DataArray) -> dict[str, str]:
    if {*da.dims} == {availability.TAXA, availability.SITES} and da.dtype.kind in "OUST":
        symbols, counts = np.unique(text(da.values).astype(str), return_counts=True)
        gaps = counts[np.isin(symbols, ("-", "?"))].sum() / da.size
        plain = [str(symbol) for symbol in symbols if symbol not in {"-", "?"}]
        named = " ".join(plain[:24]) + (" …" if len(plain) > 24 else "")
        return {"symbols": named, "gaps and missing": f"{gaps:.2%}"}
    if da.dtype.kind == "f":
        return {"missing": f"{float(np.isnan(da.values).mean()):.2%}"}
    return {}


def _facts(found: Genotypes) -> dict[str, str]:
    facts = {"contigs": _contigs(found)}
    if found.looked_at:
        of = "" if found.looked_at == found.sizes["variants"] else f" ({_share(found)})"
        facts["missing calls"] = f"{found.missing:.2%}{of}"
        facts["monomorphic"] = f"{found.monomorphic:.1%} of variants{of}"
    else:
        facts["missing calls"] = (
            "not computed: the genotypes are lazy, and some of them would take much work"
        )
    packed, unpacked = in_units(found.bytes_packed), in_units(found.bytes_unpacked)
    ratio = found.bytes_unpacked / max(found.bytes_packed, 1)
    would = "packed" if found.packing else "packed as dosages without missing calls"
    facts["bytes"] = f"{packed} {would}, {unpacked} as int8 calls: {ratio:.0f} ×"
    return facts


def _share(found: Genotypes) -> str:
    return f"of {_number(found.looked_at, 'variant')} spread over all"


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def _contigs(found: Genotypes) -> str:
    if found.contigs is None:
        return "not known"
    listed = [f"{name} ({count:,})" for name, count in found.contigs[:CONTIGS]]
    more = len(found.contigs) - CONTIGS
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def _spectrum(found: Genotypes) -> str:
    """Return an SVG bar chart of the minor allele frequencies."""
    if not found.spectrum.sum():
        return ""
    width, height, left, top = 220.0, 56.0, 10.0, 18.0
    bars = []
    for k, count in enumerate(found.spectrum.tolist()):
        tall = height * count / found.spectrum.max()
        bars.append(
            f'<rect x="{left + k * width / BINS:.1f}" y="{top + height - tall:.1f}" '
            f'width="{width / BINS - 1:.1f}" height="{tall:.1f}">'
            f"<title>{k / (2 * BINS):.2f}–{(k + 1) / (2 * BINS):.2f}: "
            f"{_number(count, 'variant')}</title>"
            "</rect>"
        )
    base = top + height
    texts = "".join(
        f'<text x="{left + width * 2 * at:.0f}" y="{base + 13:.0f}" text-anchor="middle">{at:g}'
        "</text>"
        for at in (0, 0.25, 0.5)
    )
    return (
        '<svg width="244" height="92" role="img" aria-label="minor allele frequencies">'
        f'<text x="{left}" y="11">minor allele frequency</text>{"".join(bars)}'
        f'<line x1="{left}" x2="{left + width}" y1="{base}" y2="{base}"/>{texts}</svg>'
    )


def _analyses(analyses: Iterable[Analysis]) -> str:
    lines = []
    for analysis in analyses:
        dim = ' class="dim"' if analysis.wants else ""
        note = f"wants {analysis.wants}" if analysis.wants else analysis.note
        mark = "–" if analysis.wants else "✓"
        lines.append(
            f"<tr{dim}><td>{mark} {escape(analysis.name)}</td>"
            f"<td><code>{escape(analysis.calls)}</code></td><td>{escape(note)}</td></tr>"
        )
    return f"<table>{''.join(lines)}</table>"


def _rows(facts: dict[str, str]) -> str:
    lines = (
        f'<tr><td class="dim">{escape(name)}</td><td>{escape(text)}</td></tr>'
        for name, text in facts.items()
    )
    return f"<table>{''.join(lines)}</table>"


def _page(title: str, parts: Sequence[str]) -> str:
    head = f"<b>{escape(title)}</b>"
    return f'<div class="genobit-summary">{_STYLE}{head}{"".join(parts)}</div>'
