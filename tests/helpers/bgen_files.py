"""BGEN files, written byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray


def random_probabilities(
    rng: np.random.Generator, n: int, phased: bool, bits: int, haploid: float
) -> NDArray[np.float32]:
    """Probabilities as of so many bits, of missing and haploid samples too."""
    most = 2**bits - 1
    if phased:
        first = rng.choice([0, most, *rng.integers(0, most + 1, 4)], (n, 2))
        parts = np.stack([first, most - first], axis=2).reshape(n, 4)
    else:
        one = rng.choice([0, most, *rng.integers(0, most + 1, 4)], n)
        two = np.minimum(rng.choice([0, most, *rng.integers(0, most + 1, 4)], n), most - one)
        parts = np.stack([one, two, most - one - two], axis=1)
    out = (parts / most).astype(np.float32)
    alone = rng.random(n) < haploid
    out[alone, 1] = 1 - out[alone, 0]
    out[alone, 2:] = np.nan
    out[rng.random(n) < 0.2] = np.nan
    return out


bgen = pytest.importorskip("bgen")


N_VARIANTS, N_SAMPLES = 150, 37


def write(
    path: Path,
    variants: list[tuple[np.ndarray, bool]],
    bits: int = 8,
    compression: str | None = "zlib",
    **more: Any,
) -> Path:
    """A file of variants, each probabilities (samples, 2 to 4) and whether they are phased."""
    samples = [f"s{k}" for k in range(len(variants[0][0]))]
    options = {"samples": samples, "compression": compression, "layout": 2, **more}
    with bgen.BgenWriter(str(path), len(samples), **options) as file:
        for k, (values, phased) in enumerate(variants):
            ploidy: Any = 2
            if np.isnan(values).any(axis=1).sum() > np.isnan(values[:, 0]).sum():
                ploidy = np.where(np.isnan(values[:, 2]) & ~np.isnan(values[:, 0]), 1, 2)
            about = (f"id{k}", f"rs{k}", str(1 + k // 100), 1000 + k, ["A", "CT"])
            file.add_variant(*about, values, phased=phased, bit_depth=bits, ploidy=ploidy)
    # The index that the writer puts beside is not asked.
    path.with_name(path.name + ".bgi").unlink()
    return path


def random_variants(
    bits: int, phased: float, seed: int = 1, haploid: float = 0
) -> list[tuple[np.ndarray, bool]]:
    rng = np.random.default_rng(seed)
    kinds = rng.random(N_VARIANTS) < phased
    return [
        (random_probabilities(rng, N_SAMPLES, bool(kind), bits, haploid), bool(kind))
        for kind in kinds
    ]
