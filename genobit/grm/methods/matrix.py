"""``ds.genobit.grm`` and ``crossproduct``: matrices of samples, with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.autosomes import choose
from genobit.data.contigs import contig_of_variants, contigs_in
from genobit.data.guards.calls import warn_without_calls
from genobit.data.haploid import as_diploid, is_haploid, require_diploid
from genobit.data.size_limit import compute_within_limit
from genobit.engine.progress import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from genobit.data.autosomes import Autosomes, Chosen
    from genobit.grm.sums import Matrix


class GRMMethods(DatasetMethods):
    """Methods of ``ds.genobit`` about relationship matrices."""

    def grm(
        self,
        method: str = "vanraden1",
        *,
        missing: str | None = None,
        allele_frequency: str | ArrayLike | xr.DataArray | None = None,
        loco: bool = False,
        autosomes: Autosomes = True,
        count_monomorphic: bool = False,
        compute: bool = False,
    ) -> xr.DataArray:
        """Compute the genomic relationship matrix of the samples.

        Parameters
        ----------
        method
            "vanraden1" (the default), "vanraden2", "gcta", "endelman_jannink", "dominance",
            "hadamard" (additive-by-additive epistasis), "king" (KING-robust kinship) or "ibs"
            (share of alleles identical by state). `genobit.grm.matrix` has the formulas.
        missing
            "mean" imputes the mean of a variant. "pairwise" sums over the variants called in both
            samples. The default is "pairwise" for "gcta", "king" and "ibs", and "mean" for the
            other methods. "king" and "ibs" support only "pairwise". "endelman_jannink" supports
            only "mean".
        allele_frequency
            Frequencies of the counted allele in a base population: an array (variants,), or the
            name of a variable. The default is the frequencies in these samples. A DataArray or
            Series is aligned by its labels.
        loco
            Leave one chromosome out: return one matrix for each contig, from the variants of all
            other contigs. All matrices are computed in one pass over the genotypes.
        autosomes
            By default, contigs named X, Y or MT (also 23, 24, 26, "chrX", ...) are left out, as in
            plink. Give the number of autosomes of another species (cattle: 29), a list of the
            contigs to use, or False to use every variant. `genobit.data.autosomes.choose` has the
            rules.
        count_monomorphic
            Count monomorphic variants in the divisor, as plink 1.9 and plink2 do. These variants
            add nothing to the sum, so values become smaller. Only "gcta", "vanraden2" and
            "endelman_jannink" support this option, because they divide by the number of variants.
        compute
            Compute at once. Results larger than ``get_options().eager_limit`` bytes are refused.

        Returns
        -------
            float64 (samples_0, samples_1), lazy unless ``compute``, with the labels of the samples
            on both sides.

            With ``loco`` the dimensions are (contigs, samples_0, samples_1). The coordinate
            ``contig_left_out`` names the contig that each matrix leaves out; ``.isel(contigs=0)``
            selects the first matrix.

            With "pairwise" the coordinate ``variants_compared``, int64, is the number of variants
            called in both samples of each pair. Monomorphic variants are counted only with
            ``count_monomorphic``, "king" or "ibs". A pair with 0 compared variants is NaN.

            Attributes: ``variants`` is the number of variants used. ``variants_left_out`` is the
            number of variants that ``autosomes`` leaves out, and ``contigs_left_out`` names their
            contigs.

        Raises
        ------
        ValueError
            For an unknown method, or an option that the method does not support. For a frequency
            that is NaN or outside [0, 1], or for a wrong number of frequencies. For a chromosome
            number that the species does not have (above 26 in humans, where 23 to 26 are X, Y, XY
            and MT), or an unknown contig in ``autosomes``. With ``loco``, for contigs whose
            variants are not contiguous.
        KeyError
            With ``loco``, if ``variant_contig`` is missing.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Warns
        -----
        UserWarning
            With "king", for fewer than 1,000 variants, or for variants in fewer than 1,000
            stretches of 10 kb. If genotypes in memory have no call: the result is NaN.

        Notes
        -----
        "vanraden1" uses exact integer sums and one final division if no call is missing and
        ``allele_frequency`` is not given. The result is then bit-identical for every chunking. The
        cost is samples^2 x variants / 2 multiplications of the integers -1, 0 and 1. "king" and
        "ibs" also use exact integer sums, even with missing calls.

        "vanraden2", "gcta" and "dominance" use float32 sums. So does "vanraden1" with missing
        calls. The error is about 1e-6 of the values on the diagonal.

        Haploid genotypes (ploidy 1) are dosages 0 and 1 of variance p (1 - p). "vanraden1",
        "vanraden2" and "ibs" take them. ``attrs["ploidy"]`` is then 1.

        A variant with frequency 0 or 1 is monomorphic. Such variants are ignored unless
        ``count_monomorphic`` is True. "king" and "ibs" include them, as they use no frequencies.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 0], [0, 1], [1, 1]], [[1, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.grm("vanraden1").values
        array([[ 2.,  0., -2.],
               [ 0.,  0.,  0.],
               [-2.,  0.,  2.]])
        """
        from genobit.data.frequency import DIVISORS, given_frequency
        from genobit.grm import matrix as grm

        haploid = is_haploid(self._ds)
        if method not in grm.OF_HAPLOIDS:
            names = ", ".join(map(repr, grm.OF_HAPLOIDS))
            require_diploid(self._ds, f"method={method!r}", f"take one of {names}")
        chosen = choose(self._ds, autosomes)
        rule = grm.check(
            method,
            missing,
            frequency=allele_frequency is not None,
            loco=loco,
            count_monomorphic=count_monomorphic,
        )
        frequency = None
        if allele_frequency is not None:
            frequency = chosen.of(given_frequency(self._ds, allele_frequency))
        ds, _, samples = packed.by_samples(as_diploid(self._ds), variants=chosen.kept, contigs=loco)
        if allele_frequency is None:
            warn_without_calls(self._ds, "relationships")
        if method == "king":
            warn_of_few(self._ds, chosen)
        contigs = _contigs(ds, samples.variants) if loco else None
        found = grm.matrix(
            method,
            samples,
            missing=rule,
            frequency=frequency,
            contigs=None if contigs is None else list(contigs.values()),
            count_monomorphic=count_monomorphic,
        )
        if haploid and method in grm.BY_FREQUENCY:
            # Dosages of 0 and 2 have twice the relationship of haploid ones.
            found = found._replace(values=found.values / 2)
        result = _labelled(found, ds, method, contigs)
        if haploid:
            result.attrs["ploidy"] = 1
        result.attrs |= chosen.attributes()
        result.attrs["missing"] = grm.MISSING[rule]
        if method in grm.COUNTED:
            result.attrs["divisor"] = DIVISORS[count_monomorphic]
        if method in grm.BY_FREQUENCY:
            result.attrs["allele_frequency"] = "of these samples" if frequency is None else "given"
        fewer = "isel(contigs=...)" if loco else "grm_pairs()"
        remedy = f"{fewer}, to_zarr() or ds.genobit.isel(samples=...)"
        return compute_within_limit(result, remedy) if compute else result

    def crossproduct(self, kernel: str = "auto", *, compute: bool = False) -> xr.DataArray:
        """Compute M M': for each pair of samples, the sum over variants of products of dosages.

        Parameters
        ----------
        kernel
            Kernel to use. "auto" takes the kernel of `grm`, the fastest on this CPU. "multiply",
            "hamming", "threebit", "twobit", "shuffle" and "packed" are the kernels compared by
            Schlather (2020). "popcount" computes four products of bit planes; each product counts
            the bits that are set in both planes. All kernels return the same integers.
        compute
            Compute at once, in memory. A result larger than ``get_options().eager_limit`` bytes is
            refused; the error gives its size.

        Returns
        -------
            int64 (samples_0, samples_1), exact, lazy unless ``compute``, with the labels of the
            samples on both sides. A dosage is the number of copies of the counted allele, 0 to 2.

        Raises
        ------
        ValueError
            For an unknown kernel, or for "shuffle" on a CPU without byte lookup instructions
            (SSSE3, AVX2, NEON). For missing calls, when the result is computed; `grm` can handle
            missing calls.
        MemoryError
            With ``compute``, if the result is larger than the limit.

        Notes
        -----
        All variants are used, including variants on X, Y and MT, which `grm` leaves out by default.
        `genobit.grm.kernels.published_products` describes the coding, the formula and the number of
        operations of each kernel.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.crossproduct("shuffle").values
        array([[2, 3, 0],
               [3, 5, 0],
               [0, 0, 0]])
        """
        from genobit.grm.crossproduct import crossproduct

        ds, _, samples = packed.by_samples(self._ds)
        attributes = {
            "long_name": "sum of products of dosages",
            "kernel": kernel,
            "missing": "refused",
            "variants": sum(samples.variants),
            model.COUNTED_ALLELE: model.counted_allele(ds),
        }
        dims, coords = result_labels.of_pairs((model.SAMPLES, ds), (model.SAMPLES, ds))
        products = crossproduct(samples, kernel)
        result = model.labelled(products, coords, dims, "crossproduct", attributes)
        return (
            compute_within_limit(result, "to_zarr() or ds.genobit.isel(samples=...)")
            if compute
            else result
        )


def warn_of_few(ds: xr.Dataset, chosen: Chosen) -> None:
    """Warn if the chosen variants are too few or clearly linked for kinship."""
    from genobit.grm.kinship import doubt

    contigs, position = contigs_in(ds), ds.variables.get(model.VARIANT_POSITION)
    numbers = np.zeros(ds.sizes[model.VARIANTS], int) if contigs is None else contigs.numbers
    at = None
    if position is not None and position.dtype.kind in "iuf":
        at = chosen.of(position.values)
    text = doubt(numbers.size - chosen.left_out, chosen.of(numbers), at)
    if text:
        warn(text)


def _labelled(
    found: Matrix, ds: xr.Dataset, method: str, contigs: dict[str, list[int]] | None
) -> xr.DataArray:
    """Return the matrix with the samples' labels on both sides and the contigs left out."""
    from genobit.grm.matrix import LONG_NAMES

    dims, coords = result_labels.of_pairs((model.SAMPLES, ds), (model.SAMPLES, ds))
    if contigs is not None:
        dims = ("contigs", *dims)
        # dtype object: Zarr has no stable specification for fixed-width text.
        coords["contig_left_out"] = ("contigs", np.array(list(contigs), object))
    if found.compared is not None:
        about = {"long_name": "variants called in both samples"}
        coords[model.VARIANTS_COMPARED] = (dims, found.compared, about)
    attributes = {
        "long_name": LONG_NAMES[method],
        "method": method,
        "variants": ds.sizes[model.VARIANTS],
        model.COUNTED_ALLELE: model.counted_allele(ds),
    }
    return model.labelled(found.values, coords, dims, method, attributes)


def _contigs(ds: xr.Dataset, variants: tuple[int, ...]) -> dict[str, list[int]]:
    """Return the chunks of variants of each contig, by its name."""
    contig = np.asarray(contig_of_variants(ds))
    first = np.cumsum((0, *variants))[:-1]
    out: dict[str, list[int]] = {}
    for chunk, start in enumerate(first):
        out.setdefault(str(contig[start]), []).append(chunk)
    return out
