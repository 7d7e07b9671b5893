"""The combinations of variants that an epistasis search includes.

- ``variants_0`` and ``variants_1`` are sets. A combination holds a member of one set and, if both
  are given, another variant from the other set.
- ``min_gap`` excludes combinations with two members on one contig that are closer.
- ``max_r2`` excludes combinations with two members of larger r2. It is computed as in
  `genobit.ld.matrix`, from dosages of all samples with calls at both variants.
- ``prefilter=n`` searches the n variants with the largest mutual information with the class. The
  first variants win ties, and members of the sets are always kept.
"""

from __future__ import annotations

import numbers
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels
from genobit.data.checks import is_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.epistasis.kernels.tables import Classes
    from genobit.epistasis.schedule.variants import Scope
    from genobit.epistasis.search import Wanted


class Limits(NamedTuple):
    """Limits on the combinations of a search; arrays are (variants,)."""

    sets: tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None] = (None, None)
    """Masks of variants_0 and of variants_1; None if not given."""
    gap: float = 0.0
    """Least distance of two members on one contig."""
    contigs: NDArray[np.integer] | None = None
    coordinates: NDArray[Any] | None = None
    """Coordinates that ``gap`` refers to; the variant's number if None."""
    max_r2: float | None = None
    prefilter: int | None = None

    @property
    def none(self) -> bool:
        """Whether there are no limits, so that all combinations are searched."""
        return (
            all(members is None for members in self.sets)
            and not self.gap
            and self.max_r2 is None
            and self.prefilter is None
        )

    def described(self, min_gap: str | None) -> dict[str, Any]:
        """Return the limits as attributes of the result; ``min_gap`` has its unit."""
        sizes = {k: np.count_nonzero(set_) for k, set_ in enumerate(self.sets) if set_ is not None}
        about: dict[str, Any] = {
            f"variants_{k}": f"{size} variant{'' if size == 1 else 's'}"
            for k, size in sizes.items()
        }
        if self.gap:
            about["min_gap"] = min_gap
        if self.max_r2 is not None:
            about["max_r2"] = self.max_r2
        if self.prefilter is not None:
            about["prefilter"] = (
                f"the {self.prefilter} variants with the largest mutual information with the "
                "class, and members of the sets"
            )
        return about


def members_of(name: str, variants: Any, count: int, ids: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Return a set of variants as a mask (count,).

    variants: identifiers, positions along the variants or a boolean mask; ids: (count,) or None.
    Raises ValueError for a mask of another length, a position past the last variant, an identifier
    that is unknown or not unique, and an empty set. Raises TypeError for anything else.

    Examples
    --------
    >>> members_of("variants_0", ["rs2"], 3, np.array(["rs1", "rs2", "rs3"])).tolist()
    [False, True, False]
    >>> members_of("variants_0", [0, -1], 3, None).tolist()
    [True, False, True]
    """
    if isinstance(variants, slice | set | frozenset | dict) or callable(variants):
        msg = (
            f"{name} is a {type(variants).__name__}: give a list of identifiers of variants or of "
            "positions, or a boolean mask"
        )
        raise TypeError(msg)
    given = np.atleast_1d(np.asarray(variants))
    whole = (isinstance(v, numbers.Integral) and not isinstance(v, bool) for v in given.flat)
    if given.dtype == object and all(whole):
        given = given.astype(np.int64)
    if given.ndim != 1:
        msg = f"{name} has shape {given.shape}: give a list of variants"
        raise ValueError(msg)
    if given.size == 0:
        msg = f"{name} is empty: name a variant, or leave it out for all"
        raise ValueError(msg)
    if given.dtype == bool:
        out = _mask(name, given, count)
    elif np.issubdtype(given.dtype, np.integer):
        wrong = np.flatnonzero((given < -count) | (given >= count))
        if wrong.size:
            k = int(wrong[0])
            msg = f"{name}[{k}] is {given[k]}, and there are {count} variants"
            raise ValueError(msg)
        out = np.zeros(count, bool)
        out[given] = True
    elif given.dtype.kind in "UOST":
        out = _named(name, given, ids)
    else:
        msg = (
            f"{name} holds {given.dtype} values: give identifiers of variants, their positions "
            "along the variants dimension, or a boolean mask"
        )
        raise TypeError(msg)
    return out


def _mask(name: str, given: NDArray[Any], count: int) -> NDArray[np.bool_]:
    if given.size != count:
        msg = f"{name} is a mask of {given.size} values, and there are {count} variants"
        raise ValueError(msg)
    if not given.any():
        msg = f"{name} is a mask without a variant: mark one, or leave it out for all"
        raise ValueError(msg)
    return given


def _named(name: str, given: NDArray[Any], ids: NDArray[Any] | None) -> NDArray[np.bool_]:
    if ids is None:
        msg = f"{name} names variants, and the Dataset has no variant_id: give positions or a mask"
        raise ValueError(msg)
    texts, wanted = labels.text(ids), labels.text(given, name)
    known = Counter(texts.tolist())
    for k, text in enumerate(wanted.tolist()):
        if not known[text]:
            msg = f"{name}[{k}] is {text!r}, which is not in variant_id"
            raise ValueError(msg)
        if known[text] > 1:
            first, second = np.flatnonzero(texts == text)[:2]
            msg = (
                f"{name}[{k}] is {text!r}, which variant_id has at {first} and at {second} along "
                "'variants': give positions or a mask"
            )
            raise ValueError(msg)
    return np.asarray(pd.Index(texts, dtype=object).isin(wanted))


def checked(limits: Limits, order: int, count: int) -> Limits:
    """Return the limits; raises TypeError or ValueError for one that is out of range."""
    if limits.max_r2 is not None:
        given: Any = limits.max_r2
        if isinstance(given, bool) or not isinstance(given, numbers.Real):
            msg = f"max_r2={limits.max_r2!r} is not a number"
            raise TypeError(msg)
        if not 0 <= limits.max_r2 <= 1:
            msg = f"max_r2={limits.max_r2!r} is outside [0, 1]"
            raise ValueError(msg)
        limits = limits._replace(max_r2=float(limits.max_r2))
    n = limits.prefilter
    if n is not None and not is_whole(n, order):
        msg = f"prefilter={n!r} is not a whole number of at least order={order} variants"
        raise ValueError(msg)
    if limits.gap and limits.coordinates is not None:
        wrong = np.flatnonzero(~np.isfinite(np.asarray(limits.coordinates, np.float64)))
        if wrong.size:
            msg = f"variants={wrong[0]} of {count} has no position, which min_gap= needs"
            raise ValueError(msg)
    return limits


def scope_of(
    limits: Limits,
    classes: Classes,
    planes: Mapping[str, da.Array],
    layout: Layout,
    wanted: Wanted,
) -> Scope | None:
    """Return the scope of a search; None for all combinations.

    Raises ValueError if ``prefilter`` leaves fewer variants than a combination has, and MemoryError
    if the linked pairs take more than ``get_options().eager_limit``.
    """
    from genobit.epistasis.schedule.variants import Scope

    if limits.none:
        return None
    count = classes.planes[0].shape[1]
    sets = [np.zeros(count, bool) if m is None else m for m in limits.sets]
    one, two = any(m.any() for m in sets), all(m.any() for m in sets)
    kept = _prefiltered(classes, limits.prefilter, sets[0] | sets[1], wanted)
    first, second = sorted(sets, key=lambda m: (not m[kept].any(), np.count_nonzero(m[kept])))
    # Order of the variants: those of no set (0), of the larger set (1), of the smaller set (2).
    last = np.where(first, 2, np.where(second, 1, 0))[kept]
    places = kept[np.argsort(last, kind="stable")]
    marks = (sets[0] + 2 * sets[1]).astype(np.uint8)
    contigs = np.zeros(count) if limits.contigs is None else limits.contigs
    coordinates = np.arange(count) if limits.coordinates is None else limits.coordinates
    linked = np.empty((0, 0), np.uint8)
    if limits.max_r2 is not None:
        linked = _linked(planes, layout, places, limits.max_r2)
    return Scope(
        places,
        int(np.count_nonzero(last == 2)) if one else 0,
        int(np.count_nonzero(last)) if two else 0,
        marks[places] if two else np.empty(0, np.uint8),
        np.asarray(contigs, np.int64)[places],
        np.asarray(coordinates, np.float64)[places],
        float(limits.gap),
        linked,
    )


def _prefiltered(
    classes: Classes, n: int | None, always: NDArray[np.bool_], wanted: Wanted
) -> NDArray[np.int64]:
    """Return the n best single variants and the variants of the sets, ascending.

    Variants with too few calls for any combination to be ranked are not among the n.
    """
    from genobit.epistasis.kernels.mutual_information import x_log_x
    from genobit.epistasis.kernels.statistics import MUTUAL_INFORMATION, scores_of
    from genobit.epistasis.kernels.tables import count_cells

    every = np.arange(classes.planes[0].shape[1])
    if n is None or n >= every.size:
        return every
    tables = count_cells(classes, every[:, None])
    scores = scores_of(tables, MUTUAL_INFORMATION, x_log_x(sum(classes.sizes)))
    of_class = tables.sum(axis=1)
    enough = (of_class.sum(axis=0) >= wanted.min_n) & (of_class.min(axis=0) >= wanted.min_count)
    known = np.flatnonzero(enough & ~np.isnan(scores))
    best = known[np.argsort(-scores[known], kind="stable")[:n]]
    kept = np.flatnonzero(np.isin(every, best) | always)
    if kept.size < wanted.order:
        msg = (
            f"prefilter={n} leaves {kept.size} of {every.size} variants with at least "
            f"min_n={wanted.min_n} samples and min_count={wanted.min_count} of each class, and "
            f"order={wanted.order} takes as many: lower min_n= or min_count="
        )
        raise ValueError(msg)
    return kept


def _linked(
    planes: Mapping[str, da.Array], layout: Layout, places: NDArray[np.int64], max_r2: float
) -> NDArray[np.uint8]:
    """Return the pairs with a larger r2 as bits, (variants, bytes); NaN is not larger.

    Raises MemoryError past ``get_options().eager_limit``.
    """
    from genobit.engine.options import get_options
    from genobit.engine.schedule.computing import compute
    from genobit.ld.matrix import matrix

    size, limit = places.size * (-(-places.size // 8)), get_options().eager_limit
    if size > limit:
        msg = (
            f"max_r2= holds a bit for each pair of {places.size:,} variants, {size / 2**20:,.1f} "
            f"MiB, more than eager_limit ({limit / 2**20:,.1f} MiB): give a smaller prefilter=, "
            "thin the variants, or raise gb.set_options(eager_limit=...)"
        )
        raise MemoryError(msg)
    # Compute the rows chunk by chunk, so that only one chunk of r2 is in memory.
    out = np.empty((places.size, -(-places.size // 8)), np.uint8)
    rows = {0: get_options().edge}
    r2 = matrix({k: plane[places].rechunk(rows) for k, plane in planes.items()}, layout, "r2")
    start = 0
    for count in r2.chunks[0]:
        (part,) = compute(r2[start : start + count])
        out[start : start + count] = np.packbits(part > max_r2, axis=1, bitorder="little")
        start += count
    return out
