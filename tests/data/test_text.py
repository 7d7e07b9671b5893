"""Texts of one buffer behave as object arrays of str, and are decoded when somebody looks."""

from __future__ import annotations

import asyncio
import pickle
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from genobit.data import labels, text
from genobit.data.text import is_unread, lazy_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDS = ["rs1", "rs20", "", "chr1:1000:A:C", "β1", "1:1_rather_long_name", "rs20"]
ALLELES = [["A", "C"], ["G", "A"], ["T", ""], ["ACGTACGTACGT", "A"], *[["C", "T"]] * 3]


def lazy(texts: Any, name: str = "labels") -> Any:
    raw = [text.encode() for text in np.array(texts, object).flat]
    sizes = np.array([len(x) for x in raw], np.int64)
    starts = np.cumsum(sizes + 1) - sizes
    shape = np.shape(texts)
    buffer = np.frombuffer(b"\xff" + b"\xff".join(raw) + b"\xff", np.uint8)
    return lazy_text(buffer, starts.reshape(shape), (starts + sizes).reshape(shape), name)


def dataset(make: Callable[[Any], Any]) -> xr.Dataset:
    return xr.Dataset(
        {
            "variant_id": ("variants", make(IDS), {"note": "x"}),
            "variant_allele": (("variants", "alleles"), make(ALLELES)),
            "variant_position": ("variants", np.arange(len(IDS))),
        }
    )


@pytest.fixture(name="unread")
def _unread() -> xr.Dataset:
    return dataset(lazy)


@pytest.fixture(name="eager")
def _eager() -> xr.Dataset:
    return dataset(lambda texts: np.array(texts, object))


def unread_labels(ds: xr.Dataset) -> list[bool]:
    return [is_unread(ds[name].variable) for name in ("variant_id", "variant_allele")]


MASK = np.array([True, False, True, True, False, False, True])
POINTS = xr.DataArray([5, 0, 5], dims="points")
LAZY_STEPS: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "nothing": lambda ds: ds,
    "slice": lambda ds: ds.isel(variants=slice(1, 6, 2)),
    "backwards": lambda ds: ds.isel(variants=slice(None, None, -1)),
    "mask": lambda ds: ds.isel(variants=MASK),
    "list": lambda ds: ds.isel(variants=[4, 0, 0]),
    "list of a mask": lambda ds: ds.isel(variants=MASK).isel(variants=[3, 0]),
    "both dimensions": lambda ds: ds.isel(variants=[4, 1], alleles=[1]),
    "one": lambda ds: ds.isel(variants=3),
    "one allele": lambda ds: ds.isel(alleles=1),
    "none": lambda ds: ds.isel(variants=slice(0)),
    "points": lambda ds: ds.isel(variants=POINTS),
    "points of alleles": lambda ds: ds.isel(
        variants=POINTS, alleles=xr.DataArray([0, 1, 1], dims="points")
    ),
    "transpose": lambda ds: ds.transpose("alleles", "variants"),
    "shallow copy": lambda ds: ds.copy(),
    "deep copy": lambda ds: ds.copy(deep=True),
    "pickle": lambda ds: pickle.loads(pickle.dumps(ds)),
    "pickle of a mask": lambda ds: pickle.loads(pickle.dumps(ds.isel(variants=MASK))),
    "rename": lambda ds: ds.rename(variants="sites"),
    "coordinates": lambda ds: ds.set_coords(["variant_id", "variant_allele"]),
    "assign": lambda ds: ds.assign(other=ds.variant_id),
    "drop": lambda ds: ds.drop_vars("variant_position"),
    "as_objects": lambda ds: ds.map(lambda x: x.copy(data=labels.as_objects(x.variable)._data)),
}
STEPS: dict[str, Callable[[xr.Dataset], Any]] = {
    "values": lambda ds: ds.variant_id.values,
    "item": lambda ds: ds.variant_allele[3, 0].item(),
    "equal": lambda ds: ds.variant_id == "rs20",
    "where": lambda ds: ds.where(ds.variant_id == "rs20", drop=True),
    "add": lambda ds: ds.variant_id + "_" + ds.variant_allele,
    "isin": lambda ds: ds.variant_id.isin(["rs1", "β1"]),
    "astype": lambda ds: ds.variant_id.astype(str),
    "length": lambda ds: ds.variant_id.str.len(),
    "index": lambda ds: ds.set_index(variants="variant_id").sel(variants="rs1"),
    "multiindex": lambda ds: ds.set_index(variants=["variant_id", "variant_position"]),
    "swap": lambda ds: ds.swap_dims(variants="variant_id"),
    "sort": lambda ds: ds.sortby("variant_id"),
    "group": lambda ds: ds.variant_position.groupby(ds.variant_id).count(),
    "concat": lambda ds: xr.concat([ds, ds.isel(variants=MASK)], "variants"),
    "merge": lambda ds: xr.merge([ds, ds.rename(variant_id="name")], compat="equals"),
    "stack": lambda ds: ds[["variant_allele"]].stack(all=["variants", "alleles"]),
    "roll": lambda ds: ds.roll(variants=2),
    "shift": lambda ds: ds.shift(variants=2),
    "pad": lambda ds: ds.variant_id.pad(variants=1, constant_values="x"),
    "frame": lambda ds: ds.to_dataframe().to_xarray(),
    "load": lambda ds: ds.copy().load(),
    "load_async": lambda ds: asyncio.run(ds.copy().load_async()),
    "compute": lambda ds: ds.compute(),
    "chunk": lambda ds: ds.chunk(variants=3).compute(),
    "processes": lambda ds: ds.chunk(variants=3).compute(scheduler="processes"),
    "netCDF": lambda ds: xr.load_dataset(ds.to_netcdf(), engine="scipy"),
    "labels.text": lambda ds: labels.text(ds.variant_id),
    "interval of names": lambda ds: ds.variant_id.max().item(),
    "dictionary": lambda ds: ds.to_dict(),
    "equals": lambda ds: ds.equals(dataset(lambda texts: np.array(texts, object))),
    "identical": lambda ds: ds.identical(dataset(lambda texts: np.array(texts, object))),
}


def test_has_the_values(unread: xr.Dataset, eager: xr.Dataset) -> None:
    assert unread.variant_id.dtype == unread.variant_allele.dtype == object
    assert unread.identical(eager)
    assert all(type(x) is str for x in unread.variant_allele.values.flat)


@pytest.mark.parametrize("step", LAZY_STEPS)
def test_selects_without_decoding(
    unread: xr.Dataset, eager: xr.Dataset, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(text, "decode", None)
        found = LAZY_STEPS[step](unread)
        assert unread_labels(found) == [True, True]
        assert unread_labels(unread) == [True, True]
    xr.testing.assert_identical(found.load(), LAZY_STEPS[step](eager))


@pytest.mark.parametrize("step", STEPS)
def test_is_as_good_as_objects(unread: xr.Dataset, eager: xr.Dataset, step: str) -> None:
    found, wanted = STEPS[step](unread), STEPS[step](eager)
    if isinstance(wanted, xr.Dataset | xr.DataArray):
        xr.testing.assert_identical(found, wanted)
        if isinstance(wanted, xr.Dataset):
            kinds = [{k: v.dtype for k, v in ds.variables.items()} for ds in (found, wanted)]
            assert kinds[0] == kinds[1]
    else:
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
def test_is_written_to_zarr(
    unread: xr.Dataset, eager: xr.Dataset, tmp_path: Path, zarr_format: Any
) -> None:
    unread.to_zarr(tmp_path / "store", zarr_format=zarr_format)
    found = xr.load_dataset(tmp_path / "store", engine="zarr", chunks=None)
    xr.testing.assert_equal(found.astype(eager.dtypes), eager)


def test_description_decodes_nothing(unread: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(text, "decode", None)
        assert "variant_id" in repr(unread)
        assert "variant_id" in unread._repr_html_()
        assert unread.nbytes == len(IDS) * 8 * 4
    assert "rs20" in repr(unread.variant_id.load())


def test_dask_names_it_without_decoding(
    unread: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(text, "decode", None)
        chunked = unread.assign(calls=("variants", np.zeros(len(IDS)))).chunk(variants=3)
        chunked = chunked.assign(unread.variables)
        found = dask.compute(chunked, chunked.isel(variants=MASK))
        assert [unread_labels(ds) for ds in found] == [[True, True]] * 2
        different = [
            unread,
            unread.rename(variants="sites"),
            unread.isel(variants=MASK),
            unread.isel(variants=slice(None, None, -1)),
            unread.assign(variant_id=unread.variant_id.assign_attrs(note="y")),
            unread.assign(variant_id=("variants", lazy([*IDS[:-1], "rs21"]), {"note": "x"})),
        ]
        tokens = [dask.base.tokenize(ds) for ds in different]
        assert len(set(tokens)) == len(different)
        assert tokens == [dask.base.tokenize(ds.copy()) for ds in different]
        assert tokens[0] == dask.base.tokenize(dataset(lazy))


def test_decodes_once(unread: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unread.variant_id.values.tolist() == IDS
    monkeypatch.setattr(text, "decode", None)
    assert unread.variant_id.values.tolist() == IDS
    assert unread.copy().variant_id.values.tolist() == IDS


def test_decodes_only_what_is_selected(unread: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    whole = text.decode
    monkeypatch.setattr(text, "decode", lambda *given: sizes.append(given[1].size) or whole(*given))
    assert unread.variant_id[3].item() == IDS[3]
    assert unread.variant_allele[2:4].values.tolist() == ALLELES[2:4]
    assert sizes == [1, 4]


def test_a_change_leaves_the_others_alone(unread: xr.Dataset) -> None:
    changed = unread.copy(deep=True)
    changed.variant_id[0] = "new"
    changed.variant_allele[:2, 1] = "N"
    assert changed.variant_id.values.tolist() == ["new", *IDS[1:]]
    assert changed.variant_allele.values.tolist() == [["A", "N"], ["G", "N"], *ALLELES[2:]]
    assert unread.variant_id.values.tolist() == IDS


def test_pickle_of_a_selection_is_small() -> None:
    names = [f"rs{k}" for k in range(10_000)]
    few = xr.Variable("variants", lazy(names))[10:13]
    assert len(pickle.dumps(few)) < 2_000
    assert pickle.loads(pickle.dumps(few)).values.tolist() == names[10:13]


def test_equal_short_texts_share_one_object(unread: xr.Dataset) -> None:
    found = unread.variant_allele.values
    assert found[0, 0] is found[1, 1] is found[3, 1]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12)), st.data())
def test_texts_of_any_characters(texts: list[str], data: st.DataObject) -> None:
    array = lazy(texts)
    places = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=9)) if texts else []
    chosen = xr.Variable("variants", array)[np.array(places, int)]
    assert pickle.loads(pickle.dumps(chosen)).values.tolist() == [texts[k] for k in places]
    assert np.asarray(array).tolist() == texts


@pytest.mark.parametrize("block", [1, 7, 30])
def test_blocks_leave_no_trace(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK", block)
    texts = ["a much longer text", "\0" * 9, *IDS * 3, "another of some length"]
    assert np.asarray(lazy(texts)).tolist() == texts


@pytest.mark.parametrize(
    ("shape", "at", "place"), [((6,), 4, "[4]"), ((3, 2), 3, "[1, 1]"), ((), 0, "")]
)
@pytest.mark.parametrize("bad", [b"\xe9", b"rs\xc3", b"a name of some length \xff"])
def test_refuses_other_bytes(shape: tuple[int, ...], at: int, place: str, bad: bytes) -> None:
    parts = ["é".encode()] * int(np.prod(shape))
    parts[at] = bad
    sizes = np.array([len(x) for x in parts])
    ends = np.cumsum(sizes).reshape(shape)
    buffer = np.frombuffer(b"".join(parts), np.uint8)
    with pytest.raises(ValueError, match="which is not UTF-8 text: decode it first") as error:
        lazy_text(buffer, ends - sizes.reshape(shape), ends, "variant_id")
    assert str(error.value).startswith(f"variant_id{place} is {bad!r}, ")


def test_other_bytes_between_texts_are_no_fault() -> None:
    buffer = np.frombuffer(b"\xffrs1\xe9rs2\xff", np.uint8)
    found = lazy_text(buffer, np.array([5, 1]), np.array([8, 4]))
    assert np.asarray(found).tolist() == ["rs2", "rs1"]
