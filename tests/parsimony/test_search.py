"""Searches of the shortest trees as users call them."""

import dask
import numpy as np
import pytest
import xarray as xr

import genobit as gb
from genobit.parsimony import search as tree_search
from genobit.parsimony.schedule import runs
from genobit.parsimony.schedule import steps as tree_steps
from tests.helpers.trees import random_sets, simulated

pytest.importorskip("dendropy")


def splits(newick, taxa):
    """Taxa on the side without the first, of all branches of a tree."""
    from genobit.io.trees import read_trees

    parents = read_trees(newick, taxa).trees[0].parents
    below = [{taxa[k]} if k < len(taxa) else set() for k in range(parents.size)]
    for node in range(parents.size - 1):
        below[parents[node]] |= below[node]
    sides = [side if taxa[0] not in side else set(taxa) - side for side in below[:-1]]
    return frozenset(frozenset(side) for side in sides)


@pytest.mark.parametrize("method", ["stepwise", "nni", "spr", "tbr", "ratchet", "branch_and_bound"])
def test_lengths_are_those_of_the_trees(method):
    aln = simulated()
    found = aln.genobit.parsimony_search(
        method, effort=gb.SearchEffort(replicates=2, iterations=10), seed=3
    )
    again = aln.genobit.parsimony(found.tree.values.tolist())
    assert (again.length == found.length).all()
    assert found.trace.values[-1] == found.length.values[0]
    assert (np.diff(found.trace.values) <= 0).all()
    if method == "branch_and_bound":
        assert "round_length" not in found
        return
    # A last swapping has no rounds.
    rounds = found.round_length.dropna("iteration", how="all")
    best = np.minimum.accumulate(rounds.min("replicate").values)
    np.testing.assert_array_equal(best, found.trace.values[: best.size])
    assert found.attrs["proven"] == (method == "branch_and_bound")
    assert (
        len({splits(tree, aln.taxa.values.tolist()) for tree in found.tree.values})
        == (found.sizes["trees"])
    )


def test_nothing_but_the_seed_changes_a_search():
    aln = simulated(12, 14)

    def search(seed):
        return aln.genobit.parsimony_search(
            seed=seed, effort=gb.SearchEffort(replicates=3, iterations=12), bootstrap=4
        )

    with dask.config.set(scheduler="synchronous"):
        one = search(1)
    with dask.config.set(scheduler="threads"):
        two = search(1)
    xr.testing.assert_identical(one, two)
    with dask.config.set(scheduler="synchronous"):
        starts = [aln.genobit.parsimony_search("stepwise", seed=s).tree.values[0] for s in range(6)]
    assert len(set(starts)) > 1


@pytest.mark.distributed
def test_processes_find_the_same():
    aln = simulated(8, 40)
    with dask.config.set(scheduler="synchronous"):
        one = aln.genobit.parsimony_search(
            seed=1, effort=gb.SearchEffort(replicates=2, iterations=5)
        )
    with dask.config.set(scheduler="processes", num_workers=2):
        two = aln.genobit.parsimony_search(
            seed=1, effort=gb.SearchEffort(replicates=2, iterations=5)
        )
    xr.testing.assert_identical(one, two)


@pytest.mark.parametrize("method", ["ratchet", "branch_and_bound"])
def test_a_stopped_search_gives_the_best_so_far_and_goes_on(method, tmp_path, monkeypatch):
    aln = simulated(10, 60)
    asked = {
        "method": method,
        "effort": gb.SearchEffort(iterations=30),
        "seed": 2,
        "checkpoint": tmp_path / "kept",
    }
    whole = aln.genobit.parsimony_search(**{**asked, "checkpoint": None})
    genuine, steps = runs.step, []

    def stopped(plan, chain, state):
        if len(steps) == 2:
            raise KeyboardInterrupt
        steps.append(chain)
        return genuine(plan, chain, state)

    monkeypatch.setattr(runs, "step", stopped)
    monkeypatch.setattr("genobit.parsimony.schedule.steps.LOOKS", 5)
    with dask.config.set(scheduler="synchronous"):
        with pytest.warns(
            RuntimeWarning, match="Ctrl-C stopped parsimony_search: .*repeat the call"
        ):
            part = aln.genobit.parsimony_search(**asked)
        assert part.attrs["partial"]
        assert not part.attrs["proven"]
        assert (aln.genobit.parsimony(part.tree.values.tolist()).length == part.length).all()
        monkeypatch.setattr(runs, "step", genuine)
        rest = aln.genobit.parsimony_search(**asked)
        assert not rest.attrs["partial"]
        if method == "ratchet":
            xr.testing.assert_identical(rest, whole)
        assert (rest.length == whole.length).all()
        assert set(rest.tree.values) == set(whole.tree.values)
        with pytest.raises(ValueError, match="seed"):
            aln.genobit.parsimony_search(**{**asked, "seed": 3})


def test_a_search_stopped_at_once_has_nothing_to_give(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "step", stopped)
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        simulated().genobit.parsimony_search()


@pytest.mark.parametrize("start", ["stepwise", "closest", "neighbour_joining", None])
def test_starts(start):
    aln = simulated()
    found = aln.genobit.parsimony_search("spr", start=start)
    best = aln.genobit.parsimony_search("branch_and_bound", start=start)
    assert best.length.values[0] <= found.length.values[0] <= found.trace.values[0]
    again = aln.genobit.parsimony_search("stepwise", start=best)
    assert again.length.values[0] == best.length.values[0]


def test_neighbour_joining_takes_ties_in_the_order_of_the_taxa():
    names = [f"t{k}" for k in range(7)]
    for rows in ([list("ACGT")] * 7, np.where(np.eye(7), "C", "A")):
        aln = xr.DataArray(rows, {"taxa": names}, ("taxa", "sites"), attrs={"kind": "dna"})
        found = aln.genobit.parsimony_search("stepwise", start="neighbour_joining")
        tree = "((((t0,t1),t2),t3),t4,(t5,t6));"
        assert splits(found.tree.values[0], names) == splits(tree, names)


def test_support_counts_the_trees_of_resampled_sites():
    rows = [list("AACCA"), list("AACGA"), list("GATCC"), list("GCTGC")]
    aln = xr.DataArray(rows, {"taxa": list("abcd")}, ("taxa", "sites"))
    strong = xr.concat([aln.isel(sites=[0, 2, 4])] * 40, "sites")
    found = strong.genobit.parsimony_search(
        bootstrap=7, effort=gb.SearchEffort(iterations=2), outgroup="b"
    )
    assert found.support.values.tolist() == [[100]]
    assert found.split.values.tolist() == [[[False, False, True, True]]]
    assert found.split.taxa.values.tolist() == list("abcd")
    assert found.tree.values.tolist() == ["(b,(a,(c,d)100));"]


def test_labels_are_the_support_of_the_branch_below():
    aln = simulated(8, 60)
    found = aln.genobit.parsimony_search(
        bootstrap=10, effort=gb.SearchEffort(iterations=3), outgroup=["t 7", "t 6"]
    )
    import dendropy

    taxa = aln.taxa.values.tolist()
    for number, text in enumerate(found.tree.values):
        tree = dendropy.Tree.get(data=text, schema="newick")
        shown = {}
        for node in tree.preorder_internal_node_iter(exclude_seed_node=True):
            names = {leaf.taxon.label for leaf in node.leaf_iter()}
            side = names if taxa[0] not in names else set(taxa) - names
            if node.label:
                shown[frozenset(side)] = float(node.label)
        for split, percent in zip(
            found.split.values[number], found.support.values[number], strict=True
        ):
            assert shown[frozenset(np.array(taxa)[split])] == pytest.approx(percent)


@pytest.mark.parametrize("outgroup", ["t 0", "t 4", ["t 8", "t 7"], ["t 0", "t 8"]])
def test_the_outgroup_is_at_the_root(outgroup):
    aln = simulated()
    found = aln.genobit.parsimony_search("branch_and_bound", outgroup=outgroup)
    plain = aln.genobit.parsimony_search("branch_and_bound")
    names = aln.taxa.values.tolist()
    assert splits(found.tree.values[0], names) == splits(plain.tree.values[0], names)
    from genobit.io.trees import read_trees

    tree = read_trees(found.tree.values[0], names).trees[0]
    sides = [set() for _ in tree.parents]
    for node, parent in enumerate(tree.parents[:-1]):
        sides[node] |= {names[node]} if node < len(names) else set()
        sides[parent] |= sides[node]
    at_root = [sides[n] for n in np.flatnonzero(tree.parents == tree.parents.size - 1)]
    assert len(at_root) == 2
    wanted = {outgroup} if isinstance(outgroup, str) else set(outgroup)
    assert wanted in at_root or {outgroup[0]} in at_root


def test_three_taxa_and_sites_that_say_nothing():
    three = xr.DataArray([list("AC"), list("AC"), list("AG")], dims=("taxa", "sites"))
    for method in ("ratchet", "branch_and_bound"):
        found = three.genobit.parsimony_search(method, bootstrap=2)
        assert found.tree.values.tolist() == ["(0,1,2);"]
        assert found.length.values.tolist() == [1]
    same = xr.DataArray(np.full((5, 3), "A"), dims=("taxa", "sites"))
    for method in ("ratchet", "branch_and_bound"):
        found = same.genobit.parsimony_search(method)
        assert found.length.values.tolist() == [0] * 15
        assert found.attrs["all_found"]
    few = same.genobit.parsimony_search(effort=gb.SearchEffort(max_trees=4))
    assert few.sizes["trees"] == 4
    assert not few.attrs["all_found"]


def test_weights_are_repeated_sites():
    rng = np.random.default_rng(8)
    sets = random_sets(7, 30, 4, rng, 0)
    aln = xr.DataArray(np.bitwise_count(sets - 1).astype(int), dims=("taxa", "sites"))
    weights = rng.integers(0, 4, 30)
    repeated = aln.isel(sites=np.repeat(np.arange(30), weights))
    one = aln.genobit.parsimony_search("branch_and_bound", weights=weights)
    two = repeated.genobit.parsimony_search("branch_and_bound")
    assert one.length.values[0] == two.length.values[0]
    assert set(one.tree.values) == set(two.tree.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "annealing"}, "method='annealing' is not one of 'ratchet'"),
        (
            {"effort": gb.SearchEffort(replicates=0)},
            "replicates=0 is not a whole number of at least 1",
        ),
        ({"effort": gb.SearchEffort(max_trees=0)}, "max_trees=0"),
        ({"effort": gb.SearchEffort(iterations=2.5)}, "iterations=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "one"}, "seed='one' is not a whole number of at least 0"),
        ({"bootstrap": -1}, "bootstrap=-1"),
        ({"outgroup": "t 99"}, "outgroup='t 99' is not a taxon"),
        ({"weights": [0] * 120}, "all weights= are 0"),
        ({"start": ["(a,b);", "(b,a);"]}, "tips|taxa"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        simulated().genobit.parsimony_search(**options)


def test_effort_is_an_object():
    with pytest.raises(TypeError, match=r"effort=5 is not a gb\.SearchEffort: give"):
        simulated().genobit.parsimony_search(effort=5)


def test_a_hopeless_branch_and_bound_is_refused_with_an_estimate(tmp_path):
    rng = np.random.default_rng(1)
    aln = xr.DataArray(rng.choice(list("ACGT"), (40, 100)), dims=("taxa", "sites"))
    refused = r"40 taxa looks at about .* would take about \de\+\d+ years on 1 thread, longer than"
    for options in ({}, {"progress": True}, {"checkpoint": tmp_path}):
        with pytest.raises(ValueError, match=refused):
            aln.genobit.parsimony_search("branch_and_bound", **options)


def test_branch_and_bound_is_refused_by_what_is_left(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(tree_search, "check_feasible", lambda plan, share: asked.append(share))
    rng = np.random.default_rng(1)
    aln = xr.DataArray(rng.choice(list("ACGT"), (9, 40)), dims=("taxa", "sites"))
    monkeypatch.setattr(tree_steps, "LOOKS", 200)
    steps, step = [], runs.step

    def stopped(*args):
        steps.append(args)
        if len(steps) == 20:
            raise KeyboardInterrupt
        return step(*args)

    with monkeypatch.context() as few:
        few.setattr(runs, "step", stopped)
        with pytest.warns(RuntimeWarning, match="Ctrl-C stopped"):
            found = aln.genobit.parsimony_search("branch_and_bound", checkpoint=tmp_path)
        assert found.attrs["partial"]
    aln.genobit.parsimony_search("branch_and_bound", checkpoint=tmp_path)
    assert asked[0] == 1
    assert 0 < asked[1] < 1


def test_a_start_of_another_name_is_refused_with_those_there_are():
    with pytest.raises(FileNotFoundError, match=r"start='nj' is not one of .*'neighbour_joining'"):
        simulated().genobit.parsimony_search(start="nj")


def test_two_taxa_are_refused():
    with pytest.raises(ValueError, match="2 taxa: a search needs at least three"):
        simulated(2).genobit.parsimony_search()


def read(folder, name):
    path = folder / name / f"{name}.fasta"
    return gb.open_alignment(path if path.exists() else path.with_suffix(".phy"))


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize(
    ("name", "length", "count"),
    [
        ("primates", 746, 1),
        ("primates_ambig", 701, 1),
        ("mites_morph", 139, 37),
        ("woodmouse", 68, 36),
        ("yeast8", 137403, 1),
        ("laurasiatherian", 9713, None),
    ],
)
def test_the_ratchet_reaches_the_best_known_length(shared_data, name, length, count, seed):
    found = read(shared_data, name).genobit.parsimony_search(seed=seed)
    assert found.length.values[0] == length
    assert count is None or found.sizes["trees"] == count


@pytest.mark.parametrize(
    ("name", "length", "count"),
    [
        ("mites_morph", 139, 37),
        ("yeast8", 137403, 1),
        ("woodmouse", 68, 36),
        pytest.param("primates", 746, 1, marks=pytest.mark.long),
        pytest.param("primates_ambig", 701, 1, marks=pytest.mark.long),
    ],
)
def test_branch_and_bound_proves_the_shortest_trees(shared_data, name, length, count):
    aln = read(shared_data, name)
    found = aln.genobit.parsimony_search("branch_and_bound")
    assert found.attrs["proven"]
    assert found.attrs["all_found"]
    assert found.length.values.tolist() == [length] * count
    reference = shared_data / name / "ref" / "bab_all_most_parsimonious.nwk"
    if reference.exists():
        names = aln.taxa.values.tolist()
        expected = {splits(line, names) for line in reference.read_text().split()}
        assert {splits(tree, names) for tree in found.tree.values} == expected
