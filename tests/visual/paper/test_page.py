"""Pages of figures: sizes, fonts, and files that are the same each time."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import holoviews as hv
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure as Page
from matplotlib.text import Text

import genobit
from genobit.visual.figure import Figure
from genobit.visual.paper.page import INCH, Paper, draw_on, page_of, panel, size_of
from tests.helpers.cohorts import cohort, mosaic_calls, random_calls

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Paper(lambda axes: axes.plot([1, 2]), lambda width: width / 2)


def curve() -> Figure:
    return Figure(hv.Curve([1, 3, 2]).opts(title="three points", xlabel="distance (kb)"))


LABELS = ["$$", "$\\frac$", "a\nb", "a\x01b", "a\rb", "\x00", "<b>&"]


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_labels__are_text(label: str, tmp_path: Path) -> None:
    """Not formulas, and without characters that SVG cannot hold."""
    ds = cohort(random_calls(1, 30, 24)).assign(
        variant_contig=("variants", np.full(30, f"c{label}", object)),
        sample_population=("samples", np.array([f"{label}{k % 2}" for k in range(24)], object)),
    )
    ds = ds.drop_vars("contig_id", errors="ignore")
    values = np.random.default_rng(0).normal(size=(12, 30))
    names = [f"{label}{k}" for k in range(12)]
    genes = xr.DataArray(values, {"genes": names}, ("genes", "samples"))
    for k, result in enumerate(
        (
            ds.genobit.ld(),
            ds.genobit.ld_score(10),
            ds.genobit.ld_decay("30kb", populations="sample_population"),
            ds.genobit.grm(),
            genes.genobit.kendall(dim="samples"),
        )
    ):
        path = tmp_path / f"{k}.svg"
        result.genobit.plot().save(path)
        ET.parse(path)


def test_a_page_has_its_size_in_millimetres() -> None:
    width, height = page_of(PLAIN, 90).get_size_inches() * INCH
    assert (width, height) == pytest.approx((90, 45))


@pytest.mark.parametrize("width_mm", [0, 19, 1001, float("nan")])
def test_a_width_that_no_page_has(width_mm: float) -> None:
    with pytest.raises(ValueError, match="use 20 to 1,000 millimetres"):
        page_of(PLAIN, width_mm)


def test_panels_are_placed_in_millimetres() -> None:
    made: list[Any] = []
    whole = Paper(lambda axes: made.append(panel(axes, 10, 5, 60, 20)), lambda _: 50, whole=True)
    figure = page_of(whole, 90)
    figure.draw_without_rendering()
    box = made[0].get_window_extent()
    pixels = figure.dpi / INCH
    assert (box.x0 / pixels, 50 - box.y1 / pixels) == pytest.approx((10, 5))
    assert size_of(made[0]) == pytest.approx((60, 20))


def test_a_users_axes_hold_the_picture_and_keep_their_style() -> None:
    axes = Page().add_subplot()
    assert draw_on(PLAIN, axes) is axes
    assert len(axes.lines) == 1


def test_a_users_axes_need_no_font_that_the_system_may_lack(
    caplog: pytest.LogCaptureFixture,
) -> None:
    axes = Page().add_subplot()
    draw_on(Paper(lambda axes: axes.set_title("$r^2$", parse_math=True), lambda width: width), axes)
    with mpl.rc_context({"font.cursive": ["no such font"]}):
        axes.figure.canvas.draw()
    assert not caplog.records


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_a_figure_saved_twice_is_the_same_file(tmp_path: Path, ending: str) -> None:
    first = curve().save(tmp_path / f"a.{ending}", width_mm=90).read_bytes()
    assert curve().save(tmp_path / f"b.{ending}", width_mm=90).read_bytes() == first


def test_svg_keeps_letters(tmp_path: Path) -> None:
    text = curve().save(tmp_path / "f.svg").read_text(encoding="utf-8")
    assert "distance (kb)</text>" in text


def test_png_has_300_pixels_an_inch(tmp_path: Path) -> None:
    header = curve().save(tmp_path / "f.png", width_mm=INCH * 2).read_bytes()[16:20]
    assert int.from_bytes(header, "big") == 600


@pytest.mark.parametrize("dpi", [50, 600, 2_400])
def test_png_has_the_pixels_that_are_asked_for(tmp_path: Path, dpi: int) -> None:
    header = curve().save(tmp_path / "f.png", width_mm=INCH, dpi=dpi).read_bytes()[16:20]
    assert int.from_bytes(header, "big") == dpi


@pytest.mark.parametrize("dpi", [0, 49, 2_401, float("nan")])
def test_pixels_that_no_file_has(tmp_path: Path, dpi: float) -> None:
    with pytest.raises(ValueError, match=r"dpi is .*; use 50 to 2,400"):
        curve().save(tmp_path / "f.png", dpi=dpi)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def drawn(name: str) -> Figure:
    """A figure of each way to write notes."""
    ds = cohort(mosaic_calls(1, 60, 40))
    made: Figure = curve()
    match name:
        case "triangle" | "heatmap":
            made = ds.genobit.ld().genobit.plot(name, threshold=0.1)
        case "region":
            position = ds["variant_position"].values
            p = np.geomspace(1e-9, 1, len(position))
            made = ds.genobit.plot.region(
                pd.DataFrame({"contig": "1", "position": position, "p": p})
            )
        case "relatedness":
            made = ds.genobit.plot.relatedness()
        case "matrix":
            made = ds.genobit.grm().genobit.plot()
        case "network":
            pairs = genobit.sample_expression().genobit.kendall_pairs(0.7)
            made = pairs.plot("network", min_component=2)
        case "penetrance" | "arcs":
            few = ds.genobit.isel(variants=slice(8))
            made = few.genobit.epistasis(np.arange(40) % 2, top=9).genobit.plot(name)
        case "tree" | "trace":
            alignment = genobit.sample_alignment()
            found = alignment.genobit.parsimony_search(seed=1)
            states = alignment.genobit.ancestral_states(found.isel(trees=0))
            made = (
                states.genobit.plot("tree", sites=[0, 1])
                if name == "tree"
                else found.genobit.plot()
            )
    return made


KINDS = "triangle heatmap region relatedness matrix network penetrance arcs tree trace plain"


@pytest.mark.parametrize("name", KINDS.split())
class TestParts:
    def texts(self, figure: Page) -> list[str]:
        found = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
        return [text for text in found if text]

    def test_notes_can_be_left_out(self, name: str) -> None:
        figure = drawn(name)
        page, bare = figure.to_matplotlib(85), figure.to_matplotlib(85, notes=False)
        assert len(self.texts(bare)) < len(self.texts(page))
        assert bare.get_figheight() <= page.get_figheight() + 1e-6
        # The next page has its notes again.
        assert self.texts(figure.to_matplotlib(85)) == self.texts(page)

    def test_letters_can_be_left_out(self, name: str) -> None:
        figure = drawn(name)
        found = [self.texts(figure.to_matplotlib(180, letters=shown)) for shown in (True, False)]
        letters = [text for text in found[0] if text in {"a", "b", "c"}]
        assert bool(letters) is (name in {"region", "relatedness"})
        assert sorted(found[0]) == sorted([*found[1], *letters])


def test_pdf_has_truetype_fonts_and_text(tmp_path: Path) -> None:
    path = curve().save(tmp_path / "f.pdf", width_mm=90)
    data = path.read_bytes()
    assert b"/FontFile2" in data
    assert b"/Subtype /Type3" not in data
    if shutil.which("pdftotext"):
        found = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)
        assert "distance (kb)" in found.stdout.decode()


def test_another_ending_or_width_leaves_no_file(tmp_path: Path) -> None:
    for name in ("f.jpg", "f"):
        with pytest.raises(ValueError, match=r"end the name with \.pdf, \.svg, \.png or \.html"):
            curve().save(tmp_path / name)
    with pytest.raises(ValueError, match="width_mm is 5"):
        curve().save(tmp_path / "f.pdf", width_mm=5)
    assert list(tmp_path.iterdir()) == []


class TestPapersAlone:
    """A figure that has no form for screens."""

    def test_a_notebook_shows_an_image(self) -> None:
        shown = Figure(None, lambda: PLAIN, "a region")
        assert shown._repr_html_().startswith(
            '<img alt="a region" src="data:image/png;base64,iVBOR'
        )
        assert "'a region'" in repr(shown)

    def test_it_is_no_page(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"for papers alone; end the name with \.pdf"):
            Figure(None, lambda: PLAIN).save(tmp_path / "f.html")
