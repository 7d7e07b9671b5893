"""Quality control of a cohort: call rates, allele frequencies, Hardy-Weinberg, heterozygosity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.data.selection import names_along
from genobit.quality.methods.statistics import QualityMethods
from genobit.quality.plots.kinds import RESULTS
from genobit.visual.report.cohort import share
from genobit.visual.report.sections import Figure, Part, Section, Table
from genobit.visual.results import draw
from genobit.visual.style import number

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    from genobit.visual.report.cohort import Cohort
    from genobit.visual.report.sections import Stopwatch

MIN_CALL_RATE = 0.98
RARE = 0.01
MIN_HWE = 1e-6
#: Distance from the mean heterozygosity, in standard deviations, that is worth a look.
DEVIATIONS = 4.0
LISTED = 10


def lacking(cohort: Cohort) -> str:
    """Return what the data lack for the section; "" if nothing."""
    return cohort.lacks("variant_stats")


def section(cohort: Cohort, watch: Stopwatch) -> Section:
    """Compute the statistics of variants and samples, and draw them."""
    with watch.step("Statistics of variants", number(cohort.variants, "variant")):
        variants = cohort.stats
    with watch.step("Statistics of samples", number(cohort.samples, "sample")):
        samples = QualityMethods(cohort.ds).sample_stats().compute()
    with watch.step("Pictures of quality control"):
        figures = (*_of_variants(variants), *_of_samples(samples, cohort))
    return Section(
        PARTS["quality"].title,
        "From all variants and samples. The limits below are common ones. Nothing was removed. "
        "ds.genobit.filter(min_maf=, max_missing=, min_hwe=) removes variants.",
        (_counts(variants, samples), *figures, *_suspects(samples)),
    )


def _counts(variants: xr.Dataset, samples: xr.Dataset) -> Table:
    """Return how many variants and samples are beyond each limit."""
    n_variants, n_samples = variants.sizes["variants"], samples.sizes["samples"]
    maf, hwe = variants["maf"].values, variants["hwe_p"].values
    call_rate = variants["call_rate"].values
    rows = [
        ("mean call rate of variants", f"{np.nanmean(call_rate):.2%}"),
        (
            f"variants with a call rate below {MIN_CALL_RATE:.0%}",
            share((call_rate < MIN_CALL_RATE).sum(), n_variants),
        ),
        ("variants with one allele", share((maf == 0).sum(), n_variants)),
        (f"variants whose rarer allele is below {RARE:.0%}", share(_rare(maf), n_variants)),
        (
            f"variants with a Hardy-Weinberg p below {MIN_HWE:g}",
            share((hwe < MIN_HWE).sum(), n_variants),
        ),
        (
            f"samples with a call rate below {MIN_CALL_RATE:.0%}",
            share((samples["call_rate"].values < MIN_CALL_RATE).sum(), n_samples),
        ),
        (
            f"samples more than {DEVIATIONS:g} standard deviations from the mean heterozygosity",
            share(_outlying(samples).sum(), n_samples),
        ),
    ]
    haploid = int(variants["n_het_haploid"].values.sum())
    if haploid:
        rows.append(("heterozygous calls where a sample has one chromosome copy", f"{haploid:,}"))
    if "sex_status" in samples:
        wrong = share(_of_other_sex(samples).sum(), n_samples)
        rows.append(("samples whose recorded sex differs from chromosome X", wrong))
    names, counts = zip(*rows, strict=True)
    return Table(
        "Summary",
        "A call rate is the share of calls that are present.",
        {"what": list(names), "value": list(counts)},
        frozenset({"value"}),
    )


def _rare(maf: NDArray[np.float64]) -> int:
    return int(((maf > 0) & (maf < RARE)).sum())


def _outlying(samples: xr.Dataset) -> NDArray[np.bool_]:
    """Return the samples whose heterozygosity is far from the mean (samples,)."""
    het = samples["het"].values
    if not np.isfinite(het).any():
        return np.zeros(het.size, bool)
    far: NDArray[np.bool_] = np.abs(het - np.nanmean(het)) > DEVIATIONS * np.nanstd(het)
    return far


def _of_other_sex(samples: xr.Dataset) -> NDArray[np.bool_]:
    """Return the samples whose recorded sex is not that of chromosome X (samples,).

    A sex that is not recorded, or not decided from X, differs from nothing.
    """
    if "sex_status" not in samples:
        return np.zeros(samples.sizes["samples"], bool)
    recorded, inferred = samples["sample_sex"].values, samples["sex_inferred"].values
    return np.isin(recorded, [1, 2]) & np.isin(inferred, [1, 2]) & (recorded != inferred)


def _varies(values: NDArray[np.float64]) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size) and known.min() < known.max()


def _of_variants(stats: xr.Dataset) -> list[Figure]:
    figures = []
    if np.isfinite(stats["maf"].values).any():
        figures.append(
            Figure(
                "Allele frequencies",
                "Frequency of the rarer allele of each variant.",
                draw(stats, RESULTS, "spectrum"),
            )
        )
    if _varies(stats["call_rate"].values):
        figures.append(
            Figure(
                "Call rate of variants",
                "Share of the samples with a call. The axis of counts is logarithmic.",
                draw(stats, RESULTS, "histogram", statistic="call_rate"),
            )
        )
    if np.isfinite(stats["hwe_p"].values).any():
        figures.append(
            Figure(
                "Hardy-Weinberg test",
                "Each point is a variant. Points far above the line have fewer or more "
                "heterozygotes than expected. Genotyping errors cause this, and so do several "
                "populations in one cohort.",
                draw(stats, RESULTS, "hwe"),
            )
        )
    return figures


def _of_samples(stats: xr.Dataset, cohort: Cohort) -> list[Figure]:
    if not np.isfinite(stats["het"].values).any():
        return []
    if _varies(stats["call_rate"].values):
        drawn = draw(stats, RESULTS, "scatter", colour_by=cohort.colour)
        title, caption = "Call rate and heterozygosity", "Each point is a sample. "
    else:
        drawn = draw(stats, RESULTS, "histogram", statistic="het")
        title, caption = "Heterozygosity of samples", "All samples have the same call rate. "
    text = "Contamination raises heterozygosity; inbreeding and poor calls lower it."
    return [Figure(title, caption + text, drawn)]


def _suspects(samples: xr.Dataset) -> list[Table]:
    """Return the samples beyond a limit as a table; none if there are none."""
    call_rate, het = samples["call_rate"].values, samples["het"].values
    reasons: list[list[str]] = [[] for _ in range(call_rate.size)]
    for mask, reason in (
        (call_rate < MIN_CALL_RATE, "call rate"),
        (_outlying(samples), "heterozygosity"),
        (_of_other_sex(samples), "sex"),
    ):
        for place in np.flatnonzero(mask):
            reasons[place].append(reason)
    found = [place for place, reason in enumerate(reasons) if reason]
    if not found:
        return []
    found.sort(key=lambda place: (-len(reasons[place]), call_rate[place]))
    shown, names = found[:LISTED], names_along(samples, "samples")
    caption = f"{number(len(found), 'sample')} beyond a limit of the summary."
    if len(found) > LISTED:
        caption += f" The table lists {LISTED}: most reasons first, then the lowest call rate."
    return [
        Table(
            "Samples to look at",
            caption,
            {
                "sample": [str(names[place]) for place in shown],
                "reason": [", ".join(reasons[place]) for place in shown],
                "call rate": [f"{call_rate[place]:.2%}" for place in shown],
                "heterozygosity": [f"{het[place]:.4f}" for place in shown],
            },
            frozenset({"call rate", "heterozygosity"}),
        )
    ]


PARTS = {"quality": Part("Quality control", lacking, section)}
