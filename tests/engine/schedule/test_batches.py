from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genobit.engine.schedule import batches

WIDTHS = st.integers(1, 2**40)


def job_of(y: int, x: int, width: int) -> int:
    """The number of the tile in a row and a column, as the module writes it."""
    return y * (2 * width - y + 1) // 2 + x - y


@pytest.mark.parametrize("width", range(12))
def test_jobs__number_the_tiles_row_by_row(width: int) -> None:
    tiles = [(y, x) for y in range(width) for x in range(y, width)]
    assert batches.count_jobs(width) == len(tiles)
    assert [batches.tile_of(job, width) for job in range(len(tiles))] == tiles
    assert [job_of(y, x, width) for y, x in tiles] == list(range(len(tiles)))


@given(width=WIDTHS, data=st.data())
def test_tile_of__is_the_inverse_of_job_of(width: int, data: st.DataObject) -> None:
    total = batches.count_jobs(width)
    job = data.draw(st.integers(0, total - 1) | st.sampled_from([0, width - 1, total - 1]))
    y, x = batches.tile_of(job, width)
    assert 0 <= y <= x < width
    assert job_of(y, x, width) == job


@given(width=WIDTHS, data=st.data())
@example(width=2**40, data=None)
def test_tile_of__first_and_last_of_a_row(width: int, data: st.DataObject | None) -> None:
    """Where an inverse in floating point goes wrong: at the ends of rows."""
    y = width - 2 if data is None else data.draw(st.integers(0, width - 1))
    for x in (y, width - 1):
        assert batches.tile_of(job_of(y, x, width), width) == (y, x)
    if y + 1 < width:
        assert job_of(y, width - 1, width) + 1 == job_of(y + 1, y + 1, width)


@given(width=st.integers(1, 30), data=st.data())
def test_tiles_of__goes_on_from_any_job(width: int, data: st.DataObject) -> None:
    total = batches.count_jobs(width)
    start = data.draw(st.integers(0, total))
    stop = data.draw(st.integers(start, total))
    found = list(batches.tiles_of(range(start, stop), width))
    assert found == [batches.tile_of(job, width) for job in range(start, stop)]


@given(total=st.integers(0, 2**70), workers=st.integers(1, 300))
def test_shares__are_even_and_complete(total: int, workers: int) -> None:
    parts = batches.shares(total, workers)
    assert len(parts) == workers
    assert parts[0].start == 0
    assert parts[-1].stop == total
    assert all(a.stop == b.start for a, b in itertools.pairwise(parts))
    sizes = {part.stop - part.start for part in parts}
    assert max(sizes) - min(sizes) <= 1


@given(start=st.integers(0, 50), length=st.integers(0, 200), size=st.integers(1, 60))
def test_batches__are_bounded_and_complete(start: int, length: int, size: int) -> None:
    part = range(start, start + length)
    cut = list(batches.batches_of(part, size))
    assert [job for each in cut for job in each] == list(part)
    assert all(0 < len(each) <= size for each in cut)


@pytest.mark.parametrize("job", [-1, 6])
def test_tile_of__refuses_what_no_tile_has(job: int) -> None:
    with pytest.raises(IndexError, match=f"job {job} is outside the 6 tiles"):
        batches.tile_of(job, 3)


def test_counts__that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="one worker or more"):
        batches.shares(3, 0)
    with pytest.raises(ValueError, match="one job or more"):
        list(batches.batches_of(range(3), 0))
    with pytest.raises(ValueError, match="negative"):
        batches.count_jobs(-1)
