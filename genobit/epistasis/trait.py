"""Interaction of two variants on a quantitative trait: an F test of all pairs.

The full model has a mean for each of the genotype cells that are not empty, the additive one a
mean for each genotype of either variant, so that dominance of one variant is no interaction; in R
``anova(lm(y ~ factor(a) + factor(b)), lm(y ~ factor(a) * factor(b)))``. With SS what they leave:

    F = ((SS_additive - SS_full) / d1) / (SS_full / d2)

d1 is the difference of their ranks, 4 if no cell is empty, d2 = n - cells. Samples without a
missing call in the pair, and with a trait.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule.blas import one_blas_thread
from genobit.epistasis.search import Columns, Prepared, smaller_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.phenotypes import Trait
    from genobit.epistasis.scope import Limits
    from genobit.epistasis.search import Wanted

SLOWER = 50
"""About how many times as long as the mutual information of a pair its F takes."""
FEW = 5
"""Samples of a cell that its mean can be trusted with."""


def prepared(
    planes: Mapping[str, da.Array],
    layout: Layout,
    phenotype: Trait,
    wanted: Wanted,
    limits: Limits,
) -> Prepared:
    """A search of pairs by the F of their interaction; as `genobit.epistasis.search.prepared`."""
    from genobit.engine.schedule.checkpoints import digest
    from genobit.epistasis.kernels.trait import TraitRule, whole_values
    from genobit.epistasis.schedule.planes import gathered
    from genobit.epistasis.schedule.search import CombinationSearch
    from genobit.epistasis.scope import scope_of

    if limits.prefilter is not None:
        msg = (
            "prefilter= ranks variants by their mutual information with classes, and statistic='f' "
            "has a trait: select variants with ds.genobit.isel(variants=...)"
        )
        raise ValueError(msg)
    known = ~np.isnan(phenotype.values)
    classes = gathered(planes, layout, np.where(known, 0, -1), 1)
    present = phenotype.values[known]
    values = whole_values(present)
    score: Any = partial(
        _searched,
        rule=TraitRule(wanted.min_n, wanted.min_count),
        values=values,
        permutations=wanted.permutations,
        seed=wanted.seed,
    )
    scope = scope_of(limits, classes, planes, layout, wanted)
    work = CombinationSearch(classes, wanted.order, wanted.top, score=score, scope=scope)
    smaller_units(work, SLOWER * (1 + wanted.permutations))
    about = {"trait": digest([values.trait, values.squares])}
    return Prepared(work, about, partial(columns, classes, trait=present))


def _searched(*arguments: Any, **options: Any) -> Any:
    """`search_pairs`, whose sums of a trait are products of numpy, in one thread."""
    from genobit.epistasis.kernels.trait import search_pairs

    with one_blas_thread():
        return search_pairs(*arguments, **options)


def columns(classes: Classes, members: NDArray[np.int64], trait: NDArray[np.float64]) -> Columns:
    """Test pairs again, one by one, with counts and means of their cells."""
    from scipy.stats import f as distribution

    from genobit.epistasis.kernels.trait import tested_pair, whole_values

    values = whole_values(trait)
    pairs = [tested_pair(classes, pair, values, trait) for pair in members]
    cells = np.array([pair.cells for pair in pairs], np.int32).reshape(-1, 9)
    of_rank: dict[str, NDArray[Any]] = {
        "f": np.array([pair.f for pair in pairs], np.float64),
        "df": np.array([pair.df for pair in pairs], np.int64),
        "df_residual": np.array([pair.df_residual for pair in pairs], np.int64),
    }
    of_rank |= {
        "p": distribution.sf(of_rank["f"], of_rank["df"], of_rank["df_residual"]),
        "n": cells.sum(axis=1, dtype=np.int64),
        "sparse": np.any((cells > 0) & (cells < FEW), axis=1),
    }
    means = np.array([pair.means for pair in pairs]).reshape(-1, 9)
    return Columns(members, of_rank, cells[:, :, None], means)
