"""Alignments whose sites are linked, and LD of sites of several states."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tests.helpers.reference import finite_sites


def letters(seed: int, taxa: int, sites: int, symbols: str = "ACGT", noise: float = 0.1):
    """Sites linked to each other, some of one state, with gaps and codes at random."""
    rng = np.random.default_rng(seed)
    known = np.array(list(symbols))
    states = rng.integers(1, len(known) + 1, sites)
    base = rng.integers(0, len(known), (taxa, 1))
    own = rng.integers(0, len(known), (taxa, sites))
    values = known[np.where(rng.uniform(size=own.shape) < 0.5, base, own) % states]
    strange = np.array(list("-?NRY"))[rng.integers(0, 5, values.shape)]
    return np.where(rng.uniform(size=values.shape) < noise, strange, values)


def alignment(values: np.ndarray, **coords: object) -> xr.DataArray:
    return xr.DataArray(
        values,
        {"taxa": [f"t{k}" for k in range(len(values))], **coords},
        ("taxa", "sites"),
        attrs={"kind": "dna"},
    )


def twin(values: np.ndarray, states: str = "ACGT") -> np.ndarray:
    columns = values.T.tolist()
    return np.array([[finite_sites(x, y, states) for y in columns] for x in columns])
