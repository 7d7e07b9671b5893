"""Epistasis explorers of searches of order 2 and 4: their pictures need other rows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.explorers import EPISTASIS
from tests.browser.fitting import fits
from tests.browser.jupyterlab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHOW = """some = ds.isel(variants=slice(0, 60, 2))
found = some.genobit.epistasis("sample_case", order={0}, seed=1)
some.genobit.explore.epistasis(found).add_class("of-order-{0}")"""
ORDERS = (2, 4)
OPENS = Notebook(
    "epistasis-orders", (EPISTASIS.data, *(SHOW.format(k) for k in ORDERS)), 1700, 1900
)


@pytest.mark.parametrize("order", ORDERS)
def test_frame_is_whole(opened: Any, order: int) -> None:
    for view in ("genome", "cells", "marginals"):
        opened.locator(f".of-order-{order} .genobit-epistasis-{view} .bk-Figure").first.wait_for()
    fits(opened, f"of-order-{order}")
