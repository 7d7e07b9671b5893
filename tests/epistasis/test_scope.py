"""What a set of variants must not change: scores of the combinations that it leaves."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from genobit.engine.bits.layout import Layout
from genobit.epistasis import phenotypes, trait
from genobit.epistasis import search as epistasis
from genobit.epistasis.arguments import Limits, SearchSpec, members_of
from tests.epistasis.schedule.combinations import dosages, rows_of

VARIANTS, SAMPLES = 14, 301
SEARCHES = [
    ("mutual_information", 2),
    ("mutual_information", 3),
    ("mutual_information", 6),
    ("chi2", 3),
    ("gain", 3),
    ("boost", 2),
    ("f", 2),
]


def search(statistic: str, order: int, seed: int, limits: Limits, top: int) -> Any:
    """A search of dosages of which a few are missing, some variants twice."""
    rows = rows_of(dosages(seed, VARIANTS, SAMPLES, 0.02))
    planes = {"called": rows.call_mask(), "carrier": rows.planes[0], "hom_alt": rows.planes[1]}
    lazy = {name: da.from_array(plane) for name, plane in planes.items()}
    layout = Layout("dosage", "variants", SAMPLES, 1)
    rng = np.random.default_rng(seed)
    wanted = SearchSpec(order, top, statistic, 0, 0, 0, 0)
    phenotype: Any
    if statistic == "f":
        phenotype = phenotypes.trait(rng.normal(size=SAMPLES), "trait")
        return trait.prepared(lazy, layout, phenotype, wanted, limits)[0]
    phenotype = phenotypes.classes(rng.random(SAMPLES) < 0.4, "case")
    return epistasis.prepared(lazy, layout, phenotype, wanted, limits)[0]


@pytest.mark.parametrize(("statistic", "order"), SEARCHES)
@pytest.mark.parametrize("two", [False, True])
def test_sets__do_not_change_a_bit_of_a_score(statistic: str, order: int, two: bool) -> None:
    one, other = np.zeros((2, VARIANTS), bool)
    one[[2, 5, 7]] = other[[0, 1, 7, 13]] = True
    limits = Limits((one, other if two else None))
    with dask.config.set(scheduler="sync"):
        every = search(statistic, order, 3, Limits(), 10**4).run()
        some = search(statistic, order, 3, limits, 10**4).run()
        scores = dict(zip(map(tuple, every.members.tolist()), every.scores.tolist(), strict=True))
        members = [tuple(m) for m in some.members.tolist()]
        assert 10 <= len(members) < len(scores)
        assert some.scores.tolist() == [scores[m] for m in members]
        for top in (1, 7, 20):
            few = search(statistic, order, 3, limits, top).run()
            np.testing.assert_array_equal(few.scores, some.scores[:top])
            np.testing.assert_array_equal(few.members, some.members[:top])


def test_names__may_be_of_any_length_as_zarr_has_them() -> None:
    ids = np.array(["rs1", "a long name", "rs3"], np.dtypes.StringDType())
    for given in (["a long name"], ids[1:2]):
        assert members_of("variants_0", given, 3, ids).tolist() == [False, True, False]


@pytest.mark.parametrize(("size", "words"), [(1, "1 variant"), (2, "2 variants")])
def test_sets__are_counted_in_words(size: int, words: str) -> None:
    mask = np.arange(6) < size
    assert Limits((mask, None)).described(None) == {"variants_0": words}
