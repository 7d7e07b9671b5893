from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from genobit.grm.plots import paper_kinship
from genobit.grm.plots.paper_kinship import FLOOR, KinshipPairs, draw_kinship, kinship_pairs
from genobit.visual.paper.page import INCH, style


def genotypes(n_samples: int = 14, n_variants: int = 200) -> xr.Dataset:
    r = np.random.default_rng(3)
    rate = np.where(np.arange(n_samples) % 2, 0.2, 0.8)[None, :, None]
    calls = (r.random((n_variants, n_samples, 2)) < rate).astype("i1")
    calls[:, 1] = calls[:, 3]  # twins
    calls[r.random((n_variants, n_samples)) < 0.05] = -1
    calls[:, 5] = 0  # without a heterozygous call
    return xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})


def test_pairs_are_those_of_the_table_and_the_rest_is_counted() -> None:
    ds = genotypes()
    groups = np.arange(14) % 2
    found = kinship_pairs(ds, groups, 2, autosomes=True)
    table = ds.genobit.grm_pairs("king", threshold=-1e9).to_dataframe()
    inside = table[table.king >= FLOOR]
    order = np.lexsort((found.second, found.first))
    assert found.first[order].tolist() == inside.sample_0.tolist()
    assert found.second[order].tolist() == inside.sample_1.tolist()
    np.testing.assert_array_equal(found.king[order], inside.king)
    np.testing.assert_allclose(found.ibs0[order], inside.ibs0, rtol=1e-6)
    assert found.without == 13  # the pairs of the sample without a heterozygous call
    assert found.without + len(table) == 14 * 13 // 2
    below = table[table.king < FLOOR]
    assert len(below)
    apart = groups[below.sample_0] != groups[below.sample_1]
    assert found.below.sum() == len(below)
    assert found.below[0, 1] + found.below[1, 0] == apart.sum()
    counts = table.degree.value_counts()
    assert found.degrees() == {name: counts.get(name, 0) for name in found.degrees()}
    assert found.degrees()["duplicate or twin"] == 1


def pairs_at(king: list[float], ibs0: list[float], below: int = 0, without: int = 0):  # type: ignore[no-untyped-def]
    n = len(king)
    counts = np.array([[0, below], [0, 0]])
    return KinshipPairs(
        np.zeros(n, "i4"), np.ones(n, "i4"), np.array(king), np.array(ibs0, "f4"), counts, without,
        het=0.3,
    )  # fmt: skip


def axes_of(pairs: KinshipPairs, label: str = "", width: float = 60):  # type: ignore[no-untyped-def]
    figure = Figure(((width + 20) / INCH, 50 / INCH))
    axes = figure.add_axes((15 / (width + 20), 0.2, width / (width + 20), 0.65))
    with style():
        draw_kinship(axes, pairs, np.zeros(2, "i8"), ["#4a5361"], label)
        figure.draw_without_rendering()
    return axes


def covers(axes, box) -> bool:  # type: ignore[no-untyped-def]
    at = np.concatenate([c.get_offsets() for c in axes.collections if len(c.get_offsets()) > 0])
    x, y = axes.transData.transform(at).T
    return bool(((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any())


def cloud(n: int = 3000, wide: float = 0.02) -> tuple[list[float], list[float]]:
    r = np.random.default_rng(0)
    ibs0 = r.normal(0.06, wide, n).clip(0.001)
    return (0.24 - 4 * ibs0 + r.normal(0, 0.02, n)).clip(FLOOR, 0.49).tolist(), ibs0.tolist()


@pytest.mark.parametrize("width", [40, 62])
@pytest.mark.parametrize("wide", [0.004, 0.02, 0.05])
def test_texts_cover_neither_marks_nor_each_other(width: float, wide: float) -> None:
    axes = axes_of(pairs_at(*cloud(wide=wide), below=7, without=3), "population", width)
    with style():
        boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 6
    for k, box in enumerate(boxes):
        assert not covers(axes, box)
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])
        assert 0 <= box.x0 < box.x1 <= axes.get_figure().bbox.x1


def test_degrees_and_what_is_left_out_are_in_words() -> None:
    axes = axes_of(pairs_at([0.5, 0.25, 0.25, 0.1, 0.0], [0, 0, 0.01, 0.03, 0.05], 1, 2), "sex")
    written = "\n".join(text.get_text() for text in axes.texts).replace("\n", " ")
    for part in (
        "duplicate / twin: 1",
        "1st degree: 2",
        "2nd degree: 1",
        "3rd degree: 0",
        "unrelated: 2",
        "1 pair that differs in sex lies below",
        "2 pairs without a value",
    ):
        assert part in written


def test_no_pair_is_no_error() -> None:
    assert axes_of(pairs_at([], [], 3)).get_xlim()[1] > 0


def test_coinciding_dots_of_many_pairs_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = pairs_at(*cloud())
    before = sum(len(c.get_offsets()) for c in axes_of(pairs).collections)
    monkeypatch.setattr(paper_kinship, "MANY", 100)
    axes = axes_of(pairs)
    assert sum(len(c.get_offsets()) for c in axes.collections) < before
    assert any("drawn once" in text.get_text().replace("\n", " ") for text in axes.texts)
    assert any("unrelated: " in text.get_text() for text in axes.texts)
