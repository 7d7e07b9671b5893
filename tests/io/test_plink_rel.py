"""PLINK's .rel files: those of PLINK read, and ours read by PLINK's rules."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from tests.helpers.programs import either_plink
from tests.io.formats import matrix

FORMS = ["square", "triangle", "square-bin"]


@pytest.mark.parametrize(
    ("program", "options", "exact"),
    [
        ("plink1.9", "square", False),
        ("plink1.9", "triangle", False),
        ("plink1.9", "bin square", True),
        ("plink2", "square", False),
        ("plink2", "square0", False),
        ("plink2", "triangle", False),
        ("plink2", "bin square", True),
        ("plink2", "bin triangle", True),
        ("plink2", "bin4 square", False),
    ],
)
def test_files_of_plink(
    shared_data: Path, tmp_path: Path, program: str, options: str, exact: bool
) -> None:
    fileset = shared_data / "lct_1kg/lct_1kg"
    out = either_plink(program, fileset, tmp_path / "p", "--make-rel", *options.split())
    found = gb.open_plink_rel(out)
    expected = gb.open_gcta(either_plink(program, fileset, tmp_path / "g", "--make-grm-bin"))
    np.testing.assert_allclose(found, expected, rtol=6e-6, atol=1e-6 if not exact else 1e-7)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found.sample_id_0, gb.open_plink(fileset).sample_id)
    assert found.dtype == ("f4" if "bin4" in options else "f8")


@pytest.mark.parametrize(
    ("options", "form"), [("square", "square"), ("triangle", "triangle"), ("bin square", FORMS[2])]
)
def test_round_trip_is_byte_for_byte(
    shared_data: Path, tmp_path: Path, options: str, form: str
) -> None:
    fileset = shared_data / "lct_1kg/lct_1kg"
    out = either_plink("plink1.9", fileset, tmp_path / "p", "--make-rel", *options.split())
    gb.to_plink_rel(gb.open_plink_rel(out), tmp_path / "g", form=form)
    for suffix in (".rel.bin" if form == "square-bin" else ".rel", ".rel.id"):
        assert (tmp_path / f"g{suffix}").read_bytes() == (tmp_path / f"p{suffix}").read_bytes()


@given(st.integers(1, 9), st.sampled_from(FORMS), st.sampled_from([None, 1, 4]), st.integers(0, 5))
def test_round_trip_of_any(
    tmp_path_factory: pytest.TempPathFactory, n: int, form: str, chunk: int | None, seed: int
) -> None:
    prefix = tmp_path_factory.mktemp("rel") / "g"
    grm = matrix(n, seed, chunk=chunk)
    gb.to_plink_rel(grm, prefix, form=form, digits=17)
    xr.testing.assert_equal(
        gb.open_plink_rel(prefix).compute().reset_coords(drop=True),
        grm.compute().reset_coords(drop=True),
    )


def test_nan_and_compressed_text(tmp_path: Path) -> None:
    grm = matrix(3)
    grm[2, 1] = grm[1, 2] = np.nan
    gb.to_plink_rel(grm, tmp_path / "g")
    text = (tmp_path / "g.rel").read_bytes()
    assert b"nan" in text
    (tmp_path / "g.rel").unlink()
    (tmp_path / "g.rel.gz").write_bytes(gzip.compress(text))
    np.testing.assert_allclose(gb.open_plink_rel(tmp_path / "g"), grm, rtol=6e-6)


def test_two_forms_of_one_prefix(tmp_path: Path) -> None:
    gb.to_plink_rel(matrix(3), tmp_path / "g")
    gb.to_plink_rel(matrix(3), tmp_path / "g", form="square-bin", overwrite=True)
    with pytest.raises(ValueError, match=r"g\.rel and g\.rel\.bin"):
        gb.open_plink_rel(tmp_path / "g")
    np.testing.assert_array_equal(gb.open_plink_rel(tmp_path / "g.rel.bin"), matrix(3))
    np.testing.assert_allclose(gb.open_plink_rel(tmp_path / "g.rel"), matrix(3), rtol=6e-6)


class TestRefusals:
    def test_arguments(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"form='round'.*'triangle'"):
            gb.to_plink_rel(matrix(3), tmp_path / "g", form="round")
        with pytest.raises(ValueError, match="digits=0"):
            gb.to_plink_rel(matrix(3), tmp_path / "g", digits=0)
        with pytest.raises(TypeError, match="to_plink_rel takes the DataArray"):
            gb.to_plink_rel(np.eye(3), tmp_path / "g")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1\n", "1 lines.*lists 2 samples.*truncated"),
            ("1\t2\t3\n4\t5\n", "line 1: it has 3 numbers, expected 2 or 1"),
            ("1\n2\t3\n4\n", "line 3: .*expected none"),
            ("1\n2\tx\n", "line 2: .*'x'"),
        ],
    )
    def test_text(self, tmp_path: Path, text: str, message: str) -> None:
        gb.to_plink_rel(matrix(2), tmp_path / "g")
        (tmp_path / "g.rel").write_text(text)
        with pytest.raises(ValueError, match=message):
            gb.open_plink_rel(tmp_path / "g")

    def test_size(self, tmp_path: Path) -> None:
        gb.to_plink_rel(matrix(4), tmp_path / "g", form="square-bin")
        path = tmp_path / "g.rel.bin"
        path.write_bytes(path.read_bytes()[:72])
        with pytest.raises(ValueError, match=r"72 bytes.* 3 samples.* 4 samples.*128.*80"):
            gb.open_plink_rel(tmp_path / "g")
