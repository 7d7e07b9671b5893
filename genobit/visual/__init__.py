"""Shared parts of figures and explorers: style, colours, controls, selection, bridge to Bokeh.

It knows no analysis. May import: `io`, `data` and the engine; holoviews, bokeh, ipywidgets.
"""
