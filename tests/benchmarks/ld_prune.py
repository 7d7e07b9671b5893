"""Pruning and tables of pairs in windows, against plink, and against the registers of this core.

Peers take turns and are compared by CPU time, which a busy machine changes least. theirs is the
whole run of a program, with reading of a .bed file; ours begins with planes in memory, as a session
does, and a row says what reading adds.
"""

from __future__ import annotations

import itertools
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask

import genobit as gb

from . import limits
from .filesets import SAMPLES, haplotypes, tiled
from .measure import Row, best_limit, command, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import xarray as xr

_NUMBERS = itertools.count()
GIGA = 1e9


def cpu(call: Callable[[], Any]) -> float:
    """CPU time of a call, and of the processes it waits for."""
    before = _used()
    call()
    return _used() - before


def _used() -> float:
    """CPU time so far, in microseconds, where os.times() ticks in 10 ms."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float, float]:
    """Median CPU time of each, and of their ratios."""
    ours(), theirs()
    rounds = [(cpu(ours), cpu(theirs)) for _ in range(5)]
    middle = [statistics.median(times) for times in zip(*rounds, strict=True)]
    return middle[0], middle[1], statistics.median(b / a for a, b in rounds)


def pruning(*, quick: bool) -> Iterator[Row]:
    """ld_prune and ld_pairs on one core, against plink2 and plink 1.9 on the same core.

    Pairs are set against plink 1.9 where plink2 is a build of before 2023, Debian 12's among them,
    that has no --r2-unphased.
    """
    variants = 20_000 if quick else 200_000
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        prefix, what = tiled(Path(folder), variants)
        bits = gb.open_plink(prefix).genobit.pack().persist()
        shape = f"{what}, {variants:,} variants x {SAMPLES:,} samples"
        for window in (50, 500):
            row = _pruned(prefix, bits, window)
            if row is not None:
                ours, theirs, share = row
                at = f"plink2 --indep-pairwise {window} 5 0.2 ({theirs:.2f} s of CPU)"
                yield Row("prune", f"ld_prune({window}), {shape}", ours, "s", at, share, 3.0)
        some = 5_000 if quick else 20_000
        prefix, what = tiled(Path(folder), some)
        bits = gb.open_plink(prefix).genobit.pack().persist()
        shape = f"{what}, {some:,} variants x {SAMPLES:,} samples"
        row = _paired(prefix, bits)
        if row is not None:
            ours, theirs, share = row
            peer = "plink2 --r2-unphased" if _plink2_has("--r2-unphased") else "plink 1.9 --r2"
            at = f"{peer} --ld-window-r2 0.2 ({theirs:.2f} s of CPU)"
            yield Row("pairs", f"ld_pairs(window=1000), {shape}", ours, "s", at, share, 3.0)


def _pruned(prefix: Path, bits: Any, window: int) -> tuple[float, float, float] | None:
    program = shutil.which("plink2")
    if program is None:
        return None
    # The rule of plink 1.9; another one, which later builds have too, keeps other variants.
    order = ("--indep-order", 1) if _plink2_has("--indep-order") else ()
    options = ("--threads", 1, "--out", prefix, "--indep-pairwise", window, 5, 0.2, *order)
    return in_turn(
        lambda: bits.genobit.ld_prune(window, 5, 0.2), command(program, "--bfile", prefix, *options)
    )


def _paired(prefix: Path, bits: Any) -> tuple[float, float, float] | None:
    newer = _plink2_has("--r2-unphased")
    program = shutil.which("plink2" if newer else "plink1.9")
    if program is None:
        return None
    r2 = ("--r2-unphased",) if newer else ("--allow-no-sex", "--r2")
    # Windows of plink 1.9 hold so many variants, the first among them.
    limits_ = ("--ld-window-r2", 0.2, "--ld-window", 1000 if newer else 1001)
    options = ("--threads", 1, "--out", prefix, *r2, *limits_, "--ld-window-kb", 1_000_000)
    return in_turn(
        lambda: _write(bits, 1000, _fresh(prefix)), command(program, "--bfile", prefix, *options)
    )


def _plink2_has(option: str) -> bool:
    program = shutil.which("plink2")
    if program is None:
        return False
    command = [program, "--help", option.removeprefix("--")]
    told = subprocess.run(command, capture_output=True, check=False)
    return option.encode() in told.stdout


def _fresh(prefix: Path) -> Path:
    """A folder that is not there yet: to remove one takes a fiftieth of the time of its pairs."""
    return prefix.with_name(f"pairs-{next(_NUMBERS)}")


def windows(*, quick: bool) -> Iterator[Row]:
    """ld_pairs to Parquet files, windows of 1,000 variants, against the registers of this core."""
    bits, window = 5000, 1000
    variants = 10_000 if quick else 200_000
    ds = haplotypes(variants, bits)
    pairs = window * variants - window * (window + 1) // 2
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        prefix = Path(folder) / "windows"
        calls = {name: call for name, call in limits.work().items() if name.endswith("and")}
        calls["pairs"] = (
            lambda: _write(ds, window, _fresh(prefix)),
            pairs * bits,
        )
        found = _cpu_rates(calls)
    rate = statistics.median(found["pairs"]) / GIGA
    what = f"ld_pairs(window=1000, parquet=), {variants:,} variants x {bits:,} haplotypes"
    name, limit = best_limit(found, "and")
    at = f"register limit, {name} + popcount + add ({statistics.median(limit) / GIGA:.0f}), by CPU"
    yield Row("pairs", what, rate, "Gbit/s", at, ratio(found["pairs"], limit), 0.7)
    if "table and" in found:
        at = "register limit, byte lookup + add, by CPU time"
        yield Row("pairs", what, rate, "Gbit/s", at, ratio(found["pairs"], found["table and"]))


def _write(ds: xr.Dataset, window: int, folder: Path) -> None:
    ds.genobit.ld_pairs(threshold=0.2, window=window).to_parquet(folder)


def _cpu_rates(calls: dict[str, tuple[Callable[[], Any], float]]) -> dict[str, list[float]]:
    """Work per second of CPU of each call, in turn."""
    for call, _ in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(5):
        for name, (call, work) in calls.items():
            times = 1 if name == "pairs" else 20
            # Of this process alone, in nanoseconds: os.times() ticks in 10 ms.
            begin = time.process_time()
            for _ in range(times):
                call()
            found[name].append(times * work / (time.process_time() - begin))
    return found
