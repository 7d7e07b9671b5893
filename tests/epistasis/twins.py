"""Scores of tables, and rankings that are right."""

from __future__ import annotations

import itertools
import math

import numpy as np
import xarray as xr

from tests.helpers import reference

SCORES = {
    "mutual_information": reference.mutual_information,
    "chi2": reference.pearson_chi2,
    "gain": reference.information_gain,
}


COLUMN = {"mutual_information": "mi", "chi2": "chi2", "gain": "gain", "boost": "boost"}


def every_table(
    calls: np.ndarray, labels: np.ndarray, order: int
) -> dict[tuple[int, ...], np.ndarray]:
    """Tables of all combinations by members."""
    dosages, classes = reference.dosages(calls), labels.max() + 1
    return {
        members: reference.genotype_table(dosages[list(members)], labels, classes)
        for members in itertools.combinations(range(len(calls)), order)
    }


def assert_ranked(top: xr.Dataset, scores: dict[tuple[int, ...], float], count: int) -> None:
    """The ranking holds the best of the scores, best first."""
    column = COLUMN[top.attrs["statistic"]]
    known = {members: score for members, score in scores.items() if not math.isnan(score)}
    best = sorted(known.values(), reverse=True)[:count]
    members = [tuple(m) for m in top.variants.values.tolist()]
    assert len(set(members)) == len(members) == len(best)
    np.testing.assert_allclose(top[column].values, best, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(top[column].values, [known[m] for m in members], atol=1e-10)


def information(counts: np.ndarray) -> float:
    """Mutual information in nats, from the definition."""
    n = counts.sum()
    if n == 0:
        return math.nan
    total = 0.0
    for label, cell in zip(*np.nonzero(counts), strict=True):
        both = counts[label, cell]
        total += both / n * math.log(both * n / (counts[label].sum() * counts[:, cell].sum()))
    return total
