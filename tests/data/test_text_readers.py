"""Readers leave the names of variants as bytes until somebody looks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bgen
import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.data import text
from genobit.data.text import is_unread
from genobit.io import _stored
from tests.io.formats import FORMATS

N, SAMPLES = 40, 6
NAMES = [f"rs{10**k % 1009}" if k % 7 else f"a long name: β{k}" for k in range(N)]
ALLELES = [["ACGTACGTA" if k % 5 == 0 else "A", "C" if k % 2 else "G"] for k in range(N)]
# What .bim and .pvar have in fields: no blanks.
FIELDS = [name.replace(" ", "_") for name in NAMES]


def genotypes(names: list[str] = FIELDS) -> xr.Dataset:
    calls = np.random.default_rng(1).integers(-1, 2, (N, SAMPLES, 1)).repeat(2, axis=2)
    return xr.Dataset(
        {
            "call_genotype": (("variants", "samples", "ploidy"), calls.astype(np.int8)),
            "variant_contig": ("variants", np.arange(N, dtype=np.int32) // 20),
            "variant_position": ("variants", 1 + np.arange(N) % 20 * 1000),
            "variant_id": ("variants", np.array(names, object)),
            "variant_allele": (("variants", "alleles"), np.array(ALLELES, object)),
            "contig_id": ("contigs", np.array(["1", "2"], object)),
            "sample_id": ("samples", np.array([f"s{k}" for k in range(SAMPLES)], object)),
        }
    )


def bgen_file(folder: Path) -> xr.Dataset:
    ds = genotypes()
    with bgen.BgenWriter(str(folder / "a.bgen"), SAMPLES, samples=ds.sample_id.values) as file:
        for k, (name, alleles) in enumerate(zip(FIELDS, ALLELES, strict=True)):
            contig, position = str(1 + k // 20), int(ds.variant_position[k])
            values = np.array([[0.0, 0.0, 1.0]] * SAMPLES)
            file.add_variant(name, name, contig, position, alleles, values)
    return gb.open_bgen(folder / "a.bgen")


def zarr_3(folder: Path) -> xr.Dataset:
    store = folder / "a.zarr"
    genotypes().to_zarr(store, zarr_format=3, consolidated=False)
    return gb.open_vcf_zarr(store)


def through(form: str) -> Callable[[Path], xr.Dataset]:
    return lambda folder: FORMATS[form].through(genotypes(), folder / "a")


READERS: dict[str, Callable[[Path], xr.Dataset]] = {
    **{form: through(form) for form in ("plink", "pgen", "vcf_zarr")},
    "bgen": bgen_file,
    "zarr_3": zarr_3,
}
LAZY = ["variant_id", "variant_allele"]
# Alleles of .bim and .pvar are few: each text is one object already.
OBJECTS = {"plink": ["variant_allele"], "pgen": ["variant_allele"]}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def dataset(reader: str, tmp_path: Path) -> xr.Dataset:
    return READERS[reader](tmp_path)


def no_looks(patch: pytest.MonkeyPatch) -> None:
    """Let every look at text of more than a few variants fail."""
    decode, read = text.decode, _stored._Label.read

    def few(buffer: Any, starts: Any, ends: Any) -> Any:
        assert starts.size <= 2, "somebody looked"
        return decode(buffer, starts, ends)

    def stored(label: Any, key: Any) -> Any:
        assert label._name not in LAZY, "somebody looked"
        return read(label, key)

    patch.setattr(text, "decode", few)
    patch.setattr(_stored._Label, "read", stored)


def test_names_are_read_when_somebody_looks(dataset: xr.Dataset, reader: str) -> None:
    found = [name for name in LAZY if is_unread(dataset[name].variable)]
    assert found == [name for name in LAZY if name not in OBJECTS.get(reader, [])]
    assert dataset.variant_id.dtype == dataset.variant_allele.dtype == object
    assert dataset.variant_id.values.tolist() == FIELDS
    assert dataset.variant_allele.values.tolist() == ALLELES
    assert all(type(x) is str for x in dataset.variant_id.values)
    assert not is_unread(dataset.variant_id.variable)


CALLS: dict[str, Callable[[xr.Dataset], xr.Dataset | xr.DataArray]] = {
    "pack": lambda ds: ds.genobit.pack(),
    "variant_stats": lambda ds: ds.genobit.variant_stats(),
    "sample_stats": lambda ds: ds.genobit.sample_stats(),
    "isel": lambda ds: ds.genobit.isel(variants=slice(3, 30)),
    "isel of planes": lambda ds: ds.genobit.pack().genobit.isel(samples=[0, 2, 3, 4]),
    "samples": lambda ds: ds.genobit.sel(samples=["s1", "s3"]),
    "ld": lambda ds: ds.genobit.ld("r2"),
    "grm": lambda ds: ds.genobit.grm(),
}


@pytest.mark.parametrize("call", CALLS)
def test_methods_do_not_look(dataset: xr.Dataset, call: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        no_looks(patch)
        found = CALLS[call](dataset)
    names = [name for name in found.coords if str(name).startswith("variant_id")]
    assert all(is_unread(found[name].variable) for name in names)
    looked = dataset.map(lambda x: x.compute() if x.name in LAZY else x, keep_attrs=True)
    xr.testing.assert_identical(found.compute(), CALLS[call](looked).compute())


CHANGES: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "pickle": lambda ds: pickle.loads(pickle.dumps(ds)),
    "deep copy": lambda ds: ds.copy(deep=True),
    "mask": lambda ds: ds.isel(variants=np.arange(N) % 3 == 1),
    "chunk": lambda ds: ds.chunk(variants=7),
    "concat": lambda ds: xr.concat(
        [ds.isel(variants=[5]), ds], "variants", data_vars="minimal", coords="minimal"
    ),
    "index": lambda ds: ds.set_index(variants="variant_id").sel(variants=FIELDS[3]),
    "compare": lambda ds: ds.isel(variants=(ds.variant_id == FIELDS[3]).values),
}


@pytest.mark.parametrize("change", CHANGES)
def test_labels_are_as_good_as_in_memory(dataset: xr.Dataset, change: str) -> None:
    whole = dataset.compute()
    with dask.config.set(scheduler="synchronous"):
        found, wanted = (CHANGES[change](ds).compute() for ds in (dataset, whole))
    xr.testing.assert_identical(found, wanted)


@pytest.mark.parametrize("form", FORMATS)
def test_writers_take_them(dataset: xr.Dataset, tmp_path: Path, form: str) -> None:
    found = FORMATS[form].through(dataset, tmp_path / "written")
    assert found.variant_id.values.tolist() == FIELDS
    assert found.variant_allele.values.tolist() == ALLELES


def test_a_chunk_of_names_that_is_damaged(tmp_path: Path) -> None:
    READERS["vcf_zarr"](tmp_path)
    (tmp_path / "a.vcz" / "variant_id" / "0").write_bytes(b"damaged")
    ds = gb.open_vcf_zarr(tmp_path / "a.vcz")
    assert is_unread(ds.genobit.pack().variant_id.variable)
    with pytest.raises(ValueError, match=r"variant_id of .*a.vcz cannot be read at \(40,\)"):
        ds.variant_id.load()


def test_names_of_a_store_that_declares_more_than_fits(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    wide = genotypes().assign(variant_id=("variants", np.full(N, b"x", "S100000")))
    wide.to_zarr(store, zarr_format=2, consolidated=False)
    with gb.set_options(eager_limit=2**20), pytest.raises(ValueError, match="variant_id"):
        gb.open_vcf_zarr(store)
