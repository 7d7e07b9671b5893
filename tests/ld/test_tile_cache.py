"""Tiles of LD: the same values however they were come by, no more computed or kept than needed."""

from __future__ import annotations

import numpy as np
import pytest

from genobit.ld.explorer.region import RUN, Contig
from genobit.ld.explorer.tile_cache import EDGE, TileCache

COUNT = 7 * EDGE + 30


class Source:
    """A symmetric matrix that remembers how many values were asked for."""

    def __init__(self) -> None:
        square = np.random.default_rng(0).random((COUNT, COUNT)).astype("f4")
        self.values = np.maximum(square, square.T)
        self.asked = 0

    def __call__(self, rows: range, columns: range | None) -> np.ndarray:
        columns = rows if columns is None else columns
        self.asked += len(rows) * len(columns)
        return self.values[rows.start : rows.stop, columns.start : columns.stop]


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.mark.parametrize(
    "stretches",
    [
        [(0, COUNT)],
        [(300, 301)],
        [(5, 700), (133, 828)],  # right
        [(200, 895), (60, 755)],  # left
        [(0, 300), (600, 900), (0, COUNT)],  # both ends known, and not together
        [(100, 500), (0, COUNT)],  # the middle known
        [(0, 400), (380, 800), (390, 640)],
    ],
)
def test_every_stretch_is_cut_out_of_the_same_matrix(source, stretches):
    tiles = TileCache()
    for start, stop in stretches:
        matrix, _ = tiles.square("r2", range(start, stop), COUNT, source)
        np.testing.assert_array_equal(matrix, source.values[start:stop, start:stop])


def test_what_was_seen_is_not_computed_again(source):
    tiles = TileCache()
    tiles.square("r2", range(10, 600), COUNT, source)
    asked = source.asked
    _, computed = tiles.square("r2", range(100, 500), COUNT, source)
    assert (computed, source.asked) == (0, asked)


def test_a_pan_computes_what_comes_into_view(source):
    tiles = TileCache()
    tiles.square("r2", range(5 * EDGE), COUNT, source)
    before = source.asked
    _, computed = tiles.square("r2", range(EDGE, 6 * EDGE), COUNT, source)
    assert computed == 5
    assert source.asked - before == 5 * EDGE * EDGE


def test_levels_are_not_mixed(source):
    tiles = TileCache()
    tiles.square("r2", range(100), COUNT, source)
    matrix, computed = tiles.square(
        "r", range(100), COUNT, lambda rows, _: np.zeros((len(rows), len(rows)), "f4")
    )
    assert computed == 1
    assert not matrix.any()


def test_bytes_are_bounded_and_the_oldest_go(source):
    tile = EDGE * EDGE * 4
    tiles = TileCache(limit=4 * tile)
    for start in range(6):
        tiles.square("r2", range(start * EDGE, (start + 1) * EDGE), COUNT, source)
        assert tiles.nbytes <= 4 * tile
    assert tiles.square("r2", range(5 * EDGE, 6 * EDGE), COUNT, source)[1] == 0
    assert tiles.square("r2", range(EDGE), COUNT, source)[1] == 1


def test_a_stretch_beyond_the_limit_is_kept_until_the_next(source):
    tiles = TileCache(limit=1)
    tiles.square("r2", range(COUNT), COUNT, source)
    assert tiles.square("r2", range(COUNT), COUNT, source)[1] == 0
    tiles.square("r2", range(10), COUNT, source)
    assert tiles.nbytes == EDGE * EDGE * 4


@pytest.mark.parametrize("bounds", [(0, 999), (3, 998), (17, 640), (500, 502)])
def test_thinning_leaves_the_same_variants_wherever_one_looks(bounds):
    start, stop = bounds
    contig = Contig(np.arange(1000), np.arange(1000), np.full(1000, 0.5), min_maf=0.0)
    choice = contig.between(start, stop, limit=100)
    ranks = np.arange(start, stop + 1)
    expected = ranks[ranks % (RUN * choice.step) < RUN]
    assert len(choice.variants) <= 100
    assert choice.n_in_view == stop + 1 - start
    np.testing.assert_array_equal(choice.variants, expected)
    np.testing.assert_array_equal(
        contig.thinned(choice.step)[choice.places.start : choice.places.stop], expected
    )
    nominal = choice.first_rank + choice.step * np.arange(len(expected))
    assert np.abs(nominal - expected).max(initial=0) < RUN * choice.step
