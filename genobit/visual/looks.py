"""Style sheet of explorers, in the design tokens of light and dark themes."""

from __future__ import annotations

import html
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import ipywidgets

from genobit.visual.tokens import DARK, LIGHT, Tokens

_DARK_PAGES = (
    'body[data-jp-theme-light="false"] .genobit-explorer.genobit-theme-auto, '
    'body[data-vscode-theme-kind*="dark"] .genobit-explorer.genobit-theme-auto, '
    ".genobit-explorer.genobit-theme-dark"
)
THEMES = ("auto", "light", "dark")
#: An absolute value with its bound, such as "|τ| ≥ 0.15". A browser breaks lines after "|".
_CONDITION = re.compile(r"\|\w+\|(?: [≥≤] [\d.]+)?")


def variables(tokens: Tokens) -> str:
    """Return the colours of a theme as CSS variables, such as ``--gb-ink: #1a1d21``."""
    names = [field.name for field in fields(tokens) if isinstance(getattr(tokens, field.name), str)]
    return " ".join(f"--gb-{name.replace('_', '-')}: {getattr(tokens, name)};" for name in names)


@cache
def style_sheet() -> str:
    """Return the style sheet of explorers."""
    rules = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    light = f".genobit-explorer {{ {variables(LIGHT)} }}"
    dark = f"{_DARK_PAGES} {{ {variables(DARK)} color-scheme: dark; }}"
    return f"{light}\n{dark}\n{rules}"


def style() -> ipywidgets.HTML:
    """Return the style sheet, as a widget without a size."""
    return ipywidgets.HTML(f"<style>{style_sheet()}</style>", layout={"display": "none"})


def escaped(text: str) -> str:
    """Return a text as HTML in which conditions stay on one line.

    Examples
    --------
    >>> escaped("edges & |τ| ≥ 0.15")
    'edges &amp; <span class="genobit-unbroken">|τ| ≥ 0.15</span>'
    """
    return _CONDITION.sub(r'<span class="genobit-unbroken">\g<0></span>', html.escape(text))


def panel(widget: ipywidgets.Widget, least: int = 270) -> ipywidgets.Widget:
    """Let a table shrink and scroll if there is no room for it beside a picture.

    The table goes below the picture if fewer than `least` pixels are left beside it.
    """
    layout = widget.layout
    layout.flex, layout.min_width, layout.max_width = f"1 1 {least}px", "0", "max-content"
    return widget.add_class("genobit-panel")


def wrapping(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return parts of an explorer in a row that wraps if there is no room."""
    return ipywidgets.HBox(widgets, layout={"flex_flow": "row wrap", "align_items": "flex-start"})
