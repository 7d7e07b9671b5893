"""Method ``ds.genobit.epistasis``: rank combinations of variants by association with a phenotype.

The arithmetic is in `genobit.epistasis.search`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.engine.progress import warn, warn_stopped

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from genobit.epistasis.arguments import SearchSpec
    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.limits import EpistasisLimits
    from genobit.epistasis.search import Columns

RANK, ORDER, CELL, CLASS = "rank", "order", "cell", "class"
_COLUMN_NAMES = {
    "mi": "mutual information, nats",
    "g": "2 n times the mutual information",
    "df": "degrees of freedom of p",
    "p": "p-value of this combination alone, not corrected for the search",
    "n": "samples without a missing call in the combination",
    "df_residual": "degrees of freedom of what the full model leaves",
    "effect": "coefficient of the product of dosages",
    "standard_error": "standard error of the effect",
    "cases": "samples of the second class",
    "controls": "samples of the first class",
    "p_familywise": "share of permutations with a score as large anywhere in the search",
    "sparse": "expected counts too small for p to be trusted (Cochran's rule)",
}
_OTHERS = frozenset(
    {RANK, ORDER, CELL, CLASS, "genotype", "cell_mean", "permutation", "permutation_maximum"}
)


class EpistasisMethods(DatasetMethods):
    """Methods of ``ds.genobit`` for interactions of variants."""

    def epistasis(
        self,
        phenotype: str | ArrayLike | xr.DataArray,
        *,
        order: int = 2,
        top: int = 100,
        statistic: str = "mutual_information",
        covariates: str
        | xr.DataArray
        | pd.Series
        | xr.Dataset
        | pd.DataFrame
        | list[str | xr.DataArray | pd.Series]
        | None = None,
        limits: EpistasisLimits | None = None,
        permutations: int = 0,
        seed: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> xr.Dataset:
        """Rank all combinations of ``order`` variants by their association with a phenotype.

        Parameters
        ----------
        phenotype
            Name of a variable along the samples, or one value per sample. "case" also finds
            ``sample_case``. The values are two or more classes: booleans, whole numbers or text.
            With statistics "f" and "linear", the values are a quantitative trait. A DataArray or
            Series is aligned by its labels. Samples with a missing phenotype (NaN, None or an empty
            text) are left out.
        order
            Number of variants in a combination.
        top
            Number of combinations to return. Combinations with equal scores are in the order of
            their variants in the Dataset.
        statistic
            Statistic for the ranking:

            - "mutual_information": mutual information of genotypes and class
            - "chi2": Pearson's chi2 of genotypes and class
            - "gain": mutual information of the combination, minus the largest mutual information of
              any subset with one member fewer. One strong variant therefore does not dominate the
              ranking
            - "boost": likelihood ratio of the interaction of two variants, for two classes
            - "f": F test of the interaction of two variants, for a quantitative trait
            - "linear": F test of the product of two dosages in a linear regression on both dosages
              and covariates, for a quantitative trait
            - "logistic": likelihood ratio of the product of two dosages in a logistic regression,
              for two classes
        covariates
            Covariates of "linear" and "logistic": names of variables along the samples, DataArrays
            or Series, a Dataset, or a DataFrame whose index has the samples. A variable (samples,
            components), such as principal components, gives one covariate per component. Labelled
            values are aligned like the phenotype. Samples with a missing covariate are left out.
        limits
            Limits on the combinations: sets of variants, distance, r2, and numbers of samples. The
            default is ``gb.EpistasisLimits()``.
        permutations, seed
            Number of random permutations of the phenotype, and their seed. The search is repeated
            for each permutation. The result then has p-values corrected for the number of
            combinations.
        checkpoint
            Folder that keeps finished parts of the search. Repeat the call to resume.
        progress
            Whether to show a progress bar with an estimate of the time left. The default is the
            option ``progress``.

        Returns
        -------
            Dataset of the best combinations, best first, in memory. Its dimensions are ``rank``,
            ``order``, ``cell`` and ``class``. The 3^order cells are the joint genotypes of the
            members; the genotype of the last member changes fastest. Labels of the variants have
            dimensions (rank, order), and ``variant_allele`` has (rank, order, alleles). Labels that
            are named like variables of the result get the prefix ``variant_``: a label ``p``
            becomes ``variant_p``. The variables are:

            - ``variants`` (rank, order): positions along the variants, ascending
            - ``mi``, ``g``, except with "f", "linear" and "logistic": mutual information in nats,
              and the G statistic 2 n mi
            - ``chi2``, ``gain``, ``boost``, ``f`` ("f", "linear") or ``likelihood_ratio``
              ("logistic"): the statistic, if it is not ``mi``
            - ``effect``, ``standard_error``, with "linear" and "logistic": coefficient of the
              product of dosages, and its standard error
            - ``cases``, ``controls``, with "logistic": samples of the second and the first class,
              in the order of ``class``
            - ``p``: p-value of the single combination, not corrected for the search. It comes from
              the chi2 distribution with ``df`` degrees of freedom; for "gain", the test statistic
              is 2 n gain. With "f" and "linear", it comes from the F distribution with ``df`` and
              ``df_residual``
            - ``n``: number of samples with calls at all members; all counts use only these samples
            - ``cells`` int32 (rank, cell, class): sample counts
            - ``cell_mean`` (rank, cell), with "f" and "linear": mean of the trait
            - ``sparse``, except with "linear" and "logistic": True if the cells have too few
              samples for ``p`` to be reliable
            - ``p_familywise``, with permutations: share of permutations whose largest score is at
              least the score of the combination. The observed phenotype counts as one permutation
            - ``permutation_maximum`` (permutation): the largest score of each permutation

            After Ctrl-C, a RuntimeWarning is given. The result has the best combinations found so
            far, and ``attrs["partial"]`` is True. With "linear" and "logistic",
            ``attrs["combinations_without_fit"]`` counts the pairs that cannot be ranked: columns of
            the regression are collinear, or the classes are separated.

        Raises
        ------
        KeyError
            For an unknown variable.
        ValueError
            For a phenotype with a wrong number of values, with labels that lack one of the samples,
            or with only one class. For a covariate that is constant or a linear combination of the
            others. For a continuous phenotype with a statistic that needs classes.
            With "f", for an outlier: a value whose distance from the median is over 10,000 times
            the median of all non-zero distances. For an unknown ``statistic``, or a number out of
            range. For a search longer than ``get_options().longest_search`` (one hour by default);
            the message gives the estimated time and ways to reduce it.
        MemoryError
            For a search that needs more than ``get_options().eager_limit`` bytes of memory. The
            error is raised before the search starts. Its message gives ways to reduce the memory.
        OSError
            If the folder ``get_options().spill_to`` has too little free space.
        genobit.epistasis.schedule.search.SearchError
            If a part of the search fails. The attribute ``ranking`` of the error holds the ranking
            from the other parts.

        Notes
        -----
        See `genobit.epistasis.search` for formulas and references. The ranking does not depend on
        chunks, threads or the dask scheduler. Genotypes are held in memory, with 2 or 3 bits per
        call. If the option ``spill_to`` names a folder, genotypes above
        ``get_options().eager_limit`` bytes are written to files there instead.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]], "int8")
        >>> calls = np.stack([calls, calls], axis=-1)
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> top = ds.genobit.epistasis([0, 1, 1, 0], order=2, top=1)
        >>> top.variants.values.tolist(), top.mi.values.round(4).tolist()
        ([[0, 1]], [0.6931])
        """
        from genobit.epistasis import search as epistasis
        from genobit.epistasis.preparation import prepared

        asked = prepared(
            self._ds,
            phenotype,
            order,
            top,
            statistic,
            covariates,
            limits,
            permutations,
            seed,
            checkpoint,
        )
        if asked.search is None:
            ranking, columns = asked.single_variants()
        else:
            ranking = asked.search.run(checkpoint=checkpoint, progress=progress)
            columns = epistasis.tested(ranking, asked.columns_of)
        if ranking.partial:
            kept = f"the best of the {ranking.fraction:.3%} that were searched"
            warn_stopped("epistasis", kept, checkpoint)
        elif not ranking.searched:
            warn("limits= leaves no combination, so the ranking is empty: give wider limits")
        return _labelled(asked.ds, ranking, columns, asked.wanted, asked.classes, asked.about)

    def ranking(self) -> pd.DataFrame:
        """Return the result of `epistasis` as a table, one row per combination.

        Returns
        -------
            DataFrame with the column ``rank`` and columns for each member. The first member has
            ``variant_0`` (position along the variants), ``variant_id_0``, ``variant_contig_0`` and
            ``variant_position_0``. The last columns are the statistic and all other variables along
            ``rank``, such as ``p``, ``n`` and ``p_familywise``. Contigs and positions are left out
            if the data have none.

        Raises
        ------
        ValueError
            If the Dataset is not a result of `epistasis`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 0], [0, 1], [0, 0], [0, 1]], [[0, 0], [0, 0], [0, 1], [0, 1]]])
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> top = ds.genobit.epistasis([0, 1, 1, 0], order=2, top=1)
        >>> top.genobit.ranking()[["rank", "variant_0", "variant_1", "n"]]
           rank  variant_0  variant_1  n
        0     1          0          1  4
        """
        from genobit.epistasis.result import is_ranking, ranked

        if not is_ranking(self._ds):
            held = ", ".join(map(str, list(self._ds.data_vars)[:6])) or "no variables"
            msg = (
                "ranking() takes the result of ds.genobit.epistasis(...), which has 'variants' of "
                f"shape (rank, order); this Dataset has {held}. For genotypes, call "
                "ds.genobit.epistasis(phenotype).genobit.ranking()"
            )
            raise ValueError(msg)
        return ranked(self._ds).table()


def _labelled(
    ds: xr.Dataset,
    ranking: Best,
    columns: Columns,
    wanted: SearchSpec,
    classes: tuple[str, ...],
    about: dict[str, Any],
) -> xr.Dataset:
    from genobit.epistasis.arguments import LONG_NAMES, REGRESSIONS
    from genobit.epistasis.search import COLUMNS, MISSING

    names = _COLUMN_NAMES | {COLUMNS.get(k, k): text for k, text in LONG_NAMES.items()}
    names[COLUMNS.get(wanted.statistic, wanted.statistic)] = LONG_NAMES[wanted.statistic]
    ranked = {
        name: (RANK, values, {"long_name": names[name]}) for name, values in columns.of_rank.items()
    }
    cells = {"long_name": "samples by genotypes and class; the last member's genotype is fastest"}
    out = xr.Dataset(
        {
            "variants": ((RANK, ORDER), columns.members, {"long_name": "positions, ascending"}),
            **ranked,
            "cells": ((RANK, CELL, CLASS), columns.cells, cells),
        },
        _coordinates(ds, columns.members, classes, {"variants", "cells", *ranked, *_OTHERS}),
        {
            "statistic": wanted.statistic,
            "long_name": LONG_NAMES[wanted.statistic],
            "order": wanted.order,
            "combinations": ranking.searched,
            "combinations_scored": ranking.scored,
            "partial": ranking.partial,
            "fraction_searched": ranking.fraction,
            "missing": MISSING,
            "min_n": wanted.min_n,
            "min_count": wanted.min_count,
            **about,
            model.COUNTED_ALLELE: model.counted_allele(ds),
        },
    )
    if wanted.statistic in REGRESSIONS:
        out.attrs["combinations_without_fit"] = ranking.unfit
    if columns.means is not None:
        out["cell_mean"] = ((RANK, CELL), columns.means, {"long_name": "mean trait of the cell"})
    if wanted.permutations:
        maxima = {"long_name": "largest score anywhere in the search", "seed": wanted.seed}
        out["permutation_maximum"] = ("permutation", ranking.maxima, maxima)
    return out


def _coordinates(
    ds: xr.Dataset, members: NDArray[np.int64], classes: tuple[str, ...], taken: set[str]
) -> dict[Hashable, Any]:
    """Return labels of the members (rank, order), genotypes of the cells and names of the classes.

    A label whose name is ``taken`` gets the prefix `variant_`.
    """
    coords: dict[Hashable, Any] = {}
    for name, label in result_labels.along(ds, model.VARIANTS).items():
        if name == model.VARIANTS:
            continue
        free = str(name)
        while free in taken or free in coords:
            free = f"variant_{free}"
        coords[free] = ((RANK, ORDER), np.asarray(label.values)[members], label.attrs)
    if model.VARIANTS in getattr(ds.get(model.VARIANT_ALLELE), "dims", ()):
        alleles = labels.allele_names(ds)[members]
        coords[model.VARIANT_ALLELE] = ((RANK, ORDER, "alleles"), alleles)
    order = members.shape[1]
    genotypes = np.indices((3,) * order, np.int8).reshape(order, -1).T
    coords["genotype"] = (
        (CELL, ORDER),
        genotypes,
        {"long_name": "copies of the counted allele of each member"},
    )
    coords[CLASS] = (CLASS, np.array(classes, dtype=object))
    return coords
