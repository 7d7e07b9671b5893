"""Calls of more than two alleles in files of diploids: missing, counted, and never silent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK, PLINK2, plink, plink2

VARIANTS, SAMPLES = 90, 20
PLACES = [(3, 4), (3, 7), (40, 4), (89, 19)]
"""Triploid calls: variant and sample."""


def diploids(missing: float = 0.05) -> xr.Dataset:
    calls = random_calls(4, VARIANTS, SAMPLES, missing=missing)
    for place in PLACES:
        calls[place] = -1
    return cohort(calls)


def mixed(ploidy: int = 3, third: int = 1, missing: float = 0.05) -> xr.Dataset:
    """The same cohort with calls of three alleles or more where `diploids` has missing ones."""
    ds = diploids(missing)
    calls = np.full((VARIANTS, SAMPLES, ploidy), -2, np.int8)
    calls[..., :2] = ds.call_genotype
    for place in PLACES:
        calls[place][:3] = (0, 1, third)
    return ds.drop_vars("call_genotype").assign(
        call_genotype=(("variants", "samples", "ploidy"), calls)
    )


SAID = (
    r"4 of 1,800 calls have more than two alleles and become missing, first at variants=3, most in "
    r"sample 's4' \(2\): leave such samples or variants out"
)
METHODS: dict[str, Callable[[Any], Any]] = {
    "variant_stats": lambda x: x.variant_stats().compute(),
    "sample_stats": lambda x: x.sample_stats().compute(),
    "filter": lambda x: x.filter(min_maf=0.1).variant_id,
    "grm": lambda x: x.grm("gcta").compute(),
    "ld": lambda x: x.ld().compute(),
    "ld_prune": lambda x: x.ld_prune(),
    "kendall": lambda x: x.kendall().compute(),
    "pca": lambda x: x.pca(2),
    "pack": lambda x: x.pack().compute().drop_attrs(),
    "pack by samples": lambda x: x.pack(rows="samples").compute().drop_attrs(),
}


PACK_OFTEN: dict[str, Callable[[Any], Any]] = {
    **{name: METHODS[name] for name in ("pack", "filter", "pca")},
    "grm_pairs": lambda x: x.grm_pairs(threshold=0.1).to_dataframe(),
    "estimate.grm": lambda x: x.estimate.grm(),
    "estimate.variant_stats": lambda x: x.estimate.variant_stats(),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["numpy", "dask", "turned", "int64"])
@pytest.mark.parametrize(("ploidy", "third"), [(3, 1), (4, -1)])
def test_calls_of_more_alleles__are_missing_and_counted(
    method: str, form: str, ploidy: int, third: int
) -> None:
    ds = mixed(ploidy, third)
    ds = {
        "numpy": lambda: ds,
        "dask": lambda: ds.chunk(variants=32, samples=9, ploidy=1),
        "turned": lambda: ds.transpose("ploidy", "samples", ...),
        "int64": lambda: ds.assign(call_genotype=ds.call_genotype.astype("int64")),
    }[form]()
    right = METHODS[method](diploids().genobit)
    with pytest.warns(UserWarning, match=SAID):
        found = METHODS[method](ds.genobit)
    xr.testing.assert_identical(strip(found), strip(right))


def strip(found: Any) -> Any:
    """The result without attributes that count."""
    return found.drop_attrs(deep=False) if isinstance(found, xr.Dataset) else found


@pytest.mark.parametrize("packs", PACK_OFTEN)
def test_the_warning__comes_once_and_from_the_line_of_the_user(packs: str) -> None:
    with pytest.warns(UserWarning, match=SAID) as found:
        PACK_OFTEN[packs](mixed().genobit)
    assert [each.filename for each in found if "alleles" in str(each.message)] == [__file__]


def test_planes__count_the_calls() -> None:
    with pytest.warns(UserWarning, match=SAID):
        bits = mixed().genobit.pack()
    assert bits.attrs["polyploid_calls"] == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bits.genobit.variant_stats().compute()
        bits.genobit.pca(2)


def test_a_ploidy_that_no_call_has__needs_no_warning() -> None:
    few = mixed().isel(variants=slice(4, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = few.genobit.variant_stats().compute()
    xr.testing.assert_equal(
        found, diploids().isel(variants=slice(4, 40)).genobit.variant_stats().compute()
    )


def test_haploid_calls__stay_what_they_are() -> None:
    ds = mixed()
    ds.call_genotype[10, 2] = [1, -2, -2]
    two = diploids()
    two.call_genotype[10, 2] = [1, -2]
    with pytest.warns(UserWarning, match=SAID):
        found = ds.genobit.variant_stats().compute()
    xr.testing.assert_identical(found, two.genobit.variant_stats().compute())
    with (
        pytest.warns(UserWarning, match=SAID),
        pytest.raises(ValueError, match="variants=10, samples=2: this sample has lower ploidy"),
    ):
        ds.genobit.grm().compute()


def test_polyploids__are_refused() -> None:
    three = cohort(random_calls(4, 30, 10, ploidy=3))
    said = "ploidy 3, a dosage needs 2, and 300 of 300 calls have more alleles: select diploid"
    for ds in (three, three.chunk(variants=7)):
        for method in ("grm", "variant_stats", "pack"):
            with pytest.raises(ValueError, match=said):
                getattr(ds.genobit, method)()
    # One call more than a twentieth.
    calls = np.full((20, 10, 3), -2, np.int8)
    calls[..., :2] = 1
    calls[:10, 3] = 1
    with pytest.warns(UserWarning, match="10 of 200 calls have more than two alleles"):
        cohort(calls).genobit.pack()
    calls[10, 3] = 1
    with pytest.raises(ValueError, match="11 of 200 calls have more alleles"):
        cohort(calls).genobit.pack()


def test_haplotypes__keep_all_alleles() -> None:
    ds = mixed(missing=0.0)
    ds = ds.assign(
        call_genotype_phased=(("variants", "samples"), np.ones((VARIANTS, SAMPLES), bool))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bits = ds.genobit.pack(phased=True)
    assert bits.attrs["genobit_ploidy"] == 3


def vcf(path: Path, rows: list[list[str]]) -> Path:
    """A file of calls as text, one row for each variant."""
    header = [
        "##fileformat=VCFv4.2",
        "##contig=<ID=1>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">',
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + "\t".join("abcdefghi"),
    ]
    lines = [f"1\t{k + 1}\tv{k}\tA\tC\t.\t.\t.\tGT\t" + "\t".join(r) for k, r in enumerate(rows)]
    path.write_text("\n".join(header + lines) + "\n")
    return path


@pytest.fixture
def one_triploid_call(tmp_path: Path) -> Path:
    rows = [["0/1"] * 9, ["0/0"] * 4 + ["1/1"] * 5, ["0/1"] * 8 + ["./."]]
    rows.append(["1/1", "0/1"] * 4 + ["0/0"])
    rows[2][1] = "0/1/1"
    return vcf(tmp_path / "cohort.vcf", rows)


def test_a_vcf__of_one_triploid_call(one_triploid_call: Path, tmp_path: Path) -> None:
    ds = gb.open_vcf(one_triploid_call)
    assert isinstance(ds.call_genotype.data, da.Array)
    with pytest.warns(UserWarning, match="1 of 36 calls have .*variants=2, most in sample 'b'"):
        stats = ds.genobit.variant_stats().compute()
    assert stats.n_called.values.tolist() == [9, 9, 7, 9]
    assert stats.allele_count.values.tolist() == [9, 10, 7, 12]
    with pytest.warns(UserWarning, match="1 of 36 calls have"):
        ds.genobit.pack().genobit.to_plink(tmp_path / "out")
    again = gb.open_plink(tmp_path / "out.bed").genobit.variant_stats()
    assert again.n_called.values.tolist() == [9, 9, 7, 9]


@PLINK
@PLINK2
@pytest.mark.parametrize("program", ["plink1.9", "plink2"])
def test_a_vcf__of_one_triploid_call_is_as_plink_reads_it(
    one_triploid_call: Path, tmp_path: Path, program: str
) -> None:
    out = tmp_path / "plink"
    if program == "plink2":
        plink2(out, "--vcf", one_triploid_call, "--make-bed")
    else:
        plink(one_triploid_call, out, "--make-bed", "--keep-allele-order", kind="--vcf")
    right = gb.open_plink(f"{out}.bed").genobit.variant_stats().compute()
    with pytest.warns(UserWarning, match="1 of 36 calls have"):
        found = gb.open_vcf(one_triploid_call).genobit.variant_stats().compute()
    for name in ("n_called", "n_het", "allele_number"):
        np.testing.assert_array_equal(found[name], right[name], err_msg=name)
