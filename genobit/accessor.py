"""The accessors ``ds.genobit`` and ``da.genobit``: the methods of all analyses.

A new analysis adds its name here. May import: everything but `launcher` and `cli`.
"""

from __future__ import annotations

import importlib
from types import MethodType
from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import analysis, availability
from genobit.data.analysis import ArrayMethods
from genobit.data.genotype_methods import GenotypeMethods
from genobit.data.plotting import DatasetPlotMethods, PlotMethods, ReportMethods, shown_by
from genobit.engine.own_words import SuggestsNames, explained
from genobit.engine.synonyms import SYNONYMS
from genobit.io.join import GeneticMapMethods, JoinMethods

if TYPE_CHECKING:
    from collections.abc import Iterable

ANALYSES = (
    "quality",
    "ld",
    "pca",
    "grm",
    "similarity",
    "kendall",
    "epistasis",
    "parsimony",
)
"""Folders of the analyses, in the order of the documentation."""

analysis.register(importlib.import_module(f"genobit.{name}.analysis").ANALYSIS for name in ANALYSES)


def _joined(bases: Iterable[tuple[type, ...]]) -> Any:
    """Return a class with the methods of all analyses."""
    return type("AnalysisMethods", tuple(base for some in bases for base in some), {})


class Writer:
    """A writer of `genobit.io` as a method of the data, imported at its first use."""

    def __init__(self, module: str) -> None:
        self._module = f"genobit.io.{module}"

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name of the writer, which is that of the method."""
        self._name = name

    def __get__(self, accessor: Any, owner: type) -> Any:
        """Return the function, bound to the data of an accessor."""
        function = getattr(importlib.import_module(self._module), self._name)
        if accessor is None:
            return function
        # The writer itself, whose errors would name the function of `genobit`.
        method = MethodType(function.__wrapped__, accessor._data)
        return explained(method, f"{accessor._called}.{self._name}")


class _Accessor(SuggestsNames):
    """What both accessors show of their data."""

    _data: Any

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that apply to the data."""
        data = self._data
        if isinstance(data, xr.Dataset):
            return sorted({*super().__dir__()} - availability.inapplicable(data))
        return sorted({*super().__dir__()} - availability.inapplicable_to_array(data))

    def __repr__(self) -> str:
        """Return the contents of the data and the analyses that apply, as text."""
        from genobit.data.summary.text import text_of

        return text_of(self._data)

    def _repr_html_(self) -> str:
        """Return the contents of the data and the analyses that apply, as HTML."""
        from genobit.data.summary.html import html_of

        return html_of(self._data)

    @property
    def explore(self) -> Any:
        """Explorers; `explore()` opens a menu, `explore.kendall()` opens one explorer."""
        return shown_by("explore.explorers_of", self._data)

    @property
    def estimate(self) -> Any:
        """Cost estimates; ``estimate.kendall()`` predicts the time and memory of ``kendall()``."""
        from genobit.data.estimates import estimates_class

        return estimates_class(type(self), self._called)(self._data)


@xr.register_dataset_accessor("genobit")
class GenobitDatasetAccessor(
    _joined(one.of_datasets for one in analysis.registered()),  # type: ignore[misc]
    GenotypeMethods,
    JoinMethods,
    GeneticMapMethods,
    DatasetPlotMethods,
    ReportMethods,
    _Accessor,
):
    """Genotype analyses of a Dataset of genotype calls or of packed bit planes."""

    _called = "ds.genobit"

    to_pgen = Writer("writers.pgen")
    to_plink = Writer("writers.plink")
    to_trees = Writer("trees")
    to_vcf = Writer("writers.vcf")
    to_vcf_zarr = Writer("writers.vcf_zarr")
    to_zarr = Writer("resumable_zarr")

    def _unknown(self, name: str) -> str:
        if name in dir(GenobitDataArrayAccessor) and name not in SYNONYMS:
            return f"ds.genobit has no method {name!r}; da.genobit of a DataArray has it."
        return super()._unknown(name)


@xr.register_dataarray_accessor("genobit")
class GenobitDataArrayAccessor(
    _joined(one.of_arrays for one in analysis.registered()),  # type: ignore[misc]
    ArrayMethods,
    JoinMethods,
    PlotMethods,
    _Accessor,
):
    """Analyses of a DataArray: variables x observations, binary rows, or an alignment."""

    _called = "da.genobit"

    to_gcta = Writer("gcta")
    to_plink_rel = Writer("plink_rel")
    to_zarr = Writer("resumable_zarr")

    def _unknown(self, name: str) -> str:
        if name in dir(GenobitDatasetAccessor):
            return (
                f"da.genobit has no method {name!r}; ds.genobit of a Dataset has it. Genotypes are "
                "the variable call_genotype (variants, samples, ploidy) of a Dataset: see "
                "'Tables and arrays' in the documentation."
            )
        return super()._unknown(name)
