"""Fields of lines against twins in plain Python, and tables with and without one separator."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from genobit.io.kernels.fields import scan_fields
from genobit.io.tables import TextTable, require_equal_widths


@given(st.lists(st.sampled_from(b'ab \t\n\n"\xc3'), max_size=25), st.integers(1, 4))
def test_scan__finds_what_a_loop_finds(octets: list[int], width: int) -> None:
    text = bytes(octets)
    lines = [line for line in text.split(b"\n") if line.strip(b" \t")]
    sizes = [len(line.replace(b"\t", b" ").split()) for line in lines]
    row, fields, separator = scan_fields(np.frombuffer(text, np.uint8), width)
    short = [k for k, size in enumerate(sizes) if size < width]
    assert row == (short[0] if short else -1)
    assert fields == (sizes[short[0]] if short else 0)
    if separator:
        mark = bytes([separator])
        assert not set(text) - {*b"ab\n", separator}
        assert all(b"" not in line.split(mark) for line in text.split(b"\n") if line)
        assert mark in text


@given(
    st.lists(st.lists(st.sampled_from(["1", "02", "x", "NA", "é"]), min_size=3, max_size=3)),
    st.sampled_from([" ", "\t", "  ", " \t"]),
    st.sampled_from(["", " "]),
)
def test_one_separator_reads_as_any_white_space(rows, separator, end) -> None:
    body = "".join(f"{separator.join(row)}{end}\n" for row in rows)
    names = ["a", "b", "c"]
    plain = require_equal_widths("t", body, 3)
    assert plain in {"", separator}
    for keep in ([], ["a"], None):
        found = TextTable("t", names, r"\s+", body, plain=plain).parsed(keep)
        expected = TextTable("t", names, r"\s+", body).parsed(keep)
        pd.testing.assert_frame_equal(found, expected)
