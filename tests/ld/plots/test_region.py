"""Regional associations for papers, by their artists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import genobit as gb
from genobit.ld.methods.region import region_view
from genobit.ld.plots.region import region
from genobit.ld.plots.region_association import bins_of, place_texts
from genobit.ld.plots.region_layout import LEAD, NO_VALUE, lay_out
from genobit.visual.paper.page import draw_on, page_of, size_of, write
from genobit.visual.tokens import LIGHT
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.ld.plots.results import panels, require_legible, texts_of

GENES = pd.DataFrame(
    [
        ("2", 136289083, 136482839, "R3HDM1", "+"),
        ("2", 136499189, 136542633, "UBXN4", "+"),
        ("2", 136545415, 136594750, "LCT", "-"),
        ("2", 136597196, 136634047, "MCM6", "-"),
        ("2", 136664254, 136743222, "DARS", "-"),
    ],
    columns=["contig", "start", "end", "name", "strand"],
)


@pytest.fixture
def ds() -> xr.Dataset:
    return cohort(mosaic_calls(3, 50, 80), contigs=2)


@pytest.fixture
def table(ds) -> pd.DataFrame:
    p = np.random.default_rng(0).uniform(0.01, 1, 50)
    p[7] = 1e-9
    return pd.DataFrame({"SNP": ds.variant_id.values, "P": p})


def view_of(ds, table, **options):
    plain = {
        "region": None, "lead": None, "genes": None, "genetic_map": None, "blocks": True,
        "statistic": "r2", "min_maf": 0.05, "p": None, "log10": False,
    }  # fmt: skip
    return region_view(ds, table, **{**plain, **options})


def texts(figure) -> str:
    return " | ".join(text.get_text() for text, _ in texts_of(figure))


def points(figure):
    """The marks of the association, those of the variants and that of the lead."""
    axes = next(p for p in panels(figure) if "log" in p.get_ylabel())
    return axes, axes.collections


def test_points_are_at_their_position_in_the_colour_of_their_r2(ds, table):
    view = view_of(ds, table)
    r2 = ds.genobit.sel(variants="chr1").genobit.ld().compute()
    shown = np.isin(r2.variant_id_0.values, view.names)
    np.testing.assert_array_equal(view.lead_r2, r2.values[shown, 7])
    assert view.names[view.lead] == "rs7"
    _, (others, lead) = points(page_of(region(ds, table), 180))
    assert lead.get_offsets().tolist() == [[ds.variant_position.values[7] / 1e6, 9.0]]
    at = {round(x * 1e6): k for k, (x, _) in enumerate(others.get_offsets())}
    assert len(at) == shown.sum() - 1
    for k, position in enumerate(view.position):
        if k != view.lead:
            mark = at[position]
            assert others.get_offsets()[mark][1] == pytest.approx(view.strength[k])
            colour = LIGHT.r2_bins[min(int(view.lead_r2[k] * 5), 4)]
            assert tuple(others.get_facecolors()[mark][:3]) == pytest.approx(to_rgb(colour))


def test_bins_begin_at_their_edge():
    r2 = np.array([0, 0.1999, 0.2, 0.4, 0.79, 0.8, 1.0, np.nan])
    assert bins_of(r2).tolist() == [0, 0, 1, 2, 3, 4, 4, NO_VALUE]


def test_what_is_not_drawn_is_counted(ds, table):
    without = table.drop(index=[3, 4]).assign(P=lambda t: t.P.where(t.SNP != "rs5"))
    more = pd.DataFrame({"SNP": ["rs900", "rs901"], "P": [0.1, 0.2]})
    given = pd.concat([without, more], ignore_index=True)
    view = view_of(ds, given, min_maf=0)
    found = texts(page_of(region(ds, given, min_maf=0), 180))
    assert "3 variants without P" in found
    assert "2 table rows without a variant" in found
    assert f"{len(view.position)} variants" in found
    rare = view_of(ds, given, min_maf=0.3)
    assert len(rare.position) < rare.present == len(view.position)
    found = texts(page_of(region(ds, given, min_maf=0.3), 180))
    assert f"{len(rare.position)} of {rare.present} variants, MAF ≥ 0.3" in found


def test_a_smaller_p_of_a_rare_variant_is_named(ds, table):
    maf = ds.genobit.allele_frequency().values
    maf = np.minimum(maf, 1 - maf)[:25]
    rarest = int(maf.argmin())
    given = table.assign(P=np.where(np.arange(50) == rarest, 1e-30, table.P))
    paper = region(ds, given, region="chr1", min_maf=float(maf[maf > maf.min()].min()))
    assert f"rs{rarest} has a smaller P, but is too rare" in texts(page_of(paper, 180))


@pytest.mark.parametrize("form", ["frame", "indexed", "dataset", "array", "series", "file"])
def test_all_forms_of_a_table_give_the_same(ds, table, form, tmp_path):
    given = {
        "frame": table.sample(frac=1, random_state=0),
        "indexed": table.set_index("SNP").P.sample(frac=1, random_state=0),
        "series": table.P,
        "array": xr.DataArray(
            table.P.values, dims="variants", coords={"variant_id": ("variants", table.SNP)}
        ),
        "dataset": xr.Dataset(
            {"p_value": ("variants", table.P)},
            {n: ds[n] for n in ("variant_position", "variant_contig", "contig_id")},
        ),
    }
    table.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    view = view_of(ds, tmp_path / "a.tsv" if form == "file" else given[form])
    np.testing.assert_allclose(view.strength, view_of(ds, table).strength)


def test_the_window_is_the_region_or_the_contig_of_the_lead(ds, table):
    position = ds.variant_position.values
    view = view_of(ds, table)
    assert (view.contig, view.start, view.end) == ("chr1", position[0], position[24])
    view = view_of(ds, table, lead="rs30")
    assert (view.contig, view.names[view.lead]) == ("chr2", "rs30")
    view = view_of(ds, table, region=f"1:{position[5]}-{position[15]}", lead=8, min_maf=0)
    assert view.names.tolist() == [f"rs{k}" for k in range(5, 16)]
    assert view.names[view.lead] == "rs8"


def test_recombination_rates_are_those_of_the_map(ds, table):
    position = ds.variant_position.values
    middle = int(position[12])
    rates = pd.DataFrame(
        {"pos": [1, middle, position[24] + 1], "cM": [0.0, 2.0, 2.5], "chr": "chr1"}
    )
    view = view_of(ds, table, genetic_map=rates)
    edges, found = view.rates
    np.testing.assert_allclose(edges, [position[0], middle, position[24]])
    expected = [2e6 / (middle - 1), 0.5e6 / (position[24] + 1 - middle)]
    np.testing.assert_allclose(found, expected)
    assert "Recombination (cM/Mb)" in texts(page_of(region(ds, table, genetic_map=rates), 180))
    with pytest.raises(ValueError, match="genetic map has no contig 'chr1'; it has 3"):
        region(ds, table, genetic_map=rates.assign(chr="3"))


@pytest.mark.parametrize("width", [60, 90, 180])
def test_texts_stay_on_the_page_and_apart(ds, table, width):
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 12_000, 30)
    genes = pd.DataFrame(
        {
            "contig": "1",
            "start": starts,
            "end": starts + rng.integers(100, 3_000, 30),
            "name": [f"GENE{k}" * (1 + k % 3) for k in range(30)],
            "strand": rng.choice(["+", "-", "."], 30),
        }
    )
    names = [f"chr1:{k}_a_very_long_name_$of$_a_variant" for k in range(50)]
    renamed = ds.assign(variant_id=("variants", np.array(names, object)))
    paper = region(renamed, table.assign(SNP=names), genes=genes, note="a note")
    found = require_legible(page_of(paper, width))
    assert any(name.startswith("GENE") for name in found)
    assert any("a note" in text for text in found)


@pytest.mark.parametrize("width", [90, 180])
def test_names_stay_off_the_points(ds, table, width):
    # Points everywhere: neither text has room beside its mark or line.
    for crowd in (0.0, 0.5, 1.0):
        rng = np.random.default_rng(1)
        p = 10 ** -rng.uniform(9 - 8 * crowd, 9, 50)
        view = view_of(ds, table.assign(P=p), min_maf=0)
        layout = lay_out(view, [], width)
        placed = place_texts(view, layout, 5e-8)
        scale = (layout.association - 5) / max(view.strength.max(), -np.log10(5e-8))
        x, y = layout.places(view.position), view.strength * scale
        for left, bottom, right, top in filter(None, (placed.lead, placed.line)):
            inside = (x > left) & (x < right) & (y > bottom) & (y < top)
            assert not inside.any()
            assert 0 <= left < right <= layout.across


def test_a_figure_drawn_twice_is_the_same_file(ds, table, tmp_path):
    for suffix in ("pdf", "svg"):
        files = [tmp_path / f"{k}.{suffix}" for k in range(2)]
        for file in files:
            write(page_of(region(ds, table), 90), file, suffix)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_it_fits_into_an_axes_of_the_user(ds, table):
    figure = Figure((10, 4))
    axes = draw_on(region(ds, table), figure.add_subplot(1, 2, 2))
    _, height = size_of(axes)
    for shown in axes.child_axes:
        box = shown.get_window_extent()
        assert box.height / figure.dpi * 25.4 < height
        assert axes.get_window_extent().y0 - 1 <= box.y0


def test_lead_without_p_and_monomorphic_variants_are_drawn(ds, table):
    calls = ds.call_genotype.values.copy()
    calls[3] = 0
    given = table.assign(P=table.P.where(table.SNP != "rs7"))
    paper = region(ds.assign(call_genotype=ds.call_genotype.copy(data=calls)), given, lead="rs7",
                   min_maf=0)  # fmt: skip
    figure = page_of(paper, 180)
    found = texts(figure)
    assert "1 variant without P" in found
    assert "1 variant without r²" in found
    assert "no r²" in found
    assert len(points(figure)[1]) == 1
    assert LEAD != NO_VALUE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lead": "rs30", "region": "chr1"}, "lead variant rs30 is outside of the region"),
        ({"lead": "chr1"}, "names 25 variants"),
        ({"lead": "rs7", "min_maf": 0.5}, "below min_maf=0.5: lower min_maf"),
        ({"region": "chr1", "min_maf": 0.5}, "lower min_maf, or choose a larger region"),
        ({"region": "chr9"}, "no contig 'chr9'"),
        ({"significance": 2.0}, "significance=2.0 is no p-value"),
        ({"statistic": "r3"}, "statistic 'r3' is not one of"),
    ],
)
def test_errors_say_what_to_do(ds, table, options, message):
    with pytest.raises(ValueError, match=message):
        region(ds, table, **options)


def test_other_errors_fit_their_cause(ds, table):
    with pytest.raises(KeyError, match="variant_position"):
        region(ds.drop_vars("variant_position"), table)
    with pytest.raises(TypeError, match="association is a int"):
        region(ds, 3)
    with pytest.raises(ValueError, match="has 3 values without labels"):
        region(ds, pd.Series([0.1, 0.2, 0.3]))


def test_the_lactase_region(shared_data, tmp_path):
    ds = gb.open_plink(shared_data / "lct_1kg" / "lct_1kg.bed")
    r = ds.genobit.ld("r", other="rs4988235").values[:, 0]
    from scipy.stats import norm

    table = pd.DataFrame({"SNP": ds.variant_id, "P": 2 * norm.sf(np.abs(11.6 * r))})
    paper = region(ds, table, genes=GENES)
    view = view_of(ds, table, genes=GENES)
    assert len(view.position) == 410
    assert view.names[view.lead] == "rs4988235"
    assert (view.blocks["n"] >= 9).sum() == 8
    layout = lay_out(view, [], 180)
    assert layout.genes.rows == 1
    for width in (90, 180):
        found = require_legible(page_of(paper, width))
        assert {"R3HDM1", "UBXN4", "LCT", "MCM6", "DARS", "73 kb", "25 kb", "37 kb"} <= set(found)
        assert any("410 of 607 variants, MAF ≥ 0.05" in text for text in found)
    write(page_of(paper, 180), tmp_path / "a.pdf", "pdf")
    assert (tmp_path / "a.pdf").stat().st_size < 200_000
