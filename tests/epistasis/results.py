"""Results of searches, made up for pictures."""

from __future__ import annotations

import itertools

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Page

from genobit.epistasis.search import familywise
from tests.visual.texts import texts_of


def made(order: int = 2, *, ranks: int = 4, classes: int = 2, seed: int = 0) -> xr.Dataset:
    """A ranking of made-up tables over six variants on two contigs."""
    generator = np.random.default_rng(seed)
    variants = np.array(list(itertools.combinations(range(6), order))[:ranks])
    cells = generator.integers(0, 9, (len(variants), 3**order, classes)).astype("i4")
    cells[:, -1] = 0
    contig, position = np.array([0, 0, 0, 1, 1, 1]), np.array([100, 250, 900, 50, 300, 1_250])
    names = np.array(["7", "X"], object)
    return xr.Dataset(
        {
            "variants": (("rank", "order"), variants),
            "mi": ("rank", np.linspace(0.4, 0.1, len(variants))),
            "n": ("rank", cells.sum(axis=(1, 2))),
            "p": ("rank", np.full(len(variants), 1e-5)),
            "sparse": ("rank", np.arange(len(variants)) % 2 == 1),
            "cells": (("rank", "cell", "class"), cells),
        },
        {
            "variant_id": (("rank", "order"), np.array([f"rs{k}" for k in range(6)])[variants]),
            "variant_contig": (("rank", "order"), names[contig[variants]]),
            "variant_position": (("rank", "order"), position[variants]),
            "class": [str(k) for k in range(classes)],
        },
        {"statistic": "mutual_information"},
    )


def permuted(order: int = 2, n: int = 99, ranks: int = 4) -> xr.Dataset:
    """A ranking with permutations, and the p-values that a search gives."""
    result = made(order, ranks=ranks)
    maxima = np.random.default_rng(4).gamma(20, 0.01, n)
    result["permutation_maximum"] = "permutation", maxima
    result["p_familywise"] = "rank", familywise(result["mi"].values, maxima)
    return result


def words(figure: Page) -> list[str]:
    return [text for text, _ in texts_of(figure)]
