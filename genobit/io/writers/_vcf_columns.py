"""Check the fixed columns of a VCF, which VCF Zarr stores have too."""

from __future__ import annotations

import re
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
DESCRIPTION = "filter_description"
FIRST_POSITION = 1
_ENDS_NAME = ',<>"'
"""Characters that end a name in the header of a VCF."""
_QUOTABLE = re.compile(r'(?:[^"\\\r\n]|\\.)*')
"""Text that may stand between quotation marks in the header of a VCF."""
_NO_REFERENCE = "N"
"""REF of a VCF where the reference allele is not known, as plink2 writes it."""


def fixed_columns(ds: xr.Dataset, files: str) -> dict[str, tuple[Any, NDArray[Any]]]:
    """Return the fixed columns of a VCF, checked: dimensions and values by name of the variable."""
    along = model.VARIANTS
    _checks.require_labels(ds, files, FIRST_POSITION)
    contigs = _checks.contigs(ds, _ENDS_NAME)
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
        found["filter_id"] = ("filters", _checks.filters(ds, files, _ENDS_NAME))
        described = labels.texts_along(ds, DESCRIPTION, "filters")
        if described is not None:
            _require_quotable(described)
            found[DESCRIPTION] = ("filters", described)
    return found


def _require_quotable(texts: NDArray[np.object_]) -> None:
    """Raise ValueError for a description that ends its quotation marks or its line."""
    for k, text in enumerate(texts.tolist()):
        if not _QUOTABLE.fullmatch(text):
            msg = (
                f"{DESCRIPTION} is {text!r} at filters={k}: a line of a header holds no line "
                "break, and no quotation mark or last backslash without a backslash before it; "
                "rewrite it"
            )
            raise ValueError(msg)
