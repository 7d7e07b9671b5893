"""Pictures that know no drawing library, and their painters for screen and paper.

A plot function turns a labelled result and options into a `spec.Picture`. Tests compare its marks.
`screen` paints it with HoloViews, `paper` with matplotlib.

May import: `visual`, `data`; HoloViews and Bokeh in `screen`, matplotlib in `paper`.
"""
