"""Rankings of all combinations against other programs' and against every combination by itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import genobit as gb
from tests.epistasis.twins import COLUMN, SCORES, assert_ranked, every_table
from tests.helpers import reference
from tests.helpers.cohorts import cohort, random_calls

AROUND = [31, 32, 33, 63, 64, 65, 511, 512, 513]
"""Samples of a class at which other programs lose some."""


@pytest.mark.parametrize(
    ("data", "orders", "name"),
    [
        ("asthma_cc/asthma_cc", 3, "asthma_cc"),
        ("gametes_2way/gametes_2way_1600x20", 4, "gametes_2way_1600x20"),
        ("gametes_2way/gametes_2way_18800x10", 4, "gametes_2way_18800x10"),
        ("epi3_kg1/epi3_kg1", 3, "epi3_kg1"),
    ],
)
def test_epistasis__equals_published_and_simulated_references(
    shared_data: Path, data: str, orders: int, name: str
) -> None:
    ds = gb.open_plink(shared_data / f"{data}.bed").genobit.pack()
    folder = (shared_data / data).parent / "ref"
    for order in range(1, orders + 1):
        listed = pd.read_csv(folder / f"mi_top10_order{order}_{name}.tsv", sep="\t")
        top = ds.genobit.epistasis("sample_phenotype", order=order, top=len(listed))
        members = listed[[f"snp{k + 1}" for k in range(order)]].values
        # Those that tie in the listing's digits may stand the other way round.
        assert set(map(tuple, members.tolist())) == set(map(tuple, top.variants.values.tolist()))
        np.testing.assert_allclose(top.mi, listed.mi_nats, rtol=0, atol=1e-10)
        np.testing.assert_allclose(top.g, listed.G_stat, rtol=0, atol=1e-7)
        np.testing.assert_array_equal(np.sort(top.n), np.sort(listed.n))


@pytest.mark.parametrize("data", ["asthma_cc", "epi3_kg1"])
def test_epistasis__equals_the_reference_of_all_pairs(shared_data: Path, data: str) -> None:
    ds = gb.open_plink(shared_data / data / f"{data}.bed")
    known = np.load(shared_data / data / "ref" / f"mi_order2_{data}.npz")
    top = ds.genobit.epistasis("sample_phenotype", top=len(known["n"]))
    order = np.lexsort(top.variants.values.T[::-1])
    np.testing.assert_allclose(top.mi.values[order], known["mi_nats"], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(top.n.values[order], known["n"])


def test_epistasis__finds_the_simulated_triple(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "epi3_kg1" / "epi3_kg1.bed")
    top = ds.genobit.epistasis("sample_phenotype", order=3, top=2, permutations=19, seed=1)
    assert top.variants.values[0].tolist() == [20, 31, 51]
    assert top.attrs["combinations"] == 34220
    assert top.p_familywise.values[0] == 1 / 20
    # The same without its phenotype: nothing stands out.
    null = pd.read_csv(shared_data / "epi3_kg1" / "pheno.tsv", sep="\t").case_permuted_null
    top = ds.genobit.epistasis(null.values, order=3, top=1, permutations=19, seed=1)
    assert top.p_familywise.values[0] > 1 / 20


def test_epistasis__does_not_take_six_samples_for_a_finding(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "hyper_bc" / "hyper_bc.bed")
    pressure = ds.sample_phenotype
    high = (pressure > pressure.median()).values
    trap = ds.genobit.epistasis(high, top=3, limits=gb.EpistasisLimits(min_n=0))
    np.testing.assert_allclose(trap.mi, np.log(2))
    # Two samples score as high as six: ties go to the first variants.
    assert (trap.n <= 6).all()
    assert trap.sparse.all()
    top = ds.genobit.epistasis(high, top=50)
    assert top.attrs["min_n"] == 125
    assert (top.n >= 125).all()
    guarded = ds.genobit.epistasis(high, top=50, limits=gb.EpistasisLimits(min_n=0, min_count=10))
    assert (guarded.cells.sum("class").where(guarded.cells.sum("class") > 0) >= 10).sum() > 0
    cells = guarded.cells.sum("class").values
    assert cells[cells > 0].min() >= 10
    assert guarded.cells.sum("cell").values.min() >= 10


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.sampled_from(AROUND[:6]), min_size=2, max_size=3),
    missing=st.sampled_from([0.0, 0.03]),
    interleaved=st.booleans(),
    statistic=st.sampled_from(sorted(SCORES)),
    top=st.sampled_from([1, 4, 1000]),
)
def test_epistasis__ranks_every_combination(
    order: int,
    seed: int,
    sizes: list[int],
    missing: float,
    interleaved: bool,
    statistic: str,
    top: int,
) -> None:
    calls = random_calls(seed, 7, sum(sizes) + 5, missing=missing)
    # The last samples have no phenotype.
    labels = np.repeat([*range(len(sizes)), -1], [*sizes, 5])
    if interleaved:
        labels = np.random.default_rng(seed).permutation(labels)
    phenotype = np.where(labels < 0, np.nan, labels + 1)
    ds = cohort(calls, chunks=(3, 40))
    found = ds.genobit.epistasis(
        phenotype, order=order, top=top, statistic=statistic, limits=gb.EpistasisLimits(min_n=0)
    )
    tables = every_table(calls, labels, order)
    assert_ranked(found, {m: SCORES[statistic](t) for m, t in tables.items()}, top)
    for rank, members in enumerate(found.variants.values.tolist()):
        table = tables[tuple(members)].reshape(len(sizes), -1)
        np.testing.assert_array_equal(found.cells[rank].values.T, table)
        assert found.n[rank] == table.sum()
        assert found.g[rank] == 2 * found.n[rank] * found.mi[rank]


@pytest.mark.parametrize("size", AROUND)
@pytest.mark.parametrize("interleaved", [False, True])
def test_epistasis__loses_no_sample_of_a_class(size: int, interleaved: bool) -> None:
    calls = random_calls(size, 5, size + 64)
    labels = np.repeat([0, 1], [size, 64])
    if interleaved:
        labels = np.random.default_rng(1).permutation(labels)
    top = cohort(calls).genobit.epistasis(labels, order=3)
    tables = every_table(calls, labels, 3)
    assert_ranked(top, {m: reference.mutual_information(t) for m, t in tables.items()}, 100)
    assert (top.cells.sum("cell").values == [size, 64]).all()


@given(seed=st.integers(0, 2**32), missing=st.sampled_from([0.0, 0.1]))
@settings(max_examples=10, deadline=None)
def test_epistasis__tests_as_scipy_does(seed: int, missing: float) -> None:
    calls = random_calls(seed, 5, 90, missing=missing)
    labels = np.random.default_rng(seed).integers(0, 3, 90)
    for statistic, by in (("mutual_information", "log-likelihood"), ("chi2", "pearson")):
        top = cohort(calls).genobit.epistasis(labels, statistic=statistic)
        for rank in range(top.sizes["rank"]):
            table = top.cells[rank].values
            table = table[table.any(axis=1)][:, table.any(axis=0)]
            expected = chi2_contingency(table, lambda_=by, correction=False)
            score = top.g if by == "log-likelihood" else top.chi2
            np.testing.assert_allclose(score[rank], expected.statistic, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(top.p[rank], expected.pvalue, rtol=1e-8)
            assert top.df[rank] == expected.dof
            low = expected.expected_freq
            assert top.sparse[rank] == (low.min() < 1 or (low < 5).mean() > 0.2)


BOOST_SETS = {
    "asthma_cc/asthma_cc": "boost",
    "epi3_kg1/epi3_kg1": "boost",
    "gametes_2way/gametes_2way_1600x20": "boost_1600x20",
    "gametes_2way/gametes_2way_18800x10": "boost_18800x10",
}


@pytest.mark.parametrize("data", BOOST_SETS)
def test_boost__equals_plink(shared_data: Path, data: str) -> None:
    ds = gb.open_plink(shared_data / f"{data}.bed")
    file = (shared_data / data).parent / "ref" / f"{BOOST_SETS[data]}.epi.cc.gz"
    plink = pd.read_csv(file, sep=r"\s+").set_index(["SNP1", "SNP2"])
    top = ds.genobit.epistasis(
        "sample_phenotype", top=len(plink), statistic="boost", limits=gb.EpistasisLimits(min_n=0)
    )
    table = pd.DataFrame(
        {"boost": top.boost, "df": top.df, "p": top.p},
        pd.MultiIndex.from_arrays(top.variant_id.values.T),
    ).loc[plink.index]
    assert (table.df == plink.DF).all()
    # plink ends its fit early where sparse tables converge slowly, and prints more than the least:
    # three pairs of asthma_cc, by 0.25 at most, none of them near the top.
    early = table.boost < plink.STAT * (1 - 1e-5) - 1e-3
    assert early.sum() == (3 if "asthma" in data else 0)
    kept = ~early
    np.testing.assert_allclose(table.boost[kept], plink.STAT[kept], rtol=6e-6, atol=3e-4)
    np.testing.assert_allclose(table.p[kept], plink.P[kept], rtol=1e-3)


@given(seed=st.integers(0, 2**32), missing=st.sampled_from([0.0, 0.05]))
@settings(max_examples=10, deadline=None)
def test_boost__equals_logistic_regressions(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    calls = rng.integers(0, 2, (5, 300, 2)).astype(np.int8)
    calls[rng.random(calls.shape) < missing] = -1
    labels = rng.integers(0, 2, 300)
    tables = every_table(calls, labels, 2)
    for top in (3, 100):
        found = cohort(calls).genobit.epistasis(labels, statistic="boost", top=top)
        expected = {members: reference.interaction_ratio(t) for members, t in tables.items()}
        assert_ranked(found, expected, top)


def test_boost__converges_where_effects_grow_without_limit() -> None:
    # A pair of asthma_cc nearly in full linkage, where proportional fitting is not at its end after
    # 10,000 sweeps.
    controls = [502, 8, 0, 1, 572, 10, 0, 0, 139]
    cases = [146, 4, 0, 0, 151, 0, 0, 0, 39]
    dosage = np.repeat(np.tile(np.indices((3, 3)).reshape(2, 9), 2), controls + cases, axis=1)
    calls = np.stack([dosage >= 1, dosage == 2], axis=-1).astype(np.int8)
    labels = np.repeat([0, 1], [sum(controls), sum(cases)])
    top = cohort(calls).genobit.epistasis(labels, statistic="boost")
    expected = reference.interaction_ratio(np.reshape([controls, cases], (2, 3, 3)))
    np.testing.assert_allclose(top.boost, [expected], rtol=1e-9)


def test_gain__passes_over_what_one_variant_says_alone() -> None:
    rng = np.random.default_rng(4)
    calls = rng.integers(0, 2, (12, 800, 2)).astype(np.int8)
    dosage = calls.sum(axis=2)
    # Variant 0 says much by itself; 4 and 7 nothing but together.
    parity = (dosage[4] == 1) ^ (dosage[7] == 1)
    labels = rng.random(800) < 0.1 + 0.3 * (dosage[0] == 2) + 0.35 * parity
    ds = cohort(calls)
    assert (ds.genobit.epistasis(labels, top=5).variants == 0).any("order").sum() >= 4
    top = ds.genobit.epistasis(labels, top=5, statistic="gain")
    assert top.variants.values[0].tolist() == [4, 7]
    assert (top.gain <= top.mi).all()


def test_permutations__are_of_the_phenotype_and_the_whole_search() -> None:
    calls, rng = random_calls(8, 6, 140, missing=0.02), np.random.default_rng(3)
    labels = rng.integers(0, 3, 140)
    sizes = np.bincount(labels)
    ds = cohort(calls)
    for statistic, order in (("mutual_information", 2), ("gain", 3), ("chi2", 2)):
        top = ds.genobit.epistasis(
            labels,
            order=order,
            statistic=statistic,
            permutations=6,
            seed=5,
            limits=gb.EpistasisLimits(min_n=0),
        )
        sorted_by_class = np.argsort(labels, kind="stable")
        maxima = []
        for k in range(6):
            other = np.empty(140, int)
            drawn = np.random.default_rng((5, k)).permutation(np.repeat(np.arange(3), sizes))
            other[sorted_by_class] = drawn
            tables = every_table(calls, other, order).values()
            maxima.append(max(SCORES[statistic](t) for t in tables))
        np.testing.assert_allclose(top.permutation_maximum, maxima, rtol=1e-10)
        score = top[COLUMN[statistic]].values
        expected = [(1 + sum(m >= s * (1 - 1e-12) for m in maxima)) / 7 for s in score]
        np.testing.assert_allclose(top.p_familywise, expected)


def test_permutations__more_begin_with_the_same() -> None:
    ds, labels = cohort(random_calls(8, 6, 100)), np.arange(100) % 2
    few, more = (ds.genobit.epistasis(labels, permutations=n, seed=2) for n in (3, 5))
    np.testing.assert_array_equal(few.permutation_maximum, more.permutation_maximum[:3])
    other = ds.genobit.epistasis(labels, permutations=3, seed=3)
    assert (few.permutation_maximum != other.permutation_maximum).any()


def test_epistasis__is_the_same_packed_chunked_and_threaded() -> None:
    calls, labels = random_calls(5, 40, 200, missing=0.02), np.arange(200) % 2
    whole = cohort(calls).genobit.epistasis(labels, top=50, permutations=3)
    for other in (cohort(calls, chunks=(7, 30)), cohort(calls).genobit.pack()):
        for scheduler in ("threads", "sync"):
            import dask

            with dask.config.set(scheduler=scheduler):
                xr.testing.assert_identical(
                    other.genobit.epistasis(labels, top=50, permutations=3).drop_attrs(),
                    whole.drop_attrs(),
                )


def test_epistasis__labels_members() -> None:
    ds = cohort(random_calls(5, 6, 80), contigs=2).assign_coords(
        case=("samples", np.where(np.arange(80) % 2, "ill", "well").astype(object))
    )
    top = ds.genobit.epistasis("case", order=3, top=4)
    assert dict(top.sizes) == {"rank": 4, "order": 3, "cell": 27, "class": 2, "alleles": 2}
    np.testing.assert_array_equal(top.variant_id, ds.variant_id.values[top.variants])
    np.testing.assert_array_equal(top.variant_position, ds.variant_position.values[top.variants])
    np.testing.assert_array_equal(top.variant_allele, ds.variant_allele.values[top.variants])
    assert top["class"].values.tolist() == ["ill", "well"]
    assert top.genotype.values[5].tolist() == [0, 1, 2]
    contig = ds.contig_id.values[ds.variant_contig.values]
    np.testing.assert_array_equal(top.variant_contig, contig[top.variants])
    assert not top.attrs["partial"]
    dosage = reference.dosages(ds.call_genotype.values)[top.variants.values[0]]
    in_cell = (top.genotype.values[5] == dosage.T).all(axis=1)
    assert top.cells[0, 5, 0] == (in_cell & (ds.case.values == "ill")).sum()


def test_epistasis__takes_what_scope_and_folder_are_given(tmp_path: Path) -> None:
    ds, labels = cohort(random_calls(5, 12, 80), contigs=2), np.arange(80) % 2
    every = ds.genobit.epistasis(labels, top=1000)
    gene = ds.genobit.epistasis(
        labels, top=1000, limits=gb.EpistasisLimits(variants_0=["rs3"]), checkpoint=tmp_path / "run"
    )
    holds = (every.variants == 3).any("order")
    np.testing.assert_array_equal(gene.variants, every.variants[holds])
    again = ds.genobit.epistasis(
        labels, top=1000, limits=gb.EpistasisLimits(variants_0=["rs3"]), checkpoint=tmp_path / "run"
    )
    xr.testing.assert_identical(gene, again)
    apart = ds.genobit.epistasis(labels, top=1000, limits=gb.EpistasisLimits(min_gap=3))
    contigs = apart.variant_contig.values
    gaps = np.diff(apart.variants.values, axis=1)[:, 0]
    assert ((gaps >= 3) | (contigs[:, 0] != contigs[:, 1])).all()


def test_epistasis__says_what_it_will_take() -> None:
    ds, labels = cohort(random_calls(5, 12, 80)), np.arange(80) % 2
    estimate = ds.genobit.estimate.epistasis(labels, order=3)
    assert estimate.what == f"{math.comb(12, 3)} combinations"
    assert estimate.seconds > 0
    trait = ds.genobit.estimate.epistasis(labels, statistic="f", permutations=2)
    assert "66 combinations" in repr(trait)


BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("cases", {}, KeyError, "no variable 'cases'"),
    (np.zeros(7), {}, ValueError, r"shape \(7,\), expected \(60,\)"),
    (np.zeros((60, 2)), {}, ValueError, "shape"),
    (np.zeros(60), {}, ValueError, "is 0 in all 60 samples"),
    (np.full(60, np.nan), {}, ValueError, "missing in all 60"),
    (np.arange(60) / 7, {}, ValueError, r"phenotype\[1\] along 'samples'"),
    (np.arange(60), {}, ValueError, "60 different values"),
    (np.where(np.arange(60) == 4, -9, 1), {}, ValueError, r"phenotype\[4\] .* is -9"),
    (np.where(np.arange(60) == 4, -1, 1 + np.arange(60) % 2), {}, ValueError, r"\[4\] .* is -1"),
    (np.zeros(60, "datetime64[s]"), {}, TypeError, "dtype"),
    (np.zeros(60, complex), {}, TypeError, "dtype"),
    ("case", {"order": 0}, ValueError, "order=0"),
    ("case", {"order": 2.0}, ValueError, "order=2.0"),
    ("case", {"order": 9}, ValueError, "order=9 takes as many variants"),
    ("case", {"order": 1, "statistic": "gain"}, ValueError, "order=1"),
    ("case", {"order": 1, "permutations": 3}, ValueError, "permutations"),
    ("case", {"order": 1, "checkpoint": "run"}, ValueError, "order=1 ranks single variants"),
    (
        "case",
        {"order": 1, "limits": gb.EpistasisLimits(min_gap=2)},
        ValueError,
        "order=1 ranks single variants",
    ),
    ("case", {"top": 0}, ValueError, "top=0"),
    ("case", {"permutations": -1}, ValueError, "permutations=-1"),
    ("case", {"seed": -1}, ValueError, "seed=-1"),
    ("case", {"limits": gb.EpistasisLimits(min_n=-1)}, ValueError, "min_n=-1"),
    ("case", {"limits": gb.EpistasisLimits(min_count=True)}, ValueError, "min_count=True"),
    ("case", {"statistic": "mi"}, ValueError, "is not one of 'mutual_information'"),
    ("case", {"statistic": "boost", "order": 3}, ValueError, "order=2"),
    ("three", {"statistic": "boost"}, ValueError, "two classes, and the phenotype has 3"),
    ("case", {"statistic": "f", "order": 3}, ValueError, "order=2"),
    ("text", {"statistic": "f"}, TypeError, "real numbers"),
    (np.full(60, 2.5), {"statistic": "f"}, ValueError, "no variation"),
    (np.where(np.arange(60) == 4, np.inf, 1), {"statistic": "f"}, ValueError, r"\[4\]"),
    (
        "case",
        {"statistic": "f", "limits": gb.EpistasisLimits(prefilter=4)},
        ValueError,
        "prefilter",
    ),
    ("case", {"limits": gb.EpistasisLimits(variants_0=["rs99"])}, ValueError, "rs99"),
    ("case", {"limits": gb.EpistasisLimits(prefilter=1)}, ValueError, "prefilter"),
    (
        "case",
        {"limits": gb.EpistasisLimits(min_gap="1 Mbp")},
        ValueError,
        "^min_gap='1 Mbp' is neither a positive number",
    ),
    ("case", {"limits": gb.EpistasisLimits(min_gap=0)}, ValueError, "^min_gap=0 is neither"),
]


@pytest.mark.parametrize(("phenotype", "arguments", "error", "message"), BAD)
def test_epistasis__refuses(
    phenotype: Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    labels = np.arange(60)
    ds = cohort(random_calls(1, 6, 60)).assign_coords(
        case=("samples", labels % 2),
        three=("samples", labels % 3),
        text=("samples", np.where(labels % 2, "a", "b").astype(object)),
    )
    with pytest.raises(error, match=message):
        ds.genobit.epistasis(phenotype, **arguments)


def test_epistasis__aligns_samples_in_another_order() -> None:
    ds = cohort(random_calls(1, 6, 60)).set_coords("sample_id")
    ds = ds.assign_coords(case=("samples", np.arange(60) % 2))
    other = ds.case.isel(samples=slice(None, None, -1))
    xr.testing.assert_identical(ds.genobit.epistasis(other), ds.genobit.epistasis(ds.case))
    with pytest.raises(ValueError, match="case is along 'people'"):
        ds.genobit.epistasis(ds.case.rename(samples="people"))
