"""Networks of cliques, and options of their plots."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import pandas as pd

from genobit.data.pairs.network import Network


def table(edges: list[tuple[int, int, float]], size: int, **columns: object) -> Network:
    first, second, tau = zip(*edges, strict=True) if edges else ((), (), ())
    frame = pd.DataFrame(
        {
            "gene_0": np.array(first, "i8"),
            "gene_1": np.array(second, "i8"),
            "tau": np.array(tau, "f8"),
            **columns,
        }
    )
    return Network(frame, [f"g{k}" for k in range(size)], "gene")


def cliques(*sizes: int, tau: float = 0.8) -> Network:
    """Complete components of these sizes, one after another, tau falling a little from each."""
    edges, start = [], 0
    for size in sizes:
        for a in range(start, start + size):
            edges += [(a, b, tau - 1e-4 * len(edges) / 10) for b in range(a + 1, start + size)]
        start += size
    return table(edges, start + 3)


def option(plot: hv.core.Dimensioned, name: str) -> object:
    return plot.opts.get("plot").kwargs[name]
