"""Sets of samples that statistics count, by the kind of chromosome.

The rules are those of plink 1.9. On X, males count one allele each, and they are left out of
genotype counts and of Hardy-Weinberg tests. On Y, only males count. On Y and MT a call counts one
allele.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.data.autosomes import DIPLOID, MT, X, Y
from genobit.engine.bits.layout import pack_bits
from genobit.quality.kernels.counts import EMPTY, FIRST, MASKED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.quality.roles import Roles

PRESENT, PAIRS, SINGLES, TESTED = range(4)
"""Sets: samples of the call rate; samples that count two alleles, and one; samples of the test."""


class SampleSets(NamedTuple):
    """Sets of samples for each kind of chromosome, as the kernel takes them."""

    masks: NDArray[np.uint64]
    """(kinds, sets, words)"""
    how: NDArray[np.uint8]
    """(kinds, sets)"""
    sizes: NDArray[np.int64]
    """(kinds, sets)"""


def sample_sets(roles: Roles) -> SampleSets:
    """Return the sets of samples that are counted on each kind of chromosome."""
    everyone = np.ones(roles.samples, bool)
    kept = everyone if roles.kept is None else roles.kept
    counted = kept if roles.founders is None else kept & roles.founders
    tested = counted if roles.tested is None else counted & roles.tested
    male, on_y, nobody = roles.males(), roles.on_y(), ~everyone
    by_kind = {
        DIPLOID: (kept, counted, nobody, tested),
        X: (kept, counted & ~male, counted & male, tested & ~male),
        Y: (kept & on_y, nobody, counted & on_y, nobody),
        MT: (kept, nobody, counted, nobody),
    }
    sets = np.array([by_kind[kind] for kind in range(len(by_kind))])
    sizes = sets.sum(axis=2, dtype=np.int64)
    how = np.where(sizes == 0, EMPTY, MASKED)
    as_first = (sets == sets[:, :1]).all(axis=2)
    as_first[:, 0] = False
    how[as_first & (sizes > 0)] = FIRST
    return SampleSets(pack_bits(sets), how.astype(np.uint8), sizes)
