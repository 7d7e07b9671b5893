"""``ds.genobit.grm_pairs`` and ``ds.genobit.unrelated``: related pairs and unrelated samples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, layouts, model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.autosomes import choose
from genobit.data.checks import check_threshold
from genobit.data.haploid import as_diploid, is_haploid, require_diploid
from genobit.data.packer import without_polyploid_calls
from genobit.engine.progress import warn
from genobit.grm.methods.matrix import GRMMethods, warn_of_few

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from genobit.data.autosomes import Autosomes
    from genobit.data.pairs.table import PairTable

LABELS = (model.SAMPLE_ID, "sample_family_id")
"""Label columns of the table of pairs, if the Dataset has them."""


class RelativesMethods(DatasetMethods):
    """Methods of ``ds.genobit`` about relatives."""

    def grm_pairs(
        self,
        method: str = "king",
        *,
        threshold: float,
        missing: str | None = None,
        allele_frequency: str | ArrayLike | xr.DataArray | None = None,
        autosomes: Autosomes = True,
        count_monomorphic: bool = False,
    ) -> PairTable:
        """List the related pairs of samples in a lazy table, computed tile by tile.

        Parameters
        ----------
        method, missing, allele_frequency, autosomes, count_monomorphic
            As for `grm`, but the default method is "king".
        threshold
            Smallest value of a pair in the table. 0.0884 is the lower bound of the second degree
            for "king"; 0.05 is a common cutoff for "gcta".

        Returns
        -------
            `genobit.PairTable`: ``.head()``, ``.to_dataframe()``, ``.to_parquet(folder)``,
            ``.to_network()``. The table has one part for each tile on or above the diagonal of the
            matrix. The columns are

            - ``sample_0`` < ``sample_1``: positions along ``samples``
            - ``sample_id_0``, ``sample_id_1``, ``sample_family_id_0``, ``sample_family_id_1``, if
              known
            - the value, float64, in a column named after the method
            - with "king" also ``ibs0`` (share of opposite homozygotes), ``variants`` (number of
              variants called in both samples) and ``degree`` (a key of
              `genobit.grm.kinship.DEGREES`)

        Raises
        ------
        ValueError
            For an unknown method, or a threshold that is not finite.

        Warns
        -----
        UserWarning
            As `grm`: with "king" for too few or clearly linked variants, and for genotypes without
            calls.

        Notes
        -----
        Memory holds only the tiles being computed. There are two exceptions: "endelman_jannink"
        holds the whole matrix, and "hadamard" holds all tiles on the diagonal. Pairs without a
        value (NaN) are left out.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [0, 1], [0, 0]], [[0, 1], [1, 1], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.grm_pairs("king", threshold=0.0884).to_dataframe()
        >>> pairs[["sample_0", "sample_1", "king", "degree"]].values.tolist()
        [[0, 1, 0.25, 'first degree'], [0, 2, 0.25, 'first degree']]
        """
        from genobit.data.frequency import given_frequency
        from genobit.data.pairs.parts import GraphParts, identity
        from genobit.data.pairs.table import PairTable
        from genobit.data.selection import names_along
        from genobit.grm import kinship, pairs

        check_threshold(threshold)
        ds = without_polyploid_calls(self._ds)
        # `grm` refuses options that the method does not support.
        matrix = GRMMethods(ds).grm(
            method,
            missing=missing,
            allele_frequency=allele_frequency,
            autosomes=autosomes,
            count_monomorphic=count_monomorphic,
        )
        values, kept = matrix.data, choose(ds, autosomes).kept
        if method == "king":
            # These counts also give the columns ``ibs0`` and ``variants``.
            values = kinship.shared(packed.by_samples(ds, variants=kept)[2])
        columns = {"sample": np.arange(ds.sizes[model.SAMPLES])} | {
            name: np.asarray(labels.as_objects(ds[name].variable, name).values)
            for name in LABELS
            if name in ds.variables
        }
        about = {"method": method, "threshold": float(threshold), "missing": missing}
        given = None if allele_frequency is None else given_frequency(ds, allele_frequency)
        options = {
            **about,
            "allele_frequency": given,
            "count_monomorphic": count_monomorphic,
            "variants": kept,
            "ploidy": 1 if is_haploid(ds) else 2,
        }
        question = partial(identity, packed.rows(as_diploid(ds)), columns, options)
        return PairTable(
            GraphParts(*pairs.pair_tiles(values, method, threshold, columns), question),
            "sample",
            method,
            partial(names_along, ds, model.SAMPLES),
            about,
        )

    def unrelated(
        self,
        threshold: float | None = None,
        *,
        pairs: Any = None,
        autosomes: Autosomes = True,
    ) -> xr.DataArray:
        """Select a maximal set of unrelated samples: the larger result of two greedy algorithms.

        Parameters
        ----------
        threshold
            Pairs with a value above this are related; for KING-robust kinship 0.0884 by default. At
            0.354, only duplicates and identical twins are related. At 0.177, first-degree relatives
            are related too. 0.0884 adds the second degree, and 0.0442 adds the third.
        pairs
            Table of pairs to use instead of the kinship of the genotypes. It is a result of
            `grm_pairs` or `genobit.open_pairs`, or a DataFrame. A DataFrame has two columns of ids
            and a column of values, named as in `grm_pairs`, plink or KING. Other names are allowed
            if it has these three columns only, in this order. Pairs of which the Dataset lacks a
            sample are left out.
        autosomes
            As for `grm`. Not used with ``pairs``.

        Returns
        -------
            bool (samples,), computed, with the labels of the samples: True for a sample that is
            kept. Select with ``ds.genobit.isel(samples=keep)``. Each removed sample is related to a
            kept sample. The set is deterministic. It is at least as large as the set of ``plink2
            --king-cutoff``. With ``pairs``, ``attrs["pairs_left_out"]`` counts the related pairs of
            which the Dataset lacks a sample.

        Raises
        ------
        KeyError
            If no sample of ``pairs`` is in the Dataset.
        ValueError
            For a kinship outside [0, 0.5] as threshold. If ``pairs`` lacks a column, or lists only
            pairs above a larger threshold. If it has other values than kinship, and ``threshold``
            is not given.

        Warns
        -----
        UserWarning
            For too few or clearly linked variants, as `grm`. For samples without any kinship, of
            which ``attrs["note"]`` names the first.

        Notes
        -----
        Memory holds only the related pairs, never the matrix. If either sample of a pair has no
        heterozygous call, kinship is NaN and the pair counts as unrelated. Samples without any
        kinship, such as samples without calls, are kept.
        `genobit.grm.unrelated` describes the algorithms.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [0, 1], [0, 0]], [[0, 1], [1, 1], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.unrelated().values
        array([False,  True,  True])

        A table of pairs decides:

        >>> import pandas as pd
        >>> ds = ds.assign(sample_id=("samples", ["ann", "bob", "cem"]))
        >>> table = pd.DataFrame({"a": ["bob"], "b": ["cem"], "relationship": [0.4]})
        >>> ds.genobit.unrelated(0.1, pairs=table).values
        array([ True,  True, False])
        """
        from genobit.grm.listed import limit_of, listed
        from genobit.grm.unrelated import unrelated

        if pairs is not None:
            related, more = listed(self._ds, pairs, threshold)
        else:
            instead = 'give pairs=, such as grm_pairs("ibs", threshold=0.95), and threshold='
            require_diploid(self._ds, "KING-robust kinship", instead)
            related, more = _related(self._ds, limit_of(threshold), autosomes)
        ds = self._ds
        if layouts.layout_of(ds) is None:
            # Labels of a packed Dataset are coordinates already.
            ds = ds.set_coords([k for k, x in ds.data_vars.items() if x.dims == (model.SAMPLES,)])
        return xr.DataArray(
            unrelated(related, ds.sizes[model.SAMPLES]),
            result_labels.along(ds, model.SAMPLES),
            model.SAMPLES,
            "unrelated",
            {"long_name": "in the unrelated set", **more},
        )


def _related(
    ds: xr.Dataset, limit: float, autosomes: Autosomes
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the pairs with a kinship above a limit (2, pairs), and attributes of the result."""
    from genobit.data.selection import names_along
    from genobit.grm.pairs import relatives_above

    chosen = choose(ds, autosomes)
    whole = ds
    ds, _, samples = packed.by_samples(ds, variants=chosen.kept)
    warn_of_few(whole, chosen)
    pairs, compared = relatives_above(samples, limit)
    attributes = {"threshold": limit, **chosen.attributes()}
    if compared.size > 1 and not compared.all():
        attributes["note"] = said = _not_compared(names_along(ds, model.SAMPLES), compared)
        warn(said)
    return pairs, attributes


def _not_compared(names: pd.Index, compared: NDArray[np.bool_]) -> str:
    """Say how many samples have no kinship with any other, and name the first."""
    lacking = np.flatnonzero(~compared)
    return (
        f"{lacking.size:,} of {compared.size:,} samples have no kinship with another sample and "
        f"count as unrelated, first {names[lacking[0]]!r}: they have no heterozygous call, or "
        "share no called variant"
    )
