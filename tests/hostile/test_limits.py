"""Counts at and past 32 bits, in little memory; docs/internals/tests.md has the limits."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import xarray as xr

from genobit.data import layouts, model
from genobit.engine.bits.layout import Layout
from genobit.ld.kernels import row_pairs
from genobit.ld.kernels.r2 import R2, _statistic, correlation, inverse_root

MOST = model.MOST_ALLELES // 2


def exact_r2(n: int, x: int, y: int, xx: int, yy: int, xy: int) -> float:
    """In whole numbers of any length."""
    return (n * xy - x * y) ** 2 / ((n * xx - x * x) * (n * yy - y * y))


@pytest.mark.parametrize("haplotypes", [False, True])
def test_covariances__are_exact_at_the_limit(haplotypes: bool) -> None:
    n = 2 * MOST if haplotypes else MOST
    most = n if haplotypes else 4 * n
    rng = np.random.default_rng(1)
    for _ in range(1000):
        x, y = (int(v) for v in rng.integers(0, n if haplotypes else 2 * n, 2, endpoint=True))
        xy = int(rng.integers(0, most, endpoint=True))
        found = float(n) * float(xy) - float(x) * float(y)
        assert int(found) == n * xy - x * y
        assert correlation(float(n), float(x), float(y), 1.0, float(xy)) == n * xy - x * y


@pytest.mark.parametrize("share", [0.5, 0.25, 1e-3, 1e-6])
def test_r2__of_as_many_samples_as_a_row_may_have(share: float) -> None:
    n = MOST
    half = int(n * share)
    # Homozygotes of the alternative allele, and in the other variant a tenth of them fewer.
    h, k = half, half - half // 10
    x, y, xx, yy, xy = 2 * h, 2 * k, 4 * h, 4 * k, 4 * k
    scale = inverse_root(n, x, xx) * inverse_root(n, y, yy)
    found = _statistic(R2, float(n), float(x), float(y), scale, float(xy))
    assert found == pytest.approx(exact_r2(n, x, y, xx, yy, xy), rel=1e-6)
    assert row_pairs.variance(n, h, h) == pytest.approx(n * xx - x * x, rel=1e-12)
    assert row_pairs.reachable(n, h, h, k, k, 0.5) == (exact_r2(n, x, y, xx, yy, xy) > 0.5)


def test_polymorphic__of_as_many_samples_as_a_row_may_have() -> None:
    nothing = np.empty((3, 0), np.uint64)
    counts = np.array([[MOST, MOST, MOST], [MOST, MOST, MOST - 1], [MOST, 0, 0]], np.int64)
    rows = row_pairs.PairRows(
        haplotypes=False,
        bits=MOST,
        first=nothing,
        second=nothing,
        called=nothing,
        counts=counts,
        total=np.zeros(3, np.int64),
        spread=np.zeros(3),
    )
    assert row_pairs.polymorphic(rows).tolist() == [False, True, False]


def test_more_samples_are_refused() -> None:
    for samples in (MOST + 1, 2**33, 2**61):
        calls = da.zeros((2, samples, 2), chunks=(1, samples, 2), dtype=np.int8)
        ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        with pytest.raises(ValueError, match=rf"{samples:,} samples of ploidy 2.*67,108,864"):
            ds.genobit.pack()
    layout = Layout("haplotype", "variants", 2 * MOST + 2, 2)
    with pytest.raises(ValueError, match=rf"packed Dataset has {MOST + 1:,} samples of ploidy 2"):
        layouts.layout_of(xr.Dataset(attrs=layout.to_attributes()))
