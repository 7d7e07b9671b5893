"""Which combinations are searched, and the variants in an order that makes few of the others.

Variants of a set come last. A combination holds one of them if and only if its last member is one,
so that last parts of one member out of the set, with all first parts before it, are the scope. Of
two sets the smaller comes last, behind what else is in the larger: the last two members of a
combination are then among both. What is left is decided combination by combination
(`genobit.epistasis.kernels.scope`): members too near, or too much linked.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.schedule.checkpoints import digest
from genobit.engine.schedule.memory_mapped import taken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genobit.epistasis.kernels.scope import Distances
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.units import Cut


class Scope(NamedTuple):
    """Variants in the order of the search; arrays are in that order."""

    places: NDArray[np.int64]
    """Position of each variant of the search in the data."""
    smaller: int
    """Variants of the smaller set, the last ones; 0 if there is no set."""
    both: int
    """Variants of the two sets, the last ones; 0 if there are no two."""
    sets: NDArray[np.uint8]
    """Bit 0 marks members of variants_0, bit 1 of variants_1, where there are two; or (0,)."""
    contigs: NDArray[np.int64]
    coordinates: NDArray[np.float64]
    gap: float
    """Least distance of members on one contig; 0 for any."""
    linked: NDArray[np.uint8]
    """(variants, bytes) pairs that no combination holds, a bit each; (0, 0) for none."""

    @property
    def free(self) -> bool:
        """Whether the cut makes no combinations but those of the scope."""
        return not (self.gap or self.linked.size or self.sets.size)

    def arranged(self, classes: Classes) -> Classes:
        """The planes of the variants of the search, in its order."""
        if self.places.size == classes.planes[0].shape[1] and not self.rearranged:
            return classes
        return classes._replace(planes=tuple(taken(x, self.places) for x in classes.planes))

    @property
    def rearranged(self) -> bool:
        """Whether members may stand in another order than in the data."""
        return bool((np.diff(self.places) < 0).any())

    def ordered(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Combinations with their members in the order of the data."""
        order = np.argsort(self.places[members], axis=1)
        return np.take_along_axis(members, order, axis=1)

    def whole(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """The parts that combinations of the scope may have."""
        from genobit.epistasis.kernels.scope import within

        if members.shape[1] == 1 or not (self.gap or self.linked.size):
            return members
        out = np.empty(len(members), np.bool_)
        within(members, self._distances(), out)
        return members[out]

    def allowed(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which first and last parts make a combination of the scope, (m, n)."""
        from genobit.epistasis.kernels.scope import between

        out = np.empty((len(first), len(last)), np.bool_)
        between(first, last, self._distances(), self.sets, out)
        return out

    def _distances(self) -> Distances:
        from genobit.epistasis.kernels.scope import Distances

        return Distances(self.contigs, self.coordinates, self.gap, self.linked)

    def digest(self) -> str:
        """For a checkpoint."""
        return digest([repr((self.smaller, self.both, self.gap)), *self._arrays()])

    def _arrays(self) -> tuple[NDArray[np.generic], ...]:
        return self.places, self.sets, self.contigs, self.coordinates, self.linked

    def count(self, order: int) -> int:
        """Combinations, exactly, or with a limit on linkage at most.

        One variant after another in the order of positions: how many combinations end there, by
        what they hold of the sets. A member that is far enough from the one before it is far
        enough from all.
        """
        variants = self.places.size
        if not (self.gap or self.sets.size):
            outside = variants - self.smaller if self.smaller else 0
            total = math.comb(variants, order)
            return total - math.comb(outside, order) if self.smaller else total
        line = np.lexsort((self.coordinates, self.contigs))
        inside = np.arange(variants) >= variants - (self.smaller or variants)
        marks = (self.sets if self.sets.size else np.where(inside, 3, 0).astype(np.uint8))[line]
        before = self._before(line)
        return _counted(order, marks, before, two=bool(self.sets.size))

    def _before(self, line: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many variants of a line may stand before each in a combination."""
        if not self.gap:
            return np.arange(line.size)
        contigs, coordinates = self.contigs[line], self.coordinates[line]
        out = np.empty(line.size, np.int64)
        edges = [0, *(np.flatnonzero(np.diff(contigs)) + 1).tolist(), line.size]
        for start, stop in itertools.pairwise(edges):
            here = coordinates[start:stop]
            # By differences, as the search takes them: here - gap may round to the other side.
            low, high = np.zeros(here.size, np.int64), np.arange(here.size)
            for _ in range(here.size.bit_length()):
                middle = (low + high) // 2
                far = here - here[middle] >= self.gap
                low, high = np.where(far, middle + 1, low), np.where(far, high, middle)
            out[start:stop] = start + low
        return out


def _counted(order: int, marks: NDArray[np.uint8], before: NDArray[np.int64], *, two: bool) -> int:
    """Combinations by the sets that they hold; exact, so Python's whole numbers."""
    # A state is the marks of all members, and whether none, one or more of them are in a set.
    ending = {
        (mark, min(mark, 1)): (marks == mark).astype(object) for mark in np.unique(marks).tolist()
    }
    for _ in range(order - 1):
        reached = {
            state: np.concatenate([[0], np.cumsum(counts)])[before]
            for state, counts in ending.items()
        }
        ending = {}
        for (held, members), counts in reached.items():
            for mark in np.unique(marks).tolist():
                state = held | mark, min(members + (mark > 0), 2)
                here = np.where(marks == mark, counts, 0)
                ending[state] = ending.get(state, 0) + here
    wanted = [
        int(counts.sum())
        for (held, members), counts in ending.items()
        if held == 3 and (members >= 2 or not two)
    ]
    return sum(wanted)


def limited(cut: Cut, scope: Scope | None) -> Cut:
    """A cut of last parts of one member, without what has no member of the sets."""
    if scope is None or not scope.smaller:
        return cut
    return cut._replace(reach=scope.smaller, begin=cut.variants - scope.both if scope.both else 0)
