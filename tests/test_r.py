"""Rank correlation and parsimony of simulated data, beside what packages of R compute.

Tests of the analyses compare published data with R too, where there are any.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb

pytestmark = pytest.mark.compiled("trees and tau of hundreds of pairs")


def of_r(code: str, package: str, folder: Path) -> list[float]:
    """Numbers that R prints; skips without R or the package."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not on the path")
    command = ["Rscript", "-e", f"if (!require({package})) quit(status = 9); {code}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 9:
        pytest.skip(f"the package {package} of R is not installed")
    assert done.returncode == 0, done.stderr
    return [float(number) for number in done.stdout.split()]


@pytest.mark.parametrize("ties", [False, True])
def test_tau__is_that_of_pcapp(ties: bool, tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(size=(30, 60)).cumsum(axis=0)
    values = values.round(0 if ties else 12)
    np.savetxt(tmp_path / "values.txt", values.T)
    code = 'cat(format(cor.fk(as.matrix(read.table("values.txt"))), digits = 15), sep = "\\n")'
    expected = np.reshape(of_r(code, "pcaPP", tmp_path), (30, 30))
    tau = xr.DataArray(values, dims=("genes", "samples")).genobit.kendall()
    np.testing.assert_allclose(tau, expected, rtol=1e-12, atol=1e-14)


def test_lengths__are_those_of_phangorn(tmp_path: Path) -> None:
    alignment = gb.sample_alignment().isel(taxa=slice(20), sites=slice(300))
    lines = zip(alignment.taxa.values, alignment.values.astype(str), strict=True)
    fasta = "".join(f">{name}\n{''.join(row)}\n" for name, row in lines)
    (tmp_path / "a.fasta").write_text(fasta)
    rng = np.random.default_rng(6)
    trees = []
    for _ in range(5):
        parts = rng.permutation(alignment.taxa.values).tolist()
        while len(parts) > 3:
            a, b = (parts.pop(int(rng.integers(len(parts)))) for _ in range(2))
            parts.append(f"({a},{b})")
        trees.append(f"({','.join(parts)});")
    (tmp_path / "trees.nwk").write_text("\n".join(trees) + "\n")
    code = (
        'd <- read.phyDat("a.fasta", "fasta"); t <- read.tree("trees.nwk"); '
        'cat(sapply(t, function(x) parsimony(unroot(x), d)), sep = "\\n")'
    )
    expected = of_r(code, "phangorn", tmp_path)
    found = [int(alignment.genobit.parsimony(tree).length) for tree in trees]
    assert found == expected
    best = of_r(
        'd <- read.phyDat("a.fasta", "fasta"); set.seed(1); '
        'cat(attr(pratchet(d, trace = 0, maxit = 20, k = 5), "pscore"))',
        "phangorn",
        tmp_path,
    )
    assert int(alignment.genobit.parsimony_search(seed=1).length.min()) <= best[0]
