"""``.genobit.kendall``: rank correlations of genotypes and of measurements, with their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import model, packed, result_labels
from genobit.data.analysis import ArrayMethods, DatasetMethods
from genobit.data.guards.calls import warn_without_calls, warn_without_values
from genobit.data.other_set import OBSERVATIONS, dimension_of, require_same, require_side
from genobit.data.other_set import labels as labels_of
from genobit.data.size_limit import compute_within_limit
from genobit.engine.progress import warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import dask.array as da
    from numpy.typing import DTypeLike

    from genobit.kendall.kernels.tiles import TileSpec

NUMBERS = "biuf"
"""Kinds of dtypes that can be ranked without conversion."""


class KendallArrayMethods(ArrayMethods):
    """Methods of ``DataArray.genobit`` that correlate variables."""

    def kendall(
        self,
        statistic: str = "tau_b",
        *,
        dim: Hashable | None = None,
        other: xr.DataArray | str | Sequence[str] | None = None,
        pvalue: bool | str = False,
        missing: str = "pairwise",
        kernel: str = "auto",
        dtype: DTypeLike = "float64",
        permutations: int = 0,
        seed: int = 0,
        alternative: str = "two-sided",
        min_pairs: int = 2,
        compute: bool = False,
    ) -> xr.DataArray | xr.Dataset:
        """Compute Kendall's rank correlation of all pairs of variables.

        Parameters
        ----------
        statistic
            "tau_a", "tau_b" (corrected for ties), "tau_c" (Stuart, for tables that are not square),
            or Somers' D. For Somers' D, "somers_d_rows" takes the row variable as the dependent
            variable, and "somers_d_columns" takes the column variable.
        dim
            Dimension of the observations; the other dimension has the variables. By default the
            dimension named sample(s), observation(s) or cell(s).
        other
            Other variables of the same observations, or the names of some of these variables. They
            become the columns of the result.
        pvalue
            Also return p-values and the number of observations. True chooses the test as
            ``scipy.stats.kendalltau`` does. Two variables without ties get the exact test if they
            have at most 33 observations, at most one concordant pair, or at most one discordant
            pair. All others get the asymptotic test, with tie correction. "asymptotic", "exact" and
            "permutation" select one test for all.
        missing
            Rule for NaN. "pairwise" uses the observations present in both variables of a pair.
            "dropna" drops observations with NaN in any variable. "refuse" raises an error.
        kernel
            Algorithm: "packed-merge", "signs" or "table", or "auto" for the kernel with the lowest
            estimated cost. All kernels give bit-identical results.
        dtype
            "float64", or "float32" for large results.
        permutations, seed
            With ``pvalue="permutation"``: the number of random permutations of the observations
            (required), and their seed. All pairs use the same permutations.
        alternative
            Alternative hypothesis of the p-values: "two-sided", or an association that is "greater"
            or "less" than 0, as in ``scipy.stats.kendalltau`` and R's ``cor.test``.
        min_pairs
            Least number of observations present in both variables of a pair, as ``min_periods`` of
            pandas. The values of a pair with fewer are NaN.
        compute
            Compute at once. Results larger than ``get_options().eager_limit`` bytes are refused.

        Returns
        -------
            DataArray (``<row>_0``, ``<row>_1``), where ``<row>`` is the dimension of the variables,
            as in ``gene_0`` and ``gene_1``. Both have the labels of the variables. The result is
            lazy unless ``compute``. With ``pvalue``, a Dataset of ``tau``, ``pvalue`` and ``n``
            (int32, number of observations of each pair), all computed in one pass. Values are NaN
            for a constant variable and for fewer than ``min_pairs`` observations.

        Raises
        ------
        ValueError
            If the number of dimensions is not 2, if an argument has an invalid value, or if
            ``other`` has different observations. When the result is computed: for NaN with
            ``missing="refuse"``, or ties with ``pvalue="exact"``.
        TypeError
            For values that are not real numbers.
        MemoryError
            With ``compute``, for a result larger than the limit.

        Notes
        -----
        `genobit.kendall.matrix` has the formulas and references. Somers' D has the same p-values as
        tau, because both test S = 0, where S is the number of concordant minus discordant pairs.
        ``scipy.stats.somersd`` uses another variance and gives other p-values. A permutation
        p-value is (b + 1) / (m + 1): b of m permutations have an absolute S of at least the
        observed one. One-sided, they have an S at least as large ("greater") or small ("less").

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> values = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])
        >>> expr = xr.DataArray(values, dims=("gene", "sample"))
        >>> expr.genobit.kendall("tau_b").values.round(3)
        array([[ 1.   ,  0.333, -1.   ],
               [ 0.333,  1.   , -0.333],
               [-1.   , -0.333,  1.   ]])
        """
        from genobit.kendall import matrix as kendall
        from genobit.kendall.variables import of_values

        if statistic in self._da.dims and statistic not in kendall.LONG_NAMES:
            msg = (
                f"statistic={statistic!r} is a dimension of the values: for observations along it "
                f"say dim={statistic!r}; statistics are "
                f"{', '.join(map(repr, kendall.LONG_NAMES))}"
            )
            raise ValueError(msg)
        wanted = kendall.checked(
            statistic,
            pvalue=pvalue,
            missing=missing,
            kernel=kernel,
            dtype=dtype,
            permutations=permutations,
            seed=seed,
            alternative=alternative,
            min_pairs=min_pairs,
        )
        sides = [side_of(self._da, dim)]
        if other is not None:
            sides.append(_other_side(sides[0], other))
        operands = of_values(
            [side.data for side in sides],
            [(str(side.dims[0]), str(side.dims[1])) for side in sides],
            missing,
            wanted,
        )
        sets = [(str(side.dims[0]), labels_of(side)) for side in sides]
        attributes = attributes_of(
            wanted, statistic, missing, str(sides[0].dims[1]), sides[0].shape[1]
        )
        remedy = "kendall_pairs(), to_zarr(), dtype='float32' or fewer variables"
        found = kendall.matrices(operands, wanted)
        return _labelled(found, wanted, sets, attributes, remedy if compute else None)


class KendallGenotypeMethods(DatasetMethods):
    """Methods of ``Dataset.genobit`` that correlate variants by rank."""

    def kendall(
        self,
        statistic: str = "tau_b",
        *,
        other: xr.Dataset | str | Sequence[str] | None = None,
        pvalue: bool | str = False,
        missing: str = "pairwise",
        kernel: str = "auto",
        dtype: DTypeLike = "float64",
        permutations: int = 0,
        seed: int = 0,
        alternative: str = "two-sided",
        min_pairs: int = 2,
        compute: bool = False,
    ) -> xr.DataArray | xr.Dataset:
        """Compute Kendall's rank correlation of the dosages of all pairs of variants.

        Parameters
        ----------
        statistic, pvalue, missing, kernel, dtype, permutations, seed
            As for ``DataArray.genobit.kendall``. Kernels "auto" and "table" count the 3 x 3
            genotype table of each pair from bit planes. Other kernels, and the "exact" and
            "permutation" tests, rank the dosages.
        alternative, min_pairs, compute
            As for ``DataArray.genobit.kendall``.
        other
            Other variants of the same samples: a Dataset, or ids or regions of this Dataset.
            They become the columns of the result.

        Returns
        -------
            DataArray (variants_0, variants_1) with the labels of the variants on both sides, lazy
            unless ``compute``. With ``pvalue``, a Dataset of ``tau``, ``pvalue`` and ``n``.
            Monomorphic variants give NaN.

        Raises
        ------
        ValueError
            If an argument has an invalid value, or if ``other`` has different samples. When the
            result is computed: for missing calls with ``missing="refuse"``.
        MemoryError
            With ``compute``, for a result larger than ``get_options().eager_limit`` bytes.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.kendall("tau_b").values.round(4)
        array([[1.    , 0.8165],
               [0.8165, 1.    ]])
        """
        from genobit.kendall import matrix as kendall
        from genobit.kendall.variables import of_planes

        wanted = kendall.checked(
            statistic,
            pvalue=pvalue,
            missing=missing,
            kernel=kernel,
            dtype=dtype,
            permutations=permutations,
            seed=seed,
            alternative=alternative,
            min_pairs=min_pairs,
        )
        warn_without_calls(self._ds, "correlations")
        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        sides, sets = [planes], [(model.VARIANTS, ds)]
        if other is not None:
            right, right_planes = packed.other_by_variants(other, ds, layout)
            sides.append(right_planes)
            sets.append((model.VARIANTS, right))
        names = [(model.VARIANTS, model.SAMPLES)] * len(sides)
        operands = of_planes(sides, names, layout, missing, wanted)
        attributes = attributes_of(wanted, statistic, missing, model.SAMPLES, layout.bits)
        attributes[model.COUNTED_ALLELE] = model.counted_allele(ds)
        remedy = "kendall_pairs(), to_zarr(), dtype='float32' or ds.genobit.isel(variants=...)"
        found = kendall.matrices(operands, wanted)
        return _labelled(found, wanted, sets, attributes, remedy if compute else None)


def side_of(da: xr.DataArray, dim: Hashable | None) -> xr.DataArray:
    """Return the variables as (variables, observations).

    Raises ValueError if the number of dimensions is not 2, for no variables, and for an unknown
    dimension of observations. Raises TypeError for values that are not real numbers.
    """
    if da.ndim != 2:
        msg = (
            f"rank correlation takes 2 dimensions, variables and observations, not {da.ndim} "
            f"{da.dims}: select or stack the others"
            + ("; for genotypes call ds.genobit.kendall()" * (model.PLOIDY in da.dims))
        )
        raise ValueError(msg)
    if da.dtype.kind not in NUMBERS:
        msg = (
            f"values are of dtype {da.dtype}, but ranks need real numbers or booleans: convert "
            "them, for example with .astype(float)"
        )
        raise TypeError(msg)
    observations = dimension_of(da, dim, OBSERVATIONS, "observations")
    (variables,) = (name for name in da.dims if name != observations)
    if not da.sizes[variables]:
        msg = f"the array is empty along {variables!r}: no variables to correlate"
        raise ValueError(msg)
    warn_without_values(da, "correlations")
    return da.transpose(variables, observations)


def _other_side(side: xr.DataArray, other: object) -> xr.DataArray:
    right = side_of(require_side(side, other, "variables", "observations"), side.dims[1])
    require_same(side, right)
    return right


def attributes_of(
    wanted: TileSpec, statistic: str, missing: str, dim: str, observations: int
) -> dict[str, Any]:
    """Return the attributes of a result: statistic, missing-data rule, kernel and observations."""
    from genobit.kendall.matrix import LONG_NAMES, MISSING

    if wanted.min_n > max(observations, 2):
        warn(
            f"min_pairs={wanted.min_n} is more than the {observations} values along {dim!r}, so "
            f"there is no correlation: give at most {observations}"
        )
    return {
        "long_name": LONG_NAMES[statistic],
        "statistic": statistic,
        "missing": MISSING[missing],
        "kernel": wanted.kernel,
        "observations": observations,
        "dimension": dim,
        "min_pairs": wanted.min_n,
        **({} if wanted.alternative == "two-sided" else {"alternative": wanted.alternative}),
    }


def _labelled(
    found: dict[str, da.Array],
    wanted: TileSpec,
    sets: list[tuple[str, xr.Dataset]],
    attributes: dict[str, Any],
    remedy: str | None,
) -> xr.DataArray | xr.Dataset:
    """Label the matrices; with a ``remedy`` for results past the limit, compute them."""
    dims, coords = result_labels.of_pairs(sets[0], sets[-1])
    tau = model.labelled(found[attributes["statistic"]], coords, dims, "tau", attributes)
    if "pvalue" not in wanted.outputs:
        return compute_within_limit(tau, remedy) if remedy else tau
    side = {"greater": "positive", "less": "negative"}.get(wanted.alternative)
    named = f"p-value of a {side} association" if side else "two-sided p-value of independence"
    about: dict[str, Any] = {"long_name": named, "alternative": wanted.alternative}
    about["method"] = wanted.rule
    if wanted.rule == "permutation":
        about |= {"permutations": wanted.permutations, "seed": wanted.seed}
    counts = {"long_name": "observations present in both"}
    pvalues, n = (dims, found["pvalue"], about), (dims, found["n"], counts)
    result = xr.Dataset({"tau": tau, "pvalue": pvalues, "n": n}, attrs=attributes)
    return compute_within_limit(result, remedy) if remedy else result
