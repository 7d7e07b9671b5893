"""Labels that a writer refuses, and remedies that are run as the messages give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.cohorts import cohort, random_calls
from tests.programs import PLINK2, plink2

Writer = Callable[[xr.Dataset, Path], Path]
OF_PLINK = pytest.mark.parametrize("write", [gb.to_plink, gb.to_pgen])


def to_vcf(ds: Any, path: Path) -> Path:
    return gb.to_vcf(ds, path.with_suffix(".vcf"))


ALL = pytest.mark.parametrize("write", [gb.to_plink, gb.to_pgen, gb.to_vcf_zarr, to_vcf])


def dataset(**more: Any) -> xr.Dataset:
    """Four variants of three samples, with labels along the dimension of their names."""
    return cohort(random_calls(1, 4, 3)).assign(
        {name: (f"{name.partition('_')[0]}s", values) for name, values in more.items()}
    )


def refused(
    write: Writer, ds: Any, folder: Path, error: type[Exception], words: str, **options: Any
) -> str:
    """Writing leaves nothing behind; returns the message."""
    with pytest.raises(error, match=words) as raised:
        write(ds, folder / "refused", **options)
    assert list(folder.glob("refused*")) == []
    return str(raised.value.args[0])


def repaired(message: str, ds: xr.Dataset, before: str) -> xr.Dataset:
    """What the code of a message makes of a Dataset: it follows the words ``before``."""
    code = message.partition(before)[2].partition(", or leave it out")[0]
    found = eval(code, {"ds": ds})
    assert isinstance(found, xr.Dataset)
    return found


@OF_PLINK
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"sample_id": ["a", "0", "c"]}, "sample_id is '0' at samples=1, which PLINK reads as no"),
        ({"sample_id": ["a", "b", "#c"]}, "sample_id is '#c' at samples=2: programs skip lines"),
        ({"sample_family_id": ["f", "#f", ""]}, "sample_family_id is '#f' at samples=1"),
        ({"variant_contig": ["1", "1", "#1", "2"]}, "contig_id is '#1' at contigs=1"),
        ({"variant_contig": ["1", "1", "", "2"]}, "contig_id is '' at contigs=1"),
        ({"sample_phenotype": [1, 0, 1]}, r"sample_phenotype is 0 at samples=1.* \+ 1\)"),
        ({"sample_phenotype": [1.5, 0, -9]}, "sample_phenotype is -9 at samples=2"),
    ],
)
def test_what_plink_reads_as_another(
    tmp_path: Path, write: Writer, labels: dict[str, Any], words: str
) -> None:
    refused(write, dataset(**labels), tmp_path, ValueError, words)


@OF_PLINK
@pytest.mark.parametrize(
    ("labels", "words", "before"),
    [
        ({"variant_position": [1, 2**31 - 1, 3, 4]}, "2147483647 at variants=1", "out: "),
        ({"variant_position": [1, 2, -3, 4]}, "-3 at variants=2", "out: "),
        ({"variant_genetic_position": [0, np.inf, 3, 4]}, "inf at variants=1", "known, "),
        ({"variant_genetic_position": [0, 1, 3, -np.inf]}, "-inf at variants=3", "known, "),
        ({"sample_phenotype": [1.5, np.inf, 3]}, "inf at samples=1", "NaN, "),
        ({"sample_phenotype": [1.5, 2, -np.inf]}, "-inf at samples=2", "NaN, "),
        ({"sample_phenotype": [1, 0, 1]}, "0 at samples=1", "cases 2, "),
    ],
)
def test_numbers_that_plink_does_not_read(
    tmp_path: Path, write: Writer, labels: dict[str, Any], words: str, before: str
) -> None:
    (name,) = labels
    ds = dataset(**labels)
    message = refused(write, ds, tmp_path, ValueError, f"{name} is {words}")
    path = write(repaired(message, ds, before), tmp_path / "a")
    again = (gb.open_plink if write is gb.to_plink else gb.open_pgen)(path)
    assert again.sizes["variants"] == 4 - (name == "variant_position")


@ALL
@pytest.mark.parametrize("values", [[0.5, 1, 2, 3], [1, 2, np.nan, 4], ["1", "2", "3", "4"]])
def test_positions_that_are_not_whole_numbers(
    tmp_path: Path, write: Writer, values: list[Any]
) -> None:
    words = r"variant_position is .*, and .* takes whole numbers: .*astype\('int64'\)"
    refused(write, dataset(variant_position=values), tmp_path, TypeError, words)


@OF_PLINK
def test_text_for_numbers(tmp_path: Path, write: Writer) -> None:
    names = ["variant_genetic_position", *(["variant_quality"] if write is gb.to_pgen else [])]
    for name in names:
        ds = dataset(**{name: ["a", "b", "c", "d"]})
        refused(write, ds, tmp_path, TypeError, rf"{name} is .*'a'.*: give numbers, and NaN")


@ALL
def test_genotypes_without_their_labels(tmp_path: Path, write: Writer) -> None:
    calls = dataset().call_genotype
    words = f"{write.__name__} takes a Dataset of genotypes .* not DataArray: give ds, not"
    refused(write, calls, tmp_path, TypeError, words)


@ALL
def test_alleles_of_one_dimension(tmp_path: Path, write: Writer) -> None:
    ds = dataset().drop_vars("variant_allele").assign(variant_allele=("variants", ["A"] * 4))
    words = r"variant_allele has dimensions \('variants',\), expected .*: give a column for each"
    refused(write, ds, tmp_path, ValueError, words)


@ALL
@pytest.mark.parametrize(
    "name", ["variant_position", "variant_contig", "variant_allele", "sample_id"]
)
def test_the_remedy_for_a_label_that_is_missing(tmp_path: Path, write: Writer, name: str) -> None:
    ds = dataset().drop_vars(name)
    message = refused(write, ds, tmp_path, KeyError, f"no variable '{name}' along")
    full = repaired(message, ds, "nothing is known: ")
    path = write(full.drop_vars("contig_id") if name == "variant_contig" else full, tmp_path / "a")
    openers = {".bed": gb.open_plink, ".pgen": gb.open_pgen, "": gb.open_vcf_zarr}
    openers[".vcf"] = lambda path: gb.open_vcf(path, cache_dir=tmp_path)
    again = openers[path.suffix](path)
    np.testing.assert_array_equal(again.call_genotype.sum("ploidy"), ds.call_genotype.sum("ploidy"))


@PLINK2
@pytest.mark.parametrize(("write", "kind"), [(gb.to_plink, "--bfile"), (gb.to_pgen, "--pfile")])
def test_unknown_centimorgans_are_0(tmp_path: Path, write: Writer, kind: str) -> None:
    write(dataset(variant_genetic_position=[0.5, np.nan, 2, np.nan]), tmp_path / "a")
    plink2(tmp_path / "b", kind, str(tmp_path / "a"), "--make-just-bim")
    found = [line.split("\t")[2] for line in (tmp_path / "b.bim").read_text().splitlines()]
    assert found == ["0.5", "0", "2", "0"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.5, -9.0000001, 2], r"is -9.0000001 at samples=1, with 6 digits -9, .*more digits="),
        ([1.0000001, 2, 0], "is 0 at samples=2, and PLINK reads 0 as missing"),
        ([1.0000001, 2, 1e-9], None),
        ([-9.0001, 2, 5], None),
    ],
)
def test_phenotypes_are_checked_as_they_are_rounded(
    tmp_path: Path, values: list[float], words: str | None
) -> None:
    ds = dataset(sample_phenotype=values)
    if words is None:
        gb.to_plink(ds, tmp_path / "rounded")
        found = gb.open_plink(tmp_path / "rounded").sample_phenotype
        np.testing.assert_allclose(found, values, rtol=1e-6)
    else:
        refused(gb.to_plink, ds, tmp_path, ValueError, words)
    # As the message says.
    gb.to_plink(ds, tmp_path / "whole", digits=17)
    again = gb.open_plink(tmp_path / "whole")
    np.testing.assert_array_equal(again.sample_phenotype, values)


@pytest.mark.parametrize(
    ("write", "read"), [(gb.to_plink, gb.open_plink), (gb.to_pgen, gb.open_pgen)]
)
def test_boolean_phenotypes_are_1_and_2(
    tmp_path: Path, write: Callable[..., Path], read: Callable[..., xr.Dataset]
) -> None:
    ds = dataset(sample_phenotype=[True, False, True])
    assert read(write(ds, tmp_path / "a")).sample_phenotype.values.tolist() == [2, 1, 2]
