"""Tables beside an LD picture."""

from __future__ import annotations

import numpy as np

from genobit.ld.plots.tables import pairs_table, strongest_pairs, variants_table
from tests.ld.plots.results import ld_result, symmetric


def test_strongest_pairs_are_those_of_a_sort():
    values = symmetric(30)
    values[4, :] = values[:, 4] = np.nan
    pairs, count = strongest_pairs(values, 0.5, limit=20)
    first, second = np.triu_indices(30, k=1)
    size = np.nan_to_num(np.abs(values[first, second]))
    assert count == (size >= 0.5).sum() > 20
    expected = np.sort(size)[::-1][:20]
    np.testing.assert_array_equal(np.abs(values[pairs[:, 0], pairs[:, 1]]), expected)


def test_tables_list_what_is_in_view():
    result = ld_result(symmetric(5))
    table = variants_table(result, np.array([0.1, 0.9, 0.5, 0.7, np.nan]))
    np.testing.assert_allclose(table["MAF"], [0.1, 0.1, 0.5, 0.3, np.nan])
    listed = pairs_table(result, np.array([[0, 3], [1, 2]]))
    np.testing.assert_array_equal(listed["r²"], result.values[[0, 1], [3, 2]].astype("f8"))
