"""Make one page of pictures, tables, timings and explanations that needs no other file."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genobit.launcher.demo.steps import Stopwatch


@dataclass(frozen=True)
class Figure:
    """A picture of the report."""

    title: str
    caption: str
    plot: Any


@dataclass(frozen=True)
class Table:
    """A table of the report; numbers are already text."""

    title: str
    caption: str
    columns: dict[str, list[str]]
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Section:
    """A heading of the report with its text, pictures and tables."""

    title: str
    text: str
    items: tuple[Figure | Table, ...]


def render(summary: str, sections: Sequence[Section], watch: Stopwatch, **settings: object) -> str:
    """Return the page as HTML.

    The page begins with `summary`. Each of the `settings` replaces its ``$name`` in `report.html`,
    where the example at the end of the page uses it.
    """
    from bokeh.embed import components
    from bokeh.resources import Resources

    from genobit.visual.figure import drawn

    figures = [item for part in sections for item in part.items if isinstance(item, Figure)]
    models = [drawn(figure.plot) for figure in figures]
    script, divisions = components(models)
    pictures = iter(divisions)
    steps = [(name, work, f"{seconds:.2f}") for name, work, seconds in watch.rows]
    page = Template((Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
    return page.substitute(
        # .render() would add a link for every extension that panel registers.
        bokeh_js="\n".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        summary=escape(summary),
        sections="\n\n".join(_section(part, pictures) for part in sections),
        timings=_table(["step", "what", "seconds"], steps, {"seconds"}),
        machine=escape(machine()),
        script=script,
        **settings,
    )


def _section(part: Section, pictures: Iterator[str]) -> str:
    blocks = [f"<h2>{escape(part.title)}</h2>\n<p>{escape(part.text)}</p>"]
    for item in part.items:
        blocks.append(f"<h3>{escape(item.title)}</h3>\n<p>{escape(item.caption)}</p>")
        if isinstance(item, Figure):
            blocks.append(f"<figure>{next(pictures)}</figure>")
        else:
            rows = list(zip(*item.columns.values(), strict=True))
            blocks.append(_table(list(item.columns), rows, item.numbers))
    return "\n".join(blocks)


def _table(
    names: list[str], rows: Sequence[tuple[str, ...]], numbers: frozenset[str] | set[str]
) -> str:
    kinds = [' class="right"' if name in numbers else "" for name in names]

    def line(tag: str, texts: Sequence[str]) -> str:
        cells = (
            f"<{tag}{kind}>{escape(text)}</{tag}>" for kind, text in zip(kinds, texts, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return f"<table>\n<thead>{line('th', names)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def machine() -> str:
    """Return a sentence with the machine and the versions behind the timings."""
    from genobit import __version__
    from genobit.launcher.machine import processor

    packages = ", ".join(f"{name} {version(name)}" for name in ("numba", "dask", "xarray"))
    return (
        f"Measured on {processor()}, {os.cpu_count()} logical processors, "
        f"genobit {__version__}, Python {platform.python_version()}, {packages}."
    )
