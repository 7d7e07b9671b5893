"""Haplotype blocks against plink 1.9 and against the rule pair by pair; chunks; labels; errors."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.ld.blocks import parse_span
from genobit.ld.kernels import blocks as kernel
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.helpers.programs import PLINK, plink
from tests.helpers.reference import dosages, dprime_interval, haplotype_blocks
from tests.ld.filesets import FILESETS, founders

X = {"hapmap279/hapmap279": "23", "mice_hs/mice_hs": "X"}
"""X chromosomes, where plink counts a male's allele once; here a Dataset is diploid."""


def plink_blocks(path: Path) -> set[tuple[str, int, int, str]]:
    table = pd.read_csv(path, sep=r"\s+", dtype={"CHR": str})
    return set(table[["CHR", "BP1", "BP2", "SNPS"]].itertuples(index=False, name=None))


def blocks_of(ds: xr.Dataset) -> set[tuple[str, int, int, str]]:
    contig, block = ds.contig.values.astype(str), ds["block"].values
    names = ["|".join(ds.variant_id.values[block == k]) for k in range(ds.sizes["blocks"])]
    ends = ds.first_position.values.tolist(), ds.last_position.values.tolist()
    return set(zip(contig.tolist(), *ends, names, strict=True))


def frequent(ds: xr.Dataset) -> xr.Dataset:
    """Variants with a minor allele frequency of 0.05 in all samples: plink counts nonfounders."""
    frequency = ds.genobit.allele_frequency().values
    return ds.isel(variants=np.minimum(frequency, 1 - frequency) >= 0.05 * (1 - 1e-9))


@pytest.mark.parametrize("fileset", FILESETS)
def test_blocks__equal_plink(shared_data: Path, fileset: str) -> None:
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    kept = founders(ds)
    bits = frequent(ds.genobit.pack()).genobit.isel(samples=kept)
    found = bits.genobit.ld_blocks(min_maf=0)
    if kept.all():
        np.testing.assert_array_equal(found["first_id"], ds.genobit.ld_blocks()["first_id"])
    # On autosomes, the same blocks of the same variants.
    right = plink_blocks((shared_data / fileset).parent / "ref/blocks.blocks.det.gz")
    ours, theirs = (
        {b for b in blocks if b[0] not in {X.get(fileset), "20" if "mice" in fileset else "23"}}
        for blocks in (blocks_of(found), right)
    )
    assert ours == theirs
    assert found.sizes["blocks"] == len(ours) + (found.contig == X.get(fileset)).sum()


@PLINK
@pytest.mark.parametrize(("fileset", "name"), [*X.items()])
def test_blocks_of_females_on_x__equal_plink(
    shared_data: Path, tmp_path: Path, fileset: str, name: str
) -> None:
    species = ["--mouse"] if "mice" in fileset else []
    only = ("--chr", "X", "--filter-females", "--filter-founders", "--keep-allele-order")
    plink(shared_data / fileset, tmp_path / "x", *species, *only, "--blocks", "no-pheno-req")
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    on_x = ds.contig_id.values[ds.variant_contig.values] == name
    females = founders(ds) & (ds.sample_sex.values == 2)
    bits = ds.isel(variants=on_x).genobit.pack().genobit.isel(samples=females)
    found = {block[1:] for block in blocks_of(bits.genobit.ld_blocks())}
    assert len(found) > 1
    assert found == {block[1:] for block in plink_blocks(tmp_path / "x.blocks.det")}


# An example takes the slow twin a quarter of a second, for the intervals of about 150 pairs.
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    samples=st.integers(20, 150),
    missing=st.sampled_from([0.0, 0.05]),
    scale=st.sampled_from([1, 20]),
)
def test_blocks__equal_the_rule_pair_by_pair(
    seed: int, samples: int, missing: float, scale: int
) -> None:
    calls = mosaic_calls(seed, 24, samples, missing=missing)
    ds = cohort(calls)
    # Windows that end between the variants, and blocks of two and three that are too long.
    ds["variant_position"] = ds["variant_position"] * scale * 2
    found = ds.genobit.ld_blocks("100kb", min_maf=0)
    right = haplotype_blocks(dosages(calls), ds.variant_position.values, 100_000)
    assert list(zip(found["first"].values, found["last"].values, strict=True)) == right


def test_kinds_of_pairs__are_those_of_the_interval() -> None:
    scratch = np.empty(101)
    seen = set()
    for known in product((0, 2, 9, 40, 300), (3, 60), (0, 1, 8, 50), (0, 2, 25), (0, 4, 30)):
        interval = dprime_interval(known)
        found = kernel.kind_of_pair(*map(float, known), scratch)
        seen.add(found)
        if interval is None:
            assert found == kernel.NEITHER
            continue
        low, high = interval
        if high < 98:
            assert found == (kernel.RECOMBINED if high < 90 else kernel.NEITHER)
        else:
            above = [low > 80, low > 70, low >= 70, low > 50]
            assert found == (5 - above.index(True) if any(above) else kernel.NEITHER)
    assert seen >= {kernel.RECOMBINED, kernel.NEITHER, kernel.UPPER, kernel.STRONG, 5}


@given(seed=st.integers(0, 2**16), rows=st.integers(1, 70), missing=st.sampled_from([0.0, 0.02]))
def test_blocks__do_not_depend_on_chunks(seed: int, rows: int, missing: float) -> None:
    ds = cohort(mosaic_calls(seed, 140, 60, missing=missing), contigs=2)
    right = ds.genobit.ld_blocks("5kb")
    with gb.set_options(chunk_rows=rows):
        xr.testing.assert_identical(ds.genobit.pack().genobit.ld_blocks("5kb"), right)


def test_blocks__of_many_passes_and_more_rows_than_a_panel() -> None:
    ds = cohort(mosaic_calls(3, 300, 60), contigs=3)
    right = ds.genobit.ld_blocks()
    assert right.sizes["blocks"] > 20
    with gb.set_options(chunk_rows=3):
        xr.testing.assert_identical(ds.genobit.pack().genobit.ld_blocks(), right)
    alone = [ds.isel(variants=ds.variant_contig.values == c).genobit.ld_blocks() for c in range(3)]
    np.testing.assert_array_equal(right["n"], np.concatenate([one["n"] for one in alone]))


def test_blocks__have_labels() -> None:
    calls = mosaic_calls(3, 60, 80)
    calls[5] = 0
    ds = cohort(calls, contigs=2, phased=True)
    found = ds.genobit.ld_blocks()
    block = found["block"].values
    assert block[5] == -1
    for k in range(found.sizes["blocks"]):
        one = found.isel(blocks=k)
        inside = np.flatnonzero(block == k)
        assert (one["first"], one["last"], one["n"]) == (inside[0], inside[-1], inside.size)
        assert one.last_id == ds.variant_id[inside[-1]]
        assert one.last_position == ds.variant_position[inside[-1]]
        length = one.last_position - one.first_position + 1
        assert one.kb == pytest.approx(length.item() / 1000)
        assert one.contig == f"chr{ds.variant_contig.values[inside[0]] + 1}"
    np.testing.assert_array_equal(found["variant_id"], ds["variant_id"])
    phased = ds.genobit.pack(phased=True).genobit.ld_blocks()
    xr.testing.assert_equal(phased, found)


def test_blocks__of_nothing() -> None:
    ds = cohort(mosaic_calls(3, 20, 30))
    none = ds.genobit.pack().isel(variants=slice(0))
    for one in (none, ds.isel(variants=[3]), ds.isel(samples=[0])):
        found = one.genobit.ld_blocks()
        assert found.sizes["blocks"] == 0
        assert (found["block"].values == -1).all()
        assert found.contig.shape == (0,)


def test_variants_between_two_blocks_of_one_length() -> None:
    # Six variants at two positions: of candidates as long the one that begins last is taken, and
    # no block lies over another.
    found = kernel.Candidates(np.array([0, 1, 2]), np.array([5, 3, 3]))
    first, last = kernel.largest_first(found, np.array([10, 10, 10, 20, 20, 20]))
    assert (first.tolist(), last.tolist()) == ([2], [3])


def test_blocks__refuse() -> None:
    ds = cohort(mosaic_calls(3, 20, 30))
    for span in (100, "1cM", "far"):
        with pytest.raises(ValueError, match=r"base pairs|neither a positive number"):
            ds.genobit.ld_blocks(span)
    with pytest.raises(ValueError, match=r"min_maf=0.7 is outside \[0, 0.5\]"):
        ds.genobit.ld_blocks(min_maf=0.7)
    with pytest.raises(KeyError, match=r"ld_blocks\(\) needs the variable 'variant_position'"):
        ds.drop_vars("variant_position").genobit.ld_blocks()
    wrong = ds.isel(variants=[*range(10), 3, *range(10, 20)])
    with pytest.raises(ValueError, match="decreases or is not a number at variants=10"):
        wrong.genobit.ld_blocks(min_maf=0.3)


def test_blocks__hold_few_chunks_at_a_time() -> None:
    calls = mosaic_calls(3, 100, 40)
    made: list[int] = []

    def chunk(block_info=None):
        start = block_info[None]["array-location"][0][0]
        made.append(start)
        return calls[np.arange(start, start + 10) % 100]

    lazy = da.map_blocks(
        chunk, chunks=((10,) * 200, (40,), (2,)), dtype=np.int8, meta=np.empty((0, 0, 0), np.int8)
    )
    ds = cohort(np.empty((2000, 40, 2), np.int8))
    ds["call_genotype"] = (("variants", "samples", "ploidy"), lazy)
    with gb.set_options(chunk_rows=10):
        found = ds.genobit.ld_blocks("10kb", min_maf=0.1)
    assert found.sizes["blocks"] > 100
    # Once for the frequencies and once for the blocks, and again what two passes share.
    assert 400 <= len(made) < 440


def test_a_span_in_other_units__is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="window='200 miles' is neither"):
        parse_span("200 miles")
