"""``ds.genobit`` and ``da.genobit``: the methods of all analyses on one Dataset or DataArray.

May import: the methods of the analyses, and what is below. A new analysis adds one line here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import labels, packed
from genobit.data.packer import pack
from genobit.epistasis.methods import InteractionMethods
from genobit.grm.methods.crossproduct import CrossproductMethods
from genobit.grm.methods.matrix import RelationshipMethods
from genobit.grm.methods.pairs import RelativesMethods
from genobit.kendall.methods.matrix import ArrayCorrelations, GenotypeCorrelations
from genobit.kendall.methods.pairs import ArrayPairs, GenotypePairs
from genobit.ld.methods.blocks import HaplotypeBlockMethods
from genobit.ld.methods.decay import LinkageDecayMethods
from genobit.ld.methods.matrix import LdMethods
from genobit.ld.methods.pairs import LinkedPairs
from genobit.ld.methods.prune import PruningMethods
from genobit.ld.methods.sites import ArrayLinkage
from genobit.parsimony.methods.alignment import SequenceMethods
from genobit.parsimony.methods.lengths import ArrayPhylogenetics
from genobit.parsimony.methods.search import ArrayTreeSearch
from genobit.pca.methods import ComponentMethods
from genobit.quality.methods import QualityMethods
from genobit.similarity.methods import ArraySimilarity

if TYPE_CHECKING:
    from genobit.data.packed import Selection


@xr.register_dataset_accessor("genobit")
class GenobitDatasetAccessor(
    ComponentMethods,
    CrossproductMethods,
    GenotypeCorrelations,
    GenotypePairs,
    HaplotypeBlockMethods,
    InteractionMethods,
    LinkageDecayMethods,
    LinkedPairs,
    PruningMethods,
    RelationshipMethods,
    RelativesMethods,
    LdMethods,
    QualityMethods,
    SequenceMethods,
):
    """Genotype analyses of a Dataset, packed or not."""

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = labels.plain(ds)

    def _repr_html_(self) -> str:
        """What the Dataset holds and which analyses apply, for a notebook."""
        from genobit.data.summary_html import dataset_html

        return dataset_html(self._ds)

    @property
    def explore(self) -> Any:
        """The interactive explorers: `explore()` offers what there is, `explore.ld()` opens one."""
        # The one place where a lower layer reaches up: by name, when somebody asks to look.
        return importlib.import_module("genobit.launcher.explore").Explore(self._ds)

    def pack(
        self,
        *,
        rows: str = "variants",
        phased: bool = False,
        multiallelic: str = "refuse",
        missing: str = "keep",
    ) -> xr.Dataset:
        """Pack the genotypes into bit planes, lazily, one task a chunk.

        Parameters
        ----------
        rows
            What a row of a plane is: "variants" (LD, Kendall, epistasis) or "samples" (relationship
            matrices, distances).
        phased
            Pack haplotypes instead of dosages. Where ``call_genotype_phased`` is there, an
            unphased heterozygous call is an error.
        multiallelic
            What to do with variants of more than two alleles: "refuse", "drop" them, or "split"
            each into a row an alternative allele, counting that allele against all others.
        missing
            "keep" a plane of which calls are present, or "refuse" missing calls and save that
            plane. Genotypes that are in memory and miss none go without the plane in any case.

        Returns
        -------
            Dataset of uint64 planes (`genobit.engine.bits.layout` describes them) with every variable of
            variants and samples along as a coordinate. A dosage takes 2 or 3 bits a call, against
            16 in ``call_genotype``. A sample with one of its two alleles missing is missing.
            Missing is what is below 0 in ``call_genotype``; ``call_genotype_mask``, which says
            the same in both conventions, is not read.

        Raises
        ------
        KeyError, TypeError
            If there is no ``call_genotype``, or not of integers.
        ValueError
            For another ploidy than 2 (dosages), multi-allelic variants, unphased calls; when
            computed, for a call that does not fit, with its variant and sample.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [-1, -1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> bits = ds.genobit.pack()
        >>> [int(bits[plane].values[0, 0]) for plane in bits.data_vars]
        [3, 2, 3]
        """
        return pack(self._ds, rows=rows, phased=phased, multiallelic=multiallelic, missing=missing)

    def isel(
        self, *, variants: Selection | None = None, samples: Selection | None = None
    ) -> xr.Dataset:
        """Select variants and samples by position, inside the planes where the Dataset is packed.

        Parameters
        ----------
        variants, samples
            A slice, positions in any order, or a boolean mask. A mask that is a DataArray or Series
            is aligned by its labels. Samples of packed genotypes are picked bit by bit, lazily, and
            keep their haplotypes together.

        Returns
        -------
            Dataset of the selected variants and samples, in the order asked for.

        Raises
        ------
        IndexError
            For a position outside the dimension or a mask of another length.
        ValueError
            For a labelled mask along another dimension, or without a value for a member.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> two = ds.genobit.pack().genobit.isel(samples=[2, 1])
        >>> int(two.plane_carrier.values[0, 0])
        2
        """
        return packed.isel(self._ds, variants, samples)


@xr.register_dataarray_accessor("genobit")
class GenobitDataArrayAccessor(
    ArrayCorrelations,
    ArrayLinkage,
    ArrayPairs,
    ArrayPhylogenetics,
    ArraySimilarity,
    ArrayTreeSearch,
):
    """Analyses of a DataArray: of variables x observations, binary rows, an alignment."""

    def __init__(self, da: xr.DataArray) -> None:
        self._da = labels.plain(da)

    def _repr_html_(self) -> str:
        """What the DataArray holds and which analyses apply, for a notebook."""
        from genobit.data.summary_html import dataarray_html

        return dataarray_html(self._da)

    @property
    def explore(self) -> Any:
        """The interactive explorers: `explore()` offers them, `explore.kendall()` opens one."""
        return importlib.import_module("genobit.launcher.explore").ExploreArray(self._da)
