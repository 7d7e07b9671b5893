"""Summaries as plain text: `repr` of the accessors. They read no genotypes and no measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

from genobit.data.summary import content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genobit.data.availability import Applicable
    from genobit.data.summary.content import Page


def text_of(data: xr.Dataset | xr.DataArray) -> str:
    """Return a summary of some data: sizes, packing or type, and analyses that apply."""
    page = content.page_of(data, look=False)
    lines = [f"genobit: {page.title}"]
    if page.trouble:
        return "\n".join([*lines, f"  {page.trouble}"])
    lines += table(_lines_of_facts(page))
    lines.append(f"  methods of {'ds' if isinstance(data, xr.Dataset) else 'da'}.genobit:")
    lines += table([_line(one) for one in page.analyses])
    return "\n".join(lines)


def _line(one: Applicable) -> tuple[str, ...]:
    note = f"wants {one.wants}" if one.wants else one.note
    mark = "–" if one.wants else "✓"
    return mark, one.name, f"{one.calls}  ({note})" if note else one.calls


def _lines_of_facts(page: Page) -> list[tuple[str, str]]:
    """Return a name and a line each; further lines of a fact have no name."""
    return [
        ("" if k else f"{name}:", line)
        for name, fact in page.facts.items()
        for k, line in enumerate(fact.splitlines())
    ]


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of text as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
