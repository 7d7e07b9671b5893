"""Planes that are made of others: dosages of haplotypes, and some of the bits."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

from genobit.engine.bits.layout import tail_mask, words_for
from genobit.engine.schedule import planes as planes_of
from tests.helpers.cohorts import random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.reference import bits_of, dosages, haplotypes, words_of


@pytest.mark.parametrize("samples", [31, 32, 33, 64, 65, 96])
@pytest.mark.parametrize("called", [True, False])
def test_as_dosages__of_haplotypes_pads_with_zeros(samples: int, called: bool) -> None:
    calls = random_calls(4, 30, samples, missing=0.2 if called else 0)
    h = haplotypes(calls)
    planes = {"alt": da.from_array(words_of(h == 1), chunks=(7, 1))}
    if called:
        planes["called"] = da.from_array(words_of(~np.isnan(h)), chunks=(7, 1))
    found = planes_of.as_dosages(planes, samples)
    assert set(found) == {"carrier", "hom_alt", *(["called"] if called else [])}
    g = dosages(calls)
    for name, right in (("carrier", g >= 1), ("hom_alt", g == 2), ("called", ~np.isnan(g))):
        if name in found:
            assert found[name].shape == (30, words_for(samples))
            np.testing.assert_array_equal(found[name], words_of(right))
            assert not (found[name][:, -1].compute() & ~tail_mask(samples)).any()


def test_select_bits__of_planes_in_chunks_of_words() -> None:
    x = np.random.default_rng(1).integers(0, 2, (20, 200)).astype(bool)
    bits = np.array([199, 0, 64, 64, 63])
    with raise_if_dask_computes():
        found = planes_of.select_bits(da.from_array(words_of(x), chunks=(6, 1)), bits)
    np.testing.assert_array_equal(bits_of(found.compute(), 5), x[:, bits])
    assert found.chunks == ((6, 6, 6, 2), (1,))
