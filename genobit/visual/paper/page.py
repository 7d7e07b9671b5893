"""Pages of figures for papers: sizes in millimetres, fonts, and files."""

from __future__ import annotations

import io
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from genobit.visual.style import printable
from genobit.visual.tokens import AXIS_PT, BASE_PT, FONTS, LIGHT, NOTE_PT, PANEL_PT, TITLE_PT

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

INCH = 25.4
#: Margin of a page in millimetres.
MARGIN = 3.0
#: Pixels an inch of a PNG, and of images inside of PDF and SVG.
DPI = 300
_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": list(FONTS),
    "font.size": BASE_PT,
    # Labels are text, whatever dollars they have. A formula asks for parse_math=True.
    "text.parse_math": False,
    "mathtext.fontset": "custom",
    # The default is a cursive font, and matplotlib warns where there is none.
    "mathtext.cal": "sans",
    "axes.titlesize": TITLE_PT,
    "axes.titlelocation": "left",
    "axes.labelsize": BASE_PT,
    "axes.labelpad": 2.0,
    "axes.linewidth": AXIS_PT,
    "axes.edgecolor": LIGHT.ink,
    "axes.labelcolor": LIGHT.ink,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": NOTE_PT,
    "ytick.labelsize": NOTE_PT,
    "xtick.major.width": AXIS_PT,
    "ytick.major.width": AXIS_PT,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "xtick.color": LIGHT.ink,
    "ytick.color": LIGHT.ink,
    "text.color": LIGHT.ink,
    "legend.fontsize": NOTE_PT,
    "legend.frameon": False,
    "lines.linewidth": 0.9,
    "patch.linewidth": 0.3,
    "savefig.dpi": DPI,
    # Text stays text: embedded TrueType in PDF, letters in SVG.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # Names inside of an SVG come from this salt, so that a figure drawn twice is the same file.
    "svg.hashsalt": "genobit",
}


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws with the design tokens."""
    return mpl.rc_context(_STYLE)  # type: ignore[arg-type]


#: Parts that a page leaves out.
_HIDDEN: ContextVar[frozenset[str]] = ContextVar("hidden", default=frozenset())


def shows(part: str) -> bool:
    """Return whether the page has its "notes", or its "letters" of panels."""
    return part not in _HIDDEN.get()


@dataclass(frozen=True)
class Paper:
    """The form of a plot for papers.

    `draw` fills an empty axes. `height` returns the height of the page for its width, in
    millimetres. A `whole` form places its own panels and margins with `panel`.
    """

    draw: Callable[[Axes], None]
    height: Callable[[float], float]
    whole: bool = False


def page_of(paper: Paper, width_mm: float, hidden: frozenset[str] = frozenset()) -> Figure:
    """Return a matplotlib figure of this width with the form drawn on it, but for some parts."""
    token = _HIDDEN.set(hidden)
    try:
        return _page_of(paper, width_mm)
    finally:
        _HIDDEN.reset(token)


def _page_of(paper: Paper, width_mm: float) -> Figure:
    if not 20 <= width_mm <= 1000:
        raise ValueError(f"width_mm is {width_mm}; use 20 to 1,000 millimetres")
    size = width_mm / INCH, paper.height(width_mm) / INCH
    with style():
        if paper.whole:
            figure = Figure(size, facecolor=LIGHT.paper)
            axes = figure.add_axes((0, 0, 1, 1))
        else:
            pad = MARGIN / INCH
            engine = ConstrainedLayoutEngine(w_pad=pad, h_pad=pad)
            figure = Figure(size, facecolor=LIGHT.paper, layout=engine)
            axes = figure.add_subplot()
        paper.draw(axes)
        _show_controls(figure)
    return figure


def draw_on(paper: Paper, axes: Axes) -> Axes:
    """Draw the form into an axes of the user's own figure, and return the axes."""
    for text in axes.findobj(Text):
        # Texts of the user stay as they are.
        text.set_parse_math(text.get_parse_math() and bool(text.get_text()))
    with style():
        paper.draw(axes)
    _show_controls(axes)
    # matplotlib looks for "sans-serif" when it draws, and warns of each font that is missing.
    for text in axes.findobj(Text):
        text.set_fontfamily(family())
        text.set_math_fontfamily(mpl.rcParams["mathtext.fontset"])
    return axes


def _show_controls(artist: Artist) -> None:
    """Replace control characters of labels, which SVG cannot hold and no font has."""
    for text in artist.findobj(Text):
        text.set_text(printable(text.get_text()))
    for axis in artist.findobj(Axis):
        # matplotlib makes the names of fixed ticks anew each time that it draws.
        if isinstance(axis.get_major_locator(), FixedLocator):
            names = [name.get_text() for name in axis.get_majorticklabels()]
            if (shown := [printable(name) for name in names]) != names:
                axis.set_ticks(axis.get_majorticklocs(), shown)


@cache
def family() -> list[str]:
    """Return the font of the figures that is installed, and matplotlib's own for rare letters."""
    with style():
        path = findfont(FontProperties(family=["sans-serif"]))
    return list(dict.fromkeys([str(get_font(path).family_name), FONTS[-1]]))


def write(figure: Figure, target: Path, suffix: str, dpi: int = DPI) -> None:
    """Write a figure as PDF, SVG or PNG, with ``dpi`` pixels an inch in images."""
    # Without dates, a figure drawn twice is the same file.
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    with style():
        figure.savefig(target, format=suffix, dpi=dpi, metadata=dated[suffix])


def png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG, for a notebook."""
    held = io.BytesIO()
    with style():
        figure.savefig(held, format="png", dpi=220)
    return held.getvalue()


def size_of(axes: Axes) -> tuple[float, float]:
    """Return the width and height of an axes in millimetres."""
    box = axes.get_window_extent()
    dpi = axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    return box.width / dpi * INCH, box.height / dpi * INCH


def panel(axes: Axes, left: float, top: float, width: float, height: float) -> Axes:
    """Return an empty axes inside of an axes, in millimetres from its upper left corner."""
    whole_width, whole_height = size_of(axes)
    bottom = whole_height - top - height
    return axes.inset_axes(
        (
            left / whole_width,
            bottom / whole_height,
            width / whole_width,
            height / whole_height,
        )
    )


def stacked(*papers: Paper) -> Paper:
    """Return forms one below the other; in a lower axes, each has the same share less."""

    def height(width: float) -> float:
        return sum(paper.height(width) for paper in papers)

    def draw(axes: Axes) -> None:
        axes.set_axis_off()
        width, room = size_of(axes)
        share, top = room / height(width), 0.0
        for paper in papers:
            tall = share * paper.height(width)
            paper.draw(panel(axes, 0.0, top, width, tall))
            top += tall

    return Paper(draw, height, whole=True)


def letter(
    axes: Axes, text: str, left: float = -8.0, above: float = 2.0, va: str = "baseline"
) -> None:
    """Write the letter of a panel, in millimetres from its upper left corner."""
    if not shows("letters"):
        return
    axes.annotate(
        text,
        (0, 1),
        (left * 72 / INCH, above * 72 / INCH),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=PANEL_PT,
        fontweight="bold",
        va=va,
    )
