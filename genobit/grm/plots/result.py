"""Measure, pairs and samples of a labelled relationship matrix, for the plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.labels import text
from genobit.visual.differences import is_difference, name_of_difference
from genobit.visual.heatmap import side_names
from genobit.visual.style import DIVERGING, SEQUENTIAL, Scale

if TYPE_CHECKING:
    import xarray as xr

DIMS = ("samples_0", "samples_1")
#: Share of the pairs that the colour scale clips at each end.
TAIL = 0.005


@dataclass(frozen=True)
class Measure:
    """One relationship coefficient.

    `own` is the expected value of a sample with itself, or None. `degrees` is True if the bounds of
    degrees apply. `signed` is True if 0 is the middle of the colour scale.
    """

    label: str
    name: str
    own: float | None = 1.0
    degrees: bool = False
    signed: bool = True


MEASURES = {
    "vanraden1": Measure("VanRaden 1", "genomic relationship, VanRaden 1"),
    "vanraden2": Measure("VanRaden 2", "genomic relationship, VanRaden 2"),
    "gcta": Measure("GCTA", "genomic relationship, GCTA"),
    "endelman_jannink": Measure(
        "Endelman & Jannink", "genomic relationship, Endelman & Jannink (shrunk)"
    ),
    "dominance": Measure("dominance", "dominance relationship", None),
    "hadamard": Measure("Hadamard", "epistatic relationship, Hadamard square", None, signed=False),
    # The bounds of degrees are for KING kinship. Other coefficients are relative to the samples at
    # hand: in a structured cohort, unrelated samples of one population would count as relatives.
    "king": Measure("KING", "kinship, KING-robust", 0.5, degrees=True),
    "ibs": Measure("IBS", "share of alleles identical by state", None, signed=False),
}


def measure_of(matrix: xr.DataArray) -> Measure:
    """Return the measure of a relationship matrix; an unknown one is named by its attributes.

    A difference of two matrices has a measure of its own.

    Examples
    --------
    >>> import xarray as xr
    >>> measure_of(xr.DataArray([[1.0]], attrs={"method": "king"})).name
    'kinship, KING-robust'
    """
    method = str(matrix.attrs.get("method", matrix.name))
    found = MEASURES.get(method)
    if found is None:
        name = str(matrix.attrs.get("long_name", "genomic relationship"))
        found = Measure(name if matrix.name is None else str(matrix.name), name)
    # The values of a lazy matrix are not known yet.
    known = matrix.chunks is None
    first, second = (side_names(matrix, side) for side in (0, 1))
    one_set = np.array_equal(first, second)
    least = -np.inf if found.signed else 0.0
    if known and is_difference(matrix.values, least=least, one_set=one_set):
        return Measure(f"Δ {found.label}", name_of_difference(found.name), None)
    return found


def check_square(matrix: xr.DataArray) -> None:
    """Raise ValueError unless the array is one square matrix of all samples."""
    if matrix.dims != DIMS or matrix.shape[0] != matrix.shape[1]:
        hint = ""
        if "contigs" in matrix.dims:
            hint = "; pick one matrix of a loco=True result with .isel(contigs=k), k from 0"
        raise ValueError(
            f"a relationship plot needs dims {DIMS} of the same length, and the array has "
            f"{dict(matrix.sizes)}; give it the result of .genobit.grm(){hint}"
        )


def computed(matrix: xr.DataArray) -> xr.DataArray:
    """Return a relationship matrix in memory, without labels of pairs.

    Raises ValueError if it is not one square matrix of all samples, or has no sample.
    """
    check_square(matrix)
    if not matrix.shape[0]:
        raise ValueError("the relationship matrix has no sample, so there is nothing to draw")
    # Labels of pairs, such as the number of variants compared, are as large as the matrix.
    pairwise = [name for name, label in matrix.coords.items() if label.ndim > 1]
    return matrix.drop_vars(pairwise).compute()


def sample_names(matrix: xr.DataArray) -> np.ndarray:
    """Return the ids of the samples, or their numbers if there are no ids."""
    if "sample_id_0" in matrix.coords:
        return text(matrix["sample_id_0"].values)
    return np.array([f"sample {k}" for k in range(matrix.shape[0])], dtype=object)


def scale_for(matrix: xr.DataArray, pairs: np.ndarray) -> Scale:
    """Return the colour scale of a heatmap, set by the bulk of its pairs.

    If the diagonal or twins set the scale, a matrix of unrelated samples would be one colour.
    ``pairs`` are values off the diagonal, of any shape, NaN allowed. Signed measures have limits
    around 0. The name of the scale states its limits.
    """
    measure = measure_of(matrix)
    if measure.degrees:
        # Below 0, kinship tells how far populations are apart, and would colour all of a picture.
        name = f"{measure.name}; white at 0 and below"
        return Scale(measure.label, name, (0.0, measure.own or 1.0), SEQUENTIAL)
    found = pairs[~np.isnan(pairs)]
    clip = ""
    if found.size:
        low, high = (float(v) for v in np.quantile(found, [TAIL, 1 - TAIL]))
        outside = float(found.min()) < low or float(found.max()) > high
        clip = f"; ends at {1 - 2 * TAIL:.0%} of pairs" if outside else ""
    else:  # one sample, or no comparable pair
        diagonal = np.diagonal(matrix.values)
        high = float(np.nanmax(np.abs(diagonal), initial=0.0)) or 1.0
        low = 0.0
    if measure.signed:
        reach = max(abs(low), abs(high)) or 1.0
        # Values far below 0 would make relatives pale.
        if measure.own is not None and reach > measure.own:
            reach, clip = measure.own, f"; ends at ±{measure.own:g}, a sample with itself"
        return Scale(measure.label, measure.name + clip, (-reach, reach), DIVERGING)
    if not low < high:
        low, high = min(low, 0.0), max(high, 1.0)
    return Scale(measure.label, measure.name + clip, (low, high), SEQUENTIAL)


def pair_values(matrix: xr.DataArray) -> np.ndarray:
    """Return the value of every pair once: the upper triangle by rows, without the diagonal.

    The shape is (n (n - 1) / 2,), in the order of `scipy.spatial.distance.squareform`.

    Examples
    --------
    >>> import xarray as xr
    >>> pair_values(xr.DataArray([[1.0, 0.2], [0.2, 1.0]], dims=DIMS))
    array([0.2])
    """
    from scipy.spatial.distance import squareform

    if matrix.shape[0] < 2:
        return np.empty(0)
    return squareform(np.ascontiguousarray(matrix.values, dtype="f8"), checks=False)


def samples_of(pairs: np.ndarray, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the two samples of each pair; ``pairs`` are positions in the result of `pair_values`.

    Examples
    --------
    >>> [side.tolist() for side in samples_of(np.array([0, 2, 5]), 4)]
    [[0, 0, 2], [1, 3, 3]]
    """
    rows = np.arange(n_samples, dtype="i8")
    # The first pair of each row: row i follows the n - 1, n - 2, ... pairs of earlier rows.
    starts = rows * (2 * n_samples - rows - 1) // 2
    first = np.searchsorted(starts[: max(n_samples - 1, 1)], pairs, side="right") - 1
    return first, pairs - starts[first] + first + 1
