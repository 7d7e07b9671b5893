"""Measure the products of this core."""

from __future__ import annotations

import functools
import math
import statistics
import time
from typing import NamedTuple

import numpy as np

from genobit.engine.bits.planes import Planes
from genobit.engine.gemm.products import chosen_kernel, products
from genobit.engine.simd.jit import COMPILED

ROWS, BITS = 1024, 8192
ROUNDS = 5


class Speed(NamedTuple):
    """Rate of a product on one core."""

    kernel: str
    rate: float
    """Products of pairs of positions per second, with packing."""

    def __str__(self) -> str:
        """Give the kernel and its rate."""
        if math.isnan(self.rate):
            return f"{self.kernel}, not measured: kernels are not compiled"
        return f"{self.kernel}, {self.rate / 1e9:,.0f} G products/s a core"


def speed(product: str) -> Speed:
    """Return the measured speed of "and", "xor" or "ternary" products of many rows.

    It is measured once a process for each kernel, in about 0.1 s after compilation.
    """
    return _speed(product, chosen_kernel(product, ROWS))


@functools.cache
def _speed(product: str, kernel: str) -> Speed:
    if not COMPILED:
        return Speed(kernel, math.nan)
    planes = _random_planes(2 if product == "ternary" else 1)
    _drain(product, planes)  # compile first
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        _drain(product, planes)
        spent.append(time.perf_counter() - start)
    return Speed(kernel, ROWS * ROWS * BITS / statistics.median(spent))


def _random_planes(count: int) -> Planes:
    shape = ROWS, BITS // 64
    first, *others = np.random.default_rng(0).integers(0, 2**64, (count, *shape), np.uint64)
    return (first, *(other & first for other in others))


def _drain(product: str, planes: Planes) -> None:
    for _ in products(product, planes, planes):
        pass
