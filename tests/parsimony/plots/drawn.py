"""Trees drawn for papers."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from genobit.visual.paper.page import page_of


def drawn(paper, width_mm: float = 180) -> Figure:
    figure = page_of(paper, width_mm)
    FigureCanvasAgg(figure).draw()
    return figure


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def words(figure: Figure) -> str:
    return " ".join(texts(figure))
