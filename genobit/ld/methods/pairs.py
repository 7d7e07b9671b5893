"""``ds.genobit.ld_pairs``: tables of pairs in linkage disequilibrium, lazy or on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import model, packed
from genobit.data.checks import check_share
from genobit.data.windows import pair_labels, window_ends
from genobit.engine.extras import require
from genobit.engine.options import get_options

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import dask.dataframe as dd
    import xarray as xr

    from genobit.engine.bits.layout import Layout

FEW_ABOVE = 0.2
"""From this ``threshold`` on few pairs are kept, so wider chunks do not need larger tables."""


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
        parquet: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> dd.DataFrame | Path:
        """List the pairs of variants in LD in a long table, computed chunk by chunk.

        Parameters
        ----------
        threshold
            Smallest r2 of a pair in the table, in [0, 1].
        window
            Largest distance between two variants, as for `ld`. The default is all pairs on the same
            contig.
        statistic
            "r2", or "r2_em" for dosages, as for `ld`.
        phased
            As for `ld`.
        parquet
            Folder to write the table to, one file for each tile. The call then computes all pairs,
            16 tiles at a time. If interrupted, repeat the call to resume; finished files are kept.
            Until the table is complete, Parquet readers raise an error. The error shows the name of
            a marker file, which tells you to repeat the call.
        progress
            Whether to show a progress bar while writing to ``parquet``. The default is
            ``get_options().progress``.

        Returns
        -------
            Lazy dask DataFrame with one partition for each pair of chunks that share a window. The
            columns are

            - ``variants_0`` < ``variants_1``: positions along ``variants``
            - ``contig``, ``position_0``, ``position_1``, ``id_0``, ``id_1``, where known
            - ``r`` and ``r2``, or ``r2_em``, float32

            ``.compute()`` loads the table into memory.

            With ``parquet``, the path of the folder, for ``pandas.read_parquet`` or
            ``dask.dataframe``.

        Raises
        ------
        ValueError
            For ``threshold`` outside [0, 1], another statistic, or unsorted positions. Also if the
            ``parquet`` folder holds the pairs of another call.
        RuntimeError
            If another run is writing to the ``parquet`` folder.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.ld_pairs(threshold=0.5).compute()
        >>> pairs[["variants_0", "variants_1", "r2"]].values.tolist()
        [[0.0, 1.0, 0.75]]
        """
        require("ld_pairs", "pyarrow")
        from genobit.data.pair_tables import as_arrow, as_frame, lazy_table
        from genobit.engine.schedule.windows import in_rows, wide_rows
        from genobit.ld import matrix

        check_share("threshold", threshold)
        if statistic not in {"r2", "r2_em"}:
            msg = f"statistic {statistic!r} of pairs is not one of r2, r2_em"
            raise ValueError(msg)
        size: int | str = (
            max(1, self._ds.sizes.get(model.VARIANTS, 0)) if window is None else window
        )

        def rows_of(ds: xr.Dataset, layout: Layout) -> int:
            default = get_options().chunk_rows_is_default
            if parquet is None or threshold < FEW_ABOVE or not default:
                return get_options().edge
            return max(get_options().edge, wide_rows(window_ends(ds, size), layout.bits))

        ds, layout, planes = packed.by_variants(self._ds, phased=phased, rows_of=rows_of)
        planes = in_rows(planes, rows_of(ds, layout))
        last, labels = window_ends(ds, size), pair_labels(ds)
        table = as_frame if parquet is None else as_arrow
        keys, graph, example = matrix.pair_tiles(
            planes, layout, last, threshold, labels, table, statistic
        )
        if parquet is not None:
            from genobit.ld import files

            question = {
                "statistic": statistic,
                "threshold": float(threshold),
                **files.question_of(planes, layout, last, labels),
            }
            return files.write(parquet, keys, graph, question, progress=progress)
        return lazy_table(keys, graph, example, "genobit-ld-pairs")
