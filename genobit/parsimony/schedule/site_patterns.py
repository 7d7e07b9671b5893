"""One number for each site of an alignment, in the smallest integer type or in a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.options import get_options
from genobit.engine.schedule.memory_mapped import Spilled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE = 2**18
"""Sites renumbered at a time."""
WIDEST = np.dtype(np.uint32)


class PatternIndex(AbstractContextManager["PatternIndex"]):
    """Collects one number for each site, chunk by chunk, until all ``sites`` are there.

    The numbers are in a file in ``get_options().spill_to`` if that names a folder and they could
    take more than ``get_options().eager_limit`` bytes. Otherwise they are in memory.

    Examples
    --------
    >>> with PatternIndex(3) as numbers:
    ...     numbers.append(np.array([0, 1]))
    ...     numbers.append(np.array([0]))
    ...     numbers.renumbered(np.array([7, 5], np.uint8)).tolist()
    [7, 5, 7]
    """

    def __init__(self, sites: int) -> None:
        options = get_options()
        self._sites, self._done, self._stack = sites, 0, ExitStack()
        self._folder = options.spill_to if WIDEST.itemsize * sites > options.eager_limit else None
        self._values = np.empty(0 if self._folder else sites, np.uint8)
        self._file: Spilled | None = None
        if self._folder is not None:
            self._file = self._stack.enter_context(Spilled(self._folder, (1, sites, 1), WIDEST))

    def __exit__(self, *raised: object) -> None:
        """Close the file, and remove it after an error."""
        self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def append(self, numbers: NDArray[np.integer]) -> None:
        """Add the numbers of the next sites."""
        if self._file is not None:
            self._file.write(0, self._done, numbers)
        else:
            width = np.min_scalar_type(numbers.max(initial=0))
            wider = np.promote_types(self._values.dtype, width)
            self._values = self._values.astype(wider, copy=False)
            self._values[self._done : self._done + numbers.size] = numbers
        self._done += numbers.size

    def renumbered(self, ranks: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        """Return ``ranks[number]`` of each site, (sites,), or memory-mapped (1, sites, 1)."""
        if self._file is None or self._folder is None:
            # Ranks may need a wider type: they number all columns, also columns without a site.
            self._values = self._values.astype(ranks.dtype, copy=False)
            for start in range(0, self._sites, PIECE):
                piece = self._values[start : start + PIECE]
                piece[:] = ranks[piece]
            return self._values
        old = self._file.mapped()
        with Spilled(self._folder, old.shape, ranks.dtype) as file:
            for start in range(0, self._sites, PIECE):
                file.write(0, start, ranks[old[0, start : start + PIECE]])
            return file.mapped()
