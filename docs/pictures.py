"""Shows what `genobit.plots` draws in the built pages; a page runs it in its first cell.

In a notebook `hv.extension("bokeh", inline=True)` puts the scripts of Bokeh and Panel, some
megabytes, into each page. Here a picture is its data alone, and `conf.py` has the page load Bokeh.
"""

from bokeh.embed import components
from holoviews import Store
from holoviews.core import Dimensioned
from holoviews.plotting import bokeh  # noqa: F401  the renderer
from IPython import get_ipython

from genobit.launcher.demo.report import drawn

Store.set_current_backend("bokeh")


def picture(plot: Dimensioned) -> str:
    """Draw a HoloViews object as a division of the page, and the script that fills it."""
    script, division = components(drawn(plot))
    return f'<div class="picture">{division}</div>{script}'


get_ipython().display_formatter.formatters["text/html"].for_type(Dimensioned, picture)
