"""The explorer by its traits: no browser, no kernel, so every change computes at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import traitlets
import xarray as xr
from matplotlib.image import AxesImage
from matplotlib.text import Text

import genobit  # noqa: F401  registers the accessor
from genobit.data.regions import Region, parse_region
from genobit.ld.explorer import explorer as explore_ld
from genobit.ld.explorer import tile_cache, views
from genobit.ld.explorer.region import Contig, region_text
from genobit.visual.tokens import LIGHT
from tests.helpers.explorers import _all, named


@pytest.fixture(scope="module")
def genotypes() -> xr.Dataset:
    generator = np.random.default_rng(3)
    n_variants, n_samples = 120, 40
    calls = generator.integers(0, 2, (n_variants, n_samples, 2)).astype(np.int8)
    calls[1::3] = calls[0::3]
    calls[7] = 0
    contig = np.repeat([0, 1], [100, 20]).astype(np.int32)
    position = np.concatenate([np.arange(100), np.arange(20)]) * 1_000 + 5_000
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls),
            "call_genotype_phased": (("variants", "samples"), np.ones(calls.shape[:2], bool)),
            "variant_position": ("variants", position),
            "variant_contig": ("variants", contig),
            "variant_id": ("variants", np.array([f"v{k}" for k in range(n_variants)])),
            "contig_id": ("contigs", np.array(["1", "X"])),
        }
    )


@pytest.fixture(scope="module")
def bits(genotypes: xr.Dataset) -> xr.Dataset:
    return genotypes.genobit.pack(phased=True)


def test_visible_is_what_ld_computes(bits):
    explorer = bits.genobit.explore.ld(region=("1", 10_000, 30_000))
    expected = bits.isel(variants=slice(5, 26)).genobit.ld("r2").compute()
    np.testing.assert_array_equal(explorer.visible["r2"], expected)
    assert explorer.visible.attrs["region"] == "1:10,000-30,000"


@pytest.mark.parametrize("statistic", ["r", "D", "dprime"])
def test_statistic(bits, statistic):
    explorer = bits.genobit.explore.ld()
    explorer.statistic = statistic
    expected = bits.isel(variants=slice(0, 100)).genobit.ld(statistic).compute()
    np.testing.assert_array_equal(explorer.visible[statistic], expected)


def test_status_counts_variants_pairs_and_monomorphic(bits):
    explorer = bits.genobit.explore.ld()
    assert explorer.status.startswith("r²: 100 variants, 4,950 pairs, 1 monomorphic")


def test_dosages_have_no_dprime(genotypes):
    explorer = genotypes.genobit.pack(phased=False).genobit.explore.ld()
    assert explorer.statistics == ("r2", "r", "r2_em", "dprime_em")
    with pytest.raises(traitlets.TraitError, match="cannot be computed from dosages"):
        explorer.statistic = "dprime"


def test_frequency_filter_leaves_out_the_monomorphic(bits):
    explorer = bits.genobit.explore.ld(min_maf=0.01)
    assert "v7" not in explorer.visible["variant_id_0"].values
    assert explorer.visible.sizes["variants_0"] == 99


def test_lead_gives_its_row(bits):
    explorer = bits.genobit.explore.ld(lead=4)
    region = bits.isel(variants=slice(0, 100))
    expected = region.genobit.ld("r2", other=bits.isel(variants=[4])).compute()[:, 0]
    np.testing.assert_array_equal(explorer.visible["lead_r2"], expected)
    assert explorer.visible.attrs["lead"] == "v4"


def test_lead_of_another_contig_is_explained(bits):
    explorer = bits.genobit.explore.ld()
    explorer.lead = 110
    assert "v110 is not on contig 1" in explorer.status


def test_lead_out_of_range(bits):
    explorer = bits.genobit.explore.ld()
    with pytest.raises(traitlets.TraitError, match="variants 0 to 119"):
        explorer.lead = 120


def test_contigs_are_not_mixed(bits):
    explorer = bits.genobit.explore.ld()
    explorer.go_to_contig("X")
    assert explorer.region[0] == "X"
    assert set(explorer.visible["variant_contig_0"].values) == {"X"}


@pytest.mark.parametrize("view", ["square", "triangle"])
@pytest.mark.parametrize("axis", ["rank", "position"])
def test_views_and_axes(bits, view, axis):
    explorer = bits.genobit.explore.ld(view=view, axis=axis, lead=3, threshold=0.2)
    assert not explorer.status.startswith("Error")


def test_panning_moves_the_region(bits):
    explorer = bits.genobit.explore.ld()
    explorer._on_move(9.6, 20.4)
    assert explorer.region == ("1", 15_000.0, 25_000.0)
    assert explorer.visible.sizes["variants_0"] == 11


def test_click_chooses_the_first_and_then_the_second_of_the_pair(bits):
    explorer = bits.genobit.explore.ld()
    explorer._on_tap(12.0, -4.5)
    assert explorer.lead == 10
    explorer._on_tap(12.0, -4.5)
    assert explorer.lead == 14
    explorer._on_tap(0.0, -50.0)
    assert "no pair at the place" in explorer.status


def test_large_windows_are_thinned_and_say_so(bits, monkeypatch):
    monkeypatch.setattr(explore_ld, "MAX_VARIANTS", 30)
    explorer = bits.genobit.explore.ld()
    ids = explorer.visible["variant_id_0"].values
    assert ids.tolist() == [f"v{k}" for k in range(100) if k % 16 < 4]
    assert explorer.visible.attrs["thinned"] == "4 neighbours in every 16"
    assert "thinned: 4 neighbours in every 16 of the 100 variants in view" in explorer.status


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9:1-2", "no contig '9'"),
        ("1:5-2", "ends before it begins"),
        ("nonsense:", "no contig 'nonsense:'; the Dataset has '1', 'X'"),
        ("1:5x-9", "'5x' is not a whole position"),
        ("1:5", "5 is one position, not a range"),
        ("v1000", "no region or variant 'v1000'; did you mean 'v100', '"),
        ("1:1-2", "no variant is in the region; those of contig 1 are at 5,000 to 104,000"),
        ("1:5001-5002", "Error: 0 variants of 1:5,001-5,002: zoom out"),
    ],
)
def test_bad_regions_are_explained_in_the_status_line(bits, text, said):
    explorer = bits.genobit.explore.ld()
    explorer.go_to(text)
    assert explorer.status.startswith("Error")
    assert said in explorer.status


def test_a_region_is_set_as_text(bits):
    explorer = bits.genobit.explore.ld(region="chr1:10kb-30kb")
    assert explorer.region == ("1", 10_000.0, 30_000.0)
    explorer.region = "X"
    assert explorer.region == ("X", 5_000.0, 24_000.0)
    explorer.go_to("6kb-0.01Mb")
    assert explorer.region == ("X", 6_000.0, 10_000.0)
    with pytest.raises(ValueError, match="'six' is not a whole position"):
        explorer.region = "X:6-six"


def test_the_id_of_a_variant_goes_to_it(bits):
    explorer = bits.genobit.explore.ld(region="1:10kb-30kb")
    box = named(explorer, "genobit-ld-region")
    box.value = "v60"
    assert explorer.region == ("1", 55_000.0, 75_000.0)
    assert (explorer.lead, explorer.selected) == (60, (60,))
    assert explorer.selection.variants == ("v60",)
    assert box.value == "1:55,000-75,000"
    box.value = "v110"
    assert explorer.region == ("X", 5_000.0, 24_000.0)
    assert explorer.lead == 110
    assert not explorer.status.startswith("Error")
    twice = bits.assign_coords(variant_id=("variants", np.repeat(["a", "b"], 60)))
    explorer = twice.genobit.explore.ld()
    explorer.go_to("b")
    assert "'b' names 60 members in variant_id, at index 60, 61" in explorer.status


@pytest.mark.parametrize("text", ["chr1:10kb-12kb, v3", "1:10,000-12,000,v3", "v3;1:10000..12e3"])
def test_the_select_box_takes_regions(bits, text):
    explorer = bits.genobit.explore.ld()
    box = named(explorer, "genobit-ld-select")
    box.value = text
    assert explorer.selected == (3, 5, 6, 7)


def test_controls_follow_the_traits_and_lead_them(bits):
    explorer = bits.genobit.explore.ld()
    dropdown = named(explorer, "genobit-ld-statistic")
    explorer.statistic = "r"
    assert dropdown.value == "r"
    dropdown.value = "D"
    assert explorer.statistic == "D"


def test_save(bits, tmp_path):
    explorer = bits.genobit.explore.ld(region=("1", 5_000, 20_000), lead=2)
    written = explorer.save(tmp_path / "window.zarr")
    assert str(written) in explorer.status
    xr.testing.assert_equal(xr.open_zarr(written, consolidated=False).load(), explorer.visible)
    with pytest.raises(FileExistsError, match="choose another name"):
        explorer.save(tmp_path / "window.zarr")
    with pytest.raises(ValueError, match=r"end it with \.zarr, \.nc"):
        explorer.save(tmp_path / "window.txt")


def test_save_netcdf(bits, tmp_path):
    pytest.importorskip("scipy")
    written = bits.genobit.explore.ld().save(tmp_path / "window.nc")
    assert written.stat().st_size > 0


def test_datasets_without_positions_are_refused(genotypes):
    with pytest.raises(ValueError, match="needs variant_position"):
        genotypes.drop_vars("variant_position").genobit.explore.ld()


def test_region_text_is_read_back():
    region = ("1", 1_234.0, 56_789.0)
    assert parse_region(region_text(region), ["1"]) == Region("1", 1_234, 56_789)


def test_ranks_stop_at_the_ends_of_the_contig():
    contig = Contig(np.arange(10) * 10, np.arange(10), np.full(10, 0.5), min_maf=0.1)
    assert contig.positions_of_ranks(-5.0, 99.0) == (0.0, 90.0)


# Genes, blocks, and what stands beside the picture.

GENES = [
    {"contig": "chr1", "start": 20_000, "end": 30_000, "name": "ALPHA", "strand": "-"},
    {"contig": "chr1", "start": 60_000, "end": 64_000, "name": "HLA-A", "strand": "+"},
]


def test_a_pan_to_what_was_seen_computes_nothing(bits, monkeypatch):
    monkeypatch.setattr(tile_cache, "EDGE", 16)
    explorer = bits.genobit.explore.ld(region=("1", 5_000, 60_000))
    explorer.region = ("1", 40_000, 100_000)
    assert "computed in" in explorer.status
    explorer.region = ("1", 10_000, 50_000)
    assert "cached" in explorer.status
    expected = bits.isel(variants=slice(5, 46)).genobit.ld("r2").compute()
    np.testing.assert_array_equal(explorer.visible["r2"], expected)


def test_tiles_of_another_statistic_or_filter_are_others(bits):
    explorer = bits.genobit.explore.ld()
    explorer.statistic = "D"
    assert "computed in" in explorer.status
    explorer.min_maf = 0.2
    assert "computed in" in explorer.status


@pytest.mark.parametrize("aggregate", ["max", "mean", "sample"])
def test_the_picture_says_what_a_pixel_shows(bits, monkeypatch, aggregate):
    monkeypatch.setattr(explore_ld, "MAX_PIXELS", 30)
    explorer = bits.genobit.explore.ld(aggregate=aggregate)
    title = explorer._picture(0).opts.get("plot").kwargs["title"]
    assert {"max": "strongest", "mean": "mean", "sample": "one"}[aggregate] + " of up to" in title


@pytest.mark.parametrize("name", ["ALPHA", "hla-a"])
def test_the_name_of_a_gene_is_a_region(bits, name):
    explorer = bits.genobit.explore.ld(genes=GENES)
    explorer.go_to(name)
    assert (
        explorer.region
        == {
            "ALPHA": ("1", 17_500.0, 32_500.0),
            "hla-a": ("1", 59_000.0, 65_000.0),
        }[name]
    )


def test_genes_of_other_contigs_are_said_to_be(bits):
    explorer = bits.genobit.explore.ld(genes=GENES)
    explorer.go_to_contig("X")
    assert explorer._genes.box.children[0].children[0].value == (
        "The table has no gene on contig X; it has 1."
    )


def test_blocks_of_the_window_and_blocks_handed_in(bits, monkeypatch):
    expected = bits.isel(variants=slice(0, 100)).genobit.ld_blocks()
    assert expected.sizes["blocks"]
    explorer = bits.genobit.explore.ld(show_blocks=True)
    xr.testing.assert_identical(explorer._outlined, expected)
    assert f"{expected.sizes['blocks']} blocks of these variants" in explorer.status
    explorer.show_blocks = False
    assert explorer._outlined is None
    monkeypatch.setattr(explore_ld, "MAX_VARIANTS", 30)
    thinned = bits.genobit.explore.ld(show_blocks=True)
    assert "blocks: zoom in to 30 variants" in thinned.status
    given = bits.genobit.explore.ld(blocks=expected)
    assert given._outlined is expected


def listed(explorer):
    return explorer._lists._members


def test_table_of_variants_and_selection_both_ways(bits):
    explorer = bits.genobit.explore.ld(region=("1", 10_000, 30_000), tab="variants")
    assert listed(explorer)[:, 0].tolist() == list(range(5, 26))
    explorer._lists._picks._picked([2, 4])
    assert explorer.selected == (7, 9)
    explorer.selected = (6, 90)
    assert explorer._lists._picks.shown == {1}
    explorer.region = ("1", 5_000, 15_000)
    assert explorer._lists._picks.shown == {6}


def test_a_late_click_is_about_the_rows_that_were_clicked(bits):
    explorer = bits.genobit.explore.ld(region=("1", 10_000, 30_000), tab="variants")
    old = explorer._lists._picks
    explorer.tab = "picture"
    old._picked([2])
    assert explorer.selected == (7,)


def test_table_of_pairs_and_selection_both_ways(bits):
    explorer = bits.genobit.explore.ld(tab="pairs", threshold=0.9)
    first, second = listed(explorer).T
    r2 = bits.isel(variants=slice(0, 100)).genobit.ld("r2").values
    assert len(first) == (np.triu(r2, k=1) >= 0.9).sum() > 0
    assert (r2[first, second] >= 0.9).all()
    explorer._lists._picks._picked([1])
    assert explorer.selected == (first[1], second[1])
    explorer.threshold = 0.0
    assert len(listed(explorer)) == 1_000
    # A click on a pair of the picture selects both of its variants.
    explorer.threshold = 0.9
    explorer._on_tap((first[0] + second[0]) / 2, -float(second[0] - first[0]) - 0.5)
    assert explorer._lists._picks.shown == {0}


def test_no_pair_above_the_threshold_is_said(bits):
    explorer = bits.genobit.explore.ld(
        region=("1", 5_000, 7_000), statistic="D", tab="pairs", threshold=1.0
    )
    assert "No pair in view" in explorer._lists.box.children[0].children[0].value


def test_decay_and_picture(bits, monkeypatch):
    shown = []
    monkeypatch.setattr(views.Lists, "_show", lambda _self, picture: shown.append(picture))
    explorer = bits.genobit.explore.ld(tab="decay")
    assert not explorer.status.startswith("Error")
    expected = bits.isel(variants=slice(0, 100)).genobit.ld_decay("99000bp", parts=3)
    (picture,) = shown
    assert expected.fit == "does not fit"
    assert "the Hill–Weir curve does not fit" in explorer.status
    assert {"Points", "Curve"} <= {type(layer).__name__ for layer in picture}
    explorer.tab = "picture"
    assert not explorer._lists.box.children


def test_selected_out_of_range(bits):
    explorer = bits.genobit.explore.ld()
    with pytest.raises(traitlets.TraitError, match="variants 0 to 119"):
        explorer.selected = (3, 120)


def track_colours(explorer) -> dict[str, str]:
    """Return the colour of each variant in the track as the browser has it."""
    points = list(explorer._track._repaint._plot.subplots.values())[1]
    data, field = points.handles["source"].data, points.handles["glyph"].fill_color
    colours = data[field if isinstance(field, str) else field.field]
    return dict(zip(data["variant"], colours, strict=True))


def test_points_of_a_track_keep_their_colours_in_later_frames(bits):
    table = pd.DataFrame({"ID": bits.variant_id.values, "P": np.geomspace(1e-9, 0.9, 120)})
    explorer = bits.genobit.explore.ld(association=table)
    first = track_colours(explorer)
    assert len(set(first.values())) > 1
    explorer.region = ("1", 5_000.0, 25_000.0)
    later = track_colours(explorer)
    assert 1 < len(later) < len(first)
    assert later == {name: first[name] for name in later}


class TestDiamonds:
    """Cells of the triangle on the screen, whose size the browser tells."""

    def screen(self, explorer, width: int, height: int):
        explorer._gestures._on_size("tags", [], [width, height])
        explorer.refresh()
        return explorer._repaint._plot

    def raster(self, plot) -> np.ndarray:
        image = next(iter(plot.subplots.values()))
        return image.handles["source"].data["image"][0]

    def test_cells_are_squares_at_45_degrees(self, bits):
        explorer = bits.genobit.explore.ld()
        plot = self.screen(explorer, 900, 300)
        explorer._gestures._apply()
        figure, source = plot.state, next(iter(plot.subplots.values())).handles["source"]
        across = 900 / (figure.x_range.end - figure.x_range.start)
        down = 300 / (figure.y_range.end - figure.y_range.start)
        # y is the distance of two variants, and a pair stands half of it below the base.
        assert down == pytest.approx(across / 2)
        rows, columns = self.raster(plot).shape
        assert source.data["dw"][0] * across / columns == pytest.approx(
            source.data["dh"][0] * down / rows
        )

    def test_the_raster_has_the_pixels_of_the_screen(self, bits):
        explorer = bits.genobit.explore.ld()
        assert self.raster(self.screen(explorer, 900, 300)).shape == (450, 900)
        assert self.raster(self.screen(explorer, 500, 300)).shape == (250, 500)

    def test_zoomed_out_a_cell_shows_several_pairs_and_says_so(self, bits):
        explorer = bits.genobit.explore.ld()
        plot = self.screen(explorer, 600, 300)
        assert explorer._gestures._note.tags == []
        explorer._gestures._on_range("tags", [], [-250.0, 350.0, plot.state.x_range.name])
        explorer.refresh()
        assert self.raster(plot).shape == (50, 100)
        assert explorer._gestures._note.tags == ["pixel: strongest of up to 2 × 2 variants"]
        explorer._on_tap(12.0, -4.5)
        values = explorer.visible["r2"].values[10:12, 14:16]
        first, second = explorer.selected
        assert explorer.visible["r2"].values[first, second] == np.nanmax(values)


class TestPaper:
    """The figure for papers of the view."""

    def cells(self, figure) -> tuple[int, ...]:
        """Return the shape of the largest image: the map."""
        images = [image.get_array() for image in figure.findobj(AxesImage)]
        return max(images, key=np.size).shape[:2]

    def words(self, figure) -> str:
        return " ".join(text.get_text() for text in figure.findobj(Text)).replace("\n", " ")

    @pytest.mark.parametrize("view", ["triangle", "square"])
    def test_it_has_the_window_with_all_its_pairs(self, bits, view):
        explorer = bits.genobit.explore.ld(
            region=("1", 5_000.0, 25_000.0), lead=3, view=view, threshold=0.1
        )
        figure = explorer.figure()
        explorer.view = "square"  # A figure keeps what it showed.
        drawn = figure.to_matplotlib()
        assert self.cells(drawn) == (21, 21)
        assert "21 variants" in self.words(drawn)
        assert "White: |r²| < 0.1" in self.words(drawn)
        height, width = drawn.get_size_inches()[::-1]
        assert (height / width > 0.8) == (view == "square")

    def test_an_association_is_above_the_triangle(self, bits):
        table = pd.DataFrame({"ID": bits.variant_id.values, "P": np.geomspace(1e-9, 0.9, 120)})
        region = ("1", 5_000.0, 25_000.0)
        explorer = bits.genobit.explore.ld(association=table, region=region, threshold=0.1)
        explorer.lead = 12
        drawn = explorer.figure().to_matplotlib()
        assert self.cells(drawn) == (21, 21)
        words = self.words(drawn)
        assert "v12" in words
        assert "White: |r²| < 0.1" in words
        explorer.lead = 80  # Out of view: the triangle alone.
        assert "v12" not in self.words(explorer.figure().to_matplotlib())
        assert self.cells(explorer.figure().to_matplotlib()) == (21, 21)

    def test_a_thinned_window_says_so(self, bits, monkeypatch):
        monkeypatch.setattr(explore_ld, "MAX_VARIANTS", 30)
        table = pd.DataFrame({"ID": bits.variant_id.values, "P": np.geomspace(1e-9, 0.9, 120)})
        explorer = bits.genobit.explore.ld(association=table)
        assert "4 neighbours in every 16" in self.words(explorer.figure().to_matplotlib())


def test_tracks_and_pictures_share_one_axis(drawn, bits):
    explorer = bits.genobit.explore.ld()
    figure = explorer._repaint._plot.state
    assert figure.xaxis[0].visible
    explorer.lead = 4
    assert not figure.xaxis[0].visible
    track = explorer._track._repaint._plot.state
    assert track.title.visible
    assert track.title.text.startswith("r² with lead v4")
    explorer.lead = None
    assert figure.xaxis[0].visible
    explorer.view = "square"
    figure = explorer._repaint._plot.state
    explorer.lead = 5
    assert figure.xaxis[0].visible
    assert figure.yaxis[0].axis_label == ""


class TestFrame:
    def test_the_toolbar_is_short_and_the_drawer_has_the_rest(self, bits):
        explorer = bits.genobit.explore.ld()
        toolbar = named(explorer, "genobit-toolbar")
        assert len(toolbar.children) == 6  # statistic, frequency, zoom, search, export, drawer
        assert explorer.drawer.layout.display == "none"
        named(explorer, "genobit-open").value = True
        assert explorer.drawer.layout.display == "flex"
        hidden = {name for widget in _all(explorer.drawer) for name in widget._dom_classes}
        wanted = {"view", "axis", "threshold", "aggregate", "show-blocks", "of-samples"}
        assert {f"genobit-ld-{name}" for name in wanted} <= hidden

    def test_tabs_show_the_picture_or_a_list(self, bits):
        explorer = bits.genobit.explore.ld()
        picture, lists = named(explorer, "genobit-body").children
        assert (picture.layout.display, lists.layout.display) == ("flex", "none")
        named(explorer, "genobit-ld-tab-pairs").click()
        assert explorer.tab == "pairs"
        assert (picture.layout.display, lists.layout.display) == ("none", "flex")
        assert "genobit-on" in named(explorer, "genobit-ld-tab-pairs")._dom_classes
        assert "genobit-on" not in named(explorer, "genobit-ld-tab-picture")._dom_classes
        with pytest.raises(traitlets.TraitError, match="did you mean 'pairs'"):
            explorer.tab = "pair"

    def test_status_is_of_the_tab(self, bits):
        explorer = bits.genobit.explore.ld()
        window = explorer.status
        explorer.tab = "pairs"
        assert explorer.status == "4,725 pairs, the 1,000 strongest are listed"
        explorer.threshold = 0.5
        assert "pairs with |r²| ≥ 0.5" in explorer.status
        explorer.tab = "decay"
        assert explorer.status.startswith("Decay of r²: ")
        explorer.tab = "variants"
        assert explorer.status == window

    def test_a_refused_name_leaves_the_status_with_the_next_one(self, bits):
        explorer = bits.genobit.explore.ld()
        window, box = explorer.status, named(explorer, "genobit-ld-region")
        for text in ("no-such-variant", "no-such-variant ", "9:1-2"):
            box.value = text
            assert explorer.status.startswith("Error")
        explorer.tab = "variants"
        assert explorer.status.startswith("Error")
        box.value = ""
        assert (box.value, explorer.status) == (region_text(explorer.region), window)

    def test_a_refused_name_gives_way_to_the_line_of_the_tab(self, bits):
        explorer = bits.genobit.explore.ld()
        window, box = explorer.status, named(explorer, "genobit-ld-region")
        explorer.tab = "pairs"
        pairs = explorer.status
        box.value = "no-such-variant"
        box.value = ""
        assert explorer.status == pairs != window
        explorer.tab = "picture"
        assert explorer.status == window

    def test_failure_at_the_start(self, bits, monkeypatch):
        def fail(*_arguments):
            raise MemoryError("too many variants")

        monkeypatch.setattr("genobit.ld.explorer.data.Cohort.window", fail)
        explorer = bits.genobit.explore.ld()
        assert explorer.status == "Error: too many variants"
        assert "see the message below" in explorer._track.box.children[0].children[0].value

    def test_the_card_shows_the_selected_pair(self, bits):
        explorer = bits.genobit.explore.ld()
        assert explorer.card.layout.display == "none"
        explorer.selected = (3, 8)
        r2 = bits.isel(variants=[3]).genobit.ld("r2", other=bits.isel(variants=[8])).values[0, 0]
        apart = abs(int(bits.variant_position[8]) - int(bits.variant_position[3])) / 1e3
        for text in ("v3 × v8", f"{r2:.3f}", f"{apart:,.1f} kb"):
            assert text in explorer.card.value
        assert explorer.card.layout.display == "block"
        explorer.tab = "decay"
        assert explorer.card.layout.display == "none"
        explorer.tab, explorer.selected = "picture", ()
        assert explorer.card.layout.display == "none"

    def test_python_opens_the_same_view(self, bits):
        explorer = bits.genobit.explore.ld(
            region="1:10kb-30kb", min_maf=0.1, lead=12, axis="position"
        )
        explorer.selected = (12, 14)
        again = eval(explorer.python(), {"ds": bits})
        names = ("region", "min_maf", "lead", "axis", "selected", "statistic", "tab")
        assert [getattr(again, k) for k in names] == [getattr(explorer, k) for k in names]

    def test_the_menu_saves_the_figure_beside_the_last_one(self, bits, tmp_path):
        explorer = bits.genobit.explore.ld()
        named(explorer, "genobit-ld-file").value = str(tmp_path / "window")
        texts = [text for text, _ in explorer.menu.options]
        for _ in range(2):
            explorer.menu.index = texts.index("figure (PDF)")
            assert explorer.menu.index == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["window-2.pdf", "window.pdf"]
        assert (tmp_path / "window.pdf").read_bytes().startswith(b"%PDF")

    def test_copying_says_what_was_copied(self, bits):
        explorer = bits.genobit.explore.ld()
        explorer.menu.index = [text for text, _ in explorer.menu.options].index("copy Python")
        assert explorer.status == f"Copied: {explorer.python()}"


def lead_of(track):
    """Return the identifier of the lead variant that a track of p-values draws."""
    return track.Lead.I["variant"].item()


class TestAssociation:
    def table(self, bits):
        p = np.geomspace(1e-3, 0.9, 120)
        p[42] = 1e-12
        return pd.DataFrame({"ID": bits.variant_id.values, "P": p})

    def test_the_smallest_p_leads_and_the_region_is_round_it(self, bits):
        explorer = bits.genobit.explore.ld(association=self.table(bits))
        assert explorer.lead == 42
        assert explorer.region[1] <= bits.variant_position[42] <= explorer.region[2]

    def test_points_have_heights_and_colours_of_r2(self, bits):
        explorer = bits.genobit.explore.ld(association=self.table(bits))
        track = explorer._track_picture()
        _, points, lead = track
        assert lead["value"].tolist() == [12.0]
        r2 = bits.isel(variants=slice(0, 100)).genobit.ld("r2", other=bits.isel(variants=[42]))
        expected = dict(zip(r2["variant_id_0"].values, r2.values[:, 0], strict=True))
        colours = (*LIGHT.r2_bins,)
        for name, value, colour in zip(
            points["variant"], points["r2"], points["colour"], strict=True
        ):
            np.testing.assert_allclose(value, expected[name], rtol=1e-6)
            if np.isfinite(value):
                assert colour == colours[min(int(value * 5), 4)]

    def test_a_click_on_a_point_makes_it_the_lead(self, bits):
        table = self.table(bits)
        explorer = bits.genobit.explore.ld(association=table)
        before = explorer._track_picture()
        explorer._choose_point(7.0, -np.log10(table["P"][7]))
        assert explorer.lead == 7
        after = explorer._track_picture()
        assert lead_of(after) == "v7"
        assert lead_of(before) == "v42"
