"""Filters of records: texts of FILTER, which records have which, and their lines in a header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import labels, model

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


def with_same_filters(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Return Datasets with the filters of all of them; one without filters has failed none."""
    every: dict[str, str] = {}
    known = [labels.texts_along(part, "filter_id", "filters") for part in parts]
    for part, ids in zip(parts, known, strict=True):
        if ids is not None:
            texts = labels.texts_along(part, "filter_description", "filters")
            texts = np.full(ids.size, "", object) if texts is None else texts
            every |= {name: every.get(name) or text for name, text in zip(ids, texts, strict=True)}
    if not every:
        return list(parts)
    found = []
    for part, ids in zip(parts, known, strict=True):
        if ids is None or "variant_filter" not in part:
            passed = xr.DataArray(
                np.zeros((part.sizes[model.VARIANTS], len(every)), bool),
                dims=(model.VARIANTS, "filters"),
            )
        else:
            named = part["variant_filter"].assign_coords(filters=ids)
            passed = named.reindex(filters=list(every), fill_value=False).drop_vars("filters")
        rest = part.drop_dims("filters", errors="ignore")
        found.append(
            rest.assign(
                variant_filter=passed,
                filter_id=("filters", np.array(list(every), object)),
                filter_description=("filters", np.array(list(every.values()), object)),
            )
        )
    return found
