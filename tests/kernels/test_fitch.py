"""Joins of state planes against sets, one at a time."""

import numpy as np
import pytest

from genobit.kernels import fitch
from genobit.kernels.state_planes import state_planes, state_sets
from genobit.kernels.topology import children
from tests import reference


@pytest.mark.parametrize("states", [1, 2, 3, 4, 5, 20, 64])
@pytest.mark.parametrize("patterns", [1, 63, 512, 513, 1030])
def test_the_down_pass_joins_sets(states, patterns):
    rng = np.random.default_rng(states * patterns)
    rows = 7
    sets = rng.integers(1, 2**64, (rows, patterns), np.uint64) >> np.uint64(64 - states)
    sets[sets == 0] = 1
    parents = np.array([7, 7, 8, 9, 9, 10, 11, 8, 10, 12, 11, 12, -1])
    tree = children(parents)
    tips = state_planes(sets, states)
    planes = np.zeros((tips.shape[0], parents.size, states, 8), np.uint64)
    planes[:, :rows] = tips
    changes = sum(
        fitch.down_block(planes, block, tree.starts, tree.members, rows, states)
        for block in range(planes.shape[0])
    )
    expected_sets, expected = reference.fitch(sets, parents)
    np.testing.assert_array_equal(state_sets(planes, patterns), expected_sets)
    assert changes == expected.sum()
