"""Pairs of one of several workers: shares put together are the whole."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.measurements import expression


@pytest.mark.parametrize("workers", [1, 2, 5, 40])
def test_shares__put_together_are_the_whole(workers: int, tmp_path: Path) -> None:
    expr = expression(33, 30, missing=0.05)
    columns = ["gene_0", "gene_1"]
    with gb.set_options(chunk_rows=5):
        whole = expr.genobit.kendall_pairs(0.2, None)
        tables = [expr.genobit.kendall_pairs(0.2, None, share=(k, workers)) for k in range(workers)]
        paths = [
            expr.genobit.kendall_pairs(0.2, None, share=(k, workers)).to_parquet(tmp_path / str(k))
            for k in range(workers)
        ]
    # A share without a tile has no file.
    files = [gb.open_pairs(path) for path in paths if list(path.glob("*.parquet"))]
    for shares in (tables, files):
        frames = [share.to_dataframe() for share in shares]
        # Without a name pandas cannot tell text from other objects.
        together = pd.concat([frame for frame in frames if len(frame)])
        sorted_ = together.sort_values(columns, ignore_index=True)
        pd.testing.assert_frame_equal(sorted_, whole.to_dataframe(), check_exact=True)
        numbers = [share.attrs["share"][0] for share in shares]
        assert numbers == list(range(len(numbers)))
        assert all(share.attrs["share"][1] == workers for share in shares)


def test_share__of_genotypes() -> None:
    ds = cohort(random_calls(1, 30, 40))
    with gb.set_options(chunk_rows=8):
        whole = ds.genobit.kendall_pairs(0.1, None).to_dataframe()
        parts = [ds.genobit.kendall_pairs(0.1, None, share=(k, 3)).to_dataframe() for k in range(3)]
    columns = ["variant_0", "variant_1"]
    together = pd.concat(parts).sort_values(columns, ignore_index=True)
    pd.testing.assert_frame_equal(together, whole, check_exact=True)


def test_share__of_all_pairs_is_refused_where_it_is_too_large_itself() -> None:
    expr = expression(100, 10)
    with gb.set_options(eager_limit=100_000, chunk_rows=10):
        assert len(expr.genobit.kendall_pairs(None, None, share=(0, 10)).to_dataframe()) > 0
        with pytest.raises(MemoryError, match=r"KiB, more than eager_limit \(97.7 KiB\)"):
            expr.genobit.kendall_pairs(None, None, share=(0, 2)).to_dataframe()


@pytest.mark.parametrize(
    ("share", "error", "message"),
    [
        ((2, 2), ValueError, r"share=\(2, 2\): there is no such worker.*counted from 0"),
        ((-1, 2), ValueError, "no such worker"),
        ((0, 0), ValueError, "no such worker"),
        ((0.0, 2), TypeError, "not two whole numbers"),
        ((True, 2), TypeError, "not two whole numbers"),
        (3, TypeError, "share=3 is not two whole numbers"),
    ],
)
def test_share__that_makes_no_sense(share: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        expression(10, 10).genobit.kendall_pairs(0.3, None, share=share)


def test_share__with_fdr_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"share=\(0, 2\) with fdr=0.01: q-values need .* all pairs"
    ):
        expression(10, 10).genobit.kendall_pairs(0.3, 0.01, share=(0, 2))
    assert "qvalue" in expression(10, 10).genobit.kendall_pairs(0.3, share=(0, 1)).to_dataframe()
