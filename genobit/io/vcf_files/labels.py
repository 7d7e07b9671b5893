"""The labels of a file as variables of the input Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.text import lazy_text
from genobit.io._filters import filter_table
from genobit.io.kernels.vcf_labels import encode_texts, spread_alleles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from genobit.io.vcf_files.bcf_format import BcfFormat
    from genobit.io.vcf_files.scan import Found
    from genobit.io.vcf_files.text_format import TextFormat


def arrays_of(
    found: Found, descriptions: Mapping[str, str]
) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
    """Return labels of all records as numbers and one buffer of text, and names by dimension.

    ``descriptions`` are those of filters by name.
    """
    labels = found.labels
    offsets = np.cumsum([0, *(part.buffer.size for part in labels)])
    buffer = np.concatenate([np.zeros(0, np.uint8), *(part.buffer for part in labels)])

    def spans(name: str) -> NDArray[np.int64]:
        parts = [getattr(part, name) + at for part, at in zip(labels, offsets, strict=False)]
        return np.concatenate([np.zeros((0, 2), np.int64), *parts])

    def joined(name: str, dtype: Any) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype), *(getattr(part, name) for part in labels)])

    contigs, contig_names = _contigs(joined("contigs", np.int32), found.form.contigs)
    positions = joined("positions", np.int64)

    def place(record: int) -> str:
        return f"{contig_names[contigs[record]]}:{positions[record]}"

    filters, passed = _filters(found.form, buffer, spans("filters"), place)
    arrays = {
        "blocks": found.blocks.table(),
        "places": np.concatenate([np.zeros((2, 0), np.int64), *found.places], axis=1),
        "buffer": buffer,
        "ids": spans("ids"),
        "alleles": spans("alleles"),
        "counts": joined("counts", np.int64),
        "variant_contig": contigs,
        "variant_position": positions,
        "variant_quality": joined("quality", np.float32),
        "variant_filter": passed,
    }
    described = [descriptions.get(name, "") for name in filters]
    names = {"filter_id": filters, "filter_description": described, "contig_id": contig_names}
    return arrays, names


def variables_of(
    arrays: dict[str, NDArray[Any]], names: dict[str, list[str]]
) -> dict[str, xr.Variable]:
    """Return labels as variables; text is decoded when somebody looks."""
    counts, ids, buffer = arrays["counts"], arrays["ids"], arrays["buffer"]
    shape = counts.size, max(2, int(counts.max(initial=0)))
    starts, ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
    spread_alleles(counts, arrays["alleles"], starts, ends)
    allele = lazy_text(buffer, starts, ends, "variant_allele")
    name = lazy_text(buffer, ids[:, 0], ids[:, 1], "variant_id")
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


def _filters(
    form: TextFormat | BcfFormat,
    buffer: NDArray[np.uint8],
    spans: NDArray[np.int64],
    place: Callable[[int], str],
) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the names of the filters, PASS first, and which each record has.

    Raises ValueError for an empty name, with the place of the first record that has it.
    """
    n = spans.shape[0]
    codes, firsts = np.empty(n, np.int32), np.empty(n, np.int64)
    table = np.full(1 << max(2 * n - 1, 1).bit_length(), -1, np.int32)
    differ = encode_texts(buffer, spans, table, codes, firsts)
    texts = [buffer[spans[k, 0] : spans[k, 1]].tobytes() for k in firsts[:differ]]
    named = form.filter_names(texts)
    for first, some in zip(firsts[:differ].tolist(), named, strict=True):
        if "" in some:
            raise ValueError(f"{form.name}, FILTER of {place(first)} has {form.no_filter}")
    names, rows = filter_table(named)
    return names, rows[codes]
