"""Measure the products of this core beside what its registers allow."""

from __future__ import annotations

import functools
import math
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.bits.planes import Planes
from genobit.engine.gemm import limits
from genobit.engine.gemm.products import chosen_kernel, products
from genobit.engine.simd.jit import COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, BITS = 1024, 8192
ROUNDS = 5


class Speed(NamedTuple):
    """Rate of a product on one core, and the limit of its kernel family."""

    kernel: str
    rate: float
    """Products of pairs of positions per second, with packing."""
    limit: float
    """Products per second without loads and stores."""

    def __str__(self) -> str:
        """Give the kernel, its rate and its share of the limit."""
        if math.isnan(self.rate):
            return f"{self.kernel}, not measured: kernels are not compiled"
        share = f"{self.rate / self.limit:.0%} of its limit, {self.limit / 1e9:,.0f}"
        return f"{self.kernel}, {self.rate / 1e9:,.0f} G products/s a core ({share})"


def speed(product: str) -> Speed:
    """Return the measured speed of "and", "xor" or "ternary" products of many rows.

    It is measured once a process for each kernel, in about 0.1 s after compilation.
    """
    return _speed(product, chosen_kernel(product, ROWS))


@functools.cache
def _speed(product: str, kernel: str) -> Speed:
    if not COMPILED:
        return Speed(kernel, math.nan, math.nan)
    probes = limits.work()
    names = {f"{kernel} {product}"} & set(probes) or {f"scalar {product}", f"vector {product}"}
    calls: dict[str, tuple[Callable[[], object], float]] = {name: probes[name] for name in names}
    planes = _random_planes(2 if product == "ternary" else 1)
    calls["rate"] = lambda: _drain(product, planes), ROWS * ROWS * BITS
    found = {name: _median(call, work) for name, (call, work) in calls.items()}
    return Speed(kernel, found.pop("rate"), max(found.values()))


def _random_planes(count: int) -> Planes:
    shape = ROWS, BITS // 64
    first, *others = np.random.default_rng(0).integers(0, 2**64, (count, *shape), np.uint64)
    return (first, *(other & first for other in others))


def _drain(product: str, planes: Planes) -> None:
    for _ in products(product, planes, planes):
        pass


def _median(call: Callable[[], object], work: float) -> float:
    """Return the median work per second, after a call that compiles."""
    call()
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return work / statistics.median(spent)
