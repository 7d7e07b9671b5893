"""Phenotypes as classes or as a trait, with checks of their values.

A search leaves out samples whose phenotype is missing (NaN, None, NaT or an empty string).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data.columns import numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLASSES = 32
"""Most classes; a phenotype with more values is taken for a measurement."""
PLINK_MISSING, SGKIT_MISSING = -9, -1
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
    """(samples,), divided by 2**exponent, so that sums of squares fit; NaN where missing."""
    exponent: int
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
    known = ~_missing(values)
    present = values[known]
    if values.dtype.kind not in "biufO":
        msg = f"{name} is of dtype {values.dtype}: classes are booleans, whole numbers or text"
        raise TypeError(msg)
    if not present.size:
        msg = (
            f"{name} is missing in all {values.size} samples: join a table that has it with "
            "ds.genobit.join(table), or give an array"
        )
        raise ValueError(msg)
    if values.dtype.kind == "O":
        _refuse_missing_texts(values, known, name)
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
    rule = f"a trait takes real numbers{note and f'; {note}'}"
    numbers = numbers_of(values, name, rule)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        k = int(infinite[0])
        msg = f"{name}[{k}] along 'samples' is {numbers[k]}: set it to NaN to leave the sample out"
        raise ValueError(msg)
    _refuse_missing_codes(numbers, name)
    known = numbers[~np.isnan(numbers)]
    if known.size < 2 or known.min() == known.max():
        msg = (
            f"{name} has {np.unique(known).size} different values in {known.size} samples: "
            f"there is no variation to explain{note and f'; {note}'}"
        )
        raise ValueError(msg)
    found = Trait(*scaled(numbers))
    _refuse_far(found.values, numbers, name)
    return found


def scaled(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return numbers divided by a power of two, the largest from 1/2 to 1, and its exponent.

    Sums of squares of the results neither overflow nor underflow, and have the same bits for any
    power of two as unit.
    """
    exponent = int(np.frexp(np.nanmax(np.abs(values), initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


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
        left = found._replace(values=values)
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


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values)) | (values == "" if values.dtype.kind == "O" else False)


def _refuse_missing_texts(values: NDArray[Any], known: NDArray[np.bool_], name: str) -> None:
    """Raise ValueError for texts that mean missing."""
    for k in np.flatnonzero(known):
        if values[k].strip() in MISSING_TEXTS:
            msg = (
                f"{name}[{k}] along 'samples' is {values[k]!r}, which looks like a missing value: "
                "set it to None to leave the sample out, or give the class another name"
            )
            raise ValueError(msg)


def _refuse_far(values: NDArray[np.float64], given: NDArray[np.float64], name: str) -> None:
    """Raise ValueError for an outlier beside which sums of squares lose digits of the others."""
    away = np.abs(values - np.nanmedian(values))
    typical = np.median(away[away > 0])
    k = int(np.nanargmax(away))
    if away[k] > FARTHEST * typical:
        msg = (
            f"{name}[{k}] along 'samples' is {given[k]:g}, more than {FARTHEST:,.0f} times as "
            "far from the median as half of the others, and F would lose its digits: set it to "
            "NaN if it stands for missing, or transform the trait (logarithms, ranks)"
        )
        raise ValueError(msg)


def _check_whole(values: NDArray[Any], known: NDArray[np.bool_], name: str) -> None:
    _refuse_missing_codes(values, name)
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


def _refuse_missing_codes(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind not in "if":
        return
    for code, program in ((PLINK_MISSING, "PLINK"), (SGKIT_MISSING, "sgkit")):
        coded = np.flatnonzero(values == code)
        # Beside other numbers than the classes 1 and 2, -1 is a value.
        others = np.unique(values[~np.isnan(values)]).tolist()
        if coded.size and (code == PLINK_MISSING or {code, 2} <= {*others} <= {code, 1, 2}):
            msg = (
                f"{name}[{int(coded[0])}] along 'samples' is {code}, which {program} writes for "
                f"missing: set it to NaN, for example `values.where(values != {code})`"
            )
            raise ValueError(msg)


def _named(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return np.format_float_positional(value, trim="-")
    return str(value)
