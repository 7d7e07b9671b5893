"""Random analyses on random chunkings against oracles, for as long as you like, memory watched.

    python -m tests.soak --minutes 30

Each round draws an analysis, a cohort, how it is cut, a scheduler and a kernel, and compares with
the twins of `tests.helpers.reference` or another program. It prints the seed of a round that fails:
``--seed``, with the other arguments as they were, repeats it alone. At the end: rounds and failures
of each analysis, and resident memory, which is to be flat once each ran a few times.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import itertools
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import dask
import numpy as np
import xarray as xr

import genobit as gb
from genobit.io.trees import Phylogeny, read_trees
from tests.epistasis.twins import SCORES, assert_ranked, every_table
from tests.helpers.cohorts import cohort, mosaic_calls, random_calls
from tests.helpers.measurements import expression
from tests.helpers.prints import prints, rows_of, twin
from tests.helpers.reference import (
    banded,
    clumped,
    coupled_double_heterozygotes,
    dosages,
    fitch,
    haplotype_blocks,
    haplotypes,
    kendall,
    known_haplotypes,
    ld_scores,
    linkage_from_haplotypes,
    linkage_matrix,
    pruned,
    relationships,
    relatives_matrices,
    window_pairs,
)
from tests.helpers.sites import alignment, letters
from tests.helpers.sites import twin as finite_sites
from tests.helpers.trees import random_parents, simulated
from tests.kendall.values import all_pairs
from tests.ld.twins import direct
from tests.pca import twins as pca

Check = Callable[[np.random.Generator], None]
LINKAGE = {"rtol": 1e-6, "atol": 1e-7}
"""float32 results of exact counts."""


def drawn(rng: np.random.Generator, most: int = 30) -> tuple[np.ndarray, xr.Dataset, bool]:
    """Calls, the same packed and cut somehow, and whether as haplotypes."""
    variants, samples = int(rng.integers(2, most)), int(rng.choice([3, 31, 64, 65, 130]))
    missing = float(rng.choice([0.0, 0.1]))
    calls = random_calls(int(rng.integers(2**32)), variants, samples, missing=missing)
    chunks = (int(rng.integers(1, variants + 1)), int(rng.integers(1, samples + 1)))
    phased = bool(rng.integers(2))
    ds = cohort(calls, contigs=int(rng.integers(1, 3)), chunks=chunks, phased=True)
    bits = ds.genobit.pack(phased=phased).chunk(variants=int(rng.integers(1, variants + 1)))
    return calls, bits, phased


def values_of(calls: np.ndarray, phased: bool) -> np.ndarray:
    return haplotypes(calls) if phased else dosages(calls)


def r2_by_em(values: np.ndarray) -> np.ndarray:
    known = [[known_haplotypes(x, y) for y in values] for x in values]
    coupled = coupled_double_heterozygotes
    return np.array(
        [[linkage_from_haplotypes("r2_em", k, coupled(k)) for k in row] for row in known]
    )


def ld(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng)
    statistic = str(rng.choice(["r2", "r", "D", "dprime"] if phased else ["r2", "r"]))
    right = linkage_matrix(statistic, values_of(calls, phased))
    np.testing.assert_allclose(bits.genobit.ld(statistic).values, right, **LINKAGE)
    window = int(rng.integers(1, 9))
    pairs = set(window_pairs(len(calls), bits.variant_contig.values, None, window))
    found = bits.genobit.ld(statistic, window=window).values
    np.testing.assert_allclose(found, banded(right, pairs), **LINKAGE)


def ld_pairs(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng)
    right = linkage_matrix("r2", values_of(calls, phased))
    limit, window = 0.3003, int(rng.integers(1, 9))
    pairs = window_pairs(len(calls), bits.variant_contig.values, None, window)
    expected = [(i, j) for i, j in pairs if right[i, j] >= limit]
    with tempfile.TemporaryDirectory() as folder:
        bits.genobit.ld_pairs(threshold=limit, window=window).to_parquet(f"{folder}/pairs")
        import pandas as pd

        found = pd.read_parquet(f"{folder}/pairs")
    ends = found[["variant_0", "variant_1"]].values.tolist()
    assert sorted(map(tuple, ends)) == expected
    r2 = [right[i, j] for i, j in ends]
    np.testing.assert_allclose(found["r2"], r2, **LINKAGE)


def prune(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng, 16)
    contig, n = bits.variant_contig.values, len(calls)
    stops = np.flatnonzero(np.append(contig[1:] != contig[:-1], True)) + 1
    end = stops[np.searchsorted(stops, np.arange(n), side="right")]
    window, step, limit = int(rng.integers(1, 9)), int(rng.integers(1, 5)), float(rng.uniform())
    reach = np.minimum(np.arange(n) + window, end).tolist()
    expected = pruned(values_of(calls, phased), reach, stops.tolist(), step, limit)
    assert bits.genobit.ld_prune(window, step, limit).values.tolist() == expected


def clump(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng, 16)
    p = rng.choice([1e-6, 1e-3, 0.01, 0.2, np.nan], len(calls))
    place, contig, window = np.arange(len(calls)), bits.variant_contig.values, rng.integers(1, 9)
    near = (abs(place[:, None] - place) <= window) & (contig[:, None] == contig)
    limit = float(rng.uniform(0.01, 0.9))
    statistic, values = (
        str(rng.choice(["r2"] if phased else ["r2", "r2_em"])),
        values_of(calls, phased),
    )
    right = linkage_matrix("r2", values) if statistic == "r2" else r2_by_em(values)
    expected = clumped(right, near, p, 0.01, limit)
    found = bits.genobit.ld_clump(p, limit, int(window), 0.01, 0.05, statistic=statistic)
    assert found.index_variant.values.tolist() == [index for index, _ in expected]
    assert found.member.values.tolist() == [j for _, members in expected for j in members]


def score(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng, 20)
    window, adjust = int(rng.integers(1, 9)), bool(rng.integers(2))
    pairs = window_pairs(len(calls), bits.variant_contig.values, None, window)
    expected, counts = ld_scores(values_of(calls, phased), pairs, adjust=adjust)
    found = bits.genobit.ld_score(window, adjust=adjust).compute()
    atol = len(calls) * 2.0**-37
    np.testing.assert_allclose(found.ld_score, expected, rtol=1e-12, atol=atol)
    np.testing.assert_array_equal(found.ld_score_count, counts)


def decay(rng: np.random.Generator) -> None:
    _, bits, _ = drawn(rng)
    edges = [0, 100, 1000, 5000]
    found = bits.genobit.ld_decay("7kb", bins=edges, resamples=2)
    mean, pairs = direct(bits, np.array(edges, float))
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_allclose(found.r2, mean, rtol=0, atol=2**-29)


def blocks(rng: np.random.Generator) -> None:
    missing = float(rng.choice([0.0, 0.05]))
    calls = mosaic_calls(int(rng.integers(2**32)), 20, int(rng.integers(20, 120)), missing=missing)
    ds = cohort(calls)
    bits = ds.genobit.pack().chunk(variants=int(rng.integers(1, 21)))
    found = bits.genobit.ld_blocks("100kb", min_maf=0)
    right = haplotype_blocks(dosages(calls), ds.variant_position.values, 100_000)
    assert list(zip(found["first"].values, found["last"].values, strict=True)) == right


def similarity(rng: np.random.Generator) -> None:
    rows, measure = int(rng.integers(1, 40)), str(rng.choice(["tanimoto", "hamming"]))
    bits = int(rng.choice([1, 63, 64, 65, 200]))
    values = rows_of(int(rng.integers(2**32)), rows, bits, float(rng.choice([0.0, 0.2])))
    chunks = (int(rng.integers(1, rows + 1)), int(rng.integers(1, bits + 1)))
    found = prints(values, chunks).genobit.similarity(measure)
    np.testing.assert_array_equal(found.values, twin(measure, values))


def sites(rng: np.random.Generator) -> None:
    taxa, count = int(rng.choice([2, 31, 64, 65, 129])), int(rng.integers(1, 9))
    values = letters(int(rng.integers(2**32)), taxa, count, noise=float(rng.choice([0.0, 0.1])))
    found = alignment(values).genobit.ld("T")
    np.testing.assert_allclose(found, finite_sites(values), rtol=1e-6)


def grm(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng, 100)
    if phased:
        # Half a call is missing as a dosage alone.
        calls[(calls < 0).any(axis=2)] = -1
    ds = cohort(calls, chunks=(int(rng.integers(1, len(calls) + 1)), int(rng.integers(1, 30))))
    method = str(rng.choice(["vanraden1", "vanraden2", "gcta", "dominance", "endelman_jannink"]))
    missing = "mean" if method == "endelman_jannink" else str(rng.choice(["mean", "pairwise"]))
    with np.errstate(all="ignore"):
        right = relationships(method, dosages(calls).T, missing=missing)
    found = (ds if phased else bits).genobit.grm(method, missing=missing).values
    np.testing.assert_array_equal(np.isnan(found), np.isnan(right))
    largest = max(1e-3, np.nanmax(np.abs(right), initial=0))
    np.testing.assert_allclose(found, right, rtol=0, atol=3e-6 * largest)


def king(rng: np.random.Generator) -> None:
    calls, bits, phased = drawn(rng, 60)
    if phased:
        calls[(calls < 0).any(axis=2)] = -1
        bits = cohort(calls, chunks=(int(rng.integers(1, len(calls) + 1)), 20))
    kinship, states, *_ = relatives_matrices(dosages(calls).T)
    for method, right in (("king", kinship), ("ibs", states)):
        found = bits.genobit.grm(method).values
        np.testing.assert_allclose(found, right, rtol=1e-13, atol=1e-14)


def components(rng: np.random.Generator) -> None:
    calls = pca.structured(int(rng.integers(2**32)), 300, 40, missing=0.05)
    chunks = (int(rng.integers(1, 301)), int(rng.integers(1, 41)))
    method = str(rng.choice(["exact", "randomized"]))
    found = cohort(calls, chunks=chunks).genobit.pca(3, method=method)
    right = pca.oracle(*pca.standardised(dosages(calls)), 3)
    np.testing.assert_allclose(found.explained_variance, right[2], rtol=pca.SINGLE)


def tau(rng: np.random.Generator) -> None:
    variables, n = int(rng.integers(2, 14)), int(rng.choice([3, 20, 65]))
    levels, missing = int(rng.choice([0, 4])), float(rng.choice([0.0, 0.1]))
    expr = expression(variables, n, int(rng.integers(2**32)), levels=levels, missing=missing)
    statistic = str(rng.choice(["tau_a", "tau_b", "tau_c", "somers_d_rows", "somers_d_columns"]))
    right = [[kendall(statistic, x, y) for y in expr.values] for x in expr.values]
    kernel = str(rng.choice(["auto", "packed-merge", "signs"]))
    chunked = expr.chunk(gene=int(rng.integers(1, variables + 1)))
    found = chunked.genobit.kendall(statistic, kernel=kernel)
    np.testing.assert_allclose(found.values, right, rtol=0, atol=1e-14)


def tau_pairs(rng: np.random.Generator) -> None:
    expr = expression(20, int(rng.choice([20, 45])), int(rng.integers(2**32)), missing=0.05)
    wanted = all_pairs(expr)
    keep = (wanted["tau"].abs() >= 0.2003) & (wanted["qvalue"] <= 0.05)
    found = expr.genobit.kendall_pairs(0.2003, 0.05).to_dataframe()
    ends = ["gene_0", "gene_1", "n"]
    np.testing.assert_array_equal(found[ends], wanted[keep][ends])
    np.testing.assert_allclose(found["tau"], wanted[keep]["tau"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found["qvalue"], wanted[keep]["qvalue"], rtol=1e-9)


def epistasis(rng: np.random.Generator) -> None:
    order, classes = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    samples = int(rng.choice([63, 65, 130]))
    missing = float(rng.choice([0.0, 0.03]))
    calls = random_calls(int(rng.integers(2**32)), 8, samples, missing=missing)
    labels = rng.permutation(np.arange(samples) % classes)
    statistic, top = str(rng.choice(sorted(SCORES))), int(rng.choice([1, 5, 1000]))
    ds = cohort(calls, chunks=(int(rng.integers(1, 9)), int(rng.integers(1, samples + 1))))
    found = ds.genobit.epistasis(
        labels + 1, order=order, top=top, statistic=statistic, limits=gb.EpistasisLimits(min_n=0)
    )
    tables = every_table(calls, labels, order)
    assert_ranked(found, {m: SCORES[statistic](t) for m, t in tables.items()}, top)


def parsimony_search(rng: np.random.Generator) -> None:
    aln = simulated(int(rng.integers(4, 8)), int(rng.integers(10, 60)), int(rng.integers(2**32)))
    best = aln.genobit.parsimony_search("branch_and_bound")
    found = aln.genobit.parsimony_search(
        "ratchet", seed=int(rng.integers(99)), effort=gb.SearchEffort(iterations=20)
    )
    again = aln.genobit.parsimony(found.tree.values.tolist())
    assert (again.length == found.length).all()
    assert (found.length >= best.length.values[0]).all()


def chunked_alignment(rng: np.random.Generator) -> None:
    taxa, count = int(rng.integers(3, 9)), int(rng.integers(1, 90))
    states = {"A": 1, "C": 2, "G": 4, "T": 8, "R": 5, "Y": 10, "N": 15, "-": 15}
    letters_drawn = rng.choice(list(states), (taxa, count), p=[0.3, 0.3, 0.15, 0.15, *[0.025] * 4])
    weights, width = np.append(rng.integers(0, 4, count - 1), 1), int(rng.integers(1, 100))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "aligned.fasta"
        rows = ["".join(row) for row in letters_drawn]
        lines = [[row[k : k + width] for k in range(0, count, width)] for row in rows]
        file.write_text("".join(">" + "\n".join([f"t{k}", *x, ""]) for k, x in enumerate(lines)))
        aln = gb.open_alignment(file)
        lazy = gb.open_alignment(file, chunks=int(rng.integers(1, 99)))
        sets = np.vectorize(states.get)(letters_drawn).astype(np.uint64)
        parents = random_parents(taxa, rng)
        _, changes = fitch(sets, parents)
        tree = Phylogeny(parents, ("",) * parents.size, None)
        scored = lazy.genobit.parsimony(tree, weights=weights)
        np.testing.assert_array_equal(scored.changes, changes)
        assert int(scored.length) == int(changes @ weights)
        asked = {
            "seed": int(rng.integers(99)),
            "effort": gb.SearchEffort(iterations=3),
            "bootstrap": 2,
            "weights": weights,
        }
        asked["method"] = str(rng.choice(["ratchet", "tbr", "stepwise"]))
        found = lazy.genobit.parsimony_search(**asked)
        xr.testing.assert_identical(found, aln.genobit.parsimony_search(**asked))
        for newick, length in zip(found.tree.values, found.length.values, strict=True):
            (shortest,) = read_trees(str(newick), found.taxa.values.tolist()).trees
            again = lazy.genobit.parsimony(shortest, weights=weights, sites=False)
            assert int(again.length) == int(length)


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        ld, ld_pairs, prune, clump, score, decay, blocks, similarity, sites, grm, king, components,
        tau, tau_pairs, epistasis, parsimony_search, chunked_alignment,
    )
}  # fmt: skip


def round_of(seed: int, names: list[str], kernels: list[str]) -> tuple[str, str]:
    """Run one; its name, and the traceback if it fails."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(names))
    kernel = str(rng.choice(kernels))
    with (
        gb.set_options(chunk_rows=int(rng.choice([3, 64, 2048])), kernel=kernel),
        dask.config.set(scheduler=str(rng.choice(["synchronous", "threads"])), num_workers=3),
    ):
        try:
            CHECKS[name](rng)
        except Exception:  # noqa: BLE001 - whatever fails is counted, with how to repeat it
            return name, f"--seed {seed}\n{traceback.format_exc()}"
    return name, ""


def give_back() -> None:
    """Collect, and let the C library return what is free: what it keeps is no leak."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # other libraries have no such function
        ctypes.CDLL(None).malloc_trim(0)


def resident_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(x for x in lines if x.startswith("VmRSS")).split()[1]) / 1024


def soak(minutes: float, first: int, names: list[str], kernels: list[str]) -> int:
    """Rounds until the time is up; how many failed."""
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    memory: list[tuple[float, float]] = []
    start = time.monotonic()
    for seed in itertools.count(first):
        passed = (time.monotonic() - start) / 60
        if passed >= minutes:
            break
        if not memory or passed - memory[-1][0] >= minutes / 30:
            give_back()
            memory.append((passed, resident_mib()))
            total = done.total()
            print(f"{passed:6.1f} min  {total:7,} rounds  {memory[-1][1]:6.0f} MiB", flush=True)
        name, trouble = round_of(seed, names, kernels)
        done[name] += 1
        failed[name] += bool(trouble)
        if trouble:
            print(f"{name} failed: {trouble}", flush=True)
    for name in names:
        print(f"{name:<18} {done[name]:7,} rounds  {failed[name]:4,} failed")
    half = [size for at, size in memory if at >= minutes / 2]
    if half:
        print(f"resident memory in the second half: {min(half):.0f} to {max(half):.0f} MiB")
    return failed.total()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first round")
    parser.add_argument("--seed", type=int, help="repeat the round of this seed")
    parser.add_argument("--only", default=",".join(CHECKS), help="names, by commas")
    parser.add_argument("--kernels", default="auto", help="of options.KERNELS, by commas")
    asked = parser.parse_args()
    names, kernels = asked.only.split(","), asked.kernels.split(",")
    if asked.seed is not None:
        name, trouble = round_of(asked.seed, names, kernels)
        print(f"{name}: {trouble or 'fine'}")
        return int(bool(trouble))
    return min(1, soak(asked.minutes, asked.first, names, kernels))


if __name__ == "__main__":
    sys.exit(main())
