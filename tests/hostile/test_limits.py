"""Counts at and past what 32 bits hold, made of little memory; docs/tested.md has the limits."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit import model
from genobit.kernels import pair_ld
from genobit.kernels.ld import R2, _statistic, inverse_root

MOST = model.MOST_ALLELES // 2


def exact_r2(n: int, x: int, y: int, xx: int, yy: int, xy: int) -> float:
    """In whole numbers of any length."""
    return (n * xy - x * y) ** 2 / ((n * xx - x * x) * (n * yy - y * y))


@pytest.mark.parametrize("share", [0.5, 0.25, 1e-3, 1e-8])
def test_r2__of_as_many_samples_as_a_row_may_have(share: float) -> None:
    n = MOST
    half = int(n * share)
    # Homozygotes of the alternative allele, and in the other variant a tenth of them fewer.
    h, k = half, half - half // 10
    x, y, xx, yy, xy = 2 * h, 2 * k, 4 * h, 4 * k, 4 * k
    scale = inverse_root(n, x, xx) * inverse_root(n, y, yy)
    found = _statistic(R2, float(n), float(x), float(y), scale, float(xy))
    assert found == pytest.approx(exact_r2(n, x, y, xx, yy, xy), rel=1e-6)
    assert pair_ld.variance(n, h, h) == pytest.approx(n * xx - x * x, rel=1e-12)
    assert pair_ld.reachable(n, h, h, k, k, 0.5) == (exact_r2(n, x, y, xx, yy, xy) > 0.5)


def test_polymorphic__of_as_many_samples_as_a_row_may_have() -> None:
    nothing = np.empty((3, 0), np.uint64)
    counts = np.array([[MOST, MOST, MOST], [MOST, MOST, MOST - 1], [MOST, 0, 0]], np.int64)
    rows = pair_ld.PairRows(
        haplotypes=False,
        bits=MOST,
        first=nothing,
        second=nothing,
        called=nothing,
        counts=counts,
        total=np.zeros(3, np.int64),
        spread=np.zeros(3),
    )
    assert pair_ld.polymorphic(rows).tolist() == [False, True, False]


def test_more_samples_are_refused() -> None:
    for samples in (MOST + 1, 2**33, 2**61):
        calls = da.zeros((2, samples, 2), chunks=(1, samples, 2), dtype=np.int8)
        ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        with pytest.raises(ValueError, match=rf"{samples:,} samples of ploidy 2.*1,073,741,824"):
            ds.genobit.pack()
    assert gb.get_options().eager_limit < MOST * 8
