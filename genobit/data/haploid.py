"""Haploid genotypes, of bacteria and many fungi: calls of one allele.

Kernels of dosages take a haploid call as two copies of its allele. Each analysis that takes haploid
genotypes says how its formula differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.data import layouts, model
from genobit.engine.bits.layout import PREFIX, Layout

if TYPE_CHECKING:
    import xarray as xr


def is_haploid(ds: xr.Dataset) -> bool:
    """Return whether all calls have one allele."""
    layout = layouts.layout_of(ds)
    if layout is not None:
        return layout.kind == "haplotype" and layout.ploidy == 1
    return model.CALL_GENOTYPE in ds and ds.sizes.get(model.PLOIDY) == 1


def as_diploid(ds: xr.Dataset) -> xr.Dataset:
    """Return haploid genotypes with each allele twice; other genotypes as they are."""
    if not is_haploid(ds):
        return ds
    layout = layouts.layout_of(ds)
    if layout is None:
        return ds.isel({model.PLOIDY: [0, 0]})
    (alt,) = (PREFIX + name for name in layout.planes)
    diploid = Layout("dosage", layout.rows, layout.bits, 1)
    planes = {PREFIX + name: ds.variables[alt] for name in diploid.planes}
    return ds.drop_vars(alt).assign(planes).assign_attrs(diploid.to_attributes())


def require_diploid(ds: xr.Dataset, what: str, remedy: str) -> None:
    """Raise ValueError for haploid genotypes, which have no heterozygotes."""
    if is_haploid(ds):
        raise ValueError(f"{what} needs diploid genotypes, and these are haploid: {remedy}")
