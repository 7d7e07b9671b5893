"""Cohorts for searches of combinations, and all combinations scored one by one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import dask.array as da
import numpy as np

from genobit.engine.bits.layout import Layout
from genobit.engine.bits.planes import PlaneRows
from genobit.epistasis.kernels.tables import Classes, by_class
from genobit.epistasis.schedule.units import chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from genobit.epistasis.kernels.search import Best
    from genobit.epistasis.schedule.search import CombinationSearch


def dosages(seed: int, variants: int, samples: int, missing: float) -> np.ndarray:
    """-1 is missing; the last two variants are copies of the first two, so that scores tie."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, 3, (variants, samples)).astype(np.int8)
    out[rng.random(out.shape) < missing] = -1
    out[-2:] = out[:2]
    return out


def packed(bits: np.ndarray) -> np.ndarray:
    words = -(-bits.shape[1] // 64)
    octets = np.zeros((len(bits), 8 * words), np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view(np.uint64)


def rows_of(dosage: np.ndarray) -> PlaneRows:
    called = packed(dosage >= 0) if (dosage < 0).any() else None
    return PlaneRows(
        haplotypes=False,
        bits=dosage.shape[1],
        planes=(packed(dosage >= 1), packed(dosage == 2)),
        called=called,
    )


def planes_of(dosage: np.ndarray, chunk: int) -> tuple[dict[str, da.Array], Layout]:
    """Planes of dosages in chunks of so many variants."""
    rows = rows_of(dosage)
    named = {"carrier": rows.planes[0], "hom_alt": rows.planes[1]}
    if rows.called is not None:
        named["called"] = rows.called
    planes = {name: da.from_array(plane, chunks=(chunk, -1)) for name, plane in named.items()}
    return planes, Layout("dosage", "variants", dosage.shape[1], 1)


def groups(seed: int, samples: int) -> np.ndarray:
    """Classes 0 and 1, and -1 for a few that are left out."""
    return np.random.default_rng(seed + 1).choice([0, 1, -1], samples, p=[0.5, 0.45, 0.05])


def cohort(seed: int, variants: int, samples: int, missing: float = 0.0) -> Classes:
    return by_class(rows_of(dosages(seed, variants, samples, missing)), groups(seed, samples), 2)


def divided(search: CombinationSearch, unit: int, *, p: int | None = None) -> CombinationSearch:
    """The search in units of so many combinations, with first parts of ``p`` members if given."""
    cut, classes = search.work.cut, search.classes
    if p is not None:
        cut = chosen(cut.variants, cut.order, classes.sizes, complete=classes.complete, p=p)
    search.work = search.work._replace(cut=cut._replace(unit=unit))
    return search


def information(dosage: np.ndarray, group: np.ndarray, members: tuple[int, ...]) -> float:
    """Mutual information of one combination, complete cases."""
    use = (group >= 0) & (dosage[list(members)] >= 0).all(axis=0)
    cell = np.ravel_multi_index(dosage[list(members)][:, use], (3,) * len(members))
    joint = np.zeros((3 ** len(members), 2))
    np.add.at(joint, (cell, group[use]), 1 / use.sum())
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


def every(
    seed: int,
    variants: int,
    samples: int,
    missing: float,
    order: int,
    wanted: Callable[[tuple[int, ...]], bool] = lambda _: True,
) -> dict[tuple[int, ...], float]:
    dosage, group = dosages(seed, variants, samples, missing), groups(seed, samples)
    return {
        members: information(dosage, group, members)
        for members in itertools.combinations(range(variants), order)
        if wanted(members)
    }


def check(ranking: Best, expected: dict[tuple[int, ...], float], top: int) -> None:
    """The ranking is that of all combinations; ties to a rounding are in either order."""
    assert ranking.searched == len(expected)
    assert not ranking.partial
    best = sorted(expected.values(), reverse=True)[:top]
    np.testing.assert_allclose(ranking.scores, best, rtol=1e-11)
    found = [tuple(members) for members in ranking.members.tolist()]
    assert len(set(found)) == len(found)
    for members, score in zip(found, ranking.scores, strict=True):
        np.testing.assert_allclose(score, expected[members], rtol=1e-11)
    order = np.lexsort((*ranking.members.T[::-1], -ranking.scores))
    np.testing.assert_array_equal(order, np.arange(len(order)))


def same(a: Best, b: Best) -> None:
    """All that two runs found is the same to the last bit."""
    for name, one, other in zip(a._fields, a, b, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
