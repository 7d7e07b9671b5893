"""Clumps against plink 1.9 run here, and the rule in plain Python."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK, plink
from tests.helpers.reference import clumped, haplotypes, linkage_matrix
from tests.ld.filesets import founders

COUNTS = ["total", "nsig", "s05", "s01", "s001", "s0001"]


@PLINK
@pytest.mark.parametrize(
    ("fileset", "r2", "kb", "p1", "p2"),
    [
        ("lct_1kg/lct_1kg", 0.1, 20, 1e-3, 0.05),
        ("lct_1kg/lct_1kg", 0.5, 250, 1e-4, 1e-2),
        ("bigsnpr_example/example-missing-sorted", 0.2, 1000, 1e-2, 0.1),
    ],
)
def test_plink(
    shared_data: Path, tmp_path: Path, fileset: str, r2: float, kb: int, p1: float, p2: float
) -> None:
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    ds = ds.isel(samples=founders(ds))
    names = ds.variant_id.values.astype(str)
    assert np.unique(names).size == names.size
    rng = np.random.default_rng(1)
    texts = [f"{value:.4g}" for value in 10 ** rng.uniform(-6, 0, names.size)]
    # On the edges of bins and limits, too.
    for k in range(0, names.size, 5):
        texts[k] = str(rng.choice([p1, p2, 0.05, 0.01, 0.001, 0.0001]))
    lines = [f"{name} {text}\n" for name, text in zip(names, texts, strict=True)]
    (tmp_path / "p.txt").write_text("SNP P\n" + "".join(lines))
    limits = ("--clump-kb", kb, "--clump-r2", r2, "--clump-p1", p1, "--clump-p2", p2)
    plink(shared_data / fileset, tmp_path / "c", "--clump", tmp_path / "p.txt", *limits)
    report = pd.read_csv(tmp_path / "c.clumped", sep=r"\s+", keep_default_na=False)

    p = np.array(texts, float)
    found = ds.genobit.ld_clump(p, r2, f"{kb}kb", p1, p2)
    assert found.clump_variant_id.values.astype(str).tolist() == report.SNP.tolist()
    for name in COUNTS:
        assert found[name].values.tolist() == report[name.upper()].tolist()
    listed = found.isel(members=found.listed.values)
    for k, text in enumerate(report.SP2):
        members = listed.member_variant_id.values[listed.clump.values == k].astype(str)
        assert members.tolist() == ([] if text == "NONE" else text.replace("(1)", "").split(","))
    # The same by logarithms.
    logarithms = ds.genobit.ld_clump(-np.log10(p), r2, f"{kb}kb", p1, p2, log10=True)
    xr.testing.assert_equal(
        found[["index_variant", "member"]], logarithms[["index_variant", "member"]]
    )
    for name in COUNTS:
        np.testing.assert_array_equal(found[name], logarithms[name])


@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.2]),
    st.integers(1, 8),
    st.integers(1, 5),
    st.sampled_from([0.05, 0.3]),
)
def test_any_cohort__follows_the_rule(
    seed: int, variants: int, missing: float, window: int, chunk: int, limit: float
) -> None:
    calls = random_calls(seed, variants, 40, missing=missing)
    ds = cohort(calls, contigs=1 + seed % 2, phased=True)
    rng = np.random.default_rng(seed)
    p = rng.choice([1e-6, 1e-3, 0.01, 0.2, np.nan], variants)
    place, contig = np.arange(variants), ds.variant_contig.values
    near = (abs(place[:, None] - place) <= window) & (contig[:, None] == contig)
    r2 = linkage_matrix("r2", haplotypes(calls))
    expected = clumped(r2, near, p, 0.01, limit)

    with dask.config.set(scheduler="synchronous"):
        bits = ds.genobit.pack(phased=True).chunk(variants=chunk)
        found = bits.genobit.ld_clump(p, limit, window, 0.01, 0.05)
    assert found.index_variant.values.tolist() == [index for index, _ in expected]
    assert found.member.values.tolist() == [j for _, members in expected for j in members]
    assert found.total.values.tolist() == [len(members) for _, members in expected]
    index = found.index_variant.values[found.clump.values]
    np.testing.assert_allclose(found.r2, r2[index, found.member.values], rtol=1e-9)
    np.testing.assert_array_equal(found.member_p, p[found.member.values])


def test_tiny_p__needs_logarithms() -> None:
    calls = np.tile(random_calls(1, 1, 30), (3, 1, 1))
    found = cohort(calls).genobit.ld_clump([400, 500, 3], window=5, log10=True)
    assert found.index_variant.values.tolist() == [1]
    assert found.member.values.tolist() == [0, 2]
    assert (found.s0001.item(), found.s001.item(), found.s01.item()) == (1, 0, 1)
    assert found.listed.values.tolist() == [True, True]


def test_no_p_small_enough__gives_no_clump() -> None:
    found = cohort(random_calls(0, 5, 9)).genobit.ld_clump(np.full(5, 0.5))
    assert dict(found.sizes) == {"clumps": 0, "members": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p": [0.1]}, r"p has shape \(1,\), expected \(3,\): one value for each of the variants"),
        ({"p": [0.1, 2.0, 0.1]}, r"p\[1\] = 2.0 is outside \[0, 1\]; -log10"),
        ({"p": [0.1, -2.0, 0.1], "log10": True}, r"p\[1\] = -2.0 is negative"),
        ({"p1": 0.1}, "p1=0.1 is larger than p2=0.01"),
        ({"threshold": -1}, r"threshold=-1 is outside \[0, 1\]"),
        ({"statistic": "D"}, "statistic 'D' of clumps is not one of r2, r2_em"),
        ({"statistic": "r2_em", "phased": True}, "these are haplotypes"),
    ],
)
def test_arguments__are_checked(arguments: dict[str, object], message: str) -> None:
    ds = cohort(random_calls(0, 3, 5), phased=True)
    with pytest.raises(ValueError, match=message):
        ds.genobit.ld_clump(**{"p": [0.1, 0.1, 0.1], **arguments})


def test_p__may_be_the_name_of_a_variable() -> None:
    ds = cohort(random_calls(0, 3, 5), phased=True)
    ds = ds.assign(gwas_p=("variants", [1e-6, 0.5, np.nan]), gene=("variants", ["a", "b", "c"]))
    found = ds.genobit.ld_clump("gwas_p")
    xr.testing.assert_identical(found, ds.genobit.ld_clump(ds.gwas_p.values))
    assert found.index_variant.values.tolist() == [0]
    with pytest.raises(
        KeyError, match=r"no variable 'pval' along 'variants' only; such variables: .*gwas_p"
    ):
        ds.genobit.ld_clump("pval")
    with pytest.raises(TypeError, match=r"p holds .*: give a number for each of the variants"):
        ds.genobit.ld_clump("gene")


def exact_r2(table: tuple[int, ...]) -> Fraction | None:
    """Of counts of haplotypes 11, 10, 01 and 00; None where a variant has one allele."""
    n, a, b = sum(table), table[0] + table[1], table[0] + table[2]
    if not 0 < a < n or not 0 < b < n:
        return None
    return Fraction((table[0] * n - a * b) ** 2, a * (n - a) * b * (n - b))


def homozygotes(table: tuple[int, ...], times: int) -> np.ndarray:
    """Calls of two variants without heterozygotes: samples of each pair of alleles."""
    cells = [times * count for count in table]
    alleles = np.stack([np.repeat([1, 1, 0, 0], cells), np.repeat([1, 0, 1, 0], cells)])
    return np.repeat(alleles[:, :, None], 2, axis=2).astype("i1")


AT_THE_LIMIT = [
    (limit, table)
    for limit in (0.5, 0.25, 0.2, 0.1)
    for table in itertools.product(range(8), repeat=4)
    if exact_r2(table) == Fraction(str(limit))
]


@pytest.mark.parametrize("phased", [False, True])
def test_an_r2_at_the_limit__is_not_above_it(phased: bool) -> None:
    assert len(AT_THE_LIMIT) > 100
    for limit, table in AT_THE_LIMIT[:: 13 if phased else 31]:
        for times in (1, 3):
            ds = cohort(homozygotes(table, times), phased=True)
            found = ds.genobit.pack(phased=phased).genobit.ld_clump([1e-9, 1e-3], limit, 5)
            assert found.total.values.tolist() == [0], (limit, table, times)
            below = ds.genobit.pack(phased=phased).genobit
            found = below.ld_clump([1e-9, 1e-3], limit * (1 - 1e-9), 5)
            assert found.total.values.tolist() == [1], (limit, table, times)


@PLINK
@pytest.mark.parametrize("kb", [0.5, 1, 250])
def test_distances__end_where_those_of_plink_do(tmp_path: Path, kb: float) -> None:
    calls = np.repeat(random_calls(1, 1, 30), 2, axis=0)
    letters = np.array(["A", "G"])[calls[0]]
    people = [f"f{k} i{k} 0 0 1 1" + f" {' '.join(pair)}" * 2 for k, pair in enumerate(letters)]
    (tmp_path / "d.ped").write_text("\n".join(people) + "\n")
    (tmp_path / "p.txt").write_text("SNP P\na 1e-9\nb 1e-3\n")
    for distance in (int(1000 * kb) - 1, int(1000 * kb), int(1000 * kb) + 1):
        (tmp_path / "d.map").write_text(f"1 a 0 1000\n1 b 0 {1000 + distance}\n")
        clump = ("--clump", tmp_path / "p.txt", "--clump-kb", kb)
        plink(tmp_path / "d", tmp_path / "c", *clump, kind="--file")
        report = pd.read_csv(tmp_path / "c.clumped", sep=r"\s+")
        ds = cohort(calls).assign(variant_position=("variants", [1000, 1000 + distance]))
        found = ds.genobit.ld_clump([1e-9, 1e-3], window=f"{kb}kb")
        assert found.total.values.tolist() == report.TOTAL.tolist() == [int(distance < 1000 * kb)]
