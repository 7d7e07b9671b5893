"""Arguments that choose variants, samples or rows take their names as well as their indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.measurements import expression
from tests.helpers.prints import prints, rows_of

GENES = expression(12, 20)
PRINTS = prints(rows_of(1, 9, 70), (9, 70)).assign_coords(molecule=[f"m{k}" for k in range(9)])


def boxes(selected: Any) -> list[Any]:
    """What a matrix with marked samples has in its rectangles."""
    drawn = cohort(random_calls(3, 60, 12)).genobit.grm().genobit.plot(selected=selected).hv
    return [part.data for part in drawn.traverse(specs=[hv.Rectangles])]


OTHERS: dict[str, Callable[[Any], xr.DataArray]] = {
    "kendall": lambda other: GENES.genobit.kendall(other=other),
    "similarity": lambda other: PRINTS.genobit.similarity(other=other),
}
ROWS = {"kendall": GENES, "similarity": PRINTS}


@pytest.mark.parametrize("method", OTHERS)
@pytest.mark.parametrize("kind", [list, np.array, tuple])
def test_other__takes_names_of_rows(method: str, kind: Any) -> None:
    rows = ROWS[method]
    dim = str(rows.dims[0])
    names = rows[dim].values[[5, 2]].tolist()
    right = OTHERS[method](rows.isel({dim: [5, 2]}))
    xr.testing.assert_identical(OTHERS[method](kind(names)), right)
    xr.testing.assert_identical(OTHERS[method](names[0]), right[:, :1])
    with pytest.raises(KeyError, match=f"'nobody' is not in {dim}"):
        OTHERS[method]([names[0], "nobody"])


def test_selected_samples__are_named() -> None:
    for named, numbered in ((["s3", "s1"], [3, 1]), ("s3", [3])):
        for found, right in zip(boxes(named), boxes(numbered), strict=True):
            assert found.equals(right) if hasattr(found, "equals") else found == right
    assert len(boxes("s3")) > 0
    with pytest.raises(KeyError, match="'s99' is not in sample_id"):
        boxes(["s99"])
    with pytest.raises(IndexError, match="selected is 12, and the result has the 12 samples 0 to"):
        boxes([12])
