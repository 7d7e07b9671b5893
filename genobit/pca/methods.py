"""``ds.genobit.pca`` and ``.project``: principal components, with labels.

`genobit.pca.components` has the arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import labels, model, packed, result_labels
from genobit.data.analysis import DatasetMethods
from genobit.data.autosomes import choose
from genobit.data.contigs import comparable_contigs
from genobit.data.haploid import as_diploid, is_haploid
from genobit.data.strands import align

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike, NDArray

    from genobit.data.autosomes import Autosomes, Chosen
    from genobit.pca.components import Components

COMPONENTS = "components"


class PCAMethods(DatasetMethods):
    """Methods of ``ds.genobit`` about principal components."""

    def pca(
        self,
        components: int | None = None,
        *,
        method: str = "auto",
        missing: str = "mean",
        allele_frequency: str | ArrayLike | xr.DataArray | None = None,
        autosomes: Autosomes = True,
        count_monomorphic: bool = False,
        seed: int = 0,
    ) -> xr.Dataset:
        """Compute principal components of the standardised dosages.

        Parameters
        ----------
        components
            Number of components, in descending order of variance. The default is 10, or all if
            fewer exist. The number cannot exceed the number of polymorphic variants or the number
            of samples. With the samples' own frequencies, it must be below the number of samples.
        method
            "exact" decomposes the relationship matrix (samples, samples). "randomized" computes the
            same components without this matrix, in passes over the packed genotypes. "auto" chooses
            "exact" for up to 3,000 samples if its memory fits ``get_options().eager_limit``.
            Otherwise it chooses "randomized".
        missing
            "mean" replaces a missing call by the mean dosage of its variant. "pairwise" computes
            each element of the relationship matrix from the variants called in both samples, as
            ``plink --pca`` and GCTA do. "pairwise" requires the exact method.
        allele_frequency
            Frequency of the counted allele in a base population, (variants,), or the name of a
            variable. The default is the frequency in these samples. A DataArray or Series is
            aligned by its labels.
        autosomes
            By default, contigs named X, Y or MT (also 23, 24, 26, "chrX", ...) are left out, as in
            plink. Give the number of autosomes of another species (cattle: 29), a list of the
            contigs to use, or False to use every variant. `genobit.data.autosomes.choose` has the
            rules.
        count_monomorphic
            Count monomorphic variants in the divisor of the relationship matrix, as plink 1.9 and
            plink2 do. Eigenvalues and scores then become smaller. Without missing calls, the
            eigenvectors do not change.
        seed
            Seed of the randomized method. With the same seed, different chunks give the same
            results except for rounding.

        Returns
        -------
            Dataset of float64, in memory, with labels and ``components`` counted from 1:

            - ``scores`` (samples, components): the sum of squared scores of a component is its
              explained variance. Therefore ``scores / sqrt(explained_variance)`` are the
              eigenvectors that plink prints. The sign of a component is chosen so that the sum of
              cubed scores is positive. If this sum is near 0, the first sample with a score far
              from 0 has a positive score.
            - ``loadings`` (variants, components): each component is a vector of norm 1
            - ``explained_variance`` (components): eigenvalues of the relationship matrix
            - ``explained_variance_ratio`` (components): share of the sum of all eigenvalues
            - ``allele_frequency`` (variants): frequency of the counted allele, NaN without calls

            Variants that ``autosomes`` leaves out have loading 0 and frequency NaN, so `project`
            uses the same variants. The attribute ``variants`` is the number of polymorphic variants
            used. With ``count_monomorphic`` it includes monomorphic variants that have calls.
            ``variants_left_out`` is the number of variants that ``autosomes`` leaves out, and
            ``contigs_left_out`` names their contigs.

        Raises
        ------
        ValueError
            For an argument with an invalid value, a frequency outside [0, 1], or more components
            than exist. With "pairwise", for a sample without calls, or for two samples without a
            variant called in both.
        MemoryError
            If the exact method would take more than ``get_options().eager_limit`` bytes.

        Notes
        -----
        Haploid genotypes (ploidy 1) are dosages 0 and 1 of variance p (1 - p).

        Monomorphic variants and variants without calls have loading 0. Formulas and references:
        `genobit.pca.components`.

        Packed genotypes (2 or 3 bits per call) stay in memory if they fit
        ``get_options().eager_limit``. Otherwise every pass reads the genotypes again. In addition,
        "exact" needs samples^2 x 16 bytes, and "randomized" needs samples x (components + 10) x
        passes x 16 bytes. ``attrs["passes"]`` is the number of passes, at most 60.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pcs = ds.genobit.pca(1)
        >>> pcs.scores.values.round(2).T
        array([[-0.18, -1.04,  1.22]])
        >>> float(pcs.explained_variance_ratio[0].round(2))
        0.95
        """
        from genobit.data.frequency import DIVISORS, given_frequency
        from genobit.pca import components as pca

        pca.check(components, method, missing)
        chosen = choose(self._ds, autosomes)
        ds = packed.in_chunks_of_samples(as_diploid(self._ds))
        samples = packed.by_samples(ds, variants=chosen.kept, tiled=False)[2]
        frequency = None
        if allele_frequency is not None:
            frequency = chosen.of(given_frequency(self._ds, allele_frequency))
        found = pca.pca(
            samples,
            components,
            method=method,
            missing=missing,
            frequency=frequency,
            count_monomorphic=count_monomorphic,
            seed=seed,
        )
        out = _labelled(_of_all_variants(found, chosen), ds)
        if is_haploid(self._ds):
            # Standardised dosages of 0 and 2 have twice the variance of those of 0 and 1.
            out["explained_variance"].values /= 2
            out["scores"].values /= 2**0.5
            out.attrs |= {"ploidy": 1, "scaling": "(dosage - p) / sqrt(p (1 - p))"}
        out.attrs |= chosen.attributes()
        out.attrs["missing"] = pca.MISSING[missing]
        out.attrs["divisor"] = DIVISORS[count_monomorphic]
        out.attrs["allele_frequency"] = "of these samples" if frequency is None else "given"
        if found.eigen.method == "randomized":
            out.attrs["seed"] = seed
        return out

    def project(self, pcs: xr.Dataset) -> xr.DataArray:
        """Project these samples onto principal components of other samples.

        Parameters
        ----------
        pcs
            Result of `pca`, for the same variants in the same order.

        Returns
        -------
            float64 (samples, components), lazy. Dosages are standardised with the allele
            frequencies p in ``pcs``, and missing calls are imputed with the mean dosage 2 p. If
            ``pcs`` lists the two alleles of a variant in the opposite order, its dosage counts the
            other allele. Alleles of the other strand are matched too, as in `genobit.concat`.
            ``attrs`` counts both: ``variants_exchanged`` and ``variants_flipped``.

        Raises
        ------
        TypeError, KeyError
            If ``pcs`` is not a result of `pca`.
        ValueError
            If the variants differ. The message names the first difference and what to do.

        Notes
        -----
        The samples of `pca` itself get the same scores as in ``pcs`` (with ``missing="mean"``).
        Scores of other samples are biased toward 0 (shrinkage; Lee, Zou and Wright 2010,
        doi:10.1214/10-AOS821). Shrinkage is stronger if ``pcs`` has few samples relative to its
        variants. Therefore compare projected samples only with each other.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.isel(samples=[1]).genobit.project(ds.genobit.pca(1)).values.round(2)
        array([[-1.04]])
        """
        from genobit.data.frequency import DIVISORS
        from genobit.pca import components as pca

        _require_components(pcs)
        haploid = is_haploid(self._ds)
        _require_ploidy(1 if haploid else 2, pcs)
        ds, _, samples = packed.by_samples(as_diploid(self._ds), tiled=False)
        exchanged, flipped = _matched(ds, pcs)
        loadings = pcs["loadings"].transpose(model.VARIANTS, COMPONENTS).values
        counted = pcs.attrs.get("divisor") == DIVISORS[True]
        frequency = pcs["allele_frequency"].values
        data = pca.project(samples, loadings, frequency, exchanged, count_monomorphic=counted)
        if haploid:
            data = data / 2**0.5
        coords = {
            name: variable
            for name, variable in _labels(ds).items()
            if variable.dims == (model.SAMPLES,)
        }
        coords[COMPONENTS] = pcs[COMPONENTS].variable
        attributes = {
            "long_name": "score on components of other samples",
            "missing": pca.MISSING["mean"],
            "variants_exchanged": int(exchanged.sum()),
            "variants_flipped": int(flipped.sum()),
        }
        return model.labelled(data, coords, (model.SAMPLES, COMPONENTS), "scores", attributes)


_LONG_NAMES = {
    "scores": "score on principal component",
    "loadings": "loading on principal component",
    "explained_variance": "variance explained",
    "explained_variance_ratio": "share of variance explained",
    "allele_frequency": "frequency of the counted allele",
}


def _require_ploidy(ploidy: int, pcs: xr.Dataset) -> None:
    """Raise ValueError for components of samples of another ploidy, whose variance is another."""
    of = pcs.attrs.get("ploidy", 2)
    if of != ploidy:
        msg = (
            f"the components are of genotypes of ploidy {of}, and these have ploidy {ploidy}: "
            "take each haploid call twice, ds.isel(ploidy=[0, 0]) of the haploid genotypes, and "
            "repeat pca() or project()"
        )
        raise ValueError(msg)


def _of_all_variants(found: Components, chosen: Chosen) -> Components:
    """Return components with loading 0 and frequency NaN for variants that were left out."""
    if chosen.kept is None:
        return found
    loadings = np.zeros((chosen.kept.size, found.loadings.shape[1]))
    frequency = np.full(chosen.kept.size, np.nan)
    loadings[chosen.kept], frequency[chosen.kept] = found.loadings, found.frequency
    return found._replace(loadings=loadings, frequency=frequency)


def _labelled(found: Components, ds: xr.Dataset) -> xr.Dataset:
    """Return components with labels of samples and variants, and attributes of the computation."""
    eigen = found.eigen
    out = xr.Dataset(
        {
            "scores": ((model.SAMPLES, COMPONENTS), found.scores),
            "loadings": ((model.VARIANTS, COMPONENTS), found.loadings),
            "explained_variance": (COMPONENTS, eigen.values),
            "explained_variance_ratio": (COMPONENTS, eigen.values / eigen.total),
            "allele_frequency": (model.VARIANTS, found.frequency),
        },
        {**_labels(ds), COMPONENTS: np.arange(1, eigen.values.size + 1)},
        {
            "method": eigen.method,
            "scaling": "(dosage - 2 p) / sqrt(2 p (1 - p))",
            "variants": found.variants,
            model.COUNTED_ALLELE: model.counted_allele(ds),
        },
    )
    if eigen.method == "randomized":
        out.attrs |= {"passes": eigen.passes, "residual": eigen.residual}
    for name, text in _LONG_NAMES.items():
        out[name].attrs["long_name"] = text
    return out


def _labels(ds: xr.Dataset) -> dict[Hashable, xr.Variable]:
    """Return labels of variants, samples and contigs, without the marks of bits."""
    marks = (*model.BIT.values(), model.WORD)
    kept = model.carried(ds, without=marks).items()
    return result_labels.of_result(
        ds, [k for k, x in kept if model.WORDS not in x.dims and k not in ds.data_vars]
    )


def _require_components(pcs: object) -> None:
    if not isinstance(pcs, xr.Dataset):
        msg = f"project takes the Dataset of ds.genobit.pca(), not {type(pcs).__name__}"
        raise TypeError(msg)
    for name in ("loadings", "allele_frequency"):
        if name not in pcs:
            msg = f"project takes the Dataset of ds.genobit.pca(), and this one has no {name!r}"
            raise KeyError(msg)


def _matched(ds: xr.Dataset, pcs: xr.Dataset) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the variants that count the other allele, and those of the other strand (variants,).

    Raises ValueError if the variants are not the same.
    """
    remedy = "select the same variants in the same order on both sides before pca() and project()"
    ours, theirs = ds.sizes[model.VARIANTS], pcs.sizes[model.VARIANTS]
    if ours != theirs:
        msg = f"the components are of {theirs} variants, these genotypes have {ours}: {remedy}"
        raise ValueError(msg)
    for name in (model.VARIANT_CONTIG, model.VARIANT_POSITION, model.VARIANT_ID):
        if name not in ds.variables or name not in pcs.variables:
            continue
        here, there = (np.asarray(side[name].values) for side in (ds, pcs))
        if name == model.VARIANT_CONTIG:
            both = comparable_contigs(ds, pcs)
            if both is None:
                continue
            here, there = both
        found = labels.first_difference(here, there, name)
        if found is not None:
            k, our, their = found
            msg = f"{name}[{k}] is {our!s} here and {their!s} in the components: {remedy}"
            raise ValueError(msg)
    if model.VARIANT_ALLELE in ds.variables and model.VARIANT_ALLELE in pcs.variables:
        here, there = _alleles(ds), _alleles(pcs)
        aligned = align(there, here)
        if aligned.conflicting.any():
            k = int(aligned.conflicting.argmax())
            msg = (
                f"variant_allele[{k}] is {'/'.join(here[k])} here and {'/'.join(there[k])} in the "
                "components, and fits on no strand: leave the variant out of both"
            )
            raise ValueError(msg)
        return aligned.exchanged, aligned.flipped
    return np.zeros(ours, bool), np.zeros(ours, bool)


def _alleles(ds: xr.Dataset) -> NDArray[Any]:
    found = ds[model.VARIANT_ALLELE].transpose(model.VARIANTS, ...).values[:, :2]
    return labels.text(found, model.VARIANT_ALLELE)
