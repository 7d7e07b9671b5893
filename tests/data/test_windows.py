"""Windows over variants, and the placeholders for unknown places that they leave out or refuse."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data.windows import contig_runs, window_ends
from tests.helpers.cohorts import cohort
from tests.helpers.programs import PLINK, plink


def linked(contig: Any, position: Any) -> xr.Dataset:
    """Variants that differ in a few calls, at the given places."""
    rng = np.random.default_rng(7)
    n = len(position)
    calls = np.repeat(rng.integers(0, 2, (1, 80, 2), "int8"), n, axis=0)
    other = rng.random((n, 80)) < 0.1
    calls[other] = rng.integers(0, 2, (int(other.sum()), 2))
    ds = cohort(np.sort(calls, axis=2)).drop_vars(["contig_id", "variant_genetic_position"])
    return ds.assign(
        variant_contig=("variants", np.array(contig, object)),
        variant_position=("variants", np.array(position)),
        variant_id=("variants", [f"v{k}" for k in range(n)]),
        variant_allele=(("variants", "alleles"), np.array([["A", "C"]] * n)),
        sample_id=("samples", [f"s{k}" for k in range(80)]),
    )


# Three variants without a place before two contigs.
MIXED = (["0", "0", "0", "1", "1", "2", "2"], [0, 10, 10, 10, 20, 5, 6])


@pytest.mark.parametrize("window", [5, "1kb"])
def test_unplaced_variants__are_in_no_window_but_their_own(window: int | str) -> None:
    ds = linked(*MIXED)
    assert window_ends(ds, window).tolist() == [0, 1, 2, 4, 4, 6, 6]
    assert contig_runs(ds).placed.tolist() == [False, True, True]
    pairs = ds.genobit.ld_pairs(threshold=0.01, window=window).to_dataframe()
    assert sorted(zip(pairs.variant_0, pairs.variant_1, strict=True)) == [(3, 4), (5, 6)]


def test_unplaced_variants__in_each_analysis_of_neighbours() -> None:
    ds = linked(*MIXED)
    keep = ds.genobit.ld_prune(5, 1, 0.2)
    assert not keep.values[:3].any()
    assert keep.attrs["unplaced"] == 3
    assert ds.genobit.ld_decay("1kb").pairs.sum() == 2
    assert set(ds.genobit.ld_blocks("1kb").block.values[:3]) == {-1}
    clumps = ds.genobit.ld_clump(np.geomspace(1e-9, 1e-5, 7), window="1kb")
    assert clumps.total.values[np.isin(clumps.index_variant, [0, 1, 2])].tolist() == [0, 0, 0]
    np.testing.assert_allclose(ds.genobit.ld_score("1kb")["ld_score"][:3], 1)


def test_unnamed_numbers_of_contigs__count_from_0() -> None:
    ds = linked([0, 0, 1, 1], [1, 2, 1, 2])
    ds["variant_contig"] = ds.variant_contig.astype(int)
    assert contig_runs(ds).placed.all()


@PLINK
def test_pruning_leaves_out_unplaced_variants_as_plink(tmp_path: Path) -> None:
    gb.to_plink(linked(*MIXED), tmp_path / "mixed")
    plink(tmp_path / "mixed", tmp_path / "out", "--indep-pairwise", "5", "1", "0.2")
    ds = gb.open_plink(tmp_path / "mixed")
    keep = ds.genobit.ld_prune(5, 1, 0.2).values
    expected = (tmp_path / "out.prune.in").read_text().split()
    assert ds.variant_id.values[keep].tolist() == expected


@pytest.mark.parametrize(
    ("contig", "position", "message"),
    [
        ("0000", [1, 2, 3, 4], r"'0' for all 4 variants.*ds.drop_vars\("),
        ("1111", [-1, 2, 3, 4], "variant_position is -1 at variants=0; negative positions"),
        ("1122", [1, 2, 0, 0], "variant_position is 0 at variants=2; so are all 2 of its contig"),
        ("1111", [1.0, np.nan, 3, 4], "is not a number at variants=1"),
    ],
)
def test_windows_refuse_placeholders(contig: str, position: list[Any], message: str) -> None:
    ds = linked([*contig], position)
    asked = (
        lambda: ds.genobit.ld_prune("1kb"),
        lambda: ds.genobit.ld_decay("1kb"),
        lambda: ds.genobit.ld_pairs(threshold=0.2, window="1kb"),
        lambda: ds.genobit.ld_blocks("1kb"),
        lambda: ds.genobit.ld_score("1kb"),
    )
    for call in asked:
        with pytest.raises(ValueError, match=message):
            call()


def test_remedy_for_unplaced_variants__takes_all_for_one_contig() -> None:
    ds = linked(["0"] * 4, [0, 0, 0, 0])
    kept = ds.drop_vars(["variant_contig", "contig_id"], errors="ignore").genobit.ld_prune(5, 1)
    assert 0 < kept.sum() < 4
    assert window_ends(linked(["1"] * 4, [0, 0, 0, 0]), 5).tolist() == [3] * 4


def test_one_variant_at_position_0__has_a_place() -> None:
    assert window_ends(linked(["1", "1"], [0, 5]), "1kb").tolist() == [1, 1]
    assert window_ends(linked(["1"], [0]), "1kb").tolist() == [0]


@pytest.mark.parametrize("table", [".bim", ".pvar"])
def test_variants_with_a_negative_position__are_skipped_as_in_plink(
    table: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ds = linked(["1"] * 4, [5, 6, 7, 8])
    write, read = (gb.to_plink, gb.open_plink) if table == ".bim" else (gb.to_pgen, gb.open_pgen)
    if table == ".pvar":
        pytest.importorskip("pgenlib")
    write(ds, tmp_path / "x")
    path = tmp_path / f"x{table}"
    path.write_text(path.read_text().replace("\t6\t", "\t-6\t"))
    with caplog.at_level(logging.WARNING, "genobit"):
        found = read(tmp_path / "x")
    assert found.variant_id.values.tolist() == ["v0", "v2", "v3"]
    np.testing.assert_array_equal(
        found.call_genotype.sum("ploidy"), ds.call_genotype.sum("ploidy")[[0, 2, 3]]
    )
    packed = found.genobit.pack().genobit.ld().values
    np.testing.assert_allclose(packed, ds.isel(variants=[0, 2, 3]).genobit.ld().values)
    note = found.variant_position.attrs["note"]
    assert note in caplog.text
    assert "1 of 4 variants" in note
    assert "'v1'" in note


def test_negative_genetic_positions__are_unknown(tmp_path: Path) -> None:
    ds = linked(["1"] * 3, [5, 6, 7])
    for given, expected in (([-9, 1.5, 2], [np.nan, 1.5, 2]), ([-9, -9, 0], None)):
        placed = ds.assign(variant_genetic_position=("variants", np.array(given, float)))
        folder = tmp_path / str(given[1])
        folder.mkdir()
        gb.to_plink(placed, folder / "x")
        found = gb.open_plink(folder / "x")
        assert ("variant_genetic_position" in found) == (expected is not None)
        if expected is not None:
            np.testing.assert_array_equal(found.variant_genetic_position, expected)


@pytest.mark.parametrize("codes", [[-1, 1, 2, 0], ["", "M", "F", "0"], ["0", "1", "f", ""]])
def test_codes_of_sexes(codes: list[Any]) -> None:
    ds = linked(["X"] * 3, [5, 6, 7])
    found = ds.assign(sample_sex=("samples", np.repeat(np.array(codes), 20)))
    right = ds.assign(sample_sex=("samples", np.repeat([0, 1, 2, 0], 20)))
    stats, expected = found.genobit.variant_stats(), right.genobit.variant_stats()
    np.testing.assert_array_equal(stats.allele_frequency, expected.allele_frequency)


def test_contig_0__is_named_and_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    ds = linked(*MIXED).assign(variant_contig=("variants", ["chr0"] * 3 + ["chr1"] * 4))
    with caplog.at_level(logging.WARNING, "genobit"):
        assert ds.genobit.ld_prune(5, 1).attrs["unplaced"] == 3
    assert caplog.text.count("3 variants are on contig 0") == 1
    unnamed = ds.assign(variant_contig=("variants", np.repeat([0, 1], [3, 4])))
    for write in (gb.to_plink, gb.to_pgen, gb.to_vcf, gb.to_vcf_zarr):
        with pytest.raises(ValueError, match="variant_contig has 0 without a name in contig_id"):
            write(unnamed, tmp_path / "x.vcf")
