"""Mistakes that new users typed, and the words of each message."""

from __future__ import annotations

import builtins
import inspect
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from genobit.engine.synonyms import ABSENT, SYNONYMS
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.public import functions, methods, users


@cache
def ds() -> xr.Dataset:
    return cohort(random_calls(3, 30, 12), contigs=2)


@cache
def aln() -> xr.DataArray:
    return gb.sample_alignment().isel(sites=slice(0, 40), taxa=slice(0, 6))


EXAMPLE = re.compile(r"^>>> (.*(?:\n\.\.\. .*)*)\n(\w+): (.*(?:\n(?!>>>).+)*)", re.MULTILINE)


def answered(text: str) -> pytest.MarkDecorator:
    """Run a test with each example: what is typed, the kind of the error, words of its message."""
    found = [
        tuple(part.replace("\n... ", " ").replace("\n", " ") for part in example)
        for example in EXAMPLE.findall(text)
    ]
    assert len(found) == text.count(">>> ")
    return pytest.mark.parametrize(("typed", "kind", "words"), found)


def error_of(code: str, kind: str) -> BaseException:
    """The error of what a user types."""
    data = {make.__name__: make for make in (aln, ancestors, dosages, ds, populations)}
    names = {name: make() for name, make in data.items() if re.search(rf"\b{name}\b", code)}
    with pytest.raises(getattr(builtins, kind)) as found:
        eval(code, {"gb": gb, "np": np, "pd": pd, **names})
    return found.value


MISTAKES = """
>>> ds.genobit.filter(maf=0.05)
TypeError: ds.genobit.filter() has no argument 'maf'; did you mean 'min_maf'? Its arguments are
min_maf,
>>> ds.genobit.pca(n_components=2)
TypeError: ds.genobit.pca() has no argument 'n_components'; did you mean 'components'?
>>> ds.genobit.ld_prune(windows=50)
TypeError: ds.genobit.ld_prune() has no argument 'windows'; did you mean 'window'?
>>> ds.genobit.unrelated(thresh=0.1)
TypeError: ds.genobit.unrelated() has no argument 'thresh'; did you mean 'threshold'?
>>> ds.genobit.sel(variant="rs1")
TypeError: ds.genobit.sel() has no argument 'variant'; did you mean 'variants'?
>>> ds.genobit.sel("rs1")
TypeError: ds.genobit.sel() takes no argument by position: write variants='rs1'. Its arguments are
>>> ds.genobit.ld_pairs(0.2)
TypeError: ds.genobit.ld_pairs() takes no argument by position: write threshold=0.2.
>>> ds.genobit.grm_pairs("king", 0.1)
TypeError: takes at most 1 argument by position: write threshold=0.1.
>>> ds.genobit.epistasis("y", min_gap="1Mb")
TypeError: no argument 'min_gap'; did you mean 'limits=gb.EpistasisLimits(min_gap=...)'?
>>> aln.genobit.parsimony_search(iterations=5)
TypeError: no argument 'iterations'; did you mean 'effort=gb.SearchEffort(iterations=...)'?
>>> ds.genobit.epistasis(covariates=["age"])
TypeError: ds.genobit.epistasis() needs phenotype=: Name of a variable along the samples
>>> aln.genobit.parsimony()
TypeError: da.genobit.parsimony() needs tree=: One or more trees
>>> ds.genobit.explore.epistasis()
TypeError: ds.genobit.explore.epistasis() needs result=: Result of `.genobit.epistasis()`
>>> ds.genobit.king()
AttributeError: did you mean 'grm("king")'?
>>> ds.genobit.hwe()
AttributeError: did you mean 'variant_stats()'?
>>> ds.genobit.maf()
AttributeError: did you mean 'variant_stats()'?
>>> ds.genobit.r2()
AttributeError: did you mean 'ld("r2")'?
>>> ds.genobit.fst()
AttributeError: genobit has no such statistic
>>> ds.genobit.heterozygosity()
AttributeError: did you mean 'sample_stats()'?
>>> ds.genobit.gwas()
AttributeError: genobit has no association tests
>>> ds.genobit.to_gcta("x")
AttributeError: did you mean 'grm().genobit.to_gcta(prefix)'?
>>> ds.genobit.explore.pca()
AttributeError: did you mean 'grm()'? Its methods are epistasis, grm, kendall, ld.
>>> ds.call_genotype.genobit.grm()
AttributeError: da.genobit has no method 'grm'; ds.genobit of a Dataset has it. Genotypes are
>>> ds.genobit.pca(2).genobit.plot(hue="population")
TypeError: has no option 'hue'; did you mean 'colour_by'?
>>> ds.genobit.pca(2).genobit.plot(color_by="population")
TypeError: has no option 'color_by'; did you mean 'colour_by'?
>>> gb.plots.pca_scatter(ds.genobit.pca(2), hue="population")
TypeError: plots.pca_scatter() has no argument 'hue'; did you mean 'colour_by'?
>>> ds.genobit.estimate.pca(n_components=2)
TypeError: ds.genobit.estimate.pca() has no argument 'n_components'; did you mean 'components'?
>>> gb.open_zarr
AttributeError: did you mean 'xr.open_zarr(path)'?
>>> gb.ld_prune
AttributeError: call ds.genobit.ld_prune()
>>> gb.open_plink("x", chunk_size=3)
TypeError: gb.open_plink() has no argument 'chunk_size'; did you mean 'chunks'?
>>> gb.set_options(threads=4)
TypeError: did you mean 'dask.config.set(num_workers=...)'?
>>> ds.genobit.grm(n_jobs=4)
TypeError: no argument 'n_jobs'; did you mean 'dask.config.set(num_workers=...)'?
>>> gb.open_plink()
TypeError: gb.open_plink() needs path=: Path of the .bed file
>>> gb.open_alignment()
TypeError: gb.open_alignment() needs path=: FASTA, PHYLIP, NEXUS, CLUSTAL or Stockholm file
>>> ds.genobit.to_plink()
TypeError: ds.genobit.to_plink() needs prefix=: Path without the endings; the path of the .bed
works too. Its arguments are prefix, digits, overwrite.
>>> ds.genobit.grm().genobit.to_gcta("x", "y", "z")
TypeError: da.genobit.to_gcta() takes at most 1 argument by position: write overwrite='y'. Its
arguments are prefix, overwrite.
>>> gb.warm(ld=True)
TypeError: Its arguments are analyses.
>>> ds.genobit.plot.heatmap()
AttributeError: ds.genobit.plot has no method 'heatmap'. Its methods are region, relatedness. A
kind is an argument: plot(kind).
>>> aln.genobit.plot.foo()
AttributeError: da.genobit.plot has no method 'foo'. A kind is an argument: plot(kind).
>>> gb.prune
AttributeError: did you mean 'ds.genobit.ld_prune()'?
>>> gb.clump
AttributeError: did you mean 'ds.genobit.ld_clump(p)'?
>>> gb.het
AttributeError: did you mean 'ds.genobit.sample_stats()'?
>>> gb.tree_search
AttributeError: did you mean 'da.genobit.parsimony_search()'?
>>> gb.manhattan
AttributeError: did you mean 'ds.genobit.plot()'?
>>> gb.ld_prun
AttributeError: did you mean 'ds.genobit.ld_prune' or
>>> gb.open_plnk
AttributeError: did you mean 'open_plink', 'open_
>>> gb.EpistasisLimits(gap="1Mb")
TypeError: gb.EpistasisLimits() has no argument 'gap'; did you mean 'min_gap'?
>>> ds.genobit.unrelated(kinship=0.1)
TypeError: has no argument 'kinship'; did you mean 'threshold'?
>>> ds.genobit.unrelated(degree=2)
TypeError: has no argument 'degree'; did you mean 'threshold'?
>>> ds.genobit.ld_pairs(other=ds)
TypeError: has no argument 'other'; did you mean 'variants'?
>>> ds.genobit.sel(pop="FIN")
TypeError: has no argument 'pop'; did you mean 'samples'?
>>> ds.genobit.variant_stats(by="pop")
TypeError: has no argument 'by'; did you mean 'populations'?
>>> ds.genobit.filter(max_maf=0.05)
TypeError: no argument 'max_maf': ds.genobit.isel(variants=condition) keeps variants by any
>>> ds.genobit.filter(biallelic=True)
TypeError: no argument 'biallelic': ds.genobit.pack(multiallelic="drop") leaves out others.
>>> ds.genobit.grm().genobit.to_csv("x")
AttributeError: no method 'to_csv': .to_dataframe().to_csv(path) of the result writes a table.
>>> ds.genobit.consensus()
AttributeError: genobit makes no consensus trees; search.genobit.to_trees(path) writes the trees.
>>> ds.genobit.ld_pairs(threshold=0.1).to_graphml("x")
AttributeError: pairs has no method 'to_graphml'; did you mean 'to_network().to_graphml(path)'?
>>> ds.genobit.ld_pairs(threshold=0.1).r2
AttributeError: the pairs are not computed: write pairs.to_dataframe().r2
>>> ds.genobit.ld_pairs(threshold=0.1)["r2"]
TypeError: the pairs are not computed: write pairs.to_dataframe()['r2']
>>> ds.genobit.ld_pairs(threshold=0.1).to_network().communites()
AttributeError: network has no method 'communites'; did you mean 'communities' or 'components'?
>>> ds.genobit.filter(min_maf=0.1, founders="no")
TypeError: ds.genobit.filter(): founders='no' is not True or False
>>> ds.genobit.ld(phased="no")
TypeError: ds.genobit.ld(): phased='no' is not True or False or None
>>> ds.genobit.ld().genobit.plot().savefig("x.pdf")
AttributeError: figure has no method 'savefig'; did you mean 'save(path)'?
>>> ds.genobit.ld_pairs(lead="rs1")
TypeError: has no argument 'lead'; did you mean 'variants'?
>>> ds.genobit.kendall_pairs(pvalue=0.05)
TypeError: has no argument 'pvalue'; did you mean 'fdr'?
>>> ds.genobit.unrelated(0.1, threshold=0.1)
TypeError: ds.genobit.unrelated(): multiple values for argument 'threshold'.
"""


def dosages() -> xr.Dataset:
    return ds().assign(call_genotype=ds().call_genotype.sum("ploidy"))


VALUES = """
>>> dosages.genobit.grm()
ValueError: d = ds.call_genotype; ds.assign(
>>> ds.assign(call_genotype=ds.call_genotype.astype(str)).genobit.grm()
TypeError: text has to become indices of alleles, 0 for the reference
>>> dosages.assign(call_genotype=dosages.call_genotype.astype(str)).genobit.grm()
ValueError: text has to become indices of alleles, 0 for the reference
>>> populations.genobit.sel(samples="FIN")
KeyError: sample_population has it: samples=ds.sample_population == 'FIN'
>>> ds.genobit.sel(variants="chromosome")
KeyError: no region of the contigs chr1, chr2; the first names are 'rs0', 'rs1', 'rs2'.
>>> ds.isel(samples=[]).genobit.grm()
ValueError: empty along 'samples': a selection or filter kept none of them
>>> ds.genobit.epistasis("bmi")
KeyError: Join a table with ds.genobit.join(table)
>>> ds.drop_vars("variant_position").genobit.ld_decay("50kb")
KeyError: ds.assign(variant_position=('variants', positions))
>>> ds.genobit.ld(other=ds.isel(samples=slice(4)))
ValueError: other= has dosages of 4 samples, this Dataset dosages of 12
>>> ds.genobit.epistasis(np.arange(12) % 2, statistic="linear", permutations=9,
... covariates=pd.DataFrame({"age": np.arange(12.0)}), limits=gb.EpistasisLimits(min_n=0))
ValueError: multiply p by attrs['combinations'] of the result
>>> gb.ld(ds)
TypeError: gb.ld is a package; call ds.genobit.ld()
>>> gb.parsimony(ds)
TypeError: gb.parsimony is a package; call da.genobit.parsimony()
>>> ds.genobit.plot()
ValueError: ds.genobit.plot.region(association) and ds.genobit.plot.relatedness()
>>> ds.isel(variants=0).genobit.ld()
ValueError: keep 'variants' by a list, such as ds.isel(variants=[0])
>>> ds.isel(samples=0).genobit.variant_stats()
ValueError: keep 'samples' by a list, such as ds.isel(samples=[0])
>>> ds.genobit.ld().genobit.plot(threshold="x")
TypeError: threshold='x' is not a number: give the smallest value that is coloured
>>> ds.genobit.ld().genobit.plot(max_pixels=-1)
ValueError: max_pixels=-1 is not a whole number of at least 1
>>> ds.genobit.grm().genobit.plot(max_pixels=0.5)
ValueError: max_pixels=0.5 is not a whole number of at least 1
>>> ds.genobit.ld().genobit.plot(ax=3)
TypeError: ax= is of type int, expected axes of matplotlib
>>> populations.genobit.variant_stats(populations="population").genobit.plot()
ValueError: a plot shows one population: select it first, .sel(populations='FIN')
>>> gb.plots.ld_triangle(ds.genobit.sel(variants="chr1").genobit.ld(), genes=[{"contig": "chr1",
... "start": "x", "end": 5}])
ValueError: start of gene 0 is 'x': give a number of base pairs
>>> ds.genobit.ld_clump(pd.DataFrame({"SNP": ["rs1"], "P": [0.1]}))
TypeError: p is a table, expected values along 'variants': give one of its columns ('SNP', 'P')
>>> gb.sample_expression().genobit.kendall_pairs(names=["a", "b"])
ValueError: names= is of type list, expected the name of a coordinate along 'gene': give one of
>>> ds.genobit.pca(2).genobit.plot(x="PC3")
ValueError: there is no component 'PC3'; the result has 1 to 2
>>> ds.genobit.pca(2).genobit.plot(y=3).save("x.pdf")
ValueError: there is no component 3; the result has 1 to 2
>>> ancestors.genobit.plot("tree", site=5000)
IndexError: site=5000 is not a site: the states have 40 sites along 'sites', with indices 0 to 39
>>> ancestors.genobit.plot(site="x")
TypeError: site='x' is not the index of a site: give a whole number
>>> gb.open_plink(5)
TypeError: path=5 is of type int, expected the path of a file, a list of paths, or a pattern
>>> gb.to_plink(ds, 5)
TypeError: to_plink takes a path, not 5 of type int
>>> gb.concat(["a.bed", "b.bed"])
TypeError: datasets[0] is of type str, expected a Dataset of genotypes: open a file with
genobit.open_
>>> gb.concat({"a": ds})
TypeError: concat takes a list of Datasets, such as concat([a, b])
>>> ds.genobit.sel(variants="chr1").genobit.ld().genobit.plot(genes=["LCT"])
TypeError: genes= holds 'LCT': give a GFF3 file, or a table with the columns contig, start, end
>>> dosages.genobit.grm()
ValueError: for haploid calls, ds.assign(call_genotype=d.expand_dims('ploidy', -1))
>>> aln.genobit.similarity()
TypeError: needs booleans or 0 and 1: compare them, such as da == 'A'
>>> gb.sample_expression().genobit.kendall(dim="samples")
ValueError: they have 'gene', 'sample'; did you mean 'sample'?
>>> ds.genobit.epistasis(np.full(12, np.nan))
ValueError: missing in all 12 samples: join a table that has it with ds.genobit.join(table)
>>> gb.measurements(np.ones((3, 4)))
TypeError: pd.DataFrame(values, genes, samples)
"""


def ancestors() -> xr.Dataset:
    return aln().genobit.ancestral_states(f"({','.join(aln().taxa.values)});")


def populations() -> xr.Dataset:
    return ds().assign(sample_population=("samples", ["FIN", "GBR"] * 6))


@answered(VALUES)
def test_wrong_value__is_answered_with_a_remedy(typed: str, kind: str, words: str) -> None:
    assert words in str(error_of(typed, kind))


def test_remedy_for_dosages__gives_the_calls() -> None:
    d = dosages().call_genotype.where(np.arange(30)[:, None] % 7 > 0, -1)
    calls = xr.concat([d > 1, d > 0], "ploidy").where(d >= 0, -1).astype("int8")
    found = dosages().assign(call_genotype=calls).genobit.allele_frequency().values
    expected = d.where(d >= 0).mean("samples").values / 2
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(("window", "told"), [(500_000, True), (10_000, False), ("500kb", False)])
def test_window_of_more_variants_than_there_are__says_what_it_counts(
    window: int | str, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    ds().genobit.ld_pairs(threshold=0.2, window=window).to_dataframe()
    assert ("for base pairs give window='500000bp'" in caplog.text) is told


def test_more_pairs_than_samples__are_told() -> None:
    for call in (gb.sample_expression().genobit.kendall, ds().genobit.kendall):
        with pytest.warns(UserWarning, match=r"min_pairs=999 is more than the (160|12) values"):
            call(min_pairs=999)


def test_limits_that_leave_nothing__are_told() -> None:
    limits = gb.EpistasisLimits(min_gap=100, min_n=0)
    with pytest.warns(UserWarning, match="limits= leaves no combination"):
        found = ds().isel(variants=[0, 1, 2]).genobit.epistasis(np.arange(12) % 2, limits=limits)
    assert found.sizes["rank"] == 0


def test_folder_or_other_file__is_named_where_a_bed_is_expected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"is a folder: give a \.bed in it\."):
        gb.open_plink(tmp_path)
    bed = gb.to_plink(ds(), tmp_path / "x")
    with pytest.raises(FileNotFoundError, match=f"is a folder: give a .bed in it, such as {bed}"):
        gb.open_plink(tmp_path)
    (tmp_path / "y.vcf").write_text("")
    with pytest.raises(FileNotFoundError, match=r"y\.vcf is no \.bed: for VCF use"):
        gb.open_plink(tmp_path / "y.vcf")


def test_samples_of_a_vcf__are_listed_if_none_is_close(tmp_path: Path) -> None:
    path = gb.to_vcf(ds(), tmp_path / "x.vcf")
    with pytest.raises(ValueError, match=r"lacks; its first samples are 's0', 's1', 's2'\."):
        gb.open_vcf(path, samples=["nobody"], cache_dir=False)


def test_a_selected_population__has_a_plot() -> None:
    stats = populations().genobit.variant_stats(populations="population")
    assert "Figure" in repr(stats.sel(populations="FIN").genobit.plot())


@pytest.mark.parametrize("value", [0, 1, True, np.bool_(False)])
def test_flag__takes_numbers_that_are_true_or_false(value: Any) -> None:
    assert ds().genobit.pca(2, count_monomorphic=value).sizes["components"] == 2


@answered(MISTAKES)
def test_mistake__is_answered_in_our_words(typed: str, kind: str, words: str) -> None:
    found = error_of(typed, kind)
    assert words in str(found)
    assert found.__cause__ is None
    assert found.__context__ is None or kind == "AttributeError"


def every_call() -> list[tuple[str, Any]]:
    of_data = [(ds().genobit, name) for name in dir(GenobitDatasetAccessor)]
    of_data += [(aln().genobit, name) for name in dir(GenobitDataArrayAccessor)]
    found = [
        (f"{type(of).__name__}.{name}", of, name)
        for of, name in of_data
        if not name.startswith("_") and name not in {"explore", "estimate", "plot"}
    ]
    skipped = {"PairTable", "Selection", "set_options", "get_options"}
    names = [name for name in gb.__all__ if name not in skipped and "ipython" not in name]
    found += [(f"gb.{name}", gb, name) for name in names]
    return [(name, getattr(of, own)) for name, of, own in found]


def test_every_public_call__names_an_unknown_argument_and_its_own() -> None:
    for name, call in every_call():
        with pytest.raises(TypeError) as found:
            call(no_such_thing=1)
        text = str(found.value)
        of = "gb" if name.startswith("gb.") else "(ds|da).genobit"
        assert re.match(rf"{of}\.{name.split('.')[-1]}\(\) ", text), text
        assert not re.search(r"arguments are (ds|da|matrix)\b", text) or of == "gb", text
        assert " *" not in text.replace("**", "")
        assert "has no argument 'no_such_thing'" in text
        assert all(each in text for each in inspect.signature(call).parameters), text
        assert "Methods" not in text


@pytest.mark.parametrize("of", ["ds", "da"])
def test_every_unknown_method__is_answered_in_a_whole_sentence(of: str) -> None:
    data = ds() if of == "ds" else aln()
    names = {*dir(GenobitDatasetAccessor), *dir(GenobitDataArrayAccessor), *SYNONYMS, *ABSENT}
    for name in {x for x in names if not x.startswith("_")} - {*dir(type(data.genobit))}:
        with pytest.raises(AttributeError, match=rf"^{of}\.genobit has no method '{name}'") as no:
            getattr(data.genobit, name)
        assert str(no.value)[-1] in ".?" or name in ABSENT


def test_errors_from_inside_a_call__stay_as_they_are() -> None:
    with pytest.raises(TypeError, match=r"threshold='0\.1' is not a number"):
        ds().genobit.unrelated("0.1")


def test_fields_of_arguments__are_in_the_table() -> None:
    for argument, kind in (("limits", gb.EpistasisLimits), ("effort", gb.SearchEffort)):
        for field in fields(kind):
            call = f"{argument}=gb.{kind.__name__}({field.name}=...)"
            assert call in SYNONYMS[field.name]


def test_table__leads_to_names_that_exist() -> None:
    known = {*users(), *dir(GenobitDatasetAccessor), *dir(GenobitDataArrayAccessor), *gb.__all__}
    known |= {*gb.plots.__all__, "plots", "lead", "print", "dask", "ds", "figure", "save", "xr"}
    known |= {*dir(gb.PairTable)}
    for name, ours in SYNONYMS.items():
        assert name == name.casefold()
        for each in ours:
            assert re.split(r"\W", each, maxsplit=1)[0] in known, (name, each)
            if each.startswith("ds.genobit."):
                assert hasattr(GenobitDatasetAccessor, re.split(r"\W", each)[2])
    own = {name for name, _ in [*methods(), *functions()]}
    assert not own & set(ABSENT)


@pytest.mark.parametrize("kind", ["calls", "planes", "index already"])
def test_indexed__gives_ids_to_the_sel_of_xarray(kind: str) -> None:
    own = ds().genobit.pack() if kind == "planes" else ds()
    if kind == "index already":
        own = own.set_index(variants="variant_id")
    found = own.genobit.indexed()
    one = found.sel(variants=["rs7", "rs3"])
    xr.testing.assert_identical(
        one.genobit.ld().drop_vars(["variants_0", "variants_1"]),
        ds().genobit.sel(variants=["rs7", "rs3"]).genobit.ld(),
    )
    if kind == "planes":
        with pytest.raises(ValueError, match=r"\.genobit\.isel\(samples="):
            found.sel(samples=["s1"]).genobit.ld()
    with pytest.raises(KeyError, match="no variant_id and no sample_id"):
        ds().drop_vars(["variant_id", "sample_id"]).genobit.indexed()


WRITERS = {
    "to_pgen": ("x", "x.pgen"),
    "to_plink": ("x", "x.bed"),
    "to_vcf": ("x.vcf", "x.vcf"),
    "to_vcf_zarr": ("x.vcz", "x.vcz"),
    "to_zarr": ("x.zarr", "x.zarr"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writer__is_a_method_of_genotypes(name: str, tmp_path: Path) -> None:
    given, made = WRITERS[name]
    getattr(ds().genobit, name)(tmp_path / given)
    assert (tmp_path / made).exists()
    function = getattr(gb, name)
    assert inspect.getdoc(getattr(ds().genobit, name)) == inspect.getdoc(function)
    _, *parameters = inspect.signature(function).parameters
    assert [*inspect.signature(getattr(ds().genobit, name)).parameters] == parameters


@pytest.mark.parametrize(("name", "made"), [("to_gcta", "x.grm.bin"), ("to_plink_rel", "x.rel")])
def test_writer__is_a_method_of_matrices(name: str, made: str, tmp_path: Path) -> None:
    getattr(ds().genobit.grm().genobit, name)(tmp_path / "x")
    assert (tmp_path / made).exists()


def test_writer__is_a_method_of_a_search(tmp_path: Path) -> None:
    found = aln().genobit.parsimony_search(seed=1)
    found.genobit.to_trees(tmp_path / "x.nwk")
    assert (tmp_path / "x.nwk").read_text().count(";") == found.sizes["trees"]
