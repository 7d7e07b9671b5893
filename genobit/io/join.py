"""``ds.genobit.join``: columns of a table as variables of samples or variants."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from genobit.data.analysis import DatasetMethods

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genobit.data.join_keys import On, Source


CONVENTIONS = {
    **dict.fromkeys((".pheno", ".phen", ".phe"), "phenotype"),
    **dict.fromkeys((".covar", ".cov"), "covariate"),
    ".sample": "oxford",
}
"""Convention of a file by its ending."""


class JoinMethods:
    """The method ``join`` of ``ds.genobit`` and ``da.genobit``."""

    _data: Any

    def join(
        self,
        table: Any,
        *,
        on: str | Sequence[str] | Mapping[str, str] | None = None,
        columns: str | Sequence[str] | Mapping[str, str] | None = None,
        missing: str = "keep",
        convention: str | None = None,
    ) -> Any:
        r"""Add the columns of a table as variables of the samples or variants, by label.

        The table is read at once; genotypes stay lazy. The order of the data is kept. Columns
        become coordinates of a DataArray, such as one of `genobit.measurements`.

        Parameters
        ----------
        table
            Path of a text file with a header, or a frame. Columns of a file are separated by tabs,
            commas, semicolons or spaces. The file may be compressed with gzip. A frame is a
            DataFrame of pandas, polars or Arrow, a named Series, or an xarray Dataset or DataArray.
        on
            Variable of the Dataset that is matched with the key column of the table, such as
            "sample_id", "variant_id" or "sample_family_id". Several variables form a key together:
            ``("sample_family_id", "sample_id")``. This pair is the default if the table and the
            Dataset both have families, as in PLINK; otherwise the default is "sample_id". FID 0 in
            all rows stands for no families. The key column of the table has the same name, or
            PLINK's name for it: IID, FID, SNP or ID, CHROM or CHR, POS or BP. For another name,
            give ``{"sample_id": "name of the column"}``.
            If a pandas frame has no such column, its index is the key. The default of a DataArray
            is "sample_id", the taxa of an alignment, or else the coordinate of its last dimension.
        columns
            Columns to add: a name, a list of names, or a dictionary that gives new names, ``{"sex":
            "reported_sex"}``. The default is all columns except the key, FID and IID.
        missing
            Rule for samples or variants without a row in the table. "keep" gives them missing
            values: NaN for numbers, None for text, NaT for dates. "refuse" raises an error.
        convention
            Rules of a file. "phenotype" and "covariate" are files of PLINK. Without a header, their
            columns are FID, IID, and PHENO1, PHENO2 and so on, or COVAR1. In a "phenotype" file -9
            is missing. An "oxford" file is a .sample file with types in its second line. A "table"
            has a header. NA is missing in all of them. The default follows the ending: .pheno,
            .phen and .phe are phenotypes, .covar and .cov covariates, and .sample is "oxford". All
            other files are tables, also those for regenie.

        Returns
        -------
            The data with one more variable for each column. Integers and booleans become float64 if
            a value is missing. ``attrs["joined"]`` has one line for each joined table. Each line
            counts samples with a row, samples without a row, and rows without a sample. The logger
            "genobit" logs the same line, as a warning if a sample has no row.

        Raises
        ------
        KeyError
            If the Dataset lacks a variable of ``on``, the table lacks a column, or no key matches.
        ValueError
            If a key is empty or repeated in the table, or a text file is malformed. If a column of
            text holds numbers with a decimal comma or marks of thousands, or "unknown", "-" and
            similar texts beside numbers; columns of categories may. If the Dataset
            already has a variable with the name of an added column. With "refuse", if a sample has
            no row.
        TypeError
            For another kind of table, and for columns that are not numbers, text or dates.

        Notes
        -----
        Keys are compared as text, so "007" in a file differs from "7". Contigs are compared as
        chromosomes, so "chr7" and "7" are equal. Other columns are parsed by pandas. Missing values
        are the ones that pandas recognises: empty cells, NA, NaN, null and similar names. -9 can be
        a measurement, so it is missing in a "phenotype" file only. Elsewhere
        ``ds.bmi.where(ds.bmi != -9)`` marks it missing.

        Examples
        --------
        >>> import genobit, numpy as np, pandas as pd, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds = ds.assign(sample_id=("samples", ["a", "b", "c"]))
        >>> table = pd.DataFrame({"IID": ["c", "a", "b"], "bmi": [30.0, 21.5, np.nan]})
        >>> ds.genobit.join(table).bmi.values
        array([21.5,  nan, 30. ])
        >>> ds.genobit.join(table).attrs["joined"]
        'the table by sample_id: 3 of 3 samples have a row (bmi)'
        """
        from genobit.data import joining

        if isinstance(self._data, xr.Dataset):
            source = source_of(table, on, convention)
            return joining.join(self._data, source, on, columns, missing)
        on = _key_of_array(self._data) if on is None else on
        source = source_of(table, on, convention)
        return _joined_to_array(self._data, source, on, columns, missing)


class GeneticMapMethods(DatasetMethods):
    """The method ``genetic_map`` of ``ds.genobit``."""

    def genetic_map(self, table: Any) -> xr.Dataset:
        """Add the genetic position of each variant, interpolated in a genetic map.

        Parameters
        ----------
        table
            Path of a map, plain or compressed by gzip, or a table of pandas or xarray. Maps of
            HapMap, SHAPEIT and Eagle are read, and .map and .bim files of PLINK. The map has
            positions in base pairs, and genetic positions in cM or rates in cM/Mb. A map without
            contigs is for a Dataset of one contig. All names of a chromosome match.

        Returns
        -------
            Dataset with `variant_genetic_position` in centimorgan, float64 (variants,). Positions
            within the map are interpolated linearly. A variant outside the map gets the position of
            its nearest end. Contigs that the map lacks keep the positions they have, or get NaN.
            ``attrs["joined"]`` and the logger "genobit" say how many variants are outside the map.

        Raises
        ------
        KeyError
            If the Dataset has no `variant_position`.
        ValueError
            If the map is malformed, or has none of the contigs of the Dataset. Also if it does not
            say its contig, and the Dataset has several.
        FileNotFoundError
            If there is no such file.

        Examples
        --------
        >>> import genobit, numpy as np, pandas as pd, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds = ds.assign(variant_position=("variants", [1_500, 9_000]))
        >>> table = pd.DataFrame({"position": [1_000, 2_000], "cM": [0.5, 0.7]})
        >>> ds = ds.genobit.genetic_map(table)
        >>> ds.variant_genetic_position.values
        array([0.6, 0.7])
        >>> print(ds.attrs["joined"])
        genetic map: 2 of 2 variants get a genetic position; 1 of them lie outside the map and get \
        that of its end
        """
        from genobit.io.genetic_map import with_genetic_positions

        return with_genetic_positions(self._ds, table)


def _joined_to_array(
    da: xr.DataArray,
    source: Source,
    on: On,
    columns: str | Sequence[str] | Mapping[str, str] | None,
    missing: str,
) -> xr.DataArray:
    """Return a DataArray with one more coordinate for each column."""
    from genobit.data import joining

    known = xr.Dataset(coords=da.coords, attrs=da.attrs)
    found = joining.join(known, source, on, columns, missing, da)
    added = {name: found.variables[name] for name in found.variables if name not in known.variables}
    return da.assign_coords(added).assign_attrs({joining.JOINED: found.attrs[joining.JOINED]})


def _key_of_array(da: xr.DataArray) -> str:
    """Return the coordinate that names the samples or taxa, or else the last dimension."""
    from genobit.data import model
    from genobit.data.alignment import TAXA

    if not da.dims:
        raise ValueError("the DataArray has no dimension, so there is no label that join can match")
    dim = TAXA if TAXA in da.dims else str(da.dims[-1])
    for name in (model.SAMPLE_ID, dim):
        if name in da.coords:
            return name
    raise KeyError(
        f"the DataArray has no labels along {dim!r}: give them, da.assign_coords({dim}=...), or "
        "name a coordinate with on="
    )


def source_of(table: Any, on: On, convention: str | None = None) -> Source:
    """Return a table in any accepted form, ready to be read."""
    from genobit.data.checks import check_one_of
    from genobit.data.join_keys import Source
    from genobit.io import tables

    if convention is not None:
        check_one_of("convention", convention, ("table", *dict.fromkeys(CONVENTIONS.values())))
    if isinstance(table, str | os.PathLike):
        if convention is None:
            ending = PurePath(os.fspath(table).removesuffix(".gz")).suffix
            convention = CONVENTIONS.get(ending, "table")
        text = tables.read_samples(table, convention)
        return Source(text.name, text.columns, text.parsed)
    if convention is not None:
        msg = f"convention={convention!r} is for files: give a path, or leave it out for a frame"
        raise ValueError(msg)
    names = ["sample_id"] if on is None else [on] if isinstance(on, str) else list(on)
    keys = {name: on.get(name) if isinstance(on, dict) else None for name in names}
    index = ""
    if isinstance(table, xr.Dataset | xr.DataArray):
        frame = tables.frame_of_xarray(table, [own or name for name, own in keys.items()])
    else:
        expected = "a path, a frame of pandas or polars, a Series, a Dataset or a DataArray"
        given = tables.frame_of(table, "the table", expected)
        # As in files: plink2 marks its header, and pandas keeps the mark.
        marked = {name: _unmarked(name) for name in given.columns[:1]}
        given = given.rename(columns=marked).rename_axis(index=_unmarked)
        frame, index = _with_index(given, keys)
    columns = [str(column) for column in frame.columns]
    tables.require_unique("the table", columns)
    frame.columns = columns
    return Source("the table", columns, lambda _: frame, index)


def _unmarked(name: Any) -> Any:
    return name.removeprefix("#") if isinstance(name, str) else name


def _with_index(frame: pd.DataFrame, keys: Mapping[str, str | None]) -> tuple[pd.DataFrame, str]:
    """Return a copy with the levels of the index as columns, and the name of one without a name.

    A column comes before a level of its name. An index without a name is the only key if no column
    is, and else it is dropped; so is the default 0, 1, 2, ...
    """
    from genobit.data.join_keys import key_column

    index, own = frame.index, ""
    columns = [str(column) for column in frame.columns]
    if index.nlevels == 1 and index.name is None:
        counted = index.equals(pd.RangeIndex(len(index)))
        if counted or len(keys) != 1 or key_column(columns, *next(iter(keys.items()))) is not None:
            return frame.reset_index(drop=True), ""
        own = next(given or name for name, given in keys.items())
        frame = frame.rename_axis(index=own)
    known = [level for level, name in enumerate(frame.index.names) if name in frame.columns]
    if known:
        frame = frame.reset_index(level=known, drop=True)
    return (frame if len(known) == index.nlevels else frame.reset_index()), own
