"""Files that the relationship explorer writes: ids, pairs and matrices."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from genobit.visual.files import Export, dataset_writers
from genobit.visual.style import number

if TYPE_CHECKING:
    from pathlib import Path

#: File endings for lists of samples.
_OF_IDS = (".txt", ".id", ".keep")


class GRMFiles:
    """Methods of the relationship explorer that save its results."""

    def save(self: Any, path: str | Path) -> Path:
        """Write the ids of the selected samples to a new text file, as `plink --keep` reads them.

        Parameters
        ----------
        path
            File to write.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If nothing is selected.
        FileExistsError
            If the file exists already.
        """
        if not self.selected:
            raise ValueError("nothing is selected; draw a lasso round samples first")
        write = partial(self.relations.write_ids, self.selected)
        return self._saved(
            path, dict.fromkeys(_OF_IDS, write), number(len(self.selected), "sample id")
        )

    def save_matrix(self: Any, path: str | Path) -> Path:
        """Write the relationships of all samples to a new .zarr or .nc file.

        Parameters
        ----------
        path
            File to write.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If the file has another ending.
        FileExistsError
            If the file exists already.
        """
        matrix = self.matrix
        what = f"the relationships of {number(self.relations.n_samples, 'sample')}"
        return self._saved(path, dataset_writers(matrix.to_dataset(name=matrix.name)), what)

    def save_pairs(self: Any, path: str | Path) -> Path:
        """Write the listed pairs to a new .csv file.

        Parameters
        ----------
        path
            File to write, .csv.

        Returns
        -------
        The absolute path.

        Raises
        ------
        ValueError
            If no pair is listed, or the file does not end in .csv.
        FileExistsError
            If the file exists already.
        """
        table = self._table.table
        if table is None or not len(table):
            raise ValueError("no pair is listed; wait, or choose another range")
        return self._saved_table(path, table, "pair")

    @property
    def exports(self: Any) -> tuple[Export, ...]:
        """Entries of the save menu."""
        return (
            Export("selected samples (ids)", ".txt", self.save, "a sample a line, as plink --keep"),
            Export("listed pairs (CSV)", ".csv", self.save_pairs, "the pairs of the table"),
            Export("matrix (Zarr)", ".zarr", self.save_matrix, "relationships of all pairs"),
            Export("matrix (NetCDF)", ".nc", self.save_matrix, "relationships of all pairs"),
            self.page,
        )
