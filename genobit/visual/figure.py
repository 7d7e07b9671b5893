"""Figures that show themselves in notebooks, static pages and scripts.

A figure is HTML with compressed data. BokehJS, 0.47 MB compressed, comes with the first figure of a
page. A saved notebook of five figures took 2.0 MB.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import tempfile
import uuid
import webbrowser
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bokeh
import holoviews as hv
from bokeh.embed import json_item
from bokeh.models import Axis, Plot, Toolbar
from bokeh.models.annotations import Title
from bokeh.models.tools import SelectTool
from bokeh.models.widgets import Widget
from bokeh.util.paths import static_path
from holoviews.core.dimension import LabelledData

from genobit.data.checks import is_whole
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.own_words import SuggestsNames
from genobit.visual.picture.spec import Picture
from genobit.visual.plot_options import on_screen
from genobit.visual.theming import make_readable, theme

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from genobit.visual.paper.page import Paper

#: Endings of files for papers.
_PAPERS = (".pdf", ".svg", ".png")
#: Shown until the figure is drawn, and where a page runs no scripts.
_UNDRAWN = (
    "This figure is drawn by JavaScript. If it does not appear, run the cell again, or trust the "
    "notebook."
)
#: Cell and execution that sent a piece of BokehJS, by session of the browser page and piece.
_sent: dict[tuple[str, str], tuple[str | None, int]] = {}


class Figure(SuggestsNames):
    """Plot of a result: a notebook shows it, and `save` writes it to a file.

    Parameters
    ----------
    picture
        `genobit.visual.picture.spec.Picture`, or HoloViews object. Notebooks show it as `hv`, a
        HoloViews object: use that to combine figures (`a.hv + b.hv`) and to set options
        (`figure.hv.opts(...)`). If it is None, notebooks show an image in the style of saved files.
    paper
        Function that returns the print version, a `genobit.visual.paper.page.Paper`. By default,
        the print version is drawn from the picture.
    title
        Title in ``repr``. The default is the first line of the title of the HoloViews object.

    Examples
    --------
    >>> Figure(hv.Curve([1, 3, 2]).opts(title="three points"))
    <Figure 'three points': .show() opens it, .save("figure.pdf") writes it>
    """

    _called = "figure"

    def __init__(
        self, picture: Any = None, paper: Callable[[], Paper] | None = None, title: str = ""
    ) -> None:
        self.picture = picture
        self.hv = None if picture is None else on_screen(picture)
        self._paper = paper
        self._title = title

    def __repr__(self) -> str:
        """Return the title, and how to see the figure."""
        found = self._title
        if self.hv is not None and not found:
            found = self.hv.opts.get("plot").kwargs.get("title", "").split("\n")[0]
        title = f" {found!r}" if found else ""
        return f'<Figure{title}: .show() opens it, .save("figure.pdf") writes it>'

    def _repr_html_(self) -> str:
        """Return the figure as HTML for a notebook: an image if it is for papers alone."""
        return self._image() if self.hv is None else html_of(self.hv)

    def _image(self) -> str:
        """Return the form for papers as an image of HTML."""
        from genobit.visual.paper import page

        png = base64.b64encode(page.png(self.to_matplotlib())).decode()
        return (
            f'<img alt="{escape(self._title or "figure")}" src="data:image/png;base64,{png}" '
            'style="max-width: 100%; width: 900px">'
        )

    def paper(self) -> Paper:
        """Return the print version of the figure, which `save` and `to_matplotlib` draw."""
        if self._paper is not None:
            return self._paper()
        if isinstance(self.picture, Picture):
            from genobit.visual.picture.paper import paper_of

            return paper_of(self.picture)
        from genobit.visual.paper.plain import paper_of as paper_of_hv

        return paper_of_hv(self.hv)

    def to_matplotlib(
        self, width_mm: float = 180.0, *, notes: bool = True, letters: bool = True
    ) -> Any:
        """Return the print version as a matplotlib figure.

        Parameters
        ----------
        width_mm
            Width of the page in millimetres: 20 to 1,000. Journals print columns of 85 to 90 mm
            and pages of 170 to 180 mm. The height follows from the picture.
        notes
            Whether the figure states what it shows and leaves out, which may also be in its legend.
        letters
            Whether panels have letters.

        Returns
        -------
            `matplotlib.figure.Figure`.

        Raises
        ------
        ValueError
            For a width outside 20 to 1,000 mm.
        ModuleNotFoundError
            If matplotlib is not installed.

        Examples
        --------
        >>> figure = Figure(hv.Curve([1, 3, 2])).to_matplotlib(width_mm=90)
        >>> round(figure.get_size_inches()[0] * 25.4)
        90
        """
        from genobit.visual.paper import page

        parts = {"notes": notes, "letters": letters}
        hidden = frozenset(part for part, shown in parts.items() if not shown)
        return page.page_of(self.paper(), width_mm, hidden)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        width_mm: float = 180.0,
        dpi: int = 300,
        notes: bool = True,
        letters: bool = True,
    ) -> Path:
        """Write the figure to a file, and return its absolute path.

        Parameters
        ----------
        path
            Path of a file that ends in .pdf, .svg, .png or .html. PDF and SVG keep text as text.
            The HTML page is interactive and needs no network. An existing file is replaced:
            figures are drawn many times, and again from their data.
        width_mm, notes, letters
            As for `to_matplotlib`; HTML does not use them.
        dpi
            Pixels per inch of PNG, and of images inside of PDF and SVG: 50 to 2,400.

        Raises
        ------
        ValueError
            For an unknown file ending, for a width outside 20 to 1,000 mm, for a ``dpi`` outside 50
            to 2,400, or for HTML without ``hv``.
        ModuleNotFoundError
            If matplotlib is not installed. HTML does not need it.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.pdf"
        >>> Figure(hv.Curve([1, 3, 2])).save(path, width_mm=90).name
        'points.pdf'
        """
        target = local_path(path, "saving", WRITE).absolute()
        ending = target.suffix.lower()
        if ending == ".html" and self.hv is None:
            raise ValueError(
                "this figure is for papers alone; end the name with .pdf, .svg or .png"
            )
        if ending not in {".html", *_PAPERS}:
            raise ValueError(
                f"a figure cannot be saved as {target.name!r}; end the name with "
                f"{', '.join(_PAPERS)} or .html"
            )
        if not is_whole(dpi) or not 50 <= dpi <= 2_400:
            raise ValueError(f"dpi is {dpi!r}; use 50 to 2,400 pixels per inch")
        with replacing(target, overwrite=True) as (new,):
            if ending == ".html":
                new.write_text(page_of(self.hv, target.stem), encoding="utf-8")
            else:
                from genobit.visual.paper import page

                figure = self.to_matplotlib(width_mm, notes=notes, letters=letters)
                page.write(figure, new, ending.removeprefix("."), dpi)
        return target

    def show(self) -> None:
        """Show the figure: in a notebook below the cell, otherwise in a new browser tab."""
        if _kernel() is not None:
            sys.modules["IPython"].display.display(self)
            return
        folder = Path(tempfile.mkdtemp(prefix="genobit-"))
        name = "figure.png" if self.hv is None else "figure.html"
        webbrowser.open(self.save(folder / name).as_uri())


def display_in_notebooks() -> None:
    """Let notebooks display HoloViews objects, unless ``hv.extension()`` already does."""
    if not hv.Store.render(hv.Div(""))[0]:
        # In the group of hv.extension(), a later call of it replaces this function.
        hv.Store.set_display_hook("html+js", LabelledData, _displayed)


def _displayed(plot: Any) -> tuple[dict[str, str], dict[str, Any]] | None:
    """Return the forms of a HoloViews object by MIME type; None if it cannot be drawn."""
    if type(plot) not in hv.Store.registry["bokeh"]:
        return None
    return {"text/html": html_of(plot), "text/plain": repr(plot)}, {}


def drawn(plot: Any) -> Any:
    """Return the Bokeh model of a HoloViews object, with the tools of a static page."""
    model = hv.render(plot, backend="bokeh")
    for figure in model.select({"type": Plot}):
        # The wheel scrolls the page until the reader activates zoom.
        figure.toolbar.active_scroll = None
        # Selection tools are useful only in explorers, which pass a selection on to other views.
        tools = [tool for tool in figure.toolbar.tools if not isinstance(tool, SelectTool)]
        figure.toolbar.update(tools=tools, active_drag="auto")
        # HoloViews makes figures with a frame size "fixed", and Bokeh then misses the total size.
        if figure.sizing_mode == "fixed" and figure.width is None:
            figure.sizing_mode = None
    for bar in model.select({"type": Toolbar}):
        bar.logo = None  # that of a layout too
    make_readable(model)
    return model


def html_of(plot: Any) -> str:
    """Return a HoloViews object as HTML that the output of a notebook cell can hold."""
    model = drawn(plot)
    needed = _pieces(model)
    return _embedded(model, needed, [name for name in needed if _to_send(name)])


def page_of(plot: Any, title: str) -> str:
    """Return a HoloViews object as an HTML page that needs no network."""
    # Bokeh's own pages link to scripts of panel and of MathJax on the web.
    model = drawn(plot)
    needed = _pieces(model)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head>\n"
        f"<body>\n{_embedded(model, needed, needed)}\n</body>\n</html>\n"
    )


def _embedded(model: Any, needed: list[str], sent: list[str]) -> str:
    """Return a division and the script that draws a model in it, with some pieces of BokehJS."""
    target = f"genobit-{uuid.uuid4().hex}"
    parts = {name: _library(name) for name in sent}
    item = _packed(json.dumps(json_item(model, theme=theme())))
    values = ", ".join(json.dumps(v) for v in (target, bokeh.__version__, needed, parts, item))
    return (
        f'<div class="genobit-figure" id="{target}" role="figure" aria-label="{_name(model)}">'
        f"{escape(_UNDRAWN)}</div>\n"
        f"<script>\n{_loader()}({values})\n</script>"
    )


def _name(model: Any) -> str:
    """Return the name of a figure for screen readers: its titles and axes."""

    def texts(kind: type, field: str) -> list[str]:
        # Bokeh selects from a set; ids grow in the order in which the parts were made.
        parts = sorted(model.select({"type": kind}), key=lambda part: (len(part.id), part.id))
        named = (getattr(part, field) for part in parts if part.visible)
        return [getattr(text, "text", text) for text in named if text]

    found = texts(Title, "text") + texts(Axis, "axis_label") or ["figure"]
    return escape("; ".join(dict.fromkeys(found)).replace("\n", ", "))


def _pieces(model: Any) -> list[str]:
    """Return the pieces of BokehJS that a model needs, in the order in which they load."""
    tables = list(model.select({"type": Widget}))
    return ["bokeh", "bokeh-widgets", "bokeh-tables"] if tables else ["bokeh"]


@cache
def _library(piece: str) -> str:
    return _packed(Path(static_path(), "js", f"{piece}.min.js").read_text(encoding="utf-8"))


@cache
def _loader() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8").rstrip()


def _packed(text: str) -> str:
    """Return text compressed, in letters that end no script."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _to_send(piece: str) -> bool:
    """Return whether the output of this cell has to bring a piece of BokehJS.

    A page of a notebook needs each piece once. The session tells one page from another, also after
    a reload. The output of a cell that runs again replaces the one that brought the piece.
    """
    kernel = _kernel()
    if kernel is None:
        return True
    asked = kernel.get_parent()
    page = str(asked.get("header", {}).get("session")), piece
    here = asked.get("metadata", {}).get("cellId"), kernel.shell.execution_count
    before = _sent.get(page)
    if before == here:
        return False
    # Without the id of the cell, as in nbconvert, any cell may be one that ran before.
    if before is not None and here[0] not in {None, before[0]}:
        return False
    _sent[page] = here
    return True


def _kernel() -> Any:
    """Return the kernel of a notebook, None in a script or a terminal."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython(), "kernel", None) if ipython else None
