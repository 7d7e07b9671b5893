"""What `to_pgen` writes, against plink2 and read again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.engine.schedule.computing import compute
from genobit.io.pgen_files._header import PROVISIONAL
from genobit.io.writers import pgen
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.plink_files import random_dosages, write_fileset
from tests.helpers.programs import PLINK2, plink2
from tests.io.pgen_files import Made, imported


def lines(path: Path, suffix: str) -> list[str]:
    return path.with_suffix(suffix).read_text().splitlines()


# Against plink2


@PLINK2
@pytest.mark.parametrize("chunks", [None, 64])
def test_bytes_are_those_of_plink2(tmp_path: Path, chunks: int | None) -> None:
    made = Made(4, 300, 37, haploid=True)
    source = imported(tmp_path, made)
    path = gb.to_pgen(made.dataset(chunks), tmp_path / "b")
    assert path.read_bytes() == source.read_bytes()
    again = gb.to_pgen(gb.open_pgen(source, chunks=50), tmp_path / "c.pgen")
    assert again.read_bytes() == source.read_bytes()
    plink2(tmp_path / "d", "--pfile", str(again.with_suffix("")), "--validate")
    # plink2 reads these tables as it reads its own.
    for name in ("a", "c"):
        plink2(tmp_path / f"{name}2", "--pfile", str(tmp_path / name), "--make-just-pvar")
    own, other = (lines(tmp_path / f"{name}2.pvar", ".pvar") for name in "ac")
    kept = ("#CHROM", "##FILTER")
    passed = '##FILTER=<ID=PASS,Description="All filters passed">'
    assert [passed, *(x for x in own if x[0] != "#" or x.startswith(kept))] == other


@PLINK2
def test_a_bed_comes_back(tmp_path: Path) -> None:
    bed = write_fileset(tmp_path, random_dosages(60, 31, seed=2))
    path = gb.to_pgen(gb.open_plink(bed), tmp_path / "b")
    for name, option in (("c", "--make-bed"), ("d", "--validate")):
        plink2(tmp_path / name, "--pfile", str(path.with_suffix("")), option)
    plink2(tmp_path / "e", "--bfile", str(bed.with_suffix("")), "--make-bed")
    for suffix in (".bed", ".bim", ".fam"):
        found, right = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in "ce")
        assert found == right
    # Which allele is the reference is as little known as before.
    plink2(tmp_path / "f", "--bfile", str(bed.with_suffix("")), "--make-pgen")
    assert path.read_bytes() == (tmp_path / "f.pgen").read_bytes()
    assert gb.open_pgen(path).call_genotype.attrs["counted_allele"] == PROVISIONAL


@PLINK2
def test_dosages_come_back(tmp_path: Path) -> None:
    freq = ("dosage-freq=0.3", "--seed", "1", "--make-pgen")
    plink2(tmp_path / "a", "--dummy", "33", "70", "0.1", *freq)
    ds = gb.open_pgen(tmp_path / "a", dosages=True, chunks=32)
    path = gb.to_pgen(ds, tmp_path / "b", dosages=True)
    assert path.read_bytes() == (tmp_path / "a.pgen").read_bytes()
    without = gb.open_pgen(gb.to_pgen(ds, tmp_path / "c"), dosages=True)
    np.testing.assert_array_equal(without.call_genotype, ds.call_genotype)
    whole = without.call_dosage.values
    assert np.isin(whole[~np.isnan(whole)], (0, 1, 2)).all()


@PLINK2
def test_haploid_dosages_of_bgen_are_those_of_plink2(tmp_path: Path) -> None:
    pytest.importorskip("bgen")
    from tests.helpers.bgen_files import random_variants, write

    source = write(tmp_path / "a.bgen", random_variants(16, 0, haploid=0.4), 16)
    ds = gb.open_bgen(source, chunks=40)
    haploid, copies = ds.call_genotype.isel(ploidy=-1) == -2, ds.call_dosage
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(ds, empty, "haploid call with it for a heterozygous one. Make such", dosages=True)
    # The remedy of the error.
    kept = copies.where(~haploid | (abs(copies - 0.5) > 0.0501))
    assert 0 < (np.isnan(kept) & ~np.isnan(copies)).sum() < 0.1 * haploid.sum()
    again = gb.open_pgen(
        gb.to_pgen(ds.assign(call_dosage=kept), tmp_path / "b", dosages=True), dosages=True
    ).compute()
    plink2(tmp_path / "c", "--bgen", str(source), "ref-first", "--make-pgen")
    right = gb.open_pgen(tmp_path / "c", dosages=True).compute()
    left = ~np.isnan(kept.values)
    np.testing.assert_allclose(
        again.call_dosage.values[left], right.call_dosage.values[left], atol=2 * 2**-14
    )
    np.testing.assert_array_equal(
        again.call_genotype.values[left], right.call_genotype.values[left]
    )
    assert np.isnan(again.call_dosage.values[~left]).all()


# Read again


@pytest.mark.parametrize("seed", range(4))
def test_a_selection_comes_back(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = Made(seed, 80, 1 + int(rng.integers(70)), haploid=True)
    ds = gb.open_pgen(gb.to_pgen(made.dataset(), tmp_path / "a"), chunks=16)
    some = ds.isel(
        variants=np.sort(rng.permutation(80)[: 1 + rng.integers(79)]),
        samples=rng.permutation(ds.sizes["samples"])[: 1 + rng.integers(ds.sizes["samples"])],
    )
    again = gb.open_pgen(gb.to_pgen(some, tmp_path / "b"))
    for name in ("call_genotype", "call_genotype_phased", "sample_id", "variant_id", "sample_sex"):
        np.testing.assert_array_equal(again[name], some[name])
    width = again.sizes["alleles"]
    np.testing.assert_array_equal(again.variant_allele, some.variant_allele[:, :width])
    assert (some.variant_allele[:, width:] == "").all()
    for x in (again, some):
        x["name"] = x.contig_id[x.variant_contig]
    np.testing.assert_array_equal(again.name, some.name)


def test_calls_of_any_integer_type_order_of_dimensions_and_ploidy(tmp_path: Path) -> None:
    made = Made(2, 30, 9)
    ds = made.dataset(7)
    paths = [
        gb.to_pgen(ds, tmp_path / "a"),
        gb.to_pgen(ds.assign(call_genotype=ds.call_genotype.astype(np.int64)), tmp_path / "b"),
        gb.to_pgen(ds.transpose("samples", "ploidy", "variants", ...), tmp_path / "c"),
    ]
    assert len({path.read_bytes() for path in paths}) == 1
    calls = np.array([[[0, 1], [1, -2], [-1, -2], [2, -2]]], np.int8)
    mixed = cohort(calls).assign(variant_allele=(("variants", "alleles"), [["A", "C", "G"]]))
    found = gb.open_pgen(gb.to_pgen(mixed, tmp_path / "d")).call_genotype
    assert found.values.tolist() == [[[0, 1], [1, 1], [-1, -1], [2, 2]]]
    haploid = cohort(np.array([[[0], [1], [-1]]], np.int8))
    found = gb.open_pgen(gb.to_pgen(haploid, tmp_path / "e")).call_genotype
    assert found.values.tolist() == [[[0, 0], [1, 1], [-1, -1]]]


def test_small_chunks_are_computed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = random_calls(1, 500, 4)
    times = []

    def counted(*arrays: object) -> tuple[object, ...]:
        times.append(arrays)
        return compute(*arrays)

    monkeypatch.setattr(pgen, "compute", counted)
    paths = [
        gb.to_pgen(ds, tmp_path / name)
        for name, ds in (("a", cohort(calls)), ("b", cohort(calls).chunk(variants=1)))
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert len(times) == 2
    # No more rows than the limit at once: a chunk above it stays alone.
    times.clear()
    monkeypatch.setattr(pgen, "_ROWS_BYTES", 8 * 4 * 100)
    sizes = (60, 40, 1, 120, 99, 1, 1, 178)
    some = cohort(calls).chunk(variants=sizes)
    assert gb.to_pgen(some, tmp_path / "c").read_bytes() == paths[0].read_bytes()
    assert [x[0].shape[0] for x in times] == [100, 1, 120, 100, 1, 178]


def test_calls_without_phase_variable_have_none(tmp_path: Path) -> None:
    ds = cohort(np.array([[[1, 0], [0, 1], [1, 1]]], np.int8))
    again = gb.open_pgen(gb.to_pgen(ds, tmp_path / "a"))
    assert again.call_genotype.values.tolist() == [[[0, 1], [0, 1], [1, 1]]]
    assert again.call_genotype_phased.values.tolist() == [[False, False, True]]
    assert again.call_genotype.attrs["counted_allele"] == "variant_allele[:, 1] (ALT)"


def test_tables_hold_what_is_read_again(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 3, 4), contigs=2).assign(
        variant_quality=("variants", np.array([np.nan, 30.5, 1e6], np.float32)),
        variant_filter=(("variants", "filters"), [[True, False], [False, True], [False, False]]),
        filter_id=("filters", ["PASS", "q10"]),
        sample_family_id=("samples", ["F", "", "F", "G"]),
        sample_father_id=("samples", ["0", "", "x", "0"]),
        sample_sex=("samples", [0, 1, 2, 1]),
        sample_phenotype=("samples", [1.5, np.nan, 0, -2]),
        sample_case=("samples", [True, False, True, True]),
        sample_count=("samples", [3, 1, 2, 7]),
        sample_town=("samples", ["a_b", "", "c", "d"]),
        sample_SID=("samples", ["0", "", "x", "1"]),
    )
    ds["variant_allele"][1] = ["0", "T"]
    path = gb.to_pgen(ds, tmp_path / "a")
    head = "#FID\tIID\tSID\tPAT\tSEX\tPHENO1\tcase\tcount\ttown"
    assert lines(path, ".psam") == [
        head,
        "F\ts0\t0\t0\tNA\t1.5\t2\t3\ta_b",
        "0\ts1\t0\t0\t1\tNA\t1\t1\tNONE",
        "F\ts2\tx\tx\t2\t0\t2\t2\tc",
        "G\ts3\t1\t0\t1\t-2\t2\t7\td",
    ]
    assert lines(path, ".pvar")[0] == "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tCM"
    again = gb.open_pgen(path)
    assert again.variant_allele.values.tolist() == [["A", "C"], [".", "T"], ["A", "C"]]
    for name in ("variant_quality", "variant_filter", "sample_phenotype", "sample_sex"):
        np.testing.assert_array_equal(again[name], ds[name])
    for name in ("variant_genetic_position", "variant_position", "sample_id", "sample_count"):
        np.testing.assert_array_equal(again[name], ds[name])
    np.testing.assert_array_equal(again.sample_town, ds.sample_town)
    np.testing.assert_array_equal(again.sample_case, [2, 1, 2, 2])


CATEGORIES = {
    "objects": np.array(["vegan", "none", "fish", ""], object),
    "text of fixed width": np.array(["vegan", "none", "fish", ""]),
    "bytes": np.array([b"vegan", b"none", b"fish", b""]),
    "categories of pandas": pd.Categorical(["vegan", "none", "fish", None]),
    "objects with NaN": np.array(["vegan", "none", "fish", np.nan], object),
    "text of pandas": pd.array(["vegan", "none", "fish", None], dtype="string"),
}


@PLINK2
@pytest.mark.parametrize("which", CATEGORIES)
@pytest.mark.parametrize("name", ["sample_phenotype", "sample_diet"])
def test_categories_are_those_of_plink2(tmp_path: Path, which: str, name: str) -> None:
    ds = cohort(random_calls(1, 3, 4)).assign({name: ("samples", CATEGORIES[which])})
    path = gb.to_pgen(ds, tmp_path / "a")
    assert [row.split("\t")[-1] for row in lines(path, ".psam")[1:]] == [
        "vegan",
        "none",
        "fish",
        "NONE",
    ]
    log = plink2(tmp_path / "b", "--pfile", str(path.with_suffix("")), "--make-just-psam")
    assert "1 categorical phenotype loaded (3 values)" in log
    assert gb.open_pgen(path)[name].values.tolist() == ["vegan", "none", "fish", ""]


@pytest.mark.parametrize("name", ["sample_phenotype", "sample_diet"])
@pytest.mark.parametrize(
    "wrong", ["1", "NA", "na", "nan", "-9", "NONE", ".", "1a", "-.5x", "1e5", "inf", "x y", "x\ty"]
)
def test_text_that_plink2_reads_as_another(tmp_path: Path, name: str, wrong: str) -> None:
    ds = cohort(random_calls(1, 3, 4)).assign({name: ("samples", ["b", "c", wrong, "d"])})
    refused(ds, tmp_path, f"{name} is .* at samples=2(, .*: put a letter before it|: )")


def test_objects_of_numbers_are_numbers(tmp_path: Path) -> None:
    values = np.array([1, None, 2.5, 3], object)
    ds = cohort(random_calls(1, 3, 4)).assign(sample_age=("samples", values))
    path = gb.to_pgen(ds, tmp_path / "a")
    assert [row.split("\t")[1] for row in lines(path, ".psam")] == ["age", "1", "NA", "2.5", "3"]


@pytest.mark.parametrize("values", [np.arange(4).astype("M8[D]"), np.ones(4, "c8")])
def test_what_is_neither_number_nor_text_is_refused(tmp_path: Path, values: np.ndarray) -> None:
    ds = cohort(random_calls(1, 3, 4)).assign(sample_day=("samples", values))
    with pytest.raises(TypeError, match=r"sample_day is .* at samples=0, and .*drop_vars"):
        gb.to_pgen(ds, tmp_path / "a")


def test_families_are_split_from_ids_again(tmp_path: Path) -> None:
    bed = write_fileset(tmp_path, random_dosages(4, 3))
    bed.with_suffix(".fam").write_text("".join(f"F{s} child 0 0 1 -9\n" for s in range(3)))
    path = gb.to_pgen(gb.open_plink(bed), tmp_path / "a")
    assert [line.split()[:2] for line in lines(path, ".psam")[1:]] == [
        [f"F{s}", "child"] for s in range(3)
    ]
    assert gb.open_pgen(path).sample_id.values.tolist() == [f"F{s}_child" for s in range(3)]


# Refusals


def refused(ds: xr.Dataset, folder: Path, message: str, **options: bool) -> None:
    """Writing says what is wrong, and leaves nothing behind."""
    with pytest.raises((ValueError, KeyError), match=message):
        gb.to_pgen(ds, folder / "a", **options)
    assert [path.name for path in folder.iterdir()] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ([1, -1], r"call_genotype is 1/-1 at variants=67, samples=2, .* one missing allele"),
        ([-1, 0], r"call_genotype is -1/0 at variants=67, samples=2, .* one missing allele"),
    ],
)
def test_calls_with_one_missing_allele(tmp_path: Path, call: list[int], message: str) -> None:
    calls = random_calls(1, 70, 4)
    calls[67, 2] = call
    refused(cohort(calls, chunks=(16, 4)), tmp_path, message)
    # As the message says.
    ds = cohort(calls)
    found = ds.call_genotype
    ds = ds.assign(call_genotype=found.where((found != -1).all("ploidy"), -1))
    again = gb.open_pgen(gb.to_pgen(ds, tmp_path / "a"))
    assert again.call_genotype[67, 2].values.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sample_case": ("samples", [0, 1, 1, 0])},
            "sample_case is 0 at samples=0",
        ),
        (
            {"sample_x": ("samples", [1.5, 2, -9, 0])},
            "sample_x is -9 at samples=2",
        ),
        ({"sample_IID": ("samples", [1, 2, 3, 4])}, r"sample_IID would be the column 'IID'"),
    ],
)
def test_labels_that_the_tables_do_not_hold(
    tmp_path: Path, changes: dict[str, tuple[str, list[object]]], message: str
) -> None:
    refused(cohort(random_calls(1, 3, 4)).assign(changes), tmp_path, message)


@pytest.mark.parametrize("values", [[[1, 0], [0, 1], [0, 0]], [[1.0, 0], [0, 1], [0, 0]]])
def test_filters_that_are_not_booleans(tmp_path: Path, values: list[list[float]]) -> None:
    ds = cohort(random_calls(1, 3, 4)).assign(
        variant_filter=(("variants", "filters"), values), filter_id=("filters", ["PASS", "q10"])
    )
    with pytest.raises(TypeError, match=r"variant_filter is .*64, and .* booleans: ") as error:
        gb.to_pgen(ds, tmp_path / "a")
    ds = eval(str(error.value).partition("booleans: ")[2], {"ds": ds})
    again = gb.open_pgen(gb.to_pgen(ds, tmp_path / "a"))
    np.testing.assert_array_equal(again.variant_filter, values)


@pytest.mark.parametrize("values", [[[1, 0, 1]], [[1.0, np.nan, 0]], [["True", "False", "True"]]])
@pytest.mark.parametrize("lazy", [False, True])
def test_phase_that_is_not_boolean(tmp_path: Path, values: list[list[object]], lazy: bool) -> None:
    ds = cohort(np.array([[[1, 0], [1, 0], [0, 0]]], np.int8))
    ds = ds.assign(call_genotype_phased=(("variants", "samples"), values))
    ds = ds.chunk(samples=1) if lazy else ds
    message = r"call_genotype_phased is .*, expected booleans: .*ds.assign\("
    with pytest.raises(TypeError, match=message) as error:
        gb.to_pgen(ds, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    remedy = "ds.assign(" + str(error.value).partition("ds.assign(")[2]
    again = gb.open_pgen(gb.to_pgen(eval(remedy, {"ds": ds}), tmp_path / "a"))
    assert again.call_genotype.values.tolist() == [[[1, 0], [0, 1], [0, 0]]]


def test_variants_of_many_alleles(tmp_path: Path) -> None:
    ds = cohort(np.array([[[0, 3], [127, 1], [-1, -1]]], np.int8))
    names = [["A", *("A" + "C" * k for k in range(1, 128))]]
    for more in ([], ["G", "T"]):
        some = ds.assign(variant_allele=(("variants", "alleles"), [names[0] + more]))
        path = gb.to_pgen(some, tmp_path / f"a{len(more)}")
        assert lines(path, ".pvar")[1].split("\t")[4].count(",") == 126 + len(more)
    again = gb.open_pgen(tmp_path / "a0").call_genotype
    assert again.values.tolist() == [[[0, 3], [1, 127], [-1, -1]]]


@pytest.mark.parametrize("call", [[1, -1], [1, -2]])
def test_planes_with_calls_of_one_allele(tmp_path: Path, call: list[int]) -> None:
    ds = cohort(np.array([[[0, 1], call]], np.int8), phased=True)
    with pytest.raises(ValueError, match=r"1/-1 at variants=0, samples=1.* planes") as error:
        gb.to_pgen(ds.genobit.pack(phased=True), tmp_path / "a")
    # As the message says, for the genotypes that were packed.
    names = {"ds": ds}
    exec(str(error.value).partition("missing: ")[2], names)
    again = gb.open_pgen(gb.to_pgen(names["ds"], tmp_path / "a"))
    expected = [1, 1] if call == [1, -2] else [-1, -1]
    assert again.call_genotype.values.tolist() == [[[0, 1], expected]]


def test_variables_that_are_missing(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 3, 4))
    refused(ds, tmp_path, "dosages=True needs the variable 'call_dosage'", dosages=True)
    refused(cohort(random_calls(1, 3, 4, ploidy=3)), tmp_path, "ploidy 3")


def test_dosages_that_do_not_agree(tmp_path: Path) -> None:
    calls = np.array([[[0, 1], [1, 1], [-1, -1]], [[0, 0], [0, 1], [0, 1]]], np.int8)
    right = np.array([[1.09, 1.95, 0.5], [0, 0.91, 1]], np.float32)
    ds = cohort(calls).assign(call_dosage=(("variants", "samples"), right))
    again = gb.open_pgen(gb.to_pgen(ds, tmp_path / "a", dosages=True), dosages=True)
    np.testing.assert_array_equal(again.call_genotype, calls)
    np.testing.assert_allclose(again.call_dosage, right, atol=2**-14)
    for path in tmp_path.iterdir():
        path.unlink()
    for value, message in ((0.89, "another one"), (2.1, "from 0 to 2"), (np.nan, "another one")):
        wrong = right.copy()
        wrong[1, 2] = value
        ds["call_dosage"] = (("variants", "samples"), wrong)
        refused(ds, tmp_path, f"variants=1, samples=2: .*{message}", dosages=True)
    ds["call_dosage"] = (("variants", "samples"), right)
    alone = ds.assign(call_genotype=ds.call_genotype.where(ds.ploidy < 1, -2))
    refused(alone, tmp_path, "variants=0, samples=0: .* or from 0 to 1 for a hap", dosages=True)
    phased = ds.assign(call_genotype_phased=(("variants", "samples"), np.ones((2, 3), bool)))
    refused(phased, tmp_path, "variants=0, samples=0: the call beside it has phase", dosages=True)
    several = ds.assign(variant_allele=(("variants", "alleles"), [["A", "C", "G"]] * 2))
    refused(several, tmp_path, "variants=0 has 3 alleles", dosages=True)


# Files


def test_a_chunk_of_several_alleles_that_fails_leaves_nothing(tmp_path: Path) -> None:
    calls = random_calls(1, 64, 4)
    calls[40, 0] = 3, 0
    names = ("variants", "alleles"), [["A", "C", "G"]] * 64
    refused(cohort(calls, chunks=(16, 4)).assign(variant_allele=names), tmp_path, "is 3/0 at")


KILLED = """
import os, signal, sys
import numpy as np
import pandas as pd
import genobit as gb
from tests.helpers.cohorts import cohort, random_calls

def stop(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return block

ds = cohort(random_calls(1, 64, 4), chunks=(16, 4))
ds["call_genotype"] = ds.call_genotype.copy(data=ds.call_genotype.data.map_blocks(stop, dtype="i1"))
gb.to_pgen(ds, sys.argv[1])
"""


def test_a_killed_process_leaves_no_file_of_the_name(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "a")]
    done = subprocess.run(command, cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("a*")) == []
    path = gb.to_pgen(cohort(random_calls(1, 64, 4)), tmp_path / "a")
    assert gb.open_pgen(path).sizes["variants"] == 64


def test_lazy_calls_are_computed_once_a_chunk_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgen, "_ROWS_BYTES", 8 * 4 * 32)
    seen: list[int] = []

    def see(block: np.ndarray) -> np.ndarray:
        seen.append(len(block))
        return block

    calls = random_calls(1, 100, 4)
    lazy = da.from_array(calls, chunks=(32, 4, 2)).map_blocks(see, meta=np.empty((0, 0, 0), "i1"))
    ds = cohort(calls)
    ds["call_genotype"] = ds.call_genotype.copy(data=lazy)
    gb.to_pgen(ds, tmp_path / "a")
    assert seen == [32, 32, 32, 4]
