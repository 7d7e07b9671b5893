from typing import Any

import numpy as np

from genobit.engine.bits.planes import PlaneRows
from genobit.engine.pairwise import statistic as pairwise
from genobit.ld.kernels import r2


def ld_square(statistic: str, a: PlaneRows, b: PlaneRows | None = None) -> np.ndarray:
    """LD of all rows of ``a`` with those of ``b``, or of ``a``."""
    return pairwise.square(r2.statistic(statistic, a, b), a, b)


def ld_band(statistic: str, a: PlaneRows, b: PlaneRows, *window: Any) -> np.ndarray:
    """LD of the rows of ``a`` with those of ``b`` in a window."""
    return pairwise.band(r2.statistic(statistic, a, b), a, b, *window)
