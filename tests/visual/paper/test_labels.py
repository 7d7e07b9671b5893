from __future__ import annotations

import numpy as np
import pytest

from genobit.visual.paper.labels import LEADER, Obstacles, leader, place_labels
from genobit.visual.paper.texts import fitted, text_size

NO_LINES = np.empty((0, 4)), np.empty(0)


def crowd(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    discs = np.column_stack([generator.uniform(5, 55, (n, 2)), generator.uniform(0.4, 1.2, n)])
    return discs, np.column_stack([generator.uniform(3, 10, n), np.full(n, 2.2)])


def gaps(centres: np.ndarray, sizes: np.ndarray, discs: np.ndarray) -> np.ndarray:
    """Distances from the edges of all discs to all labels."""
    out = np.maximum(np.abs(centres[:, None] - discs[:, :2]) - sizes[:, None] / 2, 0)
    return np.hypot(out[..., 0], out[..., 1]) - discs[:, 2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_labels_cover_neither_marks_nor_one_another(seed):
    discs, sizes = crowd(40, seed)
    centres = place_labels(discs, sizes, Obstacles(discs, *NO_LINES, (0, 0, 60, 60)))
    placed = ~np.isnan(centres[:, 0])
    assert placed.sum() > 25
    at, size = centres[placed], sizes[placed]
    assert (gaps(at, size, discs) > 0).all()
    assert ((at - size / 2 >= 0) & (at + size / 2 <= 60)).all()
    overlap = (np.abs(at[:, None] - at) < (size[:, None] + size) / 2).all(axis=-1)
    assert overlap.sum() == len(at)  # each with itself


def test_a_label_goes_where_no_line_is():
    disc = np.array([[20.0, 20.0, 1.0]])
    # Lines to the right and above; the cheapest place is to the left or below.
    lines = np.array([[20, 20, 40, y] for y in np.linspace(0, 25, 12)])
    centres = place_labels(
        disc, np.array([[6.0, 2.0]]), Obstacles(disc, lines, np.ones(12), (0, 0, 40, 40))
    )
    assert centres[0, 0] < 20


def test_labels_keep_out_of_boxes():
    disc, size = np.array([[20.0, 20.0, 1.0]]), np.array([[6.0, 2.0]])
    right = np.array([[20.0, 0.0, 40.0, 40.0]])
    centres = place_labels(disc, size, Obstacles(disc, *NO_LINES, (0, 0, 40, 40), right))
    assert centres[0, 0] + 3 <= 20


def test_no_room_is_nan():
    disc = np.array([[5.0, 5.0, 1.0]])
    held = Obstacles(disc, *NO_LINES, (0, 0, 10, 10))
    assert np.isnan(place_labels(disc, np.array([[30.0, 2.0]]), held)).all()
    assert place_labels(np.empty((0, 3)), np.empty((0, 2)), held).shape == (0, 2)


def test_a_leader_runs_over_no_other_mark_unless_the_label_is_wanted():
    angles = np.arange(40) * 2 * np.pi / 40
    ring = np.column_stack([20 + 2.6 * np.cos(angles), 20 + 2.6 * np.sin(angles), np.full(40, 0.6)])
    discs = np.vstack([[[20.0, 20.0, 0.8]], ring])
    held, size = Obstacles(discs, *NO_LINES, (0, 0, 40, 40)), np.array([[5.0, 2.0]])
    assert np.isnan(place_labels(discs[:1], size, held)).all()
    found = place_labels(discs[:1], size, held, wanted=1)
    assert not np.isnan(found).any()
    assert (gaps(found, size, discs) > 0).all()


def test_a_far_label_has_a_leader_from_edge_to_label():
    mark, size = np.array([10.0, 10.0, 1.0]), np.array([4.0, 2.0])
    assert leader(mark, np.array([13.5, 10.0]), size) is None
    line = leader(mark, np.array([16.0, 10.0]), size)
    assert line is not None
    np.testing.assert_allclose(line, [[11, 10], [14, 10]])
    assert np.hypot(*(line[1] - line[0])) > LEADER


def test_sizes_of_text():
    assert text_size("HLA-DRA", bold=True)[0] > text_size("HLA-DRA")[0]
    assert text_size("a")[1] == text_size("g")[1]
    assert text_size("a", 12)[1] == pytest.approx(2 * text_size("a", 6)[1], rel=0.05)


def test_long_texts_are_cut():
    assert fitted("short", 20) == "short"
    cut = fitted("ENSG00000123456789 a long name", 20)
    assert cut.endswith("…")
    assert 15 < text_size(cut)[0] <= 20
