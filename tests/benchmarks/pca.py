"""Principal components from the .bed file, against plink2, and float32 blocks of planes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import genobit as gb
from genobit.engine.bits.planes import PlaneRows
from genobit.engine.gemm.dequantise import dequantised

from .filesets import random_bed, random_planes
from .measure import Row, against_program, command, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator


def dequantisation(*, quick: bool) -> Iterator[Row]:
    """A block of planes as float32, against its product with 20 columns."""
    samples, variants = 1024, 256
    rows = PlaneRows(False, variants, random_planes(samples, variants, 2), None)
    values = np.random.default_rng(0).normal(size=(variants, 4)).astype(np.float32)
    columns = np.ones((variants, 20), np.float32)
    block = dequantised(rows, values)
    work = samples * variants
    found = rates(
        {
            "dequantised": (lambda: dequantised(rows, values, out=block), work),
            "BLAS": (lambda: block @ columns, work),
        },
        20 if quick else 200,
    )
    rate = float(np.median(found["dequantised"])) / 1e9
    against = f"times 20 columns, BLAS ({float(np.median(found['BLAS'])) / 1e9:.2f})"
    what = f"dosages as float32, {samples:,} x {variants}"
    yield Row("components", what, rate, "G/s", against, ratio(found["dequantised"], found["BLAS"]))


def components(*, quick: bool) -> Iterator[Row]:
    """open_plink -> pca(10), exact, against plink2 on the same file."""
    program = shutil.which("plink2")
    if program is None:
        return
    variants, samples = (10_000 if quick else 100_000), 1000
    with tempfile.TemporaryDirectory() as folder:
        prefix = random_bed(Path(folder), variants, samples)
        options = ("--pca", 10, "--threads", 1, "--memory", 4000, "--out", prefix)
        theirs = command(program, "--bfile", prefix, *options)
        what = f"open_plink -> pca(10), exact, {samples:,} samples x {variants:,} variants"
        ours = lambda: gb.open_plink(prefix).genobit.pca(10)  # noqa: E731 - one call
        yield against_program("components", what, "plink2 --pca", ours, theirs)
