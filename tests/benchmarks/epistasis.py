"""Exhaustive searches through the public call, against Fiuncho's figures and the paper's sizes."""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import dask
import numpy as np
import pandas as pd
import xarray as xr

import genobit as gb

from .filesets import genotypes
from .ld_prune import cpu
from .measure import Row, cores, median, seconds
from .published import Peer, popcount_limit, published, registers_at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

NANO = 1e9


class Shape(NamedTuple):
    """A search, and what Fiuncho's AVX-512 build took for a combination, in ns."""

    order: int
    variants: int
    samples: int
    zen4: float | None = None
    emerald: float | None = None
    """On an Emerald Rapids, samples dealt to the classes as suits it: no class fills up a row."""
    wanted: float | None = None


EMERALD_LIMIT = 1020.0
"""Gbit/s of and + popcount + add on that core."""
SHAPES = (
    Shape(2, 5_000, 2_048, 123, 107, 9),
    Shape(2, 25_000, 2_048, 123, 107, 9),
    Shape(3, 400, 2_000, 318, 255, 10),
    Shape(3, 1_000, 1_000, 284, 223, 10),
    Shape(3, 1_000, 2_000, 310, 253, 10),
    Shape(4, 120, 2_048, 913, 756, 12),
    Shape(4, 242, 2_048, 906, 764, 12),
    Shape(5, 60, 2_048, None, 2388),
    Shape(8, 23, 2_048, None, 72029, 5),
)
LARGE = (Shape(3, 4_000, 2_000, None, 264, 10),)
"""The larger size that the paper sets Fiuncho and MPI3SNP against each other with."""
QUICK = (Shape(2, 2_000, 2_048, 123, 107, 9), Shape(3, 200, 2_000, 318, 255, 10), SHAPES[5])
MPI3SNP = {(400, 2_000): 9.85, (1_000, 1_000): 116.0}
"""Seconds there of MPI3SNP, order 3."""


def cohort(variants: int, samples: int) -> xr.Dataset:
    """Packed random genotypes with half of the samples cases, in no order."""
    rng = np.random.default_rng(variants + samples)
    frequency = rng.uniform(0.1, 0.5, (variants, 1, 1))
    calls = (rng.random((variants, samples, 2)) < frequency).astype(np.int8)
    case = rng.permutation(samples) % 2 == 0
    ds = xr.Dataset(
        {"call_genotype": (("variants", "samples", "ploidy"), calls), "case": ("samples", case)}
    )
    return ds.genobit.pack().load()


def _search(shape: Shape) -> tuple[Callable[[], object], int]:
    ds = cohort(shape.variants, shape.samples)

    def search() -> object:
        return ds.genobit.epistasis("case", order=shape.order, top=10)

    return search, math.comb(shape.variants, shape.order)


def epistasis(*, quick: bool) -> Iterator[Row]:
    """Nanoseconds a combination, from packed genotypes to the ranking."""
    yield from _against_others(QUICK if quick else SHAPES)


def epistasis_large(*, quick: bool) -> Iterator[Row]:
    """The same of ten billion triples, which take minutes."""
    if not quick:
        yield from _against_others(LARGE)


def _against_others(shapes: tuple[Shape, ...]) -> Iterator[Row]:
    limit = popcount_limit()
    for shape in shapes:
        search, combinations = _search(shape)
        with dask.config.set(scheduler="synchronous"):
            seconds = median(search, 1 if combinations > 50_000_000 else 3)
        ours = seconds / combinations * NANO
        what = f"order {shape.order}, {shape.variants:,} variants x {shape.samples:,} samples"
        name, unit = "Fiuncho, AVX-512", "ns a combination"
        if shape.emerald is not None:
            wanted = None if shape.zen4 else shape.wanted
            peer = Peer(name, shape.emerald, unit, EMERALD_LIMIT)
            yield from published("epistasis", what, ours, limit, peer, wanted)
        if shape.zen4 is not None:
            peer = Peer(name, shape.zen4, unit)
            yield from published("epistasis", what, ours, limit, peer, shape.wanted)
        mpi3snp = MPI3SNP.get((shape.variants, shape.samples))
        if shape.order == 3 and mpi3snp:
            peer = Peer("MPI3SNP", mpi3snp, "s")
            yield from published("epistasis", what, seconds, limit, peer, shape.wanted)


def epistasis_threads(*, quick: bool) -> Iterator[Row]:
    """The same search on two threads against one, and what both cores' registers do at once."""
    shape = Shape(3, 200 if quick else 1_000, 2_000)
    search, _ = _search(shape)

    def on(threads: int) -> float:
        with dask.config.set(scheduler="threads", num_workers=threads):
            return seconds(search)

    with cores(2) as enough:
        if not enough:
            return
        on(2)
        rounds = [(on(1), on(2), registers_at_once()) for _ in range(3 if quick else 7)]
    both, gain, limit = (
        statistics.median(found)
        for found in zip(*((two, one / two, most) for one, two, most in rounds), strict=True)
    )
    what = f"order 3, {shape.variants} variants x {shape.samples:,} samples, two threads"
    yield Row("epistasis", what, both, "s", "one thread", gain, 1.9)
    what = "registers alone, in two threads"
    yield Row("epistasis", what, limit, "x one thread", "the search's gain", gain / limit)


COVARIATES = 5
SECOND = 3
"""Variants that plink2 pairs with all others: its time is scaled to all pairs."""


def epistasis_covariates(*, quick: bool) -> Iterator[Row]:
    """Regressions of all pairs on a trait and on classes, against plink2 on the same pairs."""
    variants, samples = (300, 2_000) if quick else (1_000, 2_000)
    rng = np.random.default_rng(3)
    covariates = rng.normal(size=(samples, COVARIATES))
    trait = rng.normal(size=samples) + covariates @ rng.uniform(0, 0.5, COVARIATES)
    phenotypes = {"linear": trait, "logistic": (trait > np.quantile(trait, 0.6)).astype(float)}
    beside = [xr.DataArray(covariates, dims=("samples", "component"), name="c")]
    for missing in (0.0, 0.01):
        ds = _with_missing(variants, samples, missing)
        bits = ds.genobit.pack().load()
        for statistic, values in phenotypes.items():
            search = partial(bits.genobit.epistasis, values, statistic=statistic, covariates=beside)
            with dask.config.set(scheduler="synchronous"):
                search()
                ours = statistics.median(cpu(search) for _ in range(1 if quick else 3))
            what = f"{statistic}, {variants:,} variants x {samples:,} samples, 5 covariates"
            what += f", {missing:.0%} of calls missing" if missing else ""
            theirs = _plink2_seconds(ds, values, covariates)
            if theirs is None:
                yield Row("epistasis", what, ours, "s of CPU", "no plink2")
                continue
            at = f"plink2 --glm interaction of {SECOND} variants, scaled ({theirs:.0f} s)"
            yield Row("epistasis", what, ours, "s of CPU", at, theirs / ours, 1.0)


def _with_missing(variants: int, samples: int, missing: float) -> xr.Dataset:
    """Random genotypes with labels, some calls missing."""
    rng = np.random.default_rng(variants)
    frequency = rng.uniform(0.1, 0.5, (variants, 1, 1))
    calls = (rng.random((variants, samples, 2)) < frequency).astype(np.int8)
    calls[rng.random((variants, samples)) < missing] = -1
    return genotypes(calls)


def _plink2_seconds(
    ds: xr.Dataset, values: NDArray[np.float64], covariates: NDArray[np.float64]
) -> float | None:
    """CPU time of plink2 for all pairs, from the pairs of `SECOND` variants with all others."""
    program = shutil.which("plink2")
    if program is None:
        return None
    variants, k = ds.sizes["variants"], covariates.shape[1]
    dosages = ds.call_genotype.values.astype(float).sum(axis=-1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gb.to_plink(ds, folder / "data")
        table = pd.DataFrame({"#IID": ds.sample_id.values})
        case = values + 1 if set(np.unique(values)) == {0, 1} else values
        table.assign(y=case).to_csv(folder / "y", sep="\t", index=False)
        command = [program, "--bfile", str(folder / "data"), "--threads", "1", "--out"]
        command += [str(folder / "out"), "--pheno", str(folder / "y"), "--vif", "1e9"]
        command += ["--max-corr", "1", "--parameters", f"1-{k + 2},{2 * k + 3}"]
        command += ["--glm", "interaction", "omit-ref", "no-firth"]
        spent = 0.0
        for second in range(SECOND):
            beside = pd.DataFrame(covariates, columns=[f"c{c}" for c in range(k)])
            beside.insert(0, "#IID", ds.sample_id.values)
            dosage = np.where(dosages[second] < 0, np.nan, dosages[second])
            file = folder / f"covariates{second}"
            beside.assign(G2=dosage).to_csv(file, sep="\t", index=False, na_rep="NA")
            run = [*command, "--covar", str(file)]
            spent += cpu(lambda run=run: subprocess.run(run, capture_output=True, check=True))
    return spent / (SECOND * variants) * math.comb(variants, 2)
