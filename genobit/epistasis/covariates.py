"""Covariates of a regression, as a caller gives them, in the order of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import aligning, model
from genobit.data.columns import numbers_of
from genobit.epistasis.phenotypes import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DEPENDENT = 1e-8
"""Share of its norm that a covariate must keep without the covariates before it."""


class Covariates(NamedTuple):
    """Numbers of each sample that a regression takes into account."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    """(covariates, samples), NaN where missing."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which samples (samples,) have a value of every covariate."""
        return np.asarray(~np.isnan(self.values).any(axis=0))

    def basis(self, used: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the intercept and the centred, scaled covariates of the samples ``used``.

        Returns (1 + covariates, used samples). Raises ValueError for a covariate that is constant
        among these samples, or a linear combination of the covariates before it.
        """
        values = self.values[:, used]
        for name, row in zip(self.names, values, strict=True):
            if row.size and row.min() == row.max():
                msg = (
                    f"covariate {name!r} is {row[0]:g} in all {row.size} samples that are used: "
                    "leave it out, since the model has an intercept"
                )
                raise ValueError(msg)
        centred = values.copy()
        for row in centred:
            row[:] = scaled(row)[0]
        centred -= centred.mean(axis=1, keepdims=True)
        centred /= np.sqrt((centred**2).sum(axis=1, keepdims=True))
        # The diagonal of R has the norm that a covariate keeps without those before it.
        left = np.abs(np.diag(np.linalg.qr(centred.T, mode="r")))
        dependent = np.flatnonzero(left < DEPENDENT)
        if dependent.size or len(values) >= values.shape[1]:
            k = int(dependent[0]) if dependent.size else values.shape[1] - 1
            before = ", ".join(map(repr, self.names[:k]))
            msg = (
                f"covariate {self.names[k]!r} is a linear combination of {before}, in the "
                f"{values.shape[1]} samples that are used: leave one of them out"
            )
            raise ValueError(msg)
        return np.vstack([np.ones(centred.shape[1]), centred * np.sqrt(centred.shape[1])])


def covariates_of(ds: xr.Dataset, given: Any) -> Covariates:
    """Return covariates from names, arrays along the samples, a Dataset or a DataFrame.

    Raises KeyError for an unknown name, TypeError for values that are not numbers, and ValueError
    for infinite values, repeated names, and labels that lack a sample.
    """
    names: list[str] = []
    rows: list[NDArray[np.float64]] = []
    for name, column in _columns(ds, given):
        if name in names:
            msg = f"covariates= has {name!r} twice: give each covariate once"
            raise ValueError(msg)
        names.append(name)
        rows.append(
            _numbers(aligning.aligned(ds, column, model.SAMPLES, f"covariate {name!r}"), name)
        )
    values = np.array(rows).reshape(len(rows), ds.sizes[model.SAMPLES])
    return Covariates(tuple(names), values)


def _columns(ds: xr.Dataset, given: Any) -> Iterator[tuple[str, Any]]:
    """Yield each covariate with its name; arrays of several components are taken apart."""
    if given is None:
        return
    if isinstance(given, pd.DataFrame):
        yield from ((str(name), given[name]) for name in given.columns)
        return
    if isinstance(given, xr.Dataset):
        along = [x for x in given.data_vars.values() if model.SAMPLES in x.dims]
        if not along:
            msg = (
                f"covariates= is a Dataset without a variable along {model.SAMPLES!r}: name "
                "variables of the genotypes, or give a Dataset along the samples"
            )
            raise ValueError(msg)
        given = along
    if isinstance(given, str | xr.DataArray | pd.Series):
        given = [given]
    if not isinstance(given, list | tuple):
        msg = (
            f"covariates= is a {type(given).__name__}: give a list of names of variables along "
            f"{model.SAMPLES!r}, a Dataset or a DataFrame"
        )
        raise TypeError(msg)
    for k, item in enumerate(given):
        yield from _components(ds, item, k)


def _components(ds: xr.Dataset, item: Any, k: int) -> Iterator[tuple[str, Any]]:
    """Yield a covariate, or each component of an array (samples, components)."""
    if isinstance(item, str):
        found = model.with_prefix(item, model.SAMPLES, ds.variables)
        two = found is not None and ds[found].ndim == 2 and model.SAMPLES in ds[found].dims
        item = ds[found] if two else model.named(ds, item, model.SAMPLES)
    if not isinstance(item, xr.DataArray | pd.Series):
        msg = (
            f"covariates[{k}] is a {type(item).__name__}: give the name of a variable along "
            f"{model.SAMPLES!r}, a DataArray or a Series"
        )
        raise TypeError(msg)
    name = f"covariates[{k}]" if item.name is None else str(item.name)
    if isinstance(item, xr.DataArray) and item.ndim == 2 and model.SAMPLES in item.dims:
        (other,) = (dim for dim in item.dims if dim != model.SAMPLES)
        if other == model.VARIANTS:
            msg = f"covariate {name!r} has a value for each variant and sample: select a variant"
            raise ValueError(msg)
        for component in range(item.sizes[other]):
            yield f"{name}[{component}]", item.isel({other: component}, drop=True)
        return
    yield name, item


def _numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return the values of a covariate as float64, NaN where missing."""
    rule = "give numbers, and categories as 0 and 1 of each but one (pandas.get_dummies)"
    numbers = numbers_of(values, f"covariate {name!r}", rule)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        k = int(infinite[0])
        msg = (
            f"covariate {name!r} at [{k}] along {model.SAMPLES!r} is {numbers[k]}: set it to NaN "
            "to leave the sample out"
        )
        raise ValueError(msg)
    return numbers
