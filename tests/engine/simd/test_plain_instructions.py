"""Instructions of registers, compiled and by their twins in numpy: the same bits."""

from __future__ import annotations

import copy
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.transpose import load_eight
from genobit.engine.gemm.carry_save import carried
from genobit.engine.simd import cpu, jit, plain, vector
from genobit.engine.simd.amx import (
    add_quads,
    as_octets,
    choose_octets,
    load_row,
    load_sums,
    splat_quad,
    spread,
    zero_octets,
)
from genobit.engine.simd.amx import zero_sums as no_sums
from genobit.engine.simd.count_lanes import (
    COUNT_LANES,
    RATIO_LANES,
    ROUGH,
    abs_ge_mask,
    gather_counts,
    load_counts,
    load_ratios,
    permute_counts,
    rough_reciprocal,
    splat_count,
    splat_ratio,
)
from genobit.engine.simd.jit import njit
from genobit.engine.simd.lane_moves import prefetch, shift_left, shift_right, transpose_square
from genobit.engine.simd.registers import (
    BYTE_LANES,
    REGISTER_WORDS,
    add_bytes,
    broadcast,
    broadcast_float,
    bytes_of_bits,
    equal_mask,
    less_mask,
    load_bytes,
    load_floats,
    load_octets,
    load_register,
    load_table,
    load_words,
    lookup,
    multiply_pairs,
    next_16,
    repeat,
    truncate_to,
    unowned,
    zero_bytes,
    zero_register,
    zero_sums,
    zero_words,
)
from genobit.engine.simd.vector import (
    add_to,
    andnot,
    bits_of,
    choose,
    flattened,
    lanes_of,
    multiply_add,
    popcount,
    reduce_add,
    store,
)
from genobit.io.kernels import bcf, vcf_calls, vcf_text
from genobit.io.kernels.vcf_rows import Rows
from genobit.kendall.kernels.bitonic_sort import (
    BLOCK,
    load_lanes,
    merge_lanes,
    sort_block,
)
from genobit.kendall.kernels.signs import load_ranks, splat_ranks
from genobit.ld.kernels.popcount_accumulators import store_sums, tallied, tally, zero_tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.compiled("compares twins with what is compiled")
seeds = st.integers(0, 2**32)
places = st.integers(0, 7)


@njit
def _words(x, i, counts, out):
    a, b = load_words(x, i), load_words(x, i + 3)
    store(out, 0, (a & b) + (a | b) - (a ^ b))
    store(out, 8, andnot(a, b) + zero_words())
    store(out, 32, carried(a, b, load_words(x, i + 5)))
    store(out, 16, popcount(a) + broadcast(x[i]))
    store(out, 24, shift_left(a, x[0] & 63) ^ shift_right(b, x[1] & 63))
    add_to(counts, i, a)
    store(counts, i + 8, b)
    prefetch(x, 2**40)
    return reduce_add(a), reduce_add(lanes_of(counts, a))


@njit
def _registers(x, i, out):
    a, b = load_register(x, i), load_register(x, i + 1)
    store(out, i, zero_register() + (a & b))
    t = zero_tally() + tally(a) + tally(b)
    store_sums(out, 20 + i, tallied(t), a, b, tallied(tally(a)))
    return popcount(x[0])


@njit
def _bytes(x, i, pairs, out):
    numbers = unowned(x)
    a, b = load_bytes(numbers, i), load_bytes(numbers, i + 5)
    word = load_octets(numbers, i)
    store(out, 0, (a & b) + andnot(a, b) - (zero_bytes() ^ a))
    store(out, BYTE_LANES, bytes_of_bits(word) ^ repeat(word))
    store(out, 2 * BYTE_LANES, shift_left(a, 3) | shift_right(b, 5))
    add_bytes(pairs, i, a)
    few = repeat(np.uint64(0x003F003F003F003F))
    products = zero_sums() + multiply_pairs(a & few, b & few)
    pairs[0] = truncate_to(pairs, x[i] << 12)
    return next_16(word), reduce_add(a), reduce_add(products), numbers[i]


@njit
def _lookups(tables, offsets, i, index, out):
    store(out, i, lookup(load_table(tables, offsets, i), load_bytes(index, i)))


@njit
def _masks(x, i, value):
    return equal_mask(x, i, value), less_mask(x, i, value)


@njit
def _ranks(x, i, j, value):
    a, b = load_ranks(x, i), load_ranks(x, j)
    return bits_of(a > b), bits_of(a == splat_ranks(x, value))


@njit
def _keys(x, i, out):
    a, b = load_lanes(x, i), load_lanes(x, i + 8)
    low, high = merge_lanes(a, b)
    store(out, i, low)
    store(out, i + 8, high)
    return reduce_add(a), sort_block(x, 16 + i)


@njit
def _floats(x, i, word, out):
    a, b = load_floats(x, i), load_floats(x, i + 8)
    store(out, 0, choose(word, a, b))
    store(out, 8, (a + b) * (a - broadcast_float(x[i])))
    store(out, 16, a / b)


@njit
def _counts(x, i, numbered, out, narrow):
    a, b = load_counts(x, i), gather_counts(x, i, numbered, i)
    store(out, i, a - b + permute_counts(x, i, numbered, i))
    store(narrow, i, splat_count(x, x[i]) - a)


@njit
def _ratios(x, numbers, i, out):
    a, b = load_ratios(x, i), load_ratios(numbers, i)
    store(out, 0, (a + b) * (a - b) / splat_ratio(numbers[0]))
    store(out, RATIO_LANES, multiply_add(a, b, b))
    store(out, 2 * RATIO_LANES, rough_reciprocal(b))
    return abs_ge_mask(b, a)


@njit
def _quads(words, i, rows, out):
    a, b = spread(words[i], words[i + 1]), load_row(rows, i)
    total = add_quads(load_sums(out, i), a, b)
    quad = as_octets(splat_quad(words[i] >> np.uint64(32)))
    some = choose_octets(words[i + 2], choose_octets(words[i], a, b), zero_octets())
    total = add_quads(total, some, quad)
    store(out, i, add_quads(total, quad, b) + add_quads(no_sums(), quad, quad))


@njit
def _squares(rows, start, stride, out, to, step):
    source = flattened(rows)
    transpose_square(source, start, stride, flattened(out), to, step)
    return reduce_add(load_eight(source, start))


KERNELS: list[Any] = [
    _words, _registers, _bytes, _lookups, _masks, _ranks, _keys, _floats, _counts, _ratios, _quads,
    _squares, vcf_text.line_starts, vcf_calls.read_calls, bcf.read_calls,
]  # fmt: skip


def inner(kernel: Any) -> dict[str, Any]:
    """What the kernel uses of its module."""
    known = kernel.py_func.__globals__
    return {name: known[name] for name in kernel.py_func.__code__.co_names if name in known}


def used(kernel: Any) -> Iterator[Any]:
    """What the kernel uses, and what its parts use."""
    for x in inner(kernel).values():
        yield x
        if hasattr(x, "py_func"):
            yield from used(x)


def by_twins(kernel: Any) -> Callable[..., Any]:
    """The kernel in plain Python, each of its instructions by its twin."""
    function = kernel.py_func
    known = {name: getattr(x, "twin", x) for name, x in function.__globals__.items()}
    parts = {name: x for name, x in inner(kernel).items() if hasattr(x, "py_func")}
    known |= {name: by_twins(x) for name, x in parts.items()}
    return plain.kernel(FunctionType(function.__code__, known))


def flat(arguments: Any) -> list[Any]:
    """Arguments, with those of a tuple in its place."""
    return [y for x in arguments for y in (x if isinstance(x, tuple) else (x,))]


def same(kernel: Any, *arguments: Any, relative: float = 0) -> None:
    """Run both ways, they return the same and write the same."""
    ways = (kernel, by_twins(kernel))
    given = [copy.deepcopy(arguments) for _ in ways]
    returned = [np.array(way(*own), object) for way, own in zip(ways, given, strict=True)]
    assert returned[0].tolist() == returned[1].tolist()
    for compiled, plainly in zip(*map(flat, given), strict=True):
        if relative:
            np.testing.assert_allclose(plainly, compiled, rtol=relative)
        else:
            np.testing.assert_array_equal(plainly, compiled)


def octets(seed: int, size: int, dtype: Any) -> np.ndarray:
    """Numbers of all bits, and of few: 0, 1, -1."""
    random = np.random.default_rng(seed)
    found = random.integers(0, 256, size * np.dtype(dtype).itemsize, np.uint8).view(dtype)
    few = random.integers(-1, 2, size).astype(dtype)
    return np.where(random.random(size) < 0.3, few, found)


def instructions() -> Iterator[Any]:
    """Of all modules that may have any."""
    yield from (x for x in vars(vector).values() if hasattr(x, "twin"))
    for folder in jit.KERNELS:
        for file in jit.PACKAGE.glob(f"{folder}/**/*.py"):
            name = ".".join(("genobit", *file.relative_to(jit.PACKAGE).with_suffix("").parts))
            found = vars(importlib.import_module(name)).values()
            yield from (x for x in found if hasattr(x, "twin"))


def test_instructions__are_all_compared() -> None:
    compared = {id(x) for kernel in KERNELS for x in used(kernel)}
    missing = {repr(x) for x in instructions() if id(x) not in compared}
    assert not missing


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
@given(seed=seeds, i=places)
def test_words(dtype: Any, seed: int, i: int) -> None:
    x = octets(seed, 20, np.uint64)
    same(_words, x, i, octets(seed, 24, dtype), np.zeros(40, np.uint64))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@given(seed=seeds, i=places)
def test_squares(dtype: Any, seed: int, i: int) -> None:
    rows, out = octets(seed, 104, dtype).reshape(-1, 8), np.zeros((10, 8), dtype)
    same(_squares, rows, i, 11, out, i, 9)
    _squares(rows, i, 11, out, i, 9)
    for k in range(8):
        np.testing.assert_array_equal(out.ravel()[i + 9 * k :][:8], rows.ravel()[i + k :][:85:11])


@given(seed=seeds, i=places)
def test_registers(seed: int, i: int) -> None:
    x = octets(seed, REGISTER_WORDS + 8, np.uint64)
    same(_registers, x, i, np.zeros(32, np.int64))


@given(seed=seeds, i=places)
def test_bytes(seed: int, i: int) -> None:
    x, pairs = octets(seed, BYTE_LANES + 12, np.uint8), octets(seed, BYTE_LANES + 7, np.uint16)
    same(_bytes, x, i, pairs, np.zeros(3 * BYTE_LANES, np.uint8))


@pytest.mark.skipif(not cpu.host().byte_lanes, reason="this CPU has no byte lookup (SSSE3, NEON)")
@given(seed=seeds, i=places)
def test_lookups(seed: int, i: int) -> None:
    offsets, index = (octets(seed + k, BYTE_LANES + 7, np.uint8) for k in (1, 2))
    out = np.zeros(BYTE_LANES + 7, np.uint8)
    same(_lookups, octets(seed, 271, np.uint8), offsets, i, index & 15, out)


@given(seed=seeds, i=places, value=st.integers(-128, 127))
def test_masks(seed: int, i: int, value: int) -> None:
    same(_masks, octets(seed, 71, np.int8), i, value)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@given(seed=seeds, i=places, j=places)
def test_ranks(dtype: Any, seed: int, i: int, j: int) -> None:
    x = octets(seed, 71, dtype)
    same(_ranks, x, i, j, int(x[j]))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(seed=seeds, i=places)
def test_keys(dtype: Any, seed: int, i: int) -> None:
    x = octets(seed, BLOCK + 24, dtype)
    for k in (i, i + 8):
        x[k : k + 8].sort()
    same(_keys, x, i, np.zeros(24, dtype))


@given(seed=seeds, i=places, word=st.integers(0, 2**63 - 1))
def test_floats(seed: int, i: int, word: int) -> None:
    x = octets(seed, 24, np.int8).astype(np.float32) / np.float32(7)
    same(_floats, x, i, word, np.zeros(24, np.float32))


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
@given(seed=seeds, i=places)
def test_counts(dtype: Any, seed: int, i: int) -> None:
    x = octets(seed, 2 * COUNT_LANES + 9, dtype)
    numbered = np.random.default_rng(seed).integers(0, COUNT_LANES, COUNT_LANES + 7, np.int32)
    written = (np.zeros(COUNT_LANES + 7, t) for t in (np.int32, np.int16))
    same(_counts, x, i, numbered, *written)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.float32])
@given(seed=seeds, i=places)
def test_ratios(dtype: Any, seed: int, i: int) -> None:
    x = octets(seed, RATIO_LANES + 7, np.int8).astype(dtype)
    numbers = np.random.default_rng(seed).uniform(1, 100, RATIO_LANES + 7).astype(np.float32)
    # A sum of a product is rounded once or twice, as the CPU has it.
    same(_ratios, x, numbers, i, np.zeros(3 * RATIO_LANES, np.float32), relative=ROUGH / 100)


@given(seed=seeds, i=places)
def test_quads(seed: int, i: int) -> None:
    same(
        _quads,
        octets(seed, 10, np.uint64),
        i,
        octets(seed, 71, np.int8),
        octets(seed, 23, np.int32),
    )


def rows_of(n: int, samples: int) -> Rows:
    """Room for diploid calls of n records, all of whose samples are kept."""
    calls, phased = (np.zeros((4, -(-k // 64) * 64), np.int8) for k in (2 * samples, samples))
    planes = [np.zeros((n, x.shape[1] // 64), np.uint64) for x in (calls, calls, phased)]
    others = np.zeros(n, np.int64), np.zeros((n, 2 * samples), np.int8)
    return Rows(calls, phased, np.zeros(0, np.intp), calls, phased, calls, *planes, *others)


@given(seed=seeds, alleles=st.integers(2, 3))
def test_calls_of_text(seed: int, alleles: int) -> None:
    random, samples = np.random.default_rng(seed), 41
    calls = random.choice(["0|1", "1/1", "./.", "0/2", ".", "1", "0|0:7"], (6, samples))
    calls[:4] = random.choice(["0|1", "1/1", "./.", "1|."], (4, samples))
    lines = ["\t".join(["1", "5", ".", "A", "C", ".", ".", ".", "GT", *row]) for row in calls]
    data = ("\n".join(lines) + "\n").encode() + bytes(vcf_text.PADDING)
    text, starts = np.frombuffer(data, np.uint8), np.zeros(6, np.int64)
    stop = text.size - vcf_text.PADDING
    same(vcf_text.line_starts, text, 0, stop, starts)
    assert vcf_text.line_starts(text, 0, stop, starts) == (6, stop)
    columns, report = np.zeros((6, 10), np.int64), np.zeros(vcf_text.ENTRIES, np.int64)
    vcf_text.read_columns(text, starts, columns, np.zeros(6, np.int64), report)
    same(
        vcf_calls.read_calls,
        text,
        columns,
        np.full(6, alleles),
        samples,
        2,
        rows_of(6, samples),
        report,
    )


@given(seed=seeds, alleles=st.integers(1, 4))
def test_calls_of_bcf(seed: int, alleles: int) -> None:
    random, samples = np.random.default_rng(seed), 41
    text = random.integers(0, 2 * alleles + 2, 2 * samples + vcf_text.PADDING).astype(np.uint8)
    places = np.zeros((1, 8), np.int64)
    places[0, bcf.GT_TYPE] = 2 * 256 + 1
    report = np.zeros(vcf_text.ENTRIES, np.int64)
    same(bcf.read_calls, text, places, np.full(1, alleles), samples, 2, rows_of(1, samples), report)
