"""``DataArray.genobit``: analyses of a matrix of variables x observations, labels in, labels out.

The counterpart of `accessor` for measurements that are no genotypes: expression, methylation,
traits; and alignments. May import: analyses, and what is below.
"""

from __future__ import annotations

import importlib
from typing import Any

import xarray as xr

from genobit.data.labels import plain
from genobit.kendall.methods.matrix import ArrayCorrelations
from genobit.kendall.methods.pairs import ArrayPairs
from genobit.ld.methods.sites import ArrayLinkage
from genobit.parsimony.methods.lengths import ArrayPhylogenetics
from genobit.parsimony.methods.search import ArrayTreeSearch
from genobit.similarity.methods import ArraySimilarity


@xr.register_dataarray_accessor("genobit")
class GenobitDataArrayAccessor(
    ArrayCorrelations,
    ArrayLinkage,
    ArrayPairs,
    ArrayPhylogenetics,
    ArraySimilarity,
    ArrayTreeSearch,
):
    """Analyses of a DataArray: of variables x observations, binary rows, an alignment."""

    def __init__(self, da: xr.DataArray) -> None:
        self._da = plain(da)

    def _repr_html_(self) -> str:
        """What the DataArray holds and which analyses apply, for a notebook."""
        from genobit.data.summary_html import dataarray_html

        return dataarray_html(self._da)

    @property
    def explore(self) -> Any:
        """The interactive explorers: `explore()` offers them, `explore.kendall()` opens one."""
        # As for Datasets, a lower layer reaches up by name when somebody asks to look.
        return importlib.import_module("genobit.launcher.explore").ExploreArray(self._da)
