"""Interaction of two variants on a quantitative trait: an F test of all pairs.

The full model has a mean for each genotype cell that is not empty. The additive model has a mean
for each genotype of either variant, so dominance of one variant is no interaction. In R this is
``anova(lm(y ~ factor(a) + factor(b)), lm(y ~ factor(a) * factor(b)))``. SS is the residual sum of
squares of a model:

    F = ((SS_additive - SS_full) / d1) / (SS_full / d2)

d1 is the difference of the ranks of the two models (4 if no cell is empty), and d2 = n - cells. The
test uses the n samples that have a trait and no missing call in the pair.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.engine.schedule.computing import one_blas_thread
from genobit.epistasis.search import Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.arguments import Limits, SearchSpec
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.phenotypes import Trait
    from genobit.epistasis.schedule.search import CombinationSearch

SLOWER = 50
"""Approximate time of F relative to the time of the mutual information of a pair."""
FEW = 5
"""Fewest samples for a reliable mean of a cell."""


def prepared(
    planes: Mapping[str, da.Array],
    layout: Layout,
    phenotype: Trait,
    wanted: SearchSpec,
    limits: Limits,
) -> tuple[CombinationSearch, Callable[[NDArray[np.int64]], Columns]]:
    """Prepare a search of pairs by F, as `genobit.epistasis.search.prepared` does for classes."""
    from genobit.engine.schedule.checkpoints import digest
    from genobit.epistasis.kernels.trait import TraitRule, whole_values
    from genobit.epistasis.schedule.search import CombinationSearch
    from genobit.epistasis.schedule.variants import gathered
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
    times = SLOWER * (1 + wanted.permutations)
    about = {"trait": digest([values.trait, values.squares])}
    work = CombinationSearch(
        classes, wanted.order, wanted.top, score=score, scope=scope, times=times, about=about
    )
    return work, partial(columns, classes, trait=present, exponent=phenotype.exponent)


def _searched(*arguments: Any, **options: Any) -> Any:
    """Call `search_pairs` with one BLAS thread: its sums of a trait are numpy products."""
    from genobit.epistasis.kernels.trait import search_pairs

    with one_blas_thread():
        return search_pairs(*arguments, **options)


def columns(
    classes: Classes, members: NDArray[np.int64], trait: NDArray[np.float64], exponent: int
) -> Columns:
    """Return F, degrees of freedom, p, cell counts and cell means of pairs (rank, 2).

    ``trait`` is divided by 2**exponent.
    """
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
    return Columns(members, of_rank, cells[:, :, None], np.ldexp(means, exponent))
