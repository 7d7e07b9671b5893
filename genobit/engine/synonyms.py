"""Names that other programs use, and ours. May import: the standard library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

_LIMITS, _EFFORT = "limits=gb.EpistasisLimits({}=...)", "effort=gb.SearchEffort({}=...)"
_STATS = ("variant_stats()", "sample_stats()")
_TREE_OF = "ancestral_states(search.isel(trees=0))"

SYNONYMS: dict[str, tuple[str, ...]] = {
    # Arguments
    "maf": ("min_maf", "variant_stats()"),
    "min_af": ("min_maf",),
    "mac": ("min_maf",),
    "geno": ("max_missing",),
    "missingness": ("max_missing", *_STATS),
    "call_rate": ("max_missing", *_STATS),
    "mind": ("max_sample_missing",),
    "hwe": ("min_hwe", "variant_stats()"),
    "pass_only": ("passed",),
    "n_components": ("components",),
    "n_comps": ("components",),
    "n_pcs": ("components",),
    "k": ("components", "top"),
    "n": ("top",),
    "limit": ("top",),
    "n_top": ("top",),
    **dict.fromkeys(("hue", "color", "colour", "color_by", "c", "group_by"), ("colour_by",)),
    **dict.fromkeys(("cutoff", "thresh", "min_r2", "min_corr", "min_tau"), ("threshold",)),
    "max_r2": ("threshold", _LIMITS.format("max_r2")),
    **dict.fromkeys(("measure", "metric", "stat", "estimator"), ("statistic", "method")),
    "method": ("statistic",),
    "statistic": ("method",),
    **dict.fromkeys(("y", "trait", "pheno", "target", "outcome"), ("phenotype",)),
    **dict.fromkeys(("covar", "covariate", "covars", "confounders"), ("covariates",)),
    **dict.fromkeys(
        ("region", "regions", "chrom", "chromosome", "contig", "snp", "snps", "sites", "rsid"),
        ("variants", "region"),
    ),
    **dict.fromkeys(("individuals", "people", "keep", "indiv", "iids"), ("samples",)),
    **dict.fromkeys(
        ("population", "pop", "pops", "groups"), ("populations", "colour_by", "samples")
    ),
    **dict.fromkeys(
        ("window_size", "size", "max_distance", "distance", "bp", "kb", "ld_window_kb"), ("window",)
    ),
    "step_size": ("step",),
    "alpha": ("fdr", "p1"),
    **dict.fromkeys(("pvalues", "p_values", "pval", "pvals", "pvalue"), ("p", "pvalue", "fdr")),
    "lead": ("variants",),
    "savefig": ("save(path)",),
    "write_image": ("save(path)",),
    "q": ("fdr",),
    "axis": ("dim",),
    "verbose": ("progress",),
    **dict.fromkeys(("random_state", "random_seed", "rng", "np_seed"), ("seed",)),
    **dict.fromkeys(("force", "replace", "exist_ok", "clobber"), ("overwrite",)),
    **dict.fromkeys(("chunk_size", "chunksize", "block_size"), ("chunks",)),
    **dict.fromkeys(
        ("filename", "file", "filepath", "fname", "out", "output", "bfile", "pfile"),
        ("path", "prefix", "store"),
    ),
    "path": ("prefix", "store", "path_or_ts"),
    "prefix": ("path",),
    **dict.fromkeys(("df", "frame", "dataframe", "data"), ("table", "frame")),
    **dict.fromkeys(("key", "left_on", "index_col"), ("on",)),
    "by": ("on", "populations", "colour_by"),
    "other": ("variants",),
    **dict.fromkeys(("degree", "max_degree"), ("threshold",)),
    "na_values": ("missing",),
    "newick": ("tree",),
    "trees": ("tree",),
    "lead_snp": ("lead",),
    "title": ("figure.hv.opts(title=...)",),
    **dict.fromkeys(("figsize", "width", "height"), ("figure.save(path, width_mm=...)",)),
    **{name: (_LIMITS.format(name),) for name in ("variants_0", "variants_1", "min_gap")},
    **{name: (_LIMITS.format(name),) for name in ("prefilter", "min_n", "min_count")},
    **dict.fromkeys(("min_periods", "min_obs"), ("min_pairs",)),
    **{name: (_EFFORT.format(name),) for name in ("replicates", "iterations", "patience")},
    "max_trees": (_EFFORT.format("max_trees"),),
    "n_iter": ("iterations", _EFFORT.format("iterations")),
    "n_bootstrap": ("bootstrap",),
    "n_permutations": ("permutations",),
    **dict.fromkeys(
        ("threads", "n_threads", "num_threads", "n_jobs", "workers", "num_workers"),
        ("dask.config.set(num_workers=...)",),
    ),
    # Methods
    **dict.fromkeys(
        ("king", "kinship", "ibd"),
        ("threshold", 'grm("king")', 'ds.genobit.grm("king")', "kinship_histogram"),
    ),
    "ibs": ('grm("ibs")', 'ds.genobit.grm("ibs")'),
    **dict.fromkeys(("gcta", "vanraden", "relationship", "relatedness"), ("grm()",)),
    **dict.fromkeys(("related", "relatives", "duplicates"), ("grm_pairs()", "unrelated()")),
    **dict.fromkeys(("af", "freq", "frequency", "counts", "missing", "stats"), _STATS),
    **dict.fromkeys(("het", "heterozygosity", "inbreeding", "sex_check"), ("sample_stats()",)),
    **dict.fromkeys(("qc", "quality"), ("filter()", *_STATS)),
    "r2": ("threshold", 'ld("r2")', 'ds.genobit.ld("r2")'),
    "dprime": ('ld("dprime", phased=True)',),
    "d_prime": ('ld("dprime", phased=True)',),
    **dict.fromkeys(("prune", "ld_pruning", "indep_pairwise"), ("ld_prune()",)),
    **dict.fromkeys(("clump", "clumping"), ("ld_clump(p)",)),
    **dict.fromkeys(("blocks", "haplotype_blocks"), ("ld_blocks()",)),
    "decay": ('ld_decay("1Mb")',),
    "ld_matrix": ("ld()",),
    "pairs": ("ld_pairs()", "kendall_pairs()"),
    **dict.fromkeys(
        ("corr", "correlation", "correlations", "spearman", "pearson", "tau"), ("kendall()",)
    ),
    "network": ("kendall_pairs()",),
    **dict.fromkeys(("interactions", "gxg", "epistasis_pairs"), ("epistasis(phenotype)",)),
    **dict.fromkeys(("tree_search", "search", "ml_tree"), ("parsimony_search()",)),
    "tree": (_TREE_OF,),
    "tanimoto": ("similarity()",),
    "jaccard": ("similarity()",),
    "pca": ("grm()", "ds.genobit.pca()"),
    **dict.fromkeys(
        ("select", "subset", "extract", "query", "loc", "where"), ("sel()", "to_dataframe()")
    ),
    **dict.fromkeys(("annotate", "assign", "add"), ("join(table)",)),
    "genetic_distance": ("genetic_map(table)",),
    **dict.fromkeys(
        ("heatmap", "triangle", "scatter", "manhattan", "show", "draw"), ("plot()", "plots")
    ),
    "region_plot": ("plot.region(association)",),
    **dict.fromkeys(("save", "write", "to_netcdf", "dump"), ("to_zarr(path)",)),
    **dict.fromkeys(("compute", "to_pandas", "sort_values"), ("to_dataframe()",)),
    "to_csv": ("to_dataframe().to_csv(path)",),
    "to_graphml": ("to_network().to_graphml(path)",),
    "to_cytoscape": ("to_network().to_cytoscape(path)",),
    "write_plink": ("to_plink(prefix)",),
    "to_bed": ("to_plink(prefix)",),
    "to_grm": ("to_gcta(prefix)", "grm().genobit.to_gcta(prefix)"),
    "to_gcta": ("grm().genobit.to_gcta(prefix)",),
    "to_plink_rel": ("grm().genobit.to_plink_rel(prefix)",),
    **dict.fromkeys(("info", "summary", "describe", "head"), ("print(ds.genobit)",)),
    # Functions
    **dict.fromkeys(("open_zarr", "load_zarr", "read_zarr"), ("xr.open_zarr(path)",)),
    "open_bed": ("open_plink(path)",),
    "read_csv": ("ds.genobit.join(path)",),
    "sample_data": ("sample_dataset()",),
    "example_data": ("sample_dataset()",),
    "options": ("get_options()", "set_options()"),
    "plot": ("ds.genobit.plot()",),
}
"""Names of other programs -> ours, the first that fits where the name stands."""
ABSENT = {
    **dict.fromkeys(
        ("gwas", "glm", "assoc", "association", "linear_regression"),
        "genobit has no association tests; .to_pgen() writes the genotypes for plink2 --glm",
    ),
    **dict.fromkeys(
        ("fst", "hudson_fst", "dxy", "tajima_d", "diversity"), "genobit has no such statistic"
    ),
    **dict.fromkeys(
        ("merge", "bmerge", "append", "concat"),
        "gb.concat([a, b]) joins cohorts, and ds.genobit.join(table) adds columns",
    ),
    **dict.fromkeys(
        ("to_csv", "to_excel", "to_tsv"),
        ".to_dataframe().to_csv(path) of the result writes a table",
    ),
    **dict.fromkeys(
        ("max_maf", "max_af", "min_info", "snps_only", "indels"),
        "ds.genobit.isel(variants=condition) keeps variants by any condition",
    ),
    "biallelic": 'ds.genobit.pack(multiallelic="drop") leaves out others',
    **dict.fromkeys(
        ("consensus", "majority_consensus", "strict_consensus"),
        "genobit makes no consensus trees; search.genobit.to_trees(path) writes the trees",
    ),
    **dict.fromkeys(("impute", "phase"), "genobit does not impute or phase; .to_vcf() writes VCF"),
}
"""What genobit does not do, and what to do instead."""
_OBJECTS = {"dask", "ds", "figure", "gb", "print", "xr"}
"""First words of a call that is right everywhere."""


def own_name(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence with our name for an unknown one, or "." if none is close.

    Examples
    --------
    >>> own_name("maf", ["min_maf", "max_missing"])
    "; did you mean 'min_maf'?"
    >>> print(own_name("king", ["grm", "ranking"]))
    ; did you mean 'grm("king")'?
    """
    ours = SYNONYMS.get(name.casefold(), ())
    for right in (known, _OBJECTS):
        found = next((each for each in ours if _first(each) in right), None)
        if found is not None:
            return f"; did you mean '{found}'?"
    if name.casefold() in ABSENT:
        return f": {ABSENT[name.casefold()]}."
    return did_you_mean(name, known)


def _first(call: str) -> str:
    """Return the first name of a call such as "grm()"."""
    return re.split(r"\W", call, maxsplit=1)[0]
