"""Calls in parts of two bits each: the same calls come back, from memory and from files."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits import pack
from genobit.io.vcf_files.parts import Filling, Folder, Memory, Part
from tests.helpers.cohorts import TAILS, random_calls

if TYPE_CHECKING:
    from pathlib import Path

seeds = st.integers(0, 2**32)


def some_calls(seed: int, shape: tuple[int, int, int], kind: str) -> tuple[Any, Any]:
    """Calls, and which are phased."""
    rng = np.random.default_rng(seed)
    rows, samples, ploidy = shape
    calls = random_calls(
        seed, rows, samples, missing=0.0 if kind == "called" else 0.2, ploidy=ploidy
    )
    phased = rng.random((rows, samples)) < 0.5
    if kind in {"called", "missing"}:
        phased[:] = kind == "called"
    if kind == "other":
        calls[rng.integers(rows), rng.integers(samples), -1] = rng.choice([-2, 2, 126])
    if kind == "wide":
        calls = calls.astype(np.int16)
        calls[rng.integers(rows), rng.integers(samples), 0] = rng.choice([-2, 128, 300])
    return calls, phased


KINDS = ["called", "missing", "mixed", "other", "wide"]


@given(seeds, st.integers(1, 9), st.sampled_from(TAILS), st.integers(1, 4), st.sampled_from(KINDS))
def test_calls_come_back(seed: int, rows: int, samples: int, ploidy: int, kind: str) -> None:
    calls, phased = some_calls(seed, (rows, samples, ploidy), kind)
    cut = rows // 2
    filling = Filling(rows + 3, samples, ploidy, calls.dtype)
    filling.put(cut, calls[cut:], phased[cut:])
    if cut:
        filling.put(0, calls[:cut], phased[:cut])
    whole = Part.of(calls, phased)
    for part in (whole, filling.part(rows), Part.from_bytes(whole.to_bytes())):
        for first, stop in ((0, rows), (cut, rows), (rows - 1, rows)):
            found = part.calls(first, stop)
            assert found.dtype == calls.dtype
            np.testing.assert_array_equal(found, calls[first:stop])
            np.testing.assert_array_equal(part.phased(first, stop), phased[first:stop])
        assert bool(part.rows.size) == bool(((calls > 1) | (calls < -1)).any())


@given(seeds, st.sampled_from(TAILS), st.sampled_from(["called", "missing"]))
def test_dosages__are_those_of_the_calls(seed: int, samples: int, kind: str) -> None:
    calls, phased = some_calls(seed, (5, samples, 2), kind)
    right = np.empty((3, 5, -(-samples // 64)), np.uint64)
    ones = np.ones(5, np.int8)
    pack.pack_dosages(calls.reshape(5, -1), ones, ones, False, right)
    np.testing.assert_array_equal(Part.of(calls, phased).dosages(1, 4), right[:, 1:4])


def test_memory__holds_what_fits_and_leaves_it_behind() -> None:
    part = Part.of(*some_calls(1, (64, 100, 2), "mixed"))
    larger = Part.of(*some_calls(1, (640, 100, 2), "mixed"))
    memory = Memory(2 * part.nbytes)
    for k in range(3):
        memory.put(k, part)
    memory.put(1, part)
    assert [memory.get(k) is part for k in range(3)] == [True, True, False]
    # What does not fit leaves none of what it replaces.
    memory.put(0, larger)
    assert memory.get(0) is None
    memory.put(2, part)
    assert memory.get(2) is part
    copy = pickle.loads(pickle.dumps(memory))
    assert (copy.limit, copy.get(0)) == (memory.limit, None)


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_damaged_part__is_named(tmp_path: Path, kept: float) -> None:
    folder = Folder(tmp_path / "calls")
    folder.path.mkdir()
    folder.put(0, Part.of(*some_calls(2, (64, 100, 2), "mixed")))
    (file,) = folder.path.iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(ValueError, match=rf"{file} cannot be read.* Remove {tmp_path}, and open"):
        folder.get(0)
