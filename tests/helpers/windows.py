"""Rows and windows as kernels of LD take them."""

from __future__ import annotations

import numpy as np

from genobit.engine.bits.planes import PlaneRows
from tests.helpers.reference import dosages, haplotypes, words_of


def rows_of(calls: np.ndarray, *, haploid: bool, called: bool = True) -> PlaneRows:
    values = haplotypes(calls) if haploid else dosages(calls)
    present = words_of(~np.isnan(values)) if called else None
    planes = (words_of(values == 1),) if haploid else (words_of(values >= 1), words_of(values == 2))
    return PlaneRows(haploid, values.shape[1], planes, present)


def window(n: int, reach: int, seed: int) -> np.ndarray:
    """Ends of windows of changing width, which never decrease."""
    steps = np.random.default_rng(seed).integers(0, reach + 1, n)
    ends = np.maximum.accumulate(np.arange(n) + steps)
    return np.minimum(ends, n - 1).astype(np.int64)
