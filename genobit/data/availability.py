"""Analyses that apply to a Dataset or DataArray, and requirements of the others.

The HTML summary and the launcher of explorers use this. It reads names, dimensions and dtypes, and
values only of small arrays in memory.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from genobit.data import layouts, model
from genobit.data.analysis import (
    ALIGNMENT,
    BINARY,
    BY_POSITION,
    OF_VARIANTS,
    Needs,
    array_methods,
    methods,
)
from genobit.data.labels import decoded, text
from genobit.data.other_set import BITS, OBSERVATIONS
from genobit.engine.bits.layout import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genobit.data.analysis import Method
    from genobit.engine.bits.layout import Layout

TAXA, SITES = "taxa", "sites"
LARGEST_CHECKED = 2**24
"""Largest array in memory whose values are read, in bytes."""


class Applicable(NamedTuple):
    """Methods that answer one question and have the same unmet requirement."""

    name: str
    calls: str
    """Methods as typed after ``.genobit``."""
    wants: str
    """Requirement to meet first, or "" if the data are ready."""
    note: str = ""
    """A remark about these data."""


def unmet_need(ds: xr.Dataset, method: str) -> str:
    """Return the unmet requirement of a method of ``ds.genobit``; "" if the Dataset is ready.

    Raises ValueError for a packed Dataset whose planes and labels do not belong together.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> one = ds.isel(ploidy=[0])
    >>> unmet_need(ds, "grm"), unmet_need(one, "kendall"), unmet_need(ds, "ld_clump")
    ('', 'ploidy 2 (here 1): ds.isel(ploidy=[0, 0])', 'variant_position')
    """
    needs, layout = methods()[method].needs, layouts.layout_of(ds)
    found = _unmet_by_calls(ds, needs) if layout is None else _unmet_by_planes(layout, needs)
    if found:
        return found
    if needs.variable and needs.variable not in ds.variables:
        return needs.variable
    if needs.phenotype and not phenotypes(ds):
        return "a phenotype: a variable along samples"
    return ""


def _unmet_by_calls(ds: xr.Dataset, needs: Needs) -> str:
    if model.CALL_GENOTYPE not in ds:
        return "genotypes: open a file with gb.open_plink(), gb.open_pgen() or gb.open_vcf()"
    ploidy = ds.sizes.get(model.PLOIDY, 0)
    if not needs.ploidies or ploidy in needs.ploidies:
        return ""
    if needs.ploidies == (1,):
        return f"haploid calls (here ploidy {ploidy}): ds.isel(ploidy=[0])"
    packed = ", or pack(phased=True)" if needs in {OF_VARIANTS, BY_POSITION} else ""
    twice = ": ds.isel(ploidy=[0, 0])" if ploidy == 1 else ""
    more = "; a few calls of more alleles become missing" if ploidy > 2 else ""
    return f"ploidy 2 (here {ploidy}{more}){twice}{packed}"


def _unmet_by_planes(layout: Layout, needs: Needs) -> str:
    if needs.calls:
        return "the genotypes that the planes were packed from"
    if needs.by_variants and layout.rows != model.VARIANTS:
        return "pack(rows='variants')"
    if needs.dosages and layout.kind == "haplotype" and layout.ploidy not in needs.ploidies:
        return f"ploidy 2 (here {layout.ploidy})"
    return ""


_OF_GENOTYPES = {
    "estimate", "explore", "genetic_map", "report", "to_pgen", "to_plink", "to_vcf", "to_vcf_zarr",
}  # fmt: skip
_OF_RELATIONSHIPS = {"to_gcta", "to_plink_rel"}


def inapplicable(ds: xr.Dataset) -> set[str]:
    """Return the methods of ``ds.genobit`` that completion leaves out, by names and dimensions.

    Genotypes keep methods whose needs they do not meet yet, because the errors say what to do.

    Examples
    --------
    >>> import xarray as xr
    >>> search = xr.Dataset({"tree": ("trees", ["(a,b);"]), "length": ("trees", [3])})
    >>> "grm" in inapplicable(search), "to_trees" in inapplicable(search)
    (True, False)
    """
    planes = any(str(name).startswith(PREFIX) for name in ds.variables)
    found = set() if planes or model.CALL_GENOTYPE in ds.variables else {*methods(), *_OF_GENOTYPES}
    if "tree" not in ds.variables:
        found.add("to_trees")
    if not {"rank", "order"} <= set(ds.dims):
        found.add("ranking")
    if not {model.VARIANTS, model.SAMPLES} & set(ds.dims):
        found |= {"sel", "isel", "indexed"}
    return found


def inapplicable_to_array(da: xr.DataArray) -> set[str]:
    """Return the methods of ``da.genobit`` that completion leaves out, by names and dimensions.

    Examples
    --------
    >>> import xarray as xr
    >>> grm = xr.DataArray([[1.0]], dims=("samples_0", "samples_1"))
    >>> sorted({"kendall", "to_gcta"} - inapplicable_to_array(grm))
    ['to_gcta']
    """
    relationships = da.dims == ("samples_0", "samples_1")
    found = set() if relationships else set(_OF_RELATIONSHIPS)
    known = array_methods()
    of_alignments = {name for name in known if known[name].needs == ALIGNMENT}
    if {*da.dims} == {TAXA, SITES}:
        return found | (known.keys() - of_alignments)
    found |= of_alignments
    made = any(str(dim).endswith(("_0", "_1")) for dim in da.dims)
    made |= bool({"offsets", "components"} & set(da.dims))
    if made or da.ndim != 2 or da.dtype.kind not in "biuf":
        found |= {*known, "estimate", "explore", "join"}
    return found


def of_dataset(ds: xr.Dataset) -> list[Applicable]:
    """Return all analyses of genotypes, in the order of the documentation.

    ``ds`` has ``call_genotype`` or is packed. Methods of one analysis with different requirements
    are listed separately. Raises ValueError for a packed Dataset whose planes and labels do not
    belong together.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> [(a.calls, a.wants) for a in of_dataset(ds)][1:4]
    [('ld()', ''), ('ld_pairs(threshold=), ld_prune()', ''), \
('ld_clump(p), ld_decay(window), ld_blocks()', 'variant_position')]
    """
    return _listed(ds, methods(), unmet_need)


def _listed(
    data: Any, known: dict[str, Method], unmet: Callable[[Any, str], str]
) -> list[Applicable]:
    """Return the methods in sections of the summary."""
    rows = [
        (method.section, unmet(data, name), method.call or f"{name}()")
        for name, method in known.items()
        if method.section
    ]
    notes = {each.section: each.note(data) for each in known.values() if each.note is not None}
    return [
        Applicable(name, ", ".join(call for *_, call in found), wants, notes.get(name, ""))
        for (name, wants), found in groupby(rows, lambda row: row[:2])
    ]


def unmet_need_of_array(da: xr.DataArray, method: str) -> str:
    """Return the unmet requirement of a method of ``da.genobit``; "" if the DataArray is ready.

    Examples
    --------
    >>> import xarray as xr
    >>> aln = xr.DataArray([list("ACGT")], dims=("taxa", "sites"))
    >>> unmet_need_of_array(aln, "parsimony"), unmet_need_of_array(aln, "kendall")
    ('', 'numbers, not text')
    """
    kind = array_methods()[method].needs
    if kind == ALIGNMENT:
        dims = ", ".join(map(str, da.dims)) or "none"
        here = f"an alignment (taxa, sites), as gb.open_alignment() gives (here {dims})"
        return "" if {*da.dims} == {TAXA, SITES} else here
    if da.ndim != 2:
        return f"two dimensions (here {da.ndim})"
    if da.dtype.kind not in "biuf":
        return f"numbers, not {'text' if da.dtype.kind in 'US' else da.dtype}"
    if kind == BINARY and not _is_binary(da):
        return "zeros and ones"
    known, what = (BITS, "bits") if kind == BINARY else (OBSERVATIONS, "observations")
    if sum(str(dim).lower() in known for dim in da.dims) != 1:
        return f"dim=, the dimension of the {what}"
    return ""


def why_not(data: Any, method: str) -> str:
    """Return the unmet requirement of a method of some data as a clause, "" if they are ready."""
    wants = (unmet_need if isinstance(data, xr.Dataset) else unmet_need_of_array)(data, method)
    return f"it needs {wants}" if wants else ""


def few(ds: xr.Dataset, dim: str) -> str:
    """Return a clause if a dimension has fewer than two members, "" otherwise."""
    return f"it needs two {dim} or more" if ds.sizes.get(dim, 0) < 2 else ""


def _is_binary(da: xr.DataArray) -> bool:
    if da.dtype.kind == "b":
        return True
    if da.chunks is not None or da.nbytes > LARGEST_CHECKED:
        return da.dtype.kind in "iu"
    values = np.asarray(da.values)
    return bool(((values == 0) | (values == 1)).all())


def of_dataarray(da: xr.DataArray) -> list[Applicable]:
    """Return the analyses of a matrix of measurements, of binary rows, or of an alignment.

    Examples
    --------
    >>> import xarray as xr
    >>> aln = xr.DataArray([list("ACGT")], dims=("taxa", "sites"))
    >>> [analysis.name for analysis in of_dataarray(aln) if not analysis.wants]
    ['parsimony', 'linkage of sites']
    """
    aligned = {*da.dims} == {TAXA, SITES}
    known = {k: each for k, each in array_methods().items() if (each.needs == ALIGNMENT) == aligned}
    return _listed(da, known, unmet_need_of_array)


def phenotypes(ds: xr.Dataset) -> list[str]:
    """Return the names of variables along samples that can be a phenotype, likeliest first.

    Lazy variables are not computed. Lazy numbers are listed; lazy text is not, since it may be
    names.
    """
    found: dict[str, int] = {}
    for name, variable in ds.variables.items():
        if variable.dims != (model.SAMPLES,) or str(name) in _NO_TRAITS:
            continue
        if variable.chunks is not None:
            if variable.dtype.kind in "biuf":
                found[str(name)] = CLASSES
            continue
        count = len(levels(variable.values))
        if count > 1 and (count <= CLASSES or variable.dtype.kind == "f"):
            found[str(name)] = count
    likely = ("phenotype", "case", "trait")
    return sorted(found, key=lambda k: (not any(word in k for word in likely), found[k]))


CLASSES = 8
"""Most distinct values of a variable along samples that count as classes."""
_NO_TRAITS = {
    "sample_id", "sample_bit", "sample_family_id", "sample_father_id", "sample_mother_id",
}  # fmt: skip


def levels(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of a variable without missing ones."""
    found = decoded(values)
    if found.dtype.kind in "OUT":
        found = text(found)[~pd.isna(found)]
        return np.unique(found[found != ""].astype(str))
    different = np.unique(found)
    return different[~np.isnan(different)] if different.dtype.kind == "f" else different
