"""Random weights of the ratchet."""

from __future__ import annotations

import numpy as np

from genobit.parsimony.kernels.swaps import perturbed


def test_perturbed_weights__are_binomial_up_to_two_to_the_40() -> None:
    stream = np.array([7], np.uint64)
    weights = np.array([0, 1, 40, 10**6, 2**40], np.int64)
    drawn = perturbed(weights, 0.25, 2000, stream) - weights
    assert (drawn >= 0).all()
    assert (drawn <= weights).all()
    mean, sd = weights / 4, np.sqrt(weights * 3 / 16)
    assert (abs(drawn.mean(axis=0) - mean) <= 5 * sd / np.sqrt(2000)).all()
    np.testing.assert_allclose(drawn.std(axis=0), sd, rtol=0.1)
    again = np.array([7], np.uint64)
    np.testing.assert_array_equal(perturbed(weights, 0.25, 2000, again) - weights, drawn)
    assert (perturbed(weights, 0.25, 2000, again) - weights != drawn).any()
