"""Blocks as `dask.array.blockwise` hands them on where dimensions end in a task: lists of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def joined(blocks: Any) -> NDArray[Any]:
    """The blocks of the last dimensions as one array; itself where it is one.

    dask (``concatenate=True``) copies it then, too: of genotypes that is as long as a pass over
    them.
    """
    while isinstance(blocks, list) and len(blocks) == 1:
        (blocks,) = blocks
    return np.block(blocks) if isinstance(blocks, list) else blocks
