"""Joins of state planes against sets, one at a time."""

import numpy as np
import pytest

from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS
from genobit.engine.simd.vector import store
from genobit.parsimony.kernels.fitch import common_register, join_register
from genobit.parsimony.kernels.planes import BLOCK_WORDS, state_planes
from tests.helpers import reference

PARENTS = np.array([2, 2, -1])


@njit
def _joined(planes, shared, seen, four):
    """Planes (blocks, 3, states, 8): the third row from the others; where they share a state."""
    states = planes.shape[2]
    step = states * BLOCK_WORDS
    flat = planes.reshape(-1)
    for block in range(planes.shape[0]):
        for w in range(0, BLOCK_WORDS, REGISTER_WORDS):
            i = block * 3 * step + w
            if four:
                some = join_register(flat, i, flat, i + step, flat, i + 2 * step, 4)
            else:
                some = join_register(flat, i, flat, i + step, flat, i + 2 * step, states)
            store(shared, block * BLOCK_WORDS + w, some)
            some = common_register(flat, i, flat, i + step, states)
            store(seen, block * BLOCK_WORDS + w, some)


@pytest.mark.parametrize(
    ("states", "four"), [(1, False), (2, False), (4, False), (4, True), (5, False), (64, False)]
)
@pytest.mark.parametrize("patterns", [1, 63, 512, 513, 1030])
def test_two_rows_are_joined_as_sets_are(states, four, patterns):
    rng = np.random.default_rng(states * patterns)
    sets = rng.integers(1, 2**64, (2, patterns), np.uint64) >> np.uint64(64 - states)
    sets[sets == 0] = 1
    tips = state_planes(sets, states)
    planes = np.zeros((tips.shape[0], 3, states, 8), np.uint64)
    planes[:, :2] = tips
    shared, seen = np.zeros((2, tips.shape[0] * BLOCK_WORDS), np.uint64)
    _joined(planes, shared, seen, four)
    expected, changes = reference.fitch(sets, PARENTS)
    np.testing.assert_array_equal(reference.sets_of(planes, patterns), expected)
    np.testing.assert_array_equal(reference.bits_of(shared[None], patterns)[0], changes == 0)
    np.testing.assert_array_equal(seen, shared)
