"""Filesets of PLINK 1 with random calls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

MAGIC = b"\x6c\x1b\x01"


def write_fileset(folder: Path, calls: np.ndarray, name: str = "cohort") -> Path:
    """Write dosages of A1 (variants, samples; -1 missing) as a .bed, padding bits all set."""
    n_variants, n_samples = calls.shape
    codes = np.array([0b11, 0b10, 0b00, 0b01], dtype=np.uint8)[calls]
    padded = np.full((n_variants, -(-n_samples // 4) * 4), 0b11, dtype=np.uint8)
    padded[:, :n_samples] = codes
    quads = padded.reshape(n_variants, padded.shape[1] // 4, 4)
    quads <<= np.array([0, 2, 4, 6], dtype=np.uint8)
    (folder / f"{name}.bed").write_bytes(MAGIC + quads.sum(axis=2, dtype=np.uint8).tobytes())
    bim = "".join(f"{1 + v // 3}\trs{v}\t0\t{100 + v}\tA\tG\n" for v in range(n_variants))
    fam = "".join(f"F{s} S{s} 0 0 {s % 3} -9\n" for s in range(n_samples))
    (folder / f"{name}.bim").write_text(bim)
    (folder / f"{name}.fam").write_text(fam)
    return folder / f"{name}.bed"


def random_dosages(n_variants: int, n_samples: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 3, (n_variants, n_samples))


def dosage(calls: xr.DataArray | np.ndarray) -> np.ndarray:
    values = np.asarray(calls)
    return np.where(values[..., 0] < 0, -1, values.sum(axis=-1))
