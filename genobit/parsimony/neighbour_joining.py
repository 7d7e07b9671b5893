"""Neighbour-joining trees of alignments (Saitou and Nei 1987)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.bits.layout import pack_bits
from genobit.engine.gemm import products
from genobit.parsimony.kernels.neighbour_joining import joined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def distances(parts: Iterable[NDArray[np.unsignedinteger]]) -> NDArray[np.float64]:
    """Return the share of sites at which taxa differ, (taxa, taxa).

    Only sites where both taxa have one state count. Pairs without such a site get the largest
    distance of all pairs. parts: state sets (taxa, sites), in consecutive pieces of the alignment.

    Examples
    --------
    >>> distances([np.array([[1, 1, 2, 15], [1, 2, 2, 1]], "u8")]).round(3).tolist()
    [[0.0, 0.333], [0.333, 0.0]]
    """
    same: NDArray[np.float64] | float = 0.0
    both: NDArray[np.float64] | float = 0.0
    for sets in parts:
        alone = np.bitwise_count(sets) == 1
        used = int(np.bitwise_or.reduce(sets, axis=None, where=alone, initial=0))
        states = [1 << state for state in range(used.bit_length()) if used >> state & 1]
        planes = [pack_bits(sets == sets.dtype.type(state)) for state in states]
        shape = (len(sets),) * 2
        same = same + (_counts(np.concatenate(planes, axis=1)) if planes else np.zeros(shape))
        both = both + _counts(pack_bits(alone))
    with np.errstate(invalid="ignore"):
        found = np.asarray(1 - same / both)
    found[np.isnan(found)] = np.nanmax(found, initial=0.0, where=~np.isnan(found)) or 1.0
    np.fill_diagonal(found, 0)
    return found


def _counts(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    out = np.empty((len(words), len(words)))
    for block in products.products("and", (words,)):
        out[block.rows, block.columns] = block.counts
    return out


def neighbour_joining(parts: Iterable[NDArray[np.unsignedinteger]]) -> NDArray[np.int64]:
    """Return the parents of the unrooted neighbour-joining tree of three or more taxa.

    parts: as in `distances`. Ties are joined in the order of the taxa.

    Examples
    --------
    >>> sets = np.array([[1, 1, 1, 1], [1, 1, 2, 1], [2, 2, 1, 1], [2, 2, 1, 2]], "u8")
    >>> neighbour_joining([sets]).tolist()
    [4, 4, 5, 5, 5, -1]
    """
    return joined(distances(parts))
