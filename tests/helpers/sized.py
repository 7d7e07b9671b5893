from typing import TypeVar

from genobit.engine.simd.cpu import host
from genobit.engine.simd.jit import COMPILED

T = TypeVar("T")

KERNELS = ("matrix", "sums", *["table"] * bool(host().byte_lanes), "popcount", "scalar")
"""Of products, those that the CPU has that is compiled for."""


def sized(compiled: T, plain: T) -> T:
    """What takes seconds of compiled kernels, and as much as plain Python gets through in them."""
    return compiled if COMPILED else plain
