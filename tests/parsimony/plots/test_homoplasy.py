from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from genobit.launcher.plots import homoplasy_track, site_table
from genobit.parsimony.plots.homoplasy import BARS, draw_sites


def made(extra: np.ndarray) -> xr.Dataset:
    least = 1 + np.arange(len(extra)) % 2
    most = least + extra + 2
    return xr.Dataset(
        {
            "changes": ("sites", least + extra),
            "min_changes": ("sites", least),
            "max_changes": ("sites", most),
            "site_ci": ("sites", least / (least + extra)),
            "site_ri": ("sites", 2 / (most - least)),
        }
    )


def title(picture) -> str:
    return str(picture.opts.get("plot").kwargs["title"])


class TestTrack:
    def test_a_bar_a_site(self):
        picture = homoplasy_track(made(np.array([0, 3, 0, 1])), 1)
        bars = picture.Rectangles.Sites
        assert bars["y1"].tolist() == [3, 1]
        assert ((bars["x"] + bars["x1"]) / 2).tolist() == [1, 3]
        assert picture.Segments.Site["x"].tolist() == [1]
        assert bars["sites"].tolist() == ["1", "3"]
        assert title(picture) == "changes beyond the fewest possible: 4 at 2 of 4 sites"

    @pytest.mark.parametrize("n_sites", [BARS + 1, 10 * BARS - 7])
    def test_bars_of_several_sites_say_so(self, n_sites):
        extra = np.random.default_rng(1).poisson(0.3, n_sites)
        picture = homoplasy_track(made(extra))
        most, mean = picture.Rectangles.Most, picture.Rectangles.Mean
        width = -(-n_sites // BARS)
        assert len(most) <= BARS
        assert f"a bar is {width} sites" in title(picture)
        assert most["y1"].max() == extra.max()
        assert most["sites"][0].startswith("0 to ")
        width_of = mean["x1"] - mean["x"]
        assert (mean["y1"] * width_of).sum() == pytest.approx(extra.sum())

    def test_no_homoplasy(self):
        picture = homoplasy_track(made(np.zeros(9, dtype="i8")))
        assert len(picture.Rectangles.Sites) == 0
        assert "0 at 0 of 9 sites" in title(picture)


class TestTable:
    def test_most_homoplastic_first(self):
        table = site_table(made(np.array([0, 3, 0, 1])))
        assert table["site"].tolist() == [1, 3, 0, 2]
        assert table["extra"].tolist() == [3, 1, 0, 0]
        assert (table["changes"] - table["min_changes"]).tolist() == [3, 1, 0, 0]

    def test_limits(self):
        found = made(np.array([0, 3, 0, 1]))
        assert site_table(found, 1)["site"].tolist() == [1]
        assert site_table(found, least=1)["site"].tolist() == [1, 3]

    def test_drawn_with_its_names(self):
        drawn = draw_sites(site_table(made(np.array([0, 3]))))
        columns = ["site", "changes", "least", "most", "extra", "ci", "ri"]
        assert [column.name for column in drawn.vdims] == columns
