"""Readers of several files: lists and patterns."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.io.several import files_of
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK2, plink2

CHROMOSOMES = ("chr2", "chr10", "chr11")


@pytest.fixture(scope="module")
def whole() -> xr.Dataset:
    ds = cohort(random_calls(4, 90, 20), contigs=3, phased=False)
    alleles = np.tile(np.array(["G", "A"], object), (90, 1))
    return ds.assign(
        contig_id=("contigs", list(CHROMOSOMES)), variant_allele=(("variants", "alleles"), alleles)
    )


Write = Callable[[xr.Dataset, Path], Any]
FORMATS: dict[str, tuple[Write, str, Callable[..., xr.Dataset]]] = {
    "plink": (gb.to_plink, ".bed", gb.open_plink),
    "pgen": (gb.to_pgen, ".pgen", gb.open_pgen),
    "vcf": (gb.to_vcf, ".vcf.gz", lambda *a, **k: gb.open_vcf(*a, cache_dir=False, **k)),
}


def written(whole: xr.Dataset, folder: Path, name: str) -> None:
    write, ending, _ = FORMATS[name]
    for k, chromosome in enumerate(CHROMOSOMES):
        part = whole.isel(variants=(whole.variant_contig == k).values)
        write(part, folder / f"{chromosome}{ending}" if name == "vcf" else folder / chromosome)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("given", ["pattern", "list", "Path"])
def test_files_of_chromosomes_are_one_dataset(
    name: str, given: str, whole: xr.Dataset, tmp_path: Path
) -> None:
    written(whole, tmp_path, name)
    _, ending, read = FORMATS[name]
    paths: Any = tmp_path / f"chr*{ending}"
    if given != "Path":
        paths = str(paths)
    if given == "list":
        paths = [tmp_path / f"{chromosome}{ending}" for chromosome in CHROMOSOMES]
    found = read(paths)
    assert found.contig_id.values.tolist() == list(CHROMOSOMES)
    assert found.variant_id.values.tolist() == whole.variant_id.values.tolist()
    sums = [ds.call_genotype.sum("ploidy").values for ds in (found, whole)]
    assert np.array_equal(*sums)
    planes = [ds.genobit.pack().compute() for ds in (found, whole)]
    assert np.array_equal(planes[0].plane_carrier, planes[1].plane_carrier)


@PLINK2
def test_bgen_files_are_one_dataset(whole: xr.Dataset, tmp_path: Path) -> None:
    written(whole, tmp_path, "plink")
    for chromosome in CHROMOSOMES:
        out = tmp_path / chromosome
        plink2(out, "--bfile", out, "--export", "bgen-1.2", "bits=8")
    found = gb.open_bgen(tmp_path / "chr*.bgen", ref="last")
    assert np.array_equal(found.call_genotype.sum("ploidy"), whole.call_genotype.sum("ploidy"))
    assert np.array_equal(found.call_dosage, whole.call_genotype.sum("ploidy"))


@pytest.mark.parametrize("indexed", [False, True])
def test_a_region_is_read_from_the_files_that_have_it(
    indexed: bool, whole: xr.Dataset, tmp_path: Path
) -> None:
    written(whole, tmp_path, "vcf")
    if indexed:
        for chromosome in CHROMOSOMES:
            try:
                tabix = ["tabix", "-p", "vcf", str(tmp_path / f"{chromosome}.vcf.gz")]
                subprocess.run(tabix, check=True)
            except FileNotFoundError:
                pytest.skip("tabix is not on the path")
    read = FORMATS["vcf"][2]
    pattern = str(tmp_path / "chr*.vcf.gz")
    found = read(pattern, region="10")
    assert found.contig_id.values.tolist() == ["chr10"]
    assert np.array_equal(found.call_genotype, whole.call_genotype[whole.variant_contig == 1])
    with pytest.raises(ValueError, match=r"none of the 3 files has a record there\. .*chr2\.vcf"):
        read(pattern, region="9:1-2Mb")


def test_files_of_other_samples_are_refused(whole: xr.Dataset, tmp_path: Path) -> None:
    written(whole, tmp_path, "plink")
    gb.to_plink(whole.isel(samples=slice(5), variants=slice(30)), tmp_path / "chr2", overwrite=True)
    with pytest.raises(
        ValueError,
        match=r"15 of 20 samples of .*chr10.bed are not in .*chr2.bed by sample_id, .*concat",
    ):
        gb.open_plink(tmp_path / "chr*.bed")


def test_patterns_are_in_natural_order(tmp_path: Path) -> None:
    names = ("c10.bed", "c2.bed", "c2.bim", "c2.pgen", "c3.ped", "cX.bed", "c1.log", "c[1].bed")
    for name in (*names, "c1²3.bed"):
        (tmp_path / name).touch()
    beds = ["c1²3.bed", "c2.bed", "c10.bed", "cX.bed", "c[1].bed"]
    endings = (".bed", ".ped")
    for pattern in ("c*", "c*.bed"):
        assert files_of(tmp_path / pattern, endings) == [str(tmp_path / name) for name in beds]
    assert files_of(tmp_path / "c??", endings) == [str(tmp_path / "c10.bed")]
    assert files_of(tmp_path / "c?", (".ped",)) == [str(tmp_path / "c3.ped")]
    # A file of this very name is meant, with its ending or without.
    assert files_of(str(tmp_path / "c[1].bed"), endings) is None
    assert files_of(str(tmp_path / "c[1]"), endings) is None
    assert files_of("s3://bucket/chr*.bed", endings) is None
    with pytest.raises(FileNotFoundError, match=r"no file of .bed or .ped matches '.*d\*': give"):
        files_of(tmp_path / "d*", endings)


def test_all_forms_of_several_paths_are_taken(whole: xr.Dataset, tmp_path: Path) -> None:
    written(whole, tmp_path, "plink")
    paths = [str(tmp_path / f"{chromosome}.bed") for chromosome in CHROMOSOMES]
    for given in (tuple(paths), (path for path in paths), np.array(paths), pd.Series(paths)):
        assert gb.open_plink(given).sizes["variants"] == 90
    # One file is opened as it is: its planes are packed from the file.
    one = gb.open_plink([paths[0]])
    assert one.attrs["source"] == paths[0]
    with pytest.raises(ValueError, match=r"chr2.bed' is twice in the list of paths"):
        gb.open_plink([paths[0], paths[0]])


def test_errors_name_the_files(whole: xr.Dataset, tmp_path: Path) -> None:
    written(whole, tmp_path, "plink")
    gb.to_plink(whole.isel(variants=slice(3)), tmp_path / "chr10", overwrite=True)
    with pytest.raises(ValueError, match=r"variants=0 of .*chr10.bed is also in .*chr2.bed, at"):
        gb.open_plink(tmp_path / "chr*.bed")
    with pytest.raises((TypeError, ValueError)):
        gb.open_plink(7)
    with pytest.raises(ValueError, match="the list of paths is empty"):
        gb.open_plink([])
