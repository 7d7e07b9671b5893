"""Neighbour-joining trees of alignments (Saitou and Nei 1987), by DendroPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.io._dendropy import dendropy
from genobit.io.trees import read_trees
from genobit.kernels import gemm
from genobit.kernels.similarity import packed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def distances(parts: Iterable[NDArray[np.uint64]]) -> NDArray[np.float64]:
    """Shares of sites at which taxa differ, of those where both have one state, (taxa, taxa).

    Pairs without such a site are at the largest distance of all.

    Parameters
    ----------
    parts
        State sets (taxa, sites) of the alignment, or of some sites after the other.

    Examples
    --------
    >>> distances([np.array([[1, 1, 2, 15], [1, 2, 2, 1]], "u8")]).round(3).tolist()
    [[0.0, 0.333], [0.333, 0.0]]
    """
    same: NDArray[np.float64] | float = 0.0
    both: NDArray[np.float64] | float = 0.0
    for sets in parts:
        alone = np.bitwise_count(sets) == 1
        used = np.flatnonzero(np.bincount(np.log2(sets[alone]).astype(np.int64), minlength=64))
        planes = [packed(sets == np.uint64(1) << np.uint64(state)) for state in used]
        shape = (len(sets),) * 2
        same = same + (_counts(np.concatenate(planes, axis=1)) if planes else np.zeros(shape))
        both = both + _counts(packed(alone))
    with np.errstate(invalid="ignore"):
        found = np.asarray(1 - same / both)
    found[np.isnan(found)] = np.nanmax(found, initial=0.0, where=~np.isnan(found)) or 1.0
    np.fill_diagonal(found, 0)
    return found


def _counts(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    out = np.empty((len(words), len(words)))
    for block in gemm.products("and", (words,)):
        out[block.rows, block.columns] = block.counts
    return out


def neighbour_joining(parts: Iterable[NDArray[np.uint64]], taxa: int) -> NDArray[np.int64]:
    """Parents of the neighbour-joining tree of so many taxa, of parts as of `distances`.

    Raises
    ------
    ImportError
        If DendroPy is not installed.

    Examples
    --------
    >>> sets = np.array([[1, 1, 1, 1], [1, 1, 2, 1], [2, 2, 1, 1], [2, 2, 1, 2]], "u8")
    >>> parents = neighbour_joining([sets], 4)
    >>> bool(parents[0] == parents[1] or parents[2] == parents[3])
    True
    """
    library = dendropy()
    names = [f"t{taxon}" for taxon in range(taxa)]
    space = library.TaxonNamespace(names)
    values = distances(parts).tolist()
    matrix = library.PhylogeneticDistanceMatrix()
    table = {a: dict(zip(space, row, strict=True)) for a, row in zip(space, values, strict=True)}
    matrix.compile_from_dict(table, taxon_namespace=space)
    return read_trees(matrix.nj_tree(), names).trees[0].parents
