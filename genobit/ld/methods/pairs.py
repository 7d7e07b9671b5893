"""``ds.genobit.ld_pairs``: lazy tables of pairs in linkage disequilibrium."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import model, packed
from genobit.data.analysis import DatasetMethods
from genobit.data.checks import check_integer, check_share
from genobit.data.guards.calls import warn_without_calls
from genobit.data.windows import named_window, pair_labels, window_ends
from genobit.engine.options import get_options
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    from genobit.data.pairs.table import PairTable
    from genobit.data.selection_by_label import Selection
    from genobit.engine.bits.layout import Layout

FEW_ABOVE = 0.2
"""From this threshold on few pairs are kept, so wider chunks do not need larger tables."""


class LDPairsMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that list pairs of variants."""

    def ld_pairs(
        self,
        *,
        threshold: float | None = None,
        variants: Selection | None = None,
        top: int | None = None,
        window: int | str | None = None,
        statistic: str = "r2",
        phased: bool | None = None,
    ) -> PairTable:
        """List the pairs of variants in LD in a lazy table, computed chunk by chunk.

        Parameters
        ----------
        threshold
            Smallest r2 of a pair in the table, in [0, 1]. It is needed for a table of all pairs.
            With ``variants``, the default is no limit.
        variants
            List only the partners of these variants, with the strongest partner of each first. Give
            ids or regions, positions along ``variants``, or a mask, as for `sel`. A variant that is
            named twice is listed once.
        top
            Largest number of partners of each of the ``variants``. The default is all partners.
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

            - ``variant_0`` < ``variant_1``: positions along ``variants``. With ``variants=``,
              ``variant_0`` is the variant that was named, and ``variant_1`` its partner.
            - ``variant_contig``, ``variant_position_0``, ``variant_position_1``, ``variant_id_0``,
              ``variant_id_1``, if known
            - ``r`` and ``r2``, or ``r2_em``, float32

        Raises
        ------
        ValueError
            For a threshold outside [0, 1], another statistic, or unsorted positions. For ``top``
            without ``variants``.
        TypeError
            Without both ``threshold`` and ``variants``.

        Notes
        -----
        The table has one part for each pair of chunks that have variants within ``window`` of each
        other. The cost is the same as for `ld` with this window. With ``variants``, it has one part
        for each chunk that has one of them, and only the pairs of these variants are computed. A
        pair of two of them is listed for each.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.ld_pairs(threshold=0.5).to_dataframe()
        >>> pairs[["variant_0", "variant_1", "r2"]].values.tolist()
        [[0.0, 1.0, 0.75]]

        The best partner of a variant:

        >>> best = ds.genobit.ld_pairs(variants=1, top=1).to_dataframe()
        >>> best[["variant_0", "variant_1", "r2"]].values.tolist()
        [[1.0, 0.0, 0.75]]
        """
        from genobit.data.pairs.parts import GraphParts, identity
        from genobit.data.pairs.table import SORTED_BY, PairTable
        from genobit.data.selection import names_along
        from genobit.data.selection_by_label import positions
        from genobit.engine.schedule.passes import in_rows, wide_rows
        from genobit.engine.schedule.tiles import ordered
        from genobit.ld import matrix
        from genobit.ld.partners import partner_tiles

        minimum = _smallest(threshold, variants, top)
        if statistic not in {"r2", "r2_em"}:
            meant = did_you_mean(statistic, ("r2", "r2_em"))
            msg = f"statistic {statistic!r} of a table of pairs is not one of r2, r2_em{meant}"
            raise ValueError(msg)
        whole = max(1, self._ds.sizes.get(model.VARIANTS, 0))
        size: int | str = whole if window is None else window

        def rows_of(ds: xr.Dataset, layout: Layout, last: NDArray[np.int64] | None = None) -> int:
            if (
                minimum < FEW_ABOVE
                or variants is not None
                or not get_options().chunk_rows_is_default
            ):
                return get_options().edge
            last = window_ends(ds, size) if last is None else last
            return max(get_options().edge, wide_rows(last, layout.bits))

        warn_without_calls(self._ds, "LD values")
        ds, layout, planes = packed.by_variants(self._ds, phased=phased, rows_of=rows_of)
        last, labels = window_ends(ds, size), pair_labels(ds)
        planes = in_rows(planes, rows_of(ds, layout, last))
        asked: dict[str, Any] = {"statistic": statistic, "threshold": minimum}
        options = {**asked, "layout": layout.to_attributes(), "windows": last}
        if variants is None:
            tiles = matrix.pair_tiles(planes, layout, last, minimum, labels, statistic)
        else:
            chosen = np.unique(positions(ds, variants, model.VARIANTS))
            tiles = partner_tiles(planes, layout, last, chosen, minimum, top, labels, statistic)
            asked |= {"partners_of": int(chosen.size), "top": top, SORTED_BY: statistic}
            options |= {"variants": chosen, "top": top}
        question = partial(identity, ordered(planes, layout), labels, options)
        about = asked if window is None else {**asked, "window": named_window(window)}
        return PairTable(
            GraphParts(*tiles, question),
            "variant",
            statistic,
            partial(names_along, ds, model.VARIANTS),
            {**about, model.COUNTED_ALLELE: model.counted_allele(ds)},
        )


def _smallest(threshold: float | None, variants: Selection | None, top: int | None) -> float:
    """Return the least r2 of a table. Raises TypeError for a table that nothing limits."""
    if top is not None:
        check_integer("top", top)
        if variants is None:
            msg = (
                f"top={top} counts the partners of each variant in variants=: name them, such as "
                f"variants='rs699', or give threshold= for all pairs"
            )
            raise ValueError(msg)
    if threshold is None:
        if variants is None:
            msg = (
                "ds.genobit.ld_pairs() needs threshold=, the smallest r2 of a pair in the table, "
                "or variants=, the variants whose partners it lists"
            )
            raise TypeError(msg)
        return 0.0
    check_share("threshold", threshold)
    return float(threshold)
