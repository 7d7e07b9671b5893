"""Every public method that computes, on small data in several chunks.

`everything` is for what has to hold of all: the same bits on any scheduler, after faults, with any
kernel. Changes of a case are other values of its inputs: a method or parameter that is added
without them fails `tests/test_keys.py`.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import genobit as gb
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.helpers.measurements import expression
from tests.helpers.prints import prints, rows_of
from tests.helpers.sites import alignment, letters

VARIANTS, SAMPLES, SITES = 100, 70, 24

Change = dict[str, Any]
"""Arguments that are changed; with several, all but the one it is about are in the base too."""


class Case(NamedTuple):
    """A method, what it is called with, and other values of its parameters."""

    source: str
    """A key of `SOURCES`."""
    method: str
    base: Mapping[str, Any] = MappingProxyType({})
    changes: Mapping[str, Change] = MappingProxyType({})
    """Parameter -> arguments with another value of it; the others of them are those of a base.

    "limits.min_n" is a field of an argument that is an object.
    """
    eager: bool = False
    """Whether it computes at once."""


INPUTS = {
    *("alignment", "filter", "genetic_map", "indexed", "isel", "join", "mask_calls", "pack"),
    "sel",
}
"""Methods that return genotypes or an alignment, which explorers show."""
NO_RESULT = {"compute", "progress", "checkpoint"}
"""Parameters that say how a result is computed, shown or kept, and not which."""


def limited(**given: Any) -> Change:
    """Limits of a search for interactions."""
    return {"limits": gb.EpistasisLimits(**{"min_n": 0, **given})}


def tried(**given: int) -> Change:
    """Effort of a search for trees."""
    return {"effort": gb.SearchEffort(**{"iterations": 3, "patience": 2, **given})}


@cache
def calls() -> np.ndarray:
    return mosaic_calls(3, VARIANTS, SAMPLES, missing=0.03)


def genotypes() -> xr.Dataset:
    ds = cohort(calls(), contigs=2, chunks=(VARIANTS // 2, SAMPLES), phased=True)
    # Ascending in the whole, so that a variant may change its contig.
    ds["variant_position"] = "variants", np.arange(VARIANTS) * 530 + 20
    ds["variant_genetic_position"] = ds["variant_genetic_position"] / 10
    ds["sample_group"] = "samples", np.repeat(["a", "b"], SAMPLES // 2)
    return ds


def with_fields() -> xr.Dataset:
    """Genotypes with the quality, depth and reads of each call."""
    rng = np.random.default_rng(6)
    return genotypes().assign(
        call_GQ=(("variants", "samples"), rng.integers(-1, 99, (VARIANTS, SAMPLES))),
        call_DP=(("variants", "samples"), rng.integers(-1, 40, (VARIANTS, SAMPLES))),
        call_AD=(("variants", "samples", "alleles"), rng.integers(0, 20, (VARIANTS, SAMPLES, 2))),
        filter_id=("filters", ["PASS", "q10"]),
        variant_filter=(("variants", "filters"), rng.random((VARIANTS, 2)) < 0.3),
    )


def packed() -> xr.Dataset:
    return genotypes().genobit.pack()


def few() -> xr.Dataset:
    """Variants for what takes long of many."""
    return packed().isel(variants=slice(0, VARIANTS, 4))


def whole() -> xr.Dataset:
    return cohort(np.maximum(calls(), 0), chunks=(VARIANTS // 2, SAMPLES))


def haploid() -> xr.Dataset:
    return genotypes().drop_vars("call_genotype_phased").isel(ploidy=[0])


def genes() -> xr.DataArray:
    return expression(12, 20, missing=0.05).chunk(gene=4)


def bits() -> xr.DataArray:
    return prints(rows_of(1, 20, 70), (10, 70))


def taxa() -> xr.DataArray:
    return alignment(letters(2, 7, SITES, noise=0.02)).chunk(sites=SITES // 4)


def two_states() -> xr.DataArray:
    return alignment(letters(2, 7, SITES, "AC", noise=0.02)).chunk(sites=SITES // 4)


def family() -> xr.Dataset:
    """Genotypes of both sexes, some with parents, on a chromosome of each kind."""
    parents = np.where(np.arange(SAMPLES) % 3, "0", "parent").astype(object)
    return packed().assign_coords(
        contig_id=("contigs", np.array(["1", "X"], object)),
        sample_sex=("samples", np.arange(SAMPLES) % 2 + 1),
        sample_father_id=("samples", parents),
        sample_mother_id=("samples", parents),
        sample_control=("samples", np.arange(SAMPLES) % 5 > 1),
    )


SOURCES: dict[str, Callable[[], xr.Dataset | xr.DataArray]] = {
    "genotypes": genotypes,
    "with_fields": with_fields,
    "packed": packed,
    "few": few,
    "family": family,
    "whole": whole,
    "haploid": haploid,
    "genes": genes,
    "bits": bits,
    "taxa": taxa,
    "two_states": two_states,
}

TREE = "('t0','t1',('t2',('t3',('t4',('t5','t6')))));"
OTHER_TREE = "('t0','t2',('t1',('t3',('t4',('t5','t6')))));"


def share(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, VARIANTS)


def sick(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.repeat([1, 2], SAMPLES // 2))


def beside() -> xr.DataArray:
    return xr.DataArray(np.random.default_rng(4).normal(size=SAMPLES), dims="samples", name="age")


def trait(seed: int = 0) -> pd.DataFrame:
    ids = [f"s{k}" for k in range(SAMPLES)]
    return pd.DataFrame({"sample_id": ids, "twin": ids[::-1], "x": sick(seed)})


def modules(seed: int = 0) -> pd.DataFrame:
    ids = [f"g{k}" for k in range(12)]
    return pd.DataFrame({"gene": ids, "twin": ids[::-1], "x": sick(seed)[:12]})


@cache
def phenotype_file(letter: str = "s") -> str:
    folder = Path(tempfile.mkdtemp(prefix="genobit-cases-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "x.txt").write_text("".join(f"f {letter}{k} {k}\n" for k in range(SAMPLES)))
    return str(folder / "x.txt")


gene_file = partial(phenotype_file, "g")


def centimorgans(rate: float = 1.0) -> pd.DataFrame:
    ends = pd.DataFrame({"position": [0, 10**9], "cM": [0.0, rate * 1000]})
    return pd.concat([ends.assign(contig=f"chr{k}") for k in (1, 2)])


def axes(seed: int) -> xr.Dataset:
    return packed().genobit.isel(samples=slice(seed, None)).genobit.pca(2)


def columns(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 4, SITES)


KENDALL = {
    "statistic": {"statistic": "tau_a"},
    "pvalue": {"pvalue": True},
    "missing": {"missing": "dropna"},
    "kernel": {"kernel": "packed-merge"},
    "dtype": {"dtype": "float32"},
    "permutations": {"pvalue": True, "missing": "dropna", "permutations": 9},
    "seed": {"pvalue": "permutation", "missing": "dropna", "permutations": 7, "seed": 1},
    "alternative": {"pvalue": True, "alternative": "less"},
    "min_pairs": {"min_pairs": 19},
}
PAIRS = {
    "threshold": {"threshold": 0.4},
    "fdr": {"fdr": 0.3},
    "statistic": {"statistic": "tau_a"},
    "missing": {"missing": "dropna"},
    "kernel": {"kernel": "packed-merge"},
    "share": {"fdr": None, "share": (1, 2)},
    "alternative": {"alternative": "less"},
    "min_pairs": {"min_pairs": 20},
}
CASES = [
    Case("family", "allele_frequency"),
    Case("family", "variant_stats", {}, {
        "hwe": {"hwe": "midp"}, "hwe_samples": {"hwe_samples": "sample_control"},
        "founders": {"founders": True}, "autosomes": {"autosomes": False},
        "populations": {"populations": "sample_control"},
    }),
    Case("family", "sample_stats", {}, {
        "founders": {"founders": True}, "small_sample": {"small_sample": True},
        "sex_limits": {"sex_limits": (0.3, 0.7)}, "autosomes": {"autosomes": False},
    }),
    Case("family", "filter", {"min_maf": 0.1, "max_sample_missing": 0.2}, {
        "min_maf": {"min_maf": 0.2}, "max_missing": {"max_missing": 0.1},
        "max_sample_missing": {"max_sample_missing": 0.1}, "min_hwe": {"min_hwe": 0.1},
        "hwe": {"hwe": "midp", "min_hwe": 0.1}, "founders": {"founders": True},
        "hwe_samples": {"hwe_samples": "sample_control", "min_hwe": 0.1},
        "autosomes": {"autosomes": False},
    }, eager=True),
    Case("with_fields", "filter", {"min_maf": 0.1}, {"passed": {"passed": True}}, eager=True),
    Case("with_fields", "mask_calls", {"min_gq": 20}, {
        "min_gq": {"min_gq": 21}, "min_dp": {"min_dp": 8}, "max_dp": {"max_dp": 30},
        "min_balance": {"min_balance": 0.2},
    }),
    Case("genotypes", "pack", {}, {
        "rows": {"rows": "samples"}, "phased": {"phased": True},
        "multiallelic": {"multiallelic": "drop"}, "missing": {"missing": "refuse"},
    }),
    Case("packed", "isel", {"variants": slice(5)}, {
        "variants": {"variants": slice(6)}, "samples": {"samples": [3, 1]},
    }),
    Case("packed", "sel", {"variants": slice(5)}, {
        "variants": {"variants": "2"}, "samples": {"samples": ["s3", "s1"]},
    }),
    Case("packed", "indexed"),
    Case("packed", "join", {"table": trait}, {
        "table": {"table": partial(trait, 1)}, "on": {"on": {"sample_id": "twin"}, "columns": "x"},
        "columns": {"columns": "x"}, "missing": {"missing": "refuse"},
        "convention": {"table": phenotype_file, "convention": "phenotype"},
    }, eager=True),
    Case("packed", "genetic_map", {"table": centimorgans}, {
        "table": {"table": partial(centimorgans, 2.0)},
    }, eager=True),
    Case("haploid", "alignment"),
    Case("whole", "crossproduct", {}, {"kernel": {"kernel": "multiply"}}),
    Case("packed", "ld", {}, {
        "statistic": {"statistic": "r"}, "window": {"window": 5},
        "other": {"other": lambda: packed().isel(variants=slice(7, None))},
    }),
    Case("packed", "ld", {"window": 20}),
    Case("few", "ld", {"statistic": "r2_em"}),
    Case("genotypes", "ld", {"window": "2kb"}, {
        "phased": {"phased": True}, "window": {"window": "3kb"},
    }),
    Case("packed", "ld_pairs", {"threshold": 0.3, "window": "5kb"}, {
        "threshold": {"threshold": 0.31}, "window": {"window": "6kb"},
        "statistic": {"statistic": "r2_em"},
    }),
    Case("genotypes", "ld_pairs", {"threshold": 0.3}, {"phased": {"phased": True}}),
    Case("packed", "ld_pairs", {"variants": [3, 5], "top": 4}, {
        "variants": {"variants": [3, 6]}, "top": {"top": 3},
    }),
    Case("genotypes", "ld_score", {"window": "2kb"}, {
        "window": {"window": "3kb"}, "adjust": {"adjust": False}, "phased": {"phased": True},
    }),
    Case("packed", "grm", {}, {
        "method": {"method": "gcta"}, "missing": {"missing": "pairwise"},
        "allele_frequency": {"allele_frequency": share(1)}, "loco": {"loco": True},
        "autosomes": {"autosomes": ["chr1"]},
        "count_monomorphic": {"method": "gcta", "count_monomorphic": True},
    }),
    Case("packed", "grm", {"allele_frequency": share(1)}, {
        "allele_frequency": {"allele_frequency": share(2)},
    }),
    Case("packed", "grm", {"method": "endelman_jannink"}),
    Case("packed", "grm", {"method": "gcta", "loco": True}),
    Case("packed", "grm", {"method": "ibs"}),
    Case("packed", "grm", {"method": "king"}, {"method": {"method": "ibs"}}),
    Case("packed", "grm_pairs", {"threshold": 0.05, "method": "vanraden1"}, {
        "method": {"method": "vanraden2"}, "threshold": {"threshold": 0.06},
        "missing": {"missing": "pairwise"}, "allele_frequency": {"allele_frequency": share(1)},
        "autosomes": {"autosomes": ["chr1"]},
        "count_monomorphic": {"method": "gcta", "count_monomorphic": True},
    }),
    Case("packed", "kendall", {}, {
        **KENDALL, "other": {"other": lambda: packed().isel(variants=slice(7, None))},
    }),
    Case("genes", "join", {"table": modules, "on": "gene"}, {
        "table": {"table": partial(modules, 1), "on": "gene"},
        "on": {"on": {"gene": "twin"}, "columns": "x"},
        "columns": {"on": "gene", "columns": "x"}, "missing": {"on": "gene", "missing": "refuse"},
        "convention": {"table": gene_file, "on": {"gene": "IID"}, "convention": "phenotype"},
    }, eager=True),
    Case("genes", "kendall", {}, {
        **KENDALL, "dim": {"dim": "gene"}, "other": {"other": lambda: genes()[3:]},
    }),
    Case("genes", "kendall", {"pvalue": True}),
    Case("packed", "project", {"pcs": lambda: axes(0)}, {"pcs": {"pcs": lambda: axes(1)}}),
    Case("bits", "similarity", {}, {
        "statistic": {"statistic": "hamming"}, "dim": {"dim": "molecule"},
        "other": {"other": lambda: bits()[3:]}, "top": {"top": 3},
        "missing": {"missing": "refuse"}, "dtype": {"dtype": "float32"},
    }),
    Case("bits", "similarity", {"top": 3}, {"top": {"top": 4}, "other": {"other": bits}}),
    Case("taxa", "ld", {"statistic": "T"}, {
        "gap": {"gap": "state"}, "window": {"window": 5},
    }),
    Case("two_states", "ld", {}, {"statistic": {"statistic": "D"}}),
    Case("taxa", "ancestral_states", {"tree": TREE}, {
        "tree": {"tree": OTHER_TREE}, "resolve": {"resolve": "deltran"}, "gap": {"gap": "state"},
    }),
    Case("packed", "pca", {"components": 3}, {
        "components": {"components": 2}, "method": {"method": "randomized"},
        "missing": {"missing": "pairwise"}, "allele_frequency": {"allele_frequency": share(1)},
        "seed": {"method": "randomized", "seed": 1},
        "autosomes": {"autosomes": ["chr1"]}, "count_monomorphic": {"count_monomorphic": True},
    }, eager=True),
    Case("packed", "pca", {"components": 3, "method": "randomized"}, eager=True),
    Case("packed", "ld_blocks", {}, {
        "window": {"window": "2kb"}, "min_maf": {"min_maf": 0.2},
    }, eager=True),
    Case("packed", "ld_clump", {"p": share(1) ** 9, "window": "5kb", "p1": 0.1, "p2": 0.2}, {
        "p": {"p": share(2) ** 9}, "threshold": {"threshold": 0.1}, "window": {"window": "9kb"},
        "p1": {"p1": 0.01}, "p2": {"p2": 0.11}, "log10": {"log10": True},
        "statistic": {"statistic": "r2"},
    }, eager=True),
    Case("genotypes", "ld_clump", {"p": share(1) ** 9}, {"phased": {"phased": True}}, eager=True),
    Case("genotypes", "ld_decay", {"window": "9kb", "bins": 5, "parts": 3, "resamples": 3}, {
        "window": {"window": "8kb"}, "bins": {"bins": 4}, "parts": {"parts": 2},
        "populations": {"populations": "sample_group"}, "statistic": {"statistic": "r2_em"},
        "phased": {"phased": True}, "resamples": {"resamples": 4},
        "confidence": {"confidence": 0.5}, "seed": {"seed": 1},
    }, eager=True),
    Case("genotypes", "ld_prune", {}, {
        "window": {"window": 5}, "step": {"step": 2}, "threshold": {"threshold": 0.5},
        "allele_frequency": {"allele_frequency": share(1)}, "phased": {"phased": True},
    }, eager=True),
    Case("packed", "unrelated", {}, {
        "threshold": {"threshold": 0.01}, "autosomes": {"autosomes": ["chr1"]},
        "pairs": {"pairs": lambda: packed().genobit.grm_pairs("king", threshold=0.05)},
    }, eager=True),
    Case("packed", "epistasis", {"phenotype": sick(1), "top": 9, **limited()}, {
        "phenotype": {"phenotype": sick(2)}, "order": {"order": 3}, "top": {"top": 8},
        "statistic": {"statistic": "chi2"}, "permutations": {"permutations": 9},
        "covariates": {"statistic": "linear", "covariates": beside()},
        "seed": {"permutations": 9, "seed": 1},
        "limits.min_n": limited(min_n=3), "limits.min_count": limited(min_count=2),
        "limits.variants_0": limited(variants_0=[*range(20)]),
        "limits.variants_1": limited(variants_1=[*range(20, 40)]),
        "limits.min_gap": limited(min_gap="1kb"), "limits.max_r2": limited(max_r2=0.5),
        "limits.prefilter": limited(prefilter=9),
    }, eager=True),
    Case("few", "epistasis", {"phenotype": sick(1), "order": 3, **limited()}, eager=True),
    Case("few", "epistasis", {
        "phenotype": sick(1), "statistic": "logistic", "covariates": beside(), **limited(),
    }, eager=True),
    Case("genes", "kendall_pairs", {"threshold": 0.3}, {
        **PAIRS, "dim": {"dim": "sample"}, "names": {"names": "gene"},
    }, eager=True),
    Case("packed", "kendall_pairs", {"threshold": 0.3}, PAIRS, eager=True),
    Case("taxa", "parsimony", {"tree": TREE}, {
        "tree": {"tree": OTHER_TREE}, "gap": {"gap": "state"}, "weights": {"weights": columns(1)},
        "costs": {"costs": 1 - np.eye(4)}, "sites": {"sites": False},
    }, eager=True),
    Case("taxa", "parsimony_search", tried(), {
        "method": {"method": "spr"}, "seed": {"seed": 1}, "start": {"start": "closest"},
        "effort.replicates": tried(replicates=2), "effort.iterations": tried(iterations=4),
        "effort.patience": tried(patience=3), "effort.max_trees": tried(max_trees=1),
        "bootstrap": {"bootstrap": 2},
        "gap": {"gap": "state"}, "weights": {"weights": columns(1)}, "outgroup": {"outgroup": "t3"},
    }, eager=True),
    Case("taxa", "parsimony_search", {"bootstrap": 2, **tried(replicates=3)}, eager=True),
]  # fmt: skip


def name(case: Case) -> str:
    base = [f"{key}={x}" if isinstance(x, str | int) else key for key, x in case.base.items()]
    return " ".join([case.method, "of", case.source, *base])


def called(case: Case, source: Any, given: Mapping[str, Any]) -> Any:
    """The result of the method; arguments that are functions are made here."""
    arguments = {key: value() if callable(value) else value for key, value in given.items()}
    return getattr(source.genobit, case.method)(**arguments)


def computed(found: Any) -> Any:
    """A result in memory."""
    if isinstance(found, gb.PairTable):
        return found.to_dataframe()
    return found.compute()


def result_of(case: Case) -> Any:
    """The result of a case, in memory."""
    found = called(case, SOURCES[case.source](), case.base)
    return found if case.eager and not isinstance(found, gb.PairTable) else computed(found)


def everything() -> dict[str, Callable[[], Any]]:
    """Name -> what computes it, on the scheduler that is active then."""
    return {name(case): partial(result_of, case) for case in CASES}


def small_tiles() -> Any:
    """Options under which the genotypes of the cases make several tiles."""
    return gb.set_options(chunk_rows=32)


def assert_same(found: Any, right: Any) -> None:
    """Equal to the last bit, labels and types included."""
    assert type(found) is type(right)
    if isinstance(right, pd.DataFrame):
        pd.testing.assert_frame_equal(found, right, check_exact=True)
    else:
        xr.testing.assert_identical(found, right)


def by_argument(case: Case) -> Iterator[tuple[str, Change, Change]]:
    """Of each parameter the arguments of a base, and those where it alone is another."""
    for parameter, change in case.changes.items():
        before = {key: value for key, value in change.items() if key != parameter.split(".")[0]}
        yield parameter, {**case.base, **before}, {**case.base, **change}


def by_variable(case: Case) -> Iterator[tuple[str, Any]]:
    """The source with each of its variables, coordinates included, changed in turn."""
    source = SOURCES[case.source]()
    if isinstance(source, xr.DataArray):
        values = np.array(source.values)
        at = tuple(size // 2 for size in source.shape)
        values[at] = other(values[at])
        chunks = dict(zip(source.dims, source.chunks, strict=True))
        yield "values", source.copy(data=values).chunk(chunks)
        for coordinate in source.coords:
            yield str(coordinate), source.assign_coords({coordinate: new(source[coordinate])})
        return
    for variable in source.variables:
        changed = source[variable].copy(data=new(source[variable]).data)
        yield str(variable), source.assign({variable: changed})


def other(value: Any) -> Any:
    """Another value of the kind: a call, a measurement, a symbol."""
    if isinstance(value, str):
        return "A" if value != "A" else "C"
    return 1.0 if value == 0 else 0.0


def new(variable: xr.DataArray) -> xr.DataArray:
    """Other values that the methods take: labels renamed, positions moved, a call changed."""
    values = np.array(variable.values)
    if str(variable.name).startswith("plane_"):
        # The call of the sample 2 becomes 0, in planes of carriers and of both alleles.
        values[len(values) // 2] &= (
            ~np.uint64(4) if variable.name != "plane_called" else ~np.uint64(0)
        )
    elif variable.name == "call_genotype":
        values[len(values) // 2, 2] = 1 - values[len(values) // 2, 2].clip(0)
    elif variable.name == "call_genotype_phased":
        values[:] = True
    elif variable.name == "variant_contig":
        values[len(values) // 2 - 1] = values[-1]
    elif values.dtype.kind in "iuf":
        values = values + 7
    else:
        values = np.array([f"new {label}" for label in values.ravel()], object)
        values = values.reshape(variable.shape)
    changed = variable.copy(data=values)
    return changed if variable.chunks is None else changed.chunk(dict(variable.chunksizes))
