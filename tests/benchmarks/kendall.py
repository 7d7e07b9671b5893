"""Kendall's tau of all pairs: every kernel, other programs on the same ranks, published tables."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genobit.kendall.kernels.ranks import ranked
from genobit.kendall.kernels.registry import chosen_kernel, scores

from . import merge_sort
from .measure import Row, rates, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

MICRO = 1e6
ROUNDS = 3


class Shape(NamedTuple):
    """Observations, and variables enough to time: of kernels that share work, of the others."""

    n: int
    tied: float
    """Share of variables with ties."""
    many: int
    few: int
    wanted: float | None
    """How much faster than Knight's algorithm in C++ the fastest kernel is to be."""


SHAPES = (
    Shape(353, 0, 4000, 120, 180),
    Shape(353, 0.5, 4000, 120, None),
    Shape(353, 1, 4000, 120, 110),
    Shape(2000, 0, 3000, 40, 40),
    Shape(2000, 1, 3000, 40, None),
    Shape(17_941, 0, 16, 16, 6),
    Shape(17_941, 1, 16, 16, None),
)
OTHERS = {"R pcaPP::cor.fk": 300, "pandas corr": 350, "scipy.stats.kendalltau": 3000}
"""How much faster than other programs it is to be at 353 observations without ties."""
KERNELS = ("merge", "packed-merge", "table", "signs")
"""Those of `kernel=`, and `merge_sort`, which sorts key by key.
"""
SHARING = {"signs", "table"}
"""Kernels whose pairs share tables or planes: they are timed on many variables."""
MOST = 4000
"""Most observations for kernels that take the square of them."""


PAPER = (
    ("VSE on one 2.0 GHz core, a pair", 23e-6, 29e-6),
    ("one core", 3758.0, 4742.0),
    ("16 cores", 275.0, 340.0),
    ("Xeon Phi", 261.0, 296.0),
)
"""Liu, Pan, Green, Aluru 2017, Tables 3 and 4: seconds of a pair, and of all; least and most."""
GENES, ARRAYS = 17_941, 353
"""Genes of these tables, and observations as many as the other rows here have."""


def variables(rows: int, n: int, *, tied: float) -> NDArray[Any]:
    """Ranks of random variables; a share of them has ties, with about 60 levels."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(rows, n))
    some = rng.permutation(rows)[: round(tied * rows)]
    values[some] = np.round(values[some], 1)
    return ranked(values)


def compiled(folder: Path) -> Callable[..., NDArray[np.int64]] | None:
    """Knight's algorithm in C++ for this CPU, or None without a compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    library = folder / "knight.so"
    source = Path(__file__).with_name("knight.cpp")
    command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", library]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(library)).knight

    def knight(ranks: NDArray[Any], *, once: bool) -> NDArray[np.int64]:
        rows, n = ranks.shape
        out = np.zeros((rows, rows), np.int64)
        pointers = (ctypes.c_void_p(ranks.ctypes.data), ctypes.c_void_p(out.ctypes.data))
        function(pointers[0], rows, n, int(once), pointers[1])
        return out

    return knight


def _pairs(rows: int) -> float:
    return rows * (rows + 1) / 2


def _ours(shape: Shape) -> dict[str, tuple[Callable[[], Any], float]]:
    """Name -> call and pairs."""
    tables = {rows: variables(rows, shape.n, tied=shape.tied) for rows in {shape.few, shape.many}}
    best = chosen_kernel(shape.n, shape.many, tied=shape.tied > 0)
    calls: dict[str, tuple[Callable[[], Any], float]] = {}
    for name in KERNELS:
        quadratic = name not in {"merge", "packed-merge"}
        if (quadratic and shape.n > MOST) or (name == "table" and shape.tied < 1):
            continue
        if name == "table":
            rows = 12
        else:
            rows = shape.many if name in SHARING or name == best else shape.few
        ranks = tables.get(rows, tables[shape.few][:rows])
        call = merge_sort.scores if name == "merge" else partial(scores, kernel=name)
        calls[name] = (partial(call, ranks), _pairs(rows))
    return calls


def _knight(
    shape: Shape, knight: Callable[..., Any] | None
) -> dict[str, tuple[Callable[[], Any], float]]:
    if knight is None:
        return {}
    ranks = variables(shape.few, shape.n, tied=shape.tied)
    np.testing.assert_array_equal(
        np.triu(knight(ranks, once=False)), np.triu(scores(ranks, None, "packed-merge"))
    )
    return {
        "C++ Knight, packed ranks": (lambda: knight(ranks, once=False), _pairs(shape.few)),
        "C++ Knight, rows sorted once": (lambda: knight(ranks, once=True), _pairs(shape.few)),
    }


def _pandas(values: NDArray[Any]) -> None:
    import pandas as pd

    pd.DataFrame(values.T).corr("kendall")


def _scipy(values: NDArray[Any]) -> None:
    from scipy import stats

    for x, y in itertools.combinations(values, 2):
        stats.kendalltau(x, y)


def _others(shape: Shape) -> dict[str, tuple[Callable[[], Any], float]]:
    """Pandas and scipy, on the pairs above the diagonal that they compute."""
    calls: dict[str, tuple[Callable[[], Any], float]] = {}
    for name, program, rows in (
        ("pandas corr", _pandas, 10),
        ("scipy.stats.kendalltau", _scipy, 5),
    ):
        values = variables(rows, shape.n, tied=shape.tied).astype(float)
        pairs = _pairs(rows) if program is _pandas else _pairs(rows - 1)
        calls[name] = (lambda p=program, v=values: p(v), pairs)
    return calls


def _pcapp(shape: Shape, folder: Path) -> list[float]:
    """Pairs a second of R's pcaPP::cor.fk, which looks at each pair once, round by round."""
    if shutil.which("Rscript") is None:
        return []
    rows = 30 if shape.n < MOST else 8
    file = folder / "values.f8"
    variables(rows, shape.n, tied=shape.tied).astype("<f8").tofile(file)
    code = (
        f"library(pcaPP); x <- matrix(readBin('{file}', 'double', {rows * shape.n}), {shape.n});"
        f"invisible(cor.fk(x)); for (i in 1:{ROUNDS})"
        " cat(system.time(for (k in 1:5) cor.fk(x))[['elapsed']] / 5, '\\n')"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    if done.returncode:
        return []
    return [_pairs(rows - 1) / max(float(line), 1e-9) for line in done.stdout.split()]


def _shape(shape: Shape, knight: Callable[..., Any] | None, folder: Path) -> Iterator[Row]:
    ours = _ours(shape)
    found = rates({**ours, **_knight(shape, knight), **_others(shape)}, ROUNDS)
    for_r = _pcapp(shape, folder)
    if for_r:
        found["R pcaPP::cor.fk"] = for_r
    best = chosen_kernel(shape.n, shape.many, tied=shape.tied > 0)
    kind = {0: "untied", 1: "tied"}.get(shape.tied, f"{shape.tied:.0%} tied")
    data = f"n = {shape.n:,} {kind}"
    peers = [name for name in found if name not in ours]
    for name in ours:
        value = MICRO / statistics.median(found[name])
        what = f"{data}, {name}"
        if not peers:
            yield Row("kendall", what, value, "us a pair", "")
        for peer in peers if name == best else peers[:1]:
            wanted = None
            if peer == "C++ Knight, packed ranks":
                wanted = shape.wanted if name == best else 1 / 1.5 if name == "merge" else None
            elif shape == SHAPES[0]:
                wanted = OTHERS.get(peer)
            theirs = MICRO / statistics.median(found[peer])
            at = f"{peer} ({theirs:,.1f} us)"
            what = f"{data}, {name}{' (auto)' if name == best else ''}"
            yield Row(
                "kendall", what, value, "us a pair", at, ratio(found[name], found[peer]), wanted
            )


def kendall(*, quick: bool) -> Iterator[Row]:
    """Microseconds a pair of every kernel, against other programs in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        knight = compiled(folder)
        for shape in SHAPES:
            if quick and shape.n > MOST:
                continue
            small = shape._replace(many=min(shape.many, 400)) if quick else shape
            yield from _shape(small, knight, folder)
    if not quick:
        yield from _paper()


def _paper() -> Iterator[Row]:
    """All pairs of as many genes as the paper has, one core, beside its tables."""
    from .measure import seconds

    ranks = variables(GENES, ARRAYS, tied=0)
    block = 4096
    kernel = chosen_kernel(ARRAYS, GENES, tied=False)
    scores(ranks[:64], None, kernel)

    def everything() -> None:
        for start in range(0, GENES, block):
            part = ranks[start : start + block]
            scores(part, None, kernel)
            for other in range(start + block, GENES, block):
                scores(part, ranks[other : other + block], kernel)

    ours = seconds(everything)
    pair = ours / _pairs(GENES)
    shape = f"{GENES:,} genes x {ARRAYS}, {kernel}, one core"
    for name, least, most in PAPER:
        at = f"the 2017 paper's Tables 3 and 4, {name}: "
        if least < 1:
            at += f"{least * MICRO:g} to {most * MICRO:g} us"
            yield Row("paper", f"a pair of {shape}", pair * MICRO, "us", at, least / pair)
        else:
            at += f"{least:,.0f} to {most:,.0f} s"
            yield Row("paper", f"all pairs of {shape}", ours, "s", at, least / ours)
