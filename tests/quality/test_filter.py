"""Filters: rules in the order of plink, on packed and unpacked genotypes."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.quality.filesets import mixed_cohort

SHARE = st.none() | st.sampled_from([0.0, 0.05, 0.3, 1.0])


def slow_filter(ds: xr.Dataset, rules: dict[str, Any]) -> tuple[xr.Dataset, dict[str, int]]:
    """Apply one rule after another, each by the statistics of what is left."""
    removed = {}
    if rules["max_sample_missing"] is not None:
        kept = 1 - ds.genobit.sample_stats().call_rate <= rules["max_sample_missing"] + 1e-9
        removed["max_sample_missing"] = int((~kept).sum())
        ds = ds.isel(samples=kept.values)
        if not ds.sizes["samples"]:
            return ds, removed
    stats = ds.genobit.variant_stats().compute()
    lowest = [
        ("max_missing", stats.call_rate.fillna(0), lambda limit: 1 - limit),
        ("min_hwe", stats.hwe_p, lambda limit: limit),
        ("min_maf", stats.maf, lambda limit: limit),
    ]
    kept = np.ones(ds.sizes["variants"], bool)
    for name, values, least in lowest:
        if rules[name] is not None:
            passed = ~(values.values < least(rules[name]) - 1e-9)
            removed[name] = int((kept & ~passed).sum())
            kept &= passed
    return ds.isel(variants=kept), removed


def said(run: Callable[[], Any]) -> list[str]:
    """The lines that a call writes to standard error."""
    with contextlib.redirect_stderr(io.StringIO()) as lines:
        run()
    return lines.getvalue().splitlines()


def told(ds: xr.Dataset, removed: dict[str, int]) -> Iterator[tuple[str, int, int, str]]:
    """Each rule, what it removed, and how many there were before."""
    left = dict(ds.sizes)
    for name, count in removed.items():
        dim = "samples" if name == "max_sample_missing" else "variants"
        yield name, count, left[dim], dim
        left[dim] -= count


@pytest.mark.filterwarnings("ignore:.* most of them:UserWarning")
@given(
    seed=st.integers(0, 2**32),
    rules=st.fixed_dictionaries(
        {
            "min_maf": SHARE,
            "max_missing": SHARE,
            "max_sample_missing": SHARE,
            "min_hwe": SHARE,
        }
    ),
    chunks=st.sampled_from([None, 16]),
)
def test_filter__applies_rules_one_after_another(
    seed: int, rules: dict[str, Any], chunks: int | None
) -> None:
    ds = mixed_cohort(seed, 60, 65, chunks=chunks)
    if all(limit is None for limit in rules.values()):
        rules["min_maf"] = 0.05
    right, removed = slow_filter(ds, rules)
    packed = ds.genobit.pack()
    if not (right.sizes["samples"] and right.sizes["variants"]):
        with pytest.raises(ValueError, match="leaves none of the 6"):
            packed.genobit.filter(**rules)
        return
    found = ds.genobit.filter(**rules)
    assert {name: found.attrs[f"removed_by_{name}"] for name in removed} == removed
    assert said(lambda: ds.genobit.filter(**rules)) == [
        f"{name}={rules[name]:g} removed {count} of {before} {dim}"
        for name, count, before, dim in told(ds, removed)
    ]
    xr.testing.assert_equal(found.compute(), right.compute())
    bits = packed.genobit.filter(**rules)
    assert bits.attrs["removed_by_" + next(iter(removed))] == next(iter(removed.values()))
    xr.testing.assert_equal(
        bits.genobit.variant_stats().compute(), right.genobit.variant_stats().compute()
    )


def test_filter__leaves_genotypes_lazy() -> None:
    ds = mixed_cohort(1, 60, 65, chunks=16)
    found = ds.genobit.filter(min_maf=0.05, max_sample_missing=0.5)
    assert found.call_genotype.chunks is not None
    bits = ds.genobit.pack().genobit.filter(min_maf=0.05, max_sample_missing=0.5)
    assert bits.plane_carrier.chunks is not None


def test_filter__writes_what_it_keeps(tmp_path: Any) -> None:
    bits = mixed_cohort(1, 60, 65).genobit.pack().genobit.filter(min_maf=0.05)
    gb.to_zarr(bits, tmp_path / "kept.zarr")
    stored = xr.open_zarr(tmp_path / "kept.zarr")
    assert stored.attrs["removed_by_min_maf"] == bits.attrs["removed_by_min_maf"] > 0
    assert (stored.genobit.variant_stats().maf.fillna(0.5) >= 0.05).all()


def test_filter__keeps_values_at_the_threshold() -> None:
    calls = np.zeros((1, 10, 2), np.int8)
    calls[0, 0] = (0, 1)
    calls[0, 9] = -1
    ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    assert ds.genobit.filter(min_maf=1 / 18, max_missing=0.1).sizes["variants"] == 1
    with pytest.raises(ValueError, match=r"min_maf=0.06 leaves none of the 1 variants: look at ds"):
        ds.genobit.filter(min_maf=0.06)


def test_filter__names_what_is_wrong() -> None:
    ds = mixed_cohort(1, 14, 6)
    with pytest.raises(ValueError, match="no threshold: give min_maf="):
        ds.genobit.filter()
    with pytest.raises(ValueError, match=r"max_missing=2 is outside \[0, 1\]"):
        ds.genobit.filter(max_missing=2)
    with pytest.raises(TypeError, match="min_hwe='small' is not a number"):
        ds.genobit.filter(min_hwe="small")
    with pytest.raises(ValueError, match="hwe='chi2' is not one of"):
        ds.genobit.filter(min_maf=0.1, hwe="chi2")
    with pytest.raises(ValueError, match="max_sample_missing=0 leaves none of the 6 samples"):
        ds.assign(call_genotype=ds.call_genotype * 0 - 1).genobit.filter(max_sample_missing=0)


def of(calls: list[list[tuple[int, int]]]) -> xr.Dataset:
    return xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), np.int8(calls))})


HOM, HET, NONE = (1, 1), (0, 1), (-1, -1)
MOST = {
    "min_hwe": (
        [[(0, 0)] * 20 + [HOM] * 20] * 2 + [[(0, 0)] * 10 + [HET] * 20 + [HOM] * 10],
        {"min_hwe": 1e-3},
        "hwe_samples=",
    ),
    "max_missing": ([[NONE, HET]] * 2 + [[HET, HET]], {"max_missing": 0.1}, "max_sample_missing="),
    "max_sample_missing": (
        [[NONE, NONE, HET], [HET] * 3],
        {"max_sample_missing": 0.1},
        r"filter\(max_missing=\) before",
    ),
}


@pytest.mark.parametrize("rule", MOST)
@pytest.mark.parametrize("packed", [False, True])
def test_filter__warns_of_a_rule_that_removes_most(rule: str, packed: bool) -> None:
    calls, rules, remedy = MOST[rule]
    ds = of(calls)
    ds = ds.genobit.pack() if packed else ds
    with pytest.warns(UserWarning, match=rf"{rule}=.* removed 2 of 3 .*: .*{remedy}") as found:
        ds.genobit.filter(**rules)
    assert [each.filename for each in found] == [__file__]


def test_filter__does_not_warn_of_half_nor_of_rare_variants() -> None:
    ds = of([[NONE, HET], [HET, HET], [(0, 0), (0, 0)], [(0, 0), (0, 0)], [(0, 0), (0, 0)]])
    assert ds.genobit.filter(min_maf=0.1).sizes["variants"] == 2
    assert ds.isel(variants=[0, 1]).genobit.filter(max_missing=0.1).sizes["variants"] == 1


def test_filter__is_silent_without_progress() -> None:
    ds = of([[HET, HET], [(0, 0), (0, 0)]])
    with gb.set_options(progress=False):
        assert not said(lambda: ds.genobit.filter(min_maf=0.1))
    assert said(lambda: ds.genobit.filter(min_maf=0.1)) == ["min_maf=0.1 removed 1 of 2 variants"]


def test_filter__warns_if_the_file_failed_most() -> None:
    ds = of([[HET, HET]] * 3)
    failed = ds.assign(
        variant_filter=(("variants", "filters"), [[True], [True], [False]]),
        filter_id=("filters", ["q10"]),
    )
    with pytest.warns(UserWarning, match="passed=True removed 2 of 3 variants, .*passed=False"):
        assert failed.genobit.filter(passed=True).sizes["variants"] == 1
