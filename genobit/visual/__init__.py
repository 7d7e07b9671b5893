"""What figures and explorers share: style, colours, controls, selection, the bridge to Bokeh.

It knows no analysis. May import: `io`, `data` and the engine; holoviews, bokeh, ipywidgets.
"""
