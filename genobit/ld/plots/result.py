"""Access to labelled LD results for the plots, with errors for other arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data.contigs import contigs_of
from genobit.data.labels import text
from genobit.io.genes import genes_in
from genobit.visual.differences import scale_with
from genobit.visual.style import Scale, contigs_in_words, scale_of

if TYPE_CHECKING:
    import pandas as pd

    from genobit.visual.pixels import Axis

DIMS = ("variants_0", "variants_1")


def computed(result: xr.DataArray) -> tuple[xr.DataArray, Scale]:
    """Return an LD result in memory, and the scale of its statistic.

    Raises ValueError if it is not the result of `.genobit.ld()`.
    """
    if result.dims != DIMS:
        raise ValueError(
            f"an LD plot needs dims {DIMS}, and the array has {result.dims}; give it the result "
            "of .genobit.ld() without window="
        )
    for side in (0, 1):
        if f"variant_position_{side}" not in result.coords:
            raise ValueError(
                f"the LD result has no coordinate variant_position_{side}, so there is no axis "
                "to draw on; give the Dataset a variable variant_position (variants)"
            )
    statistic = str(result.attrs.get("statistic", result.name))
    matrix = result.compute().rename(statistic)
    return matrix, scale_with(matrix.values, scale_of(statistic), one_set=is_one_set(matrix))


def is_one_set(result: xr.DataArray) -> bool:
    """Return whether an LD result with positions is of one set of variants with itself."""
    for name in ("variant_position", "variant_contig", "variant_id"):
        if name == "variant_position" or {f"{name}_0", f"{name}_1"} <= {*result.coords}:
            first, second = (result[f"{name}_{side}"].values for side in (0, 1))
            if not np.array_equal(first, second):
                return False
    return result.shape[0] > 1


def genes_over(result: xr.DataArray, genes: Any, side: int = 1) -> tuple[pd.DataFrame, str]:
    """Return the genes over the variants of a side, and a sentence if there can be none.

    ``genes`` is a source of `genobit.io.genes.read_genes`. Raises ValueError for variants of
    several contigs, or not in the order of their positions.
    """
    contig, position = contig_name(result, side), result[f"variant_position_{side}"].values
    if contig == "…":
        raise ValueError(
            "genes= needs variants of one contig, and these are on several: select one, such as "
            "ds.genobit.sel(variants='2').genobit.ld()"
        )
    descending = np.flatnonzero(np.diff(position) < 0)
    if descending.size:
        raise ValueError(
            f"variant_position_{side} falls at index {descending[0] + 1} of variants_{side}; "
            "genes= needs ascending positions: sort the Dataset"
        )
    known = [contig] if contig else []
    return genes_in(genes, contig, float(position[0]), float(position[-1]), known)


def contig_name(result: xr.DataArray, side: int) -> str:
    """Return the contig of one axis; "" if the result has none, "…" if it has several."""
    contig = result.coords.get(f"variant_contig_{side}")
    if contig is None:
        return ""
    contigs = contigs_of(contig.values)
    found = np.unique(contigs.numbers)
    return str(contigs.names[found[0]]) if len(found) == 1 else "…"


def axis_label(result: xr.DataArray, side: int, axis: Axis) -> str:
    """Return the label of an axis along the chromosome."""
    contig = contig_name(result, side)
    place = f"position on {contigs_in_words([contig])} (Mb)" if contig else "position (Mb)"
    return place if axis == "position" else f"{place}, variants evenly spaced"


def variant_names(result: xr.DataArray, side: int) -> np.ndarray:
    """Return the ids of the variants of one axis, or their positions if there are no ids."""
    name = f"variant_id_{side}"
    if name in result.coords:
        return text(result[name].values, name)
    return np.array([f"{position:,}" for position in result[f"variant_position_{side}"].values])


def coordinates_of(position: np.ndarray, axis: Axis, first_rank: int, rank_step: int) -> np.ndarray:
    """Return the coordinates of variants on an axis laid out by `pixels.lay_out`."""
    if axis == "rank":
        return first_rank + rank_step * np.arange(len(position), dtype="f8")
    return position / 1e6
