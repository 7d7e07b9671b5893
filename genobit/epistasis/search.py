"""Epistasis: rank all combinations of variants by their association with a phenotype.

A combination has k variants, at most 18. It divides the samples into 3^k genotype cells. Samples
with a missing call in the combination are left out. Of the n other samples, n_xc are in cell x and
class c. Cell x has n_x samples in all, and class c has n_c:

    MI   = sum n_xc / n ln(n_xc n / (n_x n_c))                     mutual_information, in nats
    G    = 2 n MI                                                  likelihood ratio of the table
    chi2 = sum (n_xc - n_x n_c / n)^2 / (n_x n_c / n)              chi2, Pearson's
    gain = MI - max MI of the combination without one member       gain, from the same samples
    LR   = 2 sum n_xc ln(n_xc / m_xc)                              boost

m is the fit of the model without an interaction of both variants on the class (Wan et al. 2010,
doi:10.1016/j.ajhg.2010.07.021). Degrees of freedom count only cells, genotypes and classes that are
not empty:

    G, chi2     (cells - 1)(classes - 1)
    LR          (genotypes of one variant - 1)(genotypes of the other - 1)(classes - 1),
                as in plink 1.9 --fast-epistasis boost
    2 n gain    df of G, minus df of G for the best combination without one member

The F test of a trait is in `genobit.epistasis.trait`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.arguments import Limits, SearchSpec
    from genobit.epistasis.kernels.mutual_information import Logarithms
    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.phenotypes import ClassOf
    from genobit.epistasis.schedule.search import CombinationSearch

COLUMNS = {"mutual_information": "mi", "linear": "f", "logistic": "likelihood_ratio"}
"""Columns whose names differ from their statistics."""
CELLS = 2**20
"""Most cells of the tables that are tested at a time; temporary arrays are several times larger."""
MISSING = "complete cases of each combination: n samples without a missing call in its members"


class Columns(NamedTuple):
    """Statistics and cells of ranked combinations, in descending order of score."""

    members: NDArray[np.int64]
    """(rank, order)."""
    of_rank: dict[str, NDArray[Any]]
    """Statistics by name, (rank,)."""
    cells: NDArray[np.int32]
    """Sample counts, (rank, 3^order, class)."""
    means: NDArray[np.float64] | None = None
    """Trait means, (rank, 3^order); None for classes."""


def prepared(
    planes: Mapping[str, da.Array],
    layout: Layout,
    phenotype: ClassOf,
    wanted: SearchSpec,
    limits: Limits,
) -> tuple[CombinationSearch, Callable[[NDArray[np.int64]], Columns]]:
    """Prepare a search of combinations of two or more variants by a statistic of their tables.

    planes: dosage planes of the variants. The second result counts and tests members (rank, order)
    again.
    """
    from genobit.epistasis.schedule.search import CombinationSearch
    from genobit.epistasis.schedule.variants import gathered
    from genobit.epistasis.scope import scope_of

    classes = gathered(planes, layout, phenotype.numbers, len(phenotype.names))
    scope = scope_of(limits, classes, planes, layout, wanted)
    score, held = _scoring(classes, wanted)
    work = CombinationSearch(
        classes,
        wanted.order,
        wanted.top,
        score=score,
        scope=scope,
        held=held,
        times=1 + wanted.permutations,
        about={"permutations": wanted.permutations, "seed": wanted.seed},
    )
    return work, partial(columns, classes, statistic=wanted.statistic)


def tested(ranking: Best, columns: Callable[[NDArray[np.int64]], Columns]) -> Columns:
    """Return the columns of a ranking, with `familywise` p-values if it has permutations."""
    found = columns(ranking.members)
    if ranking.maxima.size:
        found.of_rank["p_familywise"] = familywise(ranking.scores, ranking.maxima)
    return found


def single_variants(
    planes: Mapping[str, da.Array], layout: Layout, phenotype: ClassOf, wanted: SearchSpec
) -> tuple[Best, Columns]:
    """Rank single variants; this computes all tables at once."""
    from genobit.epistasis.kernels.mutual_information import x_log_x
    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.kernels.statistics import ranked_scores
    from genobit.epistasis.kernels.tables import count_cells
    from genobit.epistasis.schedule.units import best_of
    from genobit.epistasis.schedule.variants import gathered

    classes = gathered(planes, layout, phenotype.numbers, len(phenotype.names))
    members = np.arange(classes.planes[0].shape[1])[:, None]
    tables = count_cells(classes, members)
    scores = ranked_scores(tables, _rule(wanted), x_log_x(sum(classes.sizes)))
    kept = ~np.isnan(scores)
    found = best_of(scores[kept], members[kept], wanted.top)
    ranking = Best(*found, scored=len(members), searched=len(members))
    return ranking, columns(classes, ranking.members, wanted.statistic)


def familywise(scores: NDArray[np.float64], maxima: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of permutations with a largest score at least as large: scores (rank,).

    The given order of the samples counts as one permutation.
    """
    # Equal scores of different tables may differ by rounding.
    reached = maxima >= scores[:, None] * (1 - 1e-12)
    return np.asarray((1 + reached.sum(axis=1)) / (1 + maxima.size))


def _scoring(classes: Classes, wanted: SearchSpec) -> tuple[Any, int]:
    """Return the function that scores a block, and the bytes that it holds.

    Raises MemoryError if these exceed ``get_options().eager_limit``.
    """
    from genobit.engine.options import get_options, more_than
    from genobit.epistasis.kernels.permutations import mask_bytes, permuted_masks, search_permuted
    from genobit.epistasis.kernels.search import search

    if not wanted.permutations:
        return partial(search, rule=_rule(wanted)), 0
    size, limit = mask_bytes(classes.sizes, wanted.permutations), get_options().eager_limit
    if size > limit:
        msg = (
            f"{wanted.permutations:,} permutations of {sum(classes.sizes):,} samples take "
            f"{more_than(size, limit)}: ask for fewer permutations=, or raise "
            "gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    masks = permuted_masks(classes.sizes, wanted.permutations, wanted.seed)
    return partial(search_permuted, rule=_rule(wanted), masks=masks), size


def _rule(wanted: SearchSpec) -> Any:
    from genobit.epistasis.kernels import statistics as scores

    number = {
        "mutual_information": scores.MUTUAL_INFORMATION,
        "chi2": scores.CHI2,
        "gain": scores.GAIN,
        "boost": scores.BOOST,
    }[wanted.statistic]
    return scores.Rule(number, wanted.min_n, wanted.min_count)


def columns(classes: Classes, members: NDArray[np.int64], statistic: str) -> Columns:
    """Count combinations (rank, order) again cell by cell, and test them, a few at a time."""
    order = members.shape[1]
    few = max(1, CELLS // (len(classes.sizes) * 3**order))
    cells = np.empty((len(members), 3**order, len(classes.sizes)), np.int32)
    parts = []
    for start in range(0, max(len(members), 1), few):
        of_rank, tables = _tested(classes, members[start : start + few], statistic)
        cells[start : start + few] = tables.transpose(2, 1, 0)
        parts.append(of_rank)
    of_rank = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Columns(members, of_rank, cells)


def _tested(
    classes: Classes, members: NDArray[np.int64], statistic: str
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int32]]:
    """Return the columns of some combinations, and their tables (classes, cells, rank)."""
    from scipy.stats import chi2

    from genobit.epistasis.kernels import statistics as scores
    from genobit.epistasis.kernels.mutual_information import x_log_x
    from genobit.epistasis.kernels.tables import count_cells

    tables = count_cells(classes, members)
    logarithms = x_log_x(sum(classes.sizes))
    cells, groups = tables.sum(axis=0), tables.sum(axis=1)
    n = cells.sum(axis=0)
    information = scores.scores_of(tables, scores.MUTUAL_INFORMATION, logarithms)
    g = 2 * n * information
    df = ((cells > 0).sum(axis=0) - 1) * ((groups > 0).sum(axis=0) - 1)
    of_rank: dict[str, NDArray[Any]] = {"mi": information}
    tested = g
    if statistic == "chi2":
        of_rank["chi2"] = tested = scores.scores_of(tables, scores.CHI2, logarithms)
    elif statistic == "boost":
        of_rank["boost"] = tested = scores.scores_of(tables, scores.BOOST, logarithms)
        df = _interaction_df(tables)
    elif statistic == "gain":
        of_rank["gain"] = scores.scores_of(tables, scores.GAIN, logarithms)
        tested = 2 * n * of_rank["gain"]
        df = df - _best_subset_df(tables, logarithms)
    of_rank |= {
        "g": g,
        "df": df.astype(np.int64),
        "p": np.where(df > 0, chi2.sf(tested, np.maximum(df, 1)), 1.0),
        "n": n.astype(np.int64),
        "sparse": sparse(tables),
    }
    return of_rank, tables


def sparse(tables: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which tables (classes, cells, n) are too sparse for the chi2 distribution, (n,).

    Cochran's rule: an expected count is below 1, or more than a fifth are below 5. Empty cells and
    classes do not count.
    """
    cells, groups = tables.sum(axis=0), tables.sum(axis=1)
    n = np.maximum(cells.sum(axis=0), 1)
    expected = groups[:, None, :] * (cells / n)
    used = (groups[:, None, :] > 0) & (cells > 0)
    low = ((expected < 5) & used).sum(axis=(0, 1))
    none: NDArray[np.bool_] = ((expected < 1) & used).any(axis=(0, 1))
    return none | (5 * low > used.sum(axis=(0, 1)))


def _interaction_df(tables: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the degrees of freedom of the interaction of pairs, as plink 1.9 counts them."""
    pairs = tables.sum(axis=0).reshape(3, 3, -1)
    first = (pairs.sum(axis=1) > 0).sum(axis=0) - 1
    second = (pairs.sum(axis=0) > 0).sum(axis=0) - 1
    return np.asarray(first * second * ((tables.sum(axis=1) > 0).sum(axis=0) - 1))


def _best_subset_df(tables: NDArray[np.int32], logarithms: Logarithms) -> NDArray[np.int64]:
    """Return the degrees of freedom of the best combination without one member."""
    from genobit.epistasis.kernels import statistics as scores

    classes, cells, n = tables.shape
    groups = (tables.sum(axis=1) > 0).sum(axis=0) - 1
    best, df = np.full(n, -1.0), np.zeros(n, np.int64)
    order = round(np.log(cells) / np.log(3))
    for k in range(order):
        shape = (classes, 3**k, 3, 3 ** (order - k - 1), n)
        reduced = np.ascontiguousarray(tables.reshape(shape).sum(axis=2, dtype=np.int32))
        reduced = reduced.reshape(classes, cells // 3, n)
        information = scores.scores_of(reduced, scores.MUTUAL_INFORMATION, logarithms)
        here = ((reduced.sum(axis=0) > 0).sum(axis=0) - 1) * groups
        better = information > best
        best, df = np.where(better, information, best), np.where(better, here, df)
    return df
