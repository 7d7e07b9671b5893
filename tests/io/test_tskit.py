"""Tree sequences against tskit's own genotypes and VCF."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tskit

import genobit as gb
from tests.io.tree_sequences import simulated

TS = simulated()


def with_gaps(ts: tskit.TreeSequence) -> tskit.TreeSequence:
    """Without ancestors of one sample, and of all at the end: isolated nodes are missing."""
    tables = ts.dump_tables()
    tables.edges.replace_with(tables.edges[tables.edges.child != 5])
    tables.delete_intervals([[ts.sequence_length * 0.8, ts.sequence_length]])
    tables.sort()
    site = tables.sites.add_row(position=ts.sequence_length - 1, ancestral_state="A")
    tables.mutations.add_row(site=site, node=2, derived_state="G")
    tables.build_index()
    tables.compute_mutation_parents()
    return tables.tree_sequence()


GAPS = with_gaps(TS)


def edited(change: Any) -> tskit.TreeSequence:
    tables = TS.dump_tables()
    change(tables)
    return tables.tree_sequence()


# Against tskit


@pytest.mark.parametrize("ts", [TS, GAPS, simulated(5, ploidy=1), simulated(4, ploidy=3)])
@pytest.mark.parametrize("missing", [True, False])
def test_genotypes_and_alleles_are_those_of_tskit(ts: tskit.TreeSequence, missing: bool) -> None:
    ds = gb.open_tskit(ts, isolated_as_missing=missing, chunks=50)
    expected = ts.genotype_matrix(isolated_as_missing=missing)
    shape = (ts.num_sites, ts.num_individuals, -1)
    assert ts.num_sites > 100
    np.testing.assert_array_equal(ds.call_genotype, expected.reshape(shape))
    assert ds.call_genotype.dtype == np.int8
    assert ds.call_genotype_phased.dtype == bool
    assert ds.call_genotype_phased.values.all()
    for variant, alleles in zip(ts.variants(), ds.variant_allele.values.tolist(), strict=True):
        known = [state for state in variant.alleles if state is not None]
        assert alleles == known + [""] * (len(alleles) - len(known))
    np.testing.assert_array_equal(ds.variant_position, ts.sites_position)
    assert ds.variant_position.dtype == np.int64


def test_the_simulation_has_what_is_tested() -> None:
    counts = [len(set(variant.alleles)) for variant in TS.variants()]
    assert max(counts) > 2
    assert max(len(site.mutations) for site in TS.sites()) > 2
    assert (GAPS.genotype_matrix() == -1).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("ts", [TS, GAPS], ids=["whole", "gaps"])
def test_the_vcf_of_tskit_is_the_same(tmp_path: Path, ts: tskit.TreeSequence) -> None:
    with (tmp_path / "a.vcf").open("w") as file:
        ts.write_vcf(file, contig_id="chr7", allow_position_zero=True)
    vcf = gb.open_vcf(tmp_path / "a.vcf", cache_dir=tmp_path)
    ds = gb.open_tskit(ts, contig="chr7")
    for name in ("call_genotype", "variant_position", "variant_id", "contig_id", "sample_id"):
        np.testing.assert_array_equal(ds[name].values, vcf[name].values, strict=True)
    most = vcf.sizes["alleles"]
    np.testing.assert_array_equal(ds.variant_allele[:, :most], vcf.variant_allele)


def test_haplotypes_pack(tmp_path: Path) -> None:
    ds = gb.open_tskit(TS)
    bits = ds.genobit.pack(phased=True, multiallelic="drop")
    g = TS.genotype_matrix()
    biallelic = [len(variant.alleles) == 2 for variant in TS.variants()]
    frequency = bits.genobit.allele_frequency().values
    np.testing.assert_allclose(frequency, (g[biallelic] == 1).mean(axis=1), rtol=1e-6)
    bed = gb.to_plink(ds.genobit.pack(multiallelic="split"), tmp_path / "a")
    assert gb.open_plink(bed).sizes["variants"] > TS.num_sites


# Samples


def test_samples_and_populations() -> None:
    ds = gb.open_tskit(TS)
    assert ds.sample_id.values.tolist() == [f"tsk_{k}" for k in range(12)]
    assert ds.sample_population.values.tolist() == ["pop_0"] * 6 + ["pop_1"] * 6

    def mixed(tables: tskit.TableCollection) -> None:
        population = tables.nodes.population
        population[:6] = [0, 1, -1, -1, -1, 1]
        tables.nodes.population = population

    found = gb.open_tskit(edited(mixed)).sample_population.values.tolist()
    assert found[:4] == ["pop_0/pop_1", "", "/pop_1", "pop_0"]


def test_populations_without_names_have_numbers() -> None:
    def unnamed(tables: tskit.TableCollection) -> None:
        tables.populations.clear()
        tables.populations.metadata_schema = tskit.MetadataSchema(None)
        tables.populations.add_row(b"\xff")
        tables.populations.add_row()

    ds = gb.open_tskit(edited(unnamed))
    assert ds.sample_population.values.tolist() == ["0"] * 6 + ["1"] * 6
    none = edited(lambda tables: setattr(tables.nodes, "population", [-1] * len(tables.nodes)))
    assert "sample_population" not in gb.open_tskit(none)


def test_individuals_without_sample_nodes_are_left_out() -> None:
    def moved(tables: tskit.TableCollection) -> None:
        tables.individuals.add_row()
        individual = tables.nodes.individual
        # The nodes of an individual need not stand together.
        individual[[1, 2]] = individual[[2, 1]]
        individual[-1] = 12
        tables.nodes.individual = individual

    ts = edited(moved)
    ds = gb.open_tskit(ts)
    assert ds.sizes["samples"] == 12
    expected = TS.genotype_matrix().reshape(-1, 12, 2)
    expected[:, [0, 1]] = TS.genotype_matrix()[:, [[0, 2], [1, 3]]]
    np.testing.assert_array_equal(ds.call_genotype, expected)


def individual_of(nodes: dict[int, int]) -> tskit.TreeSequence:
    def change(tables: tskit.TableCollection) -> None:
        individual = tables.nodes.individual
        for node, of in nodes.items():
            individual[node] = of
        tables.nodes.individual = individual

    return edited(change)


def test_unequal_ploidy_is_refused_and_names_the_first() -> None:
    ts = individual_of({5: 3})
    words = r"individual 0 has 2 sample nodes, individual 2 has 1\. .*haploid=True"
    with pytest.raises(ValueError, match=words):
        gb.open_tskit(ts)
    ds = gb.open_tskit(ts, haploid=True)
    assert ds.sizes["ploidy"] == 1
    assert ds.sample_id.values[-1] == "tsk_23"
    np.testing.assert_array_equal(ds.call_genotype[:, :, 0], ts.genotype_matrix())


def test_nodes_without_individuals_are_refused_unless_haploid() -> None:
    ts = individual_of({7: -1, 9: -1})
    words = "2 of 24 sample nodes without an individual, first node 7: .*haploid=True"
    with pytest.raises(ValueError, match=words):
        gb.open_tskit(ts)
    assert gb.open_tskit(ts, haploid=True).sizes["samples"] == 24


def test_positions_that_are_not_whole_are_refused() -> None:
    def shifted(tables: tskit.TableCollection) -> None:
        position = tables.sites.position
        position[3] += 0.5
        tables.sites.position = position

    with pytest.raises(ValueError, match=r"site 3 at position \d+\.5, .*discrete_genome=True"):
        gb.open_tskit(edited(shifted))


def test_no_samples_and_no_sites() -> None:
    tables = tskit.TableCollection(10)
    with pytest.raises(ValueError, match="no sample nodes"):
        gb.open_tskit(tables.tree_sequence())
    tables.nodes.add_row(flags=tskit.NODE_IS_SAMPLE)
    ds = gb.open_tskit(tables.tree_sequence(), haploid=True)
    assert ds.call_genotype.compute().shape == (0, 1, 1)


def test_empty_states_and_many_alleles() -> None:
    tables = tskit.Tree.generate_star(200).tree_sequence.dump_tables()
    site = tables.sites.add_row(position=0, ancestral_state="")
    for node in range(150):
        tables.mutations.add_row(site=site, node=node, derived_state=str(node))
    ts = tables.tree_sequence()
    ds = gb.open_tskit(ts, haploid=True)
    assert ds.variant_allele.values[0, :3].tolist() == [".", "0", "1"]
    assert ds.call_genotype.dtype == np.int16
    np.testing.assert_array_equal(ds.call_genotype[:, :, 0], ts.genotype_matrix())


# Files, chunks and processes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    TS.dump(tmp_path / "a.trees")
    return tmp_path / "a.trees"


def test_a_file_is_opened_again_for_each_chunk(path: Path) -> None:
    ds = gb.open_tskit(path, chunks=64)
    assert ds.attrs["source"] == str(path)
    assert "TreeSequence" not in str(pickle.dumps(ds.call_genotype.data))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        ds.call_genotype.compute()


def test_arrays_of_a_file_and_of_memory_are_pickled(path: Path) -> None:
    for source in (path, TS):
        calls = pickle.loads(pickle.dumps(gb.open_tskit(source, chunks=300).call_genotype))
        np.testing.assert_array_equal(calls, TS.genotype_matrix().reshape(calls.shape))


def test_names_of_tasks_follow_the_genotypes(path: Path) -> None:
    def name(source: Any, **more: Any) -> str:
        return gb.open_tskit(source, **more).call_genotype.data.name

    assert name(path) == name(path)
    flags = [gb.open_tskit(path).call_genotype_phased.data.name for _ in range(2)]
    assert flags[0] == flags[1]
    assert name(TS) == name(TS.dump_tables().tree_sequence())
    changed = edited(lambda tables: tables.mutations.truncate(len(tables.mutations) - 1))
    names = [
        *(name(source) for source in (path, TS, GAPS, changed, individual_of({1: 1, 2: 0}))),
        name(TS, isolated_as_missing=False),
        name(TS, haploid=True),
        name(TS, chunks=10),
    ]
    assert len(set(names)) == len(names)
    GAPS.dump(path)
    assert name(path) not in names


def test_a_file_that_is_changed_while_in_use_is_named(path: Path) -> None:
    ds = gb.open_tskit(path)
    GAPS.dump(path)
    with pytest.raises(OSError, match=r"a\.trees was changed while in use: open it again"):
        ds.call_genotype.compute()


@pytest.mark.parametrize("size", [0, 3, 64, 1000, -1])
def test_truncated_files_are_refused_by_name(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"a\.trees cannot be read: .*damaged: write it again"):
        gb.open_tskit(path)


def test_other_things_are_refused(tmp_path: Path, path: Path) -> None:
    (tmp_path / "a.bed").write_bytes(b"\x6c\x1b\x01" * 100)
    with pytest.raises(ValueError, match=r"a\.bed cannot be read"):
        gb.open_tskit(tmp_path / "a.bed")
    with pytest.raises(TypeError, match="not TableCollection"):
        gb.open_tskit(TS.dump_tables())
