"""One BLAS thread inside of tasks, and as many as before outside."""

from __future__ import annotations

import os
import threading
from typing import Any

import dask
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from genobit.engine.gemm import standardised
from genobit.engine.schedule.computing import one_blas_thread
from genobit.grm.kernels import sums
from tests.helpers.cohorts import cohort, random_calls


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


BEFORE = blas_threads()
pytestmark = pytest.mark.skipif(not BEFORE - {1}, reason="BLAS has one thread, or is not known")


def test_the_last_task_restores_the_limit() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait(60)

    with one_blas_thread():
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(60)
        assert blas_threads() == {1}
    assert blas_threads() == {1}, "the other task is still there"
    # An error counts as the end of a task.
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    leave.set()
    thread.join()
    assert blas_threads() == BEFORE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_tasks_of_its_parent() -> None:
    with one_blas_thread():
        child = os.fork()
        if not child:
            with one_blas_thread():
                os._exit(0 if blas_threads() == {1} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (standardised, "gram_times"),
        (standardised, "times_samples"),
        (standardised, "times_variants"),
        (sums, "fourth_moments"),
        ("genobit.epistasis.kernels.trait", "search_pairs"),
    ],
)
def test_products_in_tasks_have_one_thread(
    module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(module, str):
        from genobit.epistasis.kernels import trait as module
    found: list[set[int]] = []
    function = getattr(module, name)

    def counted(*arguments: Any, **options: Any) -> Any:
        found.append(blas_threads())
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, counted)
    ds = cohort(random_calls(5, 60, 30), chunks=(20, 30))
    ds = ds.assign_coords(sample_trait=("samples", np.random.default_rng(1).normal(size=30)))
    with dask.config.set(scheduler="threads"):
        if name == "search_pairs":
            ds.genobit.epistasis("sample_trait", order=2, statistic="f", top=3)
        elif name == "fourth_moments":
            ds.genobit.grm("endelman_jannink").compute()
        else:
            pcs = ds.genobit.pca(2, method="randomized")
            ds.genobit.project(pcs).compute()
        assert blas_threads() == BEFORE
    assert found
    assert set.union(*found) == {1}
