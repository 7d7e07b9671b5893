"""Read texts of FILTER as names, and as a table of which records have which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PASS = "PASS"  # noqa: S105
NO_FILTER = "."
WRITE_FILTERS = "Write names with one ';' between, or '.' for none."


def filter_names(text: str) -> list[str]:
    """Return the names in a text of FILTER, as bcftools splits it; an empty name is "".

    A ";" at the end is left out. "." beside other names is an empty name, which BCF cannot hold.
    """
    if text == NO_FILTER:
        return []
    return ["" if name == NO_FILTER else name for name in text.removesuffix(";").split(";")]


def filter_table(found: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.bool_]]:
    """Return all names, PASS first, and which of them each list has (lists, names)."""
    names = list(dict.fromkeys([PASS, *(name for some in found for name in some)]))
    table = np.array([[name in some for name in names] for some in found], bool)
    return names, table.reshape(len(found), len(names))
