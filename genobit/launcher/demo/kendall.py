"""Rank correlation of simulated expression: all pairs, and the network of the strong ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from genobit.launcher.demo.sample import Sample, write
from genobit.visual.report.sections import Figure, Part, Section, Table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from genobit.data.pairs.network import Network
    from genobit.visual.report.sections import Stopwatch

#: An edge of the network has at least this |tau|, and at most this false discovery rate.
MIN_TAU = 0.6
FDR = 0.01
MODULE = "gene_module"
#: Numbers of genes on which scipy and pandas are timed.
SCIPY_GENES, PANDAS_GENES = 20, 150
#: Evenly spread variants for the rank correlation of genotypes.
VARIANTS = 5000
STRONG = 0.5
STRONGEST = 8


def compile_kernels(bits: xr.Dataset, expr: xr.DataArray) -> None:
    """Make the section's calls on few variants, which compiles their kernels.

    All genes are used, because the choice of the kernel depends on their number.
    """
    expr.genobit.kendall("tau_b", pvalue=True, compute=True)
    expr.genobit.kendall_pairs(threshold=MIN_TAU, fdr=FDR).to_dataframe()
    abs(bits.genobit.kendall("tau_b", dtype="float32")).max().compute()


def section(sample: Sample, watch: Stopwatch) -> Section:
    """Compute and draw the section, and write the table and the network of correlated genes."""
    expr, table = sample.expr, sample.folder / "kendall_pairs.parquet"
    tau = all_pairs(expr, watch)
    step = "Network of correlated genes, to Parquet and GraphML"
    with watch.step(step) as notes:
        found_pairs = expr.genobit.kendall_pairs(threshold=MIN_TAU, fdr=FDR)
        write(found_pairs, table)
        pairs = found_pairs.to_network()
        pairs.to_graphml(table.with_suffix(".graphml"))
        notes.append(f"{len(pairs):,} pairs with |τ| of at least {MIN_TAU}")
    found = communities(expr, pairs)
    genotypes(sample.ds, watch)
    with watch.step("Three pictures of correlations") as notes:
        figures = draw(expr, tau, pairs)
        notes.append(f"{pairs.degree().size} genes")
    return Section(
        PART.title,
        f"Kendall's τ-b of all pairs of {expr.sizes['gene']:,} genes in {expr.sizes['sample']} "
        "samples, simulated as 18 modules of co-expressed genes, and noise. "
        f"{len(pairs):,} pairs have a |τ| of at least {MIN_TAU} at a false discovery rate of "
        f"{FDR:.0%}. They are beside this page: in {table.name}, and in "
        f"{table.with_suffix('.graphml').name} for Cytoscape or Gephi.",
        (*figures, recovered(found), strongest(expr, pairs)),
    )


def all_pairs(expr: xr.DataArray, watch: Stopwatch) -> xr.Dataset:
    """Compute tau, p-values and n of all pairs of genes, and time scipy and pandas on some."""
    n_genes, n_samples = expr.sizes["gene"], expr.sizes["sample"]
    n_pairs = n_genes * (n_genes - 1) // 2
    work = f"{n_pairs:,} pairs of {n_samples} samples"
    with watch.step("Kendall's τ-b and p-values of genes", work):
        # CPU time of all threads, so that other programs do not change the ratios.
        begin = time.process_time()
        tau = expr.genobit.kendall("tau_b", pvalue=True, compute=True)
        ours = (time.process_time() - begin) / n_pairs
    with watch.step("The same by scipy.stats.kendalltau") as notes:
        notes.extend(compared(scipy_pairs(expr[:SCIPY_GENES]), ours))
    with watch.step('τ-b alone by pandas .corr("kendall")') as notes:
        notes.extend(compared(pandas_pairs(expr[:PANDAS_GENES]), ours))
    return tau


def compared(theirs: tuple[int, float], ours: float) -> tuple[str, str]:
    """Return the number of timed pairs and their CPU time per pair relative to genobit, as text.

    `theirs` is (pairs, CPU seconds per pair), and `ours` is CPU seconds per pair.
    """
    pairs, seconds = theirs
    return f"{pairs:,} of the pairs", f"{seconds / ours:,.0f} times the CPU time of a pair above"


def scipy_pairs(expr: xr.DataArray) -> tuple[int, float]:
    """Time ``scipy.stats.kendalltau`` on all pairs; return their number and CPU time per pair."""
    from itertools import combinations

    from scipy.stats import kendalltau

    pairs = list(combinations(expr.values, 2))
    # Do not time the first call, which imports modules.
    kendalltau(*pairs[0])
    begin = time.process_time()
    for x, y in pairs:
        kendalltau(x, y)
    return len(pairs), (time.process_time() - begin) / len(pairs)


def pandas_pairs(expr: xr.DataArray) -> tuple[int, float]:
    """Time ``DataFrame.corr("kendall")``; return the number of pairs and CPU time per pair."""
    import pandas as pd

    genes = pd.DataFrame(expr.values.T)
    begin = time.process_time()
    genes.corr("kendall")
    pairs = genes.shape[1] * (genes.shape[1] - 1) // 2
    return pairs, (time.process_time() - begin) / pairs


def genotypes(bits: xr.Dataset, watch: Stopwatch) -> None:
    """Count pairs of variants that are strongly correlated by rank."""
    every = max(bits.sizes["variants"] // VARIANTS, 1)
    spread = bits.genobit.isel(variants=slice(None, None, every))
    n_variants = spread.sizes["variants"]
    n_pairs = n_variants * (n_variants - 1) // 2
    work = f"{n_pairs:,} pairs of {bits.sizes['samples']:,} dosages"
    with watch.step("Kendall's τ-b of variants, tile by tile", work) as notes:
        tau = spread.genobit.kendall("tau_b", dtype="float32")
        strong = int((abs(tau) >= STRONG).sum())
        # The diagonal holds no pairs, and every pair occurs twice.
        notes.append(f"{(strong - n_variants) / 2 / n_pairs:.2%} reach |τ| = {STRONG}")


def draw(expr: xr.DataArray, tau: xr.Dataset, pairs: Network) -> tuple[Figure, ...]:
    """Draw the three pictures of the section.

    `tau` has all pairs of genes with p-values; `pairs` has the strong ones.
    """
    from genobit import plots
    from genobit.visual.colouring import colouring

    joined = expr["gene"].isin(pairs.degree().index).values
    first = plots.strongest_edges(pairs, 1).iloc[0]
    x, y = (expr.sel(gene=first[side]).rename(first[side]) for side in ("name_0", "name_1"))
    condition = colouring("sample_condition", expr["sample_condition"].values)
    return (
        Figure(
            "Network of correlated genes",
            "Each node is a gene, sized by its number of edges and coloured by its simulated "
            "module. Edges were computed without the modules. Components are drawn apart. The key "
            "shows the colours of positive and negative correlations.",
            plots.kendall_network(pairs, colour_by=expr[MODULE]),
        ),
        Figure(
            "All pairs of the correlated genes",
            f"τ of the {joined.sum()} genes of the network, ordered by a clustering tree. Modules "
            "are squares along the diagonal. Paler squares around them join modules that share "
            "part of their signal. A gene with a negative correlation to its module has the colour "
            "of negative τ in the rows and columns of this module.",
            plots.kendall_heatmap(tau.isel(gene_0=joined, gene_1=joined)),
        ),
        Figure(
            "The strongest pair",
            "Each point is a sample. τ is the share of pairs of samples that both genes put in "
            "the same order, minus the share in opposite order. The relation need not be linear.",
            plots.pair_scatter(x, y, tau=first["tau"], pvalue=first["pvalue"], colour_by=condition),
        ),
    )


def communities(expr: xr.DataArray, pairs: Network) -> pd.DataFrame:
    """Compare the communities of the network with the simulated modules of the genes.

    The result has a row for each community. ``genes`` is its number of genes, and ``module`` its
    most frequent module. ``within`` counts its genes of that module. ``hub`` is its gene with most
    edges.
    """
    import pandas as pd

    degree = pairs.degree()
    genes = pd.DataFrame(
        {
            "community": pairs.communities(),
            "module": expr[MODULE].to_series(),
            "degree": degree,
        }
    ).loc[degree.index]
    groups = genes.groupby("community")
    return pd.DataFrame(
        {
            "genes": groups.size(),
            "module": groups["module"].agg(lambda names: names.mode()[0]),
            "within": groups["module"].agg(lambda names: names.value_counts().iloc[0]),
            "hub": groups["degree"].idxmax(),
        }
    )


def recovered(found: pd.DataFrame) -> Table:
    """Return communities and modules as a table."""
    genes, within = found["genes"].sum(), found["within"].sum()
    return Table(
        "Communities and modules",
        f"{len(found)} communities (Louvain), largest first, each with the simulated module of "
        f"most of its genes. {within} of {genes} genes belong to the module of their community. "
        "The hub is the gene with the most edges.",
        {
            "hub": found["hub"].tolist(),
            "module": [name or "noise" for name in found["module"]],
            "genes": [str(count) for count in found["genes"]],
            "of the module": [str(count) for count in found["within"]],
        },
        frozenset({"genes", "of the module"}),
    )


def strongest(expr: xr.DataArray, pairs: Network) -> Table:
    """Return the strongest pairs of the network as a table."""
    from genobit import plots

    found = plots.strongest_edges(pairs, STRONGEST)
    module = expr[MODULE].to_series()
    return Table(
        "The strongest pairs",
        "Pairs of highest |τ|. q is the false discovery rate of Benjamini and Hochberg over all "
        "pairs of genes.",
        {
            "gene": found["name_0"].tolist(),
            "with": found["name_1"].tolist(),
            "modules": [
                " and ".join(dict.fromkeys(module[[x, y]]))
                for x, y in zip(found["name_0"], found["name_1"], strict=True)
            ],
            "τ": [f"{value:.3f}" for value in found["tau"]],
            "p": [f"{value:.1e}" for value in found["pvalue"]],
            "q": [f"{value:.1e}" for value in found["qvalue"]],
        },
        frozenset({"τ", "p", "q"}),
    )


PART = Part("Rank correlation", lambda _: "", section)
