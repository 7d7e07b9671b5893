"""The traits of the epistasis explorer, its tables and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from genobit.epistasis.plots.ranking import listed
from genobit.visual.explorer.explorer import Explorer
from genobit.visual.explorer.files import Export, csv_writer

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from genobit.epistasis.result import Ranked


class EpistasisTraits(Explorer):
    """The state of an epistasis explorer: its traits, and the combinations that they list."""

    ranked: Ranked
    classes: list[str]
    _among: np.ndarray
    _listed: np.ndarray

    css = "genobit-epistasis"
    opened_by = "explore.epistasis"
    tabs = ("picture", "ranking", "permutations")
    chosen: Any = traitlets.Int(None, allow_none=True)
    filter = traitlets.Unicode("")
    shown_class = traitlets.Unicode("")
    of_variants = traitlets.Enum(("all", "selected"), "selected")

    # Tables for users.

    @property
    def ranking(self) -> pd.DataFrame:
        """The listed combinations with all columns."""
        return listed(self.ranked, self._listed)

    @property
    def table(self) -> pd.DataFrame:
        """Numbers of samples of each class in the cells of the chosen combination."""
        if self.chosen is None:
            raise ValueError("no combination is chosen; click a row of the table first")
        return self.ranked.cell_table(self.chosen)

    # Files.

    def save_ranking(self, path: str | Path) -> Path:
        """Write the listed combinations to a new .csv file.

        Returns the absolute path. Raises ValueError if no combination is listed, and
        FileExistsError for an existing file.
        """
        found = self.ranking
        if not len(found):
            raise ValueError("no combination is listed; clear the filter first")
        return self._saved_table(path, found, "combination")

    def save_table(self, path: str | Path) -> Path:
        """Write the cells of the chosen combination to a new .csv file.

        Returns the absolute path. Raises ValueError if no combination is chosen, and
        FileExistsError for an existing file.
        """
        writers = {".csv": csv_writer(self.table)}
        return self._saved(path, writers, f"the cells of rank {self.ranked.ranks[self.chosen]}")

    @property
    def exports(self) -> tuple[Export, ...]:
        """Entries of the save menu."""
        cells = "genotypes, and samples of each class, of the chosen combination"
        return (
            *self.papers,
            Export("ranking (CSV)", "_ranking.csv", self.save_ranking, "the listed combinations"),
            Export("cells (CSV)", "_cells.csv", self.save_table, cells),
            self.page,
        )

    # Steps through the list.

    def next_combination(self) -> None:
        """Choose the next combination of the list."""
        self._step(1)

    def previous_combination(self) -> None:
        """Choose the previous combination of the list."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        found = self._listed
        if not len(found):
            raise ValueError("no combination is listed; clear the filter first")
        if self.chosen is None:
            self.chosen = int(found[0])
            return
        ahead = found[found > self.chosen] if direction > 0 else found[found < self.chosen][::-1]
        if not len(ahead):
            where = "last" if direction > 0 else "first"
            raise ValueError(f"this is the {where} combination of the list")
        self.chosen = int(ahead[0])

    # Defaults and validation of traits.

    @traitlets.default("chosen")
    def _best(self) -> int | None:
        return self._first() if self.ranked.size else None

    @traitlets.default("shown_class")
    def _cases(self) -> str:
        return self.classes[-1] if self.classes else ""

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal: Any) -> int | None:
        value = proposal["value"]
        if value is not None and not 0 <= value < self.ranked.size:
            raise traitlets.TraitError(
                f"chosen={value} is outside the combinations 0 to {self.ranked.size - 1}"
            )
        return value

    @traitlets.validate("shown_class")
    def _check_class(self, proposal: Any) -> str:
        value = str(proposal["value"])
        if self.classes and value not in self.classes:
            raise traitlets.TraitError(
                f"shown_class is {value!r}; use one of {', '.join(map(repr, self.classes))}"
            )
        return value

    def _first(self) -> int | None:
        """Return the first combination to show: the best that the selection leaves."""
        if not self._among.size:
            return 0
        left = np.flatnonzero(self._has_some())
        return int(left[0]) if len(left) else None

    def _has_some(self) -> np.ndarray:
        """Return which combinations (rank,) hold a variant that was selected elsewhere."""
        return np.asarray(np.isin(self.ranked.variants, self._among).any(axis=1))
