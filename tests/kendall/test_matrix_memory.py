"""What the matrix of all pairs holds in memory while it is written: a few tiles, however many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.callbacks import Callback

import genobit as gb

EDGE = 16


class Held(Callback):
    """Counts the tiles that dask holds at a time."""

    def __init__(self) -> None:
        super().__init__(posttask=self.count)
        self.most = 0

    def count(self, _key: Any, _result: Any, _graph: Any, state: Any, _worker: Any) -> None:
        def is_tile(value: Any) -> bool:
            first = value[0] if isinstance(value, tuple) and value else value
            return isinstance(first, np.ndarray) and first.shape == (EDGE, EDGE)

        self.most = max(self.most, sum(map(is_tile, list(state["cache"].values()))))


class Nowhere:
    def __setitem__(self, where: Any, tile: Any) -> None:
        pass


@pytest.mark.parametrize("pvalue", [False, True])
@pytest.mark.parametrize("width", [6, 14])
def test_kendall__written_tile_by_tile_holds_as_many_as_threads(width: int, pvalue: bool) -> None:
    values = np.random.default_rng(0).normal(size=(width * EDGE, 9))
    expr = xr.DataArray(values, dims=("gene", "sample"))
    with gb.set_options(chunk_rows=EDGE), dask.config.set(scheduler="threads", num_workers=2):
        result = expr.genobit.kendall("tau_b", pvalue=pvalue)
        arrays = [x.data for x in result.data_vars.values()] if pvalue else [result.data]
        with Held() as held:
            da.store(arrays, [Nowhere()] * len(arrays), lock=False)
    # A tile that is being written, and the one on the other side of the diagonal, for each thread.
    assert 0 < held.most <= 2 * 2 * len(arrays) + 1


WRITE = """
import sys, warnings
from pathlib import Path
import dask, numpy as np, xarray as xr, genobit as gb
warnings.simplefilter("ignore")

def peak():
    # Not getrusage: the peak of whoever started this process counts there.
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))

values = np.random.default_rng(0).normal(size=(int(sys.argv[1]), 12))
expr = xr.DataArray(values, dims=("gene", "sample"))
with gb.set_options(chunk_rows=512), dask.config.set(scheduler="threads", num_workers=2):
    expr[:600].genobit.kendall("tau_b", dtype="float32").to_zarr(sys.argv[2] + "/first.zarr")
    before = peak()
    expr.genobit.kendall("tau_b", dtype="float32").to_zarr(sys.argv[2] + "/tau.zarr")
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_kendall__to_zarr_takes_no_more_memory_for_more_variables(tmp_path: Path) -> None:
    grown = {}
    for variables in (2_048, 8_192):
        folder = tmp_path / str(variables)
        folder.mkdir()
        command = [sys.executable, "-c", WRITE, str(variables), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        grown[variables] = int(done.stdout) / 1024
    # The larger matrix is 256 MiB.
    assert grown[8_192] < 100
    assert grown[8_192] < grown[2_048] + 50
