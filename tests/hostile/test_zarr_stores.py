"""VCF Zarr stores that lie, are damaged, or would run code: refused when opened or when read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numcodecs.pickles
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from tests.hostile.datasets import cohort

if TYPE_CHECKING:
    from collections.abc import Callable

VARIANTS, SAMPLES = 6, 4
LABELS = {"variant_position": [], "variant_contig": [], "variant_id": [], "variant_allele": [2]}

Change = "Callable[[_Store], None]"


class _Store:
    """A store on disk in one of the two formats, to be changed."""

    def __init__(self, path: Path, zarr_format: int) -> None:
        self.path, self.zarr_format = path, zarr_format

    def metadata(self, name: str) -> Path:
        return self.path / name / (".zarray" if self.zarr_format == 2 else "zarr.json")

    def chunk(self, name: str) -> Path:
        """The first chunk of an array."""
        found = [p for p in (self.path / name).rglob("*") if p.is_file() and p.name[0] in "0c"]
        return min(found)

    def declare(self, name: str, **changes: Any) -> None:
        document = json.loads(self.metadata(name).read_text())
        if self.zarr_format == 3:
            if "chunks" in changes:
                document["chunk_grid"]["configuration"]["chunk_shape"] = changes.pop("chunks")
            if "dtype" in changes:
                document["data_type"] = {"<f8": "float64", "<i8": "int64"}[changes.pop("dtype")]
                # Of one byte a number, none is declared.
                document["codecs"][0]["configuration"] = {"endian": "little"}
        self.metadata(name).write_text(json.dumps(document | changes))

    def cut(self, name: str, size: int) -> None:
        self.chunk(name).write_bytes(self.chunk(name).read_bytes()[:size])

    def flip(self, name: str, at: int) -> None:
        data = bytearray(self.chunk(name).read_bytes())
        data[at] ^= 0xFF
        self.chunk(name).write_bytes(bytes(data))

    def declare_samples(self, number: int) -> None:
        self.declare("call_genotype", shape=[VARIANTS, number, 2])
        self.declare("sample_id", shape=[number])
        self.declare("sample_case", shape=[number])

    def declare_variants(self, number: int) -> None:
        self.declare("call_genotype", shape=[number, SAMPLES, 2])
        self.declare("variant_genetic_position", shape=[number])
        for name, rest in LABELS.items():
            self.declare(name, shape=[number, *rest])


@pytest.fixture(scope="module", params=[2, 3])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Store:
    path = tmp_path_factory.mktemp("stores") / f"whole{request.param}.zarr"
    ds = cohort(VARIANTS, SAMPLES).compute()
    ds.to_zarr(path, zarr_format=request.param, consolidated=False)
    return _Store(path, request.param)


@pytest.fixture
def store(whole: _Store, tmp_path: Path) -> _Store:
    return _Store(Path(shutil.copytree(whole.path, tmp_path / "a.zarr")), whole.zarr_format)


def read(store: _Store) -> xr.Dataset:
    return gb.open_vcf_zarr(store.path).compute(scheduler="synchronous")


def test_the_whole_store_is_read(whole: _Store) -> None:
    found = read(whole)
    np.testing.assert_array_equal(
        found["call_genotype"], cohort(VARIANTS, SAMPLES)["call_genotype"]
    )


# When it is opened: ValueError; when the calls are computed: OSError.
AT_ONCE: dict[str, Callable[[_Store], object]] = {
    "calls of more variants": lambda s: s.declare("call_genotype", shape=[600, SAMPLES, 2]),
    "2**40 variants of calls": lambda s: s.declare("call_genotype", shape=[2**40, SAMPLES, 2]),
    "2**40 variants": lambda s: s.declare_variants(2**40),
    "2**31 variants": lambda s: s.declare_variants(2**31),
    "2**40 samples": lambda s: s.declare_samples(2**40),
    "-6 variants": lambda s: s.declare("call_genotype", shape=[-6, SAMPLES, 2]),
    "no ploidy": lambda s: s.declare("call_genotype", shape=[VARIANTS, SAMPLES]),
    "chunks of nothing": lambda s: s.declare("call_genotype", chunks=[0, SAMPLES, 2]),
    "no dtype": lambda s: s.metadata("call_genotype").write_text("{}"),
    "no JSON": lambda s: s.metadata("call_genotype").write_text("{"),
    "JSON that is a list": lambda s: s.metadata("call_genotype").write_text("[1]"),
    "a group that is no JSON": lambda s: (
        s.path / (".zgroup" if s.zarr_format == 2 else "zarr.json")
    ).write_text("\xff"),
    "JSON nested deeply": lambda s: s.metadata("call_genotype").write_text("[" * 10**5),
    "an unknown codec": lambda s: s.declare(
        "call_genotype", compressor={"id": "none"}, codecs=[{"name": "none"}]
    ),
    "labels cut": lambda s: s.cut("sample_id", 5),
    "labels changed": lambda s: s.flip("sample_id", 20),
    "labels without a chunk": lambda s: s.chunk("sample_id").unlink(),
    "no labels": lambda s: shutil.rmtree(s.path / "sample_id"),
}
WHEN_READ: dict[str, Callable[[_Store], object]] = {
    "chunks of 2**40": lambda s: s.declare("call_genotype", chunks=[2**40, SAMPLES, 2]),
    "chunks of one": lambda s: s.declare("call_genotype", chunks=[1, 1, 1]),
    "int64": lambda s: s.declare("call_genotype", dtype="<i8"),
    "a chunk cut": lambda s: s.cut("call_genotype", 5),
    "a chunk of nothing": lambda s: s.cut("call_genotype", 0),
    "a chunk changed": lambda s: s.flip("call_genotype", 0),
    "a size in a chunk changed": lambda s: s.flip("call_genotype", 5),
}


@pytest.mark.parametrize("how", AT_ONCE)
def test_refused_when_opened(store: _Store, how: str) -> None:
    AT_ONCE[how](store)
    with pytest.raises(ValueError, match=r"a\.zarr") as refused:
        read(store)
    assert type(refused.value) is ValueError


@pytest.mark.parametrize("how", WHEN_READ)
def test_refused_when_the_calls_are_read(store: _Store, how: str) -> None:
    WHEN_READ[how](store)
    ds = gb.open_vcf_zarr(store.path)
    with pytest.raises(OSError, match=r"call_genotype of .*a\.zarr cannot be read at variants 0:6"):
        ds["call_genotype"].compute(scheduler="synchronous")
    with pytest.raises(OSError, match="cannot be read"):
        ds.genobit.pack().compute(scheduler="threads")


def test_calls_of_other_numbers_are_refused(store: _Store) -> None:
    whole = cohort(VARIANTS, SAMPLES).compute()
    shutil.rmtree(store.path)
    wrong = whole.assign(call_genotype=whole["call_genotype"].astype(float))
    wrong.to_zarr(store.path, zarr_format=store.zarr_format, consolidated=False)
    with pytest.raises(TypeError, match=r"call_genotype has dtype float64, expected int8"):
        gb.open_vcf_zarr(store.path).genobit.pack()


class _Trap:
    """What says so when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (_spring, ())


def _spring() -> str:
    _Trap.sprung = True
    return "sprung"


@pytest.mark.parametrize(
    ("filters", "compressor"),
    [
        ([{"id": "pickle"}], None),
        ([{"id": "vlen-utf8"}, {"id": "pickle"}], None),
        ([{"id": "vlen-utf8"}], {"id": "pickle"}),
    ],
)
def test_nothing_is_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filters: list[Any], compressor: Any
) -> None:
    # Releases of numcodecs before 0.17 have no such switch, and unpickle.
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    store = _Store(tmp_path / "a.zarr", 2)
    cohort(VARIANTS, SAMPLES).compute().to_zarr(store.path, zarr_format=2, consolidated=False)
    trap = numcodecs.Pickle().encode(np.array([_Trap()] * SAMPLES, dtype=object))
    numcodecs.Pickle().decode(trap)
    assert _Trap.sprung
    _Trap.sprung = False
    store.chunk("sample_id").write_bytes(trap)
    store.declare("sample_id", filters=filters, compressor=compressor)
    with pytest.raises(ValueError, match=r"a\.zarr"):
        read(store)
    assert not _Trap.sprung
