from genobit.simd import host

KERNELS = ("sums", *["table"] * bool(host().byte_lanes), "popcount", "scalar")
"""Of products, those that the CPU has that is compiled for."""
