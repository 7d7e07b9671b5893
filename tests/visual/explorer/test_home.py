"""The thread of an explorer: calls that are throttled, and answers to other threads."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from genobit.visual.explorer.home import PATIENCE, Throttled, UiThread


def test_requests_of_one_message_are_one_call_and_the_first_does_not_wait():
    async def main() -> list[float]:
        home, calls = UiThread(), []
        loop = asyncio.get_running_loop()
        later = Throttled(home, lambda: calls.append(loop.time()))
        for _ in range(3):
            later()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(calls) == 1
        for _ in range(3):
            later()
        await asyncio.sleep(0)
        assert len(calls) == 1
        await asyncio.sleep(2 * PATIENCE)
        return calls

    first, second = asyncio.run(main())
    assert second - first >= 0.9 * PATIENCE


async def asked(home: UiThread, function, seconds: float):
    """The result of a function that another thread asks for."""
    return await asyncio.to_thread(home.result, function, seconds)


def test_result_is_made_at_home():
    async def main() -> list[int]:
        home = UiThread()
        return [home.result(threading.get_ident, 1.0), await asked(home, threading.get_ident, 10.0)]

    assert set(asyncio.run(main())) == {threading.get_ident()}


def test_result_is_made_on_the_spot_if_home_is_busy():
    async def main() -> int:
        home = UiThread()
        answer = asyncio.ensure_future(asked(home, threading.get_ident, 0.05))
        await asyncio.sleep(0)
        time.sleep(0.3)  # a long cell
        return await answer

    assert asyncio.run(main()) != threading.get_ident()


def test_errors_of_home_reach_the_thread_that_asks():
    def fail() -> None:
        raise KeyError("no such thing")

    async def main() -> None:
        await asked(UiThread(), fail, 10.0)

    with pytest.raises(KeyError, match="no such thing"):
        asyncio.run(main())
