"""Functions that draw or list labelled results. Drawings are HoloViews objects.

The functions make no widgets. They only select, bin and colour values. Notebooks display the
objects without ``hv.extension()``; combine them with ``+`` and ``*``. `result.genobit.plot()` draws
any result as a `genobit.visual.figure.Figure`.
"""

from __future__ import annotations

from typing import NoReturn

import genobit.visual  # noqa: F401  first, as it says which package is missing
from genobit.engine.synonyms import own_name
from genobit.epistasis.plots.arcs import epistasis_arcs
from genobit.epistasis.plots.marginals import marginal_effects
from genobit.epistasis.plots.penetrance import penetrance_heatmap
from genobit.epistasis.plots.ranking import permutation_histogram, ranking_table
from genobit.grm.plots.heatmap import grm_heatmap
from genobit.grm.plots.kinship import closest_pairs, kinship_histogram
from genobit.kendall.plots.edges import degree_histogram, draw_edges, strongest_edges
from genobit.kendall.plots.heatmap import kendall_heatmap, pair_scatter
from genobit.kendall.plots.network import kendall_network
from genobit.ld.plots.decay import ld_decay
from genobit.ld.plots.heatmap import ld_heatmap, ld_triangle
from genobit.ld.plots.lead_track import ld_track
from genobit.parsimony.plots.homoplasy import homoplasy_track, site_table
from genobit.parsimony.plots.search_trace import search_trace
from genobit.parsimony.plots.tanglegram import tanglegram
from genobit.parsimony.plots.tree import parsimony_tree
from genobit.pca.plots.scatter import pca_scatter
from genobit.quality.plots.spectrum import allele_frequency_spectrum
from genobit.visual.figure import display_in_notebooks
from genobit.visual.plot_options import styled

display_in_notebooks()

# Apply the size and background of the options. Explorers call the original functions.
allele_frequency_spectrum = styled(allele_frequency_spectrum)
degree_histogram = styled(degree_histogram)
epistasis_arcs = styled(epistasis_arcs)
grm_heatmap = styled(grm_heatmap)
homoplasy_track = styled(homoplasy_track)
kendall_heatmap = styled(kendall_heatmap)
kendall_network = styled(kendall_network)
kinship_histogram = styled(kinship_histogram)
ld_decay = styled(ld_decay)
ld_heatmap = styled(ld_heatmap)
ld_track = styled(ld_track)
ld_triangle = styled(ld_triangle)
marginal_effects = styled(marginal_effects)
pair_scatter = styled(pair_scatter)
parsimony_tree = styled(parsimony_tree)
pca_scatter = styled(pca_scatter)
penetrance_heatmap = styled(penetrance_heatmap)
permutation_histogram = styled(permutation_histogram)
ranking_table = styled(ranking_table)
search_trace = styled(search_trace)
tanglegram = styled(tanglegram)

__all__ = [
    "allele_frequency_spectrum",
    "closest_pairs",
    "degree_histogram",
    "draw_edges",
    "epistasis_arcs",
    "grm_heatmap",
    "homoplasy_track",
    "kendall_heatmap",
    "kendall_network",
    "kinship_histogram",
    "ld_decay",
    "ld_heatmap",
    "ld_track",
    "ld_triangle",
    "marginal_effects",
    "pair_scatter",
    "parsimony_tree",
    "pca_scatter",
    "penetrance_heatmap",
    "permutation_histogram",
    "ranking_table",
    "search_trace",
    "site_table",
    "strongest_edges",
    "tanglegram",
]


def __getattr__(name: str) -> NoReturn:
    meant = "" if name.startswith("_") else own_name(name, __all__)
    msg = f"module 'genobit.plots' has no attribute {name!r}{meant}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    dunders = {name for name in globals() if name.startswith("__") and name.endswith("__")}
    return sorted({*dunders, *__all__})
