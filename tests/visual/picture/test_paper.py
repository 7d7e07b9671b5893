"""Every mark and every option of an axis on screen and on paper."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pytest
from bokeh.models import HoverTool, LogScale
from bokeh.models.annotations import Legend, Title
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Page

from genobit.visual.figure import Figure
from genobit.visual.paper.page import page_of
from genobit.visual.picture.paper import paper_of
from genobit.visual.picture.screen import paint
from genobit.visual.picture.spec import Axis, Boxes, Line, Picture, Points
from tests.visual.picture.pictures import MARKS, picture
from tests.visual.texts import overlapping, texts_of

AXES = {
    "plain": Axis("Place"),
    "log": Axis("Place", log=True),
    "limits": Axis("Place", (0.5, 6.0)),
    "ticks": Axis("Place", ticks=((1.0, "one"), (3.0, "three"), (99.0, "far"))),
    "whole": Axis("Place", whole=True),
    "flipped": Axis("Place", flipped=True),
}


def page(drawn: Picture, width: float = 85) -> Page:
    return page_of(paper_of(drawn), width)


def frame_of(figure: Page) -> Axes:
    (frame,) = figure.axes[0].child_axes
    return frame


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("width", [85, 180])
def test_marks_are_drawn(name: str, width: int) -> None:
    drawn = picture(MARKS[name])
    frame = frame_of(page(drawn, width))
    assert len(frame.collections) + len(frame.lines) == 1
    layers = list(paint(drawn))
    assert len(layers) == 1
    hv.render(paint(drawn))


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("which", ["x", "y"])
def test_axes_are_the_same_on_screen_and_paper(name: str, which: str) -> None:
    drawn = picture(MARKS["points"], **{which: AXES[name]})
    ends = drawn.panel.limits()["xy".index(which)]
    frame, model = frame_of(page(drawn)), hv.render(paint(drawn))
    seen = getattr(frame, f"get_{which}lim")()
    shown = getattr(model, f"{which}_range")
    assert seen == pytest.approx(ends[::-1] if AXES[name].flipped else ends)
    assert (shown.start, shown.end) == pytest.approx(seen)
    scale = getattr(model, f"{which}_scale")
    assert isinstance(scale, LogScale) == AXES[name].log
    assert getattr(frame, f"get_{which}scale")() == ("log" if AXES[name].log else "linear")
    ticks = getattr(frame, f"{which}axis").get_ticklocs()
    assert ((ticks >= min(ends)) & (ticks <= max(ends))).all()
    names = [text.get_text() for text in getattr(frame, f"get_{which}ticklabels")()]
    if name == "ticks":
        assert names == ["one", "three"]
    if name == "whole":
        assert all(float(text) == int(float(text)) for text in names)


@pytest.mark.parametrize("width", [85, 180])
def test_title_and_notes_stand_on_both(width: int) -> None:
    written = [text for text, _ in texts_of(page(picture(), width))]
    assert "All marks. They are drawn." in written
    shown = {title.text for title in hv.render(paint(picture())).select({"type": Title})}
    assert {"All marks", "They are drawn."} <= shown


@pytest.mark.parametrize("n", [1, 3, 9])
@pytest.mark.parametrize("width", [60, 85, 180])
@pytest.mark.parametrize("kind", [Line, Points, Boxes])
def test_keys_have_all_names_apart(kind: type, width: int, n: int) -> None:
    at = np.arange(4.0)
    places = [at, at] if kind is not Boxes else [at, 0 * at, at + 1, at]
    marks = [kind(*places, label=f"group {k}", note=f"note {k}") for k in range(n)]
    drawn = picture(*marks, MARKS["level"])
    figure = page(drawn, width)
    assert overlapping(figure) == []
    written = " ".join(text for text, _ in texts_of(figure))
    model = hv.render(paint(drawn))
    entries = [item.label.value for item in model.select_one({"type": Legend}).items]
    assert entries == [f"group {k}: note {k}" for k in range(n)]
    assert all(f"group {k}" in written and f"note {k}" in written for k in range(n))


def test_hover_has_the_values() -> None:
    values = {"name": np.array(["a", "b"], object), "n": np.array([1, 2]), "p": np.array([0.1, 1])}
    drawn = paint(picture(Points(np.arange(2.0), np.arange(2.0), hover=values)))
    (points,) = drawn
    for k, column in enumerate(values.values()):
        assert points.dimension_values(f"hover_{k}").tolist() == column.tolist()
    (tool,) = hv.render(drawn).select({"type": HoverTool})
    assert [label for label, _ in tool.tooltips] == ["name", "n", "p"]


def test_a_figure_is_drawn_again_and_again() -> None:
    figure = Figure(picture())
    assert figure._repr_html_() != ""
    assert (figure.hv + figure.hv)._repr_mimebundle_() is not None
    assert figure._repr_html_() != ""


@pytest.mark.parametrize("zoom", ["", "x", "xy"])
def test_zoom_is_an_option_of_the_panel(zoom: str) -> None:
    model = hv.render(paint(picture(MARKS["line"], zoom=zoom)))
    tools = {type(tool).__name__ for tool in model.toolbar.tools}
    assert ("WheelZoomTool" in tools) == bool(zoom)


def test_a_square_panel_is_as_wide_as_high() -> None:
    for width in (85, 180):
        box = frame_of(page(picture(MARKS["line"], size=(300, 300), square=True), width))
        extent = box.get_window_extent()
        assert extent.width == pytest.approx(extent.height, rel=1e-6)


@pytest.mark.parametrize("label", ["Mean r²", "costs $5", "−log₁₀ P", "x_1^2", "\x01"])
def test_labels_of_users_are_text(label: str) -> None:
    drawn = picture(MARKS["line"], x=Axis(label))
    figure = page(drawn)
    figure.canvas.draw()
    hv.render(paint(drawn))
