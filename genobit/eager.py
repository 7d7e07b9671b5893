"""Results computed at once, unless they would take more memory than the user allows.

May import: lazy and what is below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.options import get_options

if TYPE_CHECKING:
    import xarray as xr


def computed(result: xr.DataArray) -> xr.DataArray:
    """The result in memory, and with it what it has of lazy coordinates.

    Raises
    ------
    MemoryError
        If it is past ``get_options().eager_limit``; says its size and what else to do.
    """
    from genobit.lazy.tiles import in_memory

    limit = get_options().eager_limit
    if result.nbytes > limit:
        shape = " x ".join(f"{size:,}" for size in result.shape)
        msg = (
            f"the {result.name} of {shape} pairs takes {result.nbytes / 2**30:,.1f} GiB, more than "
            f"eager_limit ({limit / 2**30:,.1f} GiB): leave out compute=True and take or store "
            "what you need of the lazy result, use window=, ld_pairs() or grm_pairs(), select "
            "variants or samples, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    lazy = [name for name, coordinate in result.coords.items() if coordinate.chunks is not None]
    values, *others = in_memory(result.data, *(result.coords[name].data for name in lazy))
    coords = {name: result.coords[name].copy(data=x) for name, x in zip(lazy, others, strict=True)}
    return result.copy(data=values).assign_coords(coords)
