"""Which analyses a Dataset or DataArray can go into as it is, and what the others want first.

May import: model and what is below. Looks at names, dimensions and types, never at values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from genobit import model

if TYPE_CHECKING:
    import xarray as xr

    from genobit.packing import Layout

TAXA, SITES = "taxa", "sites"


class Analysis(NamedTuple):
    """One analysis of some data."""

    name: str
    calls: str
    """Methods, as one types them after ``.genobit``."""
    wants: str
    """What is to be done first; "" where nothing is."""
    note: str = ""
    """What is special about these data."""


def of_dataset(ds: xr.Dataset) -> list[Analysis]:
    """Analyses of genotypes.

    Parameters
    ----------
    ds
        With ``call_genotype``, or packed.

    Returns
    -------
        All there are, in the order of the documentation.

    Raises
    ------
    ValueError
        For a packed Dataset whose planes and labels are not of each other.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> [(a.name, a.wants) for a in of_dataset(ds)][:3]
    [('linkage', ''), ('pairs near each other', 'variant_position'), ('relationships', '')]
    """
    layout = model.layout_of(ds)
    turned = "pack(rows='variants')" if layout is not None and layout.rows != "variants" else ""
    ploidy = _ploidy(ds, layout)
    dosages = "" if ploidy == 2 else f"ploidy 2 (here {ploidy})"
    near = turned or ("" if model.VARIANT_POSITION in ds else model.VARIANT_POSITION)
    phenotypes = _phenotypes(ds)
    named = f"a variable along samples, such as {phenotypes[0]!r}" if phenotypes else ""
    return [
        Analysis("linkage", "ld()", turned, _statistics(ds, layout)),
        Analysis("pairs near each other", "ld_pairs(), ld_prune(), ld_blocks(), ld_decay()", near),
        Analysis("relationships", "grm(), grm_pairs(), unrelated()", dosages),
        Analysis("principal components", "pca(), project()", dosages),
        Analysis("rank correlation", "kendall(), kendall_pairs()", turned or dosages),
        Analysis("interactions", "epistasis(phenotype)", turned or dosages, named),
        Analysis("parsimony", "alignment().genobit.parsimony(tree)", turned),
    ]


def of_dataarray(da: xr.DataArray) -> list[Analysis]:
    """Analyses of a matrix of measurements, of binary rows, or of an alignment.

    Examples
    --------
    >>> import xarray as xr
    >>> aln = xr.DataArray([list("ACGT")], dims=("taxa", "sites"))
    >>> [analysis.name for analysis in of_dataarray(aln) if not analysis.wants]
    ['parsimony', 'linkage of sites']
    """
    if set(da.dims) == {TAXA, SITES}:
        return [
            Analysis("parsimony", "parsimony(tree), ancestral_states(tree)", ""),
            Analysis("linkage of sites", "ld('T')", ""),
        ]
    numbers = da.dtype.kind in "biuf"
    wants = "two dimensions" if da.ndim != 2 else "" if numbers else f"numbers, not {da.dtype}"
    binary = wants or ("" if da.dtype.kind in "biu" else "zeros and ones")
    return [
        Analysis("rank correlation", "kendall(), kendall_pairs()", wants),
        Analysis("similarity of binary rows", "similarity('tanimoto')", binary),
    ]


def _ploidy(ds: xr.Dataset, layout: Layout | None) -> int:
    if layout is not None:
        return layout.ploidy if layout.kind == "haplotype" else 2
    return ds.sizes.get(model.PLOIDY, 0)


def _statistics(ds: xr.Dataset, layout: Layout | None) -> str:
    if layout is None:
        phased = "; pack(phased=True) for D and D'" if model.CALL_GENOTYPE_PHASED in ds else ""
        return f"r, r2 of dosages{phased}"
    if layout.kind == "haplotype":
        return "r, r2, D, D' of haplotypes; phased=False for dosages"
    return "r, r2 of dosages; r2_em, dprime_em"


def _phenotypes(ds: xr.Dataset) -> list[str]:
    """Variables along the samples that may be one: not names, and not places of bits."""
    known = {model.BIT[model.SAMPLES], "sample_father_id", "sample_mother_id"}
    found = [
        str(name)
        for name, variable in ds.variables.items()
        if variable.dims == (model.SAMPLES,) and variable.dtype.kind in "biuf" and name not in known
    ]
    likely = ("phenotype", "case", "trait")
    return sorted(found, key=lambda name: not any(word in name for word in likely))
