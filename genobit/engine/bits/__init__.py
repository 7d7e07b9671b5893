"""The bit layout and its padding rule, and functions that pack, transpose, count and select bits.

Planes are uint64 (rows, words) with zero padding bits. May import: `simd`.
"""
