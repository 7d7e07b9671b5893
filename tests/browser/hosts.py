"""One notebook in JupyterLab, Notebook 7 and Voila."""

from __future__ import annotations

from typing import Any

from tests.browser.jupyterlab import Lab, Notebook


class InNotebook7(Notebook):
    """A notebook in Notebook 7."""

    def address(self, lab: Lab) -> str:
        return f"{lab.address}/notebooks/{self.name}.ipynb?token={lab.token}"


class InVoila(Notebook):
    """A notebook as an app: Voila runs its cells for each page."""

    def address(self, lab: Lab) -> str:
        return f"{lab.address}/voila/render/{self.name}.ipynb?token={lab.token}"

    @staticmethod
    def wait(page: Any) -> None:
        """Until the last cell shows its explorer: cells appear when they have run."""
        last = page.locator("[cell-index]").last
        last.locator(".genobit-framed").wait_for(timeout=1_200_000)

    def close(self, page: Any, lab: Lab) -> None:
        """Close the page, with which Voila ends the kernel."""
        page.close()


def in_hosts(name: str, cells: tuple[str, ...], width: int, height: int) -> list[Notebook]:
    """The notebook in each of the three."""
    return [
        Notebook(f"{name}-lab", cells, width, height),
        InNotebook7(f"{name}-notebook7", cells, width, height, "notebook7"),
        InVoila(f"{name}-voila", cells, width, height, "apps"),
    ]
