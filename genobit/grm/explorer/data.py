"""Data of the relationship explorer: matrices, components and variables of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import labels
from genobit.data.autosomes import choose
from genobit.data.genotype_methods import GenotypeMethods
from genobit.grm.explorer.search import Finder, label_variables
from genobit.grm.methods.matrix import GRMMethods
from genobit.grm.plots.heatmap import OrderedMatrix, arrange
from genobit.grm.plots.paper_kinship import KinshipPairs, kinship_pairs
from genobit.grm.plots.paper_tree import group_codes
from genobit.grm.plots.relatives import KinshipPlot
from genobit.grm.plots.result import MEASURES, check_square, computed, measure_of, sample_names
from genobit.pca.methods import PCAMethods
from genobit.visual.colouring import sample_variables

if TYPE_CHECKING:
    from pathlib import Path

    from genobit.data.autosomes import Autosomes
    from genobit.visual.colouring import Colouring

#: Name of a given matrix among the methods.
GIVEN = "given"
#: Most bytes of cached matrices; the cache makes going back to a method immediate.
KEPT_BYTES = 2**30
#: Largest number of components computed.
COMPONENTS = 10


class GRMData:
    """Samples of an explorer, with the matrices and components computed from them.

    If ``grm`` and ``pcs`` are given, ``ds`` needs samples only. Raises ValueError if there is
    nothing to explore, or if ``grm`` or ``pcs`` belong to other samples. Also if ``grm`` has one
    matrix for each contig left out.
    """

    def __init__(
        self,
        ds: xr.Dataset,
        grm: xr.DataArray | None,
        pcs: xr.Dataset | None,
        *,
        autosomes: Autosomes,
    ) -> None:
        if grm is not None:
            check_square(grm)
        self.ds, self._given, self._pcs, self._autosomes = ds, grm, pcs, autosomes
        genotypes = "call_genotype" in ds.variables or "genobit_layout" in ds.attrs
        if grm is None and not genotypes:
            raise ValueError(
                "the explorer needs genotypes (call_genotype or packed planes) to compute "
                "relationships from, or a matrix: explore.grm(grm=...)"
            )
        self.methods = ((GIVEN,) if grm is not None else ()) + (
            tuple(MEASURES) if genotypes else ()
        )
        self.genotypes = genotypes
        self.n_samples = (
            ds.sizes["samples"] if grm is None or "samples" in ds.sizes else grm.sizes["samples_0"]
        )
        if not self.n_samples:
            raise ValueError("the Dataset has no samples, so there is nothing to explore")
        self._check()
        self.n_components = (
            max(1, min(COMPONENTS, self.n_samples - 1, self._n_variants()))
            if pcs is None
            else pcs.sizes["components"]
        )
        self.variables = sample_variables(ds, grm)
        self.names = self._names()
        self.finder = Finder(self.names, label_variables(ds, self.variables))
        self._pairs: KinshipPairs | None = None
        self._matrices: dict[tuple[str, tuple[int, ...]], xr.DataArray] = {}

    def _check(self) -> None:
        ids = labels.ids(self.ds, "samples")
        if self._given is not None:
            here = self._given.coords.get("sample_id_0")
            _same_samples("grm=", self._given.sizes.get("samples_0"), here, ids, self.n_samples)
        if self._pcs is not None:
            here = self._pcs.variables.get("sample_id")
            _same_samples("pcs=", self._pcs.sizes.get("samples"), here, ids, self.n_samples)

    def _n_variants(self) -> int:
        """Return the number of variants that components are computed from.

        Contigs that `choose` cannot tell apart raise its error here, when the explorer opens.
        """
        if not self.genotypes:
            return COMPONENTS
        return int(self.ds.sizes["variants"]) - choose(self.ds, self._autosomes).left_out

    def _names(self) -> np.ndarray:
        ids = labels.ids(self.ds, "samples")
        if ids is not None:
            return ids
        if self._given is not None:
            return sample_names(self._given)
        return np.array([f"sample {k}" for k in range(self.n_samples)], dtype=object)

    def label_of(self, method: str) -> str:
        """Return the label of a method."""
        if method == GIVEN and self._given is not None:
            return f"as given: {measure_of(self._given).label}"
        return MEASURES[method].label

    def matrix(self, method: str, variants: tuple[int, ...] = ()) -> xr.DataArray:
        """Return the relationships of all pairs, computed or from the cache.

        ``variants`` holds the positions of the variants to use; an empty tuple uses all.
        """
        wanted = method, variants
        if wanted not in self._matrices:
            ds = GenotypeMethods(self.ds).isel(variants=list(variants)) if variants else self.ds
            lazy = self._given
            if method != GIVEN or lazy is None:
                lazy = GRMMethods(ds).grm(method, autosomes=self._autosomes)
            fresh = computed(lazy)
            kept = sum(matrix.nbytes for matrix in self._matrices.values()) + fresh.nbytes
            if kept > KEPT_BYTES:
                self._matrices.clear()
            self._matrices[wanted] = fresh
        return self._matrices[wanted]

    def arranged(
        self, method: str, variants: tuple[int, ...], shown: tuple[int, ...] | None
    ) -> OrderedMatrix:
        """Return a computed matrix in drawing order.

        ``variants`` is as for `matrix`. ``shown`` holds the samples to draw, None for all.
        """
        matrix = self.matrix(method, variants)
        if shown is not None:
            matrix = matrix.isel(samples_0=list(shown), samples_1=list(shown))
        return arrange(matrix)

    def kinship(self, groups: np.ndarray, n_groups: int) -> KinshipPairs:
        """Return KING kinship and the share of opposite homozygotes of all pairs.

        groups: (samples,) int. Raises ValueError without genotypes.
        """
        if not self.genotypes:
            raise ValueError("KING kinship needs genotypes, which the Dataset lacks")
        return kinship_pairs(self.ds, groups, n_groups, self._autosomes)

    def kinship_plot(self, chosen: Colouring | None) -> KinshipPlot:
        """Return KING kinship with the colours of samples, computed or from the cache."""
        groups, colours = group_codes(chosen, self.n_samples)
        if self._pairs is None:
            self._pairs = self.kinship(np.zeros_like(groups), 1)
        return KinshipPlot(self._pairs, groups, colours, self.names)

    def closest(self, matrix: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
        """Return the closest relative of each sample, -1 for none, and its value: (samples,)."""
        best, value = np.full(self.n_samples, -1), np.full(self.n_samples, np.nan)
        for k, row in enumerate(matrix.values):
            others = np.where(np.arange(len(row)) == k, np.nan, row)
            if not np.isnan(others).all():
                best[k] = np.nanargmax(others)
                value[k] = others[best[k]]
        return best, value

    def components(self) -> xr.Dataset:
        """Return principal components; the first call computes them.

        Raises ValueError without genotypes to compute them from, or with one sample.
        """
        if self._pcs is None:
            if not self.genotypes:
                raise ValueError("components need genotypes, which the Dataset lacks; give pcs=")
            if self.n_samples < 2:
                raise ValueError("one sample has none")
            self._pcs = PCAMethods(self.ds).pca(self.n_components, autosomes=self._autosomes)
        self._pcs = self._pcs.compute()
        return self._pcs

    def write_ids(self, samples: tuple[int, ...], target: Path) -> None:
        """Write the ids of samples to a new text file, one a line, as `plink --keep` reads them.

        A line has family and sample id where families are known, otherwise the sample id alone.
        """
        chosen = list(samples)
        lines = [str(name) for name in self.names[chosen]]
        if "sample_family_id" in self.ds.variables:
            families = labels.text(self.ds["sample_family_id"].values[chosen], "sample_family_id")
            lines = [f"{family}\t{line}" for family, line in zip(families, lines, strict=True)]
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)


def _same_samples(
    argument: str,
    size: int | None,
    here: xr.DataArray | xr.Variable | None,
    ids: np.ndarray | None,
    n_samples: int,
) -> None:
    if size != n_samples:
        raise ValueError(
            f"{argument} has {size} samples, and the Dataset has {n_samples}; select the same "
            "ones in both, with .genobit.isel(samples=...)"
        )
    if here is None or ids is None:
        return
    found = labels.first_difference(ids, labels.text(here.values))
    if found is not None:
        k, ours, theirs = found
        raise ValueError(
            f"sample_id[{k}] is {ours!r} in the Dataset and {theirs!r} in "
            f"{argument}; bring both into one order"
        )
