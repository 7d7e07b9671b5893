"""Limits of axes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.visual.picture.spec import Axis, Line, Points, Rule
from tests.visual.picture.pictures import MARKS, picture

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(VALUES, VALUES)
def test_limits_hold_all_marks(x: list[float], y: list[float]) -> None:
    n = min(len(x), len(y))
    for end, values in zip(
        picture(Points(np.array(x[:n]), np.array(y[:n]))).panel.limits(), (x, y), strict=True
    ):
        assert end[0] < min(values[:n])
        assert max(values[:n]) < end[1]


@pytest.mark.parametrize("name", MARKS)
def test_every_mark_is_inside_of_the_limits(name: str) -> None:
    (left, right), (low, high) = picture(MARKS[name]).panel.limits()
    x, y = MARKS[name].reach()
    assert ((x > left) & (x < right)).all()
    assert ((y > low) & (y < high)).all()


def test_given_limits_stay() -> None:
    line = Line(np.array([1.0, 9.0]), np.array([1.0, 9.0]))
    panel = picture(line, x=Axis(limits=(0, 5)), y=Axis(limits=(0, None))).panel
    assert panel.limits() == ((0.0, 5.0), (0.0, pytest.approx(9.36)))


@pytest.mark.parametrize("values", [[], [np.nan, np.inf], [3.0, 3.0], [0.0, 0.0]])
def test_limits_of_few_values_have_an_extent(values: list[float]) -> None:
    at = np.array(values)
    for axis in (Axis(), Axis(log=True), Axis(limits=(0, None)), Axis(limits=(None, 0))):
        low, high = picture(Points(at, at), x=axis).panel.limits()[0]
        assert np.isfinite([low, high]).all()
        assert low < high


def test_logarithmic_limits_are_positive() -> None:
    at = np.array([-1.0, 0.0, 2.0, 50.0])
    low, high = picture(Points(at, at), x=Axis(log=True)).panel.limits()[0]
    assert 0 < low < 2.0
    assert high > 50.0


def test_marks_of_a_kind() -> None:
    assert len(picture().panel.marks_of(Points)) == 3
    assert len(picture().panel.marks_of(Rule)) == 2
