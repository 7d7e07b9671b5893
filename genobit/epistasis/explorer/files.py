"""Files of the epistasis explorer: the ranking, and the cells of a combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.visual.files import Export, csv_writer

if TYPE_CHECKING:
    from pathlib import Path


class EpistasisFiles:
    """Methods of the explorer that save files."""

    def save_ranking(self: Any, path: str | Path) -> Path:
        """Write the listed combinations to a new file.

        Parameters
        ----------
        path
            Path of the file, with the extension .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If no combination is listed, or the extension is not .csv.
        FileExistsError
            If the file exists.
        """
        found = self.ranking
        if not len(found):
            raise ValueError("no combination is listed; clear the filter first")
        return self._saved_table(path, found, "combination")

    def save_table(self: Any, path: str | Path) -> Path:
        """Write the cells of the chosen combination to a new file.

        Parameters
        ----------
        path
            Path of the file, with the extension .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If no combination is chosen, or the extension is not .csv.
        FileExistsError
            If the file exists.
        """
        writers = {".csv": csv_writer(self.table)}
        return self._saved(path, writers, f"the cells of rank {self.ranked.ranks[self.chosen]}")

    @property
    def exports(self: Any) -> tuple[Export, ...]:
        """Items of the save menu."""
        cells = "genotypes, and samples of each class, of the chosen combination"
        return (
            Export("ranking (CSV)", "_ranking.csv", self.save_ranking, "the listed combinations"),
            Export("cells (CSV)", "_cells.csv", self.save_table, cells),
            self.page,
        )
