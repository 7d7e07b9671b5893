"""First calls with an empty compile cache, each in a fresh process: CPU seconds of compilation."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from .measure import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

WORK = """
import json, sys, time
import dask, numpy as np, xarray as xr
import genobit as gb

dask.config.set(scheduler="synchronous")
gb.set_options(progress=False)
rng = np.random.default_rng(1)
calls = (rng.random((300, 200, 2)) < rng.uniform(0.05, 0.95, (300, 1, 1))).astype(np.int8)
ds = xr.Dataset({
    "call_genotype": (("variants", "samples", "ploidy"), calls),
    "sample_case": ("samples", rng.integers(0, 2, 200)),
})
sites = rng.integers(0, 4, (1, 300))
while len(sites) < 20:
    child = sites[rng.integers(len(sites))].copy()
    new = rng.random(300) < 0.06
    child[new] = rng.integers(0, 4, new.sum())
    sites = np.vstack([sites, child])
taxa = [f"t{k}" for k in range(20)]
aln = xr.DataArray(np.array(list("ACGT"))[sites], {"taxa": taxa}, ("taxa", "sites"))
expression = xr.DataArray(rng.normal(size=(60, 50)), dims=("gene", "sample"))
effort = gb.SearchEffort(iterations=2, patience=1)
calls = {
    "ld": lambda: ds.genobit.ld("r2").compute(),
    "grm": lambda: ds.genobit.grm().compute(),
    "kendall": lambda: expression.genobit.kendall().compute(),
    "epistasis of pairs": lambda: ds.genobit.epistasis("sample_case"),
    "parsimony_search": lambda: aln.genobit.parsimony_search(seed=1, effort=effort),
}
start = time.process_time()
calls[sys.argv[1]]()
print(json.dumps(time.process_time() - start))
"""
GOALS = {
    "ld": 2.8,
    "grm": 4.0,
    "kendall": 2.2,
    "epistasis of pairs": 12.0,
    "parsimony_search": 10.0,
}
"""Most CPU seconds that a first call should take on an idle core."""


def cold(*, quick: bool) -> Iterator[Row]:
    """CPU seconds of the first call of each analysis, with nothing compiled."""
    for name, goal in GOALS.items():
        found = statistics.median(_first_call(name) for _ in range(1 if quick else 3))
        yield Row("cold", f"first {name}, empty cache", found, "CPU s", f"goal {goal:g} s")


def _first_call(name: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", WORK, name],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"the first call of {name} failed:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))
