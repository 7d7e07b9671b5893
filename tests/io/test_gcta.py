"""GCTA files against GCTA's own format, PLINK's files and pandas-plink."""

from __future__ import annotations

import pickle
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import either_plink
from tests.io.formats import matrix

SUFFIXES = (".grm.bin", ".grm.N.bin", ".grm.id")
FIRST_120 = ["hapmap279", "lct_1kg"]


def as_gcta_does(prefix: Path) -> tuple[np.ndarray, np.ndarray, list[list[str]]]:
    """What the R script of GCTA's manual reads (ReadGRMBin): triangle, numbers, ids."""
    ids = [line.split("\t") for line in Path(f"{prefix}.grm.id").read_text().splitlines()]
    n = len(ids)
    out = []
    for name in (".grm.bin", ".grm.N.bin"):
        numbers = np.fromfile(f"{prefix}{name}", "<f4")
        assert numbers.size == n * (n + 1) // 2
        square = np.zeros((n, n), "f4")
        rows, columns = np.tril_indices(n)
        square[rows, columns] = square[columns, rows] = numbers
        out.append(square)
    return out[0], out[1], ids


def test_names_are_public() -> None:
    assert {"open_gcta", "to_gcta", "open_plink_rel", "to_plink_rel"} <= set(gb.__all__)


@pytest.mark.parametrize("name", FIRST_120)
@pytest.mark.parametrize("chunk_rows", [7, 64, 2048])
def test_round_trip_is_byte_for_byte(
    shared_data: Path, tmp_path: Path, name: str, chunk_rows: int
) -> None:
    prefix = shared_data / name / "ref/gcta_first120"
    with gb.set_options(chunk_rows=chunk_rows):
        grm = gb.open_gcta(prefix)
        gb.to_gcta(grm, tmp_path / "again")
    for suffix in SUFFIXES:
        assert (
            Path(f"{tmp_path / 'again'}{suffix}").read_bytes()
            == Path(f"{prefix}{suffix}").read_bytes()
        )
    values, counts, ids = as_gcta_does(prefix)
    np.testing.assert_array_equal(grm, values)
    np.testing.assert_array_equal(grm.variants_compared, counts)
    assert grm.sample_id_0.values.tolist() == [name for _, name in ids]
    assert grm.sample_family_id_1.values.tolist() == [family for family, _ in ids]


def test_it_equals_the_text_of_the_same_matrix(shared_data: Path) -> None:
    ref = shared_data / "hapmap279/ref"
    text = gb.open_plink_rel(ref / "grm_p1_first120")
    binary = gb.open_gcta(ref / "gcta_first120")
    np.testing.assert_allclose(binary, text, rtol=6e-6)
    np.testing.assert_array_equal(binary.sample_id_0, text.sample_id_0)


@pytest.mark.parametrize("program", ["plink1.9", "plink2"])
def test_files_of_plink(shared_data: Path, tmp_path: Path, program: str) -> None:
    fileset = shared_data / "lct_1kg/lct_1kg"
    grm = gb.open_gcta(either_plink(program, fileset, tmp_path / "p", "--make-grm-bin"))
    ds = gb.open_plink(f"{fileset}.bed")
    np.testing.assert_array_equal(grm.sample_id_0, ds.sample_id)
    assert grm.sizes["samples_0"] == 503
    assert set(np.unique(grm.variants_compared)) <= {604, 605, 606, 607}
    gb.to_gcta(grm, tmp_path / "g")
    for suffix in SUFFIXES:
        assert Path(f"{tmp_path / 'g'}{suffix}").read_bytes() == (
            Path(f"{tmp_path / 'p'}{suffix}").read_bytes()
        )


def test_pandas_plink_reads_it(tmp_path: Path) -> None:
    pandas_plink = pytest.importorskip(
        "pandas_plink", reason="pandas-plink is not installed: its 2.3.2 needs numpy 1"
    )
    grm = matrix(9)
    gb.to_gcta(grm, tmp_path / "g")
    read, counts = pandas_plink.read_grm(str(tmp_path / "g.grm.bin"))
    np.testing.assert_array_equal(read, grm.astype("f4"))
    assert counts.shape == (45,)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 9), st.booleans())
def test_gctas_script_reads_any(
    tmp_path_factory: pytest.TempPathFactory, n: int, chunk: int, seed: int, counts: bool
) -> None:
    prefix = tmp_path_factory.mktemp("gcta") / "g"
    grm = matrix(n, seed, chunk=chunk, counts=counts)
    gb.to_gcta(grm, prefix)
    values, compared, ids = as_gcta_does(prefix)
    np.testing.assert_array_equal(values, grm.values.astype("f4"))
    expected = grm.variants_compared.values if counts else np.full((n, n), 1234)
    np.testing.assert_array_equal(compared, expected)
    assert ids == [["0", f"s{i}"] for i in range(n)]
    back = gb.open_gcta(prefix)
    np.testing.assert_array_equal(back, grm.values.astype("f4"))
    assert "sample_family_id_0" not in back.coords


def test_opening_reads_nothing_and_a_corner_reads_a_tile(tmp_path: Path) -> None:
    gb.to_gcta(matrix(300), tmp_path / "g")
    with gb.set_options(chunk_rows=64), raise_if_dask_computes():
        grm = gb.open_gcta(tmp_path / "g")
    assert grm.data.chunks[0] == (64, 64, 64, 64, 44)
    assert len(pickle.dumps(grm)) < 40_000
    upper = pickle.loads(pickle.dumps(grm))[:3, 290:]
    np.testing.assert_array_equal(upper, matrix(300).values.astype("f4")[:3, 290:])


def test_rows_are_written_as_they_are_computed(tmp_path: Path) -> None:
    seen = []

    def tile(block_info: dict) -> np.ndarray:
        (top, bottom), (left, right) = block_info[None]["array-location"]
        seen.append((top, left))
        return np.ones((bottom - top, right - left))

    data = da.map_blocks(tile, chunks=((4, 4, 4), (4, 4, 4)), dtype="f8", meta=np.empty((0, 0)))
    grm = matrix(12, counts=False).copy(data=data)
    gb.to_gcta(grm, tmp_path / "g")
    # The lower triangle, each tile once, and one row of tiles after the other.
    assert [top for top, _ in seen] == [0, 4, 4, 8, 8, 8]
    assert set(seen) == {(top, left) for top in (0, 4, 8) for left in range(0, top + 1, 4)}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_refused_and_leaves_nothing(tmp_path: Path, bad: float) -> None:
    gb.to_gcta(matrix(6), tmp_path / "g")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    grm = matrix(6, chunk=2)
    grm = grm.copy(data=grm.values)
    grm[4, 3] = grm[3, 4] = bad
    with pytest.raises(ValueError, match=r"samples_0=4, samples_1=3.*fillna"):
        gb.to_gcta(grm.chunk(2), tmp_path / "g", overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_joined_ids_are_written_apart(tmp_path: Path) -> None:
    names = np.array(["A_1", "A_2", "B_1"], object)
    families = np.array(["A", "A", "B"], object)
    grm = matrix(3).assign_coords(
        sample_id_0=("samples_0", names, {"ids": "FAMILY_INDIVIDUAL"}),
        sample_id_1=("samples_1", names),
        sample_family_id_0=("samples_0", families),
    )
    gb.to_gcta(grm, tmp_path / "g")
    assert (tmp_path / "g.grm.id").read_text() == "A\t1\nA\t2\nB\t1\n"
    back = gb.open_gcta(tmp_path / "g")
    assert back.sample_id_1.values.tolist() == names.tolist()
    assert back.sample_family_id_1.values.tolist() == families.tolist()
    gb.to_gcta(back[1:, 1:], tmp_path / "h")
    assert (tmp_path / "h.grm.id").read_text() == "A\t2\nB\t1\n"


def test_without_numbers_of_variants(tmp_path: Path) -> None:
    gb.to_gcta(matrix(3), tmp_path / "g")
    (tmp_path / "g.grm.N.bin").unlink()
    grm = gb.open_gcta(tmp_path / "g")
    assert "variants_compared" not in grm.coords
    with pytest.raises(KeyError, match=r"variants_compared.*grm.attrs"):
        gb.to_gcta(grm, tmp_path / "h")


class TestRefusals:
    def test_no_matrix(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match=r"DataArray of ds.genobit.grm"):
            gb.to_gcta(np.eye(3), tmp_path / "g")
        with pytest.raises(TypeError, match="complex"):
            gb.to_gcta(matrix(3).astype(complex), tmp_path / "g")

    def test_other_dimensions(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="samples_0"):
            gb.to_gcta(matrix(3).rename(samples_0="x"), tmp_path / "g")
        with pytest.raises(ValueError, match=r"isel\(contigs=0\).*compute=True.*Zarr"):
            gb.to_gcta(matrix(3).expand_dims(contigs=2), tmp_path / "g")
        with pytest.raises(ValueError, match="2 x 3 samples"):
            gb.to_gcta(matrix(3)[1:], tmp_path / "g")

    def test_other_samples(self, tmp_path: Path) -> None:
        grm = matrix(3).isel(samples_0=[0, 2, 1])
        with pytest.raises(ValueError, match=r"sample_id_0\[1\] is 's2' and sample_id_1\[1\]"):
            gb.to_gcta(grm, tmp_path / "g")

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", "b", "a"], "samples=0 and samples=2"),
            (["a", "b c", "d"], "samples=1.*white space"),
            (["a", "", "d"], "samples=1"),
        ],
    )
    def test_ids(self, tmp_path: Path, names: list[str], message: str) -> None:
        grm = matrix(3).drop_vars("sample_id_1").assign_coords(sample_id_0=("samples_0", names))
        with pytest.raises(ValueError, match=message):
            gb.to_gcta(grm, tmp_path / "g")
        with pytest.raises(KeyError, match="assign_coords"):
            gb.to_gcta(grm.drop_vars("sample_id_0"), tmp_path / "g")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("suffix", [".grm.bin", ".grm.N.bin"])
    def test_sizes(self, tmp_path: Path, suffix: str) -> None:
        gb.to_gcta(matrix(4), tmp_path / "g")
        path = tmp_path / f"g{suffix}"
        whole = path.read_bytes()
        path.write_bytes(whole[:24])
        with pytest.raises(ValueError, match=r"24 bytes, the triangle of 3 samples.* 4 .* take 40"):
            gb.open_gcta(tmp_path / "g")
        path.write_bytes(whole + b"1")
        with pytest.raises(ValueError, match="no whole number of samples"):
            gb.open_gcta(tmp_path / "g")

    @pytest.mark.parametrize(
        ("text", "message"),
        [("", "lists no sample"), ("a b\nc\n", "line 2: it has 1 field"), ("a b\na b\n", "line 2")],
    )
    def test_id_files(self, tmp_path: Path, text: str, message: str) -> None:
        gb.to_gcta(matrix(2), tmp_path / "g")
        (tmp_path / "g.grm.id").write_text(text)
        with pytest.raises(ValueError, match=message):
            gb.open_gcta(tmp_path / "g")
