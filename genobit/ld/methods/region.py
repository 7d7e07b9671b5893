"""Everything that a picture of a regional association shows, computed from a Dataset."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import columns, labels, layouts, model
from genobit.data import selection_by_label as by_label
from genobit.data.contigs import contigs_in
from genobit.data.genotype_methods import GenotypeMethods
from genobit.data.regions import known_contig, parse_region
from genobit.io.genes import genes_in
from genobit.io.genetic_map import read_genetic_map
from genobit.io.tables import read_text
from genobit.ld.association import Matched, Variants, match
from genobit.ld.blocks import frequent
from genobit.ld.methods.blocks import LDBlocksMethods
from genobit.ld.methods.matrix import LDMethods
from genobit.quality.methods.statistics import QualityMethods

if TYPE_CHECKING:
    from genobit.data.regions import Region

#: Without a region, a contig of at most this many variants is shown whole.
WHOLE = 1_000
#: Base pairs to each side of the lead variant, without a region.
FLANK = 250_000
#: Most variants of a region.
MOST = 5_000


@dataclass(frozen=True)
class RegionView:
    """A regional association. Arrays are along the shown variants, ordered by position."""

    contig: str
    start: float
    """First position of the window in base pairs."""
    end: float
    names: np.ndarray
    position: np.ndarray
    strength: np.ndarray
    """-log10 p, NaN without a p-value."""
    lead: int
    lead_r2: np.ndarray
    """r2 with the lead variant, NaN for a monomorphic variant."""
    matrix: xr.DataArray
    """LD of all pairs, in memory."""
    blocks: xr.Dataset | None
    genes: pd.DataFrame | None
    no_genes: str
    """Sentence for a file or table without a gene on this contig, or ""."""
    rates: tuple[np.ndarray, np.ndarray] | None
    """Edges in base pairs (n + 1,) and recombination rates in cM/Mb (n,) between them."""
    samples: int
    present: int
    """Number of variants in the window, with rare ones."""
    min_maf: float
    lost: int
    """Number of rows of the table in the window that match no variant."""
    underflow: int
    """Number of shown variants whose p is 0."""
    stronger: str
    """Name of a variant that is too rare to show and has a smaller p than all others, or ""."""


@dataclass(frozen=True)
class Study:
    """A packed Dataset with the labels of its variants, and their p-values."""

    bits: xr.Dataset
    variants: Variants
    matched: Matched
    samples: int

    def name_of(self, variant: int) -> str:
        """Return the identifier of a variant, or its contig and position."""
        found = "" if self.variants.ids is None else str(self.variants.ids[variant])
        if found not in {"", "."}:
            return found
        contig = self.variants.contig[variant]
        return f"{contig}:{self.variants.position[variant]:,}".lstrip(":")


def region_view(
    ds: xr.Dataset,
    association: Any,
    *,
    region: str | None,
    lead: str | int | None,
    genes: Any,
    genetic_map: Any,
    blocks: bool | xr.Dataset | None,
    statistic: str,
    min_maf: float,
    p: str | None,
    log10: bool,
) -> RegionView:
    """Compute a regional association; see `genobit.ld.plots.region.region`."""
    study = study_of(ds, association, p, log10=log10)
    chosen = None if lead is None else _lead_index(study, lead)
    members, window = _members(study, region, chosen)
    shown = _frequent(study, members, min_maf, chosen)
    strength = study.matched.strength[shown]
    at = _lead_among(strength, window) if chosen is None else _place(shown, chosen)
    bits = study.bits.isel({model.VARIANTS: shown})
    matrix = LDMethods(bits).ld(statistic, compute=True)
    found = LDBlocksMethods(bits).ld_blocks(min_maf=min_maf) if blocks is True else blocks or None
    contig, start, end = window
    there, no_genes = None, ""
    if genes is not None:
        there, no_genes = genes_in(genes, *window, study.variants.known)
    return RegionView(
        contig,
        start,
        end,
        np.array([study.name_of(k) for k in shown.tolist()], object),
        study.variants.position[shown],
        strength,
        at,
        _lead_r2(bits, matrix, statistic, at),
        matrix,
        found if isinstance(found, xr.Dataset) else None,
        there,
        no_genes,
        None if genetic_map is None else _rates(genetic_map, window, study.variants),
        study.samples,
        len(members),
        min_maf,
        study.matched.lost(contig, start, end),
        int(study.matched.underflow[shown].sum()),
        _stronger(study, members, strength),
    )


def study_of(ds: xr.Dataset, association: Any, p: str | None, *, log10: bool) -> Study:
    """Match a table of p-values to the variants of a Dataset."""
    bits = ds if layouts.layout_of(ds) is not None else GenotypeMethods(ds).pack()
    position = labels.values_along(bits, model.VARIANT_POSITION, model.VARIANTS)
    if position is None:
        raise KeyError(
            f"a regional association needs {model.VARIANT_POSITION} along {model.VARIANTS!r}, "
            "which the Dataset lacks: assign it"
        )
    found = contigs_in(bits)
    contig = np.full(len(position), "", object) if found is None else found.of_variants()
    known = () if found is None else tuple(found.names.tolist())
    variants = Variants(labels.ids(bits, model.VARIANTS), contig, position, known)
    samples = int(bits.sizes[model.SAMPLES])
    table, in_order = _table(association, len(position))
    # Values that are no table have the column "p", whatever their name.
    if isinstance(association, pd.Series | xr.DataArray):
        p = "p"
    matched = match(table, variants, p=p, log10=log10, in_order=in_order)
    return Study(bits, variants, matched, samples)


def _table(association: Any, count: int) -> tuple[pd.DataFrame, bool]:
    """Return a table with p-values and labels, and whether it has one row for each variant.

    Values without labels are taken in the order of the variants.
    """
    if isinstance(association, str | os.PathLike):
        return read_text(association).parsed(as_text=()), False
    if isinstance(association, xr.DataArray):
        if model.VARIANTS in association.dims and not association.coords:
            return _table(columns.values(association.data, "association"), count)
        association = association.to_dataset(name="p")
    if isinstance(association, xr.Dataset):
        return _rows(association), False
    if isinstance(association, pd.DataFrame):
        named = not _is_default(association.index)
        return association.reset_index() if named else association, False
    if isinstance(association, pd.Series) and not _is_default(association.index):
        return association.to_frame("p").reset_index(), False
    if not isinstance(association, pd.Series | np.ndarray | list):
        raise TypeError(
            f"association is a {type(association).__name__}: give a table of pandas or xarray, a "
            "Series, or the path of a text file"
        )
    if len(association) != count:
        raise ValueError(
            f"association has {len(association):,} values without labels, and the Dataset has "
            f"{count:,} variants: give a Series with variant_id as its index"
        )
    return pd.DataFrame({"p": columns.values(association, "association")}), True


def _rows(association: xr.Dataset) -> pd.DataFrame:
    """Return the variables along variants as columns."""
    contigs = contigs_in(association)
    if contigs is not None:
        named = association[model.VARIANT_CONTIG].copy(data=contigs.of_variants())
        association = association.assign({model.VARIANT_CONTIG: named})
    along = {
        name: np.asarray(variable.values)
        for name, variable in association.variables.items()
        if variable.dims == (model.VARIANTS,)
    }
    if not along:
        raise ValueError(
            f"association has no variable along {model.VARIANTS!r}; its dimensions are "
            f"{', '.join(map(str, association.sizes)) or 'none'}: rename one"
        )
    return pd.DataFrame(along)


def _is_default(index: pd.Index) -> bool:
    return index.equals(pd.RangeIndex(len(index))) and index.name is None


def _lead_index(study: Study, lead: str | int) -> int:
    found = by_label.positions(study.bits, [lead] if isinstance(lead, int) else lead, "variants")
    if len(found) != 1:
        raise ValueError(f"lead={lead!r} names {len(found):,} variants: give the id of one")
    return int(found[0])


def _members(
    study: Study, region: str | None, lead: int | None
) -> tuple[np.ndarray, tuple[str, float, float]]:
    """Return the variants of the window by position, and contig, start and end of the window."""
    variants = study.variants
    if region is not None:
        contigs = variants.contigs()
        default = contigs[0] if len(contigs) == 1 else None
        asked = parse_region(str(region), contigs, default)
        contig = known_contig(asked.contig, contigs)
        members = _inside(variants, contig, asked.start, asked.end or np.inf)
        if not len(members):
            raise ValueError(f"region={region!r}: the Dataset has no variant in {asked}")
        return members, (contig, *_ends(variants.position[members], asked))
    centre = lead
    if centre is None:
        if np.isnan(study.matched.strength).all():
            raise ValueError("no variant has a p-value: give p-values, or lead= and region=")
        centre = int(np.nanargmax(study.matched.strength))
    contig, at = str(variants.contig[centre]), float(variants.position[centre])
    members = _inside(variants, contig, 0, np.inf)
    if len(members) > WHOLE:
        members = _inside(variants, contig, at - FLANK, at + FLANK)
        return members, (contig, max(at - FLANK, 1.0), at + FLANK)
    position = variants.position[members]
    return members, (contig, float(position[0]), float(position[-1]))


def _ends(position: np.ndarray, asked: Region) -> tuple[float, float]:
    start = asked.start if asked.start > 1 else position[0]
    return float(start), float(position[-1] if asked.end is None else asked.end)


def _inside(variants: Variants, contig: str, start: float, end: float) -> np.ndarray:
    there = (variants.contig == contig) & (variants.position >= start) & (variants.position <= end)
    members = np.flatnonzero(there)
    return members[np.argsort(variants.position[members], kind="stable")]


def _frequent(study: Study, members: np.ndarray, min_maf: float, lead: int | None) -> np.ndarray:
    """Return the variants that are not too rare."""
    part = study.bits.isel({model.VARIANTS: members})
    frequency = np.asarray(QualityMethods(part).allele_frequency().values)
    kept = members[frequent(np.nan_to_num(frequency), min_maf)]
    if lead is not None and lead not in kept:
        name = study.name_of(lead)
        if lead not in members:
            raise ValueError(f"lead variant {name} is outside of the region: choose another region")
        share = float(frequency[members == lead][0])
        raise ValueError(
            f"lead variant {name} has a minor allele frequency of {min(share, 1 - share):.3g}, "
            f"below min_maf={min_maf:g}: lower min_maf"
        )
    if len(kept) < 2:
        raise ValueError(
            f"{len(kept)} of the {len(members):,} variants in the region has a minor allele "
            f"frequency of at least {min_maf:g}: lower min_maf, or choose a larger region"
        )
    if len(kept) > MOST:
        raise ValueError(
            f"the region has {len(kept):,} variants, more than the {MOST:,} of a picture: choose "
            "a smaller region, or raise min_maf"
        )
    return kept


def _place(shown: np.ndarray, variant: int) -> int:
    return int(np.flatnonzero(shown == variant)[0])


def _lead_among(strength: np.ndarray, window: tuple[str, float, float]) -> int:
    if np.isnan(strength).all():
        contig, start, end = window
        raise ValueError(
            f"none of the {len(strength):,} variants in {contig}:{start:,.0f}-{end:,.0f} has a "
            "p-value: choose another region, or name a variant with lead="
        )
    return int(np.nanargmax(strength))


def _lead_r2(bits: xr.Dataset, matrix: xr.DataArray, statistic: str, lead: int) -> np.ndarray:
    if statistic in {"r2", "r2_em"}:
        return np.asarray(matrix.values[:, lead])
    other = bits.isel({model.VARIANTS: [lead]})
    return np.asarray(LDMethods(bits).ld("r2", other=other).values[:, 0])


def _stronger(study: Study, members: np.ndarray, strength: np.ndarray) -> str:
    """Return the variant with the smallest p if it is too rare to be shown."""
    all_ = study.matched.strength[members]
    if np.isnan(all_).all() or np.nanmax(all_) <= np.nanmax(np.append(strength, -1.0)):
        return ""
    return study.name_of(int(members[np.nanargmax(all_)]))


def _rates(
    genetic_map: Any, window: tuple[str, float, float], variants: Variants
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stretches of a genetic map in the window, and their rates in cM/Mb."""
    table = read_genetic_map(genetic_map, variants.known)
    contig, start, end = window
    known = list(table["contig"].unique())
    if contig not in known and known != [""] and contig:
        raise ValueError(
            f"the genetic map has no contig {contig!r}; it has "
            f"{', '.join(known[:8])}: give the map of this contig"
        )
    table = table[table["contig"].isin([contig, ""])] if contig else table
    table = table.drop_duplicates("position", keep="last")
    position, cm = table["position"].to_numpy("f8"), table["cm"].to_numpy("f8")
    inside = (position > start) & (position < end)
    edges = np.concatenate([[start], position[inside], [end]])
    edges = edges[(edges >= position.min()) & (edges <= position.max())] if len(position) else edges
    if len(position) < 2 or len(edges) < 2:
        raise ValueError(
            f"the genetic map has no stretch in {contig}:{start:,.0f}-{end:,.0f}: give the map of "
            "this region and version of the genome"
        )
    return edges, np.diff(np.interp(edges, position, cm)) / (np.diff(edges) / 1e6)
