"""Bars: shown when asked for, or by the options once work takes a while."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit import progress


@pytest.mark.parametrize(
    ("asked", "option", "delay", "shown"),
    [
        (True, False, 60.0, True),
        (False, True, 0.0, False),
        (None, False, 0.0, False),
        (None, True, 0.0, True),
        (None, True, 60.0, False),
    ],
)
def test_bar__by_argument_or_by_option(monkeypatch, capsys, asked, option, delay, shown) -> None:
    monkeypatch.setattr(progress, "DELAY", delay)
    with gb.set_options(progress=option), progress.bar(progress=asked, total=2, desc="x") as steps:
        assert progress.showing() is (option if asked is None else asked)
        steps.update(2)
    assert not progress.showing()
    assert ("x: 100%" in capsys.readouterr().err) is shown


def test_bar__is_over_after_an_error() -> None:
    with pytest.raises(RuntimeError), progress.bar(progress=True, total=2):
        raise RuntimeError
    assert not progress.showing()


def test_methods__follow_the_option(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "DELAY", 0)
    expr = xr.DataArray(np.random.default_rng(1).normal(size=(20, 12)), dims=("gene", "sample"))
    with gb.set_options(progress=True):
        expr.genobit.kendall_pairs(0.3)
        assert "1/1" in capsys.readouterr().err
        expr.genobit.kendall_pairs(0.3, progress=False)
    assert not capsys.readouterr().err
