"""High orders: counted right, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import genobit as gb
from genobit.epistasis.arguments import LARGEST_ORDER
from genobit.epistasis.kernels.tables_by_sample import cells_of
from tests.helpers import reference
from tests.helpers.cohorts import cohort, random_calls


@pytest.mark.parametrize("order", [LARGEST_ORDER + 1, 20, 40])
def test_orders_past_the_limit__are_refused(order: int) -> None:
    ds = cohort(random_calls(1, 41, 40))
    with pytest.raises(ValueError, match=f"order={order} has tables of .* at most {LARGEST_ORDER}"):
        ds.genobit.epistasis(np.arange(40) % 2, order=order, top=1)


def test_the_largest_order__takes_more_memory_than_is_allowed() -> None:
    ds = cohort(random_calls(1, LARGEST_ORDER + 1, 40))
    with pytest.raises(MemoryError, match="lower order="):
        ds.genobit.epistasis(np.arange(40) % 2, order=LARGEST_ORDER, top=1)


@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_order_11__is_counted_right(missing: float) -> None:
    calls, labels = random_calls(3, 12, 60, missing=missing), np.arange(60) % 2
    top = cohort(calls).genobit.epistasis(
        labels, order=11, top=12, limits=gb.EpistasisLimits(min_n=0)
    )
    dosages = reference.dosages(calls)
    assert top.sizes["rank"] == 12
    for rank, members in enumerate(top.variants.values.tolist()):
        kept = ~np.isnan(dosages[members]).any(axis=0)
        _, cells = np.unique(dosages[members][:, kept], axis=1, return_inverse=True)
        table = np.zeros((2, cells.max() + 1), int)
        np.add.at(table, (labels[kept], cells.ravel()), 1)
        np.testing.assert_allclose(top.mi[rank], reference.mutual_information(table), atol=1e-12)
        assert top.n[rank] == kept.sum()


@pytest.mark.parametrize("p", [1, 9, 17])
def test_cells__of_the_largest_order_have_numbers_of_their_own(p: int) -> None:
    # All copies of the largest dosage, none, and a missing call in the first or the last part.
    dosage = np.array([[2, 0, -1, 2]] * p + [[2, 0, 2, -1]] * (LARGEST_ORDER - p), np.int8)
    width = 3 ** (LARGEST_ORDER - p)
    first = cells_of(dosage, np.arange(p)[None], width)
    last = cells_of(dosage, np.arange(p, LARGEST_ORDER)[None], 1)
    cells = (first + last)[0]
    assert cells[:2].tolist() == [3**LARGEST_ORDER - 1, 0]
    assert (cells[2:] < 0).all()
