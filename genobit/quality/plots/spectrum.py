"""Histogram of allele frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.visual.picture.plain import counted
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr

    from genobit.visual.picture.spec import Picture


def allele_frequency_spectrum(
    allele_frequency: xr.DataArray | np.ndarray, *, bins: int = 25, folded: bool = True
) -> Picture:
    """Draw a histogram of allele frequencies.

    Parameters
    ----------
    allele_frequency
        Result of `.genobit.allele_frequency()`: frequency of the counted allele, shape (variants,).
        Variants without calls (NaN) are left out; the title counts them.
    bins
        Number of bins.
    folded
        Show the minor allele frequency (0 to 0.5) instead of the frequency of the counted allele (0
        to 1).

    Returns
    -------
        Bars of the number of variants in each bin.

    Raises
    ------
    ValueError
        If no variant has a frequency.

    Examples
    --------
    >>> allele_frequency_spectrum(np.array([0.15, 0.85, np.nan]), bins=5).panel.marks[0].hover[
    ...     "variants"
    ... ]
    array([0, 2, 0, 0, 0])
    """
    values = np.asarray(allele_frequency, dtype="f8").ravel()
    known = values[~np.isnan(values)]
    if not len(known):
        raise ValueError("no variant has a called genotype, so there are no frequencies to draw")
    if folded:
        known = np.minimum(known, 1 - known)
    counts, edges = np.histogram(known, bins, (0.0, 0.5 if folded else 1.0))
    missing = len(values) - len(known)
    title = f"Allele frequencies of {number(len(known), 'variant')}"
    if missing:
        title += f" ({missing:,} without calls left out)"
    label = "minor allele frequency" if folded else "frequency of the counted allele"
    return counted(edges, counts, (label, "variants"), title)
