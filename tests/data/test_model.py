from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data import layouts, model
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes


def test_require_genotypes__puts_dimensions_in_order() -> None:
    calls = random_calls(1, 5, 4)
    turned = cohort(calls).transpose("ploidy", "samples", "variants", ...)
    np.testing.assert_array_equal(model.require_genotypes(turned), calls)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda ds: ds.drop_vars("call_genotype"),
            KeyError,
            "no variable 'call_genotype' .*variant_position.*open_plink",
        ),
        (
            lambda ds: ds.rename(ploidy="alleles2"),
            ValueError,
            r"dimensions \('variants', 'samples', 'alleles2'\), expected .*'ploidy'.*rename",
        ),
        (lambda ds: ds.isel(ploidy=0), ValueError, r"dimensions \('variants', 'samples'\)"),
        (
            lambda ds: ds.assign(call_genotype=ds.call_genotype.astype("float32")),
            TypeError,
            r"dtype float32.*fill NaN with -1.*astype\('int8'\)",
        ),
        (
            lambda ds: ds.assign(call_genotype=ds.call_genotype.astype("U3")),
            TypeError,
            "dtype <U3",
        ),
        (lambda ds: ds.isel(variants=[]), ValueError, "empty along 'variants'"),
        (lambda ds: ds.isel(samples=slice(0, 0)), ValueError, "empty along 'samples'"),
    ],
)
def test_require_genotypes__refuses(
    change: Callable[[xr.Dataset], xr.Dataset], error: type[Exception], message: str
) -> None:
    ds = change(cohort(random_calls(1, 5, 4)))
    for use in (model.require_genotypes, lambda ds: ds.genobit.pack()):
        with pytest.raises(error, match=message):
            use(ds)


def test_require_genotypes__does_not_compute() -> None:
    with raise_if_dask_computes():
        model.require_genotypes(cohort(random_calls(1, 50, 4), chunks=(10, 2)))


def packed() -> xr.Dataset:
    """As a file gives it back: without the index that refuses plain selections."""
    ds = cohort(random_calls(1, 5, 70, missing=0.1)).genobit.pack()
    return ds.drop_indexes(list(ds.xindexes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ds: ds.drop_vars("plane_carrier"), "lacks the plane 'plane_carrier'"),
        (lambda ds: ds.drop_vars("plane_hom_alt"), "lacks the plane 'plane_hom_alt'"),
        (
            lambda ds: ds.assign(plane_called=ds.plane_called.astype("int64")),
            r"plane_called is int64 .*expected uint64 \('variants', 'words'\)",
        ),
        (
            lambda ds: ds.transpose("words", "variants", ...),
            r"plane_carrier is .*\('words', 'variants'",
        ),
        (lambda ds: ds.isel(words=[0]), "plane_carrier has 1 words a row, but 70 bits take 2"),
        (
            lambda ds: ds.isel(samples=slice(5, 70)),
            "planes hold 70 samples, the Dataset now has 65.*select samples .*genobit.isel",
        ),
        (
            lambda ds: ds.isel(samples=[*range(68), 69, 68]),
            r"sample_bit\[68\] is 69, expected 68: .*reordered along 'samples'",
        ),
        (lambda ds: ds.isel(words=[1, 0]), r"is 1, expected 0: .*reordered along 'words'"),
        (lambda ds: ds.drop_vars("sample_bit"), "lacks the coordinate 'sample_bit'"),
        (lambda ds: ds.assign_attrs(genobit_version=2), "layout version 2.*reads version 1"),
    ],
    ids=[str(k) for k in range(10)],
)
def test_layout_of__refuses(change: object, message: str) -> None:
    ds = change(packed())
    with pytest.raises(ValueError, match=message):
        layouts.layout_of(ds)


def test_layout_of__a_dataset_that_is_not_packed() -> None:
    assert layouts.layout_of(cohort(random_calls(1, 5, 4))) is None


def test_layout_of__after_variants_were_selected_or_labels_added() -> None:
    ds = packed()
    layout = layouts.layout_of(ds)
    assert layout is not None
    assert layouts.layout_of(ds.isel(variants=[3, 1])) == layout
    assert layouts.layout_of(ds.isel(variants=0, drop=False).expand_dims("variants")) == layout
    assert layouts.layout_of(ds.assign_coords(population=("samples", ["a"] * 70))) == layout


def test_layout_of__sees_samples_joined_or_aligned() -> None:
    ds = packed().set_index(samples="sample_id")
    with pytest.raises(ValueError, match=r"\.genobit\.isel"):
        layouts.layout_of(ds.sel(samples=["s3", "s1"]))
    with pytest.raises(ValueError, match=r"\.genobit\.isel"):
        layouts.layout_of(ds.reindex(samples=["s1", "s0"]))


@pytest.mark.parametrize(
    "selection",
    [slice(0, 1), slice(None, None, -1), [0, 1], np.arange(70) < 5, 0],
    ids=["first", "reversed", "two", "mask", "one"],
)
def test_a_plain_selection_along_the_bits_is_refused_at_once(selection: object) -> None:
    ds = cohort(random_calls(1, 5, 70)).genobit.pack()
    with pytest.raises(ValueError, match=r"leave the bit planes behind.*\.genobit\.isel\(samples="):
        ds.isel(samples=selection)
    turned = cohort(random_calls(1, 70, 5)).genobit.pack(rows="samples")
    with pytest.raises(
        ValueError, match=r"leave the bit planes behind.*\.genobit\.isel\(variants="
    ):
        turned.isel(variants=selection)
    if np.size(selection) < 70:
        for packed_ds, what in ((ds, "samples"), (turned, "variants")):
            with pytest.raises(ValueError, match=rf"\.genobit\.isel\({what}="):
                packed_ds.isel(words=selection)


def test_planes_that_may_be_joined_copied_and_sent() -> None:
    ds = cohort(random_calls(1, 50, 70)).genobit.pack()
    parts = [ds.isel(variants=slice(0, 20)), ds.isel(variants=slice(20, 50))]
    joined = xr.concat(
        parts, "variants", data_vars="minimal", coords="minimal", join="exact", compat="override"
    )
    for other in (
        joined,
        ds.copy(deep=True),
        ds.isel(samples=slice(None)),
        ds.load(),
        pickle.loads(pickle.dumps(ds)),
        ds.assign_coords(x=("samples", np.zeros(70))),
    ):
        assert layouts.layout_of(other) == layouts.layout_of(ds)
        np.testing.assert_array_equal(other.genobit.ld("r"), ds.genobit.ld("r"))
    more = cohort(random_calls(1, 50, 71)).genobit.pack()
    with pytest.raises(ValueError, match="samples"):
        xr.concat(
            [ds, more],
            "variants",
            data_vars="minimal",
            coords="minimal",
            compat="override",
            join="exact",
        )


def test_carried__leaves_out_what_is_of_calls() -> None:
    ds = cohort(random_calls(1, 5, 4), phased=True)
    ds["call_DP"] = (("variants", "samples"), np.zeros((5, 4)))
    names = set(model.carried(ds, without=("call_genotype",)))
    assert names == {str(name) for name in ds.variables if not str(name).startswith("call_")}


def test_values__names_what_lacks() -> None:
    with pytest.raises(KeyError, match="window='1kb' needs the variable 'variant_position'"):
        model.values(xr.Dataset(), "variant_position", needed_for="window='1kb'")


def test_require_biallelic__counts_and_gives_the_first() -> None:
    model.require_biallelic(np.array([1, 2, 2]))
    with pytest.raises(ValueError, match=r"2 of 5 .*first at variants=1 \(4 alleles\)"):
        model.require_biallelic(np.array([2, 4, 2, 3, 1]))


def test_along__text_of_fixed_width_goes_to_zarr_without_a_warning(tmp_path: Path) -> None:
    ds = cohort(random_calls(1, 9, 4)).assign_coords(
        sample_id=("samples", np.array(["a", "bb", "ccc", "d"])), group=("samples", list("xyxy"))
    )
    assert ds.sample_id.dtype.kind == ds.group.dtype.kind == "U"
    results = {"grm": ds.genobit.grm(), "pcs": ds.genobit.pca(2).scores}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, result in results.items():
            result.to_zarr(tmp_path / name, consolidated=False)
            back = xr.open_dataarray(tmp_path / name, engine="zarr", consolidated=False)
            xr.testing.assert_identical(back.compute(), result.compute())


def test_names__may_leave_out_the_prefix_of_their_dimension() -> None:
    ds = xr.Dataset({"sample_case": ("samples", [0, 1]), "variant_p": ("variants", [0.5])})
    assert model.named(ds, "case", "samples").name == "sample_case"
    assert model.named(ds, "p", "variants").name == "variant_p"
    assert model.named(ds.assign(case=("samples", [1, 0])), "case", "samples").name == "case"
    with pytest.raises(KeyError, match="no variable 'case' along 'variants'"):
        model.named(ds, "case", "variants")


@pytest.mark.parametrize("change", ["transposed", "big-endian"])
def test_planes_in_another_order_are_refused_with_a_remedy(change: str) -> None:
    bits = cohort(random_calls(1, 30, 20)).genobit.pack()
    wrong = bits.transpose("words", ...)
    if change == "big-endian":
        wrong = bits.assign({name: plane.astype(">u8") for name, plane in bits.data_vars.items()})
    for _ in bits.data_vars:
        with pytest.raises(ValueError, match=r"expected uint64 .*: ds\.assign\(plane_") as told:
            wrong.genobit.ld()
        wrong = eval(str(told.value).rpartition("): ")[2], {"ds": wrong})
    np.testing.assert_array_equal(wrong.genobit.ld(), bits.genobit.ld())


@pytest.mark.parametrize("method", ["kendall", "ld", "ld_blocks", "crossproduct", "kendall_pairs"])
def test_haploid_genotypes__name_what_works(method: str) -> None:
    ds = cohort(random_calls(1, 30, 20, ploidy=1))
    for haploid in (ds, *([ds.genobit.pack(phased=True)] if method != "ld" else [])):
        with pytest.raises(ValueError, match=r"has ploidy 1, .* ds\.isel\(ploidy=\[0, 0\]\)"):
            getattr(haploid.genobit, method)()
    getattr(ds.isel(ploidy=[0, 0]).genobit, method)()


def chromosomes() -> list[xr.Dataset]:
    """One Dataset for each of the contigs 1, 2 and X, as files of one chromosome give them."""
    out = []
    for k, name in enumerate("12X"):
        ds = cohort(random_calls(k, 8, 20)).drop_vars("variant_genetic_position")
        ids = np.array([f"{name}_{v}" for v in range(8)], object)
        contig = np.array([name], object)
        ds = ds.assign(contig_id=("contigs", contig), variant_id=("variants", ids))
        out.append(ds)
    return out


def batches() -> list[xr.Dataset]:
    """The samples of one cohort in three Datasets."""
    ds = cohort(random_calls(1, 12, 21), contigs=2)
    return [ds.isel(samples=slice(7 * k, 7 * k + 7)) for k in range(3)]


def explored(ds: xr.Dataset) -> object:
    pytest.importorskip("holoviews", reason="the core has no explorers")
    from genobit.ld.explorer.explorer import LDExplorer

    return LDExplorer(ds)


JOINED = {
    "chromosomes": (chromosomes, "variants"),
    "batches": (batches, "samples"),
}
DOORS = {
    "print": repr,
    "sel": lambda ds: ds.genobit.sel(variants="2"),
    "isel": lambda ds: ds.genobit.isel(samples=[0]),
    "grm": lambda ds: ds.genobit.grm("king"),
    "pca": lambda ds: ds.genobit.pca(1),
    "ld_prune": lambda ds: ds.genobit.ld_prune(),
    "variant_stats": lambda ds: ds.genobit.variant_stats(),
    "pack": lambda ds: ds.genobit.pack(),
    "explore": lambda ds: ds.genobit.explore.ld(),
    "explorer": explored,
    "to_plink": lambda ds: gb.to_plink(ds, "never.bed"),
    "to_pgen": lambda ds: gb.to_pgen(ds, "never.pgen"),
    "to_vcf": lambda ds: gb.to_vcf(ds, "never.vcf"),
    "to_vcf_zarr": lambda ds: gb.to_vcf_zarr(ds, "never.vcz"),
}


@pytest.mark.parametrize("name", JOINED)
def test_labels_that_concat_repeats_are_refused_with_a_remedy(name: str) -> None:
    make, dim = JOINED[name]
    datasets = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of xarray's new defaults
        joined = xr.concat(datasets, dim, data_vars="all", coords="different", compat="equals")
    said = set()
    for door in DOORS.values():
        with pytest.raises(ValueError, match="contig_id has dimensions") as error:
            door(joined if door is not repr else joined.genobit)
        said.add(str(error.value))
    (message,) = said
    # Type the remedy in.
    (whole,) = re.findall(r"genobit\.concat\(.*?\)", message)
    found = eval(whole, {"genobit": gb, "datasets": datasets})
    contigs = found.genobit.variant_stats().variant_contig.values.tolist()
    if dim == "samples":
        original = cohort(random_calls(1, 12, 21), contigs=2)
        assert contigs == ["chr1"] * 6 + ["chr2"] * 6
        assert np.array_equal(found.call_genotype, original.call_genotype)
    else:
        assert contigs == ["1"] * 8 + ["2"] * 8 + ["X"] * 8
        assert found.genobit.grm("king").attrs["contigs_left_out"] == "X"
        assert found.genobit.sel(variants="2").variant_id.values[0] == "2_0"


def test_samples_of_planes_cannot_be_joined() -> None:
    planes = [ds.genobit.pack().compute() for ds in batches()]
    with pytest.raises(ValueError, match=r"cannot be joined along 'samples'.* pack the result"):
        xr.concat(planes, "samples", data_vars="minimal", coords="minimal", compat="override")


@pytest.mark.parametrize(
    ("label", "dims", "remedy"),
    [
        ("contig_id", ("variants",), r"expected \('contigs',\): .*drop_vars\('contig_id'\)"),
        ("contig_id", ("chromosomes",), r"expected \('contigs',\): .*chromosomes='contigs'\)"),
        ("sample_sex", ("variants",), r"expected \('samples',\): assign one value for each"),
        ("sample_sex", ("variants", "samples"), r"expected \('samples',\): xr.concat repeats"),
        ("variant_position", ("samples", "variants"), "xr.concat repeats labels along 'samples'"),
    ],
)
def test_labels_are_along_their_own_dimension(
    label: str, dims: tuple[str, ...], remedy: str
) -> None:
    ds = cohort(random_calls(1, 5, 4)).drop_vars([label], errors="ignore")
    sizes = {**ds.sizes, "chromosomes": 1}
    values = np.zeros([sizes[dim] for dim in dims], int)
    with pytest.raises(ValueError, match=rf"{label} has dimensions .*{remedy}"):
        ds.assign({label: (dims, values)}).genobit.grm()
