"""Functions that draw or list labelled results. Drawings are HoloViews objects.

The functions make no widgets. They only select, bin and colour values. Notebooks display the
objects without ``hv.extension()``; combine them with ``+`` and ``*``. `result.genobit.plot()` draws
any result as a `genobit.visual.figure.Figure`.
"""

from __future__ import annotations

from typing import Any

import genobit.visual  # noqa: F401  first, as it says which package is missing
from genobit.data.analysis import registered
from genobit.engine.synonyms import own_name
from genobit.visual.figure import display_in_notebooks
from genobit.visual.plot_options import styled

display_in_notebooks()

# Apply the size and background of the options. Explorers call the original functions.
_PUBLIC = {
    draw.__name__: styled(draw)
    for analysis in registered()
    for draw in getattr(analysis.part("plots.kinds"), "PUBLIC", ())
}
globals().update(_PUBLIC)
__all__ = sorted(_PUBLIC)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    meant = "" if name.startswith("_") else own_name(name, __all__)
    msg = f"module 'genobit.plots' has no attribute {name!r}{meant}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    dunders = {name for name in globals() if name.startswith("__") and name.endswith("__")}
    return sorted({*dunders, *__all__})
