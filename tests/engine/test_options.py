from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import genobit as gb
from genobit.engine.gemm.products import chosen_kernel


def test_set_options__in_a_with_block_restores_the_earlier_ones() -> None:
    before = gb.get_options()
    with gb.set_options(kernel="scalar", chunk_rows=64):
        assert (gb.get_options().kernel, gb.get_options().chunk_rows) == ("scalar", 64)
        assert chosen_kernel() == "scalar"
        with gb.set_options(chunk_rows=128):
            assert (gb.get_options().kernel, gb.get_options().chunk_rows) == ("scalar", 128)
        assert gb.get_options().chunk_rows == 64
    assert gb.get_options() == before


def test_set_options__restores_after_an_error() -> None:
    before = gb.get_options()
    with pytest.raises(RuntimeError), gb.set_options(kernel="scalar"):
        raise RuntimeError
    assert gb.get_options() == before


def test_set_options__without_a_block_stays() -> None:
    before = gb.get_options()
    try:
        gb.set_options(chunk_rows=77)
        assert gb.get_options().chunk_rows == 77
    finally:
        gb.set_options(chunk_rows=before.chunk_rows)


def test_set_options__of_two_threads_leave_one_another_alone() -> None:
    before = gb.get_options()
    first, second = gb.set_options(kernel="scalar"), gb.set_options(plot_scale=2.0)
    with first:
        pass
    assert (gb.get_options().kernel, gb.get_options().plot_scale) == (before.kernel, 2.0)
    with second:
        pass
    assert gb.get_options() == before


def test_set_options__takes_numbers_of_numpy_and_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with gb.set_options(chunk_rows=np.int64(64), plot_scale=np.float32(2), spill_to="~"):
        assert type(gb.get_options().chunk_rows) is int
        assert gb.get_options().spill_to == tmp_path


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(None, None), (90, 90), (0.5, 0.5), ("90s", 90), ("1.5 min", 90), ("2h", 7200), ("1d", 86400)],
)
def test_longest_search__is_kept_in_seconds(given: object, seconds: float | None) -> None:
    assert gb.get_options().longest_search == 3600
    with gb.set_options(longest_search=given):
        assert gb.get_options().longest_search == seconds


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"kernel": "fast"}, ValueError, "kernel='fast' is not one of auto, matrix, sums, tab"),
        ({"chunk_rows": 0}, ValueError, 'chunk_rows=0 must be a positive whole number or "auto"'),
        ({"chunk_rows": 1.5}, ValueError, "chunk_rows=1.5 must be a positive whole number"),
        ({"chunk_rows": "all"}, ValueError, "chunk_rows='all' must be a positive whole number or"),
        ({"chunk_rows": True}, ValueError, "chunk_rows=True must be a positive whole number"),
        (
            {"spill_to": "no such folder"},
            ValueError,
            "spill_to='no such folder' is not a folder: make",
        ),
        ({"spill_to": 3}, ValueError, "spill_to=3 is not a folder"),
        ({"spill_to": ""}, ValueError, "spill_to='' is not a folder"),
        (
            {"eager_limit": -1},
            ValueError,
            "eager_limit=-1 must be a positive whole number of bytes",
        ),
        ({"eager_limit": "8GiB"}, ValueError, r"'8GiB' must be .* bytes, such as 8 \* 2\*\*30"),
        ({"plot_theme": "night"}, ValueError, "plot_theme='night' is not one of light, dark"),
        ({"plot_scale": 0}, ValueError, "plot_scale=0 must be a number above 0, of 8 at most"),
        ({"progress": 1}, ValueError, "progress=1 is not True, False or None"),
        (
            {"longest_search": 0},
            ValueError,
            "longest_search=0 is not a duration: give seconds, text",
        ),
        ({"longest_search": "1 hour"}, ValueError, "longest_search='1 hour' is not a duration"),
        ({"longest_search": True}, ValueError, "longest_search=True is not a duration"),
        ({"longest_search": float("nan")}, ValueError, "longest_search=nan is not a duration"),
        ({"chunks": 1}, TypeError, "no option 'chunks'; options are chunk_rows, eager_limit"),
    ],
)
def test_set_options__refuses(settings: dict, error: type[Exception], message: str) -> None:
    before = gb.get_options()
    with pytest.raises(error, match=message):
        gb.set_options(**settings)
    assert gb.get_options() == before


def test_chosen_kernel__is_one_that_this_cpu_can_run() -> None:
    from genobit.engine.gemm.matrix_unit import usable
    from genobit.engine.simd.cpu import host

    popcount = host().vector_popcount
    best = "matrix" if usable("and") else "popcount" if popcount else "sums"
    assert chosen_kernel() == best
    assert chosen_kernel("and", rows=1) == (
        "popcount" if popcount else "table" if host().byte_lanes else "scalar"
    )
