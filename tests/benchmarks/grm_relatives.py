"""Kinship from the .bed file, against plink2 on the same file and the same core."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import genobit as gb

from .filesets import MISSING, lose_calls, random_bed
from .measure import Row, against_program, command

if TYPE_CHECKING:
    from collections.abc import Iterator


def kinship(*, quick: bool) -> Iterator[Row]:
    """open_plink -> grm("king") in memory, without and with missing calls."""
    program = shutil.which("plink2")
    if program is None:
        return
    variants, samples = (20_000 if quick else 100_000), 1000
    with tempfile.TemporaryDirectory() as folder:
        prefix = random_bed(Path(folder), variants, samples)
        options = ("--threads", 1, "--memory", 4000, "--out", prefix)
        theirs = command(program, "--bfile", prefix, "--make-king", "square", "bin4", *options)
        ours = lambda: gb.open_plink(prefix).genobit.grm("king", compute=True)  # noqa: E731 - one call
        for calls in ("no call missing", f"{MISSING:.0%} of calls missing"):
            shape = f"{samples:,} samples x {variants:,} variants"
            what = f'open_plink -> grm("king"), {shape}, {calls}'
            at = "plink2 --make-king square bin4"
            yield against_program("relatives", what, at, ours, theirs)
            lose_calls(prefix.with_suffix(".bed"))
