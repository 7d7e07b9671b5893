"""The .bim and .fam of `to_plink`: every column, and text that PLINK would read as another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.io.writers import _checks
from tests.helpers.cohorts import cohort, random_calls
from tests.io.formats import FORMATS

CALLS = random_calls(1, 4, 3)


def dataset(**more: Any) -> xr.Dataset:
    ds = cohort(CALLS).drop_vars("variant_genetic_position")
    return ds.assign(
        {name: (f"{name.partition('_')[0]}s", values) for name, values in more.items()}
    )


def columns(prefix: Path, ds: xr.Dataset, **more: Any) -> tuple[list[list[str]], list[list[str]]]:
    """Return the columns of the .bim and of the .fam that are written."""
    bed = gb.to_plink(ds, prefix, **more)
    bim, fam = (
        [line.split("\t") for line in bed.with_suffix(suffix).read_text().splitlines()]
        for suffix in (".bim", ".fam")
    )
    return [list(x) for x in zip(*bim, strict=True)], [list(x) for x in zip(*fam, strict=True)]


def test_without_labels_of_plink(tmp_path: Path) -> None:
    ds = dataset(variant_position=[0, 5, 7, 2**31 - 2]).drop_vars("variant_id")
    bim, fam = columns(tmp_path / "a", ds)
    assert bim == [
        ["chr1"] * 4,
        ["."] * 4,
        ["0"] * 4,
        ["0", "5", "7", str(2**31 - 2)],
        ["C"] * 4,
        ["A"] * 4,
    ]
    assert fam == [["0"] * 3, ["s0", "s1", "s2"], ["0"] * 3, ["0"] * 3, ["0"] * 3, ["-9"] * 3]


def test_every_column(tmp_path: Path) -> None:
    ds = dataset(
        variant_contig=["1", "1", "X", "MT"],
        variant_genetic_position=[0.5, 1.23456789, np.nan, 1e6],
        sample_family_id=["F", "", "G"],
        sample_father_id=["0", "s0", ""],
        sample_mother_id=["", "s2", "0"],
        sample_sex=[1.0, 2.0, np.nan],
        sample_phenotype=[-0.52013166685422, np.nan, 1e6],
    )
    bim, fam = columns(tmp_path / "a", ds)
    assert bim[0] == ["1", "1", "X", "MT"]
    assert bim[2] == ["0.5", "1.2345679", "0", "1000000"]
    assert fam[0] == ["F", "0", "G"]
    assert fam[2:5] == [["0", "s0", "0"], ["0", "s2", "0"], ["1", "2", "0"]]
    assert fam[5] == ["-0.520132", "-9", "1e+06"]
    again = gb.open_plink(tmp_path / "a")
    assert again.sample_sex.values.tolist() == [1, 2, 0]
    columns(tmp_path / "b", ds, digits=17)
    exact = gb.open_plink(tmp_path / "b")
    np.testing.assert_array_equal(exact.sample_phenotype, ds.sample_phenotype)
    np.testing.assert_array_equal(
        exact.variant_genetic_position, ds.variant_genetic_position.fillna(0)
    )


FAMILIES = [("F", "1"), ("G", "1"), ("G", "2")]


def joined(folder: Path) -> xr.Dataset:
    """Return what open_plink reads of individual ids that repeat between families."""
    families, names = zip(*FAMILIES, strict=True)
    gb.to_plink(dataset(sample_id=[f"s{k}" for k in range(3)]), folder / "a")
    lines = (f"{x} {y} 0 0 0 -9\n" for x, y in zip(families, names, strict=True))
    (folder / "a.fam").write_text("".join(lines))
    return gb.open_plink(folder / "a")


THROUGH = {name: form.through for name, form in FORMATS.items() if name != "vcf"}
THROUGH["packed"] = lambda ds, _: ds.genobit.pack()


@pytest.mark.parametrize("kept", [[0, 1, 2], [2, 0], [1, 2], [1]], ids=str)
@pytest.mark.parametrize("through", THROUGH.values(), ids=THROUGH)
def test_joined_ids_are_split_again(
    tmp_path: Path, through: Callable[..., xr.Dataset], kept: list[int]
) -> None:
    whole = joined(tmp_path)
    assert whole.sample_id.values.tolist() == ["F_1", "G_1", "G_2"]
    for k, ds in enumerate((through(whole, tmp_path / "b").genobit.isel(samples=kept),
                            through(whole.isel(samples=kept), tmp_path / "c"))):  # fmt: skip
        _, fam = columns(tmp_path / f"d{k}", ds)
        assert list(zip(*fam[:2], strict=True)) == [FAMILIES[i] for i in kept]


def test_ids_that_only_look_joined_are_kept(tmp_path: Path) -> None:
    ds = dataset(sample_id=["F_1", "G_1", "G_2"], sample_family_id=["F", "G", "G"])
    assert columns(tmp_path / "a", ds)[1][1] == ["F_1", "G_1", "G_2"]


def test_categories_are_refused(tmp_path: Path) -> None:
    ds = dataset(sample_phenotype=["1", "b", "c"])
    with pytest.raises(TypeError, match=r"is 'b' at samples=1, .*; write categories with to_pgen"):
        gb.to_plink(ds, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_quantitative_traits_may_be_zero(tmp_path: Path) -> None:
    columns(tmp_path / "a", dataset(sample_phenotype=[0, 1, 5]))
    assert gb.open_plink(tmp_path / "a").sample_phenotype.values.tolist() == [0, 1, 5]


@pytest.mark.parametrize("digits", [0, 18])
def test_digits(tmp_path: Path, digits: int) -> None:
    with pytest.raises(ValueError, match="not within 1 to 17"):
        gb.to_plink(dataset(), tmp_path / "a", digits=digits)


def test_lines_are_written_and_checked_many_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = dataset(variant_genetic_position=[0.5, 1, 2, 3])
    whole = columns(tmp_path / "a", ds)
    monkeypatch.setattr(_checks, "LINES", 3)
    assert columns(tmp_path / "b", ds) == whole
    with pytest.raises(ValueError, match="variant_id is 'd e' at variants=3"):
        gb.to_plink(ds.assign(variant_id=("variants", ["a", "b", "c", "d e"])), tmp_path / "c")
