"""genobit: statistical genetics on bit planes, as an xarray accessor.

`cli`           the command line
`launcher`      code that uses all analyses: `explore()`, `gb.plots`, the app, the report
`accessor`      ``ds.genobit`` and ``da.genobit``: the methods of all analyses
`ld`            linkage disequilibrium
`grm`           relationship matrices and relatives
`pca`           principal components
`kendall`       rank correlation and its network
`epistasis`     interactions of up to 18 variants
`parsimony`     tree lengths, ancestral states and tree searches
`similarity`    similarity of binary rows
`quality`       statistics of variants and samples, and their filter
`visual`        shared parts of figures and explorers
`io`            reads files as lazy Datasets, and writes results to files
`data`          names, labels, checks, packed Datasets
`engine`        numerical core: `bits`, `simd`, `gemm`, `pairwise`, `schedule`

A package imports only from packages in lower rows. The analyses, `ld` to `quality`, do not import
each other.
"""

from __future__ import annotations

import importlib
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from genobit import accessor as _accessor  # registers ds.genobit and da.genobit
from genobit.data import plotting as _plotting

if TYPE_CHECKING:
    from genobit.data.pairs.table import PairTable
    from genobit.data.selection import Selection
    from genobit.engine.options import get_options, set_options
    from genobit.epistasis.limits import EpistasisLimits
    from genobit.io.alignment import open_alignment
    from genobit.io.bgen import open_bgen
    from genobit.io.concat import concat
    from genobit.io.gcta import open_gcta, to_gcta
    from genobit.io.measurements import measurements
    from genobit.io.pairs import open_pairs
    from genobit.io.pgen import open_pgen
    from genobit.io.plink import open_plink
    from genobit.io.plink_rel import open_plink_rel, to_plink_rel
    from genobit.io.resumable_zarr import to_zarr
    from genobit.io.samples.sample import sample_dataset
    from genobit.io.samples.sample_alignment import sample_alignment
    from genobit.io.samples.sample_expression import sample_expression
    from genobit.io.trees import to_trees
    from genobit.io.tskit import open_tskit
    from genobit.io.vcf import open_vcf, open_vcf_zarr
    from genobit.io.writers.pgen import to_pgen
    from genobit.io.writers.plink import to_plink
    from genobit.io.writers.vcf import to_vcf
    from genobit.io.writers.vcf_zarr import to_vcf_zarr
    from genobit.launcher.ipython import load_ipython_extension, unload_ipython_extension
    from genobit.launcher.warm import warm
    from genobit.parsimony.effort import SearchEffort

__version__ = "0.1.0"

_PUBLIC = {
    "EpistasisLimits": "genobit.epistasis.limits",
    "PairTable": "genobit.data.pairs.table",
    "SearchEffort": "genobit.parsimony.effort",
    "Selection": "genobit.data.selection",
    "concat": "genobit.io.concat",
    "get_options": "genobit.engine.options",
    "load_ipython_extension": "genobit.launcher.ipython",
    "measurements": "genobit.io.measurements",
    "open_alignment": "genobit.io.alignment",
    "open_bgen": "genobit.io.bgen",
    "open_gcta": "genobit.io.gcta",
    "open_pairs": "genobit.io.pairs",
    "open_pgen": "genobit.io.pgen",
    "open_plink": "genobit.io.plink",
    "open_plink_rel": "genobit.io.plink_rel",
    "open_tskit": "genobit.io.tskit",
    "open_vcf": "genobit.io.vcf",
    "open_vcf_zarr": "genobit.io.vcf",
    "sample_alignment": "genobit.io.samples.sample_alignment",
    "sample_dataset": "genobit.io.samples.sample",
    "sample_expression": "genobit.io.samples.sample_expression",
    "set_options": "genobit.engine.options",
    "to_gcta": "genobit.io.gcta",
    "to_pgen": "genobit.io.writers.pgen",
    "to_plink": "genobit.io.writers.plink",
    "to_plink_rel": "genobit.io.plink_rel",
    "to_trees": "genobit.io.trees",
    "to_vcf": "genobit.io.writers.vcf",
    "to_vcf_zarr": "genobit.io.writers.vcf_zarr",
    "to_zarr": "genobit.io.resumable_zarr",
    "unload_ipython_extension": "genobit.launcher.ipython",
    "warm": "genobit.launcher.warm",
}

__all__ = [
    "EpistasisLimits",
    "PairTable",
    "SearchEffort",
    "Selection",
    "concat",
    "get_options",
    "load_ipython_extension",
    "measurements",
    "open_alignment",
    "open_bgen",
    "open_gcta",
    "open_pairs",
    "open_pgen",
    "open_plink",
    "open_plink_rel",
    "open_tskit",
    "open_vcf",
    "open_vcf_zarr",
    "sample_alignment",
    "sample_dataset",
    "sample_expression",
    "set_options",
    "to_gcta",
    "to_pgen",
    "to_plink",
    "to_plink_rel",
    "to_trees",
    "to_vcf",
    "to_vcf_zarr",
    "to_zarr",
    "unload_ipython_extension",
    "warm",
]


_MODULES = {"explore": "genobit.launcher.explore", "plots": "genobit.launcher.plots"}


def _of_launcher(path: str) -> Any:
    """Return an object of the launcher, such as "explore.Explore"."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"genobit.launcher.{module}"), name)


_plotting.connect(_of_launcher)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    from genobit.engine.synonyms import own_name

    msg = f"module 'genobit' has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(msg)
    methods = _methods()
    if name in methods:
        msg = f"{msg}; call {methods[name]}.{name}()"
        raise AttributeError(msg)
    functions = (*_PUBLIC, *_MODULES)
    meant = own_name(name, (*functions, *methods))
    for each in methods.keys() - {*functions}:
        meant = re.sub(rf"'{each}\b", f"'{methods[each]}.{each}", meant)
    raise AttributeError(f"{msg}{meant}")


def _methods() -> dict[str, str]:
    """Return the methods of both accessors, with the name of the accessor."""
    found: dict[str, str] = {}
    for accessor in (_accessor.GenobitDataArrayAccessor, _accessor.GenobitDatasetAccessor):
        found |= {own: accessor._called for own in dir(accessor) if not own.startswith("_")}
    return found


class _Package(ModuleType):
    """Package with the name of a method, such as `ld`: its call names the method."""

    def __call__(self, *_: Any, **__: Any) -> None:
        name = self.__name__.removeprefix("genobit.")
        raise TypeError(f"gb.{name} is a package; call {_methods()[name]}.{name}()")


for _name in _methods():
    if (_package := sys.modules.get(f"genobit.{_name}")) is not None:
        _package.__class__ = _Package


def __dir__() -> list[str]:
    dunders = {name for name in globals() if name.startswith("__") and name.endswith("__")}
    return sorted({*dunders, *_PUBLIC, *_MODULES})
