"""Suggestions of close names: right, few, and quick among a million."""

from __future__ import annotations

import copy
import difflib
import pickle

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.engine import spelling
from genobit.engine.spelling import close_names, did_you_mean


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        ("grmm", ["grm", "pca"], "; did you mean 'grm'?"),
        ("r3", ["r", "r2", "D"], "; did you mean 'r2' or 'r'?"),
        ("R2", ["r", "r2", "r2_em"], "; did you mean 'r2'?"),
        ("d", ["D", "dprime"], "; did you mean 'D'?"),
        ("rs12", ["rs1", "rs2", "rs13", "rs123"], "; did you mean 'rs1', 'rs13' or 'rs2'?"),
        ("nothing", ["r", "r2"], "."),
        ("nothing", [], "."),
        ("", ["r"], "."),
        (3, ["r", 30], "; did you mean '30'?"),
    ],
)
def test_close_names_end_a_sentence(name: object, known: list[object], end: str) -> None:
    if name == "rs12":  # all four are close, and three are shown
        assert set(close_names("rs12", known)) < set(known)
        assert did_you_mean(name, known).count("rs") == 3
    else:
        assert did_you_mean(name, known) == end


@pytest.mark.parametrize(
    "typed", ["rs4988236", "rs498823", "rs49882355", "rs4898235", "RS4988235", "sr4988235"]
)
def test_one_slip_is_found_among_many_names(typed: str) -> None:
    numbers = np.random.default_rng(0).integers(10**5, 10**9, 50_000)
    names = [f"rs{number}" for number in numbers]
    names.insert(31_000, "rs4988235")
    assert close_names(typed, names)[0] == "rs4988235"


def test_few_of_a_million_names_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def compare(word: str, names: list[str], *limits: float) -> list[str]:
        sizes.append(len(names))
        return matches(word, names, *limits)

    matches = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", compare)
    names = [f"rs{k}" for k in range(10**6)]
    assert close_names("rs_123456", names)[0] == "rs123456"
    assert sizes == [spelling.COMPARED]


def test_names_of_any_length_and_alphabet_are_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "COMPARED", 2)
    monkeypatch.setattr(spelling, "_BLOCK", 3)
    names = ["x" * 10_000, "", "größe", "a", "b", "c", "größen", "d"]
    assert set(close_names("größer", names)) == {"größe", "größen"}
    assert close_names("GRÖSSE", names) == ["größe"]
    assert close_names("x" * 9_999, names) == ["x" * 10_000]


def test_unknown_methods_name_close_ones() -> None:
    ds = xr.Dataset()
    with pytest.raises(
        AttributeError, match=r"ds\.genobit has no method 'grmm'; did you mean 'grm"
    ):
        _ = ds.genobit.grmm
    with pytest.raises(AttributeError, match=r"'similarity'; da\.genobit of a DataArray has it"):
        _ = ds.genobit.similarity
    with pytest.raises(AttributeError, match=r"'grm'; ds\.genobit of a Dataset has it"):
        _ = xr.DataArray([1]).genobit.grm
    with pytest.raises(AttributeError, match=r"da\.genobit has no method 'kendal'; .*'kendall'"):
        _ = xr.DataArray([1]).genobit.kendal
    with pytest.raises(AttributeError, match=r"explore has no method 'lld'; did you mean 'ld'"):
        _ = ds.genobit.explore.lld
    assert not hasattr(ds.genobit, "grmm")
    assert not hasattr(ds.genobit, "_repr_png_")


def test_accessors_are_copied_and_pickled() -> None:
    accessor = xr.Dataset({"x": 1}).genobit
    assert copy.copy(accessor)._ds.identical(accessor._ds)
    assert pickle.loads(pickle.dumps(accessor))._ds.identical(accessor._ds)


def test_an_error_inside_a_property_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_name: str) -> None:
        raise AttributeError("the reason")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(AttributeError, match="the reason"):
        _ = xr.Dataset().genobit.explore


def test_modules_and_options_name_close_ones() -> None:
    with pytest.raises(AttributeError, match="'open_plnk'; did you mean 'open_plink'"):
        _ = gb.open_plnk
    with pytest.raises(AttributeError, match="'ld_heatmp'; did you mean 'ld_heatmap'"):
        _ = gb.plots.ld_heatmp
    with pytest.raises(TypeError, match=r"no option 'kernal'.* did you mean 'kernel'"):
        gb.set_options(kernal="scalar")
    with pytest.raises(ValueError, match=r"kernel='popcont'.* did you mean 'popcount'"):
        gb.set_options(kernel="popcont")


def test_choices_and_variables_name_close_ones() -> None:
    calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "sample_case": ("samples", [0, 1, 1]),
        }
    )
    with pytest.raises(ValueError, match="did you mean 'vanraden1'"):
        ds.genobit.grm("vanraden3")
    with pytest.raises(ValueError, match="did you mean 'dprime'"):
        ds.genobit.ld("dprim")
    with pytest.raises(KeyError, match="did you mean 'sample_case'"):
        ds.genobit.epistasis("sample_cse", order=1)
