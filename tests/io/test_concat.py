"""`genobit.concat`: cohorts side by side, chromosomes below each other."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data import packer
from genobit.engine.bits.layout import Layout
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK, plink, plink_log

COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A"}


def named(variants: int = 12, samples: int = 10, seed: int = 1, **options: Any) -> xr.Dataset:
    """A cohort whose alleles are G and A."""
    ds = cohort(random_calls(seed, variants, samples, missing=0.1), contigs=2, **options)
    alleles = np.tile(np.array(["G", "A"], object), (variants, 1))
    return ds.assign(variant_allele=(("variants", "alleles"), alleles))


def halves(ds: xr.Dataset, at: int = 4) -> list[xr.Dataset]:
    return [ds.isel(samples=slice(None, at)), ds.isel(samples=slice(at, None))]


def recoded(ds: xr.Dataset, exchanged: Any = (), flipped: Any = ()) -> xr.Dataset:
    """The same genotypes with alleles of some variants exchanged or flipped."""
    calls, alleles = ds.call_genotype.values.copy(), ds.variant_allele.values.copy()
    for k in exchanged:
        alleles[k] = alleles[k][::-1]
        calls[k] = np.where(calls[k] < 0, calls[k], 1 - calls[k])
    for k in flipped:
        alleles[k] = [COMPLEMENT[x] for x in alleles[k]]
    return ds.assign(
        call_genotype=(ds.call_genotype.dims, calls),
        variant_allele=(ds.variant_allele.dims, alleles),
    )


def letters(ds: xr.Dataset) -> dict[tuple[str, str], tuple[str, ...]]:
    """The alleles of each call by the names of variant and sample; "" for a missing one."""
    calls, alleles = ds.call_genotype.values, ds.variant_allele.values
    return {
        (v, s): tuple(alleles[i][a] if a >= 0 else "" for a in calls[i, j].tolist())
        for i, v in enumerate(ds.variant_id.values.tolist())
        for j, s in enumerate(ds.sample_id.values.tolist())
    }


@pytest.mark.parametrize("chunks", [None, (5, 3)])
@pytest.mark.parametrize("phased", [None, True, False])
def test_halves_give_the_whole(chunks: tuple[int, int] | None, phased: bool | None) -> None:
    whole = named(chunks=chunks, phased=phased)
    for dim, at in (("samples", 4), ("variants", 6)):
        found = gb.concat([whole.isel({dim: slice(at)}), whole.isel({dim: slice(at, None)})], dim)
        assert found.call_genotype.chunks is not None
        assert set(found.data_vars) == set(whole.data_vars)
        for name, variable in whole.variables.items():
            xr.testing.assert_equal(found[name].variable.load(), variable.load())


@st.composite
def cohorts(draw: st.DrawFn) -> list[xr.Dataset]:
    """Parts of a cohort with other variants, orders and codes, some of them lazy."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ploidy, alleles = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    variants, samples = draw(st.integers(1, 12)), draw(st.integers(2, 9))
    calls = rng.integers(-1, alleles, (variants, samples, ploidy)).astype(np.int8)
    whole = cohort(calls, contigs=draw(st.integers(1, 3)))
    names = np.array([rng.permutation(list("ACGT"))[:alleles] for _ in range(variants)], object)
    whole = whole.assign(variant_allele=(("variants", "alleles"), names))
    owner = np.sort(rng.integers(0, draw(st.integers(1, 3)), samples))
    parts = []
    for k in np.unique(owner):
        chosen = rng.permutation(variants)[: rng.integers(1, variants + 1)]
        part = whole.isel(samples=owner == k, variants=chosen)
        order = np.argsort(rng.random((len(chosen), alleles)), axis=1)
        back = np.argsort(order, axis=1).astype(np.int8)
        old = part.call_genotype.values
        rows = np.arange(len(chosen))[:, None, None]
        new = np.where(old < 0, old, back[rows, np.maximum(old, 0)])
        part = part.assign(
            call_genotype=(part.call_genotype.dims, new.astype(np.int8)),
            variant_allele=(
                ("variants", "alleles"),
                np.take_along_axis(part.variant_allele.values, order, axis=1),
            ),
        )
        parts.append(part.chunk(variants=draw(st.integers(1, 5))) if draw(st.booleans()) else part)
    return parts


@given(cohorts(), st.sampled_from(["inner", "outer"]), st.sampled_from(["id", "position"]))
def test_each_call_keeps_its_alleles(parts: list[xr.Dataset], join: str, on: str) -> None:
    ids = [set(part.variant_id.values.tolist()) for part in parts]
    kept = set.intersection(*ids) if join == "inner" else set.union(*ids)
    if not kept:
        with pytest.raises(ValueError, match="is in all Datasets"):
            gb.concat(parts, join=join, on=on)
        return
    found = gb.concat(parts, join=join, on=on)
    expected = {}
    ploidy = parts[0].sizes["ploidy"]
    for part in parts:
        known = letters(part)
        for s in part.sample_id.values.tolist():
            expected |= {(v, s): known.get((v, s), ("",) * ploidy) for v in kept}
    assert letters(found) == expected
    place = list(zip(found.variant_contig.values, found.variant_position.values, strict=True))
    if join == "outer":
        names = found.contig_id.values.tolist()
        first = [names.index(x) for x in dict.fromkeys(names[c] for c, _ in place)]
        assert first == sorted(first)
        assert all(a <= b for a, b in pairwise(place))


def test_alleles_are_exchanged_and_flipped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    a, b = halves(named())
    other = recoded(b, exchanged=[1, 2, 5], flipped=[2, 3])
    with caplog.at_level(logging.INFO, "genobit"):
        found = gb.concat([a, other])
    assert np.array_equal(found.call_genotype, named().call_genotype)
    assert found.variant_allele.values.tolist() == [["G", "A"]] * 12
    counts = {key: found.attrs[f"variants_{key}"] for key in ("exchanged", "flipped", "ambiguous")}
    assert counts == {"exchanged": 3, "flipped": 2, "ambiguous": 0}
    assert found.attrs["concat"] == (
        "4 + 6 samples; 12 variants by variant_id; alleles exchanged in 3, strand flipped in 2, "
        "ambiguous in 0 (both strands fit, such as A/T; taken as they are), 0 dropped"
    )
    assert caplog.records[-1].getMessage() == found.attrs["concat"]
    assert caplog.records[-1].levelno == logging.INFO


def test_ambiguous_variants_are_reported_or_dropped(caplog: pytest.LogCaptureFixture) -> None:
    whole = named()
    alleles = whole.variant_allele.values.copy()
    alleles[[0, 7]] = ["A", "T"]
    a, b = halves(whole.assign(variant_allele=(("variants", "alleles"), alleles)))
    found = gb.concat([a, recoded(b, exchanged=[7])])
    assert np.array_equal(found.call_genotype, whole.call_genotype)
    assert found.attrs["variants_ambiguous"] == 2
    assert caplog.records[-1].levelno == logging.WARNING
    less = gb.concat([a, b], ambiguous="drop")
    assert less.variant_id.values.tolist() == [f"rs{k}" for k in range(12) if k not in {0, 7}]
    assert less.attrs["variants_dropped"] == 2


def test_conflicts_are_refused_or_dropped() -> None:
    a, b = halves(named())
    alleles = b.variant_allele.values.copy()
    alleles[3] = ["G", "T"]
    b = b.assign(variant_allele=(("variants", "alleles"), alleles))
    place = "G/A at variants=3 of datasets.0. and G/T at variants=3 of datasets.1."
    with pytest.raises(ValueError, match=rf"1 of 12 variants fit on no strand, first {place}"):
        gb.concat([a, b])
    found = gb.concat([a, b], conflicts="drop")
    assert found.variant_id.values.tolist() == [f"rs{k}" for k in range(12) if k != 3]
    assert found.sizes["alleles"] == 2


def test_phase_stays_with_its_call() -> None:
    whole = named(phased=True)
    a, b = halves(whole)
    found = gb.concat([a, recoded(b, exchanged=[1, 4])])
    assert np.array_equal(found.call_genotype, whole.call_genotype)
    assert found.call_genotype_phased.values.all()
    # A file without phase has no phased call.
    some = gb.concat([a, b.drop_vars("call_genotype_phased")])
    assert some.call_genotype_phased.values.tolist() == [[True] * 4 + [False] * 6] * 12


def test_calls_get_the_highest_ploidy() -> None:
    whole = named()
    a, b = halves(whole)
    found = gb.concat([a, b.isel(ploidy=[0])])
    assert np.array_equal(found.call_genotype[:, :4], a.call_genotype)
    assert np.array_equal(found.call_genotype[:, 4:, 0], b.call_genotype[:, :, 0])
    assert (found.call_genotype[:, 4:, 1] == -2).all()


def test_fields_of_calls_are_kept_if_all_have_them(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(2)
    dims = ("variants", "samples")
    whole = named().assign(
        call_DP=(dims, rng.integers(0, 30, (12, 10)).astype(np.int32)),
        call_GQ=(dims, rng.random((12, 10)).astype(np.float32)),
        call_dosage=(dims, rng.random((12, 10)).astype(np.float32)),
        call_AD=((*dims, "reads"), rng.integers(0, 9, (12, 10, 2))),
    )
    a, b = halves(whole)
    found = gb.concat([a, b.drop_vars("call_GQ")])
    assert np.array_equal(found.call_DP, whole.call_DP)
    assert np.array_equal(found.call_dosage, whole.call_dosage)
    assert "left out: call_GQ (some Datasets lack it), call_AD (it has more dimensions)" in (
        caplog.records[-1].getMessage()
    )
    # A dosage counts one allele.
    moved = gb.concat([a, recoded(b, exchanged=[0])])
    assert "call_dosage (it counts exchanged alleles)" in moved.attrs["concat"]
    outer = gb.concat([a, b.isel(variants=slice(3, None))], join="outer")
    assert (outer.call_DP[:3, 4:] == -1).all()
    assert np.isnan(outer.call_GQ[:3, 4:]).all()


def test_labels_of_samples_are_missing_where_a_cohort_lacks_them() -> None:
    a, b = halves(named())
    a = a.assign(bmi=("samples", np.arange(4.0)), pop=("samples", list("xyxy")))
    b = b.assign(age=("samples", np.arange(6)))
    found = gb.concat([a, b])
    assert found.bmi.values[:4].tolist() == [0, 1, 2, 3]
    assert np.isnan(found.bmi.values[4:]).all()
    assert found["pop"].values.tolist() == [*"xyxy", *[None] * 6]
    assert np.isnan(found.age.values[:4]).all()
    assert found.age.values[4:].tolist() == [0, 1, 2, 3, 4, 5]


def test_labels_of_variants_are_kept_if_they_are_equal() -> None:
    a, b = halves(named())
    quality = np.arange(12.0)
    same = gb.concat([a.assign(q=("variants", quality)), b.assign(q=("variants", quality))])
    assert same.q.values.tolist() == quality.tolist()
    other = gb.concat([a.assign(q=("variants", quality)), b.assign(q=("variants", quality + 1))])
    assert "q" not in other
    assert "left out: q (differs)" in other.attrs["concat"]
    some = gb.concat([a.isel(variants=slice(8)), b.assign(q=("variants", quality))], join="outer")
    assert some.q.values.tolist() == quality.tolist()


def test_families_tell_samples_of_one_id_apart() -> None:
    a, b = halves(named(), 5)
    b = b.assign(sample_id=("samples", a.sample_id.values))
    with pytest.raises(ValueError, match=r"'s0' is at samples=0 of datasets.0. and at samples=0"):
        gb.concat([a, b])
    a = a.assign(sample_family_id=("samples", ["F"] * 5))
    b = b.assign(sample_family_id=("samples", ["G"] * 5))
    found = gb.concat([a, b])
    assert found.sample_id.values[[0, 5]].tolist() == ["F_s0", "G_s0"]
    # The names of the result are those of a fileset with both.
    again = gb.concat([found.isel(samples=slice(5)), found.isel(samples=slice(5, None))])
    assert again.sample_id.values.tolist() == found.sample_id.values.tolist()
    assert gb.concat([found.isel(samples=slice(5))]).sample_id.values[0] == "s0"


def test_contigs_get_common_names() -> None:
    a, b = halves(named())
    b = b.assign(contig_id=("contigs", ["2", "1"]), variant_contig=1 - b.variant_contig)
    b = b.isel(variants=slice(None, None, -1))
    found = gb.concat([a, b])
    assert found.contig_id.values.tolist() == ["chr1", "chr2"]
    assert np.array_equal(found.call_genotype, named().call_genotype)


def test_chromosomes_are_joined_along_variants() -> None:
    whole = named()
    first, second = whole.isel(variants=slice(6)), whole.isel(variants=slice(6, None))
    second = second.assign(contig_id=("contigs", ["1", "2"])).isel(samples=slice(None, None, -1))
    found = gb.concat([first, second], "variants")
    assert np.array_equal(found.call_genotype, whole.call_genotype)
    assert found.contig_id.values.tolist() == ["chr1", "chr2"]
    assert found.variant_contig.values.tolist() == whole.variant_contig.values.tolist()
    assert found.sample_id.values.tolist() == whole.sample_id.values.tolist()
    inner = gb.concat([first, second.isel(samples=slice(4))], "variants", join="inner")
    assert inner.sample_id.values.tolist() == ["s6", "s7", "s8", "s9"]
    outer = gb.concat([first, second.isel(samples=slice(4))], "variants", join="outer")
    assert (outer.call_genotype[6:, :6] == -1).all()
    assert np.array_equal(outer.call_genotype[6:, 6:], whole.call_genotype[6:, 6:])


def test_filters_of_files_are_united() -> None:
    whole = named()
    parts = []
    for k, names in ((0, ["PASS", "q10"]), (1, ["s50", "PASS"])):
        part = whole.isel(variants=slice(6 * k, 6 * k + 6))
        passed = np.tile([True, False] if k == 0 else [True, True], (6, 1))
        parts.append(
            part.assign(
                filter_id=("filters", names), variant_filter=(("variants", "filters"), passed)
            )
        )
    found = gb.concat(parts, "variants")
    assert found.filter_id.values.tolist() == ["PASS", "q10", "s50"]
    assert found.variant_filter.values[[0, 6]].tolist() == [
        [True, False, False],
        [True, False, True],
    ]


def test_variants_are_matched_by_position() -> None:
    a, b = halves(named())
    b = b.assign(variant_id=("variants", ["."] * 12)).isel(variants=slice(None, None, -1))
    found = gb.concat([a, b])
    assert "12 variants by contig and position" in found.attrs["concat"]
    assert np.array_equal(found.call_genotype, named().call_genotype)
    assert gb.concat([b, a]).variant_id.values.tolist() == [f"rs{k}" for k in range(11, -1, -1)]


def test_variants_at_one_position_are_told_apart_by_alleles() -> None:
    whole = named()
    alleles = whole.variant_allele.values.copy()
    alleles[4] = ["G", "T"]
    whole = whole.assign(
        variant_position=whole.variant_position.where(
            np.arange(12) != 4, whole.variant_position[5]
        ),
        variant_allele=(("variants", "alleles"), alleles),
    )
    a, b = halves(whole)
    order = [0, 1, 2, 3, 5, 4, *range(6, 12)]
    other = recoded(b, exchanged=[4], flipped=[5]).isel(variants=order)
    found = gb.concat([a, other], on="position")
    assert np.array_equal(found.call_genotype, whole.call_genotype)
    same = (("variants", "alleles"), np.tile(["G", "A"], (12, 1)))
    with pytest.raises(ValueError, match=r"at variants=4 and at variants=5: keep one"):
        gb.concat([a, other.assign(variant_allele=same)], on="position")


def test_equal_lists_match_even_if_a_variant_repeats() -> None:
    whole = named()
    ids = whole.variant_id.values.copy()
    ids[5] = ids[4]
    position = whole.variant_position.values.copy()
    position[5] = position[4]
    whole = whole.assign(variant_id=("variants", ids), variant_position=("variants", position))
    found = gb.concat(halves(whole))
    assert np.array_equal(found.call_genotype, whole.call_genotype)


def of(change: Callable[[xr.Dataset], xr.Dataset], **options: Any) -> Callable[[], Any]:
    """A call whose second Dataset is changed."""

    def call() -> Any:
        a, b = halves(named())
        return gb.concat([a, change(b)], **options)

    return call


FAULTS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "one Dataset": (lambda: gb.concat(named()), TypeError, "takes a list of Datasets"),
    "no Dataset": (lambda: gb.concat([]), ValueError, "it is empty"),
    "a DataArray": (
        lambda: gb.concat([named(), named().call_genotype]),
        TypeError,
        r"datasets\[1\] is of type DataArray, expected a Dataset",
    ),
    "packed": (
        of(lambda b: b.genobit.pack()),
        ValueError,
        r"datasets\[1\] is packed: join the gen",
    ),
    "no calls": (
        of(lambda b: b.drop_vars("call_genotype")),
        KeyError,
        r"datasets\[1\]: the Dataset has no",
    ),
    "variants": (
        of(lambda b: b.isel(variants=slice(3, None))),
        ValueError,
        (
            r"3 of 12 variants of datasets\[0\] are not in datasets\[1\] by variant_id, first "
            r"variants=0 \('rs0'\): join='inner' keeps"
        ),
    ),
    "more variants": (
        lambda: gb.concat([halves(named())[0].isel(variants=slice(4)), halves(named())[1]]),
        ValueError,
        (
            r"8 of 12 variants of datasets\[1\] are not in datasets\[0\] by variant_id, first "
            r"variants=4 \('rs4'\)"
        ),
    ),
    "other ids": (
        of(lambda b: b.assign(variant_id=("variants", [f"x{k}" for k in range(12)]))),
        ValueError,
        r"datasets\[1\] has 'x0', 'x1', 'x2'; on='position' matches by contig and position",
    ),
    "another build": (
        of(lambda b: b.assign(variant_position=b.variant_position + 7)),
        ValueError,
        (
            r"12 of 12 shared variants have another place in datasets\[1\], first 'rs0' at "
            r"chr1:\d+ instead of chr1:\d+: bring all to one reference genome"
        ),
    ),
    "a repeated id": (
        of(
            lambda b: b.assign(variant_id=("variants", ["rs0", *b.variant_id.values[:-1]])), on="id"
        ),
        ValueError,
        r"variant_id of datasets\[1\] is 'rs0' at variants=0 and at variants=1: match by",
    ),
    "no names": (
        of(lambda b: b.drop_vars(["variant_id", "variant_position"])),
        KeyError,
        "variants are matched by variant_id, if each has its own, or by",
    ),
    "no ids": (
        of(lambda b: b.drop_vars("variant_id"), on="id"),
        KeyError,
        r"datasets\[1\] has no variant_id",
    ),
    "no alleles": (
        of(lambda b: b.drop_vars("variant_allele")),
        KeyError,
        r"datasets\[1\] has no variant_allele",
    ),
    "no samples": (
        of(lambda b: b.drop_vars("sample_id")),
        KeyError,
        r"datasets\[1\] has no sample_id, others",
    ),
    "other samples": (
        of(lambda b: b, dim="variants"),
        ValueError,
        "other samples are joined along dim='samples'",
    ),
    "one variant twice": (
        lambda: gb.concat([named(), named()], "variants"),
        ValueError,
        r"variant 'rs0' at variants=0 of datasets\[1\] is also in datasets\[0\], at variants=0",
    ),
    "dim": (of(lambda b: b, dim="sample"), ValueError, "dim='sample' is not one of.*'samples'"),
    "join": (of(lambda b: b, join="left"), ValueError, "join='left' is not one of"),
    "on": (of(lambda b: b, on="pos"), ValueError, "on='pos' is not one of 'id', 'position'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(fault: str) -> None:
    call, kind, message = FAULTS[fault]
    with pytest.raises(kind, match=message):
        call()


def test_a_call_of_an_unnamed_allele_is_refused_when_computed() -> None:
    a, b = halves(named())
    calls = b.call_genotype.copy(deep=True)
    calls[3, 2, 1] = 2
    found = gb.concat([a, recoded(b.assign(call_genotype=calls), exchanged=[0])])
    with pytest.raises(ValueError, match=r"call_genotype is 2 at variants=3, samples=2, and"):
        found.call_genotype.compute()


def test_without_alleles_the_report_says_so() -> None:
    parts = [part.drop_vars("variant_allele") for part in halves(named())]
    found = gb.concat(parts)
    assert np.array_equal(found.call_genotype, named().call_genotype)
    assert "alleles are not compared, because no Dataset has variant_allele" in found.concat


@pytest.mark.parametrize("dim", ["samples", "variants"])
def test_planes_are_those_of_the_whole(dim: str, tmp_path: Path) -> None:
    whole = named(variants=150, samples=70)
    whole = gb.open_plink(gb.to_plink(whole, tmp_path / "whole"))
    parts = []
    for k, part in enumerate((slice(None, 64), slice(64, None))):
        chosen = whole.isel({dim: part})
        parts.append(gb.open_plink(gb.to_plink(chosen, tmp_path / f"{dim}{k}")))
    found = gb.concat(parts, dim)
    for rows in ("variants", "samples"):
        ours, theirs = (ds.genobit.pack(rows=rows).compute() for ds in (found, whole))
        for name in ("plane_carrier", "plane_hom_alt", "plane_called"):
            assert np.array_equal(ours[name], theirs[name])
    # Chromosomes are packed from their files.
    layout = Layout("dosage", "variants", 70, 1)
    direct = packer.file_planes(found.call_genotype, layout, None)
    assert (direct is not None) == (dim == "variants")
    assert packer.file_planes(found.call_genotype[:, ::-1], layout, None) is None
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.call_genotype, whole.call_genotype)


def bmerged(fileset: Path, folder: Path, seed: int) -> tuple[xr.Dataset, xr.Dataset, int]:
    """Halves of a fileset, the second one recoded: joined by us, by plink, and its flips."""
    rng = np.random.default_rng(seed)
    whole = gb.open_plink(fileset)
    first = rng.permutation(whole.sizes["samples"]) < whole.sizes["samples"] // 2
    pairs = np.stack([whole.sample_family_id, whole.sample_id], axis=1)
    for name, chosen in (("a", first), ("b", ~first)):
        keep, leave = folder / f"{name}.keep", folder / f"{name}.leave"
        keep.write_text("".join(f"{f} {s}\n" for f, s in pairs[chosen]))
        some = rng.random(whole.sizes["variants"]) < 0.1
        leave.write_text("".join(f"{x}\n" for x in whole.variant_id.values[some]))
        options = ("--keep", keep, "--exclude", leave, "--keep-allele-order", "--make-bed")
        plink(fileset, folder / name, *options)
    b = gb.open_plink(folder / "b")
    chosen = rng.random((2, b.sizes["variants"])) < 0.3
    single = [len("".join(pair)) == 2 and "0" not in pair for pair in b.variant_allele.values]
    lines = zip(b.variant_id.values, b.variant_allele.values[:, 0], strict=True)
    exchanged = [f"{v} {a}\n" for (v, a), x in zip(lines, chosen[0] & single, strict=True) if x]
    (folder / "exchange").write_text("".join(exchanged))
    (folder / "flip").write_text("\n".join(b.variant_id.values[chosen[1] & single]))
    a1 = ("--a1-allele", folder / "exchange", 2, 1)
    plink(folder / "b", folder / "c", *a1, "--flip", folder / "flip", "--make-bed")
    merge = ("--keep-allele-order", "--make-bed")
    plink_log(folder / "a", folder / "m", "--bmerge", folder / "c", *merge)
    refused = folder / "m-merge.missnp"
    flips = len(refused.read_text().split()) if refused.exists() else 0
    if flips:
        plink(folder / "c", folder / "d", "--flip", refused, *merge)
        plink(folder / "a", folder / "m", "--bmerge", folder / "d", *merge)
    ours = gb.concat([gb.open_plink(folder / "a"), gb.open_plink(folder / "c")], join="outer")
    return ours, gb.open_plink(folder / "m"), flips


def require_equal(ours: xr.Dataset, theirs: xr.Dataset, flips: int) -> None:
    places = [
        {name: k for k, name in enumerate(theirs[label].values)}
        for label in ("variant_id", "sample_id")
    ]
    # plink sorts samples, and variants of one position.
    variants = [places[0][name] for name in ours.variant_id.values]
    samples = [places[1][name] for name in ours.sample_id.values]
    theirs = theirs.isel(variants=variants, samples=samples)
    assert np.array_equal(ours.variant_position, theirs.variant_position)
    assert (np.diff(variants) >= -1).all()
    assert ours.variant_allele.values.tolist() == theirs.variant_allele.values.tolist()
    sums = [ds.call_genotype.sum("ploidy").values for ds in (ours, theirs)]
    assert np.array_equal(*sums)
    assert ours.attrs["variants_flipped"] == flips


@PLINK
def test_cohorts_are_those_of_bmerge(tmp_path: Path) -> None:
    calls = random_calls(5, 400, 60, missing=0.0)
    missing = np.random.default_rng(6).random(calls.shape[:2]) < 0.05
    ds = cohort(np.where(missing[:, :, None], np.int8(-1), calls), contigs=3)
    rng = np.random.default_rng(7)
    names = np.array([rng.permutation(list("ACGT"))[:2] for _ in range(400)], object)
    ds = ds.assign(variant_allele=(("variants", "alleles"), names))
    ds = ds.assign(sample_family_id=("samples", [f"f{k // 3}" for k in range(60)]))
    fileset = gb.to_plink(ds, tmp_path / "whole")
    ours, theirs, flips = bmerged(Path(fileset).with_suffix(""), tmp_path, 1)
    assert flips > 50
    require_equal(ours, theirs, flips)


@PLINK
@pytest.mark.parametrize(
    "name",
    ["lct_1kg/lct_1kg", "kg1_chr22/kg1_chr22_maf01", "mice_hs/mice_hs", "asthma_cc/asthma_cc"],
)
def test_published_cohorts_are_those_of_bmerge(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    ours, theirs, flips = bmerged(shared_data / name, tmp_path, 2)
    assert flips
    require_equal(ours, theirs, flips)


def one_sample(
    calls: Any, alleles: list[list[str]], name: str, ids: Any = None, position: Any = None
) -> xr.Dataset:
    """A cohort of one sample on chromosome 1."""
    n = len(alleles)
    width = max(map(len, alleles))
    names = np.array([row + [""] * (width - len(row)) for row in alleles], object)
    ds = xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), np.array(calls)[:, None]),
            "variant_allele": (("variants", "alleles"), names),
            "variant_contig": ("variants", np.zeros(n, int)),
            "contig_id": ("contigs", np.array(["1"], object)),
            "sample_id": ("samples", [name]),
        }
    )
    if ids is not None:
        ds = ds.assign(variant_id=("variants", np.array(ids, object)))
    if position is not None:
        ds = ds.assign(variant_position=("variants", np.array(position)))
    return ds


def test_alleles_from_128_up_stay() -> None:
    alleles = [[f"A{'C' * k}" for k in range(130)]]
    a = one_sample(np.array([[0, 129]], np.int16), alleles, "a", ["x"])
    b = one_sample(np.array([[0, 129]], np.int16), [alleles[0][::-1]], "b", ["x"])
    assert gb.concat([a, b]).call_genotype.values.tolist() == [[[0, 129], [129, 0]]]
    few = one_sample(np.array([[0, 1]], np.int8), [alleles[0][:-3:-1]], "b", ["x"])
    assert gb.concat([a, few]).call_genotype.values.tolist() == [[[0, 129], [129, 128]]]


def test_another_build_is_seen_beside_variants_without_ids() -> None:
    a, b = (
        part.assign(variant_id=("variants", [*part.variant_id.values[:-1], "."]))
        for part in halves(named())
    )
    assert np.array_equal(gb.concat([a, b]).call_genotype, named().call_genotype)
    moved = b.assign(variant_position=b.variant_position + 10)
    with pytest.raises(ValueError, match=r"11 of 11 shared variants have another place in"):
        gb.concat([a, moved], join="inner")
    other = b.assign(variant_id=("variants", [f"x{k}" for k in range(11)] + ["."]))
    assert "contig and position, 11 of them have other ids" in gb.concat([a, other]).concat


@pytest.mark.parametrize("ids", [None, [".", "."]])
@pytest.mark.parametrize(
    ("ours", "theirs", "order"),
    [
        ([["G", "GA"], ["GA", "G"]], [["GA", "G"], ["G", "GA"]], None),
        ([["A", "C"], ["A", "C", "G"]], [["A", "C", "G"], ["A", "C"]], [1, 0]),
        ([["A", "C"], ["A", "G"]], [["A", "G"], ["A", "C"]], [1, 0]),
        ([["A", "C"], ["A", "G"]], [["C", "A"], ["T", "C"]], [0, 1]),
    ],
)
def test_equal_positions_match_by_alleles(
    ids: Any, ours: list[list[str]], theirs: list[list[str]], order: list[int] | None
) -> None:
    a = one_sample([[0, 0], [1, 1]], ours, "a", ids, [100, 100])
    b = one_sample([[0, 0], [1, 1]], theirs, "b", ids, [100, 100])
    if order is None:
        with pytest.raises(ValueError, match=r"is '1:100 .*' at variants=0 and at variants=1"):
            gb.concat([a, b])
        return
    found = gb.concat([a, b])
    assert found.call_genotype.values[:, 0].tolist() == [[0, 0], [1, 1]]
    for row, k in enumerate(order):
        call = found.call_genotype.values[row, 1]
        other = theirs[k][k]
        assert found.variant_allele.values[row, call[0]] in {other, COMPLEMENT.get(other)}


def test_fields_that_count_alleles_are_left_out_after_an_exchange() -> None:
    whole = named()
    fields = {
        name: (("variants", "samples"), np.ones((12, 10))) for name in ("call_DS", "call_HDS")
    }
    a, b = halves(whole.assign(fields))
    b = b.assign(
        variant_AF=("variants", np.ones(12)),
        share=(("variants", "alleles"), np.ones((12, 2))),
        mean=("variants", np.ones(12)),
    )
    assert {"call_DS", "call_HDS", "variant_AF", "share"} <= set(gb.concat([a, b]).data_vars)
    found = gb.concat([a, recoded(b, exchanged=[3])])
    assert not {"call_DS", "call_HDS", "variant_AF", "share"} & set(found.data_vars)
    assert "mean" in found


def test_variants_without_a_place_match_by_id_only() -> None:
    a = one_sample([[0, 0], [1, 1]], [["G", "A"]] * 2, "a", ["rs1", "."], [0, 5])
    b = one_sample([[0, 1], [1, 1]], [["G", "A"]] * 2, "b", ["rs2", "."], [0, 5])
    assert gb.concat([a, b], join="inner").sizes["variants"] == 1
    assert gb.concat([a, b], join="outer").sizes["variants"] == 3
    blank = [part.drop_vars("variant_position").assign(variant_id=("variants", [".", "."]))
             for part in (a, b)]  # fmt: skip
    with pytest.raises(KeyError, match="variants are matched by variant_id, if each has its own"):
        gb.concat(blank)


def test_overlapping_chromosomes_are_refused_without_ids() -> None:
    whole = named().drop_vars("variant_id")
    parts = [whole.isel(variants=slice(8)), whole.isel(variants=slice(6, None))]
    with pytest.raises(
        ValueError, match=r"variants=0 of datasets\[1\] is also in datasets\[0\], at"
    ):
        gb.concat(parts, "variants")
    # Another allele is another variant.
    alleles = np.tile(np.array(["G", "T"], object), (6, 1))
    parts[1] = parts[1].assign(variant_allele=(("variants", "alleles"), alleles))
    assert gb.concat(parts, "variants").sizes["variants"] == 14


def test_an_allele_without_a_name_does_not_become_that_of_another_file() -> None:
    a = one_sample([[0, 1]], [["G", "A"]], "a", ["x"])
    b = one_sample([[0, 1]], [["G", "0"]], "b", ["x"])
    with pytest.raises(ValueError, match=r"call_genotype is 1 at .* has no name for this allele"):
        gb.concat([a, b]).call_genotype.compute()
    # If no file names it, it stays.
    assert gb.concat([b, b.assign(sample_id=("samples", ["c"]))]).call_genotype.values.tolist() == [
        [[0, 1], [0, 1]]
    ]


def test_odd_types_are_left_out_or_filled() -> None:
    a, b = halves(named().isel(variants=slice(6)))
    dims = ("variants", "samples")
    fields: dict[str, np.ndarray] = {
        "call_U": np.full((6, 10), "abc"),
        "call_u": np.ones((6, 10), np.uint8),
    }
    a, b = (part.assign({n: (dims, v[:, : part.sizes["samples"]]) for n, v in fields.items()})
            for part in (a, b))  # fmt: skip
    a = a.assign(when=("samples", np.full(4, "2020-01-01", "datetime64[ns]")))
    b = b.assign(when=("samples", np.arange(6)))
    found = gb.concat([a, b.isel(variants=slice(3, None))], join="outer")
    assert found.call_U.values[0, 4:].tolist() == ["."] * 6
    assert "call_u (its type has no missing value)" in found.concat
    assert "when (types differ)" in found.concat
    bad = b.assign(variant_position=b.variant_position.where(b.variant_position > 900))
    with pytest.raises(ValueError, match=r"variant_position of datasets\[1\] is nan at variants=0"):
        gb.concat([a, bad], on="position")
    for wrong in (None, 7, "x"):
        with pytest.raises(TypeError, match="concat takes a list of Datasets"):
            gb.concat(wrong)


def test_text_of_joined_cohorts_joins_again() -> None:
    parts = [named().isel(samples=slice(2 * k, 2 * k + 2)) for k in range(3)]
    parts[0] = parts[0].assign(pop=("samples", ["x", "x"]))
    parts[2] = parts[2].assign(pop=("samples", ["y", "y"]))
    flat = gb.concat(parts)
    nested = gb.concat([gb.concat(parts[:2]), parts[2]])
    assert nested["pop"].values.tolist() == flat["pop"].values.tolist()


def test_indexes_and_counts_of_parts_stay() -> None:
    whole = named().set_index(samples="sample_id")
    a, b = halves(whole)
    assert gb.concat([a, b]).sel(samples="s3").sizes["variants"] == 12
    first, second = (
        gb.concat([halves(part)[0], recoded(halves(part)[1], exchanged=[0])])
        for part in (named().isel(variants=slice(6)), named().isel(variants=slice(6, None)))
    )
    assert gb.concat([first, second], "variants").attrs["variants_exchanged"] == 2


def test_fields_of_variants_of_several_files(tmp_path: Path) -> None:
    header = "##fileformat=VCFv4.3\n"
    info = (
        '##INFO=<ID=AF,Number=A,Type=Float,Description="x">\n'
        '##INFO=<ID=DP,Number=1,Type=Integer,Description="x">\n'
        '##INFO=<ID=DB,Number=0,Type=Flag,Description="x">\n'
        '##FILTER=<ID=q10,Description="Low">\n'
    )
    columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\n"
    paths = [tmp_path / f"c{k}.vcf" for k in (1, 2)]
    paths[0].write_text(
        header + info + columns + "1\t5\t.\tA\tC,G\t.\tq10\tAF=0.1,0.2;DP=7;DB\tGT\t0/2\n"
    )
    paths[1].write_text(header + info + columns + "2\t5\t.\tA\tC\t.\tPASS\tAF=0.3\tGT\t0/1\n")
    found = gb.open_vcf(paths, fields=["INFO/AF", "INFO/DP", "INFO/DB"], cache_dir=False)
    assert found.variant_AF.chunks is not None
    assert found.variant_AF.values[0].tolist() == pytest.approx([0.1, 0.2])
    assert found.variant_AF.values[1, 0] == pytest.approx(0.3)
    assert np.isnan(found.variant_AF.values[1, 1])
    assert found.variant_DP.values.tolist() == [7, -1]
    assert found.variant_DB.values.tolist() == [True, False]
    assert found.filter_id.values.tolist() == ["PASS", "q10"]
    assert found.filter_description.values.tolist() == ["", "Low"]
    # A file of another format has no filters.
    ped = one_sample([[0, 1]], [["A", "C"]], "s1", ["x"], [9]).assign(
        contig_id=("contigs", np.array(["3"], object))
    )
    mixed = gb.concat([found, ped], "variants")
    assert mixed.variant_filter.values.tolist() == [[False, True], [True, False], [False, False]]
    assert mixed.variant_DP.values.tolist() == [7, -1, -1]
    assert mixed.filter_description.values.tolist() == ["", "Low"]
    gb.to_vcf(mixed, tmp_path / "out.vcf")
