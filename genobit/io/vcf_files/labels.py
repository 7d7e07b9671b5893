"""The labels of a file as variables of the input Dataset."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.text import text_found_later
from genobit.io._filters import filter_table
from genobit.io.kernels.vcf_labels import spread_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from genobit.io.vcf_files.scan import Found


def arrays_of(
    found: Found, descriptions: Mapping[str, str]
) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
    """Return labels of all records as numbers and one buffer of text, and names by dimension.

    ``descriptions`` are those of filters by name.
    """

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in found.labels])

    contigs, contig_names = _contigs(joined("contigs"), found.form.contigs)
    positions = joined("positions")

    def place(record: int) -> str:
        return f"{contig_names[contigs[record]]}:{positions[record]}"

    filters, passed = _filters(found, place)
    arrays = {
        "blocks": found.blocks.table(),
        "places": np.concatenate(found.places, axis=1),
        "buffer": joined("buffer"),
        "sizes": joined("sizes"),
        "counts": joined("counts"),
        "variant_contig": contigs,
        "variant_position": positions,
        "variant_quality": joined("quality"),
        "variant_filter": passed,
    }
    described = [descriptions.get(name, "") for name in filters]
    names = {"filter_id": filters, "filter_description": described, "contig_id": contig_names}
    return arrays, names


class _Spans:
    """Where ID and alleles begin and end in the buffer, found when somebody looks."""

    def __init__(self, counts: NDArray[np.int64], sizes: NDArray[np.integer]) -> None:
        self.counts, self.sizes = counts, sizes
        self.shape = counts.size, max(2, int(counts.max(initial=0)))

    @cached_property
    def _both(self) -> NDArray[np.int64]:
        both = np.empty((2, self.shape[0], 1 + self.shape[1]), np.int64)
        spread_texts(np.asarray(self.counts), np.asarray(self.sizes), both[0], both[1])
        return both

    def ids(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._both[0, :, 0], self._both[1, :, 0]

    def alleles(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._both[0, :, 1:], self._both[1, :, 1:]


def variables_of(
    arrays: dict[str, NDArray[Any]], names: dict[str, list[str]]
) -> dict[str, xr.Variable]:
    """Return labels as variables; text is decoded when somebody looks."""
    spans, buffer = _Spans(arrays["counts"], arrays["sizes"]), arrays["buffer"]
    allele = text_found_later(buffer, spans.shape, spans.alleles, "variant_allele")
    name = text_found_later(buffer, spans.shape[:1], spans.ids, "variant_id")
    dims = {"variant_filter": ("variants", "filters")}
    return {
        **{
            label: xr.Variable(dims.get(label, "variants"), np.asarray(values))
            for label, values in arrays.items()
            if label.startswith("variant_")
        },
        "variant_id": xr.Variable("variants", name),
        "variant_allele": xr.Variable(("variants", "alleles"), allele),
        **{
            label: xr.Variable(f"{label.split('_')[0]}s", np.array(texts, object))
            for label, texts in names.items()
        },
    }


def _contigs(codes: NDArray[np.int32], names: list[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Number the contigs that have records in the order of the file."""
    present, first = np.unique(codes, return_index=True)
    present = present[np.argsort(first)]
    renumbered = np.zeros(len(names) + 1, np.int32)
    renumbered[present] = np.arange(present.size)
    return renumbered[codes], [names[k] for k in present]


def _filters(found: Found, place: Callable[[int], str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the names of the filters, PASS first, and which each record has.

    Raises ValueError for an empty name, with the place of the first record that has it.
    """
    form, codes, at = found.form, [], 0
    number: dict[bytes, int] = {}
    named: list[list[str]] = []
    for part in found.labels:
        for text, first in zip(part.filter_texts, part.filter_firsts, strict=True):
            if text not in number:
                number[text] = len(named)
                named += form.filter_names([text])
                if "" in named[-1]:
                    where = f"{form.name}, FILTER of {place(at + first)}"
                    raise ValueError(f"{where} has {form.no_filter}")
        codes.append(np.array([number[text] for text in part.filter_texts])[part.filters])
        at += part.filters.size
    names, rows = filter_table(named)
    return names, rows[np.concatenate(codes)]
