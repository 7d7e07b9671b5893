"""Kinship from the .bed file, against plink2 on the same file and the same core."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import dask
import numpy as np

import genobit as gb

from .measure import Row, median

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = 0.01


def lose_calls(bed: Path) -> None:
    """Make one call in a hundred missing: code 1 of the two bits of a call."""
    raw = np.fromfile(bed, np.uint8)
    body = raw[3:]
    rng = np.random.default_rng(1)
    for shift in (0, 2, 4, 6):
        lost = rng.random(body.size, np.float32) < MISSING
        body[lost] = body[lost] & np.uint8(0xFF ^ 3 << shift) | np.uint8(1 << shift)
    raw.tofile(bed)


def kinship(*, quick: bool) -> Iterator[Row]:
    """open_plink -> grm("king") in memory, without and with missing calls."""
    from .rows import random_bed

    program = shutil.which("plink2")
    if program is None:
        return
    variants, samples = (20_000 if quick else 100_000), 1000
    with tempfile.TemporaryDirectory() as folder:
        prefix = random_bed(Path(folder), variants, samples)
        command = [program, "--bfile", str(prefix), "--make-king", "square", "bin4"]
        command += ["--threads", "1", "--memory", "4000", "--out", str(prefix)]
        for calls in ("no call missing", f"{MISSING:.0%} of calls missing"):
            with dask.config.set(scheduler="synchronous"):
                ours = median(lambda: gb.open_plink(prefix).genobit.grm("king", compute=True), 3)
            theirs = median(lambda: subprocess.run(command, capture_output=True, check=True), 3)
            what = (
                f'open_plink -> grm("king"), {samples:,} samples x {variants:,} variants, {calls}'
            )
            at = f"plink2 --make-king square bin4 ({theirs:.2f} s)"
            yield Row("relatives", what, ours, "s", at, theirs / ours)
            lose_calls(prefix.with_suffix(".bed"))
