"""Search of high orders, sample by sample: tables with more cells than samples.

Subtractions for a table of 3^8 cells by class take longer than counting 2,048 samples into their
cells. The cell number of a sample is the sum of two numbers: one from the genotypes of its first
part and one from its last part. The mutual information is updated with each sample: x ln x of a
cell grows by a difference that depends only on the cell's count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.bits.layout import unpack_bits
from genobit.engine.simd.jit import njit
from genobit.epistasis.kernels.bounds import least_information
from genobit.epistasis.kernels.statistics import Branches, Rule, score
from genobit.epistasis.kernels.top_k import Pairs, compact, empty_top_k, push

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.mutual_information import Logarithms
    from genobit.epistasis.kernels.tables import Classes

ABSENT = -(2**30)
"""Cell number for a missing call; stays negative when a cell number below 3^18 is added."""
ROUNDING = 1e-9
"""Exceeds the rounding error of mutual information."""


def dosages(classes: Classes) -> NDArray[np.int8]:
    """Return dosages (variants, samples), -1 where missing; samples are sorted by class."""
    parts = []
    for planes, size in zip(classes.planes, classes.sizes, strict=True):
        bits = unpack_bits(planes, size).view(np.int8)
        total = bits[-2] + bits[-1]
        parts.append(total if classes.complete else np.where(bits[0] == 1, total, np.int8(-1)))
    return np.concatenate(parts, axis=1)


class Samples(NamedTuple):
    """Cells of the samples in each part, sorted by class."""

    first: NDArray[np.int32]
    """Cell numbers of first parts by `cells_of`, (m, samples)."""
    last: NDArray[np.int32]
    """Cell numbers of last parts, (n, samples)."""
    edges: NDArray[np.int64]
    """Bounds of the classes among the samples, (classes + 1,)."""
    cells: int
    """Cells of a table."""


@njit
def cells_of(dosage: NDArray[np.int8], members: NDArray[np.int64], step: int) -> NDArray[np.int32]:
    """Return the cell of each sample in each part, times ``step``: (parts, samples) int32.

    dosage: (variants, samples); members: (parts, size). A missing call gives `ABSENT`.
    """
    out = np.zeros((members.shape[0], dosage.shape[1]), np.int32)
    for i in range(members.shape[0]):
        for m in range(members.shape[1]):
            calls = dosage[members[i, m]]
            for s in range(calls.shape[0]):
                known = out[i, s] >= 0 and calls[s] >= 0
                out[i, s] = out[i, s] * 3 + calls[s] if known else -1
        for s in range(out.shape[1]):
            out[i, s] = out[i, s] * step if out[i, s] >= 0 else ABSENT
    return out


@njit
def _information(
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    edges: NDArray[np.int64],
    growth: NDArray[np.int64],
    logarithms: Logarithms,
    totals: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> float:
    """Return the mutual information of cells and classes in nats, with the same bits as a table.

    first, last: (samples,) cell numbers; edges: (classes + 1,) bounds of the classes.
    """
    totals[:] = 0
    inner, outer, n = np.int64(0), np.int64(0), 0
    for c in range(edges.shape[0] - 1):
        counts[:] = 0
        size = 0
        for s in range(edges[c], edges[c + 1]):
            cell = first[s] + last[s]
            if cell >= 0:
                count, total = counts[cell], totals[cell]
                inner += growth[count] - growth[total]
                counts[cell] = count + 1
                totals[cell] = total + 1
                size += 1
        outer += logarithms.multiples[size]
        n += size
    if n == 0:
        return np.nan
    return (inner - outer + logarithms.multiples[n]) * logarithms.unit / n


@njit
def _table(
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    edges: NDArray[np.int64],
    tables: NDArray[np.int32],
) -> None:
    tables[:] = 0
    for c in range(edges.shape[0] - 1):
        for s in range(edges[c], edges[c + 1]):
            cell = first[s] + last[s]
            if cell >= 0:
                tables[c, cell, 0] += 1


@njit
def search(
    dealt: Samples,
    pairs: Pairs,
    top: int,
    threshold: float,
    rule: Rule,
    logarithms: Logarithms,
    branches: Branches,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]:
    """Return scores, first parts and last parts of the best pairs, and how many passed the bound.

    Mutual information must bound the score.
    """
    first, last, edges, cells = dealt
    ends, starts, allowed = pairs
    chi2, gain, fit = branches
    classes, samples = edges.shape[0] - 1, edges[-1]
    tables = np.empty((classes, cells, 1), np.int32)
    totals, counts = np.empty(cells, np.int32), np.empty(cells, np.int32)
    growth = np.empty(logarithms.multiples.shape[0] - 1, np.int64)
    for count in range(growth.shape[0]):
        growth[count] = logarithms.multiples[count + 1] - logarithms.multiples[count]
    kept = empty_top_k(top, last.shape[0])
    scored = 0
    # A literal 0 makes numba compile all scores a second time, which takes 14 s.
    only = int(np.int64(0))
    for i in range(first.shape[0]):
        for k in range(last.shape[0]):
            # `combines` would count the references of three arrays for each pair: 20% more time.
            if starts[k] <= ends[i] or (allowed.size and not allowed[i, k]):
                continue
            most = _information(first[i], last[k], edges, growth, logarithms, totals, counts)
            if most + ROUNDING >= least_information(rule, threshold, samples):
                scored += 1
                _table(first[i], last[k], edges, tables)
                found = score(tables, only, rule, threshold, logarithms, chi2, gain, fit)
                if found >= threshold:
                    kept = push(kept, found, i, k)
        kept, threshold = compact(kept, top, threshold, last.shape[0])
    return (
        kept.scores[: kept.held],
        kept.places[0, : kept.held],
        kept.places[1, : kept.held],
        scored,
    )
