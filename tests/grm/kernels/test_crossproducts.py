from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.simd import cpu
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import (
    BYTE_LANES,
    load_bytes,
    multiply_pairs,
    repeat,
    zero_sums,
)
from genobit.engine.simd.vector import reduce_add
from genobit.grm.kernels import crossproducts
from genobit.grm.kernels.crossproducts import by_and, by_ternary, crossproduct
from genobit.grm.kernels.published_products import TABLES
from tests.helpers.cohorts import TAILS
from tests.helpers.reference import dosage_products, words_of
from tests.helpers.sized import sized

KERNELS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "shuffle" and not cpu.host().byte_lanes, reason="this CPU has no byte lookup"
        ),
    )
    for name in ("auto", *crossproducts.KERNELS)
]
RUNNING = [str(param.values[0]) for param in KERNELS if not param.marks[0].args[0]]
SLAB_BITS = 64 * crossproducts.SLAB


def random_dosages(samples: int, variants: int, seed: int) -> np.ndarray:
    """Dosages with some samples all 0, all 1 or all 2."""
    rng = np.random.default_rng(seed)
    dosages = rng.binomial(2, rng.uniform(size=(samples, 1)), (samples, variants))
    same = rng.uniform(size=samples) < 0.3
    dosages[same] = rng.integers(0, 3, (same.sum(), 1))
    return dosages


def rows_of(dosages: np.ndarray, called: np.ndarray | None = None) -> PlaneRows:
    planes = words_of(dosages >= 1), words_of(dosages == 2)
    return PlaneRows(False, dosages.shape[1], planes, None if called is None else words_of(called))


@given(
    samples=st.integers(1, 9),
    others=st.integers(1, 9),
    variants=st.sampled_from([*TAILS, 319, 320, 321, 1023, 1025]),
    seed=st.integers(0, 2**32),
)
def test_kernels__equal_products_of_python_integers(
    samples: int, others: int, variants: int, seed: int
) -> None:
    x, y = random_dosages(samples, variants, seed), random_dosages(others, variants, seed + 1)
    square, cross = dosage_products(x, x), dosage_products(x, y)
    for kernel in RUNNING:
        found = crossproduct(kernel, rows_of(x))
        assert found.dtype == np.int64
        assert found.tolist() == square, kernel
        assert crossproduct(kernel, rows_of(x), rows_of(y)).tolist() == cross, kernel


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "variants",
    sized([SLAB_BITS - 1, SLAB_BITS, SLAB_BITS + 1, 2 * SLAB_BITS + 70], [SLAB_BITS + 1]),
)
def test_kernels__of_several_slabs_and_tiles(kernel: str, variants: int) -> None:
    x, y = random_dosages(sized(33, 2), variants, 1), random_dosages(sized(65, 3), variants, 2)
    np.testing.assert_array_equal(crossproduct(kernel, rows_of(y)), y @ y.T)
    np.testing.assert_array_equal(crossproduct(kernel, rows_of(x), rows_of(y)), x @ y.T)
    np.testing.assert_array_equal(crossproduct(kernel, rows_of(y), rows_of(x)), y @ x.T)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dosage", [0, 1, 2])
def test_kernels__of_one_dosage_only__are_exact_where_counts_are_largest(
    kernel: str, dosage: int
) -> None:
    variants = sized(100_003, 5_003)
    x = np.full((3, variants), dosage)
    assert (crossproduct(kernel, rows_of(x)) == dosage * dosage * variants).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels__from_eight_threads_at_once(kernel: str) -> None:
    x = random_dosages(*sized((40, 1000), (5, 300)), 3)
    rows = rows_of(x)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: crossproduct(kernel, rows), range(16)):
            np.testing.assert_array_equal(found, x @ x.T)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels__take_planes_that_may_not_be_written(kernel: str) -> None:
    x = random_dosages(5, 200, 3)
    rows = rows_of(x)
    for plane in rows.planes:
        plane.flags.writeable = False
    np.testing.assert_array_equal(crossproduct(kernel, rows), x @ x.T)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels__of_nobody_or_nothing(kernel: str) -> None:
    assert crossproduct(kernel, rows_of(np.zeros((0, 70), int))).shape == (0, 0)
    none = PlaneRows(False, 0, (np.zeros((3, 0), np.uint64),) * 2, None)
    assert crossproduct(kernel, none).tolist() == [[0] * 3] * 3


@pytest.mark.parametrize("kernel", KERNELS)
def test_missing_calls__are_refused_with_the_way_out(kernel: str) -> None:
    x = random_dosages(4, 100, 1)
    called = np.ones(x.shape, bool)
    complete = rows_of(x, called)
    np.testing.assert_array_equal(crossproduct(kernel, complete), x @ x.T)
    called[2, [5, 70]] = False
    missing = rows_of(x * called, called)
    for pair in ((missing, None), (complete, missing)):
        with pytest.raises(ValueError, match=r"samples\[2\].* misses 2 of 100 .*grm\(missing="):
            crossproduct(kernel, *pair)


def test_an_unknown_kernel__is_refused_with_the_names() -> None:
    with pytest.raises(ValueError, match=r"'fast' is not one of 'auto', 'multiply', .*'popcount'"):
        crossproduct("fast", rows_of(np.ones((1, 1), int)))


def test_shuffle__says_that_it_needs_a_byte_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossproducts, "host", lambda: cpu.Host(False, 0))
    with pytest.raises(ValueError, match="byte lookup"):
        crossproduct("shuffle", rows_of(np.ones((1, 1), int)))


def test_tables__hold_the_products_of_all_codes() -> None:
    three, two = (0b000, 0b011, 0b110), (0b00, 0b01, 0b10)
    of_and, of_or = TABLES["twobit"].reshape(2, -1)
    for x in range(3):
        for y in range(3):
            assert TABLES["threebit"][three[x] & three[y]] == x * y
            both, either = two[x] & two[y], two[x] | two[y]
            assert of_and[both] + of_or[either] == x * y
    assert TABLES["threebit"].max() == 20
    assert of_and[0b1010101010101010] == 32


@given(st.lists(st.integers(0, 255), min_size=2 * BYTE_LANES, max_size=2 * BYTE_LANES))
def test_registers__do_what_numpy_does(values: list[int]) -> None:
    octets = np.array(values, np.uint8)
    small = octets.view(np.int16) & 0x7FF
    summed, product, repeated = _registers(octets, small.view(np.uint8), np.uint64(values[0]))
    assert summed == octets[:BYTE_LANES].sum(dtype=int)
    x, y = small.astype(int).reshape(2, -1)
    assert product == (x * y).sum()
    assert repeated == values[0] * BYTE_LANES // 8


@njit
def _registers(octets, small, word):
    product = multiply_pairs(load_bytes(small, 0), load_bytes(small, BYTE_LANES))
    return (
        reduce_add(load_bytes(octets, 0)),
        reduce_add(product + zero_sums()),
        reduce_add(repeat(word)),
    )


def test_popcount__and_the_ternary_product_need_no_coding() -> None:
    x = random_dosages(7, 130, 5)
    for way in (by_and, by_ternary):
        np.testing.assert_array_equal(way(rows_of(x), None), x @ x.T)
