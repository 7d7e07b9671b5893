"""``.genobit`` on rank correlations, of genotypes and of measurements.

A part of both accessors, and like them labels in, labels out. May import: packed and what is below.
"""

from __future__ import annotations

import xarray as xr


class ArrayCorrelations:
    """Methods of ``DataArray.genobit`` that correlate variables."""

    _da: xr.DataArray


class GenotypeCorrelations:
    """Methods of ``Dataset.genobit`` that correlate variants by rank."""

    _ds: xr.Dataset
