from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.layout import Layout, tail_mask, words_for
from tests.helpers.cohorts import TAILS
from tests.helpers.reference import bits_of, words_of

LAYOUT = Layout("haplotype", "variants", 130, 2)


@given(st.integers(0, 10**6))
def test_words_for__holds_the_bits_and_no_more(bits: int) -> None:
    assert 64 * words_for(bits) - 63 <= max(bits, 1) <= max(64 * words_for(bits), 1)


@given(st.integers(1, 1000))
def test_tail_mask__keeps_what_is_not_padding(bits: int) -> None:
    assert int(tail_mask(bits)) == int(words_of(np.ones((1, bits), bool))[0, -1])


@given(st.integers(0, 5), st.sampled_from(TAILS), st.integers(0, 2**32))
def test_oracles_of_words_and_bits_undo_each_other(rows: int, bits: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 2, (rows, bits)).astype(bool)
    np.testing.assert_array_equal(bits_of(words_of(x), bits), x)


def test_layout__survives_attributes() -> None:
    for layout in (LAYOUT, Layout("dosage", "samples", 7, 1)):
        assert Layout.from_attributes(layout.to_attributes()) == layout


def test_layout__of_something_else_is_none() -> None:
    assert Layout.from_attributes({"title": "a cohort"}) is None


def test_layout__names_its_axes_and_planes() -> None:
    assert (LAYOUT.along, LAYOUT.words, LAYOUT.planes) == ("samples", 3, ("alt",))
    turned = replace(LAYOUT, kind="dosage", rows="samples", ploidy=1)
    assert (turned.along, turned.planes) == ("variants", ("carrier", "hom_alt"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"genobit_version": 99}, "layout version 99, this genobit reads version 1"),
        ({"genobit_bits": None}, "lacks the attribute 'genobit_bits'"),
        ({"genobit_layout": "quality"}, "no known layout"),
        ({"genobit_rows": "contigs"}, "no known layout"),
        ({"genobit_bits": -1}, "no known layout"),
        ({"genobit_bits": "many"}, "no known layout"),
        ({"genobit_ploidy": 0}, "no known layout"),
        ({"genobit_ploidy": "two"}, "no known layout"),
    ],
)
def test_layout__of_broken_attributes_is_refused(change: dict, message: str) -> None:
    attributes = LAYOUT.to_attributes() | change
    attributes = {name: value for name, value in attributes.items() if value is not None}
    with pytest.raises(ValueError, match=message) as caught:
        Layout.from_attributes(attributes)
    assert "pack the genotypes again" in str(caught.value)
