"""A slow twin of LD decay."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tests.helpers.reference import window_pairs


def direct(
    ds: xr.Dataset, edges: np.ndarray, name: str = "variant_position", statistic: str = "r2"
) -> tuple[np.ndarray, np.ndarray]:
    """Means and numbers of pairs of bins, from the whole matrix."""
    r2 = ds.genobit.ld(statistic).values.astype(float)
    place = ds[name].values.astype(float)
    contig = ds.variant_contig.values
    found: list[list[float]] = [[] for _ in edges[1:]]
    for i, j in window_pairs(place.size, contig, place, edges[-1]):
        distance = place[j] - place[i]
        k = max(0, int(np.searchsorted(edges, distance, side="left")) - 1)
        if distance >= edges[0] and not np.isnan(r2[i, j]):
            found[k].append(r2[i, j])
    pairs = np.array([len(values) for values in found])
    return np.array([np.mean(values) if values else np.nan for values in found]), pairs
