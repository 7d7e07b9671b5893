"""A forked child computes, whatever the threads of its parent did at the moment of the fork."""

from __future__ import annotations

import multiprocessing
import os
import threading
from typing import TYPE_CHECKING

import pytest

from genobit.engine.options import _lock, get_options, set_options
from tests.helpers.programs import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]

# Analyses in the parent, then others in children, with the scheduler that users have.
AFTER_COMPUTING = """
import multiprocessing, warnings
import numpy as np, xarray as xr
import genobit

warnings.simplefilter("ignore", DeprecationWarning)
calls = np.random.default_rng(0).integers(0, 2, (20, 30, 2)).astype("i1")
ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})

def total(method):
    return float(np.nansum(getattr(ds.genobit, method)().compute()))

expected = {"ld": total("ld")}
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = dict(zip(["ld", "grm", "kendall"], pool.map(total, ["ld", "grm", "kendall"])))
expected |= {"grm": total("grm"), "kendall": total("kendall")}
assert found == expected, (found, expected)
print("equal")
"""

# One thread compiles a kernel for as long as it takes to fork; the child compiles another.
WHILE_COMPILING = """
import os, sys, threading, time, warnings
from numba.core import event
import numpy as np
from genobit.engine.bits import words as bits

warnings.simplefilter("ignore", DeprecationWarning)
compiling = threading.Event()

class Slow(event.Listener):
    def on_start(self, _):
        compiling.set()
        time.sleep(0.2)
    def on_end(self, _):
        pass

three, five = np.uint64(3), np.uint64(5)
with event.install_listener("numba:compile", Slow()):
    thread = threading.Thread(target=bits.spread_bits, args=(three,))
    thread.start()
    compiling.wait()
    child = os.fork()
if child == 0:
    right = (bits.spread_bits(three), bits.even_bits(five)) == (five, three)
    os._exit(0 if right else 1)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.distributed
def test_children__compute_what_the_parent_did_and_did_not_compute() -> None:
    assert run("-c", AFTER_COMPUTING, seconds=120) == "equal\n"


@pytest.mark.compiled("forks during compilation")
@pytest.mark.distributed
def test_a_child_that_is_forked_while_a_thread_compiles__compiles(tmp_path: Path) -> None:
    run("-c", WHILE_COMPILING, seconds=120, NUMBA_CACHE_DIR=str(tmp_path))


def _set_progress() -> None:
    with set_options(progress=True):
        assert get_options().progress


def test_a_child_that_is_forked_while_a_thread_sets_an_option__sets_options() -> None:
    taken = threading.Event()

    def hold() -> None:
        with _lock:
            taken.set()
            threading.Event().wait(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    child = multiprocessing.get_context("fork").Process(target=_set_progress)
    child.start()
    child.join(30)
    child.kill()
    thread.join()
    assert child.exitcode == 0
