"""Places of variants on an axis along the genome, with several contigs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.contigs import contigs_of
from genobit.data.labels import text
from genobit.visual.picture.plain import Places
from genobit.visual.style import contigs_in_words

if TYPE_CHECKING:
    import xarray as xr

#: Gap between two contigs, as a share of the axis.
_GAP = 0.01


def places(
    data: xr.Dataset | xr.DataArray, dim: str = "variants", prefix: str = "", number: Any = None
) -> Places:
    """Return the places of the members of a dimension along the genome.

    The coordinates of ``data`` are named ``prefix`` + "variant_position", and so on. Without
    positions, variants are placed by ``number``, their index, which defaults to 0, 1, 2, ...

    Examples
    --------
    >>> import xarray as xr
    >>> position = {"variant_position": ("variants", [1_000_000, 3_000_000])}
    >>> found = places(xr.Dataset(coords=position))
    >>> found.x.tolist(), found.label
    ([1.0, 3.0], 'position (Mb)')
    """
    count = data.sizes[dim]
    coords = data.variables if hasattr(data, "data_vars") else data.coords
    index = np.arange(count) if number is None else np.asarray(number)
    if f"{prefix}variant_position" not in coords:
        names = np.array([f"variant {k}" for k in index], dtype=object)
        return Places(index.astype("f8"), names, np.zeros(count, "i8"), "index of the variant")
    position = np.asarray(data[f"{prefix}variant_position"].values)
    contig, contigs = np.zeros(count, "i8"), [""]
    if f"{prefix}variant_contig" in coords:
        found = contigs_of(data[f"{prefix}variant_contig"].values)
        # A result may be in the order of p, so contigs stand in that of the variants' indices.
        used, contig = np.unique(found.numbers, return_inverse=True)
        order = np.argsort([index[contig == k].min() for k in range(len(used))])
        contig = np.argsort(order)[contig]
        contigs = [str(found.names[number]) for number in used[order]] or [""]
    names = _names(data, f"{prefix}variant_id", position, contigs, contig)
    if len(contigs) < 2:
        label = f"position on {contigs_in_words(contigs)} (Mb)" if contigs[0] else "position (Mb)"
        return Places(position / 1e6, names, contig, label)
    low = np.array([position[contig == k].min() for k in range(len(contigs))]) / 1e6
    span = np.array([position[contig == k].max() for k in range(len(contigs))]) / 1e6 - low
    left = np.concatenate([[0.0], np.cumsum(span[:-1] + _GAP * (span.sum() or 1.0))])
    ticks = tuple(zip((left + span / 2).tolist(), contigs, strict=True))
    return Places(position / 1e6 - low[contig] + left[contig], names, contig, "contig", ticks)


def _names(
    data: Any, label: str, position: np.ndarray, contigs: list[str], contig: np.ndarray
) -> np.ndarray:
    if label in data.coords or label in getattr(data, "data_vars", ()):
        return text(data[label].values, label)
    prefixes = [f"{name}:" if name else "" for name in contigs]
    return np.array(
        [f"{prefixes[k]}{at:,}" for k, at in zip(contig, position, strict=True)], dtype=object
    )
