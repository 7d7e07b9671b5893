"""Work that is stopped: it ends, what waits is dropped, and all of it can be taken up again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array
import numpy as np

from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.frame import StatusRow
from genobit.visual.explorer.stopping import Stoppable, Stopped


def in_thread(work: Callable[[], Any], stoppable: Stoppable) -> tuple[threading.Thread, list[Any]]:
    ended: list[Any] = []

    def run() -> None:
        try:
            ended.append(stoppable.run(work))
        except Stopped as stopped:
            ended.append(stopped)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, ended


def test_stops_a_loop_and_nothing_after_it():
    stoppable, running = Stoppable(), threading.Event()

    def forever() -> None:
        while True:
            running.set()
            time.sleep(0.001)

    thread, ended = in_thread(forever, stoppable)
    assert running.wait(60)
    assert stoppable.stop()
    thread.join(60)
    assert isinstance(ended[0], Stopped)
    assert not stoppable.stop()
    thread, ended = in_thread(lambda: sum(range(100_000)), stoppable)
    thread.join(60)
    assert ended == [4_999_950_000]


def test_goes_past_what_catches_any_error():
    stoppable, running = Stoppable(), threading.Event()

    def stubborn() -> str:
        try:
            running.set()
            while True:
                time.sleep(0.001)
        except Exception:  # noqa: BLE001  that is the test
            return "went on"

    thread, ended = in_thread(stubborn, stoppable)
    assert running.wait(60)
    stoppable.stop()
    thread.join(60)
    assert isinstance(ended[0], Stopped)


class Counting(Explorer):
    """An explorer that computes whatever a test hands it."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def ask(self, what: str, work: Callable[[], Any]) -> None:
        self._said = "ready"
        self._work(what, work, lambda result, _seconds: self.got.append(result))


def test_dask_begins_no_further_task():
    go_on, seen = threading.Event(), []

    def slow(chunk: np.ndarray) -> np.ndarray:
        seen.append(1)
        _wait(go_on)
        return chunk

    array = dask.array.zeros(400, chunks=1).map_blocks(slow, dtype="f8", meta=np.empty(0))

    async def session() -> Counting:
        explorer = Counting()
        explorer.ask("the chunks", lambda: array.compute(scheduler="threads", num_workers=2))
        explorer.ask("what waits", lambda: 1)
        while len(seen) < 2:
            await asyncio.sleep(0.005)
        _, cancel, again = StatusRow(explorer).children
        worker = explorer._worker
        assert cancel.layout.display != "none"
        assert again.layout.display == "none"
        cancel.click()
        assert not explorer.busy
        assert explorer.status.startswith("Stopped after")
        assert "the chunks and what waits" in explorer.status
        assert again.layout.display == "flex"
        # The two tasks that had begun end now, and with them the thread that hands them out.
        go_on.set()
        worker.shutdown()
        assert len(seen) == 2
        return explorer

    explorer = asyncio.run(session())
    assert [str(result) for result in explorer.got] == ["it was stopped"] * 2


def test_run_again_takes_up_what_was_stopped():
    async def session() -> Counting:
        explorer, running, go_on = Counting(), threading.Event(), threading.Event()
        explorer.ask("the first", lambda: running.set() or _wait(go_on))
        assert running.wait(60)
        explorer.stop()
        go_on.set()
        StatusRow(explorer).children[2].click()
        assert explorer.busy
        while explorer.busy:
            await asyncio.sleep(0.01)
        return explorer

    explorer = asyncio.run(session())
    assert explorer.got[-1] is True
    assert explorer.status == "ready"
    assert not explorer.stopped


def test_says_what_was_saved_while_something_else_is_computed(tmp_path, monkeypatch):
    # No seconds in the line, however slow this machine is.
    monkeypatch.setattr("genobit.visual.explorer.jobs.TICK", 3600.0)

    async def session() -> tuple[str, str, str]:
        explorer, go_on = Counting(), threading.Event()
        explorer.ask("the first", lambda: _wait(go_on))
        explorer._saved(tmp_path / "note.txt", {".txt": Path.touch}, "a note")
        meanwhile = explorer.status
        go_on.set()
        while explorer.busy:
            await asyncio.sleep(0.01)
        after = explorer.status
        explorer.ask("the next", lambda: 1)
        return meanwhile, after, explorer.status

    meanwhile, after, later = asyncio.run(session())
    saved = f"Saved a note to {tmp_path / 'note.txt'}"
    assert meanwhile == f"Computing the first … · {saved}"
    assert after == f"ready · {saved}"
    assert later == "Computing the next …"


def _wait(event: threading.Event) -> bool:
    """Until an event, in steps between which a thread can be stopped."""
    end = time.monotonic() + 60
    while not event.is_set() and time.monotonic() < end:
        time.sleep(0.001)
    return event.is_set()
