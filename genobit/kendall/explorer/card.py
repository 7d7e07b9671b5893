"""Rows of the card of the Kendall explorer: a pair, or a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genobit.kendall.plots.nodes import strongest_partners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genobit.kendall.explorer.data import PairValues
    from genobit.kendall.plots.links import Links

#: Most labels of a variable on its card.
LABELS = 3


def pair_rows(pair: PairValues, qvalue: float | None) -> list[tuple[str, str]]:
    """Return tau, p, q if it is known, and the number of observations of a pair."""
    rows = [("τ", f"{pair.tau:.3f}" if np.isfinite(pair.tau) else "none")]
    rows += [("p", _small(pair.pvalue))]
    rows += [] if qvalue is None else [("q", _small(qvalue))]
    return [*rows, ("n", f"{pair.n:,}")]


def _small(value: float) -> str:
    if not np.isfinite(value):
        return "none"
    return f"{value:.2g}" if value > 0 else "below 1e-300"


def variable_rows(
    place: int, links: Links, labels: Mapping[str, np.ndarray]
) -> list[tuple[str, str]]:
    """Return the degree, the community, the strongest edge and labels of a variable."""
    rows = [("edges", "0")]
    node = np.flatnonzero(links.variables == place)
    if len(node):
        k = int(node[0])
        partner, tau = strongest_partners(links)
        rows = [
            ("edges", f"{links.degree[k]:,}"),
            ("community", str(links.community_names[k])),
            ("strongest", f"{links.names[partner[k]]}, τ {tau[k]:.3f}"),
        ]
    for name, values in list(labels.items())[:LABELS]:
        value = values[place]
        text = f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
        rows.append((name.replace("_", " "), text))
    return rows
