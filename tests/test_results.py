"""Every result has a plot, an estimate and an HTML summary."""

from __future__ import annotations

import pytest

import genobit as gb
from tests.helpers.cases import CASES, INPUTS, SOURCES, Case, called, name


@pytest.mark.parametrize("case", CASES, ids=name)
def test_plot_estimate_and_html__of_every_result(case: Case) -> None:
    source = SOURCES[case.source]()
    result = called(case, source, case.base)
    given = {key: value() if callable(value) else value for key, value in case.base.items()}
    estimate = getattr(source.genobit.estimate, case.method)(**given)
    assert "<th style='text-align:left'>memory</th>" in estimate._repr_html_()
    assert result._repr_html_()
    if not isinstance(result, gb.PairTable):
        assert "genobit-summary" in result.genobit._repr_html_()
    plot = result.plot if isinstance(result, gb.PairTable) else result.genobit.plot
    if case.method in INPUTS:
        with pytest.raises(ValueError, match=r"not a result that has a plot.*explore\(\)"):
            plot()
        return
    assert 'class="genobit-figure"' in plot()._repr_html_()
