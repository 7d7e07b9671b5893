"""Lazy tables of pairs of variants, samples or other variables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from genobit.data.checks import check_whole
from genobit.data.plotting import NetworkPlotMethods
from genobit.engine.extras import require
from genobit.engine.options import get_options, more_than, require_fits
from genobit.engine.own_words import SuggestsNames
from genobit.engine.progress import bar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.parts import Parts

AT_ONCE = 1024
"""Parts handed to a scheduler at a time."""
_NAME_BYTES = 100
"""Estimated bytes of memory per name."""
SORTED_BY = "sorted_by"
"""Attribute of a table of partners: the column by which the pairs of each first row descend."""
ROWS = {"variants": "variant", "samples": "sample"}
"""Stem of the columns of a dimension; others are named after the dimension itself."""


class PairTable(NetworkPlotMethods, SuggestsNames):
    """Lazy table of pairs: one row per pair, computed part by part.

    `.ld_pairs()`, `.grm_pairs()` and `.kendall_pairs()` return it, and `genobit.open_pairs` reads
    it from files. Its methods compute the pairs when they are called.

    Attributes
    ----------
    columns
        Names of the columns. The first two, such as ``variant_0`` and ``variant_1``, are integer
        positions along the dimension; the first is the smaller one. Columns with labels have the
        same suffixes, such as ``variant_id_0``.
    value
        Name of the column with the statistic of each pair.
    attrs
        Attributes of the whole table, such as the threshold.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> pairs = ds.genobit.ld_pairs(threshold=0.5)
    >>> pairs
    <PairTable of r2, not computed: variant_0, variant_1, r, r2>
    >>> pairs.to_dataframe()[["variant_0", "variant_1", "r2"]].values.tolist()
    [[0.0, 1.0, 0.75]]
    """

    _called = "pairs"

    def __init__(
        self,
        parts: Parts,
        row: str,
        value: str,
        names: Callable[[], Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self._parts, self.row, self.value, self._names = parts, row, value, names
        self.attrs = dict(attrs or {})

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self._parts.empty.columns]

    @property
    def tasks(self) -> int:
        """Number of dask tasks that compute the table."""
        return self._parts.tasks

    def head(self, n: int = 5) -> pd.DataFrame:
        """Return the first ``n`` pairs; parts are computed until there are enough pairs.

        Parameters
        ----------
        n
            Largest number of pairs to return.

        Returns
        -------
            The first pairs, in the order of the parts. For a result of `.kendall_pairs()` with
            ``fdr``, all pairs are computed.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> len(ds.genobit.ld_pairs(threshold=0.5).head(1))
        1
        """
        check_whole("n", n, 0)
        found, rows, first, size = [], 0, 0, 1
        while rows < n and first < self._parts.count:
            numbers = range(first, min(first + size, self._parts.count))
            found += list(self._parts.frames(numbers))
            rows = sum(map(len, found))
            # Few pairs reach a high threshold, so take more parts each time.
            first, size = numbers.stop, min(2 * size, AT_ONCE)
        return self._joined(found).head(n)

    def to_dataframe(self, *, progress: bool | None = None) -> pd.DataFrame:
        """Compute the whole table in memory.

        Parameters
        ----------
        progress
            Whether to show a progress bar. The default is the option ``progress``.

        Returns
        -------
            All pairs, sorted by the first two columns. Partners of variants are sorted by the
            variant, and then by the statistic, strongest first.

        Raises
        ------
        MemoryError
            As soon as the table exceeds ``get_options().eager_limit`` bytes.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.ld_pairs(threshold=0.5).to_dataframe().r2.tolist()
        [0.75]
        """
        self._parts.check(in_memory=True)
        found: list[pd.DataFrame] = []
        limit, size = get_options().eager_limit, 0
        count = self._parts.count
        # A table of one part shows the progress of its own search.
        shown = progress if count > 1 else False
        with bar(progress=shown, total=count, desc="pairs", unit="tile") as steps:
            for done, frame in enumerate(self._frames(), 1):
                steps.update()
                if not len(frame) and found:
                    continue
                found.append(frame)
                size += int(frame.memory_usage(index=False).sum())
                if size > limit:
                    raise MemoryError(
                        f"the table of pairs takes {more_than(size, limit)}, after {done:,} of "
                        f"{count:,} parts: ask for a larger threshold=, write it with "
                        ".to_parquet(folder), or raise gb.set_options(eager_limit=...)"
                    )
        return self._sorted(self._joined(found))

    def _frames(self) -> Iterator[pd.DataFrame]:
        return self._parts.frames(range(self._parts.count))

    def _joined(self, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
        import pandas as pd

        some = [frame for frame in frames if len(frame)] or [*frames[:1], self._parts.empty][:1]
        whole = pd.concat(some, ignore_index=True) if len(some) > 1 else some[0].copy()
        whole.attrs = {**whole.attrs, **self.attrs}
        return whole

    def _sorted(self, table: pd.DataFrame) -> pd.DataFrame:
        first, second = (table[f"{self.row}_{side}"].to_numpy() for side in (0, 1))
        by = self.attrs.get(SORTED_BY)
        strength = () if by is None else (-table[by].to_numpy(),)
        order = np.lexsort((second, *strength, first))
        if (order[1:] > order[:-1]).all():
            return table
        return table.iloc[order].reset_index(drop=True)

    def to_parquet(self, folder: str | os.PathLike[str], *, progress: bool | None = None) -> Path:
        """Write the table to a folder of Parquet files, one for each part.

        If interrupted, repeat the call to resume; finished files are kept. Until the table is
        complete, Parquet readers refuse the folder.

        Parameters
        ----------
        folder
            An empty or new folder, or the folder of an interrupted run.
        progress
            Whether to show a progress bar. The default is the option ``progress``.

        Returns
        -------
            The path of the folder, for `genobit.open_pairs`, ``pandas.read_parquet``,
            ``polars.read_parquet`` or ``dask.dataframe.read_parquet``.

        Raises
        ------
        ValueError
            If the folder holds another table or other files.
        RuntimeError
            If another run is writing to the folder.

        Notes
        -----
        At most 16 parts are computed at a time, and only these are in memory. On a cluster, the
        workers write the files.

        Examples
        --------
        >>> import pathlib, tempfile, genobit as gb, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "pairs"
        >>> path = ds.genobit.ld_pairs(threshold=0.5).to_parquet(folder)
        >>> gb.open_pairs(path).to_dataframe().r2.tolist()
        [0.75]
        """
        require("PairTable.to_parquet", "pyarrow")
        from genobit.data.pairs import parquet

        self._parts.check(in_memory=False)
        about = {"row": self.row, "value": self.value, "attrs": self.attrs}
        return parquet.write(folder, self._parts, about, self._names, progress=progress)

    def to_network(self) -> Network:
        """Compute the table, and return it as a network.

        Returns
        -------
            `genobit.data.pairs.network.Network`. Its nodes are the variants, samples or variables
            of the pairs. Its methods compute degrees, components, communities and a layout, and
            write files for Cytoscape and Gephi.

        Raises
        ------
        MemoryError
            As for `to_dataframe`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.ld_pairs(threshold=0.5).to_network().degree().to_dict()
        {'0': 1, '1': 1}
        """
        from genobit.data.pairs.network import Network

        edges = self.to_dataframe()
        if SORTED_BY in self.attrs:
            edges = each_once(edges, self.row)
        found = _names_in(edges, self.row) if self._names is None else self._names()
        names = np.asarray(found)
        return Network(edges, names, self.row, self.value, {**edges.attrs, **self.attrs})

    def _unknown(self, name: str) -> str:
        if name in self.columns:
            return f"the pairs are not computed: write pairs.to_dataframe().{name}"
        return super()._unknown(name)

    def __getitem__(self, name: object) -> NoReturn:
        """Raise TypeError: a table that is not computed has no values to select."""
        raise TypeError(f"the pairs are not computed: write pairs.to_dataframe()[{name!r}]")

    def __repr__(self) -> str:
        """List the columns, and say that nothing is computed."""
        return f"<PairTable of {self.value}, not computed: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """Describe the table without computing it."""
        settings = ", ".join(f"{name} {value}" for name, value in self.attrs.items())
        columns = ", ".join(self.columns)
        return (
            f"<p><b>Table of pairs, {html.escape(self.value)}</b><br>{html.escape(settings)}</p>"
            f"<p>Columns: {html.escape(columns)}</p>"
            f"<p>Lazy, in {self._parts.count:,} parts: .head(), .to_dataframe(), "
            ".to_parquet(folder), .to_network()</p>"
        )


def as_network(pairs: PairTable | Network) -> Network:
    """Return a network as it is, or the network of a table of pairs, computed."""
    return pairs.to_network() if isinstance(pairs, PairTable) else pairs


def each_once(edges: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return each pair once, smaller position first; partners of two variants have it twice."""
    import pandas as pd

    ends = [f"{row}_0", f"{row}_1"]
    later = (edges[ends[0]] > edges[ends[1]]).to_numpy()
    # `_0` and `_1` end the names of all columns that describe one row of a pair.
    turned = {
        name: name[:-1] + {"0": "1", "1": "0"}[name[-1]]
        for name in edges.columns
        if name[-2:] in {"_0", "_1"}
    }
    table = pd.concat([edges[~later], edges[later].rename(columns=turned)])
    kept = table.drop_duplicates(ends).sort_values(ends, ignore_index=True)
    kept.attrs = edges.attrs
    return kept


def _names_in(edges: pd.DataFrame, row: str) -> NDArray[Any]:
    """Return a name for each position up to the last one in a pair, from labels if there are any.

    Rows without a pair are named by position.
    """
    ends = edges[[f"{row}_0", f"{row}_1"]].to_numpy(np.int64)
    size = int(ends.max(initial=-1)) + 1
    require_fits(f"the names of {size:,} {row}s", size, _NAME_BYTES)
    names = np.arange(size).astype(str).astype(object)
    for stem in ("name", f"{row}_id"):
        if f"{stem}_0" in edges.columns:
            for side in (0, 1):
                names[ends[:, side]] = edges[f"{stem}_{side}"].to_numpy(object)
            break
    return names
