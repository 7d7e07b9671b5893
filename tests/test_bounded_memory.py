"""Every analysis that streams, of ten times more planes than memory, which the kernel enforces."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 64
"""MiB past what the program has when its kernels are loaded, for private memory of every kind."""

ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
"""Where threads have heaps of their own, how much of each is free is left to chance."""

PROGRAM = """
import ctypes
import gc
import json
import resource
import sys
import threading
from pathlib import Path
from unittest import mock

# 8 MiB each by default, of which threads that wait for files have many.
threading.stack_size(2**18)

import dask
import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr

import genobit as gb
from genobit.data import layouts
from genobit.kendall import pairs as tau_pairs
from genobit.io import resumable_zarr as streams
from genobit.io.trees import Phylogeny
from genobit.engine.schedule import pair_sums, passes
from genobit.epistasis.schedule import units as combination_units
from genobit.pca import schedule as sample_products
from genobit.engine.bits.layout import Layout, tail_mask

# A tenth and less of what is right for a machine of some GiB.
pair_sums.LEAF_BITS = 2**22
sample_products.LEAF_CALLS = 2**21
passes.GROUP_BYTES = 2**22
combination_units.LINE_BYTES = 2**21
tau_pairs.JOBS = 8

folder, limit = Path(sys.argv[1]), int(sys.argv[2])


def packed(samples, mib, chunk=2):
    '''Bit planes of so many MiB, made in chunks of some: the first half of samples differs.'''
    words = samples // 64
    variants, rows = mib * 2**16 // words, chunk * 2**16 // words

    def planes(block_info=None):
        _, (start, stop), _ = block_info[None]["array-location"]
        out = np.random.default_rng(start).integers(0, 2**64, (2, stop - start, words), np.uint64)
        out[0, :, : words // 2] |= out[1, :, : words // 2]
        out[1] &= out[0]
        return out

    sizes = tuple(min(rows, variants - s) for s in range(0, variants, rows))
    meta = np.empty((0, 0, 0), np.uint64)
    both = da.map_blocks(planes, chunks=((2,), sizes, (words,)), dtype=np.uint64, meta=meta)
    layout = Layout("dosage", "variants", samples, 1)
    named = {"plane_carrier": both[0], "plane_hom_alt": both[1]}
    ds = xr.Dataset(
        {name: (("variants", "words"), plane) for name, plane in named.items()},
        {"variant_position": ("variants", np.arange(1, variants + 1) * 100)},
        attrs=layout.to_attributes(),
    )
    ds = layouts.mark_bits(ds, layout)
    if samples > 2**14:
        return ds
    return ds.assign_coords(sample_id=("samples", np.array([f"s{k}" for k in range(samples)])))


TAXA = 64
PIECE = 2**9
search = {"effort": gb.SearchEffort(iterations=5, patience=2, max_trees=10)}


def fasta(path, mib):
    '''A file of so many MiB: for each taxon a piece again and again.'''
    random = np.random.default_rng(3)
    with path.open("wb") as file:
        for taxon in range(TAXA):
            piece = random.choice(np.frombuffer(b"ACGT", np.uint8), PIECE).tobytes()
            file.write(b">t%d\\n" % taxon)
            for _ in range(mib * 2**20 // PIECE // TAXA):
                file.write(piece)
            file.write(b"\\n")


def text(taxa, mib, sites):
    '''An alignment of so many MiB of text, made in chunks of so many sites.'''
    number = mib * 2**18 // taxa

    def symbols(block_info=None):
        _, (start, stop) = block_info[None]["array-location"]
        which = np.random.default_rng(start).integers(0, 2, (taxa, stop - start), np.uint8)
        return np.array(["A", "C"])[which]

    sizes = tuple(min(sites, number - s) for s in range(0, number, sites))
    meta = np.empty((0, 0), "U1")
    values = da.map_blocks(symbols, chunks=((taxa,), sizes), dtype="U1", meta=meta)
    names = {"taxa": [f"t{k}" for k in range(taxa)]}
    return xr.DataArray(values, names, ("taxa", "sites"), attrs={"kind": "dna"})


# Neighbours are joined, and their nodes again.
nodes = np.array([*(TAXA + np.arange(2 * TAXA - 2) // 2), -1])
tree = Phylogeny(nodes, tuple(f"t{k}" if k < TAXA else "" for k in range(nodes.size)), None)


def analyses(size, where):
    '''Each of so many MiB; of few, those that it can are compared with the same in memory.'''
    small = size < limit
    where.mkdir()
    file = where / "aligned.fasta"
    fasta(file, size)
    few, many = text(TAXA, size, 2**12), text(2**12, size, 2**7)
    long, square, wide, widest = (packed(samples, size) for samples in (2**9, 2**13, 2**17, 2**21))
    # 36 tiles, whose sums would take more than the limit.
    tall = packed(2**12, size)
    # In chunks as its tiles have them: dask would take as long to join others as tau takes.
    wider, large_chunks = (packed(2**20, size, chunk=mib) for mib in (5, 10))
    p = np.random.default_rng(1).uniform(size=wide.sizes["variants"]) ** 4

    def kendall():
        # Rows of a quarter MiB for each plane, and so the kernel without tables of them.
        with gb.set_options(chunk_rows=4, kernel="popcount"):
            some = widest.genobit.isel(variants=slice(4))
            gb.to_zarr(widest.genobit.kendall(other=some), where / "kendall")

    def kendall_of_all():
        # Blocks of 2 x 2 tiles, for which planes of 4 chunks of 10 MiB are held.
        side, one = mock.patch.object(streams, "SIDE", 2), dask.config.set(num_workers=1)
        with gb.set_options(chunk_rows=40, kernel="popcount"), side, one:
            path = gb.to_zarr(large_chunks.genobit.kendall(), where / "square")
        if small:
            right = large_chunks.compute().genobit.kendall()
            found = xr.open_zarr(path, consolidated=False)[right.name]
            np.testing.assert_array_equal(found, right)

    def kendall_pairs():
        # Planes are made anew for each pass, which large tiles make up for: of them, one at a time.
        options = gb.set_options(chunk_rows=20, kernel="popcount", eager_limit=2**22)
        with options, dask.config.set(num_workers=1):
            asked = {"threshold": None, "fdr": None}
            path = wider.genobit.kendall_pairs(**asked).to_parquet(where / "tau")
        if small:
            right = wider.compute().genobit.kendall_pairs(**asked).to_dataframe()
            ends = ["variant_0", "variant_1"]
            found = pd.read_parquet(path).sort_values(ends, ignore_index=True)
            pd.testing.assert_frame_equal(found, right, check_exact=True)

    def unrelated():
        with gb.set_options(chunk_rows=512):
            tall.genobit.unrelated()

    def epistasis():
        case = np.arange(2**17) % 3 == 0
        with gb.set_options(eager_limit=20 * 2**20, spill_to=where):
            wide.genobit.epistasis(
                case, limits=gb.EpistasisLimits(variants_0=[5, -7, 40]), top=10
            )

    def pca():
        with gb.set_options(eager_limit=2**22):
            square.genobit.pca(1, method="randomized")

    def parsimony():
        gb.open_alignment(file, chunks=2**14).genobit.parsimony(tree, sites=False)

    def parsimony_search():
        found = gb.open_alignment(file, chunks=2**14).genobit.parsimony_search(**search)
        # The file is one piece again and again, which takes no more memory than its columns.
        times = np.full(PIECE, gb.open_alignment(file, chunks=PIECE).sizes["sites"] // PIECE)
        piece = gb.open_alignment(file, chunks=PIECE).isel(sites=slice(PIECE)).compute()
        right = piece.genobit.parsimony_search(**search, weights=times)
        xr.testing.assert_identical(found, right)

    def resampled():
        lazy = gb.open_alignment(file, chunks=2**14)
        asked = {**search, "method": "spr", "start": "neighbour_joining", "bootstrap": 2}
        found = lazy.genobit.parsimony_search(**asked)
        if small:
            xr.testing.assert_identical(found, lazy.compute().genobit.parsimony_search(**asked))

    def resampled_from_a_file():
        # 5 taxa: numbers of 4 bytes a site are a fifth of the text.
        lazy = text(5, size, 2**16)
        asked = {"method": "spr", "bootstrap": 2}
        with gb.set_options(eager_limit=2**20, spill_to=where):
            found = lazy.genobit.parsimony_search(**asked)
        if small:
            xr.testing.assert_identical(found, lazy.compute().genobit.parsimony_search(**asked))

    def ancestral_states():
        few.genobit.ancestral_states(tree).states[-1, -9:].compute()

    return {
        "kendall": kendall,
        "kendall of all": kendall_of_all,
        "kendall_pairs of all": kendall_pairs,
        "epistasis": epistasis,
        "pca": pca,
        "ld of a window": lambda: gb.to_zarr(wide.genobit.ld(window=4), where / "band"),
        "ld_pairs": lambda: wide.genobit.ld_pairs(threshold=0.01, window=4).to_parquet(
            where / "pairs"
        ),
        "ld_prune": lambda: wide.genobit.ld_prune(4, 1, 0.2),
        "ld_clump": lambda: wide.genobit.ld_clump(p, 0.2, 4, 1e-4, 1e-2),
        "ld_score": lambda: wide.genobit.ld_score(4).compute(),
        "ld_decay": lambda: wide.genobit.ld_decay("400bp", bins=4, resamples=2, parts=2),
        "ld_blocks": lambda: wide.genobit.ld_blocks("400bp"),
        "allele_frequency": lambda: wide.genobit.allele_frequency().compute(),
        "variant_stats": lambda: wide.genobit.variant_stats().compute(),
        "sample_stats": lambda: long.genobit.sample_stats().compute(),
        "grm in memory": lambda: long.genobit.grm().compute(),
        "grm to GCTA": lambda: gb.to_gcta(long.genobit.grm(), where / "cohort"),
        "king": lambda: gb.to_zarr(long.genobit.grm("king"), where / "king"),
        "grm_pairs": lambda: long.genobit.grm_pairs(threshold=0.9).to_parquet(where / "related"),
        "unrelated": unrelated,
        "crossproduct": lambda: gb.to_zarr(long.genobit.crossproduct(), where / "products"),
        "parsimony of a FASTA file": parsimony,
        "parsimony_search of a FASTA file": parsimony_search,
        "parsimony_search with resamples": resampled,
        "parsimony_search with resamples, sites in a file": resampled_from_a_file,
        "ancestral_states": ancestral_states,
        "ld of sites": lambda: gb.to_zarr(many.genobit.ld("T", window=4), where / "sites"),
    }


def held():
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmData")).split()[1]) * 1024


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (held() + limit * 2**20, -1))


def given_back():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def enforced():
    given_back()
    limited()
    try:
        np.ones((limit + 8) * 2**20, np.uint8)
    except MemoryError:
        return True
    return False


outcomes = {}
options = gb.set_options(chunk_rows=256)
with dask.config.set(scheduler="threads", num_workers=2), options:
    for compute in analyses(24, folder / "warm").values():
        compute()
    # Labels are in memory before they are asked anything.
    large = analyses(10 * limit, folder / "large")
    for name, compute in large.items():
        # What the one before has freed is not on top of the limit.
        given_back()
        limited()
        try:
            compute()
            outcomes[name] = "done"
        except MemoryError as error:
            outcomes[name] = f"MemoryError: {error}"
outcomes["enforced"] = enforced()
print(json.dumps(outcomes))
"""

ANALYSES = PROGRAM.split("    return {\n")[1].split("    }\n", maxsplit=1)[0]
NAMES = re.findall(r'^ {8}"(.+?)": ', ANALYSES, re.MULTILINE)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | bool]:
    folder = tmp_path_factory.mktemp("bounded")
    command = [sys.executable, "-c", PROGRAM, str(folder), str(LIMIT)]
    root = Path(__file__).parent.parent
    environment = {**os.environ, **ONE_HEAP}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        timeout=7200,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits private memory as Linux does")
@pytest.mark.parametrize("name", NAMES)
def test_ten_times_the_memory(name: str, outcomes: dict[str, str | bool]) -> None:
    assert outcomes["enforced"]
    assert outcomes[name] == "done"
