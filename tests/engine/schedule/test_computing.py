"""Results one by one: each once, and beside the callbacks of others."""

from __future__ import annotations

from typing import Any

import dask
import pytest
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from genobit.engine.schedule.computing import as_completed


def chain() -> list[Delayed]:
    """Three tasks, of which the last needs all others."""
    add = delayed(lambda *parts: sum(parts), pure=False)
    one = add(1)
    two = add(one, 1)
    return [one, two, add(one, two)]


def others(graph: Any, keys: Any, **kwargs: Any) -> Any:
    """A scheduler that knows of no callbacks."""
    assert not kwargs
    return dask.get(graph, keys)


@pytest.mark.parametrize("scheduler", ["sync", "threads", others])
@pytest.mark.parametrize("with_last", [True, False])
def test_each_result__is_seen_once(scheduler: Any, with_last: bool) -> None:
    tasks = chain()
    seen: list[tuple[Any, Any]] = []
    told: list[Any] = []
    with (
        dask.config.set(scheduler=scheduler),
        Callback(posttask=lambda key, *_: told.append(key)),
    ):
        as_completed(tasks, lambda *pair: seen.append(pair), tasks[-1] if with_last else None)
    assert sorted(seen) == sorted(zip([task.key for task in tasks], [1, 2, 3], strict=True))
    # A bar of the user counts all tasks.
    assert {task.key for task in tasks} <= set(told)


def test_an_error_of_what_sees_results__ends_the_computation() -> None:
    def see(*_: Any) -> None:
        msg = "the disk is full"
        raise OSError(msg)

    with pytest.raises(OSError, match="the disk is full"):
        as_completed(chain(), see)
