"""Filters of records: texts of FILTER, which records have which, and their lines in a header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

PASS = "PASS"  # noqa: S105
NO_FILTER = "."
WRITE_FILTERS = "Write names with one ';' between, or '.' for none."

_ATTRIBUTE = re.compile(r'[<,]\s*([^=,<>"\s]+)=(?:"((?:[^"\\]|\\.)*)"|([^,>]*))')


def attributes(line: str) -> dict[str, str]:
    """Return the values in a line of a header by key, such as ID; the first if a key repeats."""
    found: dict[str, str] = {}
    for key, quoted, bare in _ATTRIBUTE.findall(line):
        found.setdefault(key, quoted or bare)
    return found


def filter_descriptions(lines: Iterable[str]) -> dict[str, str]:
    """Return descriptions by filter, as a header writes them between quotation marks."""
    filters = [attributes(line) for line in lines if line.startswith("##FILTER=<")]
    return {found["ID"]: found.get("Description", "") for found in filters if found.get("ID")}


def filter_lines(names: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Return the lines of filters in a header, PASS first."""
    known = {PASS: "", **dict(zip(names, descriptions, strict=True))}
    known[PASS] = known[PASS] or "All filters passed"
    return [f'##FILTER=<ID={name},Description="{text}">' for name, text in known.items()]


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
