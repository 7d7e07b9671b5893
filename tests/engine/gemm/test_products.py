from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genobit.engine.gemm import products
from genobit.engine.options import set_options
from tests.helpers.reference import and_counts, ternary_products, words_of, xor_counts
from tests.helpers.sized import KERNELS, sized

PRODUCTS = ("and", "xor", "ternary")
BITS = (1, 3, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 513, 1000)
UNWRITTEN = -(10**9)


def random_bits(rows: int, bits: int, seed: int) -> np.ndarray:
    """Bits with some rows all zero and all one, as monomorphic variants have."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, bits)) < rng.uniform(size=(rows, 1))
    x[rng.uniform(size=rows) < 0.1] = False
    x[rng.uniform(size=rows) < 0.1] = True
    return x


def operand(product: str, rows: int, bits: int, seed: int) -> tuple[np.ndarray, ...]:
    planes = (random_bits(rows, bits, seed),)
    # A sign outside the mask must not count, so none is cleared here.
    return (*planes, random_bits(rows, bits, seed + 1)) if product == "ternary" else planes


def expected(product: str, a: tuple, b: tuple) -> np.ndarray:
    reference = {"and": and_counts, "xor": xor_counts, "ternary": ternary_products}[product]
    return reference(*a, *b)


def collect(
    kernel: str, product: str, a: tuple, b: tuple | None = None, **keywords: object
) -> np.ndarray:
    """All blocks of a product in one array; what no block covers is `UNWRITTEN`."""
    group = keywords.get("group", 1)
    planes = tuple(words_of(x) for x in a)
    others = None if b is None else tuple(words_of(x) for x in b)
    out = np.full((len(a[0]), len((a if b is None else b)[0])), UNWRITTEN, np.int64)
    with set_options(kernel=kernel):
        for of_rows, of_columns, _, counts in products.products(
            product, planes, others, **keywords
        ):
            rows, columns = (
                slice(part.start * group, part.stop * group) for part in (of_rows, of_columns)
            )
            assert counts.shape == (rows.stop - rows.start, columns.stop - columns.start)
            assert (out[rows, columns] == UNWRITTEN).all(), "an entry was given twice"
            out[rows, columns] = counts
    return out


@given(
    product=st.sampled_from(PRODUCTS),
    rows=st.integers(1, sized(40, 9)),
    columns=st.integers(1, sized(80, 17)),
    bits=st.sampled_from(BITS),
    seed=st.integers(0, 2**32),
)
def test_products__equal_the_reference(
    product: str, rows: int, columns: int, bits: int, seed: int
) -> None:
    a, b = operand(product, rows, bits, seed), operand(product, columns, bits, seed + 7)
    right = expected(product, a, b)
    for kernel in KERNELS:
        np.testing.assert_array_equal(collect(kernel, product, a, b), right, err_msg=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize(
    ("rows", "columns"),
    sized([(255, 511), (256, 512), (257, 513), (300, 1025)], [(5, 129), (65, 9)]),
)
def test_products__around_the_edges_of_blocks(
    kernel: str, product: str, rows: int, columns: int
) -> None:
    a, b = operand(product, rows, 65, 1), operand(product, columns, 65, 3)
    np.testing.assert_array_equal(collect(kernel, product, a, b), expected(product, a, b))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize(
    "bits", sized([7_935, 7_936, 7_937, 40_959, 40_960, 40_961, 100_001], [7_937])
)
def test_products__of_rows_longer_than_a_slab(kernel: str, product: str, bits: int) -> None:
    # A slab is 1,984 nibbles (7,936 positions) of tables, or 640 words (40,960) of popcounts.
    a, b = operand(product, sized(5, 2), bits, 1), operand(product, sized(66, 3), bits, 3)
    np.testing.assert_array_equal(collect(kernel, product, a, b), expected(product, a, b))


@pytest.mark.parametrize("kernel", KERNELS)
def test_products__at_the_largest_counts(kernel: str) -> None:
    bits = sized(100_000, 1_000)
    ones = (np.ones((sized(9, 2), bits), bool),)
    assert (collect(kernel, "and", ones) == bits).all()
    assert (collect(kernel, "xor", ones, (~ones[0],)) == bits).all()
    assert (collect(kernel, "ternary", ones * 2, (ones[0], ~ones[0])) == -bits).all()


@given(
    product=st.sampled_from(PRODUCTS),
    rows=st.sampled_from(sized([1, 5, 64, 255, 256, 257, 513], [1, 5, 17])),
    group=st.sampled_from([1, 2, 3]),
    width=st.sampled_from([1, 64, 100, 512, 2000]),
)
@example(product="and", rows=sized(255, 15), group=3, width=512)
def test_upper__gives_every_entry_on_and_above_the_diagonal(
    product: str, rows: int, group: int, width: int
) -> None:
    n = max(group, rows // group * group)
    a = operand(product, n, 70, rows)
    right = expected(product, a, a)
    index = np.arange(n) // group
    wanted = index[:, None] <= index
    for kernel in KERNELS:
        found = collect(kernel, product, a, upper=True, group=group, columns=-(-width // group))
        np.testing.assert_array_equal(found[wanted], right[wanted], err_msg=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_unwanted_entries__are_never_what_memory_held(
    kernel: str, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dirty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        out = clean(shape, dtype)
        out.view(np.uint8)[...] = 0x7F
        return out

    clean = products.aligned
    monkeypatch.setattr(products, "aligned", dirty)
    words = tuple(words_of(x) for x in operand(product, 200, 70, 1))
    band = {"band_rows": products.BandRows(2 * np.arange(200) + 1)}
    with set_options(kernel=kernel):
        for limits in {"upper": True}, band:
            for block in products.products(product, words, **limits):
                assert np.abs(block.counts.astype(np.int64)).max() < 2**16


@given(
    n=st.sampled_from(sized([6, 60, 258, 516, 600], [6, 30])),
    m=st.sampled_from(sized([6, 60, 258, 516, 600], [6, 30])),
    group=st.sampled_from([1, 2, 3]),
    reach=st.sampled_from([0, 1, 30, 300, 1000]),
    width=st.sampled_from([6, 64, 512]),
    product=st.sampled_from(["and", "ternary"]),
)
def test_band_rows__give_every_entry_of_a_band(
    n: int, m: int, group: int, reach: int, width: int, product: str
) -> None:
    a, b = operand(product, m, 65, n), operand(product, n, 65, m + 5)
    right = expected(product, a, b)
    row, column = np.arange(m) // group, np.arange(n) // group
    inside = np.abs(row[:, None] - column) <= reach
    rows = products.BandRows(np.arange(m // group) + reach, reach)
    for kernel in KERNELS:
        found = collect(
            kernel, product, a, b, band_rows=rows, group=group, columns=-(-width // group)
        )
        np.testing.assert_array_equal(found[inside], right[inside], err_msg=kernel)


@given(
    n=st.sampled_from(sized([1, 33, 258, 700], [1, 33])),
    bits=st.sampled_from(sized([40, 65, 3000], [40, 65])),
    reach=st.sampled_from([0, 1, 30, 300]),
    width=st.sampled_from([6, 64, 512]),
    product=st.sampled_from(["and", "ternary"]),
    kind=st.sampled_from([np.int16, np.int32]),
    seed=st.integers(0, 2**16),
)
def test_band_rows__give_every_entry_on_and_above_the_diagonal(
    n: int, bits: int, reach: int, width: int, product: str, kind: type, seed: int
) -> None:
    a = operand(product, n, bits, seed)
    right = expected(product, a, a)
    steps = np.random.default_rng(seed).integers(0, reach + 1, n)
    last = np.minimum(np.maximum.accumulate(np.arange(n) + steps), n - 1)
    row, column = np.indices((n, n))
    inside = (row <= column) & (column <= last[:, None])
    for kernel in KERNELS:
        short = kernel == "popcount" and product == "and"
        found = collect(
            kernel,
            product,
            a,
            upper=True,
            band_rows=products.BandRows(last),
            columns=width,
            kind=kind if short else np.int32,
        )
        np.testing.assert_array_equal(found[inside], right[inside], err_msg=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("group", [2, 3])
def test_group__is_never_parted(kernel: str, group: int) -> None:
    words = words_of(random_bits(group * sized(400, 20), 10, 1))
    with set_options(kernel=kernel):
        for block in products.products("and", (words,), group=group, columns=100 // group):
            assert block.counts.shape == (
                group * (block.rows.stop - block.rows.start),
                group * (block.columns.stop - block.columns.start),
            )


def test_diagonal__says_which_columns_of_a_row_count() -> None:
    words = (words_of(random_bits(2 * sized(400, 20), 10, 1)),)
    for block in products.products("and", words, group=2, upper=True, columns=sized(50, 5)):
        assert block.diagonal == block.rows.start - block.columns.start
    for block in products.products("and", words, group=2, columns=sized(50, 5)):
        assert block.diagonal <= block.rows.start - block.rows.stop


@pytest.mark.parametrize("kernel", KERNELS)
def test_products__very_long_rows_get_narrow_blocks(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "PANEL_BYTES", 1000)
    a = operand("ternary", *sized((129, 1000), (39, 200)), 1)
    np.testing.assert_array_equal(collect(kernel, "ternary", a, group=3), expected("ternary", a, a))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_products__from_eight_threads_at_once(kernel: str, product: str) -> None:
    a, b = (
        operand(product, *sized((70, 700), (5, 130)), 1),
        operand(product, *sized((600, 700), (9, 130)), 3),
    )
    right = expected(product, a, b)
    planes, others = tuple(map(words_of, a)), tuple(map(words_of, b))

    def run(_: int) -> np.ndarray:
        out = np.zeros(right.shape, np.int64)
        for rows, columns, _, counts in products.products(product, planes, others):
            out[rows, columns] = counts
        return out

    with set_options(kernel=kernel), ThreadPoolExecutor(8) as pool:
        for found in pool.map(run, range(sized(24, 8))):
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("kernel", KERNELS)
def test_products__of_arrays_that_are_read_only_or_strided(kernel: str) -> None:
    a = random_bits(21, 200, 1)
    words = words_of(a)
    read_only = words.copy()
    read_only.flags.writeable = False
    wide = np.zeros((21, 9), np.uint64)
    wide[:, ::2][:, :4] = words
    strided = np.ascontiguousarray(wide[:, ::2][:, :4])
    for planes in (read_only, strided):
        with set_options(kernel=kernel):
            blocks = [b.counts.copy() for b in products.products("and", (planes,))]
        np.testing.assert_array_equal(np.block([blocks]), and_counts(a, a))


@pytest.mark.parametrize("kernel", KERNELS)
def test_products__of_no_rows_or_no_bits(kernel: str) -> None:
    none = np.zeros((0, 2), np.uint64)
    some = np.ones((3, 2), np.uint64)
    with set_options(kernel=kernel):
        assert [b.counts.size for b in products.products("and", (none,), (some,))] in ([], [0])
        assert list(products.products("and", (some,), (none,))) == []
        blocks = list(products.products("and", (np.zeros((3, 0), np.uint64),)))
    assert [b.counts.tolist() for b in blocks] == [[[0] * 3] * 3]


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_rows_of_some_columns__give_no_block(kernel: str) -> None:
    with set_options(kernel=kernel):
        words = (words_of(random_bits(9, 10, 1)),)
        band = products.BandRows(np.arange(9), -9)
        assert not list(products.products("and", words, band_rows=band))
