"""The accessors ``ds.genobit`` and ``da.genobit``: the methods of all analyses.

A new analysis adds its class of methods here. May import: everything but `launcher` and `cli`.
"""

from __future__ import annotations

import importlib
from types import MethodType
from typing import TYPE_CHECKING, Any

import xarray as xr

from genobit.data import availability, labels, model, packed
from genobit.data.packer import pack
from genobit.data.plotting import DatasetPlotMethods, PlotMethods, ReportMethods
from genobit.engine.own_words import SuggestsNames, explained
from genobit.engine.synonyms import SYNONYMS
from genobit.epistasis.methods import EpistasisMethods
from genobit.grm.methods.crossproduct import CrossproductMethods
from genobit.grm.methods.matrix import GRMMethods
from genobit.grm.methods.pairs import RelativesMethods
from genobit.io.join import GeneticMapMethods, JoinMethods
from genobit.kendall.methods.matrix import KendallArrayMethods, KendallGenotypeMethods
from genobit.kendall.methods.pairs import KendallArrayPairsMethods, KendallGenotypePairsMethods
from genobit.ld.methods.blocks import LDBlocksMethods
from genobit.ld.methods.decay import LDDecayMethods
from genobit.ld.methods.matrix import LDMethods
from genobit.ld.methods.pairs import LDPairsMethods
from genobit.ld.methods.prune import LDPruneMethods
from genobit.ld.methods.sites import LDSitesMethods
from genobit.parsimony.methods.alignment import AlignmentMethods
from genobit.parsimony.methods.lengths import ParsimonyMethods
from genobit.parsimony.methods.search import ParsimonySearchMethods
from genobit.pca.methods import PCAMethods
from genobit.quality.methods.filter import FilterMethods
from genobit.quality.methods.mask import MaskMethods
from genobit.quality.methods.statistics import QualityMethods
from genobit.similarity.methods import SimilarityMethods

if TYPE_CHECKING:
    from genobit.data.selection_by_label import Selection


class Writer:
    """A writer of `genobit` as a method of the data, imported at its first use."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name of the writer, which is that of the method."""
        self._name = name

    def __get__(self, accessor: Any, owner: type) -> Any:
        """Return the function, bound to the data of an accessor."""
        # By name: the package knows the file of each writer, and imports this file first.
        function = getattr(importlib.import_module("genobit"), self._name)
        if accessor is None:
            return function
        # The writer itself, whose errors would name the function of `genobit`.
        method = MethodType(function.__wrapped__, accessor._data)
        return explained(method, f"{accessor._called}.{self._name}")


@xr.register_dataset_accessor("genobit")
class GenobitDatasetAccessor(
    PCAMethods,
    CrossproductMethods,
    KendallGenotypeMethods,
    KendallGenotypePairsMethods,
    LDBlocksMethods,
    EpistasisMethods,
    LDDecayMethods,
    LDPairsMethods,
    LDPruneMethods,
    GRMMethods,
    RelativesMethods,
    LDMethods,
    QualityMethods,
    FilterMethods,
    MaskMethods,
    AlignmentMethods,
    JoinMethods,
    GeneticMapMethods,
    DatasetPlotMethods,
    ReportMethods,
    SuggestsNames,
):
    """Genotype analyses of a Dataset of genotype calls or of packed bit planes."""

    _called = "ds.genobit"

    def __init__(self, ds: xr.Dataset) -> None:
        model.require_label_dims(ds)
        self._data = self._ds = labels.plain(ds)

    to_pgen = Writer()
    to_plink = Writer()
    to_trees = Writer()
    to_vcf = Writer()
    to_vcf_zarr = Writer()
    to_zarr = Writer()

    def _unknown(self, name: str) -> str:
        if name in dir(GenobitDataArrayAccessor) and name not in SYNONYMS:
            return f"ds.genobit has no method {name!r}; da.genobit of a DataArray has it."
        return super()._unknown(name)

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that apply to the Dataset."""
        return sorted({*super().__dir__()} - availability.inapplicable(self._ds))

    def __repr__(self) -> str:
        """Return the contents of the Dataset and the analyses that apply, as text."""
        from genobit.data.summary.text import dataset_text

        return dataset_text(self._ds)

    def _repr_html_(self) -> str:
        """Return the contents of the Dataset and the analyses that apply, as HTML."""
        from genobit.data.summary.html import dataset_html

        return dataset_html(self._ds)

    @property
    def explore(self) -> Any:
        """Explorers; `explore()` opens a menu, `explore.ld()` opens one explorer."""
        # Import by name: this is the only place where a lower layer uses a higher one.
        return importlib.import_module("genobit.launcher.explore").Explore(self._ds)

    @property
    def estimate(self) -> Any:
        """Cost estimates; ``estimate.ld()`` predicts the time and memory of ``ld()``."""
        from genobit.data.estimates import estimates_class

        return estimates_class(type(self), self._called)(self._ds)

    def pack(
        self,
        *,
        rows: str = "variants",
        phased: bool = False,
        multiallelic: str = "refuse",
        missing: str = "keep",
    ) -> xr.Dataset:
        """Pack the genotypes into bit planes, lazily, with one task per chunk.

        Parameters
        ----------
        rows
            Dimension of the rows of a plane. "variants" (the default) suits LD, rank correlation
            and epistasis. "samples" suits relationship matrices and principal components.
        phased
            Pack haplotypes instead of dosages. An unphased call with different alleles raises an
            error, and without ``call_genotype_phased`` no call is phased. Homozygous and haploid
            calls need no phase. If the order of alleles is the phase, say so:
            ``ds.assign(call_genotype_phased=ds.call_genotype.notnull().all("ploidy"))``.
        multiallelic
            Rule for variants with more than two alleles. "refuse" (the default) raises an error.
            "drop" removes them. "split" makes one row per alternative allele. Each of these rows
            counts its own allele against all others.
        missing
            "keep" (the default) adds a plane that marks the calls that are present. "refuse" adds
            no such plane, and missing calls raise an error. Genotypes in memory without missing
            calls never get the plane.

        Returns
        -------
            Dataset of uint64 planes, which `genobit.engine.bits.layout` describes. Variables that
            describe variants or samples are kept as coordinates. A dosage takes 2 or 3 bits per
            call; ``call_genotype`` takes 16 bits per call. In ``call_genotype``, -1 is missing and
            -2 marks a lower ploidy. A haplotype with -2 is missing. A dosage is missing if one of
            its two alleles is -1. The variable ``call_genotype_mask`` is redundant and is not read.
            If at most 5% of the calls have more than two alleles, their dosages are missing, and
            ``attrs["polyploid_calls"]`` is their number. Counting them takes a pass over the calls.

        Raises
        ------
        KeyError, TypeError
            If ``call_genotype`` does not exist, or does not hold integers. With ``phased``, also if
            ``call_genotype_phased`` does not hold booleans: NaN would count as phased.
        ValueError
            For multi-allelic variants with ``multiallelic="refuse"``, for unphased calls with
            ``phased``, and for dosages of a ploidy other than 2. An invalid call raises the error
            when the planes are computed; the message names the variant and the sample. The index of
            an allele that the variant does not have is invalid. In dosages, a haploid call such as
            (0, -2) is invalid. A missing call is invalid with ``missing="refuse"``.

        Warns
        -----
        UserWarning
            For dosages of calls that become missing because they have more than two alleles.

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

    def sel(
        self, *, variants: Selection | None = None, samples: Selection | None = None
    ) -> xr.Dataset:
        """Select variants and samples by id, region or mask, from genotypes or packed planes.

        Parameters
        ----------
        variants
            One of these; the default is all variants:

            - ids: `"rs4988235"` or a list of ids. `"2:136608646"` selects the only variant at this
              position.
            - regions: `"2:136.5Mb-136.7Mb"`, `"chr2"` or a list of regions. All names of a
              chromosome match, such as "chr2" and "02". Positions are in bp, kb or Mb, with both
              ends included.
            - a boolean mask. A mask that is a DataArray or Series is aligned by its labels.
            - a slice, or integer positions along the dimension, in any order.

            An id takes precedence over a contig of the same name.
        samples
            Ids, a mask, a slice or integer positions; the default is all samples. Samples of packed
            genotypes are selected lazily. Both haplotypes of a sample stay together.

        Returns
        -------
            Dataset of the selected variants and samples. It is lazy if the genotypes are lazy.
            Results of a list are in the order of the list. Results of a region or a mask are in the
            order of the Dataset. For one id, the dimension is kept with size 1. If regions of a
            list overlap, each variant is returned once.

        Raises
        ------
        KeyError
            For an unknown name; the message lists the three closest names.
        ValueError
            If several variants or samples have the requested id or position. The message lists
            their indices. For a malformed region or a region without variants. For a name of
            several contigs, such as "02" for "2" and "chr2". If a labelled mask lies along another
            dimension, or lacks a variant or sample.
        IndexError
            If an integer position is outside the dimension, or a mask has another length.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 1]], [[1, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "variant_id": ("variants", ["rs1", "rs2", "rs3"]),
        ...         "variant_contig": ("variants", ["2", "2", "X"]),
        ...         "variant_position": ("variants", [1_000, 2_500, 1_000]),
        ...         "sample_id": ("samples", ["ann", "bob"]),
        ...     }
        ... )
        >>> ds.genobit.sel(variants="chr2:1kb-2kb", samples="bob").variant_id.values.tolist()
        ['rs1']
        >>> ds.genobit.pack().genobit.sel(variants=["X", "rs2"]).variant_id.values.tolist()
        ['rs3', 'rs2']
        >>> ds.genobit.sel(variants="rs4")
        Traceback (most recent call last):
            ...
        KeyError: "variants='rs4' is not ...; did you mean 'rs1', 'rs2' or 'rs3'?"
        """
        return packed.isel(self._ds, variants, samples)

    def indexed(self) -> xr.Dataset:
        """Return the Dataset with ids as indexes, so that xarray's own ``ds.sel`` takes them.

        Returns
        -------
            Dataset with the coordinates ``variants`` and ``samples``, copies of ``variant_id`` and
            ``sample_id``. Use ``sel`` of xarray for unpacked genotypes and results only. Samples of
            packed planes are bits, which ``ds.genobit.sel`` selects.

        Raises
        ------
        KeyError
            If neither variants nor samples have ids.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds = ds.assign(variant_id=("variants", ["rs1", "rs2"]))
        >>> ds.genobit.indexed().sel(variants=["rs2"]).call_genotype.shape
        (1, 2, 2)
        """
        dims = (model.VARIANTS, model.SAMPLES)
        names = {dim: labels.ids(self._ds, dim) for dim in dims if dim in self._ds.dims}
        known = {dim: own for dim, own in names.items() if own is not None}
        if not known:
            msg = "the Dataset has no variant_id and no sample_id: assign them with ds.assign"
            raise KeyError(msg)
        return self._ds.assign_coords({d: xr.Variable(d, own) for d, own in known.items()})

    def isel(
        self, *, variants: Selection | None = None, samples: Selection | None = None
    ) -> xr.Dataset:
        """Select variants and samples by integer position along their dimension.

        Parameters
        ----------
        variants, samples
            A slice, integer positions in any order, a boolean mask, or any other selection that
            `sel` accepts. The default is all.

        Returns
        -------
            Dataset of the selected variants and samples, in the same order as from `sel`.

        Raises
        ------
        IndexError, KeyError, ValueError
            As for `sel`.

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
    KendallArrayMethods,
    LDSitesMethods,
    KendallArrayPairsMethods,
    ParsimonyMethods,
    SimilarityMethods,
    ParsimonySearchMethods,
    JoinMethods,
    PlotMethods,
    SuggestsNames,
):
    """Analyses of a DataArray: variables x observations, binary rows, or an alignment."""

    _called = "da.genobit"

    def __init__(self, da: xr.DataArray) -> None:
        self._data = self._da = labels.plain(da)

    to_gcta = Writer()
    to_plink_rel = Writer()
    to_zarr = Writer()

    def _unknown(self, name: str) -> str:
        if name in dir(GenobitDatasetAccessor):
            return (
                f"da.genobit has no method {name!r}; ds.genobit of a Dataset has it. Genotypes are "
                "the variable call_genotype (variants, samples, ploidy) of a Dataset: see "
                "'Tables and arrays' in the documentation."
            )
        return super()._unknown(name)

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that apply to the DataArray."""
        return sorted({*super().__dir__()} - availability.inapplicable_to_array(self._da))

    def __repr__(self) -> str:
        """Return the contents of the DataArray and the analyses that apply, as text."""
        from genobit.data.summary.text import dataarray_text

        return dataarray_text(self._da)

    def _repr_html_(self) -> str:
        """Return the contents of the DataArray and the analyses that apply, as HTML."""
        from genobit.data.summary.html import dataarray_html

        return dataarray_html(self._da)

    @property
    def explore(self) -> Any:
        """Explorers; `explore()` opens a menu, `explore.kendall()` opens one explorer."""
        return importlib.import_module("genobit.launcher.explore").ExploreArray(self._da)

    @property
    def estimate(self) -> Any:
        """Cost estimates; ``estimate.kendall()`` predicts the time and memory of ``kendall()``."""
        from genobit.data.estimates import estimates_class

        return estimates_class(type(self), self._called)(self._da)
