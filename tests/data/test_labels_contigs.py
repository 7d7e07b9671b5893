"""First variants of contigs: from numbers and from names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from genobit.data.contigs import starts_of_contigs


def with_contigs(variant_contig: Any, contig_id: Any = None) -> xr.Dataset:
    ds = xr.Dataset({"variant_contig": ("variants", np.asarray(variant_contig))})
    return ds if contig_id is None else ds.assign(contig_id=("contigs", np.asarray(contig_id)))


@given(
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    names=st.lists(st.sampled_from(["1", "2", "X"]), min_size=5, max_size=5),
    order=st.permutations(range(5)),
)
def test_starts_of_contigs__equal_those_of_the_names(
    sizes: list[int], names: list[str], order: list[int]
) -> None:
    numbers = np.repeat(order[: len(sizes)], sizes)
    contig = [names[k] for k in numbers]
    runs = [k for k in range(len(contig)) if not k or contig[k] != contig[k - 1]]
    again = [k for k in runs if contig[k] in contig[:k]]
    if again:
        with pytest.raises(ValueError, match=f"contig {contig[again[0]]} starts again at "):
            starts_of_contigs(with_contigs(numbers, names))
    else:
        assert starts_of_contigs(with_contigs(numbers, names)).tolist() == (runs or [0])


@pytest.mark.parametrize("contig", [["b", "b", "a"], [7, 7, 3], [0.5, 0.5, 2.0]])
def test_starts_of_contigs__without_contig_id(contig: list[Any]) -> None:
    np.testing.assert_array_equal(starts_of_contigs(with_contigs(contig)), [0, 2])


@pytest.mark.parametrize(
    ("contig", "names", "name"),
    [(["b", "a", "b"], None, "b"), ([7, 3, 7], None, "7"), ([1, 0, 1], ["x", "y"], "y")],
)
def test_starts_of_contigs__name_the_contig_that_starts_again(
    contig: list[Any], names: list[str] | None, name: str
) -> None:
    with pytest.raises(ValueError, match=f"contig {name} starts again at variants=2: sort"):
        starts_of_contigs(with_contigs(contig, names))
