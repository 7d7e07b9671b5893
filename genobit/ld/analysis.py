"""Linkage disequilibrium among the analyses: methods, explorer, warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import layouts, model
from genobit.data.analysis import (
    ALIGNMENT,
    BY_POSITION,
    OF_VARIANTS,
    Analysis,
    Cohorts,
    Explorer,
    Method,
)
from genobit.data.availability import few, why_not
from genobit.data.genotype_methods import GenotypeMethods
from genobit.ld.methods.blocks import LDBlocksMethods
from genobit.ld.methods.decay import LDDecayMethods
from genobit.ld.methods.matrix import LDMethods
from genobit.ld.methods.pairs import LDPairsMethods
from genobit.ld.methods.prune import LDPruneMethods
from genobit.ld.methods.sites import LDSitesMethods

if TYPE_CHECKING:
    import xarray as xr

#: Planes of up to this many bytes are read once and kept in memory.
KEPT_BYTES = 2**30


def _statistics(ds: xr.Dataset) -> str:
    """Return the statistics that the genotypes have."""
    layout = layouts.layout_of(ds)
    if layout is None:
        phased = "; pack(phased=True) for D and D'" if model.CALL_GENOTYPE_PHASED in ds else ""
        return f"r, r2 of dosages{phased}"
    if layout.kind == "haplotype":
        return "r, r2, D, D' of haplotypes; phased=False for dosages"
    return "r, r2 of dosages; r2_em, dprime_em"


def _why_not(ds: xr.Dataset) -> str:
    """Return why the explorer cannot show some genotypes, "" if it can.

    With known phase, haplotypes are packed, whatever the ploidy.
    """
    phased = model.CALL_GENOTYPE in ds.variables and model.CALL_GENOTYPE_PHASED in ds.variables
    lacking = [n for n in (model.VARIANT_POSITION, model.VARIANT_CONTIG) if n not in ds.variables]
    missing = f"there is no {lacking[0]} (variants): assign it" if lacking else ""
    return ("" if phased else why_not(ds, "ld")) or missing or few(ds, "variants")


def packed_to_explore(ds: xr.Dataset) -> xr.Dataset:
    """Pack haplotypes if the phase is known, and dosages otherwise.

    Planes of at most `KEPT_BYTES` are computed into memory. Packed Datasets are returned unchanged.
    """
    if "genobit_layout" in ds.attrs:
        return ds
    genotypes = GenotypeMethods(ds)
    bits = genotypes.pack(phased=model.CALL_GENOTYPE_PHASED in ds.variables)
    if bits.nbytes > KEPT_BYTES:
        return bits
    try:
        return bits.compute()
    except ValueError:  # an unphased heterozygous call
        return genotypes.pack().compute()


def _warm(cohorts: Cohorts) -> None:
    for ds in cohorts:
        genotypes = GenotypeMethods(ds)
        for bits in (genotypes.pack(), genotypes.pack(phased=True)):
            LDMethods(bits).ld("r2").compute()
            LDMethods(bits).ld("r2", window=20).compute()
            LDPairsMethods(bits).ld_pairs(threshold=0.2, window=50).to_dataframe()
            LDPruneMethods(bits).ld_prune(20, 5, 0.3)
            LDPruneMethods(bits).ld_score(20).compute()
            LDDecayMethods(bits).ld_decay()
        LDMethods(ds).ld("r2_em").compute()
        LDBlocksMethods(ds).ld_blocks()
    LDMethods(bits).ld("dprime").compute()


_NEAR = "pairs near each other"
ANALYSIS = Analysis(
    "ld",
    of_datasets=(LDMethods, LDPairsMethods, LDPruneMethods, LDDecayMethods, LDBlocksMethods),
    of_arrays=(LDSitesMethods,),
    methods={
        "ld": Method(OF_VARIANTS, "linkage", note=_statistics),
        "ld_pairs": Method(OF_VARIANTS, _NEAR, "ld_pairs(threshold=)"),
        "ld_prune": Method(OF_VARIANTS, _NEAR),
        "ld_clump": Method(BY_POSITION, _NEAR, "ld_clump(p)"),
        "ld_decay": Method(BY_POSITION, _NEAR, "ld_decay(window)"),
        "ld_blocks": Method(BY_POSITION._replace(dosages=True), _NEAR),
        "ld_score": Method(OF_VARIANTS._replace(variable=model.VARIANT_GENETIC_POSITION), _NEAR),
    },
    array_methods={"ld": Method(ALIGNMENT, "linkage of sites", "ld('T')")},
    explorer=Explorer(
        "explorer.explorer.LDExplorer",
        "linkage disequilibrium",
        "Which variants are inherited together?",
        _why_not,
        lambda ds: (packed_to_explore(ds),),
    ),
    has_report=True,
    warm=_warm,
    compiled=3,
)
