"""Common style of plots: names of statistics, colours, and positions in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import CustomJSHover, HoverTool

from genobit.data.contigs import chromosome
from genobit.visual.tokens import LIGHT, OTHER_GROUP, Ramp, ramp

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTROLS = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
#: A function that HoloViews calls with a plot and its element at each frame.
Hook = Callable[[Any, Any], None]
#: Colour of missing values: in LD, one variant of the pair is monomorphic among the shared calls.
NO_VALUE_COLOUR = LIGHT.no_value
#: Colour of marks such as the lead variant. No mark depends on telling red from green.
LEAD_COLOUR = LIGHT.accent
POINT_COLOUR = LIGHT.slate
#: Colour of every second contig.
PALE_COLOUR = OTHER_GROUP
#: Colour of the selection.
SELECTED_COLOUR = LIGHT.ink
WHITE = LIGHT.paper
#: Colour bar beside a picture, with room between the bar and its title.
UPRIGHT_BAR: dict[str, Any] = {"width": 12, "title_standoff": 9}
#: Width in pixels of plots along the chromosome, so that stacked plots share their x axis.
WIDTH = 640

#: Warm is together, cool is against, and the page is 0. Both keep their order for colour-blind
#: readers.
SEQUENTIAL, DIVERGING = LIGHT.sequential, LIGHT.diverging
#: The sequential map to both sides of 0, for values whose sign depends on the coding of alleles.
MAGNITUDE: Ramp = (
    *((0.5 - at / 2, colour) for at, colour in reversed(SEQUENTIAL)),
    *((0.5 + at / 2, colour) for at, colour in SEQUENTIAL[1:]),
)


@dataclass(frozen=True)
class Scale:
    """Name, limits and colours of one statistic."""

    label: str
    name: str
    limits: tuple[float, float]
    stops: Ramp

    @property
    def key(self) -> Scale:
        """Scale of the key: that of |D′| if colours do not show the sign."""
        if self.stops != MAGNITUDE:
            return self
        label, name = (text.replace("D′", "|D′|") for text in (self.label, self.name))
        return Scale(label, name, (0.0, self.limits[1]), SEQUENTIAL)

    @property
    def bar(self) -> dict[str, Any]:
        """Bokeh options of a colour bar beside a picture in this scale."""
        return UPRIGHT_BAR | {"display_low": self.key.limits[0]}


SCALES = {
    "r2": Scale("r²", "squared correlation r²", (0.0, 1.0), SEQUENTIAL),
    "r": Scale("r", "correlation r", (-1.0, 1.0), DIVERGING),
    "D": Scale("D", "disequilibrium D", (-0.25, 0.25), DIVERGING),
    "dprime": Scale("D′", "normalised disequilibrium D′", (-1.0, 1.0), MAGNITUDE),
    "r2_em": Scale("EM r²", "squared correlation r² (EM)", (0.0, 1.0), SEQUENTIAL),
    "dprime_em": Scale("EM D′", "normalised disequilibrium D′ (EM)", (-1.0, 1.0), MAGNITUDE),
}


def scale_of(statistic: str) -> Scale:
    """Return the scale of an LD statistic: "r2", "r", "D", "dprime", "r2_em" or "dprime_em".

    Raises ValueError for a statistic without a scale.

    Examples
    --------
    >>> scale_of("dprime").label
    'D′'
    """
    if statistic not in SCALES:
        raise ValueError(
            f"no colours are known for the statistic {statistic!r}; use one of {', '.join(SCALES)}"
        )
    return SCALES[statistic]


def palette(scale: Scale, threshold: float = 0.0, size: int = 256) -> list[str]:
    """Return colours over the limits of `scale`, white where |statistic| is below `threshold`.

    The threshold is in the colours and not in the data, so that the colour bar shows it too.

    Examples
    --------
    >>> palette(scale_of("r2"), threshold=0.5, size=4)[:2]
    ['#ffffff', '#ffffff']
    """
    colours = ramp(scale.stops, size)
    low, high = scale.limits
    middles = low + (np.arange(size) + 0.5) * (high - low) / size
    return [
        WHITE if abs(middle) < threshold else colour
        for middle, colour in zip(middles, colours, strict=True)
    ]


def megabases(position: float, span: float) -> str:
    """Return a position in Mb, with as many digits as a window of `span` base pairs needs.

    Examples
    --------
    >>> megabases(136_608_646, span=300_000)
    '136.609'
    >>> megabases(136_608_646, span=20_000_000)
    '136.6'
    """
    digits = int(np.clip(np.ceil(-np.log10(max(span, 1.0) / 1e6)) + 2, 1, 6))
    return f"{position / 1e6:.{digits}f}"


def contigs_in_words(names: Sequence[str]) -> str:
    """Return the names of contigs for a figure: "chromosome" if all of them are such.

    Examples
    --------
    >>> contigs_in_words(["chr2"]), contigs_in_words(["X", "Y"]), contigs_in_words(["NW_0012"])
    ('chromosome 2', 'chromosomes X, Y', 'contig NW_0012')
    """
    bare = [chromosome(name) for name in names]
    known = all(name.isdigit() or name in {"X", "Y", "XY", "MT", "Z", "W"} for name in bare)
    kind = f"{'chromosome' if known else 'contig'}{'s' * (len(names) != 1)}"
    return f"{kind} {', '.join(bare if known else names)}"


def window_in_words(contig: str, positions: Sequence[int] | np.ndarray) -> str:
    """Return the range of `positions` as text for a title.

    Examples
    --------
    >>> window_in_words("2", [136_000_000, 136_900_000])
    'chromosome 2: 136.000–136.900 Mb'
    """
    first, last = float(np.min(positions)), float(np.max(positions))
    span = last - first
    place = f"{contigs_in_words([contig])}: " if contig else ""
    return f"{place}{megabases(first, span)}–{megabases(last, span)} Mb"


def bar_title(scale: Scale, height: int) -> str:
    """Return the title of an upright colour bar, short where the name is longer than the bar.

    Examples
    --------
    >>> bar_title(SCALES["r2"], 320), bar_title(SCALES["dprime"], 100)
    ('squared correlation r²', '|D′|')
    """
    scale = scale.key
    # A letter of a title is about 6.5 pixels wide.
    return scale.name if 6.5 * len(scale.name) <= height else scale.label


def shortened(text: str, most: int) -> str:
    """Return a text of at most this many letters, with an ellipsis if it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def printable(text: str) -> str:
    r"""Return a label without control characters: SVG cannot hold them, and no font has them.

    Examples
    --------
    >>> printable("cases\x01")
    'cases?'
    """
    return _CONTROLS.sub("?", text)


def number(count: int, thing: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> number(1, "variant"), number(12_000, "variant")
    ('1 variant', '12,000 variants')
    """
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def three_digits(value: float) -> str:
    """Return a number with three significant digits, and with all of them before the point.

    Examples
    --------
    >>> three_digits(-0.42), three_digits(850.0), three_digits(0.0186), three_digits(-12_340.6)
    ('−0.420', '850', '0.0186', '−12,341')
    """
    # Three digits of 999.5 and more would have an exponent.
    text = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")
    return text.replace("-", "\N{MINUS SIGN}")


def first_capital(text: str) -> str:
    """Return a text with its first letter as a capital, as labels of axes have it.

    A symbol of one letter stays as it is.

    Examples
    --------
    >>> first_capital("call rate"), first_capital("r²")
    ('Call rate', 'r²')
    """
    return text[:1].upper() + text[1:] if text[1:2].isalpha() else text


def whole_ticks(low: float, high: float, most: int = 6) -> list[int]:
    """Return round whole numbers as ticks for an axis of counts.

    Examples
    --------
    >>> whole_ticks(0, 3.4), whole_ticks(139.2, 171)
    ([0, 1, 2, 3], [140, 145, 150, 155, 160, 165, 170])
    """
    first, last = int(np.ceil(low)), int(np.floor(high))
    steps = (k * 10**power for power in range(12) for k in (1, 2, 5))
    step = next(step for step in steps if (last - first) // step <= most)
    return list(range(-(-first // step) * step, last + 1, step))


def margins(plot: Any, _element: Any) -> None:
    """Set equal margins, so that stacked plots share their x axis (a HoloViews hook)."""
    plot.state.min_border_left = 90
    plot.state.min_border_right = 90
    plot.state.toolbar.logo = None


def fluid(height: int | None, left: int = 58, right: int = 62) -> Hook:
    """Return a HoloViews hook that lets a figure of this height follow the width of the page.

    Without a height, it fills its box. Equal margins let stacked figures share their x axis.
    """
    sizing = "stretch_width" if height else "stretch_both"

    def hook(plot: Any, _element: Any) -> None:
        figure = plot.state
        figure.update(frame_width=None, frame_height=None, width=None, height=height)
        figure.update(sizing_mode=sizing, min_border_left=left, min_border_right=right)
        figure.title.visible = False  # the status line says it
        figure.toolbar.update(logo=None, autohide=True)
        for axis in figure.axis:
            axis.update(axis_label_text_font_style="normal", major_label_text_color=LIGHT.quiet)

    return hook


def plain_frame(plot: Any, _element: Any) -> None:
    """Hide the grid and the logo (a HoloViews hook)."""
    plot.state.toolbar.logo = None
    plot.state.grid.visible = False


def few_marks(plot: Any, _element: Any) -> None:
    """Draw without WebGL, for pictures of a few hundred marks (a HoloViews hook).

    In a notebook, bokeh's WebGL left out rectangles until the next redraw.
    """
    plot.state.output_backend = "canvas"


def matrix_image(
    values: np.ndarray, name: str, bounds: tuple[float, float, float, float], scale: Scale
) -> hv.Image:
    """Draw a matrix in the colours of a scale, NaN grey; values: (rows, columns), last row low."""
    nothing = bool(np.isnan(values).all())  # HoloViews warns if all values are NaN.
    image = hv.Image(
        np.full_like(values, -9) if nothing else values[::-1],
        ["x", "y"],
        hv.Dimension(name, label=scale.label),
        bounds=bounds,
        rtol=1,
    )
    return image.opts(
        cmap=palette(scale),
        clim=scale.limits,
        clipping_colors={"min" if nothing else "NaN": NO_VALUE_COLOUR},
        colorbar=True,
        clabel=scale.key.name,
        colorbar_opts={**scale.bar, "title_text_font_size": "8pt"},
        default_tools=["save"],
    )


def add_image_hover(
    plot: Any, rows: Sequence[tuple[str, str]], code: str, arguments: dict[str, Any]
) -> None:
    """Add a hover of the pair of a pixel to the plot of an image.

    Each row is a label and the `format` for which the JavaScript `code` returns the text. The code
    sees the arguments by name.
    """
    plot.state.add_tools(
        HoverTool(
            renderers=[plot.handles["glyph_renderer"]],
            tooltips=[(label, f"@image{{{name}}}") for label, name in rows],
            formatters={"@image": CustomJSHover(args=arguments, code=code)},
        )
    )


def hooks_of(picture: Any) -> list[Hook]:
    """Return the hooks of a picture."""
    return list(picture.opts.get("plot").kwargs.get("hooks", []))


def with_hooks(picture: Any, *hooks: Hook) -> Any:
    """Return a picture with more hooks after its own."""
    return picture.opts(hooks=[*hooks_of(picture), *hooks]) if hooks else picture
