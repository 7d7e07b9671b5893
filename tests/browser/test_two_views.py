"""An explorer that is shown twice, in JupyterLab, Notebook 7 and Voila."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.hosts import in_hosts
from tests.browser.jupyterlab import says, until
from tests.browser.two_views import CELLS, are_sound, follow_each_other

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OPENS = in_hosts("two-views", CELLS, 1600, 2600)


def test_two_views_follow_each_other(opened: Any) -> None:
    are_sound(opened)
    follow_each_other(opened)


def test_a_row_of_one_view_is_selected_in_the_other(opened: Any) -> None:
    opened.locator(".genobit-ld-tab-variants").first.click()
    tables = opened.locator(".genobit-table:has(.slick-row)")
    until(lambda: tables.count() == 2, "the table in both views")
    tables.nth(0).locator(".slick-row").nth(2).click()
    for k in range(2):
        cells = tables.nth(k).locator(".slick-row").nth(2).locator(".slick-cell.selected")
        until(lambda cells=cells: cells.count() > 0, f"the row in view {k}", 30)
    opened.locator(".genobit-ld-tab-picture").first.click()
    says(opened.locator(".genobit-ld-card").nth(1).inner_text, "position")
