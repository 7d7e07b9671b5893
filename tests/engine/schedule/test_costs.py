"""What edges of tiles would cost, as users ask for it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest

import genobit as gb
from genobit.engine.schedule import costs
from genobit.engine.schedule.computing import threads
from tests.helpers.cohorts import cohort, random_calls


def test_work_grows_with_the_square_of_the_edge_and_bytes_with_the_edge() -> None:
    found = costs.tile_costs("grm", 500_000, 700_000, 2, parts=lambda _: 22)
    by_rows = {edge.rows: edge for edge in found.edges}
    assert by_rows[4096].seconds == 4 * by_rows[2048].seconds
    assert by_rows[4096].moved == 2 * by_rows[2048].moved
    side = -(-500_000 // 4096)
    assert by_rows[4096].tasks == side * (side + 1) // 2 * 22
    assert found.taken == 2048


def test_cheapest_edge__is_smaller_for_more_workers_and_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    best = []
    for workers in (1, 1000, 20_000):
        monkeypatch.setattr(costs, "threads", lambda workers=workers: workers)
        found = costs.tile_costs("ld", 100_000, 50_000, 2)
        chosen = next(edge for edge in found.edges if edge.rows == found.best)
        assert chosen.held <= costs.MEMORY
        assert all(
            edge.total(workers) >= chosen.total(workers) or edge.held > costs.MEMORY
            for edge in found.edges
        )
        best.append(found.best)
    assert best[0] > best[1] > best[2]


@pytest.mark.parametrize("analysis", ["ld", "grm", "crossproduct"])
def test_estimates__tell_one_time(analysis: str) -> None:
    found = repr(getattr(cohort(random_calls(1, 700, 300)).genobit.estimate, analysis)())
    times = re.findall(r"[\d.]+ (?:s|min|h|days|years)\b", found)
    assert len(times) == 1, found
    for line in found.splitlines():
        if "<- in force" in line:
            assert "100%  <- in force" in line


def test_any_edge__gives_the_same() -> None:
    ds = cohort(random_calls(1, 700, 300))
    bits = ds.genobit.pack().chunk(variants=128)
    found = costs.tile_costs("ld", 700, 300, 2, taken=128)
    assert [edge.rows for edge in found.edges] == [128, 256, 512, 700]
    assert f"gb.set_options(chunk_rows={found.best})" in found.reason
    product, *lines = bits.genobit.estimate.ld().details
    assert product.startswith("ternary products: ")
    assert tuple(lines) == found.lines
    with gb.set_options(chunk_rows=found.best):
        again = ds.genobit.ld().values
    np.testing.assert_array_equal(again, bits.genobit.ld().values)


@pytest.mark.parametrize(
    ("taken", "workers", "words"),
    [
        (
            1024,
            2,
            "1,024 rows stay: 2,048 rows would take 1% less time, and the model is good to 10%",
        ),
        (256, 2, "less time: gb.set_options(chunk_rows="),
        (20_000, 2, "20,000 rows hold more than 1.0 GiB a task: gb.set_options(chunk_rows="),
    ],
)
def test_reason__is_said_of_the_edge_in_force(
    monkeypatch: pytest.MonkeyPatch, taken: int, workers: int, words: str
) -> None:
    monkeypatch.setattr(costs, "threads", lambda: workers)
    found = costs.tile_costs("ld", 100_000, 50_000, 2, taken=taken)
    assert words in found.lines[-1]
    best = costs.tile_costs("ld", 100_000, 50_000, 2, taken=found.best)
    assert (
        best.reason == f"{found.best:,} rows stay: the cheapest of those that hold at most 1.0 GiB"
    )


@pytest.mark.parametrize("workers", [1, 40])
@pytest.mark.parametrize(("analysis", "how", "rows"), [("ld", "r2", 1500), ("grm", "ibs", 700)])
def test_auto__takes_the_cheapest_edge_and_says_so(
    monkeypatch: pytest.MonkeyPatch, analysis: str, how: str, rows: int, workers: int
) -> None:
    monkeypatch.setattr(costs, "threads", lambda: workers)
    genotypes = cohort(random_calls(2, 1500, 700, missing=0.1)).genobit
    expected = getattr(genotypes, analysis)(how).values
    with gb.set_options(chunk_rows="auto"):
        found = getattr(genotypes, analysis)(how)
        lines = getattr(genotypes.estimate, analysis)(how).details
        np.testing.assert_array_equal(found.values, expected)
    edge = max(found.chunks[0])
    assert next(line for line in lines if "in force, cheapest" in line).split()[0] == f"{edge:,}"
    assert lines[-1].endswith("rows stay: the cheapest of those that hold at most 1.0 GiB")
    assert edge < rows if workers > 1 else edge == rows


def test_auto__on_a_biobank_is_what_estimates_advise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "threads", lambda: 300)
    sizes = (65_536,) * 10
    with gb.set_options(chunk_rows="auto"):
        edge = costs.edge_of_samples(500_000, sizes, 2)
    advised = costs.sum_costs(500_000, sizes, 2)
    assert edge == advised.best != gb.get_options().chunk_rows
    assert advised.taken == gb.get_options().chunk_rows


def test_threads__are_those_of_the_scheduler() -> None:
    found = []
    with ThreadPoolExecutor(5) as pool:
        for settings in ({"scheduler": "sync"}, {"num_workers": 3}, {"pool": pool}):
            with dask.config.set(settings):
                found.append(threads())
    assert found == [1, 3, 5]
    assert threads() == dask.system.CPU_COUNT
