"""Arguments of an epistasis search, checked: which combinations it includes and how it ranks them.

- ``variants_0`` and ``variants_1`` are sets. A combination holds a member of one set and, if both
  are given, another variant from the other set.
- ``min_gap`` excludes combinations with two members on one contig that are closer.
- ``max_r2`` excludes combinations with a larger r2 between two members. r2 is computed as in
  `genobit.ld.matrix`, from dosages of all samples with calls at both variants.
- ``prefilter=n`` searches the n variants with the largest mutual information with the class. The
  first variants win ties. Variants of the sets are always kept.
"""

from __future__ import annotations

import numbers
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genobit.data import labels
from genobit.data.checks import check_integer, check_one_of, check_share, is_whole
from genobit.engine.spelling import did_you_mean
from genobit.epistasis.limits import EpistasisLimits

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG_NAMES = {
    "mutual_information": "mutual information of genotypes and class, nats",
    "chi2": "Pearson's chi2 of genotypes and class",
    "gain": "mutual information less that of the best combination of all members but one, nats",
    "boost": "likelihood ratio of the interaction (BOOST)",
    "f": "F of the interaction on the trait",
    "linear": "F of the product of dosages in a linear regression",
    "logistic": "likelihood ratio of the product of dosages in a logistic regression",
}
REGRESSIONS = ("linear", "logistic")
"""Statistics that take covariates."""
LARGEST_ORDER = 18
"""Largest order whose cells `genobit.epistasis.kernels.tables_by_sample` can number."""


class SearchSpec(NamedTuple):
    """Checked arguments of a search."""

    order: int
    top: int
    statistic: str
    permutations: int
    seed: int
    min_n: int
    min_count: int


def limits_of(limits: object) -> EpistasisLimits:
    """Return the limits of a call, by default none. Raises TypeError for another object."""
    if limits is None:
        return EpistasisLimits()
    if not isinstance(limits, EpistasisLimits):
        msg = (
            f"limits={limits!r} is not a gb.EpistasisLimits: give for example "
            "gb.EpistasisLimits(min_gap='1Mb')"
        )
        raise TypeError(msg)
    return limits


def checked(
    *,
    order: int,
    top: int,
    statistic: str,
    permutations: int,
    seed: int,
    min_n: int | None,
    min_count: int,
    variants: int,
    samples: int,
    classes: int,
) -> SearchSpec:
    """Check the arguments of a search; raises ValueError with the valid choices.

    ``min_n`` defaults to half of the samples. Chance alone gives a combination an MI of about
    df / 2n, so with a few complete cases it exceeds any effect.
    """
    check_one_of("statistic", statistic, LONG_NAMES)
    check_integer("order", order, 2 if statistic == "gain" else 1)
    for name, number, least in (
        ("top", top, 1),
        ("permutations", permutations, 0),
        ("seed", seed, 0),
        ("min_n", 0 if min_n is None else min_n, 0),
        ("min_count", min_count, 0),
    ):
        check_integer(name, number, least)
    if order > LARGEST_ORDER:
        msg = (
            f"order={order} has tables of 3^{order} cells, and a search counts at most "
            f"3^{LARGEST_ORDER}: give order= at most {LARGEST_ORDER}"
        )
        raise ValueError(msg)
    if order > variants:
        msg = (
            f"order={order} takes as many variants, and the Dataset has {variants}: give order= at "
            "most that many"
        )
        raise ValueError(msg)
    if statistic in {"boost", "f", *REGRESSIONS} and order != 2:
        msg = f"statistic={statistic!r} is of pairs, not of order={order}: take order=2"
        raise ValueError(msg)
    if statistic in {"boost", "logistic"} and classes != 2:
        msg = f"statistic={statistic!r} takes two classes, and the phenotype has {classes}"
        raise ValueError(msg)
    if statistic in REGRESSIONS and permutations:
        msg = (
            f"permutations= does not take statistic={statistic!r}: permuted phenotypes would lose "
            "their association with the covariates; leave permutations= out, and multiply p by "
            "attrs['combinations'] of the result (Bonferroni)"
        )
        raise ValueError(msg)
    if permutations and order == 1:
        msg = "permutations= takes order=2 or more"
        raise ValueError(msg)
    least = -(-samples // 2) if min_n is None else min_n
    # JSON of a checkpoint takes no numpy integers.
    drawn = int(permutations), int(seed)
    return SearchSpec(int(order), int(top), statistic, *drawn, int(least), int(min_count))


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
            msg = f"{name}[{k}] is {text!r}, which is not in variant_id{did_you_mean(text, known)}"
            raise ValueError(msg)
        if known[text] > 1:
            first, second = np.flatnonzero(texts == text)[:2]
            msg = (
                f"{name}[{k}] is {text!r}, which variant_id has at {first} and at {second} along "
                "'variants': give positions or a mask"
            )
            raise ValueError(msg)
    return np.asarray(pd.Index(texts, dtype=object).isin(wanted))


def checked_limits(limits: Limits, order: int, count: int) -> Limits:
    """Return the limits; raises TypeError or ValueError for one that is out of range."""
    if limits.max_r2 is not None:
        check_share("max_r2", limits.max_r2)
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
