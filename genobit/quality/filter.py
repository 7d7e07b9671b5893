"""Rules that remove samples and variants, in the order of plink 1.9.

The order is missing calls of samples, then of variants, the Hardy-Weinberg test, and the minor
allele frequency. Thresholds have the relative tolerance of plink 1.9, so a value at the threshold
is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genobit.engine.progress import say, warn
from genobit.engine.schedule.computing import compute
from genobit.quality.samples import Sums, calls_present, expected_calls, sample_sums
from genobit.quality.sets import sample_sets
from genobit.quality.variants import Counts, hardy_weinberg, variant_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dask.array as da
    from numpy.typing import NDArray

    from genobit.engine.bits.layout import Layout
    from genobit.quality.roles import Roles

ROUNDING = 2.0**-44
"""Relative tolerance of thresholds."""


_REMEDIES = {
    "passed": "look at ds.variant_filter, and give passed=False to keep them",
    "max_sample_missing": "if many variants have few calls, remove those first, in a call of "
    "filter(max_missing=) before this one",
    "max_missing": "if few samples lack most calls, give max_sample_missing= too: it applies first",
    "min_hwe": "inbred lines and mixed populations are not in equilibrium. Leave min_hwe= out, or "
    "give one population of outbred samples as hwe_samples=",
}
"""Advice for a rule that removes more than half. "min_maf" needs none, since most variants of a
sequenced cohort are rare."""


class Removed(NamedTuple):
    """Numbers of samples or variants that a rule tested and removed."""

    rule: str
    """The rule with its threshold, as in a call."""
    lost: int
    before: int
    """Number of samples or variants before the rule."""
    dim: str

    @property
    def name(self) -> str:
        """Return the name of the rule."""
        return self.rule.partition("=")[0]


def tell(removed: Removed) -> None:
    """Print the numbers of a rule; warn if it removed more than half."""
    line = f"{removed.rule} removed {removed.lost:,} of {removed.before:,} {removed.dim}"
    say(line)
    if 2 * removed.lost > removed.before and removed.name in _REMEDIES:
        warn(f"{line}, which is most of them: {_REMEDIES[removed.name]}")


class Kept(NamedTuple):
    """Variants and samples that pass the rules; None means that no rule applied."""

    samples: NDArray[np.bool_] | None
    variants: NDArray[np.bool_] | None
    removed: list[Removed]


class Rules(NamedTuple):
    """Thresholds; None applies no rule."""

    max_sample_missing: float | None
    max_missing: float | None
    min_hwe: float | None
    min_maf: float | None
    midp: bool

    def thresholds(self) -> dict[str, float]:
        """Return the thresholds that are given, by name."""
        named = self._asdict()
        del named["midp"]
        return {name: limit for name, limit in named.items() if limit is not None}


def judge(
    planes: dict[str, da.Array],
    layout: Layout,
    kinds: NDArray[np.uint8],
    roles: Roles,
    rules: Rules,
) -> Kept:
    """Return what passes all rules; computes one pass over the planes, or two with samples."""
    removed: list[Removed] = []
    samples = None
    if rules.max_sample_missing is not None:
        lazy = sample_sums(planes, kinds, roles, layout, small_sample=False)
        (sums,) = compute(lazy)
        samples = kept_samples(Sums(*sums), kinds, roles, rules.max_sample_missing)
        removed.append(_removed("max_sample_missing", rules, samples.size, samples, "samples"))
        roles = roles._replace(kept=samples)
    if removed and len(rules.thresholds()) == 1:
        return Kept(samples, None, removed)
    (counts,) = compute(variant_counts(planes, kinds, sample_sets(roles), layout))
    variants = np.ones(kinds.size, bool)
    for name, passed in kept_variants(Counts(*counts), rules):
        before = int(variants.sum())
        variants &= passed
        removed.append(_removed(name, rules, before, variants, "variants"))
    return Kept(samples, variants, removed)


def kept_samples(
    found: Sums, kinds: NDArray[np.uint8], roles: Roles, limit: float
) -> NDArray[np.bool_]:
    """Return the samples (samples,) whose share of missing calls is at most the limit."""
    expected = expected_calls(kinds, roles)
    missing = expected - calls_present(found, roles)
    return missing <= np.floor(limit * expected * (1 + ROUNDING))


def kept_variants(found: Counts, rules: Rules) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the name of each rule that applies, and the variants that it keeps alone."""
    with np.errstate(invalid="ignore"):
        if rules.max_missing is not None:
            rate = np.where(found.n_samples > 0, found.n_called / found.n_samples, 0)
            yield "max_missing", rate >= (1 - rules.max_missing) * (1 - ROUNDING)
        if rules.min_hwe is not None:
            p = hardy_weinberg(found, midp=rules.midp)
            yield "min_hwe", ~(p < rules.min_hwe * (1 - ROUNDING))
        if rules.min_maf is not None:
            # A variant without called alleles has no frequency, and plink keeps it.
            yield "min_maf", ~(found.rarer() < rules.min_maf * (1 - ROUNDING))


def _removed(name: str, rules: Rules, before: int, kept: NDArray[np.bool_], dim: str) -> Removed:
    """Return the numbers of a rule; raise ValueError if none is left."""
    rule = f"{name}={rules.thresholds()[name]:g}"
    if not kept.any():
        msg = (
            f"{rule} leaves none of the {kept.size:,} {dim}: look at "
            f"ds.genobit.{dim[:-1]}_stats(), and give a threshold that some of them pass"
        )
        raise ValueError(msg)
    return Removed(rule, before - int(kept.sum()), before, dim)
