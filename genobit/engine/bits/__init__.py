"""The bit layout and its tail rule; what packs, transposes, counts and selects bits.

Planes are uint64 (rows, words), padding bits zero. May import: `simd`.
"""
