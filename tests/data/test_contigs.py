"""One chromosome under many names: every pair of spellings at every door."""

from __future__ import annotations

import re
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.data.autosomes import choose, kinds
from genobit.data.contigs import HUMAN, chromosome, contig_named, misfit, translated
from genobit.io.genes import lacks_contig, read_genes
from genobit.ld.association import Variants, match
from genobit.ld.methods.region import region_view
from tests.helpers.cohorts import cohort, mosaic_calls
from tests.io.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAME = (
    ("1", "01", "chr1", "Chr01", "1.0"),
    ("X", "x", "chrX", "23", "chr23", "23.0"),
    ("Y", "24", "chry"),
    ("XY", "25"),
    ("MT", "M", "chrM", "26"),
    ("NC_000001.11", "nc_000001.11"),
)
PAIRS = [pair for names in SAME for pair in permutations(names, 2)]
HERE, ELSEWHERE = [f"rs{k}" for k in range(10)], "9"


def named(name: str, other: str = ELSEWHERE) -> xr.Dataset:
    """A cohort of ten variants on a contig of this name, and ten on another."""
    ds = cohort(mosaic_calls(1, 20, 16), contigs=2)
    return ds.assign(contig_id=("contigs", np.array([name, other], object)))


def selected(ds: xr.Dataset, name: str) -> bool:
    found = ds.genobit.sel(variants=f"{name}:1-1Mb")
    position = int(ds.variant_position[3])
    one = ds.genobit.sel(variants=[name, f"{name}:{position}"])
    return found.variant_id.values.tolist() == one.variant_id.values.tolist() == HERE


def mapped(ds: xr.Dataset, name: str) -> bool:
    table = pd.DataFrame({"chr": [name, name], "pos": [1, 10_000], "cM": [5.0, 6.0]})
    cm = ds.drop_vars("variant_genetic_position").genobit.genetic_map(table)
    return np.isnan(cm.variant_genetic_position.values).tolist() == [False] * 10 + [True] * 10


def joined(ds: xr.Dataset, name: str) -> bool:
    table = pd.DataFrame({"CHR": name, "BP": ds.variant_position[:10], "q": np.arange(10.0)})
    out = ds.genobit.join(table, on=("variant_contig", "variant_position"))
    return out.q.values[:10].tolist() == list(range(10)) and bool(np.isnan(out.q[10:]).all())


def aligned(ds: xr.Dataset, name: str) -> bool:
    ds = ds.drop_vars("variant_id")
    other = ds.assign(contig_id=("contigs", np.array([name, ELSEWHERE], object)))
    kept = other.genobit.allele_frequency()[::-1] > 2
    kept[-1] = True
    found = ds.genobit.sel(variants=kept).variant_position.values.tolist()
    return found == [int(ds.variant_position[0])]


def projected(ds: xr.Dataset, name: str) -> bool:
    other = ds.assign(contig_id=("contigs", np.array([name, ELSEWHERE], object)))
    pcs = ds.genobit.pca(1, autosomes=False)
    return np.allclose(other.genobit.project(pcs), pcs.scores, atol=1e-5)


def associated(ds: xr.Dataset, name: str) -> bool:
    contig = np.repeat(ds.contig_id.values, 10)
    variants = Variants(None, contig, ds.variant_position.values, tuple(ds.contig_id.values))
    table = pd.DataFrame({"chrom": name, "pos": ds.variant_position[:10], "P": 0.1})
    return np.isnan(match(table, variants).strength).tolist() == [False] * 10 + [True] * 10


def has_gene(ds: xr.Dataset, name: str) -> bool:
    table = [{"contig": name, "start": 5, "end": 900, "name": "ABC1"}]
    return lacks_contig(read_genes(table, ds.contig_id.values), ds.contig_id.values[0]) == ""


def on_autosomes(ds: xr.Dataset, name: str) -> bool:
    return choose(ds, [name]).contigs == (ELSEWHERE,)


DOORS: dict[str, Callable[[xr.Dataset, str], Any]] = {
    door.__name__: door
    for door in (
        selected, mapped, joined, aligned, projected, associated, has_gene, on_autosomes,
    )
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_every_spelling_opens_every_door(door: str) -> None:
    pairs = PAIRS[::7] if door in {"aligned", "projected"} else PAIRS  # 0.1 s for each pair
    wrong = [pair for pair in pairs if not DOORS[door](named(pair[0]), pair[1])]
    assert not wrong


@pytest.mark.parametrize("door", ["joined", "associated", "mapped"])
def test_numbers_that_pandas_reads_as_floats(door: str) -> None:
    assert DOORS[door](named("chr1"), 1.0)  # type: ignore[arg-type]
    assert DOORS[door](named("X"), 23.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", SAME)
def test_every_spelling_is_of_the_same_sex(names: tuple[str, ...]) -> None:
    found = {tuple(kinds(named(name), autosomes=True)) for name in names}
    assert len(found) == 1
    left_out = {choose(named(name), autosomes=True).left_out for name in names}
    assert left_out == {10 * (names[0] in {"X", "Y", "MT"})}


def test_the_explorer_takes_every_spelling() -> None:
    ds = cohort(mosaic_calls(1, 30, 16), contigs=len(SAME))
    ds = ds.assign(contig_id=("contigs", np.array([names[0] for names in SAME], object)))
    genes = [{"contig": n[-1], "start": 5, "end": 900, "name": f"ABC{n[0]}"} for n in SAME]
    explorer = ds.genobit.explore.ld(genes=genes)
    for names in SAME:
        explorer.go_to(f"{names[-1]}:1-1Mb")
        assert explorer.region[0] == names[0]
    for names in SAME:
        explorer.go_to(f"abc{names[0]}")
        assert explorer.region[0] == names[0]


@pytest.mark.parametrize("form", FORMATS)
def test_files_keep_every_spelling(form: str, tmp_path: Path) -> None:
    for k, name in enumerate({name for names in SAME for name in names}):
        again = FORMATS[form].through(named(name), tmp_path / str(k))
        assert again.contig_id.values.tolist() == [name, ELSEWHERE]


@pytest.mark.parametrize("names", [("1", "chr1"), ("M", "MT"), ("01", "1")])
def test_contigs_of_one_chromosome_stay_apart(names: tuple[str, str], tmp_path: Path) -> None:
    ds = named(*names)
    for k, name in enumerate(names):
        found = ds.genobit.sel(variants=name).variant_id.values.tolist()
        assert found == [f"rs{v}" for v in range(10 * k, 10 * k + 10)]
    # Windows do not span them, and a table of one is not that of the other.
    pairs = ds.genobit.ld_pairs(threshold=0, window=50).to_dataframe()
    assert set(pairs.variant_contig) == set(names)
    assert DOORS["mapped"](ds, names[0])
    third = {"1": "CHR1", "M": "chrMT", "01": "chr01"}[names[0]]
    for door in ("selected", "mapped", "joined", "associated", "has_gene", "on_autosomes"):
        both = f"contig '{third}' is the same chromosome as .* '{names[0]}' and '{names[1]}'"
        with pytest.raises(ValueError, match=both):
            DOORS[door](ds, third)
    # PLINK would make one of them.
    for write in (gb.to_plink, gb.to_pgen):
        with pytest.raises(ValueError, match=f"'{names[0]}' and '{names[1]}' are one chromosome"):
            write(ds, tmp_path / "d")
    again = FORMATS["vcf_zarr"].through(ds, tmp_path / "d")
    assert again.contig_id.values.tolist() == list(names)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([*map(str, range(1, 27)), "X"], "'23' is chromosome X .* a contig 'X' too"),
        (["1", "23", "chr27"], "'chr27' does not exist"),
        (["9" * 5_000], "does not exist"),
        (["26", "M"], "'26' is chromosome MT .* a contig 'M' too"),
        (["25", "XY"], "'25' is chromosome XY"),
    ],
)
def test_numbers_of_other_species_are_no_codes(names: list[str], reason: str) -> None:
    assert pd.Series([misfit(names)]).str.contains(reason).all()
    assert contig_named(f"chr{names[0]}", names) == names[0]
    assert chromosome("23") == "23"
    assert contig_named("Y", [*names, "24"]) is None
    assert contig_named("24", [*({*names} - {"24"}), "Y"]) is None


def test_codes_of_the_other_side_are_no_codes_either() -> None:
    cattle = [*map(str, range(1, 30)), "X"]
    assert translated(cattle, ["1", "X"]) == {"1": "1", "X": "X"}
    assert translated(["1", "23"], ["1", "X"]) == {"1": "1", "23": "X"}
    assert misfit(cattle, 29) is None
    assert chromosome("30", 29) == "X"
    assert chromosome("23", HUMAN) == "X"
    assert chromosome(" chr ") == "CHR"


def test_whole_floats_without_names_are_numbers(tmp_path: Path) -> None:
    contig = np.repeat([1.0, 10.0], 10)
    ds = named("1").drop_vars("contig_id").assign(variant_contig=("variants", contig))
    assert ds.genobit.sel(variants="chr10").sizes["variants"] == 10
    gb.to_plink(ds, tmp_path / "d.bed")
    assert gb.open_plink(tmp_path / "d.bed").contig_id.values.tolist() == ["1", "10"]


RESULTS: dict[str, Callable[[xr.Dataset], xr.Dataset | xr.DataArray]] = {
    "variant_stats": lambda ds: ds.genobit.variant_stats(),
    "allele_frequency": lambda ds: ds.genobit.allele_frequency(),
    "ld(other=)": lambda ds: ds.genobit.ld(other=ds.genobit.isel(variants=[0, 19])),
    "ld(window=)": lambda ds: ds.genobit.ld(window=3),
    "ld_prune": lambda ds: ds.genobit.ld_prune(window=5),
    "ld_score": lambda ds: ds.genobit.ld_score(5),
    "ld_blocks": lambda ds: ds.genobit.ld_blocks(),
    "ld_clump": lambda ds: ds.genobit.ld_clump(np.full(20, 1e-9)),
    "pca": lambda ds: ds.genobit.pca(1, autosomes=False).loadings,
    "kendall": lambda ds: ds.genobit.kendall(),
    "epistasis": lambda ds: ds.genobit.epistasis(np.arange(16) % 2, top=5, progress=False),
    "alignment": lambda ds: ds.isel(ploidy=[0]).genobit.alignment(),
}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("packed", [False, True])
def test_results_name_their_contigs(result: str, *, packed: bool) -> None:
    ds = named("7", "chrX")
    if packed and result != "alignment":
        ds = ds.genobit.pack().compute()
    found = RESULTS[result](ds)
    names = [str(name) for name in found.coords if "variant_contig" in str(name)]
    assert names
    for name in names:
        assert set(found[name].values.ravel()) <= {"7", "chrX"}
    assert "contig_id" not in found.attrs
    # A result beside its genotypes renames nothing.
    if packed and found.sizes.get("variants") == 20 and isinstance(found, xr.DataArray):
        both = ds.assign(found=found.isel(dict.fromkeys(set(found.dims) - {"variants"}, 0)))
        assert both.genobit.sel(variants="X").sizes["variants"] == 10


GFF = (
    "##gff-version 3\n"
    "NC_000001.11\tRefSeq\tregion\t1\t9000\t.\t+\t.\tID=a;Name=1;chromosome=1;genome=chromosome\n"
    "NC_000001.11\tRefSeq\tgene\t5\t900\t.\t+\t.\tName=ABC1\n"
    "NT_187361.1\tRefSeq\tregion\t1\t900\t.\t+\t.\tID=b;Name=1;chromosome=1;genome=genomic\n"
    "NT_187361.1\tRefSeq\tgene\t5\t900\t.\t+\t.\tName=PIECE\n"
    "NC_012920.1\tRefSeq\tregion\t1\t900\t.\t+\t.\tName=MT;genome=mitochondrion\n"
    "NC_012920.1\tRefSeq\tgene\t5\t900\t.\t+\t.\tName=ND1\n"
)
SECOND = "NC_1.12\tRefSeq\tregion\t1\t9000\t.\t+\t.\tchromosome=1\n"


@pytest.mark.parametrize("name", SAME[0])
def test_accession_numbers_by_the_regions_of_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "genes.gff3"
    path.write_text(GFF)
    found = read_genes(path, [name, "chrM", "2"])
    assert dict(zip(found.name, found.contig, strict=True)) == {
        "ABC1": name, "ND1": "chrM", "PIECE": "NT_187361.1",
    }  # fmt: skip
    # The accession itself goes before the chromosome, and two accessions stay apart.
    assert "NC_000001.11" in set(read_genes(path, [name, "NC_000001.11"]).contig)
    path.write_text(GFF + SECOND)
    assert name not in set(read_genes(path, [name]).contig)


def test_a_figure_says_that_the_genes_are_of_other_contigs(tmp_path: Path) -> None:
    path = tmp_path / "genes.gff3"
    path.write_text(GFF.replace("chromosome=1;", ""))
    options = {
        "lead": None, "genetic_map": None, "blocks": False, "statistic": "r2", "min_maf": 0.0,
        "p": None, "log10": False, "region": "1",
    }  # fmt: skip
    ds, p = named("1"), np.full(20, 0.1)
    view = region_view(ds, p, genes=path, **options)  # type: ignore[arg-type]
    words = "has no gene on contig 1; it has NC_000001.11, NC_012920.1, NT_187361.1"
    assert view.no_genes == f"The file {words}"
    figure = ds.genobit.plot.region(p, region="1", genes=path, min_maf=0)
    figure.save(tmp_path / "figure.svg")
    drawn = re.sub(r"<[^>]*>|\s+", " ", (tmp_path / "figure.svg").read_text())
    assert words in " ".join(drawn.split())
    path.write_text(GFF)
    view = region_view(ds, p, genes=path, **options)  # type: ignore[arg-type]
    assert view.no_genes == ""
    assert view.genes is not None
    assert view.genes.name.tolist() == ["ABC1"]
