"""Style sheet and layout of explorers: parts round the plots, narrow windows, dark themes."""

from __future__ import annotations

import ipywidgets

#: The style sheet uses JupyterLab's CSS variables, so colours follow its theme. The values after
#: them are fallbacks for pages without the variables (Voila). CSS variables do not reach Bokeh's
#: canvas, and its tables and hovers are white in every theme. Dark themes therefore invert the
#: colours of plots, and rotate hues by 180 degrees so that hues stay. White becomes the page's dark
#: grey, strong colours stay far from the page, and order by lightness stays an order
#: (`tests/visual/test_colouring.py` checks this for colour-blind readers). Saved pictures stay on
#: white, for papers.
DARK = "invert(0.93) hue-rotate(180deg)"
_STYLE = """
.genobit-explorer { color: var(--jp-content-font-color1, #111); overflow-x: auto; }
.genobit-explorer .genobit-line { font-size: var(--jp-ui-font-size1, 13px); }
.genobit-explorer .widget-html-content { line-height: 1.4; }
.genobit-explorer .genobit-error { color: var(--jp-error-color1, #b00020); font-weight: bold; }
.genobit-explorer .genobit-quiet { color: var(--jp-content-font-color2, #555); }
.genobit-explorer .genobit-empty {
  border: 1px dashed var(--jp-border-color1, #aaa);
  color: var(--jp-content-font-color2, #555);
  margin: 10px; padding: 10px; max-width: calc(100% - 42px); box-sizing: border-box;
  align-items: center; justify-content: center;
}
.genobit-explorer .genobit-empty .widget-html-content { white-space: normal; text-align: center; }
.genobit-explorer .genobit-tools {
  border-top: 1px solid var(--jp-border-color2, #ddd); padding-top: 2px; margin-top: 2px;
}
.genobit-explorer .genobit-selected { margin-left: 24px; }
.genobit-explorer .genobit-panel { overflow-x: auto; }
.genobit-explorer :is(button, select, input, .noUi-handle):focus-visible {
  outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 1px;
}
.genobit-explorer .genobit-opened {
  border-top: 2px solid var(--jp-border-color1, #bbb); margin-top: 12px; padding-top: 4px;
}
.genobit-explorer .genobit-plot {
  background: #fff; color: #111;
  --jp-ui-font-color0: #111; --jp-ui-font-color1: #111; --jp-content-font-color1: #111;
  --jp-layout-color0: #fff; --jp-layout-color1: #fff; --jp-cell-editor-background: #fff;
  --bokeh-base-font: var(--jp-ui-font-family, system-ui, sans-serif);
}
body[data-jp-theme-light="false"] .genobit-theme-auto .genobit-plot,
body[data-vscode-theme-kind*="dark"] .genobit-theme-auto .genobit-plot,
.genobit-theme-dark .genobit-plot { filter: DARK; }
.genobit-explorer.genobit-theme-dark, .genobit-explorer.genobit-theme-light {
  background: var(--jp-layout-color0);
}
.genobit-explorer.genobit-theme-dark {
  --jp-layout-color0: #111; --jp-layout-color1: #212121; --jp-layout-color2: #424242;
  --jp-layout-color3: #616161;
  --jp-content-font-color1: #fff; --jp-content-font-color2: #bbb;
  --jp-ui-font-color0: #fff; --jp-ui-font-color1: rgba(255, 255, 255, 0.87);
  --jp-widgets-color: #fff; --jp-widgets-label-color: #fff; --jp-widgets-readout-color: #fff;
  --jp-widgets-input-background-color: #212121; --jp-widgets-input-color: #fff;
  --jp-border-color1: #616161; --jp-border-color2: #424242; --jp-error-color1: #ef5350;
}
.genobit-explorer.genobit-theme-light {
  --jp-layout-color0: #fff; --jp-layout-color1: #fff; --jp-layout-color2: #eee;
  --jp-layout-color3: #bdbdbd;
  --jp-content-font-color1: #111; --jp-content-font-color2: #555;
  --jp-ui-font-color0: #111; --jp-ui-font-color1: rgba(0, 0, 0, 0.87);
  --jp-widgets-color: #111; --jp-widgets-label-color: #111; --jp-widgets-readout-color: #111;
  --jp-widgets-input-background-color: #fff; --jp-widgets-input-color: #111;
  --jp-border-color1: #bdbdbd; --jp-border-color2: #e0e0e0; --jp-error-color1: #b00020;
}
""".replace("DARK", DARK)

THEMES = ("auto", "light", "dark")


def style() -> ipywidgets.HTML:
    """Return the style sheet, as a widget without a size."""
    return ipywidgets.HTML(f"<style>{_STYLE}</style>", layout={"display": "none"})


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
