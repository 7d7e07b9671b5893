"""Pack the calls of some records as soon as they are read, while they lie in the first cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.engine.bits.pack import pack_marks, pack_row
from genobit.engine.simd.jit import njit
from genobit.io.kernels.vcf_text import LACKING, OTHERS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rows(NamedTuple):
    """Room for calls of some records at a time, and planes of all records.

    Each row of the room ends with zeros to a whole word of bits.
    """

    calls: NDArray[Any]
    """Alleles of all samples: (records at a time, samples * ploidy)."""
    phased: NDArray[np.int8]
    places: NDArray[np.intp]
    """Samples to keep, or empty for all."""
    picked: NDArray[Any]
    """Alleles of the samples to keep; `calls` if these are all."""
    marks: NDArray[np.int8]
    octets: NDArray[np.int8]
    """Alleles of at most 127; `picked` if it has such integers."""
    alt: NDArray[np.uint64]
    """Allele 1, called alleles and phased calls: (records, words)."""
    called: NDArray[np.uint64]
    phase: NDArray[np.uint64]
    which: NDArray[np.int64]
    """Records with calls of other alleles or a lower ploidy, and these calls (records, alleles)."""
    others: NDArray[Any]


@njit
def keep_rows(rows: Rows, stop: int, n: int, ploidy: int, report: NDArray[np.int64]) -> None:
    """Pack the calls of the n records before ``stop``, which were read.

    Calls of one record alone would be loaded while they are still being stored.
    """
    # numba counts references of each array that is taken from a tuple in a loop.
    calls, phased, places, picked, marks, octets, alt, called, phase, which, others = rows
    alleles, held = others.shape[1], report[OTHERS]
    for row in range(n):
        record = stop - n + row
        for j in range(places.size):
            marks[row, j] = phased[row, places[j]]
            for h in range(ploidy):
                picked[row, j * ploidy + h] = calls[row, places[j] * ploidy + h]
        if picked.itemsize > 1:
            for k in range(alleles):
                # A call of 127 is packed as one that is not plain.
                octets[row, k] = min(picked[row, k], 127)
        other, missing = pack_row(octets, row * octets.shape[1], alleles, alt, called, record)
        report[LACKING] |= missing
        if other:
            which[held] = record
            for k in range(alleles):
                others[held, k] = picked[row, k]
            held += 1
        pack_marks(marks, row * marks.shape[1], phase, record)
    report[OTHERS] = held
