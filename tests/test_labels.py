"""Labels of every text type and contigs of every form, in every method, plot, explorer and export.

What is expected is what objects and numbers into `contig_id` give.
"""

from __future__ import annotations

import functools
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import holoviews as hv
import ipywidgets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import genobit as gb
from genobit import plots
from genobit.data.pairs.network import Network
from genobit.launcher.explore import Explore, ExploreArray
from genobit.launcher.figures import RESULTS
from genobit.visual.figure import Figure
from genobit.visual.results import result_of
from tests.helpers.cohorts import mosaic_calls

TEXT: dict[str, Callable[[list[str]], Any]] = {
    "object": lambda texts: np.array(texts, object),
    "fixed width": lambda texts: np.array(texts, "U"),
    "bytes": lambda texts: np.array(texts, "S"),
    "bytes in objects": lambda texts: np.array([text.encode() for text in texts], object),
    "StringDType": lambda texts: np.array(texts, np.dtypes.StringDType()),
    "pandas": lambda texts: pd.array(texts, dtype="string"),
    "pandas str": lambda texts: pd.array(texts, dtype="str"),
    "Arrow": lambda texts: pd.array(texts, dtype=pd.ArrowDtype(pa.string())),
}
"""Text type -> an array of it."""

CONTIGS = ("numbers of names", "text and names", "text", "numbers")
"""Forms of ``variant_contig``."""

REFERENCE = ("object", "numbers of names")
TEXTS = (*TEXT, "reopened")
FORMS = [(text, contigs) for text in TEXTS for contigs in CONTIGS]

VARIANTS, SAMPLES, GENES, TAXA = 12, 20, 6, 5
TREE = "((t0,t1),(t2,(t3,t4)));"


@dataclass(frozen=True)
class Inputs:
    """The same data with labels of one text type and contigs of one form."""

    ds: xr.Dataset
    bits: xr.Dataset
    expr: xr.DataArray
    aln: xr.DataArray
    prints: xr.DataArray
    folder: Path

    @functools.cached_property
    def result(self) -> xr.Dataset:
        return self.ds.genobit.epistasis("sample_case", top=4, permutations=3, progress=False)

    @functools.cached_property
    def ld(self) -> xr.DataArray:
        return self.bits.isel(variants=slice(0, VARIANTS // 2)).genobit.ld().compute()

    @functools.cached_property
    def grm(self) -> xr.DataArray:
        return self.ds.genobit.grm("king", compute=True)

    @functools.cached_property
    def tau(self) -> xr.DataArray:
        return self.expr.genobit.kendall(compute=True)

    @functools.cached_property
    def pairs(self) -> Network:
        return self.expr.genobit.kendall_pairs(0.0, None).to_network()

    @functools.cached_property
    def pcs(self) -> xr.Dataset:
        return self.ds.genobit.pca(2)

    @functools.cached_property
    def found(self) -> xr.Dataset:
        return self.aln.genobit.parsimony_search("branch_and_bound", progress=False)

    @functools.cached_property
    def ancestors(self) -> xr.Dataset:
        return self.aln.genobit.ancestral_states(TREE).compute()


def inputs(text: str, contigs: str, folder: Path) -> Inputs:
    make = TEXT["object" if text == "reopened" else text]
    rng = np.random.default_rng(1)
    number = np.repeat([0, 1], VARIANTS // 2)
    names = [["1", "2"][k] for k in number]
    contig = {"text": make(names), "text and names": make(names), "numbers": number + 1}
    ds = xr.Dataset(
        {
            "call_genotype": (
                ("variants", "samples", "ploidy"),
                mosaic_calls(1, VARIANTS, SAMPLES, missing=0.05),
            ),
            "variant_position": ("variants", 1 + 1000 * np.arange(VARIANTS)),
            "variant_contig": ("variants", contig.get(contigs, number)),
            "variant_id": ("variants", make([f"rs{k}" for k in range(VARIANTS)])),
            "variant_allele": (
                ("variants", "alleles"),
                np.asarray(make(["A", "C"] * VARIANTS)).reshape(VARIANTS, 2),
            ),
            "sample_id": ("samples", make([f"s{k}" for k in range(SAMPLES)])),
            "sample_population": ("samples", make(["north", "south"] * (SAMPLES // 2))),
            "sample_case": ("samples", np.arange(SAMPLES) % 2),
        }
    )
    if "names" in contigs:
        ds["contig_id"] = "contigs", make(["1", "2"])
    expr = xr.DataArray(
        rng.integers(0, 5, (GENES, 15)),
        {
            "gene": make([f"g{k}" for k in range(GENES)]),
            "sample": make([f"s{k}" for k in range(15)]),
        },
        ("gene", "sample"),
    ).assign_coords(pathway=("gene", make(["a", "b"] * (GENES // 2))))
    aln = xr.DataArray(
        np.array([list("AACGTAAC"), list("AACGTACC"), list("GATCTAAC"), *[list("GCTGTAAA")] * 2]),
        {"taxa": make([f"t{k}" for k in range(TAXA)])},
        ("taxa", "sites"),
        attrs={"kind": "dna"},
    ).assign_coords(site_name=("sites", make([f"c{k}" for k in range(8)])))
    prints = xr.DataArray(
        rng.integers(0, 2, (GENES, 30)),
        {
            "molecule": make([f"m{k}" for k in range(GENES)]),
            "bit": make([f"b{k}" for k in range(30)]),
        },
        ("molecule", "bit"),
    )
    bits = ds.genobit.pack()
    if text == "reopened":
        ds = reopened(ds, folder / "calls.zarr")
        bits = reopened(bits, folder / "bits.zarr")
        expr, aln, prints = (
            reopened(x.to_dataset(name="x"), folder / f"{k}.zarr")["x"].rename(None)
            for k, x in enumerate((expr, aln, prints))
        )
        expr, aln, prints = expr.compute(), aln.compute(), prints.compute()
    return Inputs(ds, bits, expr, aln, prints, folder)


def reopened(ds: xr.Dataset, path: Path) -> xr.Dataset:
    return xr.open_zarr(gb.to_zarr(ds, path, progress=False), consolidated=False)


def chosen(x: Inputs) -> list[Any]:
    selection = gb.Selection(x.bits, samples=x.ds.sample_id.values[2:0:-1])
    selection.variants = x.ds.variant_id.values[[5, 1]]
    without = gb.Selection(x.ds.drop_vars("variant_id"), variants=["2:6001"])
    return [selection.samples, selection.variants, without.variants, str(selection)]


METHODS: dict[str, Callable[[Inputs], Any]] = {
    "Dataset.alignment": lambda x: x.ds.isel(ploidy=[0]).genobit.alignment(),
    "Dataset.allele_frequency": lambda x: x.bits.genobit.allele_frequency(),
    "Dataset.variant_stats": lambda x: [
        x.bits.genobit.variant_stats(),
        x.ds.genobit.variant_stats(populations="sample_population"),
    ],
    "Dataset.sample_stats": lambda x: x.bits.genobit.sample_stats(),
    "Dataset.filter": lambda x: x.bits.genobit.filter(min_maf=0.1),
    "Dataset.mask_calls": lambda x: x.ds.assign(
        call_GQ=abs(x.ds.call_genotype).sum("ploidy")
    ).genobit.mask_calls(min_gq=1),
    "Dataset.crossproduct": lambda x: x.ds.assign(
        call_genotype=abs(x.ds.call_genotype)
    ).genobit.crossproduct(),
    "Dataset.epistasis": lambda x: x.ds.genobit.epistasis(
        "sample_case",
        top=4,
        limits=gb.EpistasisLimits(variants_0=x.ds.variant_id.values[:3], min_gap="1kb"),
        progress=False,
    ),
    "Dataset.grm": lambda x: [x.bits.genobit.grm(), x.ds.genobit.grm("gcta", loco=True)],
    "Dataset.grm_pairs": lambda x: x.bits.genobit.grm_pairs(threshold=0.0),
    "Dataset.genetic_map": lambda x: x.ds.genobit.genetic_map(
        pd.DataFrame({"chr": ["1", "1"], "position": [0, 10**6], "cM": [0.0, 1.0]})
    )[["variant_genetic_position"]],
    "Dataset.join": lambda x: x.ds.genobit.join(
        pd.DataFrame({"sample_id": [f"s{k}" for k in range(4)], "height": [1.5, 2.5, 3.5, 4.5]})
    )[["height"]],
    "Dataset.indexed": lambda x: [
        side.genobit.indexed()[dim].values.tolist()
        for side in (x.ds, x.bits)
        for dim in ("variants", "samples")
    ],
    "Dataset.isel": lambda x: [
        side.genobit.isel(variants=[0, 7], samples=slice(3, 6))
        for side in (x.bits, x.ds.genobit.pack(rows="samples"))
    ],
    "Dataset.sel": lambda x: [
        side.genobit.sel(variants=["rs7", "chr1:3kb-5.5kb", "2:9001-"], samples=["s5", "s3"])
        for side in (x.bits, x.ds.genobit.pack(rows="samples"))
    ],
    "Dataset.kendall": lambda x: x.bits.genobit.kendall(other=x.ds),
    "Dataset.kendall_pairs": lambda x: [
        side.genobit.kendall_pairs(0.3, None) for side in (x.bits, x.ds.drop_vars("variant_id"))
    ],
    "Dataset.ld": lambda x: [
        x.bits.genobit.ld(window=2),
        x.bits.genobit.ld(other=inputs(*REFERENCE, x.folder).bits).drop_vars("variant_contig_1"),
    ],
    "Dataset.ld_blocks": lambda x: x.bits.genobit.ld_blocks("5kb"),
    "Dataset.ld_clump": lambda x: x.bits.genobit.ld_clump(
        np.linspace(1e-6, 1e-2, VARIANTS), p1=1e-2, p2=1e-2
    ),
    "Dataset.ld_decay": lambda x: x.bits.genobit.ld_decay(
        "20kb", bins=3, resamples=2, parts=2, populations="sample_population"
    ),
    "Dataset.ld_pairs": lambda x: x.bits.genobit.ld_pairs(threshold=0.1, window="5kb"),
    "Dataset.ld_prune": lambda x: x.bits.genobit.ld_prune(5, 1, 0.3),
    "Dataset.ld_score": lambda x: x.bits.genobit.ld_score(3),
    "Dataset.pack": lambda x: x.ds.genobit.pack(rows="samples"),
    "Dataset.pca": lambda x: x.pcs,
    "Dataset.ranking": lambda x: x.result.genobit.ranking(),
    "Dataset.estimate": lambda x: x.ds.genobit.estimate.ld("r2").what,
    "Dataset.report": lambda x: x.ds.genobit.report(x.folder / "report.html").name,
    "Dataset.plot": lambda x: x.pcs.genobit.plot(colour_by="sample_population").hv,
    "Dataset.project": lambda x: [
        x.ds.genobit.project(pcs) for pcs in (x.pcs, inputs(*REFERENCE, x.folder).pcs)
    ],
    **{
        f"Dataset.{name}": lambda x, name=name: EXPORTS[name](x)
        for name in ("to_pgen", "to_plink", "to_trees", "to_vcf", "to_vcf_zarr", "to_zarr")
    },
    "Dataset.unrelated": lambda x: [
        x.bits.genobit.unrelated(),
        x.ds.genobit.unrelated(pairs=x.bits.genobit.grm_pairs(threshold=0.0)),
    ],
    "Dataset._repr_html_": lambda x: [side.genobit._repr_html_() for side in (x.ds, x.bits)],
    "DataArray.ancestral_states": lambda x: x.ancestors,
    "DataArray.join": lambda x: x.expr.genobit.join(
        pd.DataFrame({"gene": x.expr.gene.values[::-1], "height": range(x.expr.sizes["gene"])}),
        on="gene",
    ).height.values.tolist(),
    "DataArray.kendall": lambda x: x.expr.genobit.kendall(
        other=inputs(*REFERENCE, x.folder).expr, pvalue=True
    ),
    "DataArray.estimate": lambda x: x.aln.genobit.estimate.parsimony(TREE).what,
    "DataArray.plot": lambda x: x.grm.genobit.plot(colour_by="sample_population").hv,
    "DataArray.kendall_pairs": lambda x: [
        x.pairs,
        x.expr.genobit.kendall_pairs(0.2, 0.9, names="pathway"),
    ],
    "DataArray.ld": lambda x: x.aln.genobit.ld("r2"),
    "DataArray.parsimony": lambda x: x.aln.genobit.parsimony(TREE),
    "DataArray.parsimony_search": lambda x: x.aln.genobit.parsimony_search(
        "branch_and_bound", outgroup=x.aln.taxa.values[:1], progress=False
    ),
    **{
        f"DataArray.{name}": lambda x, name=name: EXPORTS[name](x)
        for name in ("to_gcta", "to_plink_rel", "to_zarr")
    },
    "DataArray.similarity": lambda x: [
        x.prints.genobit.similarity(),
        x.prints.genobit.similarity(top=2, other=inputs(*REFERENCE, x.folder).prints),
    ],
    "DataArray._repr_html_": lambda x: [a.genobit._repr_html_() for a in (x.expr, x.aln)],
    "Selection": chosen,
}


PLOTS: dict[str, Callable[[Inputs], Any]] = {
    "allele_frequency_spectrum": lambda x: plots.allele_frequency_spectrum(
        x.bits.genobit.allele_frequency()
    ),
    "closest_pairs": lambda x: plots.closest_pairs(x.grm, limit=5),
    "degree_histogram": lambda x: plots.degree_histogram(x.pairs.degree().to_numpy()),
    "draw_edges": lambda x: plots.draw_edges(plots.strongest_edges(x.pairs)),
    "epistasis_arcs": lambda x: plots.epistasis_arcs(x.result, ds=x.ds),
    "grm_heatmap": lambda x: plots.grm_heatmap(x.grm, colour_by="sample_population"),
    "homoplasy_track": lambda x: plots.homoplasy_track(x.aln.genobit.parsimony(TREE)),
    "kendall_heatmap": lambda x: plots.kendall_heatmap(x.tau),
    "kendall_network": lambda x: plots.kendall_network(x.pairs, colour_by=x.expr.pathway),
    "kinship_histogram": lambda x: plots.kinship_histogram(x.grm),
    "ld_decay": lambda x: [
        plots.ld_decay(x.ld),
        plots.ld_decay(
            x.bits.genobit.ld_decay(
                "20kb", bins=3, resamples=2, parts=2, populations="sample_population"
            )
        ),
        plots.ld_decay(x.bits.genobit.ld_pairs(threshold=0.0, window="20kb").to_dataframe()),
    ],
    "ld_heatmap": lambda x: [
        plots.ld_heatmap(x.ld, lead=2, blocks=x.bits.genobit.ld_blocks("5kb")),
        plots.ld_heatmap(x.bits.genobit.ld()),
    ],
    "ld_track": lambda x: plots.ld_track(x.ld[:, 2:3]),
    "ld_triangle": lambda x: plots.ld_triangle(x.ld, blocks=x.bits.genobit.ld_blocks("5kb")),
    "marginal_effects": lambda x: plots.marginal_effects(x.result),
    "pair_scatter": lambda x: plots.pair_scatter(*x.expr.drop_vars(["gene", "pathway"])[:2]),
    "parsimony_tree": lambda x: plots.parsimony_tree(x.ancestors, site=0),
    "pca_scatter": lambda x: plots.pca_scatter(x.pcs),
    "penetrance_heatmap": lambda x: plots.penetrance_heatmap(x.result),
    "permutation_histogram": lambda x: plots.permutation_histogram(x.result),
    "ranking_table": lambda x: [
        plots.ranking_table(x.result, "1:"),
        plots.ranking_table(x.result.drop_vars(["variant_id", "variant_contig"]), ds=x.ds),
    ],
    "search_trace": lambda x: plots.search_trace(x.found),
    "site_table": lambda x: plots.site_table(x.aln.genobit.parsimony(TREE)),
    "strongest_edges": lambda x: plots.strongest_edges(x.pairs),
    "tanglegram": lambda x: plots.tanglegram(
        x.ancestors, x.aln.genobit.ancestral_states("((t0,t2),(t1,(t3,t4)));").compute()
    ),
}

EXPLORERS: dict[str, Callable[[Inputs], Any]] = {
    "Dataset.ld": lambda x: explored(x, x.bits.genobit.explore.ld(), selected=(1, 3)),
    "Dataset.grm": lambda x: explored(x, x.ds.genobit.explore.grm(), selected=(0, 2)),
    "Dataset.kendall": lambda x: explored(
        x, x.bits.genobit.explore.kendall(threshold=0.3), pair=(0, 1)
    ),
    "Dataset.epistasis": lambda x: explored(
        x, x.ds.genobit.explore.epistasis(x.result), filter="1:"
    ),
    "DataArray.kendall": lambda x: explored(x, x.expr.genobit.explore.kendall(threshold=0.1)),
    "DataArray.parsimony": lambda x: explored(x, x.aln.genobit.explore.parsimony(TREE), branch=1),
    "Dataset": lambda x: offered(x.ds.genobit.explore()),
    "DataArray": lambda x: offered(x.expr.genobit.explore()),
}


def explored(x: Inputs, explorer: Any, **traits: Any) -> list[Any]:
    """What an explorer says and saves once something is chosen in it."""
    settled(explorer)
    for name, value in traits.items():
        setattr(explorer, name, value)
    settled(explorer)
    saved = [
        contents(export.save(str(x.folder / f"saved-{k}{export.ending}")))
        for k, export in enumerate(explorer.exports)
        # The page has the pictures, which other tests draw; netCDF is what Zarr is.
        if export.ending not in {".html", ".nc"}
    ]
    return [explorer.selection.variants, explorer.selection.samples, *saved]


def settled(explorer: Any) -> None:
    deadline = time.monotonic() + 60
    while explorer.busy:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert not explorer.status.startswith("Error"), explorer.status


def offered(launcher: Any) -> list[Any]:
    for name in ("ld", "grm", "kendall") if "ld" in launcher.offers else ("kendall",):
        launcher.launch(name)
        assert name in launcher.opened, launcher.status
    return sorted(launcher.opened)


PAPERS: dict[str, Callable[[Inputs], Any]] = {
    "ld": lambda x: printed(x, x.ld),
    "ld_blocks": lambda x: printed(x, x.bits.genobit.ld_blocks("5kb")),
    "grm": lambda x: printed(x, x.grm),
    "kendall": lambda x: printed(x, x.tau),
    "kendall_pairs": lambda x: printed(x, x.pairs),
    "pca": lambda x: printed(x, x.pcs),
    "epistasis": lambda x: printed(x, x.result),
    "parsimony": lambda x: printed(x, x.aln.genobit.parsimony(TREE)),
    "parsimony_search": lambda x: printed(x, x.found),
    "ancestral_states": lambda x: printed(x, x.ancestors),
    "similarity": lambda x: printed(x, x.prints.genobit.similarity()),
    "sample_stats": lambda x: printed(x, x.bits.genobit.sample_stats()),
    "region": lambda x: pdf(
        x,
        x.ds.genobit.plot.region(
            pd.DataFrame(
                {"id": [f"rs{k}" for k in range(6)], "p": np.geomspace(1e-9, 0.5, 6)},
            )
        ),
    ),
    "relatedness": lambda x: pdf(x, x.ds.genobit.plot.relatedness(colour_by="population")),
}


def printed(x: Inputs, result: Any) -> list[bytes]:
    """Every plot of a result as a PDF."""
    plot = getattr(result, "genobit", result).plot
    return [pdf(x, plot(kind)) for kind in result_of(result, RESULTS).kinds]


def pdf(x: Inputs, figure: Figure) -> bytes:
    return figure.save(x.folder / "printed.pdf").read_bytes()


EXPORTS: dict[str, Callable[[Inputs], Any]] = {
    "to_gcta": lambda x: written(x, lambda path: gb.to_gcta(x.bits.genobit.grm(), path)),
    "to_pgen": lambda x: [
        written(x, lambda path, data=data: gb.to_pgen(data.drop_vars("sample_case"), path))
        for data in (x.ds, x.bits)
    ],
    "to_plink": lambda x: [
        written(x, lambda path, data=data: gb.to_plink(data, path)) for data in (x.ds, x.bits)
    ],
    "to_plink_rel": lambda x: written(x, lambda path: gb.to_plink_rel(x.grm, path)),
    "to_trees": lambda x: written(x, lambda path: gb.to_trees(x.found, path.with_suffix(".nex"))),
    "to_vcf": lambda x: [
        written(x, lambda path, data=data: gb.to_vcf(data, path.with_suffix(".vcf")))
        for data in (x.ds, x.bits)
    ],
    "to_vcf_zarr": lambda x: [
        stored(gb.to_vcf_zarr(data, x.folder / f"v{k}.vcz"))
        for k, data in enumerate((x.ds, x.bits))
    ],
    "to_zarr": lambda x: [
        reopened(found.to_dataset(name="x") if isinstance(found, xr.DataArray) else found, at)
        for at, found in (
            (x.folder / "z0.zarr", x.ds),
            (x.folder / "z1.zarr", x.bits),
            (x.folder / "z2.zarr", x.bits.genobit.ld()),
            (x.folder / "z3.zarr", x.tau),
            (x.folder / "z4.zarr", x.result),
        )
    ],
    "ld_pairs().to_parquet()": lambda x: written(
        x, lambda path: x.bits.genobit.ld_pairs(threshold=0.1).to_parquet(path, progress=False)
    ),
    "kendall_pairs().to_parquet()": lambda x: written(
        x, lambda path: x.expr.genobit.kendall_pairs(0.1, None).to_parquet(path, progress=False)
    ),
    "Network.to_cytoscape": lambda x: written(x, x.pairs.to_cytoscape),
    "Network.to_graphml": lambda x: written(x, x.pairs.to_graphml),
    "Network.to_dataframe": lambda x: x.pairs.to_dataframe(),
    "Network.to_networkx": lambda x: list(x.pairs.to_networkx().edges(data=True)),
}


def written(x: Inputs, write: Callable[[Path], Any]) -> Any:
    """What is in all files that are written into a folder of their own."""
    folder = Path(tempfile.mkdtemp(dir=x.folder))
    write(folder / "out")
    return [contents(path) for path in sorted(folder.iterdir())]


def stored(path: Path) -> list[Any]:
    """A VCF Zarr store, which numbers contigs in any form; their names apart."""
    ds = gb.open_vcf_zarr(path)
    names = ds.contig_id.values[ds.variant_contig.values]
    return [ds.drop_vars("variant_contig"), names.tolist()]


def contents(path: str | Path) -> Any:
    path = Path(path)
    if path.suffix == ".zarr":
        return xr.open_zarr(path, consolidated=False)
    if path.suffix == ".parquet" or path.read_bytes()[:4] == b"PAR1" if path.is_file() else True:
        return pd.read_parquet(path)
    return path.read_bytes()


ALL = {
    **METHODS,
    **{f"plots.{name}": case for name, case in PLOTS.items()},
    **{f"papers.{name}": case for name, case in PAPERS.items()},
    **{f"explore.{name}": case for name, case in EXPLORERS.items()},
    **{f"export.{name}": case for name, case in EXPORTS.items()},
}


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_nothing_is_left_out() -> None:
    accessors = {"Dataset": xr.Dataset.genobit, "DataArray": xr.DataArray.genobit}
    methods = {f"{k}.{name}" for k, cls in accessors.items() for name in public(cls) - {"explore"}}
    assert methods == {name for name in METHODS if "_repr" not in name} - {"Selection"}
    assert set(plots.__all__) == set(PLOTS)
    explorers = {"Dataset": Explore, "DataArray": ExploreArray}
    opened = {f"{k}.{name}" for k, cls in explorers.items() for name in public(cls)}
    assert opened == set(EXPLORERS) - set(explorers)
    writers = {name for name in gb.__all__ if name.startswith("to_")}
    tables = {f"Network.{name}" for name in public(Network) if name.startswith("to_")}
    assert writers | tables == {name for name in EXPORTS if "(" not in name}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "genobit.visual.explorer.view.Picture", lambda _view, _home: ipywidgets.HBox()
    )


@functools.cache
def expected(case: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return told(ALL[case](inputs(*REFERENCE, Path(folder))), REFERENCE[1])


def sample(case: int) -> tuple[str, str]:
    """A text type and a form of contigs: every pair of them in some cases."""
    return TEXTS[case % len(TEXTS)], CONTIGS[case // len(TEXTS) % len(CONTIGS)]


def pairs(case: int) -> list[tuple[str, str]]:
    """Each text type with one form of contigs: each form too, and every pair in some cases."""
    return [(text, CONTIGS[(case + k) % len(CONTIGS)]) for k, text in enumerate(TEXTS)]


def check(case: str, text: str, contigs: str, folder: Path) -> None:
    assert_same(told(ALL[case](inputs(text, contigs, folder)), contigs), expected(case), case)


@pytest.mark.parametrize("case", ALL)
def test_each_type_and_form(case: str, tmp_path: Path) -> None:
    check(case, *sample(list(ALL).index(case)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "text", "contigs"),
    [(case, *pair) for k, case in enumerate(ALL) for pair in pairs(k)],
)
def test_all_types_and_some_forms(case: str, text: str, contigs: str, tmp_path: Path) -> None:
    check(case, text, contigs, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("contigs", CONTIGS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("case", ALL)
def test_all_types_and_forms(case: str, text: str, contigs: str, tmp_path: Path) -> None:
    check(case, text, contigs, tmp_path)


def told(found: Any, form: str) -> Any:
    """Values and labels as lists; contigs by name, whatever their form is."""
    if isinstance(found, list | tuple):
        return [told(each, form) for each in found]
    if isinstance(found, Network):
        return [told(found.to_dataframe(), form), found.attrs, repr(found)]
    if isinstance(found, gb.PairTable):
        found = found.to_dataframe()
    if isinstance(found, pd.DataFrame):
        return {str(name): listed(name, found[name]) for name in found}
    if isinstance(found, xr.DataArray):
        found = found.to_dataset(name="the values")
    if isinstance(found, xr.Dataset):
        found = of_dataset(found, form)
    elif isinstance(found, hv.Element | hv.core.CompositeOverlay):
        found = list(of_picture(found))
    elif isinstance(found, str):
        found = re.sub(r"[\d.]+ (µs|ms|s)\b", "", found)  # times differ from run to run
        # The type itself is what differs.
        found = re.sub(
            r"(&lt;|&gt;|\|)?(U|S)\d+, \d+ bytes|(StringDType\(\)|object), \d+ bytes", "", found
        )
    return found


def of_dataset(ds: xr.Dataset, form: str) -> dict[str, Any]:
    ds = ds.compute(scheduler="synchronous")
    out: dict[str, Any] = {"attrs": ds.attrs}
    for name, variable in ds.variables.items():
        values = variable.values
        if (
            "variant_contig" in str(name)
            and form == "numbers of names"
            and values.dtype.kind in "iu"
        ):
            values = np.array(["1", "2"], object)[values]
        if name != "contig_id":
            out[str(name)] = [list(variable.dims), listed(name, values)]
    return out


def of_picture(picture: Any) -> Iterator[Any]:
    for element in picture.traverse(lambda x: x, [hv.Element]):
        yield type(element).__name__
        for dimension in element.dimensions():
            yield listed(dimension, element.dimension_values(dimension, flat=True))
        options = element.opts.get().kwargs
        yield {name: options[name] for name in ("title", "xlabel", "ylabel") if name in options}
    yield picture.opts.get().kwargs.get("title")


def listed(name: Any, values: Any) -> list[Any]:
    """Numbers as they are; text as Python strings, and nothing of any other type."""
    array = np.asarray(values)
    if "contig" in str(name) or array.dtype.kind in "UT":
        array = array.astype(object).astype(str)
    flat = array.reshape(-1).tolist()
    assert not any(isinstance(value, bytes) or str(value).startswith("b'") for value in flat), name
    return flat


def assert_same(found: Any, right: Any, place: str) -> None:
    assert type(found) is type(right), place
    if isinstance(right, dict):
        assert set(found) == set(right), place
        for key in right:
            assert_same(found[key], right[key], f"{place} > {key}")
    elif isinstance(right, list):
        assert len(found) == len(right), place
        for k, (a, b) in enumerate(zip(found, right, strict=True)):
            assert_same(a, b, f"{place} > {k}")
    elif not (isinstance(right, float) and np.isnan(right) and np.isnan(found)):
        assert found == right, place
