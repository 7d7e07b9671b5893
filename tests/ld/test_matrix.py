"""Linkage disequilibrium against plink 1.9, vcftools and scikit-allel; windows; memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import allel
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import example, given
from hypothesis import strategies as st

import genobit as gb
from genobit.data.windows import ContigRuns, last_in_window, parse_window
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import run
from tests.helpers.reference import dosages, window_pairs
from tests.ld.filesets import FILESETS, PRINTED, founders, listed


@pytest.mark.parametrize("fileset", FILESETS)
@pytest.mark.parametrize(("statistic", "file"), [("r", "r200.ld.gz"), ("r2", "r2_200.ld.gz")])
def test_dosages__equal_plink(shared_data: Path, fileset: str, statistic: str, file: str) -> None:
    ref = (shared_data / fileset).parent / "ref"
    expected = np.loadtxt(ref / file)
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    kept = founders(ds)
    assert kept.sum() == {"hapmap279/hapmap279": 219}.get(fileset, ds.sizes["samples"])
    ids = listed(ds, ref / "first200.txt")
    assert expected.shape == (ids.size, ids.size)

    bits = ds.genobit.pack().genobit.isel(samples=kept)
    found = bits.isel(variants=ids).genobit.ld(statistic).values
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=PRINTED, atol=1e-9)
    # The same through int8 calls, samples chosen before packing.
    calls = ds.isel(samples=kept, variants=ids)
    np.testing.assert_array_equal(calls.genobit.ld(statistic), found)


def test_founders_matter(shared_data: Path) -> None:
    ds = gb.open_plink(shared_data / "hapmap279/hapmap279.bed")
    ids = listed(ds, shared_data / "hapmap279/ref/first200.txt")
    everyone = ds.isel(variants=ids).genobit.ld("r").values
    expected = np.loadtxt(shared_data / "hapmap279/ref/r200.ld.gz")
    assert np.nanmax(np.abs(everyone - expected)) > 0.1


def vcftools(path: Path) -> pd.DataFrame:
    with gzip.open(path, "rt") as lines:
        return pd.read_csv(lines, sep="\t")


def values_at(matrix: xr.DataArray, table: pd.DataFrame) -> np.ndarray:
    """Values of the pairs of positions that a table lists."""
    position = pd.Index(matrix.variant_position_0.values)
    assert position.is_unique
    i, j = (position.get_indexer(table[name]) for name in ("POS1", "POS2"))
    assert (i >= 0).all()
    assert (j >= 0).all()
    return matrix.values[i, j]


def common(ds: xr.Dataset, least: float) -> xr.Dataset:
    """Packed haplotypes of the variants with a minor allele frequency of at least `least`."""
    bits = ds.genobit.pack(phased=True)
    frequency = bits.genobit.allele_frequency().values
    return bits.isel(variants=np.minimum(frequency, 1 - frequency) >= least)


@pytest.fixture(scope="module")
def phased(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.Dataset]:
    cache = tmp_path_factory.mktemp("vcf")
    kg1 = gb.open_vcf(
        shared_data / "kg1_chr22/kg1_chr22.vcf.gz", region="22:1-20040000", cache_dir=cache
    )
    kg3 = gb.open_vcf(shared_data / "kg3_chr21/kg3_chr21.vcf.gz", cache_dir=cache)
    return {"kg1": common(kg1, 0.1), "kg3": common(kg3, 0.05)}


REFERENCES = {
    "kg1": "kg1_chr22/ref/maf10_to20.04Mb.hap.ld.gz",
    "kg3": "kg3_chr21/ref/maf05.hap.ld.gz",
}


@pytest.mark.parametrize("name", REFERENCES)
def test_haplotypes__equal_vcftools(
    shared_data: Path, phased: dict[str, xr.Dataset], name: str
) -> None:
    bits = phased[name]
    table = vcftools(shared_data / REFERENCES[name])
    n = bits.sizes["variants"]
    assert len(table) == n * (n - 1) // 2
    assert (table["N_CHR"] == bits.attrs["genobit_bits"]).all()
    for statistic, column in (("r2", "R^2"), ("D", "D"), ("dprime", "Dprime")):
        found = values_at(bits.genobit.ld(statistic), table)
        # vcftools gives D' as D over the largest |D| of its sign, with D's sign; so do we. It sums
        # D from float64 frequencies: near 0 that leaves 1e-16.
        np.testing.assert_allclose(found, table[column], rtol=PRINTED, atol=1e-12)


def test_dosages__equal_vcftools(shared_data: Path, phased: dict[str, xr.Dataset]) -> None:
    table = vcftools(shared_data / "kg3_chr21/ref/maf05.geno.ld.gz")
    found = values_at(phased["kg3"].genobit.ld("r2", phased=False), table)
    np.testing.assert_allclose(found, table["R^2"], rtol=PRINTED, atol=1e-12)


@given(
    seed=st.integers(0, 2**32),
    samples=st.integers(2, 200),
    missing=st.sampled_from([0.0, 0.1]),
)
@example(seed=12520, samples=187, missing=0.0)  # r = -3 / 184 of an allele that is nearly fixed
def test_dosages__equal_scikit_allel(seed: int, samples: int, missing: float) -> None:
    calls = random_calls(seed, 12, samples, missing=missing)
    x = dosages(calls)
    # It computes in float32, and a variance as the mean of squares less the square of the mean: of
    # an allele that is nearly fixed 4 - 4 is left, off by 1e-3 of itself. So it counts the minor
    # allele, and r has its sign turned. Sums of up to 200 dosages are then 2e-7 each of a few
    # operations. Where a variant is monomorphic among the pair's calls its 0 / 0 may be off 0:
    # those are left out.
    major = np.nansum(x - 1, axis=1) > 0
    x[major] = 2 - x[major]
    with np.errstate(all="ignore"):
        condensed = allel.rogers_huff_r(np.nan_to_num(x, nan=-1).astype(np.int8))
    sign = np.where(major, -1, 1)
    r = cohort(calls).genobit.ld("r").values * np.outer(sign, sign)
    found = r[np.triu_indices(12, 1)]
    both = np.isfinite(found) & np.isfinite(condensed)
    np.testing.assert_allclose(found[both], condensed[both], atol=2e-6)
    assert not (np.isfinite(found) & ~np.isfinite(condensed)).any()


@pytest.mark.parametrize("window", [50, "200kb"])
def test_pairs_of_real_variants__are_those_of_the_matrix(
    shared_data: Path, window: int | str
) -> None:
    ds = gb.open_plink(shared_data / "lct_1kg/lct_1kg.bed")
    with gb.set_options(chunk_rows=128):
        bits = ds.genobit.pack()
        square = bits.genobit.ld("r2").values
        table = bits.genobit.ld_pairs(threshold=0.8, window=window).to_dataframe()
    coordinate, size = (
        (None, window) if isinstance(window, int) else (ds.variant_position.values, 2e5)
    )
    pairs = window_pairs(ds.sizes["variants"], None, coordinate, size)
    wanted = [(i, j) for i, j in pairs if square[i, j] >= np.float32(0.8)]
    assert len(wanted) > 100
    assert sorted(zip(table.variant_0, table.variant_1, strict=True)) == wanted


# Windows


@given(
    n=st.integers(0, 40),
    contigs=st.integers(1, 4),
    size=st.one_of(st.integers(1, 60), st.floats(0.1, 500)),
    seed=st.integers(0, 2**32),
    by=st.sampled_from(["number", "int64", "uint32", "float64"]),
)
def test_window_ends__equal_the_reference_and_never_decrease(
    n: int, contigs: int, size: float, seed: int, by: str
) -> None:
    rng = np.random.default_rng(seed)
    contig = np.sort(rng.integers(0, contigs, n))
    place = rng.integers(1, 300, n)
    for c in range(contigs):
        place[contig == c] = np.sort(place[contig == c])
    coordinate = None if by == "number" else place.astype(by)
    size = int(size) or 1 if by == "number" else size
    starts = np.unique(contig, return_index=True)[1] if n else np.zeros(1, np.int64)
    runs = ContigRuns(starts, np.ones(starts.size, bool))
    last = last_in_window(n, runs, coordinate, float(size), "variant_position")
    found = {(i, j) for i in range(n) for j in range(i + 1, last[i] + 1)}
    assert found == set(window_pairs(n, contig, coordinate, size))
    assert (np.diff(last) >= 0).all()
    assert (last >= np.arange(n)).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (1, (None, 1.0)),
        (np.int64(50), (None, 50.0)),
        ("250000bp", ("variant_position", 250_000.0)),
        ("500kb", ("variant_position", 500_000.0)),
        ("500 KB", ("variant_position", 500_000.0)),
        ("1.5Mb", ("variant_position", 1_500_000.0)),
        ("1e6bp", ("variant_position", 1e6)),
        ("250,000 bp", ("variant_position", 250_000.0)),
        ("250_000bp", ("variant_position", 250_000.0)),
        (" 0.5cM ", ("variant_genetic_position", 0.5)),
    ],
)
def test_parse_window(text: int | str, expected: tuple[str | None, float]) -> None:
    assert parse_window(text) == expected


@pytest.mark.parametrize("text", [0, -1, 1.5, True, None, "", "kb", "5", "-5kb", "0bp", "infkb"])
def test_parse_window__refuses(text: object) -> None:
    with pytest.raises(ValueError, match="is neither a positive number of variants"):
        parse_window(text)


# Size


MEMORY = """
import sys
import dask, dask.array as da, numpy as np, xarray as xr
import genobit as gb
from tests.helpers.memory import peak_gib

# What is held at a time is so much for each thread, and machines have any number of cores.
dask.config.set(scheduler="threads", num_workers=2)
n, samples, chunk = 200_000, 500, 2048

def calls(block_info=None):
    (start, stop), *_ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    frequency = rng.uniform(size=(stop - start, 1, 1))
    return (rng.uniform(size=(stop - start, samples, 2)) < frequency).astype(np.int8)

sizes = tuple(min(chunk, n - s) for s in range(0, n, chunk))
chunks = (sizes, (samples,), (2,))
genotypes = da.map_blocks(calls, chunks=chunks, dtype=np.int8, meta=np.empty((0, 0, 0), np.int8))
ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), genotypes)})
ds["call_genotype_phased"] = ds.call_genotype.notnull().all("ploidy")
bits = ds.genobit.pack(phased=True)
bits.to_zarr(sys.argv[1] + "/bits.zarr", consolidated=False)
bits = xr.open_zarr(sys.argv[1] + "/bits.zarr", consolidated=False)
band = bits.genobit.ld("r2", window=500)
assert band.shape == (n, 500)
band.to_zarr(sys.argv[1] + "/band.zarr", consolidated=False)
print(peak_gib())
"""


@pytest.mark.slow
def test_band_of_200_000_variants__stays_under_2_gb(tmp_path: Path) -> None:
    printed = run("-c", MEMORY, str(tmp_path))
    assert float(printed) < 2.0


def test_windows_without_a_unit__are_shown_as_variants() -> None:
    ds = cohort(random_calls(2, 12, 30), phased=True)
    p = np.full(12, 1e-6)
    found = {
        "ld": ds.genobit.ld(window=5),
        "ld_prune": ds.genobit.ld_prune(window=5),
        "ld_clump": ds.genobit.ld_clump(p, window=5),
        "ld_score": ds.genobit.ld_score(5).ld_score,
    }
    for name, result in found.items():
        assert result.attrs["window"] == "5 variants", name
        assert "5 variants" in repr(result)
    assert ds.genobit.ld(window="3kb").attrs["window"] == "3kb"
    gap = ds.genobit.epistasis(
        np.arange(30) % 2, limits=gb.EpistasisLimits(min_gap=2), progress=False
    )
    assert gap.attrs["min_gap"] == "2 variants"
    xr.testing.assert_identical(ds.genobit.ld(window="5 variants"), found["ld"])
    for text in ("0 variants", "-5 variants", "5.5 variants", "variants", "100000"):
        with pytest.raises(ValueError, match="1000 is 1000 variants, not base pairs"):
            ds.genobit.ld(window=text)
    sites = xr.DataArray([list("ACGT"), list("CAGT"), list("AAGT")], dims=("taxa", "sites"))
    assert sites.genobit.ld(window=2).attrs["window"] == "2 sites"
    with gb.set_options(eager_limit=8), pytest.raises(MemoryError, match="smaller than 5 variants"):
        ds.genobit.ld(window=5, compute=True)
