"""The Dataset of an LD explorer, and one computed window of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels
from genobit.data import selection_by_label as by_label
from genobit.data.contigs import known_contigs
from genobit.data.genotype_methods import GenotypeMethods
from genobit.ld.explorer.region import Contig, Region, ShownVariants, region_text
from genobit.ld.explorer.tile_cache import TileCache
from genobit.ld.methods.blocks import LDBlocksMethods
from genobit.ld.methods.matrix import LDMethods
from genobit.ld.methods.region import study_of
from genobit.quality.methods.statistics import QualityMethods
from genobit.visual.pixels import Axis
from genobit.visual.style import number, scale_of

STATISTICS = {"haplotype": ("r2", "r", "D", "dprime"), "dosage": ("r2", "r", "r2_em", "dprime_em")}
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Variants in the first window of a contig.
FIRST_LOOK = 300
#: Most bytes of planes to load into memory, where every zoom reads them again.
KEPT_BYTES = 2**30


@dataclass(frozen=True)
class Window:
    """LD of the variants in view: `matrix` of the variants `shown`, chosen by `choice`."""

    shown: xr.Dataset
    matrix: xr.DataArray
    choice: ShownVariants
    position: np.ndarray
    seconds: float
    computed: int
    """Number of tiles that were not in the cache."""

    @cached_property
    def blocks(self) -> xr.Dataset:
        """Haplotype blocks of the variants."""
        return LDBlocksMethods(self.shown).ld_blocks()

    def extent(self, axis: Axis) -> tuple[float, float]:
        """Return the stretch of an axis that the window fills: "rank" or "position" (Mb)."""
        if axis == "rank":
            first = self.choice.first_rank
            return first - 0.5, first + self.choice.n_in_view - 0.5
        return float(self.position[0]) / 1e6, float(self.position[-1]) / 1e6

    def coordinates(self, axis: Axis) -> np.ndarray:
        """Return the coordinate of each variant on an axis: "rank" or "position" (Mb)."""
        if axis == "rank":
            ranks = np.arange(len(self.position), dtype="f8")
            return self.choice.first_rank + self.choice.step * ranks
        return self.position / 1e6

    def index_of(self, variant: int | None) -> int | None:
        """Return the index in the window of a variant of the Dataset, None if it is outside."""
        if variant is None:
            return None
        found = np.flatnonzero(self.choice.variants == variant)
        return int(found[0]) if len(found) else None

    def as_dataset(self, row: xr.DataArray | None) -> xr.Dataset:
        """Return the matrix, with r² of a lead variant as `lead_r2` if its row is given."""
        matrix = self.matrix.drop_attrs().assign_attrs(self.matrix.attrs)
        variables = {str(matrix.name): matrix}
        if row is not None:
            variables["lead_r2"] = row.isel(variants_1=0, drop=True).drop_attrs()
        return xr.Dataset(variables)

    def in_words(self) -> str:
        """Describe the computation for the status line."""
        n_variants = len(self.position)
        missing = int(np.isnan(np.diagonal(self.matrix.values)).sum())
        text = (
            f"{scale_of(str(self.matrix.name)).label}: {number(n_variants, 'variant')}, "
            f"{number(n_variants * (n_variants - 1) // 2, 'pair')}, "
            f"{missing:,} monomorphic, "
            f"{'computed' if self.computed else 'cached'} "
            f"in {1e3 * self.seconds:.0f} ms"
        )
        if self.choice.step > 1:
            text += (
                f"; thinned: {self.choice.in_words()} of the "
                f"{self.choice.n_in_view:,} variants in view"
            )
        return text


class Cohort:
    """The packed Dataset of an explorer, with the data to choose a window.

    Raises ValueError if the Dataset has no variants, or no positions and contigs.
    """

    def __init__(self, ds: xr.Dataset) -> None:
        for name in ("variant_position", "variant_contig"):
            if name not in ds.variables:
                raise ValueError(
                    f"the explorer needs {name} (variants), and the Dataset has none; open the "
                    "file with genobit.open_plink or open_vcf, or assign it"
                )
        if not ds.sizes["variants"]:
            raise ValueError("the Dataset has no variants, so there is nothing to explore")
        bits = ds if "genobit_layout" in ds.attrs else GenotypeMethods(ds).pack()
        self.bits = bits.compute() if bits.nbytes <= KEPT_BYTES else bits
        self.n_samples = int(bits.sizes["samples"])
        self.layout = str(bits.attrs["genobit_layout"])
        self.statistics = STATISTICS[self.layout]
        self.position = bits["variant_position"].values
        found = known_contigs(bits)
        self._contig, self.contigs = found.numbers, found.names.tolist()
        self._ids = labels.ids(bits, "variants")
        self._frequencies: dict[str, np.ndarray] = {}
        self._sorted: dict[str, np.ndarray] = {}
        self._members: tuple[tuple[str, float], Contig] | None = None
        self._tiles = TileCache()

    def __len__(self) -> int:
        """Return the number of variants."""
        return len(self.position)

    def among(self, samples: np.ndarray) -> Cohort:
        """Return a cohort of some samples, given by their indices."""
        return Cohort(GenotypeMethods(self.bits).isel(samples=samples))

    def contig_of(self, variant: int) -> str:
        """Return the contig of a variant, given by its index along the Dataset."""
        return self.contigs[int(self._contig[variant])]

    def name_of(self, variant: int) -> str:
        """Return the id of a variant, or its contig and position if there are no ids."""
        if self._ids is not None:
            return str(self._ids[variant])
        return f"{self.contig_of(variant)}:{self.position[variant]:,}"

    @property
    def ids(self) -> list[str]:
        """Ids of the variants, empty if the Dataset has none."""
        return [] if self._ids is None else [str(name) for name in self._ids]

    def find(self, name: str) -> int | None:
        """Return the index of the variant with an id; None if no variant has it.

        Raises ValueError if several variants have it.
        """
        found = by_label.of_ids(self.bits, np.array([name.strip()], object), "variants")
        return None if found[0] < 0 else int(found[0])

    def positions_on(self, contig: str) -> np.ndarray:
        """Return the sorted positions on a contig. Raises ValueError if it has no variants."""
        if contig not in self._sorted:
            there = np.sort(self.position[self._contig == self.contigs.index(contig)])
            if not len(there):
                raise ValueError(f"contig {contig} has no variants; choose another one")
            self._sorted[contig] = there
        return self._sorted[contig]

    def strength(self, association: Any) -> np.ndarray:
        """Return -log10 of the p-values of a table, (variants,), NaN without a p-value."""
        return study_of(self.bits, association, None, log10=False).matched.strength

    def first_look(self, contig: str, around: int | None = None) -> Region:
        """Return the region of `FIRST_LOOK` variants: the first, or those around a variant."""
        there = self.positions_on(contig)
        first = 0
        if around is not None:
            middle = int(np.searchsorted(there, self.position[around]))
            first = int(np.clip(middle - FIRST_LOOK // 2, 0, max(len(there) - FIRST_LOOK, 0)))
        return contig, float(there[first]), float(there[min(first + FIRST_LOOK, len(there)) - 1])

    def region_of(self, variants: Sequence[int]) -> Region:
        """Return the region of some variants, of those on the contig of the first."""
        contig = self.contig_of(variants[0])
        there = self.position[[k for k in variants if self.contig_of(k) == contig]].astype("f8")
        margin = max(float(np.ptp(there)), 10_000.0) / 4
        return contig, max(float(there.min()) - margin, 0.0), float(there.max()) + margin

    def members(self, contig: str, min_maf: float) -> Contig:
        """Return the variants of a contig with a minor allele frequency of at least `min_maf`."""
        if self._members is None or self._members[0] != (contig, min_maf):
            members = np.flatnonzero(self._contig == self.contigs.index(contig))
            frequency = self.frequency_of(contig, members) if min_maf > 0 else np.empty(0)
            chosen = Contig(self.position, members, frequency, min_maf)
            self._members = (contig, min_maf), chosen
        return self._members[1]

    def frequency_of(self, contig: str, members: np.ndarray) -> np.ndarray:
        """Return the allele frequencies of all variants of a contig, computed once."""
        if contig not in self._frequencies:
            whole = len(members) == len(self)
            there = self.bits if whole else self.bits.isel(variants=members)
            self._frequencies[contig] = np.asarray(QualityMethods(there).allele_frequency())
        return self._frequencies[contig]

    def window(self, statistic: str, region: Region, min_maf: float, limit: int) -> Window:
        """Compute LD of all pairs of a region, both ends included.

        Variants rarer than `min_maf` are left out. More than `limit` variants are thinned. Raises
        ValueError if fewer than two variants are left.
        """
        began = time.perf_counter()
        contig, start, end = region
        members = self.members(contig, min_maf)
        choice = members.between(start, end, limit)
        if len(choice.variants) < 2:
            text = f"{number(len(choice.variants), 'variant')} of {region_text(region)}"
            if min_maf > 0:
                text += f" with a minor allele frequency of at least {min_maf:g}"
            raise ValueError(f"{text}: zoom out" + (", or lower it" if min_maf > 0 else ""))
        thinned = members.thinned(choice.step)

        def planes(side: range) -> xr.Dataset:
            return self.bits.isel(variants=thinned[side.start : side.stop])

        def compute(rows: range, columns: range | None) -> np.ndarray:
            other = None if columns is None else planes(columns)
            return LDMethods(planes(rows)).ld(statistic, other=other).values

        level = (statistic, contig, min_maf, choice.step)
        values, computed = self._tiles.square(level, choice.places, len(thinned), compute)
        shown = self.bits.isel(variants=choice.variants)
        labelled = LDMethods(shown).ld(statistic)  # lazy: the tiles are its values
        matrix = labelled.copy(deep=False, data=values)
        position = self.position[choice.variants]
        return Window(shown, matrix, choice, position, time.perf_counter() - began, computed)

    def row(self, window: Window, lead: int) -> xr.DataArray:
        """Compute r² of a window's variants with a lead variant of its contig: (variants, 1)."""
        other = self.bits.isel(variants=[lead])
        return LDMethods(window.shown).ld("r2", other=other).compute()
