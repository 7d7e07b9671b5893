"""The plots of searches for interactions, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.epistasis.plots.arcs import epistasis_arcs
from genobit.epistasis.plots.marginals import marginal_effects
from genobit.epistasis.plots.paper_arcs import paper_arcs
from genobit.epistasis.plots.paper_penetrance import paper_penetrance
from genobit.epistasis.plots.paper_permutations import paper_permutations
from genobit.epistasis.plots.paper_ranking import paper_ranking
from genobit.epistasis.plots.penetrance import MOST_MEMBERS, penetrance_heatmap
from genobit.epistasis.plots.ranking import permutation_histogram, ranking_table
from genobit.epistasis.result import is_ranking
from genobit.visual.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable

_TABLES: dict[str, Callable[..., Any]] = {"ranking": ranking_table, "arcs": epistasis_arcs}
_TABLES |= {"marginals": marginal_effects, "permutations": permutation_histogram}
_PAPERS: dict[str, Callable[..., Any]] = {
    "penetrance": paper_penetrance,
    "arcs": paper_arcs,
    "permutations": paper_permutations,
    "ranking": paper_ranking,
}


def _has_cells(data: Any) -> bool:
    """Return whether the genotype cells of a result can be drawn."""
    return (
        is_ranking(data)
        and "cell" in data.dims
        and data.sizes["rank"] > 0
        and data.sizes["order"] <= MOST_MEMBERS
    )


RESULTS = (
    Result(".epistasis()", _has_cells, {"penetrance": penetrance_heatmap, **_TABLES}, _PAPERS),
    Result(".epistasis()", is_ranking, {**_TABLES, "penetrance": penetrance_heatmap}, _PAPERS),
)
PUBLIC = (
    epistasis_arcs,
    marginal_effects,
    penetrance_heatmap,
    permutation_histogram,
    ranking_table,
)
