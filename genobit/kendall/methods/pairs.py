"""``.genobit.kendall_pairs``: strongly correlated pairs of variables, as a lazy table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, packed
from genobit.data.analysis import ArrayMethods, DatasetMethods
from genobit.data.contigs import contigs_in
from genobit.data.guards.calls import warn_without_calls
from genobit.kendall.methods.matrix import attributes_of, side_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from genobit.data.pairs.table import PairTable
    from genobit.kendall.kernels.tiles import TileSpec
    from genobit.kendall.matrix import Variables

ABSENT = ("", ".")
"""Values of ``variant_id`` that mean no identifier."""


class KendallArrayPairsMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that find correlated pairs."""

    def kendall_pairs(
        self,
        threshold: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        statistic: str = "tau_b",
        dim: Hashable | None = None,
        missing: str = "pairwise",
        kernel: str = "auto",
        alternative: str = "two-sided",
        min_pairs: int = 2,
        names: str | None = None,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable:
        """Find the pairs of variables with a strong Kendall's tau, without the full matrix.

        Parameters
        ----------
        threshold
            Smallest absolute tau of a pair in the table. None sets no limit.
        fdr
            Largest q-value of a pair (Benjamini and Hochberg, over all pairs that have a tau). None
            sets no limit and computes no p-values.
        statistic, dim, missing, kernel
            As for `kendall`.
        alternative
            As for `kendall`, of the p-values of ``fdr``.
        min_pairs
            Least number of observations present in both variables of a pair. Pairs with fewer are
            left out. If values are missing, pairs with a few observations have a strong tau by
            chance: with two, tau is 1 or -1.
        names
            Coordinate with the names of the variables; by default the index coordinate of their
            dimension.
        share
            ``(k, n)`` divides the search among n workers, numbered 0 to n - 1. This call searches
            only the part of worker k. Each pair is in the part of exactly one worker. All workers
            must use the same values and options. ``share`` needs ``fdr=None``, because q-values
            need all pairs.
        progress
            Whether to show a progress bar. The default is the option ``progress``.

        Returns
        -------
            `genobit.PairTable`: ``.head()``, ``.to_dataframe()``, ``.to_parquet(folder)``,
            ``.to_network()``. The first two columns are the positions of the variables, counted
            from 0; the first is smaller. These columns are called ``gene_0`` and ``gene_1`` if the
            dimension is "gene", and ``variant_0`` and ``variant_1`` for variants. Other columns are
            ``name_0``, ``name_1``, ``tau`` and ``n`` (observations of the pair). With ``fdr`` there
            are also ``pvalue`` and ``qvalue``. Even ``.head()`` then has to search all pairs; the
            result of this search is kept in memory.

        Raises
        ------
        ValueError
            For an argument with an invalid value, or ``share`` with ``fdr``. When the table is
            computed: if the estimated time exceeds ``get_options().longest_search`` (one hour by
            default).
        TypeError
            If ``threshold``, ``fdr`` or an element of ``share`` is not a number, or if the values
            are not real numbers.
        MemoryError
            If the table would exceed ``get_options().eager_limit`` bytes. If the table has all
            pairs (no ``threshold`` and no ``fdr``), the error is raised before the computation.
            Otherwise it is raised as soon as the table is too large.

        Notes
        -----
        q-values are bit-identical to ``scipy.stats.false_discovery_control`` on all pairs. Pairs
        whose tau is NaN do not count as tests. Memory holds the ranks and the tiles being computed.
        With ``fdr``, it also holds a table of p-values and the pairs found so far. The result is
        the same for every chunking, kernel and scheduler.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> values = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])
        >>> expr = xr.DataArray(
        ...     values, dims=("gene", "sample"), coords={"gene": ["MYC", "MAX", "MXD1"]}
        ... )
        >>> edges = expr.genobit.kendall_pairs(threshold=0.9, fdr=None)
        >>> edges.to_dataframe().values.tolist()
        [[0, 2, 'MYC', 'MXD1', -1.0, 4]]
        """
        from genobit.kendall.variables import of_values

        wanted = _wanted(statistic, fdr, missing, kernel, alternative, min_pairs)
        side = side_of(self._da, dim)
        variables, observations = (str(name) for name in side.dims)
        (ranks,) = of_values([side.data], [(variables, observations)], missing, wanted)
        attributes = attributes_of(wanted, statistic, missing, observations, side.shape[1])
        return _table(
            ranks,
            wanted,
            variables,
            _names(side, names),
            attributes,
            (threshold, fdr, share),
            progress=progress,
        )


class KendallGenotypePairsMethods(DatasetMethods):
    """Methods of ``Dataset.genobit`` that find correlated pairs of variants."""

    def kendall_pairs(
        self,
        threshold: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        statistic: str = "tau_b",
        missing: str = "pairwise",
        kernel: str = "auto",
        alternative: str = "two-sided",
        min_pairs: int = 2,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable:
        """Find the pairs of variants whose dosages have a strong Kendall's tau.

        Parameters
        ----------
        threshold, fdr, alternative, min_pairs, share, progress
            As for ``DataArray.genobit.kendall_pairs``.
        statistic, missing, kernel
            As for `kendall`.

        Returns
        -------
            As for ``DataArray.genobit.kendall_pairs``. The columns ``variant_0`` < ``variant_1``
            are positions of variants, from 0. Variants are named by ``variant_id``, or by contig
            and position if they have no identifier.

        Raises
        ------
        ValueError, TypeError, MemoryError
            As for ``DataArray.genobit.kendall_pairs``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.kendall_pairs(threshold=0.8, fdr=None).to_dataframe()
        >>> pairs[["variant_0", "variant_1", "tau", "n"]].round(4).values.tolist()
        [[0.0, 1.0, 0.8165, 3.0]]
        """
        from genobit.kendall.variables import of_planes

        wanted = _wanted(statistic, fdr, missing, kernel, alternative, min_pairs)
        warn_without_calls(self._ds, "correlations")
        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        dims = (model.VARIANTS, model.SAMPLES)
        (variables,) = of_planes([planes], [dims], layout, missing, wanted)
        attributes = attributes_of(wanted, statistic, missing, model.SAMPLES, layout.bits)
        attributes[model.COUNTED_ALLELE] = model.counted_allele(ds)
        return _table(
            variables,
            wanted,
            model.VARIANTS,
            _variant_names(ds),
            attributes,
            (threshold, fdr, share),
            progress=progress,
        )


def _wanted(
    statistic: str, fdr: float | None, missing: str, kernel: str, alternative: str, min_pairs: int
) -> TileSpec:
    from genobit.kendall.matrix import checked

    wanted = checked(
        statistic,
        pvalue=fdr is not None,
        missing=missing,
        kernel=kernel,
        alternative=alternative,
        min_pairs=min_pairs,
        tests="fdr=0.01",
    )
    return wanted._replace(outputs=(statistic, "n") + (() if fdr is None else ("pvalue",)))


def _table(
    variables: Variables,
    wanted: TileSpec,
    dim: str,
    names: NDArray[Any],
    attributes: dict[str, Any],
    query: tuple[float | None, float | None, tuple[int, int] | None],
    *,
    progress: bool | None,
) -> PairTable:
    """Return the lazy table of a search; ``query`` is (threshold, fdr, share)."""
    from genobit.data.pairs.network import check_dimension, unique_names
    from genobit.data.pairs.table import ROWS, PairTable
    from genobit.kendall.pairs import WHOLE, PairQuery, SearchParts

    check_dimension(dim)
    row, (threshold, fdr, share) = ROWS.get(dim, dim), query
    columns = (f"{row}_0", f"{row}_1", "tau")
    unique = unique_names(names)
    parts = SearchParts(
        variables.tile(wanted),
        variables.arrays,
        PairQuery(threshold, fdr, columns, WHOLE if share is None else share),
        unique,
        {name: value for name, value in attributes.items() if name != "long_name"},
        progress=progress,
    )
    attrs = {**attributes, "threshold": parts.query.threshold, "fdr": parts.query.fdr}
    if share is not None:
        attrs["share"] = list(parts.query.share)
    return PairTable(parts, row, "tau", partial(np.asarray, unique), attrs)


def _names(side: xr.DataArray, names: Any) -> NDArray[Any]:
    dim = side.dims[0]
    if names is None:
        index = side.indexes.get(dim)
        return np.arange(side.sizes[dim]) if index is None else np.asarray(index.to_numpy())
    if not isinstance(names, str) or names not in side.coords or side[names].dims != (dim,):
        known = [str(name) for name, x in side.coords.items() if x.dims == (dim,)]
        what = f"names={names!r} is not a"
        if not isinstance(names, str):
            what = f"names= is of type {type(names).__name__}, expected the name of a"
        msg = f"{what} coordinate along {dim!r}: give one of {known}"
        raise ValueError(msg)
    return np.asarray(side.coords[names].values)


def _variant_names(ds: xr.Dataset) -> NDArray[Any]:
    names = labels.text(np.arange(ds.sizes[model.VARIANTS]))
    if model.VARIANT_POSITION in ds.variables:
        names = labels.text(ds[model.VARIANT_POSITION].values)
        contigs = contigs_in(ds)
        if contigs is not None:
            names = contigs.of_variants() + ":" + names
    ids = labels.ids(ds, model.VARIANTS)
    return names if ids is None else np.where(np.isin(ids, ABSENT), names, ids)
