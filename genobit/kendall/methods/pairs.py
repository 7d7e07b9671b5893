"""``.genobit.kendall_pairs``: strongly correlated pairs of variables, as a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, packed
from genobit.engine.extras import require
from genobit.engine.files import WRITE, local_path
from genobit.kendall.methods.matrix import attributes_of, side_of
from genobit.kendall.network import PairTable, check_dimension, unique_names

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from genobit.kendall.kernels.tiles import TileSpec
    from genobit.kendall.matrix import Variables

ABSENT = ("", ".")
"""Values of ``variant_id`` that mean no identifier."""


class KendallArrayPairsMethods:
    """Methods of ``DataArray.genobit`` that find correlated pairs."""

    _da: xr.DataArray

    def kendall_pairs(
        self,
        threshold: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        statistic: str = "tau_b",
        dim: Hashable | None = None,
        missing: str = "pairwise",
        kernel: str = "auto",
        names: str | None = None,
        parquet: str | os.PathLike[str] | None = None,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable | Path:
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
        names
            Coordinate with the names of the variables; by default the index coordinate of their
            dimension.
        parquet
            Path of a Parquet file to write instead of returning a table. Pairs are streamed to it,
            so memory holds only the tiles being computed. ``parquet`` needs ``fdr=None``, because
            q-values are known only at the end.
        share
            ``(k, n)``: search only the share of worker k of n workers, counted from 0. Together the
            workers find each pair once. All workers must use the same values and options. ``share``
            needs ``fdr=None``, because q-values need all pairs.
        progress
            Whether to show a progress bar. The default is the option ``progress``.

        Returns
        -------
            `genobit.kendall.network.PairTable` of the pairs, computed and sorted by position. Its
            columns are the positions ``<dim>_0`` < ``<dim>_1``, ``name_0``, ``name_1``, ``tau`` and
            ``n`` (observations of the pair). With ``fdr`` it also has ``pvalue`` and ``qvalue``.
            With ``parquet``, the path of the file, which ``PairTable.from_parquet`` and pandas can
            read. The file has the pairs in the order of tiles, not sorted by position.

        Raises
        ------
        ValueError
            For a limit outside its range, an unknown choice, or ``parquet`` or ``share`` with
            ``fdr``. Also for a search longer than ``get_options().longest_search`` (one hour by
            default); the message gives the estimated time.
        TypeError
            For a limit or share that is not a number, and for values that are not real numbers.
        MemoryError
            If the table would be larger than ``get_options().eager_limit``. If the table has all
            pairs (no ``threshold`` and no ``fdr``), the error is raised before the computation.
            Otherwise it is raised as soon as the table is too large.

        Notes
        -----
        q-values are bit-identical to ``scipy.stats.false_discovery_control`` on all pairs. Pairs
        whose tau is NaN do not count as tests. Memory holds the ranks, the tiles being computed,
        the candidate pairs, and the distinct p-values below the current cutoff. Data without ties
        have few distinct p-values. The result is the same for every chunking, kernel and scheduler.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> values = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])
        >>> expr = xr.DataArray(
        ...     values, dims=("gene", "sample"), coords={"gene": ["MYC", "MAX", "MXD1"]}
        ... )
        >>> edges = expr.genobit.kendall_pairs(threshold=0.9, fdr=None)
        >>> edges.to_pandas().values.tolist()
        [[0, 2, 'MYC', 'MXD1', -1.0, 4]]
        """
        from genobit.kendall.variables import of_values

        wanted = _wanted(statistic, fdr, missing, kernel)
        side = side_of(self._da, dim)
        variables, observations = (str(name) for name in side.dims)
        (ranks,) = of_values([side.data], [(variables, observations)], missing, wanted)
        attributes = attributes_of(wanted, statistic, missing, observations, side.shape[1])
        return _found(
            ranks,
            wanted,
            variables,
            _names(side, names),
            attributes,
            threshold,
            fdr,
            parquet,
            share,
            progress=progress,
        )


class KendallGenotypePairsMethods:
    """Methods of ``Dataset.genobit`` that find correlated pairs of variants."""

    _ds: xr.Dataset

    def kendall_pairs(
        self,
        threshold: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        statistic: str = "tau_b",
        missing: str = "pairwise",
        kernel: str = "auto",
        parquet: str | os.PathLike[str] | None = None,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable | Path:
        """Find the pairs of variants whose dosages have a strong Kendall's tau.

        Parameters
        ----------
        threshold, fdr, parquet, share, progress
            As for ``DataArray.genobit.kendall_pairs``.
        statistic, missing, kernel
            As for `kendall`.

        Returns
        -------
            As for ``DataArray.genobit.kendall_pairs``, with positions ``variants_0`` <
            ``variants_1``. Variants are named by ``variant_id``, or by contig and position if they
            have no identifier.

        Raises
        ------
        ValueError, TypeError, MemoryError
            As for ``DataArray.genobit.kendall_pairs``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.kendall_pairs(threshold=0.8, fdr=None).to_pandas()
        >>> pairs[["variants_0", "variants_1", "tau", "n"]].round(4).values.tolist()
        [[0.0, 1.0, 0.8165, 3.0]]
        """
        from genobit.kendall.variables import of_planes

        wanted = _wanted(statistic, fdr, missing, kernel)
        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        dims = (model.VARIANTS, model.SAMPLES)
        (variables,) = of_planes([planes], [dims], layout, missing, wanted)
        attributes = attributes_of(wanted, statistic, missing, model.SAMPLES, layout.bits)
        attributes[model.COUNTED_ALLELE] = model.counted_allele(ds)
        return _found(
            variables,
            wanted,
            model.VARIANTS,
            _variant_names(ds),
            attributes,
            threshold,
            fdr,
            parquet,
            share,
            progress=progress,
        )


def _wanted(statistic: str, fdr: float | None, missing: str, kernel: str) -> TileSpec:
    from genobit.kendall.matrix import checked

    wanted = checked(statistic, pvalue=fdr is not None, missing=missing, kernel=kernel)
    return wanted._replace(outputs=(statistic, "n") + (() if fdr is None else ("pvalue",)))


def _found(
    variables: Variables,
    wanted: TileSpec,
    dim: str,
    names: NDArray[Any],
    attributes: dict[str, Any],
    threshold: float | None,
    fdr: float | None,
    parquet: str | os.PathLike[str] | None,
    share: tuple[int, int] | None,
    *,
    progress: bool | None,
) -> PairTable | Path:
    import pandas as pd

    from genobit.kendall.pairs import WHOLE, PairQuery, Search

    check_dimension(dim)
    columns = (f"{dim}_0", f"{dim}_1", "tau")
    question = PairQuery(threshold, fdr, columns, WHOLE if share is None else share)
    search = Search(variables.tile(wanted), variables.arrays, question, progress=progress)
    attributes |= {"threshold": search.question.threshold, "fdr": search.question.fdr}
    if share is not None:
        attributes["share"] = list(search.question.share)
    if parquet is not None:
        require("kendall_pairs(parquet=)", "pyarrow")
        path = local_path(parquet, "kendall_pairs(parquet=)", WRITE)
        search.to_parquet(path, unique_names(names), attributes)
        return path
    found = search.found()
    attributes["pairs_tested"] = search.tests
    return PairTable(pd.DataFrame(found), names, dim, "tau", attributes)


def _names(side: xr.DataArray, names: str | None) -> NDArray[Any]:
    dim = side.dims[0]
    if names is None:
        index = side.indexes.get(dim)
        return np.arange(side.sizes[dim]) if index is None else np.asarray(index.to_numpy())
    if names not in side.coords or side.coords[names].dims != (dim,):
        known = [str(name) for name, x in side.coords.items() if x.dims == (dim,)]
        msg = f"names={names!r} is not a coordinate along {dim!r}: give one of {known}"
        raise ValueError(msg)
    return np.asarray(side.coords[names].values)


def _variant_names(ds: xr.Dataset) -> NDArray[Any]:
    names = labels.text(np.arange(ds.sizes[model.VARIANTS]))
    if model.VARIANT_POSITION in ds.variables:
        names = labels.text(ds[model.VARIANT_POSITION].values)
        contigs = labels.contigs(ds)
        if contigs is not None:
            names = contigs.of_variants() + ":" + names
    ids = labels.ids(ds, model.VARIANTS)
    return names if ids is None else np.where(np.isin(ids, ABSENT), names, ids)
