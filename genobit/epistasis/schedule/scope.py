"""The scope of a search: its combinations, and an order of variants that generates few others.

Variants of a set come last. A combination then holds one of them if and only if its last member is
one. The scope is therefore all last parts of one member from the set, with all first parts before
it. With two sets, the smaller comes last, after the rest of the larger. The last two members are
then in the union of the sets. Kernels check the other limits for each combination, such as the
distance and linkage of members (`genobit.epistasis.kernels.scope`).
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
    """Variants of a search, and limits on combinations; arrays are in the order of the search."""

    places: NDArray[np.int64]
    """Position of each variant of the search in the data."""
    smaller: int
    """Number of variants of the smaller set, which come last; 0 without a set."""
    both: int
    """Number of variants in either of two sets, which come last; 0 without two sets."""
    sets: NDArray[np.uint8]
    """Bit 0 marks members of variants_0, bit 1 those of variants_1; (0,) without two sets."""
    contigs: NDArray[np.int64]
    coordinates: NDArray[np.float64]
    gap: float
    """Least distance of members on one contig; 0 for any."""
    linked: NDArray[np.uint8]
    """(variants, bytes): one bit for each pair that no combination holds; (0, 0) for none."""

    @property
    def free(self) -> bool:
        """Whether the cut generates only combinations of the scope."""
        return not (self.gap or self.linked.size or self.sets.size)

    def arranged(self, classes: Classes) -> Classes:
        """Return the planes of the variants in the order of the search."""
        if self.places.size == classes.planes[0].shape[1] and not self.rearranged:
            return classes
        return classes._replace(planes=tuple(taken(x, self.places) for x in classes.planes))

    @property
    def rearranged(self) -> bool:
        """Whether members may be in another order than in the data."""
        return bool((np.diff(self.places) < 0).any())

    def ordered(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return combinations with their members in the order of the data."""
        order = np.argsort(self.places[members], axis=1)
        return np.take_along_axis(members, order, axis=1)

    def whole(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the parts whose members one combination of the scope may hold."""
        from genobit.epistasis.kernels.scope import within

        if members.shape[1] == 1 or not (self.gap or self.linked.size):
            return members
        out = np.empty(len(members), np.bool_)
        within(members, self._distances(), out)
        return members[out]

    def allowed(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs of first (m, p) and last parts (n, q) are in the scope: (m, n)."""
        from genobit.epistasis.kernels.scope import between

        out = np.empty((len(first), len(last)), np.bool_)
        between(first, last, self._distances(), self.sets, out)
        return out

    def _distances(self) -> Distances:
        from genobit.epistasis.kernels.scope import Distances

        return Distances(self.contigs, self.coordinates, self.gap, self.linked)

    def digest(self) -> str:
        """Return a digest of the scope for a checkpoint."""
        return digest([repr((self.smaller, self.both, self.gap)), *self._arrays()])

    def _arrays(self) -> tuple[NDArray[np.generic], ...]:
        return self.places, self.sets, self.contigs, self.coordinates, self.linked

    def count(self, order: int) -> int:
        """Return the number of combinations: exact, or an upper bound with a limit on linkage.

        This counts the combinations that end at each variant in the order of positions, by the sets
        that they hold. A member that is far enough from the one before it is far enough from all.
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
        """Return how many variants of ``line`` may precede each variant in a combination."""
        if not self.gap:
            return np.arange(line.size)
        contigs, coordinates = self.contigs[line], self.coordinates[line]
        out = np.empty(line.size, np.int64)
        edges = [0, *(np.flatnonzero(np.diff(contigs)) + 1).tolist(), line.size]
        for start, stop in itertools.pairwise(edges):
            here = coordinates[start:stop]
            # Compare differences, as the search does: here - gap may round to the other side.
            low, high = np.zeros(here.size, np.int64), np.arange(here.size)
            for _ in range(here.size.bit_length()):
                middle = (low + high) // 2
                far = here - here[middle] >= self.gap
                low, high = np.where(far, middle + 1, low), np.where(far, high, middle)
            out[start:stop] = start + low
        return out


def _counted(order: int, marks: NDArray[np.uint8], before: NDArray[np.int64], *, two: bool) -> int:
    """Return the number of combinations in the scope, as an exact Python int.

    marks: (variants,) sets of each variant; before: (variants,) how many variants may precede it.
    """
    # A state is the union of the members' marks, and how many members are in a set: 0, 1 or more.
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
    """Return the cut without combinations that hold no member of the sets."""
    if scope is None or not scope.smaller:
        return cut
    return cut._replace(reach=scope.smaller, begin=cut.variants - scope.both if scope.both else 0)
