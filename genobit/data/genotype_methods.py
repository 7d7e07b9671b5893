"""``ds.genobit.pack``, ``sel``, ``isel`` and ``indexed``: packing and selection of genotypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

from genobit.data import labels, model, packed
from genobit.data.analysis import DatasetMethods
from genobit.data.packer import pack

if TYPE_CHECKING:
    from genobit.data.selection_by_label import Selection


class GenotypeMethods(DatasetMethods):
    """Methods of ``ds.genobit`` that pack and select genotypes."""

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
