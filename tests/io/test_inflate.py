"""Blocks inflate to their size or raise ValueError, with ISA-L and with zlib alike."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from genobit.io import inflate as module
from genobit.io.inflate import GZIP, ZLIB, inflate

RAWS = [b"", b"a", bytes(5000), np.random.default_rng(1).integers(0, 9, 9999, "u1").tobytes()]


@pytest.fixture(params=["isal", "zlib"], autouse=True)
def codec(request, monkeypatch):
    if request.param == "zlib":
        monkeypatch.setattr(module, "codec", zlib)
    else:
        assert module.codec is pytest.importorskip("isal.isal_zlib")


def deflated(data, wbits):
    stream = zlib.compressobj(6, zlib.DEFLATED, wbits)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize("wbits", [ZLIB, GZIP])
@pytest.mark.parametrize("data", RAWS, ids=len)
@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_every_format_inflates(wbits, data, kind):
    assert inflate(kind(deflated(data, wbits)), wbits, len(data)) == data


@pytest.mark.parametrize("wbits", [ZLIB, GZIP])
@pytest.mark.parametrize("data", RAWS, ids=len)
def test_a_wrong_size_or_end_is_an_error(wbits, data):
    block = deflated(data, wbits)
    for cut in range(1, min(len(block), 12)):
        with pytest.raises(ValueError, match=r"inflate to|end before"):
            inflate(block[:-cut], wbits, len(data))
    with pytest.raises(ValueError, match="2 bytes follow"):
        inflate(block + b"xy", wbits, len(data))
    with pytest.raises(ValueError, match=f"{len(data):,} instead of {len(data) + 1:,} bytes"):
        inflate(block, wbits, len(data) + 1)
    if data:
        with pytest.raises(ValueError, match="more than"):
            inflate(block, wbits, len(data) - 1)


@pytest.mark.parametrize("wbits", [ZLIB, GZIP])
def test_a_changed_byte_is_an_error(wbits):
    block = deflated(RAWS[-1], wbits)
    start = 2 if wbits == ZLIB else 10  # a gzip header has fields without a check
    for at in [*range(start, len(block), 97), len(block) - 5]:
        bad = bytearray(block)
        bad[at] ^= 0x55
        with pytest.raises(ValueError, match=r"damaged|inflate to|end before|follow"):
            inflate(bytes(bad), wbits, len(RAWS[-1]))


def test_a_bomb_is_not_inflated():
    block = deflated(bytes(2**28), ZLIB)
    with pytest.raises(ValueError, match="more than 100 bytes"):
        inflate(block, ZLIB, 100)
