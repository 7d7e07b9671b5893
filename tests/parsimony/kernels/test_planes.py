"""State planes hold state sets, patterns and weights stand for the sites."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from genobit.parsimony.kernels.patterns import compressed
from genobit.parsimony.kernels.planes import state_planes, weight_planes
from tests.helpers import reference

sizes = st.sampled_from([1, 2, 63, 64, 65, 511, 512, 513, 700])


@given(st.data(), sizes, st.integers(1, 4), st.sampled_from([1, 2, 4, 20, 64]))
def test_planes_give_the_sets_back(data, patterns, rows, states):
    most = 2**states - 1
    sets = data.draw(arrays(np.uint64, (rows, patterns), elements=st.integers(1, most)))
    planes = state_planes(sets, states)
    assert planes.shape == (-(-patterns // 512), rows, states, 8)
    np.testing.assert_array_equal(reference.sets_of(planes, patterns), sets)


def test_bits_past_the_last_pattern_are_set_in_all_states():
    planes = state_planes(np.full((2, 70), 1, np.uint64), 3)
    bits = np.unpackbits(planes.view(np.uint8).reshape(2, 3, 64), axis=2, bitorder="little")
    assert bits[:, :, 70:].all()
    assert not bits[:, 1:, :70].any()


@given(st.data(), st.integers(1, 40), st.integers(1, 3))
def test_patterns_and_weights_stand_for_the_sites(data, sites, rows):
    sets = data.draw(arrays(np.uint64, (rows, sites), elements=st.integers(1, 3)))
    weights = data.draw(arrays(np.int64, sites, elements=st.integers(0, 5)))
    found = compressed(sets, weights)
    heavy = weights > 0
    np.testing.assert_array_equal(found.sets[:, found.of_site[heavy]], sets[:, heavy])
    assert (found.of_site[~heavy] == -1).all()
    assert len({tuple(column) for column in found.sets.T}) == found.sets.shape[1]
    assert (np.diff(found.weights) <= 0).all()
    np.testing.assert_array_equal(
        found.weights, np.bincount(found.of_site[heavy], weights[heavy], found.weights.size)
    )


@pytest.mark.parametrize("patterns", [1, 64, 511, 512, 513, 1100])
def test_weight_planes_hold_the_weights(patterns):
    rng = np.random.default_rng(patterns)
    weights = np.sort(rng.choice([1, 1, 1, 2, 70_000], patterns))[::-1].copy()
    found = weight_planes(weights)
    for block, common in enumerate(found.common):
        part = weights[512 * block : 512 * (block + 1)]
        bits = np.unpackbits(found.planes[block].view(np.uint8), axis=1, bitorder="little")
        values = (bits.astype(np.int64) << np.arange(len(bits))[:, None]).sum(axis=0)
        expected = part if common == 0 else np.zeros(part.size)
        np.testing.assert_array_equal(values[: part.size], expected)
        assert not values[part.size :].any()
        assert common in {0, part[0]}
        assert (common > 0) == (part == part[0]).all()
