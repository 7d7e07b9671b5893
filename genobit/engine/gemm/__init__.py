"""The gemm folder."""
