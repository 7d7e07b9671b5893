"""Variants of a search: their planes, split by class, and the scope of their combinations.

Planes are in memory or in memory-mapped files.

Variants of a set come last. A combination then holds one of them if and only if its last member is
one. The scope is therefore all last parts of one member from the set, with all first parts before
it. With two sets, the smaller comes last, after the rest of the larger. The last two members are
then in the union of the sets. Kernels check the other limits for each combination, such as the
distance and linkage of members (`genobit.epistasis.kernels.scope`).
"""

from __future__ import annotations

import itertools
import math
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from genobit.engine.bits.layout import words_for
from genobit.engine.bits.planes import all_called
from genobit.engine.bits.words import count_rows
from genobit.engine.options import get_options
from genobit.engine.schedule import passes
from genobit.engine.schedule.checkpoints import digest
from genobit.engine.schedule.computing import compute
from genobit.engine.schedule.memory_mapped import PlaneFile, taken
from genobit.engine.schedule.tiles import as_rows, ordered, whole_rows
from genobit.epistasis.kernels.scope import Distances, between, within
from genobit.epistasis.kernels.tables import Classes, by_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout


def gathered(
    planes: Mapping[str, da.Array], layout: Layout, classes: NDArray[np.integer], count: int
) -> Classes:
    """Compute the dosage planes of each class, in memory or past ``eager_limit`` in files.

    classes: (samples,) class numbers, -1 to leave a sample out; count: number of classes. Raises
    MemoryError past ``eager_limit`` if ``spill_to`` names no folder, and OSError if the folder has
    no room.
    """
    sizes = tuple(int(np.count_nonzero(classes == k)) for k in range(count))
    ready = whole_rows(ordered(planes, layout))
    classes = np.asarray(classes, np.int64)
    chunks = [plane.to_delayed()[:, 0] for plane in ready]
    task = delayed(_chunk_by_class, pure=True)
    parts = [task(list(blocks), layout, classes, count) for blocks in zip(*chunks, strict=True)]
    if _spill(len(ready), ready[0].shape[0], sizes):
        return _spilled(parts, ready[0].chunks[0], sizes)
    done = compute(*parts)
    if not all(part.complete for part in done):
        done = tuple(_with_called(part) if part.complete else part for part in done)
    return Classes(
        tuple(np.concatenate([part.planes[k] for part in done], axis=1) for k in range(count)),
        sizes,
    )


def _spill(planes: int, variants: int, sizes: Sequence[int]) -> bool:
    """Return whether planes go to files; raises MemoryError if they must but may not."""
    size = 8 * planes * variants * sum(words_for(size) for size in sizes)
    options = get_options()
    if size <= options.eager_limit:
        return False
    if options.spill_to is not None:
        return True
    msg = (
        f"the genotypes of {variants:,} variants and {sum(sizes):,} samples take "
        f"{size / 2**20:,.0f} MiB, packed, more than eager_limit "
        f"({options.eager_limit / 2**20:,.0f} MiB): select variants, name a folder for them, "
        "gb.set_options(spill_to=...), or raise gb.set_options(eager_limit=...)"
    )
    raise MemoryError(msg)


def _spilled(parts: Sequence[Any], rows: Sequence[int], sizes: tuple[int, ...]) -> Classes:
    """Write the planes of each class to files, some chunks of variants at a time."""
    starts = np.concatenate([[0], np.cumsum(rows)]).tolist()
    shapes = [(3, starts[-1], words_for(size)) for size in sizes]
    chunk = 24 * max(rows) * sum(words for *_, words in shapes)
    together = max(1, passes.GROUP_BYTES // max(chunk, 1))
    folder: Any = get_options().spill_to
    complete: list[bool] = []
    with ExitStack() as stack:
        files = [stack.enter_context(PlaneFile(folder, shape)) for shape in shapes]
        for k in range(0, len(parts), together):
            done = compute(*parts[k : k + together])
            for start, part in zip(starts[k:], done, strict=False):
                _write(files, start, part)
            complete += [part.complete for part in done]
        if not all(complete):
            # Complete chunks need a called plane, too, if any chunk has missing calls.
            for k in np.flatnonzero(complete).tolist():
                for file, size in zip(files, sizes, strict=True):
                    file.write(0, starts[k], _every(rows[k], size))
        return Classes(tuple(file.mapped(int(all(complete))) for file in files), sizes)


def _write(files: Sequence[PlaneFile], start: int, part: Classes) -> None:
    """Write the planes of a chunk; two planes go to the last two of three places."""
    for file, planes in zip(files, part.planes, strict=True):
        for kind, plane in enumerate(planes, 3 - len(planes)):
            file.write(kind, start, plane)


def _chunk_by_class(
    blocks: list[Any], layout: Layout, classes: NDArray[np.int64], count: int
) -> Classes:
    found = by_class(as_rows(blocks, layout), classes, count)
    if found.complete:
        return found
    full = all(
        (count_rows(planes[0]) == size).all()
        for planes, size in zip(found.planes, found.sizes, strict=True)
    )
    # If all missing calls are of samples that are left out, the planes count as complete.
    return Classes(tuple(p[1:] for p in found.planes), found.sizes) if full else found


def _with_called(part: Classes) -> Classes:
    planes = [
        np.concatenate([_every(both.shape[1], size)[None], both])
        for both, size in zip(part.planes, part.sizes, strict=True)
    ]
    return Classes(tuple(planes), part.sizes)


def _every(variants: int, samples: int) -> NDArray[np.uint64]:
    """Return a plane with all samples of a class set: (variants, words)."""
    return np.tile(all_called(samples), (variants, 1))


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
    def unrestricted(self) -> bool:
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
        if members.shape[1] == 1 or not (self.gap or self.linked.size):
            return members
        out = np.empty(len(members), np.bool_)
        within(members, self._distances(), out)
        return members[out]

    def allowed(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs of first (m, p) and last parts (n, q) are in the scope: (m, n)."""
        out = np.empty((len(first), len(last)), np.bool_)
        between(first, last, self._distances(), self.sets, out)
        return out

    def _distances(self) -> Distances:
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
