"""Contigs that are left out of relationships and components, by their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import genobit as gb
from genobit.data.autosomes import choose
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK, PLINK2, plink, plink2


def named(*names: str, per_contig: int = 2) -> xr.Dataset:
    """A Dataset of contigs with these names, ``per_contig`` variants each."""
    numbers = np.repeat(np.arange(len(names)), per_contig)
    return xr.Dataset(
        {
            "variant_contig": ("variants", numbers),
            "contig_id": ("contigs", np.array(names, object)),
        }
    )


def kept(ds: xr.Dataset, autosomes: object = True) -> list[str]:
    """Names of the contigs that are used."""
    chosen = choose(ds, autosomes)
    names = ds.contig_id.values[ds.variant_contig.values]
    return list(dict.fromkeys(chosen.of(names)))


class TestNames:
    @pytest.mark.parametrize("name", ["X", "x", "chrX", "CHRY", "MT", "M", "chrM", "23", "chr24"])
    def test_left_out(self, name: str) -> None:
        chosen = choose(named("1", name, "chr22"), True)
        assert chosen.kept is not None
        assert chosen.kept.tolist() == [True, True, False, False, True, True]
        assert chosen.attributes() == {"variants_left_out": 2, "contigs_left_out": name}

    @pytest.mark.parametrize(
        "name",
        # What plink 1.9 and plink2 keep, too.
        ["0", "25", "XY", "PAR1", "PAR2", "GL000192.1", "chrUn_KI270302v1", "HLA-A*01:01", "1A"],
    )
    def test_kept(self, name: str) -> None:
        chosen = choose(named("1", name), True)
        assert chosen.kept is None
        assert chosen.attributes() == {"variants_left_out": 0, "contigs_left_out": ""}

    def test_other_species(self) -> None:
        cattle = named(*map(str, range(1, 34)))
        assert kept(cattle, 29) == [*map(str, range(1, 30)), "32"]
        with pytest.raises(ValueError, match=r"contig '27' .* 22 autosomes: .*autosomes=29"):
            choose(cattle, True)
        sheep = named(*map(str, range(1, 27)), "X")
        assert kept(sheep, 26) == [*map(str, range(1, 27))]
        with pytest.raises(ValueError, match=r"'23' is chromosome X .* a contig 'X' too"):
            choose(sheep, True)
        mouse = named(*map(str, range(1, 20)), "20", "21")
        assert kept(mouse, 19) == [*map(str, range(1, 20))]

    def test_names_and_everything(self) -> None:
        ds = named("1", "Z", "W")
        assert kept(ds, ["1", "Z"]) == ["1", "Z"]
        assert kept(named("1", "X"), False) == ["1", "X"]
        assert choose(named("1", "X").drop_vars("contig_id"), True).kept is None
        assert choose(xr.Dataset(), True).kept is None

    @pytest.mark.parametrize("dtype", ["U", "S", object, "T"])
    def test_types_of_text(self, dtype: object) -> None:
        names = np.array(["1", "X"])
        names = names.astype(np.dtypes.StringDType() if dtype == "T" else dtype)
        ds = xr.Dataset(
            {"variant_contig": ("variants", [0, 1, 1]), "contig_id": ("contigs", names)}
        )
        text = xr.Dataset({"variant_contig": ("variants", names[[0, 1, 1]])})
        for each in (ds, text):
            assert choose(each, True).contigs == ("X",)
            assert choose(each, True).left_out == 2

    def test_contigs_without_variants_do_not_matter(self) -> None:
        ds = named("1", "2", "27", "X").isel(variants=slice(0, 4))
        assert choose(ds, True).kept is None

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match=r"all 4 variants \(contigs: X, MT\): .*=False"):
            choose(named("X", "MT"), True)
        with pytest.raises(
            ValueError, match="names '9', which is not a contig of the Dataset: 1, X"
        ):
            choose(named("1", "X"), ["1", "9"])
        with pytest.raises(ValueError, match="needs contigs, which the Dataset lacks"):
            choose(xr.Dataset(), ["1"])
        with pytest.raises(ValueError, match="autosomes=0"):
            choose(named("1"), 0)
        for wrong in ("X", 2.5, None):
            with pytest.raises(TypeError, match="autosomes="):
                choose(named("1"), wrong)


def with_x(**options: object) -> xr.Dataset:
    """A cohort of 211 variants on chromosomes 1, X and 2: X is neither first nor last."""
    ds = cohort(random_calls(3, 211, 9, missing=0.05), contigs=3, **options)
    return ds.assign(contig_id=("contigs", np.array(["chr1", "chrX", "chr2"], object)))


FORMS = {
    "calls": lambda ds: ds,
    "lazy calls": lambda ds: ds.chunk(variants=50),
    "by variants": lambda ds: ds.genobit.pack().compute(),
    "by samples": lambda ds: ds.genobit.pack(rows="samples"),
}


class TestMethods:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("last", [False, True])
    def test_everything_equals_that_of_the_autosomes(self, form: str, *, last: bool) -> None:
        ds = with_x()
        if last:
            ds = ds.isel(variants=np.argsort(ds.variant_contig.values == 1, kind="stable"))
        p = np.linspace(0.1, 0.9, 211)
        autosomal = ds.variant_contig.values != 1
        some = ds.isel(variants=autosomal)
        every = FORMS[form](ds)
        for method in ("vanraden1", "gcta", "king", "ibs", "endelman_jannink"):
            given = {} if method in ("king", "ibs") else {"allele_frequency": p}
            part = dict.fromkeys(given, p[autosomal])
            found = every.genobit.grm(method, **given)
            xr.testing.assert_allclose(
                found.drop_attrs(), some.genobit.grm(method, **part).drop_attrs(), rtol=1e-5
            )
            assert found.attrs["variants"] == autosomal.sum()
            assert found.attrs["variants_left_out"] == 211 - autosomal.sum()
            assert found.attrs["contigs_left_out"] == "chrX"
        loco = every.genobit.grm("vanraden1", loco=True)
        assert loco.contig_left_out.values.tolist() == ["chr1", "chr2"]
        np.testing.assert_allclose(loco, some.genobit.grm("vanraden1", loco=True), rtol=1e-5)
        found = every.genobit.grm_pairs("king", threshold=-9).to_dataframe()
        expected = some.genobit.grm_pairs("king", threshold=-9).to_dataframe()
        pd.testing.assert_frame_equal(found, expected)
        keep = every.genobit.unrelated(0.1)
        np.testing.assert_array_equal(keep, some.genobit.unrelated(0.1))
        assert keep.attrs["variants_left_out"] == 211 - autosomal.sum()

    @pytest.mark.parametrize("form", ["calls", "by samples"])
    def test_components_and_projection(self, form: str) -> None:
        ds = with_x()
        autosomal = ds.variant_contig.values != 1
        some = ds.isel(variants=autosomal).genobit.pca(2)
        pcs = FORMS[form](ds).genobit.pca(2)
        np.testing.assert_allclose(pcs.scores, some.scores, rtol=1e-4, atol=1e-5)
        assert pcs.sizes["variants"] == 211
        np.testing.assert_allclose(pcs.loadings[autosomal], some.loadings, atol=1e-5)
        assert (pcs.loadings[~autosomal] == 0).all()
        assert np.isnan(pcs.allele_frequency[~autosomal]).all()
        assert pcs.attrs["variants_left_out"] == (~autosomal).sum()
        # Projection leaves out the same variants.
        np.testing.assert_allclose(ds.genobit.project(pcs), some.scores, rtol=1e-4, atol=1e-5)

    def test_option(self) -> None:
        ds = with_x()
        whole = ds.drop_vars(["variant_contig", "contig_id"])
        everything = ds.genobit.grm("king", autosomes=False)
        np.testing.assert_array_equal(everything, whole.genobit.grm("king"))
        assert everything.attrs["variants_left_out"] == 0
        first = ds.genobit.grm("king", autosomes=["chr1"])
        one = ds.isel(variants=ds.variant_contig.values == 0)
        np.testing.assert_array_equal(first, one.genobit.grm("king"))
        assert first.attrs["contigs_left_out"] == "chrX, chr2"

    def test_nothing_is_computed(self) -> None:
        ds = with_x(chunks=(64, 9))
        with raise_if_dask_computes():
            ds.genobit.grm("king")
            ds.genobit.pack(rows="samples").genobit.grm("gcta")
            ds.genobit.grm_pairs("king", threshold=0.1)


class TestAgainstPlink:
    """HapMap with the 365 variants of its X, which plink leaves out by itself."""

    @pytest.fixture
    def hapmap(self, shared_data: Path) -> xr.Dataset:
        return gb.open_plink(shared_data / "hapmap279/hapmap279.bed")

    def places(self, ds: xr.Dataset, ids: pd.Series) -> np.ndarray:
        return pd.Index(ds.sample_id.values.astype(str)).get_indexer(ids.astype(str))

    @PLINK2
    def test_king_table(self, hapmap: xr.Dataset, shared_data: Path, tmp_path: Path) -> None:
        fileset = shared_data / "hapmap279/hapmap279"
        plink2(tmp_path / "p", "--bfile", fileset, "--make-king-table")
        table = pd.read_csv(tmp_path / "p.kin0", sep="\t")
        found = hapmap.genobit.grm("king")
        i, j = (self.places(hapmap, table[name]) for name in ("IID1", "IID2"))
        # To the last printed digit of six.
        np.testing.assert_allclose(found.values[i, j], table.KINSHIP, rtol=5.1e-6, atol=5.1e-7)
        np.testing.assert_array_equal(found.variants_compared.values[i, j], table.NSNP)

    @PLINK
    def test_identity_by_state(self, hapmap: xr.Dataset, shared_data: Path, tmp_path: Path) -> None:
        plink(shared_data / "hapmap279/hapmap279", tmp_path / "p", "--genome", "full")
        table = pd.read_csv(tmp_path / "p.genome", sep=r"\s+")
        found = hapmap.genobit.grm("ibs").values
        i, j = (self.places(hapmap, table[name]) for name in ("IID1", "IID2"))
        np.testing.assert_allclose(found[i, j], table.DST, atol=5.1e-7)

    def test_fathers_and_sons_are_parents_and_children(self, hapmap: xr.Dataset) -> None:
        place = {name: k for k, name in enumerate(hapmap.sample_id.values.astype(str))}
        sons = [
            (place[father], k)
            for k, father in enumerate(hapmap.sample_father_id.values.astype(str))
            if father in place and hapmap.sample_sex.values[k] == 1
        ]
        pairs = hapmap.genobit.grm_pairs("king", threshold=0.177).to_dataframe()
        pairs = pairs.set_index(["sample_0", "sample_1"])
        ibs0 = np.array([pairs.ibs0[min(pair), max(pair)] for pair in sons])
        assert len(ibs0) == 37
        assert ibs0.max() < 0.002


def test_roman_numbers_have_a_tenth_chromosome() -> None:
    yeast = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI"]
    worm = ["I", "II", "III", "IV", "V", "X"]
    for names, left_out in ((yeast, ()), (worm, ("X",))):
        ds = cohort(random_calls(1, len(names), 4), contigs=len(names))
        ds = ds.assign(contig_id=("contigs", np.array(names, object)))
        assert choose(ds, autosomes=True).contigs == left_out
        # Haploid genotypes have one copy of all.
        assert choose(ds.isel(ploidy=[0]), autosomes=True).kept is None
