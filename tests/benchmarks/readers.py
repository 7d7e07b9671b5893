"""From a file to labels, statistics or planes, against plink2 with one thread on the same core."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import numpy as np

import genobit as gb
from genobit.io.writers._vcf_text import END, bgzf

from .alignments import alignments
from .filesets import rare_and_common
from .measure import Row, command, compared
from .opening import openings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def readers(*, quick: bool) -> Iterator[Row]:
    """Opening files, alignments to planes; with plink2, also .bed, BGEN, VCF and BCF."""
    yield from openings(quick=quick)
    yield from alignments(600 if quick else 2_000)
    if shutil.which("plink2") is None:
        return
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        yield from _statistics(Path(folder), 10_000 if quick else 100_000)
        yield from _bgen(Path(folder), 2_000 if quick else 20_000)
        yield from _vcf(Path(folder), quick=quick)


def _statistics(folder: Path, variants: int) -> Iterator[Row]:
    samples = 2_500
    stem = rare_and_common(folder / "cohort", variants, samples)
    what = f"{variants:,} variants x {samples:,} samples"
    opened = lambda: gb.open_plink(stem).genobit  # noqa: E731 - one call of each row
    calls = {
        "variant_stats()": lambda: opened().variant_stats().compute(),
        "sample_stats()": lambda: opened().sample_stats().compute(),
        "both": lambda: dask.compute(*_both(opened())),
    }
    options = ["--bfile", stem, "--freq", "--missing", "--hardy"]
    for name, call in calls.items():
        at = "plink2 --freq --missing --hardy"
        yield _row(f".bed to {name}, {what}", call, at, _plink2(folder, options), variants)


def _both(ds: Any) -> tuple[Any, Any]:
    """Return both statistics of a fileset that is opened once, as plink2 reads it once."""
    return ds.variant_stats(), ds.sample_stats()


def _bgen(folder: Path, variants: int) -> Iterator[Row]:
    samples = 2_504
    stem = rare_and_common(folder / "calls", variants, samples)
    _plink2(folder, ["--bfile", stem, "--export", "bgen-1.2", "bits=8", "ref-first"])()
    path = folder / "out.bgen"
    options = ["--bgen", path, "ref-first", "--make-pgen"]
    what = f"BGEN (zlib, 8 bits) to planes, {variants:,} variants x {samples:,} samples"
    ours = lambda: gb.open_bgen(path).genobit.pack().compute()  # noqa: E731 - as above
    yield _row(what, ours, "plink2 --make-pgen", _plink2(folder, options), variants)


def _vcf(folder: Path, *, quick: bool) -> Iterator[Row]:
    """VCF and BCF: many samples with GT alone, one sample, and GT:DP:GQ."""
    shares = {False: 1, True: 10}[quick]
    sizes = {"GT": (20_000, 2_504), "GT:DP:GQ": (10_000, 1_000), "one sample": (300_000, 1)}
    for what, (variants, samples) in sizes.items():
        n = variants // shares
        path = folder / "made.vcf.gz"
        if what == "GT":
            stem = rare_and_common(folder / "calls", n, samples)
            _plink2(folder, ["--bfile", stem, "--export", "vcf", "bgz"])()
            (folder / "out.vcf.gz").rename(path)
        else:
            _with_fields(path, n, samples)
        made = {"VCF": path}
        if shutil.which("bcftools"):
            made["BCF"] = path.with_name("made.bcf")
            subprocess.run(["bcftools", "view", "-Ob", "-o", made["BCF"], path], check=True)
        for kind, file in made.items():
            yield from _of_vcf(folder, file, f"{kind}, {what}", (n, samples))


def _of_vcf(folder: Path, path: Path, kind: str, shape: tuple[int, int]) -> Iterator[Row]:
    cache = folder / "cache"
    plink2 = _plink2(folder, [f"--{kind[:3].lower()}", path, "--make-pgen"])

    def planes(cache_dir: Any) -> object:
        packed = gb.open_vcf(path, cache_dir=cache_dir).genobit.pack()
        return dask.compute(*(plane.data for plane in packed.data_vars.values()))

    def anew() -> object:
        shutil.rmtree(cache, ignore_errors=True)
        return planes(cache)

    variants, samples = shape
    wanted = {"VCF, GT": 0.5, "VCF, GT:DP:GQ": 0.8, "VCF, one sample": 0.4}.get(kind, 0.5)
    for ours, how, most in (
        (anew, "writing the cache", 1.0),
        (lambda: planes(False), "without a cache", wanted),
    ):
        what = f"{kind} to planes, {how}, {variants:,} variants x {samples:,} samples"
        yield _row(what, ours, "plink2 --make-pgen", plink2, variants, 1 / most)


def _with_fields(path: Path, variants: int, samples: int) -> None:
    """Write a VCF of GT, DP and GQ."""
    rng = np.random.default_rng(2)
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
    names = [f"s{k}" for k in range(samples)]
    types = [
        f'##FORMAT=<ID={key},Number=1,Type={kind},Description="">'
        for key, kind in (("GT", "String"), ("DP", "Integer"), ("GQ", "Integer"))
    ]
    head = ["##fileformat=VCFv4.2", "##contig=<ID=22>", *types, "\t".join([*columns, *names])]
    calls = np.array(["0/0", "0/1", "1/1", "./."])
    part = max(1_000_000 // samples, 1)
    with path.open("wb") as file:
        file.writelines(bgzf("\n".join([*head, ""]).encode()))
        for first in range(1, variants + 1, part):
            n = min(part, variants + 1 - first)
            found = rng.choice(calls, (n, samples), p=[0.6, 0.25, 0.13, 0.02]).tolist()
            depths = rng.poisson(30, (n, samples)).tolist()
            qualities = rng.integers(0, 100, (n, samples)).tolist()
            text = "".join(
                f"22\t{20 * (first + k)}\trs{first + k}\tA\tC\t100\tPASS\t.\tGT:DP:GQ\t"
                + "\t".join(map("{}:{}:{}".format, found[k], depths[k], qualities[k]))
                + "\n"
                for k in range(n)
            )
            file.writelines(bgzf(text.encode()))
        file.write(END)


def _plink2(folder: Path, arguments: list[Any]) -> Callable[[], Any]:
    return command("plink2", *arguments, "--threads", 1, "--out", folder / "out")


def _row(
    what: str,
    ours: Callable[[], Any],
    at: str,
    theirs: Callable[[], Any],
    variants: int,
    wanted: float | None = 1.0,
) -> Row:
    return compared("readers", what, "variants/s", at, ours, theirs, variants, wanted)
