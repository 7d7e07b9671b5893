"""One page of pictures, tables, timings and explanations that needs no other file."""

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

    from genobit.launcher.demo.stopwatch import Stopwatch


@dataclass(frozen=True)
class Figure:
    """One picture of the report."""

    title: str
    caption: str
    plot: Any


@dataclass(frozen=True)
class Table:
    """One table of the report: text as it is, numbers already written out."""

    title: str
    caption: str
    columns: dict[str, list[str]]
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Section:
    """What belongs together."""

    title: str
    text: str
    items: tuple[Figure | Table, ...]


def render(summary: str, sections: Sequence[Section], watch: Stopwatch, **settings: object) -> str:
    """Write the page.

    Parameters
    ----------
    summary
        Its first words.
    sections
        In the order of the page.
    watch
        The timings.
    settings
        What the example at the end of the page names: ``$name`` in `report.html`.
    """
    from bokeh.embed import components
    from bokeh.resources import Resources

    figures = [item for part in sections for item in part.items if isinstance(item, Figure)]
    models = [drawn(figure.plot) for figure in figures]
    script, divisions = components(models)
    pictures = iter(divisions)
    steps = [(name, work, f"{seconds:.2f}") for name, work, seconds in watch.rows]
    page = Template((Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
    return page.substitute(
        # Not .render(), which adds a link for every extension that panel registers.
        bokeh_js="\n".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        summary=escape(summary),
        sections="\n\n".join(_section(part, pictures) for part in sections),
        timings=_table(["step", "what", "seconds"], steps, {"seconds"}),
        machine=escape(machine()),
        script=script,
        **settings,
    )


def drawn(plot: Any) -> Any:
    """Make the Bokeh figure of a HoloViews object as it stands in a page that is read."""
    import holoviews as hv
    from bokeh.models.tools import SelectTool

    model = hv.render(plot, backend="bokeh")
    # In a page, the wheel scrolls the page until the reader asks for zoom.
    model.toolbar.active_scroll = None
    # What selects is for the explorers, where a selection goes on to the other views.
    tools = [tool for tool in model.toolbar.tools if not isinstance(tool, SelectTool)]
    model.toolbar.update(tools=tools, active_drag="auto")
    model.toolbar.logo = None
    # HoloViews calls figures fixed whose frame has a size, and Bokeh then misses that of the whole.
    if getattr(model, "sizing_mode", None) == "fixed" and model.width is None:
        model.sizing_mode = None
    return model


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
    """Say what the timings were measured on."""
    from genobit import __version__
    from genobit.launcher.machine import processor

    packages = ", ".join(f"{name} {version(name)}" for name in ("numba", "dask", "xarray"))
    return (
        f"Measured on {processor()}, {os.cpu_count()} logical processors, "
        f"genobit {__version__}, Python {platform.python_version()}, {packages}."
    )
