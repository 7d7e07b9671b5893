"""Pictures: what Python sends of a document, and what it hears."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import anywidget
import holoviews as hv
import numpy as np
import pytest
from bokeh.document import Document
from bokeh.events import Tap

from genobit.visual.explorer.channel import Channel
from genobit.visual.explorer.home import UiThread
from genobit.visual.explorer.menu import Copier
from genobit.visual.explorer.picture import CLOSING, Picture, fill, library
from genobit.visual.explorer.view import plot_of

hv.extension("bokeh")

Body = Callable[[Picture, list[dict]], Awaitable[None]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a test with a picture and the messages it sends, in an event loop as in a kernel."""

    def run(body: Body, *hooks) -> None:
        async def main() -> None:
            sent: list[dict] = []
            monkeypatch.setattr(
                Channel, "send", lambda _self, content, buffers=None: sent.append(content)
            )
            view = hv.Points([(1.0, 2.0), (3.0, 4.0)]).opts(hooks=list(hooks))
            picture = Picture(view, UiThread())
            await body(picture, sent)
            picture.close()

        asyncio.run(main())

    return run


def figure_of(picture: Picture):
    (figure,) = picture.document.roots
    return figure


def told(message: dict) -> list[str]:
    return [event.get("attr") for event in json.loads(message["content"])["events"]]


def says(picture: Picture, *events: dict, page: str = "page") -> None:
    """Let a view of a page say what has changed."""
    content = json.dumps({"events": events})
    message = {"kind": "patch", "page": page, "content": content}
    picture._receive(message)


def moved(picture: Picture, start: float) -> dict:
    model = figure_of(picture).x_range.ref
    return {"kind": "ModelChanged", "model": model, "attr": "start", "new": start}


def opened(picture: Picture, page: str) -> None:
    picture.channel._handle_custom_msg({"kind": "opened", "page": page, "number": 0}, [])


def test_changes_of_one_callback_are_one_message(run):
    async def body(picture: Picture, sent: list[dict]) -> None:
        figure = figure_of(picture)
        figure.x_range.update(start=1, end=2)
        figure.renderers[0].data_source.data = {"x": np.array([3.0]), "y": np.array([4.0])}
        assert sent == []
        await asyncio.sleep(0.01)
        (message,) = sent
        assert told(message) == ["start", "end", "data"]
        assert len(message["names"]) == 2
        assert message["number"] == 1

    run(body)


def test_new_view_gets_the_document_as_it_is(run):
    async def body(picture: Picture, sent: list[dict]) -> None:
        figure_of(picture).title.text = "sent before the view begins"
        found = picture.channel.get_state("snapshot")["snapshot"]
        assert [told(message) for message in sent] == [["text"]]
        assert found["number"] == 1
        await asyncio.sleep(0.01)
        assert len(sent) == 1
        content = json.loads(found["json"])
        assert "sent before" in found["json"]
        assert content["roots"][0]["id"] == figure_of(picture).id
        assert sorted(map(len, found["buffers"].values())) == [16, 16]

    run(body)


def test_changes_of_a_view_are_made_and_not_sent_back(run):
    async def body(picture: Picture, sent: list[dict]) -> None:
        heard = []
        figure_of(picture).x_range.on_change("start", lambda attr, old, new: heard.append(new))
        opened(picture, "page")
        says(picture, moved(picture, 1.5))
        await asyncio.sleep(0.01)
        assert figure_of(picture).x_range.start == 1.5
        assert heard == [1.5]
        assert sent == []

    run(body)


def test_other_pages_hear_of_a_change_before_its_consequences(run):
    async def body(picture: Picture, sent: list[dict]) -> None:
        figure = figure_of(picture)

        def answer() -> None:
            figure.x_range.start = 1.25

        figure.x_range.on_change("start", lambda attr, old, new: answer())
        for page in ("one", "other"):
            opened(picture, page)
        says(picture, moved(picture, 1.5), page="one")
        await asyncio.sleep(0.01)
        assert [message["page"] for message in sent] == ["one", ""]
        news = [json.loads(message["content"])["events"][0]["new"] for message in sent]
        assert news == [1.5, 1.25]
        assert [message["number"] for message in sent] == [1, 2]

    run(body)


def test_taps_reach_python_and_no_other_view(run):
    taps = []

    def hook(plot, _element) -> None:
        plot.state.on_event(Tap, lambda event: taps.append((event.x, event.y)))

    async def body(picture: Picture, sent: list[dict]) -> None:
        for page in ("one", "other"):
            opened(picture, page)
        model = figure_of(picture).ref
        values = {"type": "map", "entries": [["model", model], ["x", 3.0], ["y", 4.0]]}
        tap = {"type": "event", "name": "tap", "values": values}
        says(picture, {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": tap})
        assert taps == [(3.0, 4.0)]
        assert sent == []

    run(body, hook)


def test_page_that_missed_a_patch_gets_the_document(run, monkeypatch):
    async def body(picture: Picture, sent: list[dict]) -> None:
        states = []
        monkeypatch.setattr(picture.channel, "send_state", states.append)
        figure_of(picture).title.text = "a patch before the page listened"
        await asyncio.sleep(0.01)
        opened(picture, "page")
        picture.channel._handle_custom_msg({"kind": "refresh"}, [])
        assert states == ["snapshot", "snapshot"]

    run(body)


def test_frames_of_a_dynamic_map_are_sent(monkeypatch):
    async def main() -> None:
        frame = hv.streams.Stream.define("Frame", number=0)()
        view = hv.DynamicMap(lambda number: hv.Points([(number, 0.0)]), streams=[frame])
        picture, sent = Picture(view, UiThread()), []
        channel = picture.channel
        monkeypatch.setattr(channel, "send", lambda content, buffers=None: sent.append(content))
        frame.event(number=7)
        await asyncio.sleep(0.01)
        (message,) = sent
        assert "data" in told(message)
        picture.close()

    asyncio.run(main())


def test_document_of_a_picture_is_one_that_bokeh_reads():
    picture = Picture(hv.Table([(1, 2)], "a", "b") + hv.Curve([1, 3]), UiThread())
    found = Document.from_json(picture.document.to_json())
    assert [root.id for root in found.roots] == [root.id for root in picture.document.roots]
    picture.close()


def test_no_message_depends_on_anywidget(monkeypatch):
    def send(widget: anywidget.AnyWidget, message: dict, **_buffers) -> None:
        if widget.comm is not None:
            sent.append(message)

    async def main() -> None:
        picture = plot_of(hv.Curve([1, 2]), UiThread())
        figure_of(picture).title.text = "new"
        await asyncio.sleep(0.01)
        opened(picture, "page")
        Copier().copy("text")
        picture.close()

    sent: list[dict] = []
    monkeypatch.setattr(anywidget.AnyWidget, "_send", send)
    asyncio.run(main())
    assert sent == []


def test_closed_picture_has_a_closed_channel():
    picture = Picture(hv.Curve([1, 2]), UiThread())
    assert picture.channel.comm is not None
    for _ in range(2):
        picture.close()
        assert picture.channel.comm is None


def test_pictures_share_one_library():
    first, second = (Picture(hv.Curve([1, 2]), UiThread()) for _ in range(2))
    assert first.library is second.library is library()
    assert all(data.startswith(b"\x1f\x8b") for data in first.library.pieces.values())
    first.close()
    second.close()


def test_closed_library_is_replaced():
    before = library()
    before.close()
    assert library() is not before


def test_picture_that_is_replaced_is_closed(monkeypatch):
    import ipywidgets

    home = UiThread()
    box, (old, new) = ipywidgets.VBox(), (Picture(hv.Curve([1, k]), home) for k in (2, 3))
    closed = []

    def close(picture: Picture) -> None:
        closed.append(picture)

    monkeypatch.setattr(Picture, "close", close)
    for picture in (old, old, new):
        fill(box, picture)
    assert closed == [old]
    assert box.children == (new,)
    assert CLOSING > 1


def test_bokehjs__has_the_methods_that_pictures_replace() -> None:
    """Without them, pictures are drawn more slowly, and only the browser's console says so."""
    from bokeh.util.paths import static_path

    text = Path(static_path(), "js", "bokeh.min.js").read_text(encoding="utf-8")
    assert "_get_css_value(" in text
    assert '"core/visuals/visual":' in text
    assert "async update_data(" in text
    assert '"models/renderers/glyph_renderer":' in text
