"""``ds.genobit.ld_blocks``: haplotype blocks, with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.contigs import contig_of_variants
from genobit.data.windows import ContigRuns, contig_runs, last_in_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCKS = "blocks"


class LDBlocksMethods(DatasetMethods):
    """Methods of ``ds.genobit`` about haplotype blocks."""

    def ld_blocks(self, window: str = "200kb", *, min_maf: float = 0.05) -> xr.Dataset:
        """Find haplotype blocks: runs of variants with little evidence of recombination.

        Parameters
        ----------
        window
            Longest block, as a distance in base pairs.
        min_maf
            Smallest minor allele frequency. Rarer variants are removed before anything is computed.

        Returns
        -------
            Dataset, computed, with blocks in the order of the variants. ``first`` and ``last`` are
            positions along ``variants``, both included. ``first_position`` and ``last_position``
            are in base pairs; ``kb`` is the length in kb, counting both ends. ``n`` is the number
            of variants in the block that pass ``min_maf``. ``first_id``, ``last_id`` and ``contig``
            are included if known. The coordinate ``block`` (variants,) is the block number of each
            variant, or -1 outside all blocks. The labels of the variants are also coordinates.

        Raises
        ------
        KeyError
            Without ``variant_position``.
        ValueError
            For a ``window`` that is not a distance in base pairs, a ``min_maf`` outside [0, 0.5],
            or unsorted positions.

        Notes
        -----
        The rule follows Gabriel et al. (2002), as in ``plink --blocks no-pheno-req`` and Haploview;
        see `genobit.ld.blocks`. Phased haplotypes are summed to dosages, and D' is estimated from
        the dosages. Each pair uses the samples called at both variants. Memory holds a few chunks
        of variants, and the variants within ``window`` of these chunks. The result is the same
        for any chunking.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.random.default_rng(1).integers(0, 2, (4, 50, 2), "int8")
        >>> calls[1] = calls[2] = calls[0]
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "variant_position": ("variants", [1_000, 2_000, 3_500, 4_000]),
        ...     }
        ... )
        >>> found = ds.genobit.ld_blocks()
        >>> found[["first_position", "last_position", "n"]].to_array().values.tolist()
        [[1000], [3500], [3]]
        >>> found["block"].values.tolist()
        [0, 0, 0, -1]
        """
        from genobit.data import frequency
        from genobit.ld import blocks as ld_blocks

        span = ld_blocks.parse_span(window)
        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        position = model.values(ds, model.VARIANT_POSITION, needed_for="ld_blocks()")
        runs = contig_runs(ds)
        # Check all variants, so that an error names the index that the Dataset has.
        last_in_window(len(position), runs, position, span, model.VARIANT_POSITION)
        shares = np.asarray(frequency.allele_frequency(planes, layout))
        kept = ld_blocks.frequent(shares, min_maf)
        kept = kept[runs.of_variants(len(position))[kept]]
        starts = np.unique(np.searchsorted(kept, runs.starts))
        last = last_in_window(
            kept.size,
            ContigRuns(starts, np.ones(starts.size, bool)),
            position[kept],
            span,
            model.VARIANT_POSITION,
        )
        chosen = {name: plane[kept] for name, plane in planes.items()}
        first, ends = ld_blocks.blocks(chosen, layout, position[kept], last)
        attributes = {"window": window, "min_maf": min_maf}
        return _labelled(ds, kept, first, ends).assign_attrs(attributes)


def _labelled(
    ds: xr.Dataset,
    kept: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> xr.Dataset:
    """Label the blocks: ``kept`` are the variants that passed ``min_maf``."""
    block = np.full(ds.sizes[model.VARIANTS], -1, np.int64)
    n = last - first + 1
    inside = np.repeat(first - np.cumsum(n) + n, n) + np.arange(n.sum())
    block[kept[inside]] = np.repeat(np.arange(first.size), n)
    ends = {"first": kept[first], "last": kept[last]}
    variables: dict[str, NDArray[Any]] = dict(ends)
    for label, variable in (("position", model.VARIANT_POSITION), ("id", model.VARIANT_ID)):
        if variable in ds.variables:
            values = np.asarray(labels.as_objects(ds[variable].variable, variable).values)
            variables |= {f"{end}_{label}": values[at] for end, at in ends.items()}
    # A span is a whole number of base pairs and counts both ends.
    base_pairs = variables["last_position"] - variables["first_position"] + 1
    variables |= {"kb": base_pairs / 1000, "n": n}
    contig = contig_of_variants(ds)
    if contig is not None:
        variables["contig"] = contig[ends["first"]]
    coords = {**result_labels.along(ds, model.VARIANTS), "block": (model.VARIANTS, block)}
    columns = {name: (BLOCKS, labels.as_column(values)) for name, values in variables.items()}
    return xr.Dataset(columns, coords)
