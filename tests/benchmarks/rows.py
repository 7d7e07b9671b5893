"""The benchmarks: each function yields rows."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import xarray as xr

import genobit as gb
from genobit.engine.bits import pack
from genobit.engine.bits.layout import words_for
from genobit.engine.bits.planes import Planes
from genobit.engine.gemm import products
from genobit.engine.simd.cpu import host

from . import (
    cold,
    crossproduct,
    epistasis,
    explorer,
    fitch,
    formats,
    grm,
    grm_relatives,
    kendall,
    ld,
    ld_prune,
    limits,
    parsimony_search,
    pca,
    quality,
    readers,
    similarity,
)
from .filesets import haplotypes, random_bed, random_planes
from .measure import Row, against_program, best_limit, command, cores, rates, ratio, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

GIGA = 1e9


def drain(product: str, a: Planes, b: Planes) -> None:
    """Run a product and look at nothing."""
    for _ in products.products(product, a, b):
        pass


def engine(*, quick: bool) -> Iterator[Row]:
    """The GEMM against the registers of this core."""
    rows = 1024 if quick else 4096
    goals = {
        "and": (0.90, 0.95, 0.95),
        "xor": (None, 0.92, 0.92),
        "ternary": (0.88, 0.92, 0.92),
    }
    for product, wanted in goals.items():
        for bits, goal in zip((2504, 10_000, 100_000), wanted, strict=True):
            planes = 2 if product == "ternary" else 1
            a = random_planes(rows, bits, planes)
            b = random_planes(rows, bits, planes, seed=1)
            calls = {n: c for n, c in limits.work().items() if n.endswith(product)}
            calls["gemm"] = (lambda p=product, a=a, b=b: drain(p, a, b), rows * rows * bits)
            found = rates(calls, 3 if bits > 50_000 else 7)
            rate = statistics.median(found["gemm"]) / GIGA
            what = f"{product} GEMM {rows} x {rows} rows, {bits:,} bits"
            unit = "G products/s" if product == "ternary" else "Gbit/s"
            name, limit = best_limit(found, product)
            at = f"register limit, {name} + popcount + add ({statistics.median(limit) / GIGA:.0f})"
            yield Row("engine", what, rate, unit, at, ratio(found["gemm"], limit), goal)
            if f"table {product}" in found and not host().vector_popcount:
                own = found[f"table {product}"]
                at = f"register limit, byte lookup + add ({statistics.median(own) / GIGA:.0f})"
                yield Row("engine", what, rate, unit, at, ratio(found["gemm"], own))


def other_cpu(*, quick: bool) -> Iterator[Row]:
    """The AND GEMM compiled for AVX2, on this core, in a process of its own."""
    code = (
        "import json, statistics\n"
        "from tests_benchmarks import limits, measure, rows\n"
        f"n = {512 if quick else 2048}\n"
        "a, b = rows.random_planes(n, 10_000, 1), rows.random_planes(n, 10_000, 1, seed=1)\n"
        "calls = {'scalar and': limits.work()['scalar and'],"
        " 'gemm': (lambda: rows.drain('and', a, b), n * n * 10_000)}\n"
        "f = measure.rates(calls, 7)\n"
        "m = statistics.median\n"
        "print(json.dumps([m(f['gemm']), m(f['scalar and']),"
        " measure.ratio(f['gemm'], f['scalar and'])]))"
    )
    if "x86" not in os.uname().machine if hasattr(os, "uname") else True:
        return
    # numba keeps the host's features unless they are set, too.
    rate, limit, share = _in_process(code, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="")
    at = f"register limit, scalar and + popcount + add ({limit / GIGA:.0f})"
    what = "and GEMM compiled for haswell (AVX2), 10,000 bits"
    yield Row("engine", what, rate / GIGA, "Gbit/s", at, share, 1.7)


def _in_process(code: str, **environment: str) -> Any:
    """Run code in a fresh interpreter on the same core and read the JSON it prints."""
    # The folder may be imported as tests.benchmarks or as genobit_benchmarks; its place is the
    # same.
    folder = Path(__file__).parent
    prelude = (
        "import importlib.util, sys\n"
        "s = importlib.util.spec_from_file_location('tests_benchmarks',"
        f" {str(folder / '__init__.py')!r},"
        f" submodule_search_locations=[{str(folder)!r}])\n"
        "m = importlib.util.module_from_spec(s); sys.modules['tests_benchmarks'] = m\n"
        "s.loader.exec_module(m)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a benchmark's process failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _ld(ds: xr.Dataset) -> None:
    ds.genobit.ld("r2", compute=True)


PAPER = {2504: (1.89, 14.2), 10_000: (5.36, 49.2), 100_000: (48.09, 466.0)}
"""Seconds of the GEMM and of plink 1.9 on one core, 10,000 SNPs.

Tables I to III of Alachiotis et al. 2016.
"""


def disequilibrium(*, quick: bool) -> Iterator[Row]:
    """ld("r2") from packed planes to the float32 square in memory, and the paper's tables."""
    variants = 2000 if quick else 10_000
    shapes = (2504, 10_000) if quick else (2504, 10_000, 100_000)
    goals = {2504: 0.45, 100_000: 0.85}
    with dask.config.set(scheduler="synchronous"):
        for bits in shapes:
            ds = haplotypes(variants, bits)
            pairs = variants * (variants + 1) / 2
            calls = {n: c for n, c in limits.work().items() if n.endswith("and")}
            calls["ld"] = (lambda ds=ds: _ld(ds), pairs * bits)
            found = rates(calls, 3 if bits > 50_000 else 5)
            rate = statistics.median(found["ld"])
            what = f'ld("r2"), {variants:,} variants x {bits:,} haplotypes'
            name, limit = best_limit(found, "and")
            at = f"{name} + popcount + add limit for the triangle"
            yield Row(
                "ld", what, rate / GIGA, "Gbit/s", at, ratio(found["ld"], limit), goals.get(bits)
            )
            if "table and" in found:
                at = "byte lookup + add limit for the triangle"
                yield Row(
                    "ld", what, rate / GIGA, "Gbit/s", at, ratio(found["ld"], found["table and"])
                )
            if variants == 10_000:
                ours = pairs * bits / rate
                for program, theirs in zip(("its GEMM", "plink 1.9"), PAPER[bits], strict=True):
                    at = f"the 2016 paper's {theirs} s, {program}, one core of its time"
                    yield Row("paper", what, ours, "s", at, theirs / ours)


def plink(*, quick: bool) -> Iterator[Row]:
    """The same r2 triangle by plink 1.9, where it is installed, one thread, on the same core."""
    program = shutil.which("plink1.9")
    if program is None:
        return
    variants, samples = (1000, 2504) if quick else (4000, 2504)
    with tempfile.TemporaryDirectory() as folder:
        prefix = random_bed(Path(folder), variants, samples)
        options = ("--r2", "triangle", "bin4", "--threads", 1, "--allow-no-sex", "--out", prefix)
        theirs = command(program, "--bfile", prefix, *options)
        what = f'open_plink -> ld("r2"), {variants:,} variants x {samples:,} samples'
        ours = partial(_ld_of, prefix)
        yield against_program("peer", what, "plink 1.9 --r2 triangle bin4", ours, theirs)


def _ld_of(prefix: Path) -> None:
    _ld(gb.open_plink(prefix))


def threads(*, quick: bool) -> Iterator[Row]:
    """Two threads against one."""
    ds = haplotypes(4096 if quick else 8192, 10_000)

    def timed(workers: int) -> float:
        with dask.config.set(scheduler="threads", num_workers=workers):
            return seconds(lambda: _ld(ds))

    with cores(2) as enough, gb.set_options(chunk_rows=1024):
        if not enough:
            return
        timed(2)
        pairs = [(timed(1), timed(2)) for _ in range(7)]
    one = statistics.median(pair[0] for pair in pairs)
    ratios = statistics.median(alone / together for alone, together in pairs)
    what = f'ld("r2"), {ds.sizes["variants"]:,} variants x 10,000 haplotypes, two threads'
    yield Row("threads", what, one, "s on one", "one thread", ratios, 1.9)


def packing(*, quick: bool) -> Iterator[Row]:
    """Packing against a memory copy of its input."""
    rows, samples = (2000, 5000) if quick else (4000, 10_000)
    generator = np.random.default_rng(0)
    calls = generator.integers(0, 2, (rows, 2 * samples)).astype(np.int8)
    raw = generator.integers(0, 256, (8 * rows, -(-samples // 4)), dtype=np.uint8)
    ones = np.ones(rows, np.int8)
    dosages = np.empty((3, rows, words_for(samples)), np.uint64)
    alleles = np.empty((2, rows, words_for(2 * samples)), np.uint64)
    split = np.empty((3, 8 * rows, words_for(samples)), np.uint64)
    copies = np.empty_like(calls), np.empty_like(raw)
    work: dict[str, Any] = {
        "copy of int8 calls": (lambda: np.copyto(copies[0], calls), calls.nbytes),
        "int8 calls to dosage planes": (
            lambda: pack.pack_dosages(calls, ones, ones, False, dosages),
            calls.nbytes,
        ),
        "int8 calls to haplotype planes": (
            lambda: pack.pack_haplotypes(calls, ones, ones, False, alleles),
            calls.nbytes,
        ),
        "copy of .bed rows": (lambda: np.copyto(copies[1], raw), raw.nbytes),
        ".bed rows to planes": (lambda: pack.split_bed(raw, samples, split), raw.nbytes),
    }
    found = rates(work, 9)
    for name in work:
        if name.startswith("copy"):
            against = name
            continue
        rate = statistics.median(found[name]) / GIGA
        share = ratio(found[name], found[against])
        yield Row("packing", name, rate, "GB/s", against, share, 0.35)


def startup(*, quick: bool) -> Iterator[Row]:
    """What importing costs, and the first ld() with a warm compile cache."""
    code = (
        "import json, time; import numpy, xarray; t = time.perf_counter(); import genobit;"
        "print(json.dumps(time.perf_counter() - t))"
    )
    times = [_in_process(code) for _ in range(3 if quick else 7)]
    yield Row("startup", "import genobit", statistics.median(times), "s", "beyond numpy + xarray")
    code = (
        "import json, time; import genobit; from tests_benchmarks import rows\n"
        "ds = rows.haplotypes(500, 2504)\n"
        "def once():\n"
        "    t = time.perf_counter(); ds.genobit.ld('r2').compute()\n"
        "    return time.perf_counter() - t\n"
        "print(json.dumps([once(), once()]))"
    )
    _in_process(code)
    pairs = [_in_process(code) for _ in range(3 if quick else 7)]
    extra = statistics.median(first - second for first, second in pairs)
    yield Row("startup", "first ld(), warm compile cache", extra, "s", "over the second call")


ALL = (
    engine,
    other_cpu,
    packing,
    disequilibrium,
    plink,
    grm.crossproducts,
    grm.weights,
    grm.relationships,
    grm_relatives.kinship,
    kendall.kendall,
    epistasis.epistasis,
    epistasis.epistasis_large,
    epistasis.epistasis_threads,
    epistasis.epistasis_covariates,
    fitch.fitch,
    parsimony_search.searches,
    pca.dequantisation,
    pca.components,
    ld_prune.pruning,
    ld_prune.windows,
    quality.quality,
    formats.formats,
    readers.readers,
    similarity.similarity,
    ld.decay,
    ld.sites,
    threads,
    startup,
    cold.cold,
    crossproduct.multiplications,
    crossproduct.transposes,
    explorer.explorer,
)
