"""Ways in which a file breaks, the same each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOREIGN = (
    b"\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\x1b[2J",
    b"\r",
    b"\xe2\x80\xa8",
    b"99999999999999999999",
)


def broken(data: bytes, seed: int, number: int) -> Iterator[tuple[str, bytes]]:
    """The file in other shapes: a name for each, and the bytes.

    ``number`` each of cuts, flipped bits, foreign bytes and lines lost, doubled or exchanged.
    """
    random = np.random.default_rng(seed)
    size = len(data)
    yield "empty", b""
    yield "newlines", b"\n\n\n"
    yield "nulls", bytes(size)
    yield "doubled", data + data
    yield "reversed", data[::-1]
    yield "blank at the end", data + b" "
    yield "with a mark of byte order", b"\xef\xbb\xbf" + data
    yield "ends of lines of Windows", data.replace(b"\n", b"\r\n")
    yield "in Latin-1", data.replace(b"a", b"\xe4").replace(b"S", b"\xd6")
    yield "in UTF-16", data.decode("latin-1").encode("utf-16")
    for at in np.unique(random.integers(0, size, number)):
        yield f"cut at {at}", data[:at]
    for at in random.integers(0, 8 * size, number):
        flipped = bytearray(data)
        flipped[at // 8] ^= 1 << (at % 8)
        yield f"bit {at} flipped", bytes(flipped)
    for at, which in zip(
        random.integers(0, size, number), random.integers(0, len(_FOREIGN), number), strict=True
    ):
        yield f"{_FOREIGN[which]!r} at {at}", data[:at] + _FOREIGN[which] + data[at:]
    lines = data.splitlines(keepends=True)
    for i, j in random.integers(0, len(lines), (number, 2)):
        yield f"line {i} lost", b"".join(lines[:i] + lines[i + 1 :])
        yield f"line {i} twice", b"".join([*lines[:i], lines[i], *lines[i:]])
        swapped = lines.copy()
        swapped[i], swapped[j] = swapped[j], swapped[i]
        yield f"lines {i} and {j} exchanged", b"".join(swapped)
