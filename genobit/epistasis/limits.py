"""`EpistasisLimits`: which combinations a search includes, as the caller gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from genobit.engine.own_words import own_words


@own_words
@dataclass(frozen=True, eq=False, kw_only=True)
class EpistasisLimits:
    """Limits on the combinations that ``ds.genobit.epistasis`` includes.

    By default, only ``min_n`` limits the combinations.

    Parameters
    ----------
    variants_0, variants_1
        Sets of variants: identifiers, integer positions along the variants, or a mask. A
        combination must contain a variant of the given set. With both sets, it must contain two
        different variants, one from each set. A mask that is a DataArray or Series is aligned by
        its labels.
    min_gap
        Smallest distance between two members on one contig: "1Mb", "500kb", "2cM", or a number of
        variants.
    max_r2
        Largest r2 between two members of a combination.
    prefilter
        Search only this many variants: the variants with the largest single-variant mutual
        information. Variants in ``variants_0`` and ``variants_1`` are always searched. The
        statistics "f", "linear" and "logistic" have no prefilter.
    min_n
        Smallest number of samples with calls at all members of a ranked combination. The default is
        half of the samples with a phenotype. With few samples, large scores arise by chance.
    min_count
        A combination is ranked only if each class, and each genotype cell that is not empty, has at
        least this many samples. The samples of a cell are counted over all classes. Only samples
        with calls at all members count.

    Notes
    -----
    ``epistasis`` checks the values, because their ranges depend on the data.

    Examples
    --------
    >>> import genobit as gb, numpy as np, xarray as xr
    >>> calls = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]], "int8")
    >>> calls = np.stack([calls, calls], axis=-1)
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> limits = gb.EpistasisLimits(variants_0=[2], min_n=0)
    >>> ds.genobit.epistasis([0, 1, 1, 0], limits=limits).variants.values.tolist()
    [[0, 2], [1, 2]]
    """

    variants_0: Any = None
    variants_1: Any = None
    min_gap: int | str | None = None
    max_r2: float | None = None
    prefilter: int | None = None
    min_n: int | None = None
    min_count: int = 0
