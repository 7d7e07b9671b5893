"""Check the fixed columns of a VCF, which VCF Zarr stores have too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data import labels, model
from genobit.io.pgen_files._pvar import NO_ALLELE
from genobit.io.writers import _checks
from genobit.io.writers._vcf_fields import with_missing

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

QUALITY = "variant_quality"
FIRST_POSITION = 1
_NO_REFERENCE = "N"
"""REF of a VCF where the reference allele is not known, as plink2 writes it."""


def fixed_columns(ds: xr.Dataset, files: str) -> dict[str, tuple[Any, NDArray[Any]]]:
    """Return the fixed columns of a VCF, checked: dimensions and values by name of the variable."""
    along = model.VARIANTS
    _checks.require_labels(ds, files, FIRST_POSITION)
    contigs = _checks.contigs(ds, _checks.ENDS_NAME)
    alleles = _checks.alleles(ds, files)
    alleles[alleles[:, 0] == NO_ALLELE, 0] = _NO_REFERENCE
    found: dict[str, tuple[Any, NDArray[Any]]] = {
        model.VARIANT_POSITION: (
            along,
            _checks.positions(ds, files, FIRST_POSITION).astype(np.int32),
        ),
        model.VARIANT_CONTIG: (along, contigs.numbers.astype(np.int32)),
        model.CONTIG_ID: (model.CONTIGS, contigs.names),
        model.VARIANT_ALLELE: ((along, "alleles"), alleles),
        model.SAMPLE_ID: (model.SAMPLES, _checks.individuals(ds)),
    }
    if labels.values_along(ds, model.VARIANT_ID, along) is not None:
        found[model.VARIANT_ID] = (along, _checks.variant_ids(ds))
    quality = _checks.numbers(ds, QUALITY, along)
    if quality is not None:
        found[QUALITY] = (along, with_missing(quality.astype(np.float32)))
    if "variant_filter" in ds:
        found["filter_id"] = ("filters", _checks.filters(ds, files, _checks.ENDS_NAME))
        described = _checks.descriptions(ds)
        if described is not None:
            found[_checks.DESCRIPTION] = ("filters", described)
    return found
