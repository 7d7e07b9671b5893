"""What the LD explorer writes: the Dataset in view."""

from __future__ import annotations

from pathlib import Path

import xarray as xr


def write_window(visible: xr.Dataset, path: str | Path) -> Path:
    """Write a window to a new .zarr or .nc file.

    Parameters
    ----------
    visible
        From the explorer.
    path
        Where to; the suffix says the format.

    Returns
    -------
    The absolute path.

    Raises
    ------
    ValueError
        If the suffix is another one.
    FileExistsError
        If there is such a file already.
    """
    target = Path(path).expanduser().absolute()
    if target.suffix not in {".zarr", ".nc"}:
        raise ValueError(
            f"cannot tell the format of {target.name!r}; end the name in .zarr or .nc "
            "(for a picture use the disk button beside the plot)"
        )
    if target.exists():
        raise FileExistsError(f"{target} exists already; choose another name")
    if target.suffix == ".nc":
        visible.to_netcdf(target)
    else:
        _with_stored_strings(visible).to_zarr(target, consolidated=False)
    return target


def _with_stored_strings(ds: xr.Dataset) -> xr.Dataset:
    # Zarr format 3 has strings of any length, and no others that are specified.
    fixed = {name: v.astype(object) for name, v in ds.variables.items() if v.dtype.kind == "U"}
    return ds.assign_coords(fixed)
