"""genobit: population genetics on bit planes, from a genotype file to a plot one can explore.

``import genobit as gb`` registers ``.genobit`` on xarray Datasets and compiles nothing.

Where things are, from the top; imports go down only:

==============  =====================================================================
`cli`           the command line; `demo`, its report; `terminal`, their bar; `app`,
                the tour in a browser; `ipython`, the notebook's extension; `machine`,
                what it runs on
`explore`       interactive explorers: controls around a plot
`selection`     what explorers share: selected variants and samples
`plots`         labelled result -> HoloViews object
`accessor`      ``ds.genobit``: labels in, labels out; packing and LD
                inherited: `relationships` (grm), `relatedness` (grm_pairs, unrelated),
                `components` (pca, project), `crossproducts`, `correlations` (kendall),
                `sequences` (alignment)
`arrays`        ``DataArray.genobit``: the same of measurements that are no genotypes
`packer`        genotypes -> packed Dataset
`packed`        selects from a packed Dataset, and gives its planes to analyses
`eager`         results computed at once
`labels`        labels of every text type
`aligning`      arguments in the order of the data, by label
`io`            files -> lazy Datasets, results -> files
`analyses`      a file an analysis: formula, reference, public function
`lazy`          dask graphs: packing by chunk, tiles, bands, sums over variants
`model`         names of dimensions and variables, and what they must look like
`packing`       the bit layout: planes, words, tail; `alphabets`, symbols of alignments
`kernels`       numpy in, numpy out: packing, products of bits and of floats, epilogues
`simd`          a SIMD value for numba; `cpu`, what that can do; `_jit`, the decorator;
                `options`, the settings
`plain`         kernels without compilation, their registers by numpy in `plain_lanes`
==============  =====================================================================
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from genobit import accessor, arrays

if TYPE_CHECKING:
    from genobit.io.alignment import open_alignment
    from genobit.io.gcta import open_gcta, to_gcta
    from genobit.io.plink import open_plink
    from genobit.io.plink_rel import open_plink_rel, to_plink_rel
    from genobit.io.sample import sample_dataset
    from genobit.io.sample_alignment import sample_alignment
    from genobit.io.sample_expression import sample_expression
    from genobit.io.streams import to_zarr
    from genobit.io.trees import to_trees
    from genobit.io.vcf import open_vcf, open_vcf_zarr
    from genobit.ipython import load_ipython_extension, unload_ipython_extension
    from genobit.options import get_options, set_options
    from genobit.selection import Selection

__version__ = "0.1.0.dev0"

_PUBLIC = {
    "Selection": "genobit.selection",
    "get_options": "genobit.options",
    "load_ipython_extension": "genobit.ipython",
    "open_alignment": "genobit.io.alignment",
    "open_gcta": "genobit.io.gcta",
    "open_plink": "genobit.io.plink",
    "open_plink_rel": "genobit.io.plink_rel",
    "open_vcf": "genobit.io.vcf",
    "open_vcf_zarr": "genobit.io.vcf",
    "sample_alignment": "genobit.io.sample_alignment",
    "sample_dataset": "genobit.io.sample",
    "sample_expression": "genobit.io.sample_expression",
    "set_options": "genobit.options",
    "to_gcta": "genobit.io.gcta",
    "to_plink_rel": "genobit.io.plink_rel",
    "to_trees": "genobit.io.trees",
    "to_zarr": "genobit.io.streams",
    "unload_ipython_extension": "genobit.ipython",
}

__all__ = [
    "Selection",
    "accessor",
    "arrays",
    "get_options",
    "load_ipython_extension",
    "open_alignment",
    "open_gcta",
    "open_plink",
    "open_plink_rel",
    "open_vcf",
    "open_vcf_zarr",
    "sample_alignment",
    "sample_dataset",
    "sample_expression",
    "set_options",
    "to_gcta",
    "to_plink_rel",
    "to_trees",
    "to_zarr",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    msg = f"module 'genobit' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
