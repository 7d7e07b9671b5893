"""Pruning against plink 1.9's lists, plink run here, and the rule in plain Python."""

from __future__ import annotations

import gzip
from pathlib import Path

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.ld.prune import sliding_windows
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.programs import PLINK, plink
from tests.helpers.reference import dosages, haplotypes, pruned
from tests.ld.filesets import FILESETS, founders

AUTOSOMES = {"mice_hs/mice_hs": 19, "hyper_bc/hyper_bc": 19}


def on_autosomes(ds: xr.Dataset, fileset: str) -> np.ndarray:
    names = np.asarray(ds.contig_id.values).astype(str)[ds.variant_contig.values]
    wanted = [str(k) for k in range(1, 1 + AUTOSOMES.get(fileset, 22))]
    return np.flatnonzero(np.isin(names, wanted))


def names_in(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as lines:
        return lines.read().split()


@pytest.mark.parametrize("program", ["p1", "p2"])
@pytest.mark.parametrize("fileset", FILESETS)
def test_lists_of_plink(shared_data: Path, fileset: str, program: str) -> None:
    """plink 1.9 and plink2 keep the same; hapmap279 has names twice, which plink2 refuses."""
    path = (shared_data / fileset).parent / f"ref/prune_{program}_50_5_0.2.prune.in.gz"
    if not path.exists():
        assert (fileset, program) == ("hapmap279/hapmap279", "p2")
        pytest.skip("plink2 refuses a fileset with the same name twice")
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    ds = ds.isel(variants=on_autosomes(ds, fileset))
    everyone = ds.genobit.pack()
    # plink takes r2 of founders, and with --nonfounders the allele frequencies of all.
    frequency = everyone.genobit.allele_frequency().compute()
    keep = everyone.genobit.isel(samples=founders(ds)).genobit.ld_prune(allele_frequency=frequency)
    assert ds.variant_id.values[keep.values].astype(str).tolist() == names_in(path)
    assert keep.attrs["kept"] == len(names_in(path))


@PLINK
@pytest.mark.parametrize(
    ("window", "step", "r2"),
    [("200kb", 1, 0.5), ("50kb", 7, 0.1), (500, 50, 0.8), (500, 200, 0.3), (2, 1, 0.05)],
)
@pytest.mark.parametrize(
    "fileset", ["hapmap279/hapmap279", "bigsnpr_example/example-missing-sorted"]
)
def test_windows_of_plink(
    shared_data: Path, tmp_path: Path, fileset: str, window: int | str, step: int, r2: float
) -> None:
    given_window = window.replace("kb", " kb").split() if isinstance(window, str) else [str(window)]
    asked = ("--autosome", "--indep-pairwise", *given_window, step, r2)
    plink(shared_data / fileset, tmp_path / "p", *asked)
    ds = gb.open_plink(shared_data / f"{fileset}.bed")
    ds = ds.isel(variants=on_autosomes(ds, fileset), samples=founders(ds))
    keep = ds.genobit.ld_prune(window, step, r2).values
    assert ds.variant_id.values[keep].astype(str).tolist() == names_in(tmp_path / "p.prune.in")


@given(
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.sampled_from([3, 20, 64, 65]),
    st.sampled_from([0.0, 0.2]),
    st.booleans(),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    st.integers(1, 5),
)
def test_any_cohort__follows_the_rule(
    seed: int,
    variants: int,
    samples: int,
    missing: float,
    phased: bool,
    window: int,
    step: int,
    limit: float,
    chunk: int,
) -> None:
    calls = random_calls(seed, variants, samples, missing=missing)
    contigs = 1 + seed % 2
    ds = cohort(calls, contigs=contigs, chunks=(chunk, samples), phased=True)
    contig = ds.variant_contig.values
    stops = np.flatnonzero(np.append(contig[1:] != contig[:-1], True)) + 1
    end = stops[np.searchsorted(stops, np.arange(variants), side="right")]
    reach = np.minimum(np.arange(variants) + window, end)
    x = haplotypes(calls) if phased else dosages(calls)
    expected = pruned(x, reach.tolist(), stops.tolist(), step, limit)

    with dask.config.set(scheduler="synchronous"):
        packed = ds.genobit.pack(phased=phased)
        found = packed.chunk(variants=chunk).genobit.ld_prune(window, step, limit)
    assert found.values.tolist() == expected


@pytest.mark.parametrize("phased", [False, True])
def test_long_rows__counts_alone_tell_pairs_apart(phased: bool) -> None:
    """Many samples, and of neighbours one is common and one rare: their words are not looked at."""
    calls = random_calls(3, 12, 8200)
    calls[1::2] &= random_calls(4, 6, 8200) & random_calls(5, 6, 8200)
    calls[1::2, 40:] = 0
    calls[6], calls[7] = calls[0], calls[1]
    ds = cohort(calls, phased=True)
    x = haplotypes(calls) if phased else dosages(calls)
    expected = pruned(x, np.full(12, 12).tolist(), [12], 1, 0.2)
    assert 0 < sum(expected) < 12
    assert ds.genobit.pack(phased=phased).genobit.ld_prune(12, 1, 0.2).values.tolist() == expected


def test_long_rows__of_windows_that_share_little() -> None:
    """More new variants in a window than are compared before their turns."""
    calls = random_calls(7, 150, 8200)
    calls[75:] = calls[:75]
    expected = pruned(dosages(calls), np.full(150, 150).tolist(), [150], 150, 0.2)
    assert 0 < sum(expected) < 76
    assert cohort(calls).genobit.ld_prune(150, 150, 0.2).values.tolist() == expected


@pytest.mark.parametrize("r2", ["0.2", True, None])
def test_a_limit_that_is_no_number__is_refused_by_name(r2: object) -> None:
    with pytest.raises(TypeError, match=r"^threshold=.* is not a number: give one from 0 to 1"):
        cohort(random_calls(1, 4, 9)).genobit.ld_prune(4, 1, r2)


def test_distances_and_contigs() -> None:
    """A window of two positions holds what is at most that far from its first variant."""
    calls = np.tile(random_calls(1, 1, 30), (4, 1, 1))
    assert np.unique(calls).size == 2
    ds = cohort(calls, contigs=2).assign(variant_position=("variants", [100, 200, 100, 201]))
    assert ds.genobit.ld_prune("100bp").values.tolist() == [True, False, True, True]
    assert ds.genobit.ld_prune(50).values.tolist() == [True, False, True, False]
    ds = ds.assign(variant_genetic_position=("variants", [0.0, 0.5, 0.0, 0.6]))
    assert ds.genobit.ld_prune("0.5cM").values.tolist() == [True, False, True, True]


def test_frequencies__decide_who_goes() -> None:
    calls = np.tile(random_calls(1, 1, 30), (3, 1, 1))
    ds = cohort(calls)
    for frequency, left in (([0.1, 0.9, 0.2], 2), ([0.1, 0.1, 0.1], 0), ([0.5, 0.1, 0.6], 0)):
        keep = ds.genobit.ld_prune(allele_frequency=frequency)
        assert np.flatnonzero(keep.values).tolist() == [left]
    assert keep.attrs["window"] == "50 variants"
    assert keep.variant_id.dims == ("variants",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step": 0}, "step=0 is not a positive whole number"),
        ({"step": 1.5}, "step=1.5 is not a positive whole number"),
        ({"threshold": 1.1}, r"threshold=1.1 is outside \[0, 1\]"),
        ({"window": "5"}, "window='5' is neither"),
        ({"allele_frequency": [0.5]}, r"allele_frequency has shape \(1,\), expected \(3,\)"),
        ({"allele_frequency": [0.5, 0.1, 1.5]}, r"allele_frequency is 1.5 at variants=2: expected"),
    ],
)
def test_arguments__are_checked(arguments: dict[str, object], message: str) -> None:
    ds = cohort(random_calls(0, 3, 5))
    with pytest.raises(ValueError, match=message):
        ds.genobit.ld_prune(**arguments)


def test_sliding_windows__skip_those_that_show_no_new_pair() -> None:
    windows = sliding_windows(np.array([3, 4, 5, 5, 5, 7, 7]), np.array([0, 5]), 1)
    assert windows.starts.tolist() == [0, 1, 2, 5]
    assert windows.stops.tolist() == [3, 4, 5, 7]
