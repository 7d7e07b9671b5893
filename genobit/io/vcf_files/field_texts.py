"""Text of INFO and FORMAT as values, with "." for missing and "" for unused places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MISSING, FILL = ".", ""
_PADDING, _MISSING = b"\0", b"\7"


def typed_spans(found: NDArray[np.int64], samples: int) -> NDArray[np.int64]:
    """Return where the text of a field of a BCF lies: (records * samples, 2), -1 without it.

    found: place, length and type of the values of each record, (records, 3), types below 1 for
    none.
    """
    place, size, kind = (found[:, k, None] for k in range(3))
    starts = place + np.arange(samples) * size
    spans = np.stack([starts, starts + size], axis=2)
    spans[kind[:, 0] < 1] = -1
    return spans.reshape(-1, 2)


def split_texts(
    text: NDArray[np.uint8],
    spans: NDArray[np.int64],
    width: int,
    decode: Callable[[int, bytes], str],
    *,
    split: bool,
) -> tuple[NDArray[Any], int]:
    """Return texts (lists, width) split at commas, or whole, and the most of one list.

    spans: (lists, 2), as `vcf_fields.find_info` and `find_samples` fill them; ``decode`` takes the
    number of a list and its text.
    """
    values = np.full((spans.shape[0], width), FILL, object)
    values[spans[:, 0] == -1] = MISSING
    values[spans[:, 0] < 0, 0] = MISSING
    most = 0
    for row in np.flatnonzero(spans[:, 0] >= 0).tolist():
        octets = text[spans[row, 0] : spans[row, 1]].tobytes()
        octets = octets.rstrip(_PADDING).replace(_MISSING, MISSING.encode())
        whole = decode(row, octets) or MISSING
        parts = whole.split(",") if split else [whole]
        most = max(most, len(parts))
        if len(parts) <= width:
            values[row, : len(parts)] = parts
    return values, most
