"""Windows along contigs and labels of variants, as analyses of neighbouring variants take them.

May import: model, analyses, and what is below.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import labels, model

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray


def window_ends(
    ds: xr.Dataset, window: int | str, *, count: bool = False, open_end: bool = False
) -> NDArray[np.int64]:
    """Last variant in the window of each, on its contig.

    Parameters
    ----------
    ds
        With the positions that the window is measured in.
    window
        As for ``ds.genobit.ld``.
    count
        Whether a number is how many variants a window holds, the first among them, and not how far
        the last is from the first.
    open_end
        Leave out pairs whose distance is exactly that of the window.
    """
    from genobit.ld import matrix

    variable, size = matrix.parse_window(window)
    if variable is None and count:
        size -= 1
    contig = labels.contig_of_variants(ds)
    coordinate = (
        None if variable is None else model.values(ds, variable, needed_for=f"window={window!r}")
    )
    n = ds.sizes[model.VARIANTS]
    name = variable or "variants"
    return matrix.window_ends(n, contig, coordinate, size, name, open_end=open_end)


def named_window(window: int | str, unit: str = "variants") -> str:
    """Return a window with its unit; a number alone counts variants.

    Examples
    --------
    >>> named_window(100_000), named_window("500kb")
    ('100000 variants', '500kb')
    """
    return window if isinstance(window, str) else f"{int(window)} {unit}"


def pair_labels(ds: xr.Dataset) -> dict[str, NDArray[Any]]:
    """Columns that describe a variant in a table of pairs, each (variants,)."""
    columns: dict[str, NDArray[Any]] = {"variants": np.arange(ds.sizes[model.VARIANTS])}
    contig = labels.contig_of_variants(ds)
    if contig is not None:
        columns["contig"] = contig
    for name, variable in (("position", model.VARIANT_POSITION), ("id", model.VARIANT_ID)):
        if variable in ds.variables:
            columns[name] = np.asarray(labels.as_objects(ds[variable].variable, variable).values)
    return columns


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no whole number from ``least``.

    Raises
    ------
    TypeError, ValueError
        Names the argument.
    """
    words = "no positive whole number" if least else "no whole number from 0"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        msg = f"{name}={value!r} is {words}, such as {max(least, 10)}"
        raise TypeError(msg)
    if not np.isfinite(float(value)) or float(value) % 1 or float(value) < least:
        msg = f"{name}={value!r} is {words}"
        raise ValueError(msg)


def check_share(name: str, value: object) -> None:
    """Refuse what is no number from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        Names the argument.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        msg = f"{name}={value!r} is not a number: give one from 0 to 1, such as 0.2"
        raise TypeError(msg)
    if not 0 <= float(value) <= 1:
        msg = f"{name}={value!r} is outside [0, 1]"
        raise ValueError(msg)
