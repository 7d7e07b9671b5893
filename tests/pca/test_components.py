"""Principal components against numpy, plink 1.9 and plink2; both algorithms; projection."""

from __future__ import annotations

from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import genobit as gb
from genobit.pca import components as analysis
from genobit.pca import krylov
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.laziness import raise_if_dask_computes
from tests.helpers.programs import PLINK2, plink2
from tests.helpers.reference import dosages
from tests.pca.twins import SINGLE, oracle, standardised, structured

FILESETS = [
    "hapmap279/hapmap279",
    "kg1_chr22/kg1_chr22_maf01",
    "lct_1kg/lct_1kg",
    "mice_hs/mice_hs",
    "bigsnpr_example/example-missing-sorted",
]


def same(found: xr.Dataset, expected: tuple[np.ndarray, ...], tolerance: float = SINGLE) -> None:
    scores, loadings, variance, share = expected
    np.testing.assert_allclose(found.explained_variance, variance, rtol=tolerance)
    np.testing.assert_allclose(found.explained_variance_ratio, share, rtol=tolerance)
    signs = np.sign((found.scores.values * scores).sum(axis=0))
    np.testing.assert_allclose(found.scores, scores * signs, atol=tolerance * abs(scores).max())
    np.testing.assert_allclose(found.loadings, loadings * signs, atol=5 * tolerance)


def first_120(shared_data: Path, fileset: str) -> tuple[xr.Dataset, Path]:
    """The samples and variants of the references: autosomes, minor allele frequency 0.01."""
    ref = (shared_data / fileset).parent / "ref"
    ds = gb.open_plink(shared_data / f"{fileset}.bed").isel(samples=slice(120))
    contig = ds.contig_id.values[ds.variant_contig.values]
    ds = ds.isel(variants=np.isin(contig, [str(k) for k in range(1, 23)]))
    frequency = ds.genobit.allele_frequency().values
    return ds.isel(variants=np.minimum(frequency, 1 - frequency) >= 0.01), ref


class TestAgainstOthers:
    @pytest.mark.parametrize("fileset", FILESETS)
    def test_plink(self, shared_data: Path, fileset: str) -> None:
        ds, ref = first_120(shared_data, fileset)
        values = np.loadtxt(ref / "pca_p1_first120.eigenval")
        vectors = pd.read_csv(ref / "pca_p1_first120.eigenvec", sep=" ")
        assert vectors.IID.astype(str).tolist() == [
            name.removeprefix(f"{family}_")
            for family, name in zip(
                ds.sample_family_id.values, ds.sample_id.values.astype(str), strict=True
            )
        ]
        pcs = ds.genobit.pca(10, missing="pairwise")
        np.testing.assert_allclose(pcs.explained_variance, values, rtol=5.1e-6)
        found = (pcs.scores / np.sqrt(pcs.explained_variance)).values
        expected = vectors.iloc[:, 2:].to_numpy()
        signs = np.sign((found * expected).sum(axis=0))
        # Six digits of elements around 0.1; close eigenvalues let float32 turn their vectors.
        gap = np.abs(np.diff(values)).min() / values[0]
        np.testing.assert_allclose(found * signs, expected, atol=max(2e-6, 5e-9 / gap))

    def test_known_eigenvalues_of_hapmap(self, shared_data: Path) -> None:
        ds, _ = first_120(shared_data, FILESETS[0])
        found = ds.genobit.pca(3, missing="pairwise").explained_variance.values
        assert found.round(3).tolist() == [16.255, 8.177, 1.935]

    @pytest.mark.slow
    @PLINK2
    def test_plink2(self, shared_data: Path, tmp_path: Path) -> None:
        fileset = shared_data / "kg1_chr22/kg1_chr22_maf01"
        out = tmp_path / "p"
        plink2(out, "--bfile", fileset, "--pca", 4)
        expected = pd.read_csv(f"{out}.eigenvec", sep="\t").iloc[:, 2:].to_numpy()
        values = np.loadtxt(f"{out}.eigenval")
        for method in ("exact", "randomized"):
            pcs = gb.open_plink(fileset).genobit.pca(4, method=method)
            np.testing.assert_allclose(pcs.explained_variance, values, rtol=5.1e-6)
            found = (pcs.scores / np.sqrt(pcs.explained_variance)).values
            signs = np.sign((found * expected).sum(axis=0))
            np.testing.assert_allclose(found * signs, expected, atol=5e-6)

    @pytest.mark.parametrize("method", ["exact", "randomized"])
    def test_populations_stand_apart(self, shared_data: Path, method: str) -> None:
        ds = gb.open_plink(shared_data / "hapmap279/hapmap279.bed")
        table = pd.read_csv(shared_data / "hapmap279/samples.tsv", sep="\t", index_col="IID")
        population = table.loc[ds.sample_id.values, "pop"].replace({"JPT": "ASN", "HCB": "ASN"})
        scores = ds.genobit.pca(2, method=method).scores.values
        groups = {name: scores[(population == name).to_numpy()] for name in ("YRI", "CEU", "ASN")}
        centres = {name: group.mean(axis=0) for name, group in groups.items()}
        for name, group in groups.items():
            apart = {n: np.linalg.norm(group - centre, axis=1) for n, centre in centres.items()}
            others = np.minimum(*(distance for n, distance in apart.items() if n != name))
            assert (3 * apart[name] < others).all()


class TestAgainstNumpy:
    @pytest.mark.parametrize("method", ["exact", "randomized"])
    @pytest.mark.parametrize("missing", [0.0, 0.1])
    @pytest.mark.parametrize(("variants", "samples"), [(300, 40), (45, 130), (1000, 65)])
    def test_svd(self, method: str, missing: float, variants: int, samples: int) -> None:
        calls = structured(variants, variants, samples, missing=missing)
        found = cohort(calls).genobit.pca(3, method=method)
        same(found, oracle(*standardised(dosages(calls)), 3))
        np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=0), 1)
        np.testing.assert_allclose((found.scores**2).sum("samples"), found.explained_variance)

    @given(
        st.integers(4, 40),
        st.integers(3, 30),
        st.floats(0, 0.5),
        st.sampled_from(["exact", "randomized"]),
        st.integers(0, 10),
    )
    @settings(max_examples=30)
    def test_products_of_any(
        self, variants: int, samples: int, missing: float, method: str, seed: int
    ) -> None:
        calls = random_calls(seed, variants, samples, missing=missing)
        z, vary = standardised(dosages(calls))
        rank = np.linalg.matrix_rank(z, tol=0.02)
        if not rank:
            return
        k = min(int(rank), 4)
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            found = cohort(calls).genobit.pca(k, method=method)
        m = vary.sum()
        values = np.linalg.eigvalsh(z @ z.T / m)[::-1]
        size = values[0]
        np.testing.assert_allclose(found.explained_variance, values[:k], atol=5e-6 * size)
        # Close eigenvalues leave the vectors open, not that they are eigenvectors.
        scores = found.scores.values
        image = z @ (z.T @ scores) / m
        np.testing.assert_allclose(
            image, scores * found.explained_variance.values, atol=2e-5 * size**1.5
        )
        np.testing.assert_allclose(
            z @ found.loadings.values / np.sqrt(m), scores, atol=2e-4 * np.sqrt(size)
        )

    def test_pairwise_is_of_the_calls_in_both(self) -> None:
        calls = structured(3, 400, 50, missing=0.2)
        (z, vary), called = standardised(dosages(calls)), ~np.isnan(dosages(calls).T)
        called = called[:, vary].astype(float)
        values, vectors = np.linalg.eigh(z @ z.T / (called @ called.T))
        found = cohort(calls).genobit.pca(3, missing="pairwise")
        np.testing.assert_allclose(found.explained_variance, values[:-4:-1], rtol=1e-5)
        np.testing.assert_allclose(
            abs(found.scores), abs(vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])), atol=1e-4
        )
        assert "pairwise" in found.attrs["missing"]

    def test_given_frequencies(self) -> None:
        calls = structured(4, 200, 30, missing=0.05)
        p = np.random.default_rng(1).uniform(0, 1, 200)
        p[[3, 5]] = 0, 1
        found = cohort(calls).genobit.pca(2, allele_frequency=p)
        same(found, oracle(*standardised(dosages(calls), p), 2))
        np.testing.assert_array_equal(found.allele_frequency, p)
        assert (found.attrs["allele_frequency"], found.attrs["variants"]) == ("given", 198)


class TestTheSameResult:
    @pytest.mark.parametrize("method", ["exact", "randomized"])
    def test_for_every_chunking_and_packing(self, method: str) -> None:
        calls = structured(5, 700, 90, missing=0.03)
        expected = cohort(calls).genobit.pca(3, method=method)
        chunked = cohort(calls, chunks=(130, 40))
        by_rows = {rows: cohort(calls).genobit.pack(rows=rows) for rows in ("variants", "samples")}
        with gb.set_options(chunk_rows=64):
            results = [ds.genobit.pca(3, method=method) for ds in (chunked, *by_rows.values())]
        if method == "randomized":
            with gb.set_options(eager_limit=1):
                # Planes that do not fit are read again in each pass.
                results.append(chunked.genobit.pca(3, method=method))
        for found in results:
            for name in ("scores", "loadings", "explained_variance", "allele_frequency"):
                np.testing.assert_allclose(found[name], expected[name], atol=2e-6)

    def test_for_haplotypes(self) -> None:
        calls = structured(6, 300, 40)
        phased = cohort(calls, phased=True).genobit.pack(phased=True)
        found, expected = phased.genobit.pca(2), cohort(calls).genobit.pca(2)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)

    def test_for_every_seed(self) -> None:
        ds = cohort(structured(7, 500, 120, missing=0.02))
        first, second = (ds.genobit.pca(3, method="randomized", seed=k) for k in (0, 1))
        np.testing.assert_allclose(first.scores, second.scores, atol=2e-5)
        again = ds.genobit.pca(3, method="randomized", seed=0)
        np.testing.assert_array_equal(first.scores, again.scores)

    def test_whichever_allele_is_counted(self) -> None:
        calls = structured(8, 300, 40, missing=0.05)
        other = np.where(calls < 0, calls, 1 - calls)
        found, expected = (cohort(c).genobit.pca(2) for c in (other, calls))
        np.testing.assert_allclose(abs(found.scores), abs(expected.scores), atol=2e-6)
        np.testing.assert_allclose(found.explained_variance, expected.explained_variance, rtol=1e-6)

    def test_many_leaves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = structured(9, 900, 50)
        expected = cohort(calls).genobit.pca(2, method="randomized")
        monkeypatch.setattr("genobit.pca.schedule.LEAF_CALLS", 50 * 64)
        monkeypatch.setattr("genobit.engine.schedule.by_samples.CHUNK_CALLS", 50 * 64)
        with dask.config.set(scheduler="threads"):
            found = cohort(calls).genobit.pca(2, method="randomized")
        np.testing.assert_allclose(found.scores, expected.scores, atol=2e-6)


class TestLabels:
    def test_what_comes_back(self) -> None:
        ds = cohort(structured(10, 120, 20), contigs=2)
        ds = ds.assign_coords(sample_population=("samples", np.arange(20) % 3))
        pcs = ds.genobit.pca(4)
        assert {name: pcs[name].dims for name in pcs.data_vars} == {
            "scores": ("samples", "components"),
            "loadings": ("variants", "components"),
            "explained_variance": ("components",),
            "explained_variance_ratio": ("components",),
            "allele_frequency": ("variants",),
        }
        assert pcs.components.values.tolist() == [1, 2, 3, 4]
        assert pcs.scores.sel(components=1).dims == ("samples",)
        for name in ("sample_id", "sample_population", "variant_id", "variant_allele", "contig_id"):
            np.testing.assert_array_equal(pcs[name], ds[name])
        assert "sample_bit" not in pcs.coords
        assert pcs.attrs["method"] == "exact"

    def test_it_goes_through_zarr(self, tmp_path: Path) -> None:
        ds = cohort(structured(11, 120, 20))
        pcs = ds.genobit.pca(2)
        pcs.to_zarr(tmp_path / "pcs.zarr", consolidated=False)
        back = xr.open_zarr(tmp_path / "pcs.zarr", consolidated=False)
        np.testing.assert_allclose(ds.genobit.project(back), pcs.scores, atol=1e-5)

    def test_auto_goes_by_the_number_of_samples(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ds = cohort(structured(12, 100, 30))
        monkeypatch.setattr(analysis, "EXACT_SAMPLES", 29)
        assert ds.genobit.pca(1).attrs["method"] == "randomized"
        assert ds.genobit.pca(1, missing="pairwise").attrs["method"] == "exact"
        monkeypatch.setattr(analysis, "EXACT_SAMPLES", 30)
        assert ds.genobit.pca(1).attrs["method"] == "exact"

    @pytest.mark.parametrize("method", ["exact", "randomized"])
    def test_as_many_as_there_are(self, method: str) -> None:
        for variants, samples, expected in ((300, 30, 10), (300, 6, 5), (4, 30, 4), (50, 2, 1)):
            ds = cohort(structured(22, variants, samples))
            assert ds.genobit.pca(method=method).sizes["components"] == expected
        # Two kinds of samples have one component, which no count of samples says.
        calls = np.repeat(np.array([[[0, 0], [1, 1]]], np.int8), 30, axis=0)[:, [0, 1] * 10]
        pcs = cohort(calls).genobit.pca(method=method)
        assert pcs.components.values.tolist() == [1]
        assert pcs.loadings.shape == (30, 1)

    @pytest.mark.parametrize("sizes", [(15, 10, 5), (16, 16), (3, 20)])
    def test_nearly_equal_data_have_the_same_signs(self, sizes: tuple[int, ...]) -> None:
        rng = np.random.default_rng(24)
        group = np.repeat(np.arange(len(sizes)), sizes)
        p = np.clip(0.5 + rng.normal(0, 0.2, (400, len(sizes))), 0.02, 0.98)[:, group]
        calls = (rng.uniform(size=(400, group.size, 2)) < p[:, :, None]).astype(np.int8)
        k = len(sizes) - 1
        whole = cohort(calls).genobit.pca(k).scores.values
        for out in range(0, 400, 40):
            some = np.delete(calls, slice(out, out + 40), axis=0)
            scores = cohort(some).genobit.pca(k).scores.values
            assert ((whole * scores).sum(axis=0) > 0).all()
        # Which allele is counted does not matter at all.
        calls[::2] = 1 - calls[::2]
        np.testing.assert_allclose(cohort(calls).genobit.pca(k).scores, whole, atol=2e-5)

    @pytest.mark.parametrize("method", ["exact", "randomized"])
    def test_the_longer_tail_is_positive(self, method: str) -> None:
        calls = np.repeat(np.array([[[1, 1], [0, 0]]], np.int8), 30, axis=0)
        for members, positive in (([0] * 7 + [1] * 3, 1), ([0] * 3 + [1] * 7, 0), ([1, 0] * 5, 1)):
            pcs = cohort(calls[:, members]).genobit.pca(method=method)
            expected = np.where(np.array(members) == positive, 1, -1)
            assert (np.sign(pcs.scores.values[:, 0]) == expected).all()

    def test_equal_variants_of_opposite_alleles_leave_the_sign(self) -> None:
        calls = structured(13, 60, 20)
        calls = np.concatenate([calls, 1 - calls])
        packed = cohort(calls).genobit.pack()
        first, second = packed.genobit.pca(1), packed.chunk(variants=7).genobit.pca(1)
        np.testing.assert_allclose(first.scores, second.scores, atol=1e-6)


class TestProjection:
    @pytest.mark.parametrize("method", ["exact", "randomized"])
    @pytest.mark.parametrize("missing", [0.0, 0.1])
    def test_the_same_samples_get_their_scores(self, method: str, missing: float) -> None:
        calls = structured(14, 500, 60, missing=missing)
        ds = cohort(calls, chunks=(100, 60))
        pcs = ds.genobit.pca(3, method=method)
        with raise_if_dask_computes():
            projected = ds.genobit.project(pcs)
        assert projected.dims == ("samples", "components")
        np.testing.assert_array_equal(projected.sample_id, ds.sample_id)
        np.testing.assert_allclose(projected, pcs.scores, atol=1e-5)
        some = ds.isel(samples=[5, 2]).genobit.pack().genobit.project(pcs)
        np.testing.assert_allclose(some, pcs.scores[[5, 2]], atol=1e-5)

    def test_others_fall_among_their_own(self, shared_data: Path) -> None:
        ds = gb.open_plink(shared_data / "hapmap279/hapmap279.bed")
        table = pd.read_csv(shared_data / "hapmap279/samples.tsv", sep="\t", index_col="IID")
        population = table.loc[ds.sample_id.values, "pop"].to_numpy()
        kept = np.arange(279) % 2 == 0
        pcs = ds.isel(samples=kept).genobit.pca(2)
        projected = ds.isel(samples=~kept).genobit.project(pcs).values
        centres = {
            name: pcs.scores.values[population[kept] == name].mean(axis=0)
            for name in ("YRI", "CEU", "HCB")
        }
        for name, own in centres.items():
            distance = np.linalg.norm(projected[population[~kept] == name] - own, axis=1)
            for other in centres.values():
                if other is not own:
                    assert (distance < np.linalg.norm(other - own) / 4).all()

    def test_flipped_alleles(self) -> None:
        calls = structured(15, 200, 30, missing=0.05)
        ds = cohort(calls)
        pcs = ds.genobit.pca(2)
        turned = np.arange(200) % 3 == 0
        other = calls.copy()
        other[turned] = np.where(calls[turned] < 0, calls[turned], 1 - calls[turned])
        alleles = ds.variant_allele.values.copy()
        alleles[turned] = alleles[turned][:, ::-1]
        # An allele that no call shows is written as 0.
        alleles[1] = "A", "0"
        alleles[3] = "0", "A"
        alleles[5] = "T", "G"
        alleles[6] = "G", "T"
        flipped = cohort(other).assign(variant_allele=(("variants", "alleles"), alleles))
        projected = flipped.genobit.project(pcs)
        np.testing.assert_allclose(projected, pcs.scores, atol=1e-5)
        assert projected.attrs["variants_exchanged"] == turned.sum()
        assert projected.attrs["variants_flipped"] == 2

    def test_other_variants(self) -> None:
        ds = cohort(structured(16, 90, 20), contigs=2)
        pcs = ds.genobit.pca(2)
        with pytest.raises(ValueError, match="90 variants, these genotypes have 89: select"):
            ds.isel(variants=slice(89)).genobit.project(pcs)
        order = np.arange(90)
        order[[4, 5]] = 5, 4
        with pytest.raises(ValueError, match=r"variant_position\[4\] is \d+ here and \d+ in"):
            ds.isel(variants=order).genobit.project(pcs)
        renamed = ds.assign(contig_id=("contigs", np.array(["chr1", "chr3"], object)))
        with pytest.raises(ValueError, match=r"variant_contig\[45\] is chr3 here and chr2 in"):
            renamed.genobit.project(pcs)
        # Contigs are compared by name, and by number where neither side names them.
        reordered = ds.assign(
            contig_id=("contigs", np.array(["chr2", "chr1"], object)),
            variant_contig=1 - ds.variant_contig,
        )
        unnamed = ds.drop_vars("contig_id")
        anonymous = unnamed.genobit.pca(2)
        for here, there in ((reordered, pcs), (unnamed, pcs), (ds, anonymous)):
            np.testing.assert_allclose(here.genobit.project(there), pcs.scores, atol=1e-5)
        with pytest.raises(ValueError, match=r"variant_contig\[0\] is 1 here and 0 in"):
            reordered.drop_vars("contig_id").genobit.project(anonymous)
        names = ds.variant_id.values.copy()
        names[7] = "rsX"
        with pytest.raises(ValueError, match=r"variant_id\[7\] is rsX here and rs7"):
            ds.assign(variant_id=("variants", names)).genobit.project(pcs)
        alleles = ds.variant_allele.values.copy()
        alleles[8] = "A", "G"
        with pytest.raises(ValueError, match=r"variant_allele\[8\] is A/G here and A/C"):
            ds.assign(variant_allele=(("variants", "alleles"), alleles)).genobit.project(pcs)

    def test_no_components(self) -> None:
        ds = cohort(structured(17, 90, 20))
        with pytest.raises(TypeError, match="project takes the Dataset"):
            ds.genobit.project(np.eye(3))
        with pytest.raises(KeyError, match="loadings"):
            ds.genobit.project(ds)


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"components": 0}, "components=0"),
            ({"components": 1.5}, r"components=1\.5"),
            ({"components": True}, "components=True"),
            ({"components": "ten"}, "components='ten' is not a positive whole number"),
            ({"components": [3]}, r"components=\[3\] is not"),
            ({"components": np.float64(3)}, "is not a positive whole number"),
            ({"method": "fast"}, "method='fast'.*'randomized'"),
            ({"missing": "drop"}, "missing='drop'.*'pairwise'"),
            ({"missing": "pairwise", "method": "randomized"}, "never forms it"),
            ({"allele_frequency": [0.5]}, r"shape \(1,\), expected \(80,\)"),
            ({"allele_frequency": np.where(np.arange(80) == 9, 1.2, 0.5)}, r"1\.2 at variants=9"),
            ({"allele_frequency": np.where(np.arange(80) == 7, np.nan, 0.5)}, "nan at variants=7"),
            ({"components": 20}, r"at most 19 components \(one less than samples"),
            ({"components": 21, "allele_frequency": np.full(80, 0.4)}, "at most 20 components$"),
        ],
    )
    def test_arguments(self, arguments: dict, message: str) -> None:
        ds = cohort(structured(18, 80, 20))
        with pytest.raises(ValueError, match=message):
            ds.genobit.pca(**arguments)

    @pytest.mark.parametrize("method", ["exact", "randomized"])
    def test_more_components_than_there_are(self, method: str) -> None:
        # Two kinds of samples have one component.
        calls = np.repeat(np.array([[[0, 0], [1, 1]]], np.int8), 30, axis=0)[:, [0, 1] * 10]
        assert cohort(calls).genobit.pca(1, method=method).scores.shape == (20, 1)
        with pytest.raises(ValueError, match=r"component 2 has the variance.*components=1"):
            cohort(calls).genobit.pca(2, method=method)

    @pytest.mark.parametrize("components", [None, 1])
    def test_nothing_varies(self, components: int | None) -> None:
        calls = np.zeros((5, 6, 2), np.int8)
        with pytest.raises(ValueError, match=r"0 variants with both alleles: .* at most 0"):
            cohort(calls).genobit.pca(components)

    def test_pairwise_without_a_common_call(self) -> None:
        calls = structured(20, 80, 9, missing=0.1)
        calls[:, 4] = -1
        with pytest.raises(ValueError, match=r"samples=4 has no call .*missing='mean'.*\.isel"):
            cohort(calls).genobit.pca(2, missing="pairwise")
        assert np.isfinite(cohort(calls).genobit.pca(2).scores).all()
        calls = structured(20, 80, 9)
        calls[:40, 3] = calls[40:, 7] = -1
        message = "samples=3 and samples=7 have no call in common.*leave samples=7 out"
        with pytest.raises(ValueError, match=message):
            cohort(calls).genobit.pca(2, missing="pairwise")
        some = cohort(calls).genobit.isel(samples=np.arange(7))
        assert np.isfinite(some.genobit.pca(2, missing="pairwise").scores).all()

    def test_memory_of_the_exact_algorithm(self) -> None:
        # Planes of few samples are larger than their matrix: they are read again, it is formed.
        ds = cohort(structured(21, 3000, 10))
        expected = ds.genobit.pca(2)
        with gb.set_options(eager_limit=1600):
            found = ds.genobit.pca(2)
        assert found.attrs["method"] == "exact"
        np.testing.assert_allclose(found.scores, expected.scores, atol=2e-6)
        with gb.set_options(eager_limit=1599):
            assert ds.genobit.pca(2).attrs["method"] == "randomized"
            with pytest.raises(MemoryError, match=r"1\.56 kiB .*1\.56 kiB.*method='randomized'"):
                ds.genobit.pca(2, method="exact")
            with pytest.raises(MemoryError, match="'randomized' with missing='mean'"):
                ds.genobit.pca(2, missing="pairwise")

    def test_what_does_not_settle_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ds = cohort(random_calls(19, 300, 100))
        monkeypatch.setattr(krylov, "PASSES", 2)
        with pytest.warns(RuntimeWarning, match="have not settled after 2 passes"):
            ds.genobit.pca(5, method="randomized")


@pytest.mark.parametrize("missing", ["mean", "pairwise"])
@pytest.mark.usefixtures("unit_by_twin")
def test_exact__is_the_same_bits_in_any_chunks_on_a_matrix_unit(missing: str) -> None:
    calls = structured(3, 200, 40, missing=0.05)
    found = [
        cohort(calls, chunks=chunks).genobit.pca(3, method="exact", missing=missing)
        for chunks in (None, (33, 7), (64, 40))
    ]
    for components in found[1:]:
        np.testing.assert_array_equal(components.scores, found[0].scores)
    z, vary = standardised(dosages(calls))
    if missing == "mean":
        expected = oracle(z, vary, 3)
        same(found[0], expected)
        variance = expected[2]
    else:
        called = ~np.isnan(dosages(calls)[vary].T)
        variance = np.linalg.eigvalsh(z @ z.T / (called @ called.T.astype(float)))[:-4:-1]
    np.testing.assert_allclose(found[0].explained_variance, variance, rtol=1e-11)
