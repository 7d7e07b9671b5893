"""A number for each site of an alignment: in as few bytes as hold it, past a limit in a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

import numpy as np

from genobit.engine.options import get_options
from genobit.engine.schedule.memory_mapped import Spilled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE = 2**18
"""Sites that are numbered anew at a time."""
WIDEST = np.dtype(np.uint32)


class SiteNumbers(AbstractContextManager["SiteNumbers"]):
    """Numbers of sites as they come, chunk by chunk; all are to be there in the end.

    They are in a file in ``get_options().spill_to``, if that names a folder, where they may take
    more than ``get_options().eager_limit``.

    Parameters
    ----------
    sites
        How many.

    Examples
    --------
    >>> with SiteNumbers(3) as numbers:
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
        """Close a file; remove it if there was an error."""
        self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def append(self, numbers: NDArray[np.integer]) -> None:
        """Take the numbers of the next sites."""
        if self._file is not None:
            self._file.write(0, self._done, numbers)
        else:
            width = np.min_scalar_type(numbers.max(initial=0))
            wider = np.promote_types(self._values.dtype, width)
            self._values = self._values.astype(wider, copy=False)
            self._values[self._done : self._done + numbers.size] = numbers
        self._done += numbers.size

    def renumbered(self, ranks: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        """``ranks[number]`` of each site, of the type of the ranks, (sites,) or from a file."""
        if self._file is None or self._folder is None:
            # Ranks may be wider: those of all columns, some of which no site here is of.
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
