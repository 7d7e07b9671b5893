"""The simd folder."""
