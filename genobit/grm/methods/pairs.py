"""``ds.genobit`` on relatives: the table of related pairs, and samples that are not related.

A part of the accessor, and like it labels in, labels out. May import: packed and what is below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, packed
from genobit.data.autosomes import choose
from genobit.data.checks import check_minimum
from genobit.engine.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import dask.dataframe as dd
    from numpy.typing import ArrayLike

    from genobit.data.autosomes import Autosomes

LABELS = (model.SAMPLE_ID, "sample_family_id")
"""Columns of the table of pairs, where the Dataset has them."""


class RelativesMethods:
    """Methods of ``ds.genobit`` about relatives."""

    _ds: xr.Dataset

    if TYPE_CHECKING:
        grm: Callable[..., Any]

    def grm_pairs(
        self,
        method: str = "king",
        *,
        minimum: float,
        missing: str | None = None,
        allele_frequency: str | ArrayLike | xr.DataArray | None = None,
        autosomes: Autosomes = True,
        count_monomorphic: bool = False,
    ) -> dd.DataFrame:
        """Pairs of samples that are related, as a long table made tile by tile.

        Parameters
        ----------
        method, missing, allele_frequency, autosomes, count_monomorphic
            As for `grm`.
        minimum
            Smallest value of a pair in the table: 0.0884 is the second degree of kinship, 0.05 a
            usual cutoff of a GCTA matrix.

        Returns
        -------
            Lazy dask DataFrame, a partition for each tile of the matrix on or above its diagonal,
            sorted: ``samples_0`` < ``samples_1`` (positions along ``samples``),
            ``sample_id_0``, ``sample_id_1``, ``sample_family_id_0``, ``sample_family_id_1``
            where known, and the value, float64, in a column named as the method. With "king" also
            ``ibs0`` (share of opposite homozygotes), ``variants`` (called in both) and
            ``degree`` (a key of `genobit.grm.kinship.DEGREES`).
            ``.to_parquet(folder)`` streams it; ``.compute()`` loads it.

        Raises
        ------
        ValueError
            For an unknown method, or a ``minimum`` that is no finite number.

        Notes
        -----
        Only the tiles that are being computed are held. Exceptions: "endelman_jannink" needs the
        whole matrix before its first tile, and "hadamard" the tiles on the diagonal, for their
        mean. Pairs that have no value (NaN) are left out.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [0, 1], [0, 0]], [[0, 1], [1, 1], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.grm_pairs("king", minimum=0.0884).compute()
        >>> pairs[["samples_0", "samples_1", "king", "degree"]].values.tolist()
        [[0, 1, 0.25, 'first degree'], [0, 2, 0.25, 'first degree']]
        """
        require("grm_pairs", "pyarrow")
        from genobit.grm import kinship, pairs

        check_minimum("minimum", minimum)
        # What does not go with a method is refused there.
        matrix = self.grm(
            method,
            missing=missing,
            allele_frequency=allele_frequency,
            autosomes=autosomes,
            count_monomorphic=count_monomorphic,
        )
        values = matrix.data
        if method == "king":
            # Of the same counts, the other columns too.
            kept = choose(self._ds, autosomes).kept
            values = kinship.shared(packed.by_samples(self._ds, variants=kept)[2])
        names = {
            name: np.asarray(labels.as_objects(self._ds[name].variable, name).values)
            for name in LABELS
            if name in self._ds.variables
        }
        return pairs.table(values, method, minimum, names)

    def unrelated(self, king: float = 0.0884, *, autosomes: Autosomes = True) -> xr.DataArray:
        """Samples of which no two are related: as many as two greedy rules find.

        Parameters
        ----------
        king
            Pairs whose KING-robust kinship is greater are related: 0.354, 0.177, 0.0884 and
            0.0442 leave no duplicates, and no pairs of the first, second and third degree.
        autosomes
            As for `grm`.

        Returns
        -------
            bool (samples,), computed, with the labels of the samples: ``ds.genobit.isel(
            samples=keep)`` selects them. No other sample can be added; the same Dataset always
            gives the same set, at least as large as that of ``plink2 --king-cutoff``.

        Raises
        ------
        ValueError
            For a threshold that is no finite number.

        Notes
        -----
        The matrix is never held, only the pairs that are related. A pair of which one sample has
        no heterozygous call has no kinship, and does not count as related. How the samples are
        chosen: `genobit.grm.unrelated`.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [0, 1], [0, 0]], [[0, 1], [1, 1], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.unrelated().values
        array([False,  True,  True])
        """
        from genobit.grm.pairs import relatives_above
        from genobit.grm.unrelated import unrelated

        check_minimum("king", king)
        chosen = choose(self._ds, autosomes)
        ds, _, samples = packed.by_samples(self._ds, variants=chosen.kept)
        n = ds.sizes[model.SAMPLES]
        return xr.DataArray(
            unrelated(relatives_above(samples, king), n),
            labels.along(ds, model.SAMPLES),
            model.SAMPLES,
            "unrelated",
            {"long_name": "in the unrelated set", "king": king, **chosen.attributes()},
        )
