"""Fitch's parsimony: two sequences in cache, and trees, against C and phangorn.

The report (Richer 2013, LERIA TR20130624-1) times its function on pairs of sequences of 127 to
4,095 sites in plain C and with vectors, Tables 1, 2, 6 and 7; the same functions are timed here.
"""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genobit.data.topology import children
from genobit.engine.simd.jit import njit
from genobit.engine.simd.registers import REGISTER_WORDS, zero_register
from genobit.engine.simd.vector import popcount, reduce_add
from genobit.parsimony.kernels.fitch import join_register, workspace
from genobit.parsimony.kernels.patterns import compressed
from genobit.parsimony.kernels.planes import BLOCK, BLOCK_WORDS, state_planes, weight_planes

from .byte_fitch import join_bytes
from .measure import Row, rates, ratio
from .published import Peer, popcount_limit, published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

NANO, MICRO = 1e9, 1e6
ROUNDS = 7
SITES = (127, 255, 511, 1023, 2047, 4095)
"""Of the report's tables."""
WANTED = {1023: 3.0, 4095: 3.5}
PEERS = {127: 4.1, 255: 6.3, 511: 10.7, 1023: 19.9, 2047: 37.0, 4095: 72.1}
"""Nanoseconds of the padded AVX2 loop in C on the core that the peers were measured on."""
VERSIONS = ("plain C, a byte a site", "C, vectors with a scalar tail", "C, vectors, padded")
TAXA, TREE_SITES = 50, 4095
PHANGORN = 32.7
"""Microseconds that phangorn's prepared object took for such a tree on the peers' core."""
TIMES = 4096


@njit
def _pairs(flat: NDArray[np.uint64], blocks: int, times: int) -> int:
    """Changes of two rows of four states, planes (blocks, 3, 4, 8); the third row is written."""
    step = 4 * BLOCK_WORDS
    kept = 0
    for _ in range(times):
        counts = zero_register()
        for i in range(0, blocks * 3 * step, 3 * step):
            for w in range(i, i + BLOCK_WORDS, REGISTER_WORDS):
                some = join_register(flat, w, flat, w + step, flat, w + 2 * step, 4)
                counts = counts + popcount(some)
        kept += reduce_add(counts)
    return times * blocks * BLOCK - kept


@njit
def _byte_pairs(
    x: NDArray[np.uint8],
    y: NDArray[np.uint8],
    z: NDArray[np.uint8],
    changed: NDArray[np.uint16],
    times: int,
) -> None:
    for _ in range(times):
        join_bytes(x, y, z, changed)


def _compiled(folder: Path) -> Any:
    """The functions in C for this CPU, or None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    library = folder / "fitch.so"
    source = Path(__file__).with_suffix(".c")
    # The report's plain C is one site after another, so the compiler is not to make vectors of it.
    flags = ["-O3", "-march=native", "-fno-tree-vectorize", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", library], check=True)
    function = ctypes.CDLL(str(library)).fitch
    function.restype = ctypes.c_long
    return function


def _sequences(rows: int, sites: int) -> NDArray[np.uint64]:
    """State sets of random nucleotides."""
    states = np.random.default_rng(sites).integers(0, 4, (rows, sites))
    return (1 << states).astype(np.uint64)


def _in_c(function: Any, sets: NDArray[np.uint64], version: int) -> Callable[[], int]:
    sites = sets.shape[1]
    padded = np.full((3, -(-sites // 32) * 32), 15, np.uint8)
    padded[:2, :sites] = sets
    x, y, z = (ctypes.c_void_p(row.ctypes.data) for row in padded)

    def call(held: NDArray[np.uint8] = padded) -> int:
        return int(function(version, x, y, z, ctypes.c_long(sites), ctypes.c_long(TIMES)))

    return call


def _calls(sites: int, function: Any) -> dict[str, tuple[Callable[[], Any], float]]:
    sets = _sequences(2, sites)
    tips = state_planes(sets, 4)
    planes = np.zeros((tips.shape[0], 3, 4, 8), np.uint64)
    planes[:, :2] = tips
    flat, blocks = planes.reshape(-1), planes.shape[0]
    x, y = sets.astype(np.uint8)
    z, changed = np.empty_like(x), np.zeros(sites, np.uint16)
    calls: dict[str, tuple[Callable[[], Any], float]] = {
        "planes": (lambda: _pairs(flat, blocks, TIMES), TIMES),
        "bytes": (lambda: _byte_pairs(x, y, z, changed, TIMES), TIMES),
    }
    if function is not None:
        expected = _pairs(flat, blocks, 1)
        for version, name in enumerate(VERSIONS):
            call = _in_c(function, sets, version)
            if call() != expected:
                raise RuntimeError(f"{name} counts other changes of {sites} sites")
            calls[name] = (call, TIMES)
    return calls


def _two_sequences(function: Any, limit: float) -> Iterator[Row]:
    for sites in SITES:
        found = rates(_calls(sites, function), ROUNDS)
        times = {name: NANO / statistics.median(rate) for name, rate in found.items()}
        for ours in ("planes", "bytes"):
            what = f"two sequences of {sites:,} sites, {ours}"
            if function is None:
                yield Row("fitch", what, times[ours], "ns", "")
            for name in VERSIONS if function is not None else ():
                padded = name == VERSIONS[2] and ours == "planes"
                yield Row(
                    "fitch",
                    what,
                    times[ours],
                    "ns",
                    f"{name} ({times[name]:,.1f} ns)",
                    ratio(found[ours], found[name]),
                    WANTED.get(sites) if padded else None,
                )
        if sites in WANTED:
            peer = Peer("C, AVX2, padded", PEERS[sites], "ns")
            what = f"two sequences of {sites:,} sites, planes"
            yield from published("fitch", what, times["planes"], limit, peer, WANTED[sites])


def _random_tree(taxa: int) -> NDArray[np.int64]:
    """Pairs of nodes joined at random, the root last."""
    rng = np.random.default_rng(taxa)
    parents = np.full(2 * taxa - 1, -1)
    open_nodes = list(range(taxa))
    for node in range(taxa, parents.size):
        for _ in range(2):
            parents[open_nodes.pop(int(rng.integers(len(open_nodes))))] = node
        open_nodes.append(node)
    return parents


def _phangorn(folder: Path, sets: NDArray[np.uint64], newick: str) -> tuple[float, int] | None:
    """Seconds of phangorn's prepared object a tree, and its length; None without it."""
    if shutil.which("Rscript") is None:
        return None
    text = np.array(list("acgt"))[np.log2(sets).astype(int)]
    fasta = folder / "random.fasta"
    fasta.write_text("".join(f">t{k}\n{''.join(row)}\n" for k, row in enumerate(text)))
    code = (
        "suppressMessages(library(phangorn));"
        f"data <- read.phyDat('{fasta}', format='fasta');"
        f"tree <- reorder(unroot(read.tree(text='{newick}')), 'postorder');"
        "data <- subset(data, tree$tip.label);"
        "f <- phangorn:::init_fitch(data, FALSE, FALSE, m=4L); e <- tree$edge;"
        f"for (i in 1:{ROUNDS}) cat(system.time(for (k in 1:2000) f$pscore(e))[[1]] / 2000, '\\n');"
        "cat(f$pscore(e), '\\n')"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    *seconds, length = (float(line) for line in done.stdout.split())
    return statistics.median(seconds), int(length)


def _trees(folder: Path, limit: float) -> Iterator[Row]:
    from genobit.io.trees import newick

    sets = _sequences(TAXA, TREE_SITES)
    patterns = compressed(sets, np.ones(TREE_SITES, np.int64))
    work = workspace(state_planes(patterns.sets, 4), weight_planes(patterns.weights))
    parents = _random_tree(TAXA)
    tree = children(parents)
    calls = 1000

    def score() -> None:
        for _ in range(calls):
            work.length(tree)

    ours = MICRO / statistics.median(rates({"ours": (score, calls)}, ROUNDS)["ours"])
    what = f"length of a tree of {TAXA} taxa x {TREE_SITES:,} sites"
    theirs = _phangorn(folder, sets, newick(parents, [f"t{k}" for k in range(TAXA)]))
    if theirs is not None:
        seconds, length = theirs
        if length != work.length(tree):
            raise RuntimeError(f"phangorn finds {length} changes, {work.length(tree)} are here")
        at = f"phangorn, prepared object ({seconds * MICRO:.1f} us), after it"
        yield Row("fitch", what, ours, "us", at, seconds * MICRO / ours, 12)
    peer = Peer("phangorn, prepared object", PHANGORN, "us")
    yield from published("fitch", what, ours, limit, peer, 12)


def fitch(*, quick: bool) -> Iterator[Row]:
    """Nanoseconds of two sequences, microseconds of a tree."""
    limit = popcount_limit()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _two_sequences(_compiled(folder), limit)
        if not quick:
            yield from _trees(folder, limit)
