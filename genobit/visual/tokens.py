"""Design tokens: the colours, type sizes and line widths of every picture, light and dark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Colours at places from 0 to 1.
Ramp = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Tokens:
    """The colours of one theme. The zero of both ramps is the page."""

    paper: str
    panel: str
    ink: str
    """Text, axes and outlines of blocks."""
    slate: str
    """Genes, plain marks and secondary text."""
    quiet: str
    """Ticks, hints and the status line."""
    rule: str
    edge: str
    accent: str
    """The lead variant, the selection and the active control."""
    tint: str
    no_value: str
    """Missing values, such as r² of a monomorphic variant."""
    error: str
    sequential: Ramp
    diverging: Ramp
    r2_bins: tuple[str, ...]
    """Colours of r² with the lead between 0, 0.2, 0.4, 0.6, 0.8 and 1."""


LIGHT = Tokens(
    paper="#ffffff",
    panel="#f7f8fa",
    ink="#1a1d21",
    slate="#4a5361",
    quiet="#6a7380",
    rule="#dde1e6",
    edge="#c9ced6",
    accent="#0072b2",
    tint="#e6f1f8",
    no_value="#d5d9df",
    error="#b00020",
    sequential=(
        (0.0, "#ffffff"),
        (0.2, "#fdebd8"),
        (0.4, "#f8be8c"),
        (0.6, "#e9795a"),
        (0.8, "#b5375a"),
        (1.0, "#4b1150"),
    ),
    diverging=(
        (0.0, "#0b3c6f"),
        (0.18, "#1c6a94"),
        (0.34, "#6fb0d0"),
        (0.44, "#cbe2ec"),
        (0.5, "#ffffff"),
        (0.56, "#fbdfc4"),
        (0.66, "#f29c68"),
        (0.82, "#c23f57"),
        (1.0, "#7a1a12"),
    ),
    r2_bins=("#b4bdc9", "#f8c79c", "#ee8f66", "#cc5258", "#7e2455"),
)
DARK = Tokens(
    paper="#16191e",
    panel="#1e2228",
    ink="#e9ecf0",
    slate="#b4bcc7",
    quiet="#8b95a2",
    rule="#2c323a",
    edge="#3d4550",
    accent="#58b4e8",
    tint="#183244",
    no_value="#3d4550",
    error="#ef7d88",
    sequential=(
        (0.0, "#16191e"),
        (0.2, "#34203a"),
        (0.4, "#74264f"),
        (0.6, "#c8455a"),
        (0.8, "#f39a66"),
        (1.0, "#fff0d2"),
    ),
    diverging=(
        (0.0, "#d6f1ff"),
        (0.18, "#6fb9df"),
        (0.34, "#2b7199"),
        (0.44, "#1d3a4c"),
        (0.5, "#16191e"),
        (0.56, "#43203c"),
        (0.66, "#aa3850"),
        (0.82, "#f08a5c"),
        (1.0, "#ffe6b8"),
    ),
    r2_bins=("#5c6673", "#8a3a5c", "#c8455a", "#f08a5c", "#ffe2b8"),
)

#: Colours of groups that colour-blind readers tell apart; more groups share the last one.
GROUPS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#2b2f36",
    "#8b5a2b",
)
#: The colours of `GROUPS` on a dark page. The first is the accent, as on a light
#: page, so the fifth is the darker blue.
DARK_GROUPS = (
    "#58b4e8",
    "#e69f00",
    "#089b73",
    "#c46fa3",
    "#2671ca",
    "#d55e00",
    "#e6e9ee",
    "#8e6937",
)
OTHER_GROUP = "#a3acb8"
BASES = {"A": "#009e73", "C": "#0072b2", "G": "#e69f00", "T": "#cc79a7", "U": "#cc79a7"}
#: Bands of kinship: twins, then relatives of the first, second and third degree.
BANDS = ("#f3c9b0", "#f8dcc4", "#fbeadb", "#fdf4ec")
#: Bands of kinship on a dark page.
DARK_BANDS = ("#5a3428", "#46302a", "#33292a", "#252429")

#: Sizes of text in points: base, ticks and notes, and the title of a panel.
BASE_PT, NOTE_PT, TITLE_PT, PANEL_PT = 7.0, 6.0, 7.5, 9.0
#: Least size of a letter in a dot, in points.
LETTER_PT = 5.2
#: Widths of lines in points: axes, hairlines, outlines, and the casing of a line over a map.
AXIS_PT, HAIRLINE_PT, OUTLINE_PT, CASING_PT = 0.5, 0.3, 0.9, 2.2
FONTS = ("Arial", "Liberation Sans", "DejaVu Sans")


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2)."""
    level = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(level <= 0.03928, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def ink_on(colour: str) -> str:
    """Return the colour of text that has more contrast with a colour: ink or paper.

    Examples
    --------
    >>> ink_on("#ffffff") == LIGHT.ink, ink_on("#7a1a12") == LIGHT.paper
    (True, True)
    """
    below = luminance(colour) + 0.05
    ink, paper = (luminance(text) + 0.05 for text in (LIGHT.ink, LIGHT.paper))
    return LIGHT.ink if below / ink > paper / below else LIGHT.paper


def ramp(stops: Ramp, size: int, start: float = 0.0) -> list[str]:
    """Return evenly spaced colours of a ramp, from the place ``start`` to 1.

    Examples
    --------
    >>> ramp(((0.0, "#000000"), (1.0, "#ffffff")), 3)
    ['#000000', '#808080', '#ffffff']
    """
    places, colours = zip(*stops, strict=True)
    levels = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours])
    at = np.linspace(start, 1.0, size)
    mixed = np.stack([np.interp(at, places, channel) for channel in levels.T], axis=1)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in np.floor(mixed + 0.5).astype(int)]
