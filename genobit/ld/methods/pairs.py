"""``ds.genobit.ld_pairs``: lazy tables of pairs in linkage disequilibrium."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from genobit.data import model, packed
from genobit.data.checks import check_share
from genobit.data.windows import named_window, pair_labels, window_ends
from genobit.engine.options import get_options
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

    from genobit.data.pairs.table import PairTable
    from genobit.engine.bits.layout import Layout

FEW_ABOVE = 0.2
"""From this threshold on few pairs are kept, so wider chunks do not need larger tables."""


class LDPairsMethods:
    """Methods of ``ds.genobit`` that list pairs of variants."""

    _ds: xr.Dataset

    def ld_pairs(
        self,
        *,
        threshold: float,
        window: int | str | None = None,
        statistic: str = "r2",
        phased: bool | None = None,
    ) -> PairTable:
        """List the pairs of variants in LD in a lazy table, computed chunk by chunk.

        Parameters
        ----------
        threshold
            Smallest r2 of a pair in the table, in [0, 1].
        window
            Largest distance of a pair, as for `ld`. The default is all pairs on the same contig.
        statistic
            "r2", or "r2_em" (dosages only), as for `ld`.
        phased
            As for `ld`.

        Returns
        -------
            `genobit.PairTable`: ``.head()``, ``.to_dataframe()``, ``.to_parquet(folder)``,
            ``.to_network()``. Its columns are

            - ``variant_0`` < ``variant_1``: positions along ``variants``
            - ``variant_contig``, ``variant_position_0``, ``variant_position_1``, ``variant_id_0``,
              ``variant_id_1``, if known
            - ``r`` and ``r2``, or ``r2_em``, float32

        Raises
        ------
        ValueError
            For a threshold outside [0, 1], another statistic, or unsorted positions.

        Notes
        -----
        The table has one part for each pair of chunks that have variants within ``window`` of each
        other. The cost is the same as for `ld` with this window.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.ld_pairs(threshold=0.5).to_dataframe()
        >>> pairs[["variant_0", "variant_1", "r2"]].values.tolist()
        [[0.0, 1.0, 0.75]]
        """
        from genobit.data.pairs.parts import GraphParts, identity
        from genobit.data.pairs.table import PairTable
        from genobit.data.selection import names_along
        from genobit.engine.schedule.blocks import ordered
        from genobit.engine.schedule.windows import in_rows, wide_rows
        from genobit.ld import matrix

        check_share("threshold", threshold)
        if statistic not in {"r2", "r2_em"}:
            meant = did_you_mean(statistic, ("r2", "r2_em"))
            msg = f"statistic {statistic!r} of a table of pairs is not one of r2, r2_em{meant}"
            raise ValueError(msg)
        whole = max(1, self._ds.sizes.get(model.VARIANTS, 0))
        size: int | str = whole if window is None else window

        def rows_of(ds: xr.Dataset, layout: Layout, last: NDArray[np.int64] | None = None) -> int:
            if threshold < FEW_ABOVE or not get_options().chunk_rows_is_default:
                return get_options().edge
            last = window_ends(ds, size) if last is None else last
            return max(get_options().edge, wide_rows(last, layout.bits))

        ds, layout, planes = packed.by_variants(self._ds, phased=phased, rows_of=rows_of)
        last, labels = window_ends(ds, size), pair_labels(ds)
        planes = in_rows(planes, rows_of(ds, layout, last))
        asked: dict[str, Any] = {"statistic": statistic, "threshold": float(threshold)}

        options = {**asked, "layout": layout.to_attributes(), "windows": last}
        question = partial(identity, ordered(planes, layout), labels, options)
        tiles = matrix.pair_tiles(planes, layout, last, threshold, labels, statistic)
        about = asked if window is None else {**asked, "window": named_window(window)}
        return PairTable(
            GraphParts(*tiles, question),
            "variant",
            statistic,
            partial(names_along, ds, model.VARIANTS),
            {**about, model.COUNTED_ALLELE: model.counted_allele(ds)},
        )
