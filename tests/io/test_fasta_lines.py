"""Lines of FASTA and tables of symbols against twins in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genobit.engine.bits.words import looked_up
from genobit.io.kernels import fasta_lines
from genobit.io.kernels.symbols import copy


def twin(text: bytes) -> tuple[int, int]:
    """Where the first fault or name is, and which fault; the length of the text where none is."""
    lines: list[tuple[int, int]] = []
    column = place = 0
    for place, byte in enumerate(text):
        before = text[place - 1] if place else 10
        if byte == 10:
            if column or lines:
                lines.append((column, 1 + (before == 13)))
            column = 0
            continue
        if byte == 13 and before != 13:
            continue
        if byte == ord(">") and column == 0 and before != 13:
            return place, 0
        if not 32 < byte < 127 or before == 13:
            return place, fasta_lines.FOREIGN
        unlike = [line for line in lines if line[0] < lines[0][0] or line[1] != lines[0][1]]
        if unlike or (lines and column == lines[0][0]):
            return place, fasta_lines.UNEQUAL
        column += 1
    return len(text), 0


@given(st.lists(st.sampled_from(b"AAAC>\r\n\n \xc3"), max_size=30), st.integers(1, 9))
def test_faults_and_names_are_where_a_loop_finds_them(octets: list[int], size: int) -> None:
    text = bytes(octets)
    state, counts = np.zeros(9, np.int64), np.zeros(256, np.int64)
    stop = 0
    for base in range(0, len(text), size):
        block = np.frombuffer(text[base : base + size], np.uint8)
        at = fasta_lines.read_lines(block, 0, base, state, counts)
        stop = base + at
        if at < block.size:
            break
    assert (stop, state[fasta_lines.FAULT]) == twin(text)
    before = text[:stop]
    assert counts[ord("A")] == before.count(b"A")
    assert state[fasta_lines.LINES] == before.count(b"\n")
    symbols = len(before) - before.count(b"\n") - before.count(b"\r")
    assert state[fasta_lines.LENGTH] + state[fasta_lines.COLUMN] == symbols
    if symbols:
        assert state[fasta_lines.FIRST] == len(before) - len(before.lstrip(b"\r\n"))


@given(st.lists(st.integers(0, 40), min_size=1), st.integers(1, 30), st.sampled_from(["u1", "u8"]))
def test_looked_up__is_indexing_and_0_past_the_table(points, size, width) -> None:
    table = np.arange(1, size + 1).astype(width)
    expected = [int(table[point]) if point < size else 0 for point in points]
    found = looked_up(np.array([points], np.uint32), table)
    assert found.dtype == width
    assert found.tolist() == [expected]


@pytest.mark.parametrize("states", range(50, 65))
def test_looked_up__keeps_every_bit_of_a_set(states) -> None:
    every = 2**states - 1
    found = looked_up(np.array([[0, 1]], np.uint32), np.array([every], np.uint64))
    assert found.tolist() == [[every, 0]]


@given(
    st.integers(1, 4),
    st.integers(1, 200),
    st.integers(1, 150),
    st.integers(0, 70),
    st.binary(min_size=1, max_size=60).map(lambda found: bytes(x for x in found if x > 32) or b"A"),
    st.integers(0, 2**32 - 1),
)
def test_copy__takes_symbols_of_lines_of_any_width(taxa, sites, width, indent, letters, seed):
    """Lines shorter and longer than a register, few and many different bytes, interleaved rows."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(np.frombuffer(letters, np.uint8), (taxa, sites))
    text, spans = b"", []
    for start in range(0, sites, width):
        for taxon in range(taxa):
            symbols = rows[taxon, start : start + width].tobytes()
            middle = int(rng.integers(len(symbols) + 1))
            line = b" " * indent + symbols[:middle] + b"\t \n"[: indent % 4] + symbols[middle:]
            spans.append((taxon, len(text), len(text) + len(line)))
            text += line
    data, counts = np.frombuffer(text, np.uint8), np.zeros(256, np.int64)
    out = np.empty_like(rows)
    copy(data, np.array(spans, np.int64), out, counts)
    assert (out == rows).all()
    assert counts.tolist() == np.bincount(data, minlength=256).tolist()
