"""``.genobit.kendall_pairs``: pairs of variables that rank correlation joins, as a network.

A part of both accessors, and like them labels in, labels out. May import: correlations, network and
what is below.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit import labels, model, packed
from genobit.correlations import attributes_of, side_of
from genobit.extras import require
from genobit.files import WRITE, local_path
from genobit.network import PairTable, check_dimension, unique_names

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from genobit.analyses.kendall import Variables
    from genobit.kernels.tau_tiles import Wanted

ABSENT = ("", ".")
"""What stands for no identifier of a variant."""


class ArrayPairs:
    """Methods of ``DataArray.genobit`` that find correlated pairs."""

    _da: xr.DataArray

    def kendall_pairs(
        self,
        min_abs: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        variant: str = "b",
        dim: Hashable | None = None,
        missing: str = "pairwise",
        kernel: str = "auto",
        names: str | None = None,
        parquet: str | os.PathLike[str] | None = None,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable | Path:
        """Pairs of variables that Kendall's rank correlation joins, without the matrix of all.

        Parameters
        ----------
        min_abs
            Smallest absolute value of a pair in the table; None for no limit.
        fdr
            Largest q-value of a pair, by Benjamini and Hochberg over all pairs that have a value;
            None for no limit, and no p-values.
        variant, dim, missing, kernel
            As for `kendall`.
        names
            Coordinate of the variables that names them; by default the index of their dimension.
        parquet
            A file to write instead, as pairs are found: no more than the tiles in flight are held.
            Needs ``fdr=None``, as q-values are known at the end.
        share
            ``(k, of)``: the pairs of worker k, counted from 0, of ``of`` workers. Together the
            workers find each pair once. All must have the same values and options. Needs
            ``fdr=None``, as q-values are of all pairs.
        progress
            Whether to show a bar; by default what `get_options` says.

        Returns
        -------
            `genobit.network.PairTable` of the pairs, computed and sorted by position. Its columns
            are the positions ``<dim>_0`` < ``<dim>_1``, ``name_0``, ``name_1``, ``tau`` and ``n``
            (observations of the pair). With ``fdr`` it has ``pvalue`` and ``qvalue`` too.
            With ``parquet`` the path, for ``PairTable.from_parquet`` and pandas. The pairs of the
            file are in the order of tiles.

        Raises
        ------
        ValueError
            For a limit out of its range, an unknown choice, and ``parquet`` or ``share`` with
            ``fdr``. For a search longer than ``get_options().longest_search`` (one hour by
            default): the message has the estimate.
        TypeError
            For a limit or share that is no number, and values that are no real numbers.
        MemoryError
            If the table would be larger than ``get_options().eager_limit``: with no limits, before
            anything is computed, says how many pairs that is; otherwise as soon as it is.

        Notes
        -----
        q-values are those of ``scipy.stats.false_discovery_control`` on all pairs, to the last
        bit; NaN pairs are no tests. Memory holds the ranks, the tiles in flight, the pairs kept so
        far, and the distinct p-values below the current cutoff. Without ties these are few. The
        result is the same for every chunking, kernel and scheduler.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> values = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])
        >>> expr = xr.DataArray(
        ...     values, dims=("gene", "sample"), coords={"gene": ["MYC", "MAX", "MXD1"]}
        ... )
        >>> edges = expr.genobit.kendall_pairs(min_abs=0.9, fdr=None)
        >>> edges.to_pandas().values.tolist()
        [[0, 2, 'MYC', 'MXD1', -1.0, 4]]
        """
        from genobit.analyses.kendall_variables import of_values

        wanted = _wanted(variant, fdr, missing, kernel)
        side = side_of(self._da, dim)
        variables, observations = (str(name) for name in side.dims)
        (ranks,) = of_values([side.data], [(variables, observations)], missing, wanted)
        attributes = attributes_of(wanted, variant, missing, side.shape[1])
        attributes["dimension"] = observations
        return _found(
            ranks,
            wanted,
            variables,
            _names(side, names),
            attributes,
            min_abs,
            fdr,
            parquet,
            share,
            progress=progress,
        )


class GenotypePairs:
    """Methods of ``Dataset.genobit`` that find correlated pairs of variants."""

    _ds: xr.Dataset

    def kendall_pairs(
        self,
        min_abs: float | None = 0.6,
        fdr: float | None = 0.01,
        *,
        variant: str = "b",
        missing: str = "pairwise",
        kernel: str = "auto",
        parquet: str | os.PathLike[str] | None = None,
        share: tuple[int, int] | None = None,
        progress: bool | None = None,
    ) -> PairTable | Path:
        """Pairs of variants whose dosages Kendall's rank correlation joins.

        Parameters
        ----------
        min_abs, fdr, parquet, share, progress
            As for ``DataArray.genobit.kendall_pairs``.
        variant, missing, kernel
            As for `kendall`.

        Returns
        -------
            As ``DataArray.genobit.kendall_pairs``, of ``variants_0`` < ``variants_1``, named by
            ``variant_id``, and where there is none by contig and position.

        Raises
        ------
        ValueError, TypeError, MemoryError
            As for ``DataArray.genobit.kendall_pairs``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.kendall_pairs(min_abs=0.8, fdr=None).to_pandas()
        >>> pairs[["variants_0", "variants_1", "tau", "n"]].round(4).values.tolist()
        [[0.0, 1.0, 0.8165, 3.0]]
        """
        from genobit.analyses.kendall_variables import of_planes

        wanted = _wanted(variant, fdr, missing, kernel)
        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        dims = (model.VARIANTS, model.SAMPLES)
        (variables,) = of_planes([planes], [dims], layout, missing, wanted)
        attributes = attributes_of(wanted, variant, missing, layout.bits)
        attributes |= {"dimension": model.SAMPLES, model.COUNTED_ALLELE: model.counted_allele(ds)}
        return _found(
            variables,
            wanted,
            model.VARIANTS,
            _variant_names(ds),
            attributes,
            min_abs,
            fdr,
            parquet,
            share,
            progress=progress,
        )


def _wanted(variant: str, fdr: float | None, missing: str, kernel: str) -> Wanted:
    from genobit.analyses.kendall import checked

    wanted = checked(
        variant,
        pvalue=fdr is not None,
        missing=missing,
        kernel=kernel,
        dtype="float64",
        permutations=0,
        seed=0,
    )
    return wanted._replace(outputs=(variant, "n") + (() if fdr is None else ("pvalue",)))


def _found(
    variables: Variables,
    wanted: Wanted,
    dim: str,
    names: NDArray[Any],
    attributes: dict[str, Any],
    min_abs: float | None,
    fdr: float | None,
    parquet: str | os.PathLike[str] | None,
    share: tuple[int, int] | None,
    *,
    progress: bool | None,
) -> PairTable | Path:
    import pandas as pd

    from genobit.analyses.kendall import tile
    from genobit.analyses.kendall_pairs import WHOLE, Question, Search

    check_dimension(dim)
    columns = (f"{dim}_0", f"{dim}_1", "tau")
    question = Question(min_abs, fdr, columns, WHOLE if share is None else share)
    function = partial(tile, wanted=wanted, layout=variables.layout)
    search = Search(function, variables.arrays, question, progress=progress)
    attributes |= {"min_abs": search.question.min_abs, "fdr": search.question.fdr}
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
        msg = f"names={names!r} is no coordinate along {dim!r}: there are {known}"
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
