"""Phenotypes as classes or as a trait, with checks of their values.

A search leaves out samples whose phenotype is missing (NaN, None, NaT or an empty string).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.data.labels import decoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLASSES = 32
"""Most classes; a phenotype with more values is taken for a measurement."""
PLINK_MISSING = -9
MISSING_TEXTS = frozenset({"NA", "N/A", "NaN", "nan", "None", "<NA>", ".", "-9"})
"""Texts that programs write for missing values; they are refused as names of classes."""
FARTHEST = 1e4
"""Largest distance of a trait value from the median, as a multiple of the median distance. The
latter leaves out values at the median. F then keeps six digits; with a multiple of 1e5, four."""


class ClassOf(NamedTuple):
    """Samples by class."""

    numbers: NDArray[np.int64]
    """(samples,) class numbers, -1 where the phenotype is missing."""
    names: tuple[str, ...]
    """Names of the classes, ascending."""

    @property
    def samples(self) -> int:
        """Number of samples with a class."""
        return int((self.numbers >= 0).sum())


class Trait(NamedTuple):
    """A quantitative trait."""

    values: NDArray[np.float64]
    """(samples,), NaN where missing."""
    names: tuple[str, ...] = ("all",)
    """Name of the only class of the tables."""

    @property
    def samples(self) -> int:
        """Number of samples with a value."""
        return int((~np.isnan(self.values)).sum())


def classes(values: NDArray[Any], name: str, note: str = "") -> ClassOf:
    """Return the class of each sample, from booleans, whole numbers or text (samples,).

    Errors contain ``name``, and ``note`` if there are fewer than two classes. Raises ValueError for
    fewer than two classes and for values that look like a measurement or like PLINK's -9. Raises
    TypeError for any other dtype.

    Examples
    --------
    >>> classes(np.array([2.0, 1.0, np.nan, 2.0]), "case")
    ClassOf(numbers=array([ 1,  0, -1,  1]), names=('1', '2'))
    """
    values = _plain(decoded(values, name))
    known = ~_missing(values)
    present = values[known]
    if values.dtype.kind not in "biufOUST":
        msg = f"{name} is of dtype {values.dtype}: classes are booleans, whole numbers or text"
        raise TypeError(msg)
    if not present.size:
        msg = f"{name} is missing in all {values.size} samples: nothing to compare"
        raise ValueError(msg)
    if values.dtype.kind in "OUST":
        present = _texts(values, known, name)
    else:
        _check_whole(values, known, name)
    found, numbers = np.unique(present, return_inverse=True)
    if found.size < 2:
        msg = (
            f"{name} is {_named(found[0])} in all {present.size} samples that have it: a search "
            f"takes two or more classes{note and f'; {note}'}"
        )
        raise ValueError(msg)
    if found.size > MOST_CLASSES:
        msg = (
            f"{name} has {found.size} different values, and at most {MOST_CLASSES} are taken for "
            "classes: cut a measurement, for example `values > values.median()`, or take "
            "statistic='f' or 'linear'"
        )
        raise ValueError(msg)
    out = np.full(values.shape, -1, np.int64)
    out[known] = numbers
    return ClassOf(out, tuple(_named(value) for value in found))


def trait(values: NDArray[Any], name: str, note: str = "") -> Trait:
    """Return a phenotype (samples,) as a trait; arguments as in `classes`.

    Raises TypeError for values that are not real numbers. Raises ValueError for infinite values,
    outliers, PLINK's -9 and fewer than two distinct values.
    """
    values = _plain(values)
    if values.dtype.kind not in "biuf":
        msg = f"{name} is of dtype {values.dtype}: a trait takes real numbers{note and f'; {note}'}"
        raise TypeError(msg)
    numbers = values.astype(np.float64)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        k = int(infinite[0])
        msg = f"{name}[{k}] along 'samples' is {numbers[k]}: set it to NaN to leave the sample out"
        raise ValueError(msg)
    _refuse_plink_missing(numbers, name)
    known = numbers[~np.isnan(numbers)]
    if known.size < 2 or known.min() == known.max():
        msg = (
            f"{name} has {np.unique(known).size} different values in {known.size} samples: "
            f"there is no variation to explain{note and f'; {note}'}"
        )
        raise ValueError(msg)
    _refuse_far(numbers, name)
    return Trait(numbers)


def with_covariates(found: ClassOf | Trait, known: NDArray[np.bool_], name: str) -> ClassOf | Trait:
    """Leave out samples without all covariates; ``known`` (samples,) marks those that have them.

    Raises ValueError if the phenotype has one value in the samples that are left.
    """
    if isinstance(found, ClassOf):
        numbers = np.where(known, found.numbers, -1)
        some = np.unique(numbers[numbers >= 0])
        lost = some.size < len(found.names)
        left: ClassOf | Trait = ClassOf(numbers, found.names)
    else:
        values = np.where(known, found.values, np.nan)
        some = np.unique(values[~np.isnan(values)])
        lost = some.size < 2
        left = Trait(values)
    if lost:
        msg = (
            f"{name} has {some.size} different values in the {left.samples} samples that have all "
            "covariates: a covariate with many missing values leaves too few samples"
        )
        raise ValueError(msg)
    return left


def present(values: NDArray[Any]) -> int:
    """Return the number of samples with a phenotype."""
    return int((~_missing(values)).sum())


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Convert objects to float64 if all are numbers or missing; return other arrays as they are."""
    if values.dtype.kind != "O":
        return values
    known = ~_missing(values)
    if not all(isinstance(value, int | float | np.number | np.bool_) for value in values[known]):
        return values
    out = np.full(values.shape, np.nan)
    out[known] = values[known].astype(np.float64)
    return out


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "OUST":
        from pandas import isna

        # pandas.NA is neither equal nor unequal to a value, so only `isna` finds it.
        nothing = np.asarray(isna(values.astype(object)))
        return nothing | np.array([isinstance(v, str | bytes) and not v for v in values], bool)
    return np.zeros(values.shape, bool)


def _texts(values: NDArray[Any], known: NDArray[np.bool_], name: str) -> NDArray[Any]:
    """Return the known values as text; raises ValueError for texts that mean missing."""
    texts = np.array([str(value) for value in values[known]], dtype=object)
    first: dict[str, Any] = {}
    for k, text, value in zip(np.flatnonzero(known), texts, values[known], strict=True):
        if text.strip() in MISSING_TEXTS:
            msg = (
                f"{name}[{k}] along 'samples' is {text!r}, which looks like a missing value: set "
                "it to None to leave the sample out, or give the class another name"
            )
            raise ValueError(msg)
        if first.setdefault(text, value) != value:
            msg = (
                f"{name}[{k}] along 'samples' is {value!r}, and another is {first[text]!r}: give "
                "all classes as numbers, or all as text"
            )
            raise ValueError(msg)
    return texts


def _refuse_far(numbers: NDArray[np.float64], name: str) -> None:
    """Raise ValueError for an outlier beside which sums of squares lose digits of the others."""
    away = np.abs(numbers - np.nanmedian(numbers))
    typical = np.median(away[away > 0])
    k = int(np.nanargmax(away))
    if away[k] > FARTHEST * typical:
        msg = (
            f"{name}[{k}] along 'samples' is {numbers[k]:g}, more than {FARTHEST:,.0f} times as "
            "far from the median as half of the others, and F would lose its digits: set it to "
            "NaN if it stands for missing, or transform the trait (logarithms, ranks)"
        )
        raise ValueError(msg)


def _check_whole(values: NDArray[Any], known: NDArray[np.bool_], name: str) -> None:
    _refuse_plink_missing(values, name)
    if values.dtype.kind != "f":
        return
    broken = np.flatnonzero(known & (values != np.round(values)) | np.isinf(values))
    if broken.size:
        k = int(broken[0])
        msg = (
            f"{name}[{k}] along 'samples' is {values[k]}: classes are whole numbers, booleans or "
            "text; cut a measurement, for example `values > values.median()`, or take "
            "statistic='f' or 'linear'"
        )
        raise ValueError(msg)


def _refuse_plink_missing(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind not in "if":
        return
    coded = np.flatnonzero(values == PLINK_MISSING)
    if coded.size:
        msg = (
            f"{name}[{int(coded[0])}] along 'samples' is -9, which PLINK writes for missing: set "
            "it to NaN, for example `values.where(values != -9)`"
        )
        raise ValueError(msg)


def _named(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
