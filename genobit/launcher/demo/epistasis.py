"""Epistasis in the sample: the planted pair and triple, found among all pairs and triples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.visual.report.sections import Figure, Part, Section, Table

if TYPE_CHECKING:
    import xarray as xr

    from genobit.launcher.demo.sample import Sample
    from genobit.visual.report.sections import Stopwatch

CASE = "sample_case"
#: Evenly spread variants that are searched together with the planted ones, by order.
VARIANTS = {2: 500, 3: 120}
PERMUTATIONS = 49
TOP = 8


def compile_kernels(bits: xr.Dataset) -> None:
    """Make the section's calls on few variants, which compiles their kernels."""
    few = bits.genobit.isel(variants=slice(0, 50))
    few.genobit.epistasis(CASE, top=TOP, permutations=2)
    few.genobit.epistasis(CASE, order=3, top=TOP)


def section(sample: Sample, watch: Stopwatch) -> Section:
    """Search all pairs and triples, draw the pictures and return the section."""
    found = {}
    for order, planted, name in ((2, "pair", "pairs"), (3, "triple", "triples")):
        searched = spread(sample.ds, VARIANTS[order], f"variant_planted_{planted}")
        permutations = PERMUTATIONS if order == 2 else 0
        with watch.step(f"Epistasis, all {name}") as notes:
            found[order] = searched.genobit.epistasis(
                CASE, order=order, top=TOP, permutations=permutations, seed=1
            )
            notes.append(f"{found[order].attrs['combinations']:,} {name}")
            if permutations:
                notes.append(f"and as many under each of {permutations} permutations")
    with watch.step("Three pictures of interactions"):
        figures = draw(found[2], found[3])
    return Section(
        PART.title,
        "Cases were simulated from a pair and a triple of variants without marginal effects. All "
        "pairs and all triples of evenly spread variants were scored by their mutual information "
        "with the phenotype. " + " ".join(rank_of_planted(top) for top in found.values()),
        (*figures, ranking(found[2])),
    )


def spread(bits: xr.Dataset, count: int, planted: str) -> xr.Dataset:
    """Select about `count` evenly spread variants, and the planted ones.

    The phenotype was simulated from the planted variants.
    """
    every = max(bits.sizes["variants"] // count, 1)
    rows = np.arange(0, bits.sizes["variants"], every)
    return bits.genobit.isel(variants=np.union1d(rows, np.flatnonzero(bits[planted].values)))


def rank_of_planted(top: xr.Dataset) -> str:
    """Return a sentence with the rank of the planted combination."""
    name = {2: "pair", 3: "triple"}[top.attrs["order"]]
    planted = top[f"variant_planted_{name}"].values.all(axis=1)
    count = f"{top.attrs['combinations']:,} {name}s"
    if not planted.any():
        return f"Of {count}, the simulated one is not among the first {TOP}."
    return f"Of {count}, the simulated one has rank {int(np.argmax(planted)) + 1}."


def draw(pairs: xr.Dataset, triples: xr.Dataset) -> tuple[Figure, ...]:
    """Draw the best pair, each of its members, and the best triple."""
    from genobit import plots

    return (
        Figure(
            "Penetrance of the best pair",
            "The share of cases among the samples of each of the nine genotypes. It is high where "
            "exactly one of the two variants is heterozygous.",
            plots.penetrance_heatmap(pairs),
        ),
        Figure(
            "Its variants alone",
            "The same samples by the genotype of one variant. A search of single variants would "
            "miss both, and so would a search of pairs among the best single variants.",
            plots.marginal_effects(pairs),
        ),
        Figure(
            "Penetrance of the best triple",
            "One square for each genotype of the third variant.",
            plots.penetrance_heatmap(triples),
        ),
    )


def ranking(pairs: xr.Dataset) -> Table:
    """Return the best pairs as a table."""
    names = pairs["variant_id"].values.astype(object)
    numbers = {
        "mutual information": [f"{value:.4f}" for value in pairs["mi"].values],
        "p": [f"{value:.1e}" for value in pairs["p"].values],
        "p of the search": [f"{value:.2f}" for value in pairs["p_familywise"].values],
    }
    return Table(
        "The best pairs",
        "p is the p-value of the pair if it were tested alone. p of the search is the share of "
        f"data sets whose best pair scores as high, among the data and {PERMUTATIONS} "
        "permutations. Lower ranks are pairs of a simulated variant and a neighbour of the other "
        "simulated variant, or chance.",
        {"variant": names[:, 0].tolist(), "with": names[:, 1].tolist(), **numbers},
        frozenset(numbers),
    )


PART = Part("Epistasis", lambda _: "", section)
