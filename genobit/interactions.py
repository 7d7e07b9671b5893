"""``ds.genobit.epistasis``: combinations of variants ranked by what they tell about a phenotype.

May import: analyses, packed and what is below. The arithmetic is in `genobit.analyses.epistasis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit import model, packed

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike, NDArray

    from genobit.analyses.epistasis import Columns, Wanted
    from genobit.lazy.combination_search import Ranking

RANK, ORDER, CELL, CLASS = "rank", "order", "cell", "class"
_COLUMN_NAMES = {
    "mi": "mutual information, nats",
    "g": "2 n times the mutual information",
    "df": "degrees of freedom of p",
    "p": "p-value of this combination alone, not corrected for the search",
    "n": "samples without a missing call in the combination",
    "sparse": "expected counts too small for p to be trusted (Cochran's rule)",
}


class InteractionMethods:
    """The methods of ``ds.genobit`` that are about interactions of variants."""

    _ds: xr.Dataset

    def epistasis(
        self,
        phenotype: str | ArrayLike | xr.DataArray,
        *,
        order: int = 2,
        top: int = 100,
        statistic: str = "mutual_information",
        permutations: int = 0,
        seed: int = 0,
        min_n: int | None = None,
        min_count: int = 0,
    ) -> xr.Dataset:
        """Rank all combinations of so many variants by their association with a phenotype.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]], "int8")
        >>> calls = np.stack([calls, calls], axis=-1)
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> top = ds.genobit.epistasis([0, 1, 1, 0], order=2, top=1)
        >>> top.variants.values.tolist(), top.mi.values.round(4).tolist()
        ([[0, 1]], [0.6931])
        """
        from genobit.analyses import epistasis, phenotypes

        ds, layout, planes = packed.by_variants(self._ds, phased=False)
        values, name = phenotype_of(ds, layout.bits, phenotype)
        found = phenotypes.classes(values, name)
        wanted = epistasis.checked(
            order=order,
            top=top,
            statistic=statistic,
            permutations=permutations,
            seed=seed,
            min_n=min_n,
            min_count=min_count,
            variants=ds.sizes[model.VARIANTS],
            samples=int((found.numbers >= 0).sum()),
            classes=len(found.names),
        )
        ranking, columns = epistasis.search(planes, layout, found, wanted)
        about = {
            "phenotype": name,
            "samples": int((found.numbers >= 0).sum()),
            "samples_left_out": int((found.numbers < 0).sum()),
        }
        return _labelled(ds, columns, ranking, wanted, found.names, about)


def phenotype_of(
    ds: xr.Dataset, samples: int, phenotype: str | ArrayLike | xr.DataArray
) -> tuple[NDArray[Any], str]:
    """The values of a phenotype along the samples, and what to call it.

    Raises
    ------
    KeyError
        For a name that the Dataset lacks.
    ValueError
        For other dimensions than samples, or other samples.
    """
    if isinstance(phenotype, str):
        if phenotype not in ds.variables:
            known = [str(k) for k, v in ds.variables.items() if v.dims == (model.SAMPLES,)]
            msg = (
                f"the Dataset has no variable {phenotype!r}; those along {model.SAMPLES!r} are "
                f"{', '.join(known) or 'none'}. Assign one with ds.assign_coords, or give an array"
            )
            raise KeyError(msg)
        phenotype = ds[phenotype]
    name = "phenotype"
    if isinstance(phenotype, xr.DataArray):
        name = str(phenotype.name or name)
        if phenotype.dims != (model.SAMPLES,):
            msg = f"{name} has dimensions {phenotype.dims}, expected ({model.SAMPLES!r},)"
            raise ValueError(msg)
        _check_same_samples(ds, phenotype, name)
    values = np.asarray(phenotype)
    if values.shape != (samples,):
        msg = (
            f"{name} has shape {values.shape}, and there are {samples} {model.SAMPLES}: give one "
            "value a sample, NaN where it is missing"
        )
        raise ValueError(msg)
    return values, name


def _check_same_samples(ds: xr.Dataset, phenotype: xr.DataArray, name: str) -> None:
    if model.SAMPLE_ID not in phenotype.coords or model.SAMPLE_ID not in ds.variables:
        return
    ours, theirs = (np.asarray(x[model.SAMPLE_ID].values) for x in (ds, phenotype))
    if ours.shape != theirs.shape:
        return
    wrong = np.flatnonzero(ours != theirs)
    if wrong.size:
        k = int(wrong[0])
        msg = (
            f"sample_id[{k}] is {ours[k]!r} here and {theirs[k]!r} in {name}: bring its samples "
            "in the order of the Dataset"
        )
        raise ValueError(msg)


def _labelled(
    ds: xr.Dataset,
    columns: Columns,
    ranking: Ranking,
    wanted: Wanted,
    classes: tuple[str, ...],
    about: dict[str, Any],
) -> xr.Dataset:
    from genobit.analyses.epistasis import COLUMNS, LONG_NAMES, MISSING

    names = _COLUMN_NAMES | {COLUMNS.get(k, k): text for k, text in LONG_NAMES.items()}
    ranked = {
        name: (RANK, values, {"long_name": names[name]}) for name, values in columns.of_rank.items()
    }
    cells = {"long_name": "samples by genotypes and class; the last member's genotype is fastest"}
    out = xr.Dataset(
        {
            "variants": ((RANK, ORDER), columns.members, {"long_name": "positions, ascending"}),
            **ranked,
            "cells": ((RANK, CELL, CLASS), columns.cells, cells),
        },
        _coordinates(ds, columns.members, classes),
        {
            "statistic": wanted.statistic,
            "long_name": LONG_NAMES[wanted.statistic],
            "order": wanted.order,
            "combinations": ranking.combinations,
            "combinations_scored": ranking.scored,
            "partial": ranking.partial,
            "missing": MISSING,
            "min_n": wanted.min_n,
            "min_count": wanted.min_count,
            **about,
            model.COUNTED_ALLELE: model.counted_allele(ds),
        },
    )
    if model.CONTIG_ID in ds.variables:
        out.attrs[model.CONTIG_ID] = [str(name) for name in ds[model.CONTIG_ID].values]
    return out


def _coordinates(
    ds: xr.Dataset, members: NDArray[np.int64], classes: tuple[str, ...]
) -> dict[Hashable, Any]:
    """Labels of the members as (rank, order), genotypes of the cells, names of the classes."""
    coords: dict[Hashable, Any] = {
        name: ((RANK, ORDER), np.asarray(values)[members], attributes)
        for name, (_, values, attributes) in model.along(ds, model.VARIANTS).items()
        if name != model.VARIANTS
    }
    order = members.shape[1]
    genotypes = np.indices((3,) * order, np.int8).reshape(order, -1).T
    coords["genotype"] = (
        (CELL, ORDER),
        genotypes,
        {"long_name": "copies of the counted allele of each member"},
    )
    coords[CLASS] = (CLASS, np.array(classes, dtype=object))
    return coords
