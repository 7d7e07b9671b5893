"""The data of a report: the Dataset, the variants of its sections, and the colours of samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import layouts, model
from genobit.data.autosomes import choose
from genobit.data.availability import unmet_need
from genobit.data.contigs import contigs_in
from genobit.data.genotype_methods import GenotypeMethods
from genobit.data.haploid import is_haploid
from genobit.engine.options import get_options
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr
    from numpy.typing import NDArray

    from genobit.visual.colouring import Colouring

MIN_MAF = 0.05
#: Most variants of principal components and kinship. Both change little with more.
SPREAD_VARIANTS = 50_000
#: Most variants of the decay, and of a run of neighbours among them.
DECAY_VARIANTS, RUN = 20_000, 1_000


@dataclass(frozen=True)
class Cohort:
    """A Dataset, the colours of its samples, and a function for statistics of its variants."""

    ds: xr.Dataset
    colour: Colouring
    variant_stats: Callable[[], xr.Dataset]

    @property
    def samples(self) -> int:
        """Number of samples."""
        return self.ds.sizes[model.SAMPLES]

    @property
    def variants(self) -> int:
        """Number of variants."""
        return self.ds.sizes[model.VARIANTS]

    def lacks(self, method: str) -> str:
        """Return what the Dataset lacks for a method, as a clause; "" if nothing."""
        if is_haploid(self.ds):
            return "the report is of diploid genotypes, and these are haploid"
        wants = unmet_need(self.ds, method)
        return f"{method} needs {wants}, which the Dataset lacks" if wants else ""

    @cached_property
    def stats(self) -> xr.Dataset:
        """Statistics of the variants, computed."""
        return self.variant_stats()

    @cached_property
    def common(self) -> NDArray[np.intp]:
        """Positions of the common autosomal variants."""
        kept = self.stats["maf"].values >= MIN_MAF
        autosomal = choose(self.ds, autosomes=True).kept
        return np.flatnonzero(kept if autosomal is None else kept & autosomal)

    @cached_property
    def spread(self) -> xr.Dataset:
        """Evenly spaced common variants, packed."""
        return self._packed(evenly(self.common, SPREAD_VARIANTS))

    @cached_property
    def runs(self) -> xr.Dataset:
        """Evenly spaced runs of neighbouring common variants, packed."""
        return self._packed(runs_of(self.common, DECAY_VARIANTS, RUN))

    def _packed(self, places: NDArray[np.intp]) -> xr.Dataset:
        chosen = GenotypeMethods(self.ds).isel(variants=places)
        if layouts.layout_of(chosen) is None:
            chosen = GenotypeMethods(chosen).pack()
        size = sum(plane.nbytes for plane in chosen.data_vars.values())
        # Several sections read the planes, so they are computed once if they fit.
        return chosen.compute() if size <= get_options().eager_limit // 4 else chosen

    def without_common(self, least: int = 1) -> str:
        """Return a clause if there are fewer than `least` common autosomal variants."""
        if self.common.size >= least:
            return ""
        return (
            f"{number(self.common.size, 'autosomal variant')} of {self.variants:,} with a minor "
            f"allele frequency of at least {MIN_MAF}, and {least} are needed"
        )

    def title(self, stem: str) -> str:
        """Return the title of the page, from the name of its file."""
        return f"{stem}: {number(self.samples, 'sample')}, {number(self.variants, 'variant')}"

    def paragraphs(self) -> list[str]:
        """Return the summary of the data."""
        found = contigs_in(self.ds)
        text = f"{number(self.samples, 'sample')} and {number(self.variants, 'variant')}"
        if found is not None:
            used = np.unique(found.numbers)
            names = [str(name) for name in found.names[used]]
            shown = f"{', '.join(names[:30])}{' ...' if len(names) > 30 else ''}"
            text += f" on {number(len(names), 'contig')} ({shown})"
        lines = [f"{text}. Each section says which of them it uses."]
        if self.colour.name:
            lines.append(f"Samples are coloured by {self.colour.name}.")
        return lines

    def rule(self, used: xr.Dataset, spacing: str) -> str:
        """Return the rule that chose the variants of a section, as a sentence."""
        count, common = used.sizes[model.VARIANTS], self.common.size
        those = f"on autosomes with a minor allele frequency of at least {MIN_MAF}"
        if count == common:
            return f"From {count:,} of {self.variants:,} variants: all {those}."
        return f"From {count:,} variants, {spacing} among the {common:,} {those}."


def evenly(places: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most `most` evenly spaced members.

    Examples
    --------
    >>> evenly(np.arange(10), 4).tolist()
    [0, 3, 6, 9]
    """
    if places.size <= most:
        return places
    return places[np.linspace(0, places.size - 1, most).round().astype(np.intp)]


def runs_of(places: NDArray[np.intp], most: int, run: int) -> NDArray[np.intp]:
    """Return at most `most` members in evenly spaced runs of `run` neighbours.

    Examples
    --------
    >>> runs_of(np.arange(20), 6, 3).tolist()
    [0, 1, 2, 17, 18, 19]
    """
    if places.size <= most:
        return places
    starts = np.linspace(0, places.size - run, most // run).round().astype(np.intp)
    return places[(starts[:, None] + np.arange(run)).ravel()]


def share(part: Any, whole: int) -> str:
    """Return a count with its share of the whole, as text."""
    return f"{int(part):,} ({int(part) / whole:.2%})" if whole else f"{int(part):,}"
