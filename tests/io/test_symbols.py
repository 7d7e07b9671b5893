"""Lines and symbols of alignments in registers of 64 bytes, against loops over the bytes.

Alignments that keep one byte for each symbol against the same alignments as text.
"""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import genobit as gb
from genobit.data.characters import Coding
from genobit.data.coded_text import coded
from genobit.engine.bits.layout import words_for
from genobit.io import alignment
from genobit.io.kernels import symbols
from genobit.ld.kernels.sites import state_bits
from genobit.ld.sites import sites_of

TEXT = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(0, 300),
    st.sampled_from([b"A\n", b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n ", b"AC \t\r\n\xc3\xff", b" \n"]),
)


def drawn(seed: int, size: int, letters: bytes) -> tuple[np.ndarray, int, int]:
    """Random text, and a part of it."""
    rng = np.random.default_rng(seed)
    data = rng.choice(np.frombuffer(letters, np.uint8), size)
    start, stop = sorted(rng.integers(0, size + 1, 2).tolist())
    return data, start, stop


@given(TEXT)
def test_find_lines__finds_lines_that_are_not_blank(text: tuple[int, int, bytes]) -> None:
    data, start, stop = drawn(*text)
    out = np.empty((data.size + 1, 2), np.int64)
    found = out[: symbols.find_lines(data, start, stop, out)].tolist()
    ends = [k for k in range(start, stop) if data[k] == 10]
    lines = zip([start, *(k + 1 for k in ends)], [*ends, stop], strict=True)
    assert found == [[a, b] for a, b in lines if (data[a:b] > 32).any()]


@given(TEXT, st.integers(0, 200))
def test_after__is_the_place_after_so_many_symbols(
    text: tuple[int, int, bytes], number: int
) -> None:
    data, start, stop = drawn(*text)
    places = [start, *(k + 1 for k in range(start, stop) if data[k] > 32)]
    expected = places[number] if number < len(places) else -1
    assert symbols.after(data, start, stop, number) == expected


@given(TEXT, st.sampled_from([b"C", b"\n", b"\xff\t", b";'["]))
def test_first_of__is_the_first_of_the_wanted_bytes(
    text: tuple[int, int, bytes], wanted: bytes
) -> None:
    data, start, stop = drawn(*text)
    expected = next((k for k in range(start, stop) if data[k] in wanted), -1)
    assert symbols.first_of(data, start, stop, np.frombuffer(wanted, np.uint8)) == expected


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(1, 200),
    st.integers(0, 70),
    st.lists(st.sampled_from([b"A", b"Aa", b"", b"\xff", b"CG-"]), min_size=1),
)
def test_state_bits__are_where_the_codes_are(seed, taxa, sites, more, codes) -> None:
    """Whole rows, and rows that are parts of longer rows."""
    rng = np.random.default_rng(seed)
    whole = rng.choice(np.frombuffer(b"AaCG-\xff", np.uint8), (taxa, sites + more))
    first = int(rng.integers(more + 1))
    for values in (whole[:, first : first + sites], whole[::-1, :sites]):
        out = np.full((len(codes), taxa, words_for(sites)), 2**64 - 1, np.uint64)
        each = np.frombuffer(b"".join(codes), np.uint8)
        state_bits(values, each, np.cumsum([0, *map(len, codes)]), out)
        found = np.unpackbits(out.view(np.uint8), axis=2, bitorder="little").astype(bool)
        assert not found[:, :, sites:].any()
        for state, wanted in enumerate(codes):
            assert (found[state, :, :sites] == np.isin(values, [*wanted])).all()
        anyone = np.empty((len(codes), 1, words_for(sites)), np.uint64)
        state_bits(values, each, np.cumsum([0, *map(len, codes)]), anyone)
        assert (anyone[:, 0] == np.bitwise_or.reduce(out, axis=1)).all()


SITES = 700
ENDS = {"unix": ("\n", "\n"), "windows": ("\r\n", "\r\n"), "no last": ("\n", "")}


def rows_of(letters: str, taxa: int = 70) -> dict[str, str]:
    rng = np.random.default_rng(len(letters))
    found = rng.choice(list(letters), (taxa, SITES))
    return {f"t{k}": "".join(row) for k, row in enumerate(found)}


def parts(row: str, width: int, *, ragged: bool = False) -> list[str]:
    """Lines of one width, or each of another."""
    lines, at, number = [], 0, 0
    while at < len(row):
        lines.append(row[at : at + width + number % 3 * ragged])
        at, number = at + len(lines[-1]), number + 1
    return lines


def text_as(form: str, rows: dict[str, str], width: int, *, ragged: bool = False) -> list[str]:
    """Return the lines of an alignment in a format."""
    lines = {name: parts(row, width, ragged=ragged) for name, row in rows.items()}
    if form == "fasta":
        return [line for name, found in lines.items() for line in (f">{name}", *found)]
    if form == "phylip":
        return [f"{len(rows)} {SITES}", *(f"{name}  {row}" for name, row in rows.items())]
    shape = f"dimensions ntax={len(rows)} nchar={SITES};"
    known = "dna" if set("ACGTacgtNnRy-?").issuperset("".join(rows.values())) else "protein"
    kind = f"format datatype={known} missing=? gap=- {'interleave' if form == 'blocks' else ''};"
    matrix = [f"{name}  {row}" for name, row in rows.items()]
    if form == "blocks":
        blocks = [[f"{name}\t{line}" for name, line in zip(lines, block, strict=True)]
                  for block in zip(*lines.values(), strict=True)]  # fmt: skip
        matrix = [line for block in blocks for line in (*block, "")]
    return ["#NEXUS", "begin data;", shape, kind, "matrix", *matrix, ";", "end;"]


def opened(path, form: str, monkeypatch, **how) -> xr.DataArray:
    """Open an alignment that keeps codes, in chunks of few sites."""
    monkeypatch.setattr(alignment, "_MOST_TEXT", 0)
    monkeypatch.setattr(alignment, "_CHUNK", 70 * 300)
    return gb.open_alignment(path, **how)


@pytest.mark.parametrize("form", ["fasta", "phylip", "nexus", "blocks", "lazy"])
@pytest.mark.parametrize("ends", [*ENDS])
@pytest.mark.parametrize("letters", ["ACGT", "ACGTacgtNnRy-?", "ACDEFGHIKLMNPQRSTVWYX-"])
def test_planes_of_codes_are_those_of_text(tmp_path, monkeypatch, form, ends, letters) -> None:
    end, last = ENDS[ends]
    rows = rows_of(letters)
    ragged = form != "lazy"
    path = tmp_path / f"a.{'fasta' if form == 'lazy' else form}"
    lines = text_as("fasta" if form == "lazy" else form, rows, 61, ragged=ragged)
    path.write_bytes((end.join(lines) + last).encode())
    how = {"chunks": 97} if form == "lazy" else {}
    found = opened(path, form, monkeypatch, **how)
    expected = np.array([list(row.upper()) for row in rows.values()])
    assert isinstance(found.data, da.Array)
    assert (found.values == expected).all()
    for gap in ("missing", "state"):
        kind, symbols_ = found.attrs["kind"], "ACGT"
        if kind == "protein":
            symbols_ = "ACDEFGHIKLMNPQRSTVWY"
        coding = Coding(kind, (*symbols_, "-") if gap == "state" else tuple(symbols_), gap)
        assert coded(found.data, coding)[1].sets is not None
        a, b = (sites_of(x, coding, [*rows], "T") for x in (found.data, expected))
        assert a.states.tolist() == b.states.tolist()
        assert [*a.planes] == [*b.planes]
        for one, other in zip(*map(dask.compute, (a.planes, b.planes)), strict=True):
            for name, plane in one.items():
                assert (plane == other[name]).all()
                bits = np.unpackbits(plane.view(np.uint8), axis=1, bitorder="little")
                assert ((expected == name) == bits[:, : len(rows)].T).all()


def test_selections_and_unknown_symbols_stay_text(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.fasta"
    path.write_text("\n".join(text_as("fasta", rows_of("ACGT"), 60)))
    found = opened(path, "fasta", monkeypatch)
    dna = Coding("dna", tuple("ACGT"), "missing")
    assert coded(found[:, 5:].data, dna)[1].sets is None
    other = Coding("standard", tuple("AC"), "missing")
    assert coded(found.data, other)[1].sets is None
    with pytest.raises(ValueError, match=r"taxon 0 \('t0'\), site \d+: '[GT]' is not a symbol"):
        sites_of(found.data, other, [f"t{k}" for k in range(70)], "T")
    xr.testing.assert_identical(
        found[:, 5:650].genobit.ld("T", window=3).compute(),
        found.compute()[:, 5:650].genobit.ld("T", window=3).compute(),
    )
