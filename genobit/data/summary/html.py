"""HTML summaries for notebooks: `_repr_html_` of the accessors.

Colours follow JupyterLab's light or dark theme if the page has one. Text from data is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from genobit.data.summary import content
from genobit.data.summary.content import BINS, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

    from genobit.data.availability import Applicable

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


def html_of(data: xr.Dataset | xr.DataArray) -> str:
    """Return an HTML summary of genotypes, measurements, binary rows or an alignment."""
    page = content.page_of(data)
    head = f"<b>{escape(page.title)}</b>"
    if page.trouble:
        parts = [f"<p>{escape(page.trouble)}</p>"]
    elif page.spectrum is None:
        parts = [_rows(page.facts), _analyses(page.analyses)]
    else:
        beside = _rows(page.facts) + _spectrum(page.spectrum)
        parts = [f'<div class="beside">{beside}</div>', _analyses(page.analyses)]
    return f'<div class="genobit-summary">{_STYLE}{head}{"".join(parts)}</div>'


def _spectrum(spectrum: NDArray[np.int64]) -> str:
    """Return an SVG bar chart of the minor allele frequencies."""
    if not spectrum.sum():
        return ""
    width, height, left, top = 220.0, 56.0, 10.0, 18.0
    bars = []
    for k, count in enumerate(spectrum.tolist()):
        tall = height * count / spectrum.max()
        bars.append(
            f'<rect x="{left + k * width / BINS:.1f}" y="{top + height - tall:.1f}" '
            f'width="{width / BINS - 1:.1f}" height="{tall:.1f}">'
            f"<title>{k / (2 * BINS):.2f}–{(k + 1) / (2 * BINS):.2f}: "
            f"{number(count, 'variant')}</title>"
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


def _analyses(analyses: Iterable[Applicable]) -> str:
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
