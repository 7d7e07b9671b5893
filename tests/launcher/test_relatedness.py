from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

import genobit
from genobit.grm.plots.paper_kinship import kinship_pairs
from genobit.grm.plots.relatives import KinshipPlot, draw_relatives
from genobit.launcher.relatedness import relatedness
from genobit.pca.plots import paper_scatter
from genobit.visual.paper.page import INCH, draw_on, page_of, write
from tests.visual.texts import overlapping, texts_of


def cohort(n_samples: int = 24, contig: str = "X") -> xr.Dataset:
    r = np.random.default_rng(5)
    group = np.arange(n_samples) % 3
    rate = r.uniform(0.1, 0.9, (300, 3))[:, group, None]
    calls = (r.random((300, n_samples, 2)) < rate).astype("i1")
    calls[290:] = 1  # variants of the last contig would make all samples alike
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "variant_contig": ("variants", np.repeat([0, 1], [290, 10])),
            "contig_id": ("contigs", np.array(["1", contig], object)),
            "sample_population": ("samples", np.array(["P", "Q", "R"], object)[group]),
        }
    )


def words(figure: Figure) -> list[str]:
    return [text for text, _ in texts_of(figure)]


@pytest.mark.parametrize("width", [90, 140, 180])
def test_texts_are_apart_and_on_the_page(width: float) -> None:
    figure = page_of(relatedness(cohort(), colour_by="population"), width)
    assert overlapping(figure) == []


@pytest.mark.parametrize("width", [90, 180])
def test_groups_that_overlap_have_a_key(width: float) -> None:
    ds = cohort(60)
    mixed = np.random.default_rng(0).permutation(ds.sample_population.values)
    ds["sample_population"] = ("samples", mixed)
    figure = page_of(relatedness(ds, colour_by="population"), width)
    assert overlapping(figure) == []
    page = figure.axes[0]
    assert {"P", "Q", "R"} <= {text.get_text() for text in page.texts}
    components = page.child_axes[4]
    assert {text.get_text() for text in components.texts} == {"b"}
    named = page_of(relatedness(cohort(60), colour_by="population"), width).axes[0].child_axes[4]
    assert {text.get_text() for text in named.texts} == {"b", "P", "Q", "R"}


@pytest.mark.parametrize("width", [90, 140, 180])
def test_a_key_of_long_names_takes_no_room_of_the_panels(
    width: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = cohort(60)
    names = np.array([f"a population with a long name {k}" for k in range(8)], object)
    ds["sample_population"] = ("samples", names[np.random.default_rng(0).integers(0, 8, 60)])
    asked = Mock(wraps=paper_scatter.are_apart)
    monkeypatch.setattr(paper_scatter, "are_apart", asked)
    figure = page_of(relatedness(ds, colour_by="population"), width)
    assert asked.call_count == 1
    assert overlapping(figure) == []
    key = [text for text in figure.axes[0].texts if text.get_text() in names]
    assert len(key) == 8
    components, kinship = (child.get_window_extent() for child in figure.axes[0].child_axes[4:])
    assert components.height == pytest.approx(kinship.height)
    usual = page_of(relatedness(ds), width).axes[0].child_axes[4].get_window_extent()
    assert components.height == pytest.approx(usual.height)


def test_other_contigs_are_left_out_of_all_panels_and_counted() -> None:
    ds = cohort()
    text = words(page_of(relatedness(ds, colour_by="population"), 180))
    assert "10 variants of chromosome X left out" in text
    assert "24 samples, 290 variants" in text
    same = words(page_of(relatedness(ds.isel(variants=slice(290))), 180))
    degrees = [t for t in text if "degree" in t or "unrelated" in t]
    assert degrees == [t for t in same if "degree" in t or "unrelated" in t]
    every = words(page_of(relatedness(ds, autosomes=False), 180))
    assert "24 samples, 300 variants" in every
    assert not any("left out" in t for t in every)


def test_panels_stand_beside_the_matrix_or_below() -> None:
    for width, beside in ((180, True), (90, False)):
        figure = page_of(relatedness(cohort()), width)
        _, _, matrix, _, components, kinship = figure.axes[0].child_axes
        left = components.get_window_extent().x0
        assert bool(left > matrix.get_window_extent().x1) is beside
        assert kinship.get_window_extent().y1 < components.get_window_extent().y0
        square = matrix.get_window_extent()
        assert square.width == pytest.approx(square.height)


def test_a_figure_drawn_twice_is_the_same_file(tmp_path: Path) -> None:
    paper = relatedness(cohort(), colour_by="population")
    for name in ("a", "b"):
        write(page_of(paper, 180), tmp_path / name, "pdf")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_fits_in_the_axes_of_a_user_and_refuses_a_small_one() -> None:
    paper = relatedness(cohort(), colour_by="population")
    figure = Figure((160 / INCH, 110 / INCH))
    axes = figure.add_axes((0.05, 0.05, 0.9, 0.9))
    draw_on(paper, axes)
    figure.draw_without_rendering()
    outer = axes.get_window_extent()
    for child in axes.child_axes:
        box = child.get_window_extent()
        assert outer.x0 <= box.x0 < box.x1 <= outer.x1
        assert outer.y0 <= box.y0 < box.y1 <= outer.y1
    with pytest.raises(ValueError, match="100 × 70 mm"):
        draw_on(paper, Figure((40 / INCH, 30 / INCH)).add_subplot())


def test_wrong_arguments_are_named() -> None:
    ds = cohort()
    with pytest.raises(ValueError, match="'samples' has 2"):
        relatedness(ds.isel(samples=[0, 1]))
    with pytest.raises(ValueError, match="components is"):
        relatedness(ds, components=(0, 1))
    with pytest.raises(KeyError, match="population"):
        relatedness(ds, colour_by="populaton")


def test_hapmap(shared_data: Path) -> None:
    """The counts of degrees and the blocks of populations are known."""
    ds = genobit.open_plink(shared_data / "hapmap279" / "hapmap279.bed")
    table = pd.read_csv(shared_data / "hapmap279" / "samples.tsv", sep="\t", index_col="IID")
    figure = page_of(relatedness(ds, colour_by=table["pop"]), 180)
    text = words(figure)
    for part in (
        "duplicate / twin: 10",
        "1st degree: 127",
        "2nd degree: 4",
        "3rd degree: 3",
        "unrelated: 38,637",
        "YRI  (93)",
        "CEU  (92)",
        "HCB + JPT  (94)",
        "279 samples, 8,723 variants",
        "365 variants of chromosome 23 left out",
        "HCB",
        "JPT",
    ):
        assert part in text
    assert any("24,402 pairs" in t for t in text)
    assert overlapping(figure) == []


def inbred(share: float) -> xr.Dataset:
    """Lines of which about a share of the calls is heterozygous."""
    r = np.random.default_rng(2)
    calls = np.repeat((r.random((2_000, 20)) < r.uniform(0.2, 0.8, (2_000, 1))), 2).astype("i1")
    calls = calls.reshape(2_000, 20, 2)
    calls[..., 1] ^= r.random((2_000, 20)) < share
    return xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})


@pytest.mark.parametrize("share", [0.0, 0.011, 0.04, 0.07])
def test_kinship_of_inbred_lines_is_not_counted_into_degrees(share: float) -> None:
    ds = inbred(share)
    figure = page_of(relatedness(ds), 180)
    assert overlapping(figure) == []
    panel, text = figure.axes[0].child_axes[-1], " ".join(words(figure))
    het = float(ds.genobit.sample_stats()["het"].mean())
    note = f"KING kinship needs heterozygous calls (here {het:.1%})"
    assert (note in text) is (share < 0.05)
    assert ("degree" in text) is (share > 0.05)
    assert panel.get_ylabel() == ("KING kinship" if share > 0.05 else "Pairs")
    if share < 0.05:
        (bars,) = [c for c in panel.collections if c.get_label() == "Bars"]
        tops = [path.vertices[:, 1].max() for path in bars.get_paths()]
        assert sum(tops) == 20 * 19 / 2
    drawn = draw_relatives(
        KinshipPlot(
            kinship_pairs(ds, np.zeros(20, "i8"), 1, autosomes=True),
            np.zeros(20, "i8"), ["#4a5361"], np.arange(20).astype(str),
        )
    )  # fmt: skip
    on_screen = " ".join(str(text) for part in drawn.Labels for text in part["text"])
    assert (note in on_screen) is (share < 0.05)
    assert ("degree" in on_screen) is (share > 0.05)
