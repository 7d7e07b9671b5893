"""Labels that a writer refuses, and remedies that are run as the messages give them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.io.writers import plink, vcf_zarr
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK2, plink2
from tests.io.formats import FORMATS

Writer = Callable[[xr.Dataset, Path], Path]
OF_PLINK = pytest.mark.parametrize("write", [gb.to_plink, gb.to_pgen])
ALL = pytest.mark.parametrize("name", FORMATS)


def dataset(chunks: tuple[int, int] | None = None, **more: Any) -> xr.Dataset:
    """Four variants of three samples, with labels along the dimension of their names."""
    return cohort(random_calls(1, 4, 3), chunks=chunks).assign(
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
        ({"variant_contig": ["1", "1", "2 ", "2"]}, "contig_id is '2 ' at contigs=1"),
        ({"sample_father_id": ["a", "0", "a\t"]}, "sample_father_id is .* samples=2"),
        ({"sample_sex": [1, 2, 3]}, "sample_sex is 3 at samples=2"),
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
def test_positions_that_are_not_whole_numbers(tmp_path: Path, name: str, values: list[Any]) -> None:
    words = r"variant_position is .*, and .* takes whole numbers: .*astype\('int64'\)"
    ds = dataset(variant_position=values)
    refused(FORMATS[name].write, ds, tmp_path, TypeError, words)


@OF_PLINK
def test_text_for_numbers(tmp_path: Path, write: Writer) -> None:
    names = ["variant_genetic_position", *(["variant_quality"] if write is gb.to_pgen else [])]
    for name in names:
        ds = dataset(**{name: ["a", "b", "c", "d"]})
        refused(write, ds, tmp_path, TypeError, rf"{name} is .*'a'.*: give numbers, and NaN")


@ALL
def test_genotypes_without_their_labels(tmp_path: Path, name: str) -> None:
    write = FORMATS[name].write
    words = f"{write.__name__} takes a Dataset of genotypes .* not DataArray: give ds, not"
    refused(write, dataset().call_genotype, tmp_path, TypeError, words)


@ALL
def test_alleles_of_one_dimension(tmp_path: Path, name: str) -> None:
    ds = dataset().drop_vars("variant_allele").assign(variant_allele=("variants", ["A"] * 4))
    words = r"variant_allele has dimensions \('variants',\), expected .*: give a column for each"
    refused(FORMATS[name].write, ds, tmp_path, ValueError, words)


@ALL
@pytest.mark.parametrize(
    "label", ["variant_position", "variant_contig", "variant_allele", "sample_id"]
)
def test_the_remedy_for_a_label_that_is_missing(tmp_path: Path, name: str, label: str) -> None:
    form, ds = FORMATS[name], dataset(chunks=(2, 3)).drop_vars(label)
    with raise_if_dask_computes():
        message = refused(form.write, ds, tmp_path, KeyError, f"no variable '{label}' along")
    full = repaired(message, ds, "nothing is known: ")
    full = full.drop_vars("contig_id") if label == "variant_contig" else full
    again = form.through(full, tmp_path / "a")
    np.testing.assert_array_equal(again.call_genotype.sum("ploidy"), ds.call_genotype.sum("ploidy"))


@ALL
def test_folders_that_are_missing(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        FORMATS[name].write(dataset(), tmp_path / "nowhere" / "a")


@ALL
def test_a_chunk_that_fails_leaves_nothing(tmp_path: Path, name: str) -> None:
    def fail(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info and block_info[None]["chunk-location"][0] == 2:
            raise RuntimeError("no more")
        return block

    ds = cohort(random_calls(1, 192, 4), chunks=(64, 4))
    ds["call_genotype"] = ds.call_genotype.copy(data=ds.call_genotype.data.map_blocks(fail))
    refused(FORMATS[name].write, ds, tmp_path, RuntimeError, "no more")


@pytest.mark.parametrize(
    ("name", "writer", "part", "words"),
    [
        ("plink", plink, "", r"is not a PLINK 1 \.bed file"),
        ("vcf_zarr", vcf_zarr, "call_genotype/0.0.0", "is not a Zarr group"),
    ],
)
def test_a_write_that_is_killed__leaves_no_file_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, writer: Any, part: str, words: str
) -> None:
    def killed(task: object) -> None:
        compute(task)
        shutil.copytree(tmp_path / "out", tmp_path / "left")

    compute = writer.compute
    monkeypatch.setattr(writer, "compute", killed)
    (tmp_path / "out").mkdir()
    ds = cohort(random_calls(1, 50, 4), chunks=(10, 4))
    path = FORMATS[name].write(ds, tmp_path / "out" / "a")
    assert FORMATS[name].read(path).sizes["variants"] == 50
    for left in [*(tmp_path / "left").iterdir()]:
        left.rename(tmp_path / "left" / f"a{left.suffix}")
    found = tmp_path / "left" / path.name
    assert (found / part).stat().st_size == (path / part).stat().st_size
    with pytest.raises(ValueError, match=words):
        FORMATS[name].read(found)


@pytest.mark.parametrize("name", ["pgen", "vcf_zarr", "vcf"])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ([0, 2], "is 0/2 at variants=67, samples=2, .* alleles 0..1 there"),
        ([-2, 0], "is -2/0 at variants=67, samples=2: expected an allele"),
        ([-3, 0], "is -3/0 at variants=67, samples=2: expected an allele"),
        ([-2, -2], "is -2/-2 at variants=67, samples=2: expected an allele"),
    ],
)
def test_calls_that_no_format_holds(
    tmp_path: Path, name: str, call: list[int], message: str
) -> None:
    calls = random_calls(1, 70, 4)
    calls[67, 2] = call
    ds = cohort(calls, chunks=(16, 2))
    refused(FORMATS[name].write, ds, tmp_path, ValueError, f"call_genotype {message}")


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
