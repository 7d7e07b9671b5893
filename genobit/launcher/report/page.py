"""Make one page of pictures, tables, timings and explanations that needs no other file."""

from __future__ import annotations

import json
import os
import platform
from html import escape
from importlib.metadata import version
from itertools import count
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from genobit.visual.report.sections import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genobit.visual.report.sections import Section, Stopwatch


def render(
    title: str,
    paragraphs: Sequence[str],
    sections: Sequence[Section],
    watch: Stopwatch,
    ending: str = "",
) -> str:
    """Return the page as HTML: title, paragraphs, sections, timings, and the HTML of its ending."""
    from bokeh.resources import Resources

    from genobit.visual.looks import variables
    from genobit.visual.theming import DARKENING, dark_colours
    from genobit.visual.tokens import DARK, LIGHT

    number = count()
    steps = [(name, work, f"{seconds:.2f}") for name, work, seconds in watch.rows]
    page = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))
    return page.substitute(
        # .render() would add a link for every extension that panel registers.
        bokeh_js="\n".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        title=escape(title),
        summary="\n".join(f"<p>{escape(text)}</p>" for text in paragraphs),
        contents=_contents(sections),
        sections="\n\n".join(_section(part, number) for part in sections),
        timings=_table(["step", "what", "seconds"], steps, {"seconds"}),
        machine=escape(machine()),
        ending=ending,
        light=variables(LIGHT),
        dark=variables(DARK),
        darkening=DARKENING,
        colours=json.dumps(dark_colours()),
    )


def _contents(sections: Sequence[Section]) -> str:
    targets = [(_anchor(part.title), part.title) for part in sections]
    targets.append(("timings", "How long it took"))
    items = (f'<li><a href="#{at}">{escape(title)}</a></li>' for at, title in targets)
    return f"<ul>{''.join(items)}</ul>"


def _anchor(title: str) -> str:
    return escape(title.lower().replace(" ", "-"))


def _section(part: Section, number: Iterator[int]) -> str:
    blocks = [f'<h2 id="{_anchor(part.title)}">{escape(part.title)}</h2>']
    if part.text:
        blocks.append(f"<p>{escape(part.text)}</p>")
    if part.problem:
        kind = "failed" if part.failed else "note"
        blocks.append(f'<p class="{kind}">{escape(part.problem)}</p>')
    for item in part.items:
        blocks.append(f"<h3>{escape(item.title)}</h3>\n<p>{escape(item.caption)}</p>")
        if isinstance(item, Figure):
            blocks.append(_picture(item.plot, f"picture-{next(number)}"))
        else:
            rows = list(zip(*item.columns.values(), strict=True))
            blocks.append(_table(list(item.columns), rows, item.numbers))
    return "\n".join(blocks)


def _picture(plot: Any, name: str) -> str:
    """Return a figure whose script holds the document; the page draws it in the theme's colours."""
    from bokeh.embed import json_item
    from bokeh.models import Plot

    from genobit.visual.figure import drawn
    from genobit.visual.plot_options import on_screen
    from genobit.visual.style import WIDTH
    from genobit.visual.theming import theme

    model = drawn(on_screen(plot))
    figures = list(model.select({"type": Plot}))
    # Matrices and trees keep their shape, and tracks follow the page.
    if all((figure.frame_width or WIDTH) >= WIDTH for figure in figures):
        for figure in figures:
            figure.update(frame_width=None, width=None, sizing_mode="stretch_width")
        model.sizing_mode = "stretch_width"
    # "</script>" in a label would end the script, and "<!--" would hide its end.
    text = json.dumps(json_item(model, theme=theme())).replace("<", "\\u003c")
    held = f'<script type="application/json">{text}</script>'
    return f'<figure><div id="{name}"></div>{held}</figure>'


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
    table = f"<table>\n<thead>{line('th', names)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="scroll">{table}</div>'


def machine() -> str:
    """Return a sentence with the machine and the versions behind the timings."""
    from genobit import __version__
    from genobit.launcher.machine import processor

    packages = ", ".join(f"{name} {version(name)}" for name in ("numba", "dask", "xarray"))
    return (
        f"Measured on {processor()}, {os.cpu_count()} logical processors, "
        f"genobit {__version__}, Python {platform.python_version()}, {packages}."
    )
