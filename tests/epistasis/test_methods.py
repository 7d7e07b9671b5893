"""What users hand to ``epistasis``: labels, identifiers, phenotypes as pandas has them, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.data.columns import values as plain
from genobit.epistasis import phenotypes, search
from genobit.epistasis.result import ranked
from tests.helpers.cohorts import cohort, random_calls

CASE = np.arange(60) % 2


def data(variants: int = 6, samples: int = 60) -> xr.Dataset:
    return cohort(random_calls(1, variants, samples))


def same(one: xr.Dataset, other: xr.Dataset) -> bool:
    return one.mi.values.tolist() == other.mi.values.tolist()


def test_labels__with_names_of_the_results_own_are_kept_beside_them() -> None:
    ds = data().assign_coords({name: ("variants", np.arange(6)) for name in ("p", "class", "cell")})
    ds = ds.assign_coords(variant_p=("variants", np.arange(6) + 10))
    top = ds.genobit.epistasis(CASE, top=3)
    assert top.p.dims == ("rank",)
    assert top["class"].values.tolist() == ["0", "1"]
    members = top.variants.values.tolist()
    for name in ("variant_class", "variant_cell"):
        assert top[name].values.tolist() == members
    labels = {tuple(top[name].values.ravel()) for name in top.coords if "variant_p" in str(name)}
    assert labels >= {tuple(np.ravel(members)), tuple(np.ravel(members) + 10)}


@pytest.mark.parametrize("packed", [True, False])
def test_alleles_of_the_members_are_in_the_result(packed: bool) -> None:
    alleles = np.array([[f"A{k}", f"C{k}"] for k in range(6)], object)
    ds = data().assign(variant_allele=(("variants", "alleles"), alleles))
    top = (ds.genobit.pack() if packed else ds).genobit.epistasis(CASE, top=3)
    assert top["variant_allele"].dims == ("rank", "order", "alleles")
    assert top["variant_allele"].values.tolist() == alleles[top["variants"].values].tolist()
    (first, *_), *_ = top["variants"].values.tolist()
    assert ranked(top).genotypes(0, 0)[1] == f"A{first}/C{first}"
    bare = data().drop_vars("variant_allele").genobit.epistasis(CASE, top=3)
    assert "variant_allele" not in bare.coords


def test_numbers_of_numpy__are_whole_numbers_and_ask_the_same(tmp_path: Path) -> None:
    ds = data()
    asked: dict[str, Any] = {"order": 2, "top": 5, "permutations": 3, "seed": 4}
    given = {name: np.int64(number) for name, number in asked.items()}
    limits = gb.EpistasisLimits(max_r2=np.float32(0.5), min_n=np.int64(7))  # type: ignore[arg-type]
    first = ds.genobit.epistasis(CASE, **given, limits=limits, checkpoint=tmp_path / "run")
    again = ds.genobit.epistasis(
        CASE, **asked, limits=gb.EpistasisLimits(max_r2=0.5, min_n=7), checkpoint=tmp_path / "run"
    )
    assert same(first, again)
    json.dumps(first.attrs)


def test_top__past_all_combinations_takes_no_more_room() -> None:
    top = data().genobit.epistasis(CASE, top=10**12)
    assert top.sizes["rank"] == 15


def test_memory__is_of_the_tables_returned_too() -> None:
    ds = data(24, 300)
    refused = pytest.raises(MemoryError, match=r"60,000 combinations with tables of 333\.\d MiB")
    with gb.set_options(eager_limit=2**28), refused:
        ds.genobit.epistasis(np.arange(300) % 2, order=6, top=60_000)
    few = ds.genobit.estimate.epistasis(np.arange(300) % 2, order=6, top=10)
    many = ds.genobit.estimate.epistasis(np.arange(300) % 2, order=6, top=60_000)
    assert many.memory > 60_000 * 3**6 * 2 * 4 > few.memory


def test_memory__is_of_permutations_too() -> None:
    ds = data(4, 2000)
    phenotype = np.arange(2000) % 2
    found = ds.genobit.estimate.epistasis(phenotype, permutations=4000)
    assert found.memory > 2 * 2000 * 4000 // 8
    refused = pytest.raises(MemoryError, match="4,000 permutations of 2,000 samples")
    with gb.set_options(eager_limit=2**20), refused:
        ds.genobit.estimate.epistasis(phenotype, permutations=4000)


def test_tables__tested_a_few_at_a_time_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for statistic in ("gain", "boost", "chi2"):
        whole = data().genobit.epistasis(
            CASE, statistic=statistic, limits=gb.EpistasisLimits(min_n=0)
        )
        with monkeypatch.context() as patch:
            patch.setattr(search, "CELLS", 40)
            parts = data().genobit.epistasis(
                CASE, statistic=statistic, limits=gb.EpistasisLimits(min_n=0)
            )
        xr.testing.assert_identical(whole, parts)
        none = data().genobit.epistasis(
            CASE, statistic=statistic, limits=gb.EpistasisLimits(min_n=61)
        )
        assert none.sizes["rank"] == 0


def test_prefilter__takes_no_variant_whose_calls_are_too_few() -> None:
    calls = random_calls(3, 12, 150)
    calls[5:, 8:] = -1
    top = cohort(calls).genobit.epistasis(
        np.arange(150) % 2, limits=gb.EpistasisLimits(prefilter=5)
    )
    assert sorted(np.unique(top.variants)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="prefilter=3 leaves 0 of 12 variants with at least"):
        cohort(calls).genobit.epistasis(
            np.arange(150) % 2, limits=gb.EpistasisLimits(prefilter=3, min_n=151)
        )
    calls[:, ::2][0] = -1  # no case is left of the first
    top = cohort(calls).genobit.epistasis(
        np.arange(150) % 2, limits=gb.EpistasisLimits(prefilter=4, min_n=1, min_count=1)
    )
    assert 0 not in top.variants


@pytest.mark.parametrize("statistic", ["mutual_information", "chi2", "gain", "boost"])
@pytest.mark.parametrize("samples", [4, 6, 8, 9, 10])
def test_the_best_of_few_samples__are_the_first_of_all(samples: int, statistic: str) -> None:
    labels = np.arange(samples) % 2
    for seed in range(4):
        ds = cohort(random_calls(seed, 12, samples))
        every = ds.genobit.epistasis(labels, statistic=statistic, top=66)
        few = ds.genobit.epistasis(labels, statistic=statistic, top=2)
        xr.testing.assert_equal(few, every.isel(rank=slice(2)))


@pytest.mark.filterwarnings("ignore:limits= leaves no combination:UserWarning")
def test_estimates__count_variants_in_one_place() -> None:
    # 0.5 less 0.1 rounds to 0.4, but the difference of 0.5 and 0.4 to less than 0.1.
    for low, high, gap in ((0.4, 0.5, 0.1), (0.1, 0.6, 0.5), (0.3, 0.4, 0.1)):
        ds = data(9).assign(variant_genetic_position=("variants", [low] * 6 + [high] * 3))
        limits = gb.EpistasisLimits(min_gap=f"{gap}cM")
        found = ds.genobit.epistasis(CASE, limits=limits).attrs["combinations"]
        estimate = ds.genobit.estimate.epistasis(CASE, limits=limits)
        assert estimate.what == f"{found:,} combinations"


def test_contigs__may_be_names() -> None:
    ds = data().drop_vars("contig_id").assign(variant_position=("variants", [1, 2, 3, 1, 2, 3]))
    tops = [
        ds.assign(variant_contig=("variants", names)).genobit.epistasis(
            CASE, limits=gb.EpistasisLimits(min_gap="1kb")
        )
        for names in ([0, 0, 0, 1, 1, 1], list("bbbaaa"), [2.5, 2.5, 2.5, 2.2, 2.2, 2.2])
    ]
    assert tops[0].sizes["rank"] == 9
    assert same(tops[0], tops[1])
    assert same(tops[0], tops[2])
    text = ds.assign(variant_position=("variants", list("abcdef")))
    with pytest.raises(TypeError, match="variant_position is of dtype"):
        text.genobit.epistasis(CASE, limits=gb.EpistasisLimits(min_gap="1kb"))


def test_missing_phenotypes__may_be_pandas_own() -> None:
    right = data().genobit.epistasis(np.where(np.arange(60) == 4, np.nan, CASE))
    for kind in ("Int64", "boolean", "Float64", "string"):
        values = pd.array(CASE.astype(str) if kind == "string" else CASE).astype(kind)
        values[4] = pd.NA
        found = data().genobit.epistasis(values)
        assert found.attrs["samples_left_out"] == 1
        assert same(found, right)


@pytest.mark.parametrize("kind", ["S7", "U7", object, np.dtypes.StringDType()])
def test_classes__are_named_alike_for_every_text_type(kind: Any) -> None:
    found = phenotypes.classes(
        plain(np.array(["case", "", "control"]).astype(kind), "status"), "status"
    )
    assert found.names == ("case", "control")
    assert found.numbers.tolist() == [0, -1, 1]
    with pytest.raises(ValueError, match=r"status\[1\] along 'samples' is 'NA', which looks like"):
        phenotypes.classes(
            plain(np.array(["case", "NA", "control"]).astype(kind), "status"), "status"
        )


@pytest.mark.parametrize("number", [1, 1000001, 20190101, 2**53 - 2])
def test_classes__keep_all_digits_of_their_names(number: int) -> None:
    whole = np.array([number, number + 1, number])
    names = (str(number), str(number + 1))
    for values in (whole, whole.astype(float), whole.astype(str)):
        assert phenotypes.classes(plain(values, "day"), "day").names == names
    missing = plain(pd.Series([number, number + 1, None], dtype="Int64"), "day")
    assert phenotypes.classes(missing, "day").names == names


@pytest.mark.parametrize("kind", ["U4", object, np.dtypes.StringDType()])
def test_series__are_aligned_to_the_samples(kind: Any) -> None:
    ds = data()
    ds = ds.assign_coords(sample_id=("samples", ds.sample_id.values.astype(kind)))
    ds = ds.assign_coords(case=("samples", CASE))
    assert same(ds.genobit.epistasis("case"), ds.genobit.epistasis(CASE))
    case = pd.Series(CASE, index=ds.sample_id.values, name="case")
    assert same(ds.genobit.epistasis(case), ds.genobit.epistasis(CASE))
    assert same(ds.genobit.epistasis(case.reset_index(drop=True)), ds.genobit.epistasis(CASE))
    assert same(ds.genobit.epistasis(case.sort_values(kind="stable")), ds.genobit.epistasis(CASE))
    with pytest.raises(ValueError, match=r"case has no value for 1 of 60 .* sample_id\[7\] = 's7'"):
        ds.genobit.epistasis(case.drop("s7"))


BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (np.where(CASE, "NA", "a"), {}, ValueError, r"phenotype\[1\] along 'samples' is 'NA'"),
    (np.where(CASE, "1", ".").astype(object), {}, ValueError, r"phenotype\[0\] .* is '\.'"),
    (np.array([1, "1", 2] * 20, object), {}, TypeError, r"phenotype holds '1' at \[1\] beside 1"),
    ("call_genotype", {}, KeyError, "no variable 'call_genotype' along 'samples' only"),
    (CASE, {"limits": {"min_n": 3}}, TypeError, "is not a gb.EpistasisLimits: give"),
    (CASE, {"checkpoint": 5}, TypeError, "checkpoint=5 is not a path"),
    (CASE, {"checkpoint": ""}, ValueError, "checkpoint='' is not a path"),
    (CASE, {"checkpoint": "/proc/none"}, OSError, "checkpoint='/proc/none' cannot be created"),
    (CASE, {"limits": gb.EpistasisLimits(variants_0=slice(3))}, TypeError, "variants_0 is a slice"),
    (CASE, {"limits": gb.EpistasisLimits(variants_1={0, 1})}, TypeError, "variants_1 is a set"),
    (
        CASE,
        {"limits": gb.EpistasisLimits(variants_0={"rs1": 1})},
        TypeError,
        "variants_0 is a dict",
    ),
    (
        CASE,
        {"limits": gb.EpistasisLimits(variants_0=["twice"])},
        ValueError,
        r"variants_0\[0\] .* has at 4 and at 5",
    ),
    (
        CASE,
        {"limits": gb.EpistasisLimits(max_r2="half")},
        TypeError,
        "max_r2='half' is not a number",
    ),
    (
        np.where(np.arange(60) == 4, 1e7, np.arange(60.0)),
        {"statistic": "f"},
        ValueError,
        r"phenotype\[4\] along 'samples' is 1e\+07, more than 10,000 times as far",
    ),
]


@pytest.mark.parametrize(("phenotype", "arguments", "error", "message"), BAD)
def test_epistasis__refuses(
    phenotype: Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    ds = data().assign(variant_id=("variants", ["a", "b", "c", "d", "twice", "twice"]))
    with pytest.raises(error, match=message):
        ds.genobit.epistasis(phenotype, **arguments)


def test_sets__as_masks_are_of_the_variants() -> None:
    ds = data().set_coords("variant_id")
    mask = ds.variant_id.isin(ds.variant_id[:2])
    positions = ds.genobit.epistasis(
        CASE, limits=gb.EpistasisLimits(variants_0=np.array([0, 1], object))
    )
    assert same(ds.genobit.epistasis(CASE, limits=gb.EpistasisLimits(variants_0=mask)), positions)
    assert same(
        ds.genobit.epistasis(CASE, limits=gb.EpistasisLimits(variants_0=mask[::-1])), positions
    )
    with pytest.raises(ValueError, match=r"variants_0 is along 'samples', expected .* 'variants'"):
        ds.genobit.epistasis(
            CASE, limits=gb.EpistasisLimits(variants_0=mask.rename(variants="samples"))
        )


def test_ctrl_c__within_compiled_code_leaves_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    from genobit.epistasis.schedule import waves

    genuine, calls = waves.search_unit, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 4:
            # As numba says it where a signal comes before its code returns.
            said = "returned a result with an exception set"
            inner = SystemError(said)
            inner.__cause__ = KeyboardInterrupt()
            raise SystemError(said) from inner
        return genuine(*arguments)

    monkeypatch.setattr(waves, "search_unit", interrupted)
    monkeypatch.setattr("genobit.epistasis.schedule.units.SECONDS", 1e-9)
    stopped = pytest.warns(RuntimeWarning, match="Ctrl-C stopped epistasis: .*checkpoint=")
    with dask.config.set(scheduler="synchronous"), stopped:
        top = data(12).genobit.epistasis(CASE)
    assert top.attrs["partial"]
    assert 0 < top.attrs["fraction_searched"] < 1


class TestRanking:
    def test_rows_are_combinations_with_labels_member_by_member(self) -> None:
        ds = data()
        top = ds.genobit.epistasis(CASE, top=4, permutations=3, seed=1)
        table = top.genobit.ranking()
        assert table["rank"].tolist() == [1, 2, 3, 4]
        for member in (0, 1):
            places = top["variants"].values[:, member]
            assert table[f"variant_{member}"].tolist() == places.tolist()
            for label in ("variant_id", "variant_position"):
                assert table[f"{label}_{member}"].tolist() == ds[label].values[places].tolist()
        for name in ("mi", "p", "n", "p_familywise"):
            np.testing.assert_array_equal(table[name], top[name].values)

    @pytest.mark.parametrize("order", [1, 3])
    def test_any_order_and_a_part_of_the_ranks(self, order: int) -> None:
        top = data().genobit.epistasis(CASE, order=order, top=3).isel(rank=slice(0, 2))
        table = top.genobit.ranking()
        assert len(table) == 2
        assert [name for name in table if name.startswith("variant_id_")] == [
            f"variant_id_{member}" for member in range(order)
        ]

    def test_other_datasets_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"has call_genotype.*epistasis\(phenotype\)"):
            data().genobit.ranking()
        with pytest.raises(ValueError, match="has no variables"):
            xr.Dataset().genobit.ranking()
