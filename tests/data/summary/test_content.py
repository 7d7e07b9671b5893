"""Summaries: right where they are cheap, silent where they are not, and safe to put on a page."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import genobit  # noqa: F401 - registers the accessors
from genobit.data.availability import of_dataarray, of_dataset
from genobit.data.summary import peek
from genobit.data.summary.content import genotypes
from tests.helpers.laziness import raise_if_dask_computes

GENERATOR = np.random.default_rng(8)
DIMS = ("variants", "samples", "ploidy")


def cohort(variants: int = 300, samples: int = 70) -> xr.Dataset:
    calls = GENERATOR.integers(-1, 2, (variants, samples, 2)).astype("int8")
    calls[(calls < 0).any(axis=2)] = -1
    calls[0] = 0
    return xr.Dataset(
        {
            "call_genotype": (DIMS, calls),
            "variant_contig": ("variants", np.repeat([0, 1], [variants - 100, 100])),
            "variant_position": ("variants", np.arange(variants)),
            "contig_id": ("contigs", np.array(["<b>2</b>", "X"], object)),
            "sample_case": ("samples", np.arange(samples) % 2),
        }
    )


def expected(ds: xr.Dataset) -> tuple[float, float, np.ndarray]:
    calls = ds["call_genotype"].values.reshape(ds.sizes["variants"], -1)
    called = (calls >= 0).sum(axis=1)
    frequency = (calls == 1).sum(axis=1) / called
    minor = np.minimum(frequency, 1 - frequency)
    missing = (calls < 0).mean()
    return missing, (minor == 0).mean(), np.histogram(minor, 25, (0, 0.5))[0]


def lazily(ds: xr.Dataset) -> xr.Dataset:
    return ds.chunk(variants=64)


@pytest.mark.parametrize("change", [lambda ds: ds, lazily], ids=["numpy", "dask"])
@pytest.mark.parametrize("rows", [None, "variants", "samples"])
def test_genotypes__are_counted_alike_packed_or_not(monkeypatch, change, rows) -> None:
    monkeypatch.setattr(peek, "SECONDS", 60)
    ds = cohort()
    missing, monomorphic, spectrum = expected(ds)
    given = change(ds) if rows is None else change(ds).genobit.pack(rows=rows)
    found = genotypes(given)
    assert found.looked_at == 300
    assert found.missing == pytest.approx(missing, abs=1e-15)
    assert found.monomorphic == pytest.approx(monomorphic, abs=1e-15)
    assert found.spectrum.tolist() == spectrum.tolist()
    assert found.contigs == (("<b>2</b>", 200), ("X", 100))
    assert found.bytes_unpacked == 300 * 70 * 2


def forbid(*_args, **_settings):
    raise AssertionError("nothing may be computed")


@pytest.mark.parametrize(
    ("bound", "most"), [("MOST_TASKS", 0), ("MOST_CHUNKS", 1), ("MOST_BYTES", 100)]
)
def test_lazy_genotypes__past_a_bound_are_not_computed(monkeypatch, bound, most) -> None:
    ds = lazily(cohort())
    if bound == "MOST_BYTES":
        monkeypatch.setattr(peek.peek, "__defaults__", (most,))
    else:
        monkeypatch.setattr(peek, bound, most)
    monkeypatch.setattr(peek, "compute", forbid)
    assert genotypes(ds).looked_at == 0
    shown = ds.genobit._repr_html_()
    assert "not computed" in shown
    assert "<svg" not in shown


def test_a_huge_lazy_dataset__is_shown_at_once() -> None:
    def refuse(block):
        raise AssertionError("a chunk of 4 GB was computed")

    calls = da.zeros((10**6, 500_000, 2), "int8", chunks=(4096, 500_000, 2)).map_blocks(
        refuse, dtype="int8", meta=np.empty((0, 0, 0), "int8")
    )
    shown = xr.Dataset({"call_genotype": (DIMS, calls)}).genobit._repr_html_()
    assert "1,000,000 variants × 500,000 samples" in shown
    assert "not computed" in shown


def test_one_variant_of_one_sample__has_no_plural() -> None:
    shown = cohort().isel(variants=slice(1, 2), samples=slice(0, 1)).genobit._repr_html_()
    assert "1 variant × 1 sample<" in shown.replace("</", "<").replace(", packed", "<")
    assert "1 variants" not in shown


def test_slow_chunks__end_the_glance(monkeypatch) -> None:
    monkeypatch.setattr(peek, "SECONDS", 0)
    ds = lazily(cohort())
    assert genotypes(ds).looked_at == 64
    assert "of 64 variants spread over all" in ds.genobit._repr_html_()


def test_a_glance__is_small_of_what_is_in_memory(monkeypatch) -> None:
    monkeypatch.setattr(peek, "MOST_ROWS", 50)
    assert genotypes(cohort()).looked_at == 50
    assert genotypes(lazily(cohort())).looked_at < 70


def test_html__escapes_what_comes_from_data() -> None:
    shown = cohort().genobit._repr_html_()
    assert "&lt;b&gt;2&lt;/b&gt; (200)" in shown
    assert "<b>2</b>" not in shown
    assert "<svg" in shown


def lines(data: object) -> list[str]:
    return repr(data).splitlines()


def test_text__has_sizes_packing_and_a_line_for_each_analysis() -> None:
    ds = cohort()
    first, *others = lines(ds.genobit)
    assert first == "genobit: 300 variants × 70 samples"
    found = " ".join(line.split()[0] for line in others)
    assert found == "contigs: bytes: methods " + " ".join(
        "–" if one.wants else "✓" for one in of_dataset(ds)
    )
    for one, line in zip(of_dataset(ds), others[3:], strict=True):
        assert line.split(maxsplit=1)[1].startswith(one.name)
        assert one.calls in line
        note = f"wants {one.wants}" if one.wants else one.note
        assert line.endswith(f"{one.calls}  ({note})" if note else one.calls)
    bits = ds.genobit.pack(rows="samples")
    assert lines(bits.genobit)[0].endswith("packed: dosage planes, rows are samples")
    assert str(ds.genobit) == repr(ds.genobit)


def test_text__of_a_dataarray_has_its_analyses() -> None:
    expr = xr.DataArray(np.ones((2, 3)), dims=("gene", "sample"))
    assert [line.split()[:4] for line in lines(expr.genobit)] == [
        ["genobit:", "2", "gene", "×"],
        ["values:", "float64,", "48", "bytes"],
        ["methods", "of", "da.genobit:"],
        ["✓", "rank", "correlation", "kendall(),"],
        ["–", "similarity", "of", "binary"],
    ]


def test_text__reads_no_genotypes(monkeypatch) -> None:
    monkeypatch.setattr(peek, "compute", forbid)
    ds = cohort()
    ds["call_genotype"] = ds.call_genotype.chunk(variants=64)
    with raise_if_dask_computes():
        for data in (ds, ds.genobit.pack(), ds.call_genotype[:, :, 0]):
            assert "not computed" not in repr(data.genobit)
            assert "methods of" in repr(data.genobit)


def test_text__of_what_cannot_be_used_says_why() -> None:
    bits = cohort().genobit.pack().drop_vars("plane_carrier")
    assert lines(bits.genobit)[0] == "genobit: genotypes that cannot be used"
    assert "lacks the plane" in lines(bits.genobit)[1]
    assert lines(xr.Dataset({"x": 1}).genobit) == [
        "genobit: no genotypes",
        "  no variable call_genotype, and not packed; there are: x",
    ]


def test_summaries__have_a_line_for_each_joined_table() -> None:
    ds = cohort().assign_attrs(joined="a <b>\nc")
    assert "  joined:   a <b>" in lines(ds.genobit)
    assert "            c" in lines(ds.genobit)
    assert "a &lt;b&gt;\nc" in ds.genobit._repr_html_()


def test_html__of_broken_planes_says_what_is_wrong() -> None:
    bits = cohort().genobit.pack().drop_vars("plane_carrier")
    assert "lacks the plane" in bits.genobit._repr_html_()
    assert "no variable call_genotype" in xr.Dataset({"x": 1}).genobit._repr_html_()


def test_applicable__says_what_each_analysis_wants() -> None:
    ds = cohort()
    assert {a.calls: a.wants for a in of_dataset(ds) if a.wants} == {
        "ld_score()": "variant_genetic_position",
        "alignment().genobit.parsimony(tree)": "haploid calls (here ploidy 2): ds.isel(ploidy=[0])",
    }
    assert "sample_case" in next(a for a in of_dataset(ds) if a.name == "interactions").note
    bits = ds.genobit.pack(rows="samples")
    wants = {a.name: a.wants for a in of_dataset(bits)}
    assert wants["linkage"] == "pack(rows='variants')"
    assert wants["relationships"] == ""
    without = of_dataset(ds.drop_vars("variant_position"))
    near = {a.calls: a.wants for a in without if a.name == "pairs near each other"}
    assert near["ld_pairs(threshold=), ld_prune()"] == ""
    assert near["ld_clump(p), ld_decay(window), ld_blocks()"] == "variant_position"


def test_dataarrays__show_symbols_and_missing_values() -> None:
    aln = xr.DataArray([list("AC<T"), list("A-?T")], dims=("taxa", "sites"))
    shown = aln.genobit._repr_html_()
    assert "2 taxa × 4 sites" in shown
    assert "&lt; A C T" in shown
    assert "25.00%" in shown
    expr = xr.DataArray([[1.0, np.nan], [2.0, 3.0]], dims=("gene", "sample"))
    assert "25.00%" in expr.genobit._repr_html_()
    assert "not computed" in expr.chunk().genobit._repr_html_()
    assert [a.wants for a in of_dataarray(expr)] == ["", "zeros and ones"]


def test_planes_of_a_file__are_summarised_as_they_were(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(peek, "SECONDS", 60)
    bits = cohort().genobit.pack()
    bits.to_zarr(tmp_path / "bits.gb", zarr_format=2, consolidated=True)
    with dask.config.set(scheduler="sync"):
        found = genotypes(xr.open_zarr(tmp_path / "bits.gb"))
    assert found.spectrum.tolist() == genotypes(bits).spectrum.tolist()
    assert found.packing == "dosage planes, rows are variants"
