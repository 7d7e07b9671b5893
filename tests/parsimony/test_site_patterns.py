"""Numbers of sites in a file are those in memory, and no file is left."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.engine.schedule.memory_mapped import Mapped
from genobit.parsimony import site_patterns
from genobit.parsimony.site_patterns import PatternIndex
from tests.helpers.leftovers import left


@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    largest=st.sampled_from([1, 255, 256, 65_535, 65_536]),
    met=st.booleans(),
    piece=st.sampled_from([1, 7, 2**18]),
)
@settings(max_examples=40, deadline=None)
def test_numbers_of_a_file__are_those_of_memory(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    sizes: list[int],
    largest: int,
    met: bool,
    piece: int,
) -> None:
    rng = np.random.default_rng(seed)
    # Columns with large numbers may have no site: numbers are then narrower than ranks.
    parts = [rng.integers(0, largest + 1 if met else 2, size) for size in sizes]
    parts[0] = np.append(parts[0], largest if met else 0)
    ranks = rng.permutation(largest + 1).astype(np.min_scalar_type(largest))
    right = ranks[np.concatenate(parts)]
    folder = tmp_path_factory.mktemp("numbers")
    for options in ({}, {"eager_limit": 1, "spill_to": folder}):
        with (
            gb.set_options(**options),
            pytest.MonkeyPatch.context() as patch,
            PatternIndex(right.size) as numbers,
        ):
            patch.setattr(site_patterns, "PIECE", piece)
            for part in parts:
                numbers.append(part)
            found = numbers.renumbered(ranks)
        assert isinstance(found, Mapped) == bool(options)
        assert found.dtype == ranks.dtype
        np.testing.assert_array_equal(found.reshape(-1), right)
        again = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(again, found)
        assert len(pickle.dumps(found)) < 600 or not options
    del numbers
    assert len(left(folder, 1)) == 1
    del found, again
    assert not left(folder)


def test_no_file_is_left_of_a_search_that_fails(tmp_path: Path) -> None:
    values = np.full((5, 700), "A")
    values[3, 650] = "!"
    aln = xr.DataArray(values, dims=("taxa", "sites"), attrs={"kind": "dna"}).chunk(sites=2)
    with (
        gb.set_options(eager_limit=1500, spill_to=tmp_path),
        pytest.raises(ValueError, match="site 650"),
    ):
        aln.genobit.parsimony_search(bootstrap=1)
    assert not left(tmp_path)


@pytest.mark.parametrize("chunk", [70, 700])
def test_searches__draw_sites_from_a_file(tmp_path: Path, chunk: int) -> None:
    values = np.random.default_rng(0).choice(["A", "C"], (5, 700))
    aln = xr.DataArray(values, dims=("taxa", "sites"), attrs={"kind": "dna"})
    weights = np.arange(700) % 3
    asked = {"method": "spr", "bootstrap": 3, "weights": weights}
    right = aln.genobit.parsimony_search(**asked)
    with gb.set_options(eager_limit=1500, spill_to=tmp_path):
        folder = tmp_path / "run"
        found = aln.chunk(sites=chunk).genobit.parsimony_search(**asked, checkpoint=folder)
    xr.testing.assert_identical(found, right)
    # The same question, wherever numbers are.
    again = aln.genobit.parsimony_search(**asked, checkpoint=folder)
    xr.testing.assert_identical(again, right)
    assert left(tmp_path, 1) == ["run"]
