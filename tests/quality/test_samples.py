"""Statistics of samples against slow twins, on every kind of chromosome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers import reference
from tests.helpers.cohorts import TAILS
from tests.helpers.laziness import raise_if_dask_computes
from tests.quality.filesets import CONTIGS, dosages, mixed_cohort

SEEDS = st.integers(0, 2**32)


def copies(g: int, kind: str, sex: int) -> int:
    """Copies of the counted allele of a call."""
    if g < 0 or (kind == "Y" and sex != 1):
        return 0
    return g // 2 if kind in {"Y", "MT"} or (kind == "X" and sex == 1) else g


def slow_stats(ds: xr.Dataset, *, founders: bool, corrected: bool) -> dict[str, np.ndarray]:
    """Statistics of each sample by the slow twins."""
    rows, sexes = dosages(ds).tolist(), ds.sample_sex.values.tolist()
    names = [CONTIGS[contig] for contig in ds.variant_contig.values]
    kinds = [name if name in {"X", "Y", "MT"} else "" for name in names]
    counted = ((ds.sample_father_id.values == "0") | (not founders)).tolist()
    n = [
        reference.variant_counts(row, kind, sexes, counted)
        for row, kind in zip(rows, kinds, strict=True)
    ]
    frequencies = [(one["allele_count"], one["allele_number"]) for one in n]
    out: dict[str, list[float]] = {}
    for s, sex in enumerate(sexes):
        can = [kind != "Y" or sex == 1 for kind in kinds]
        called = sum(row[s] >= 0 and yes for row, yes in zip(rows, can, strict=True))
        values: dict[str, float] = {"n_called": called, "call_rate": called / sum(can)}
        values["n_alt"] = sum(
            copies(row[s], kind, sex) for row, kind in zip(rows, kinds, strict=True)
        )
        for kind, small in (("", corrected), ("X", False)):
            on = [k for k, other in enumerate(kinds) if other == kind]
            calls, homozygous, expected = reference.sample_homozygosity(
                [rows[k] for k in on], [frequencies[k] for k in on], s, corrected=small
            )
            rest = calls - expected
            f = (homozygous - expected) / rest if rest else np.nan
            if kind:
                values["x_inbreeding"] = f
            else:
                values |= {"n_autosomal": calls, "n_hom": homozygous, "inbreeding": f}
                values["n_hom_expected"] = expected
                values["het"] = (calls - homozygous) / calls if calls else np.nan
        for name, value in values.items():
            out.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in out.items()}


@given(
    seed=SEEDS,
    samples=st.sampled_from(TAILS[:-4]),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    chunks=st.sampled_from([None, 5, 64]),
    packed=st.booleans(),
    founders=st.booleans(),
    corrected=st.booleans(),
)
def test_sample_stats__equal_slow_sums(
    seed: int,
    samples: int,
    missing: float,
    chunks: int | None,
    packed: bool,
    founders: bool,
    corrected: bool,
) -> None:
    ds = mixed_cohort(seed, 70, samples, missing=missing, chunks=chunks)
    ds["sample_father_id"][0] = ds["sample_mother_id"][0] = "0"
    given_ds = ds.genobit.pack() if packed else ds
    with raise_if_dask_computes():
        lazy = given_ds.genobit.sample_stats(founders=founders, small_sample=corrected)
    stats = lazy.compute()
    right = slow_stats(ds, founders=founders, corrected=corrected)
    for name, values in right.items():
        # Expected homozygosity is rounded to 2**-36.
        np.testing.assert_allclose(stats[name], values, rtol=1e-7, atol=1e-8, err_msg=name)
    assert stats.sample_id.values.tolist() == ds.sample_id.values.tolist()


def test_sample_stats__are_the_same_bits_for_all_chunks(tmp_path: Any) -> None:
    ds = mixed_cohort(4, 400, 70)
    right = ds.genobit.sample_stats().compute()
    for rows in (64, 128):
        with gb.set_options(chunk_rows=rows):
            found = mixed_cohort(4, 400, 70, chunks=33).genobit.pack()
            assert len(found.plane_carrier.chunks[0]) > 3
            xr.testing.assert_equal(found.genobit.sample_stats().compute(), right)
    gb.to_zarr(right, tmp_path / "stats.zarr")
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "stats.zarr").compute(), right)


def test_sample_stats__infer_sex_by_x() -> None:
    calls = np.zeros((200, 4, 2), np.int8)
    rng = np.random.default_rng(1)
    calls[:] = rng.integers(0, 2, calls.shape)
    calls[:, :2, 1] = calls[:, :2, 0]
    ds = mixed_cohort(1, 200, 4).assign(call_genotype=(("variants", "samples", "ploidy"), calls))
    ds = ds.assign(contig_id=("contigs", np.array(["X"], object)))
    ds = ds.assign(
        variant_contig=("variants", np.zeros(200, int)), sample_sex=("samples", [1, 2, 0, 2])
    )
    stats = ds.genobit.sample_stats().compute()
    assert stats.sex_inferred.values.tolist() == [1, 1, 2, 2]
    assert stats.sex_status.values.tolist() == ["OK", "PROBLEM", "PROBLEM", "OK"]
    undecided = ds.genobit.sample_stats(sex_limits=(-9, 1))
    assert undecided.sex_inferred.values.tolist() == [0, 0, 0, 0]
    assert "sex_status" not in ds.drop_vars("sample_sex").genobit.sample_stats()
    assert "x_inbreeding" not in ds.genobit.sample_stats(autosomes=False)


def test_sample_stats__refuse_limits_that_do_not_rise() -> None:
    ds = mixed_cohort(1, 14, 4)
    for limits in ((0.8, 0.2), 0.5, (1, 2, 3), ("a", "b")):
        with pytest.raises(ValueError, match="are not two rising numbers, such as"):
            ds.genobit.sample_stats(sex_limits=limits)
