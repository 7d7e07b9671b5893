"""Candidate edges sorted by strength, so that a threshold selects a prefix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from genobit.data.pairs.network import by_strength, rows_of

if TYPE_CHECKING:
    from genobit.data.pairs.network import Network

#: Most edges kept: finding communities of 100,000 edges took 10 s, and a picture shows no more.
HELD = 40_000
#: Most edges of the initial picture.
FIRST_LOOK = 20_000


@dataclass(frozen=True)
class Candidates:
    """Pairs with |tau| of at least `floor`, strongest first, out of `tested` pairs.

    `first` and `second` are positions of variables in the data. `qvalue` is None if unknown.
    """

    pairs: Network
    floor: float
    tested: int
    first: np.ndarray
    second: np.ndarray
    strength: np.ndarray
    qvalue: np.ndarray | None

    @property
    def n_variables(self) -> int:
        """Number of variables in the data, with or without an edge."""
        return len(self.pairs.names)

    def at_least(self, threshold: float) -> np.ndarray:
        """Return the rows of pairs with |tau| of at least ``threshold``, strongest first."""
        return np.arange(np.searchsorted(-self.strength, -threshold, side="right"))

    def up_to(self, fdr: float) -> np.ndarray:
        """Return the rows of pairs with a q-value of at most ``fdr``, smallest first."""
        order, sorted_q = self._by_qvalue
        return order[: np.searchsorted(sorted_q, fdr, side="right")]

    @cached_property
    def _by_qvalue(self) -> tuple[np.ndarray, np.ndarray]:
        if self.qvalue is None:
            raise ValueError("these pairs have no q-values; ask kendall_pairs for fdr=1.0")
        order = np.argsort(self.qvalue, kind="stable")  # NaN last
        return order, self.qvalue[order]

    def qvalue_of(self, pair: tuple[int, int]) -> float | None:
        """Return the q-value of two variables, or None if it is unknown."""
        found = np.flatnonzero((self.first == pair[0]) & (self.second == pair[1]))
        return None if self.qvalue is None or not len(found) else float(self.qvalue[found[0]])

    def joins(self, rows: np.ndarray, members: np.ndarray) -> bool:
        """Return whether an edge among some rows joins two of the variables `members`."""
        inside = np.isin(self.first[rows], members) & np.isin(self.second[rows], members)
        return bool(inside.any())

    def degree(self, rows: np.ndarray) -> np.ndarray:
        """Count the edges of each variable of the data among some rows; returns (variables,)."""
        ends = np.concatenate([self.first[rows], self.second[rows]])
        return np.bincount(ends, minlength=self.n_variables)

    def table(self, rows: np.ndarray, limits: dict[str, float]) -> Network:
        """Return some rows as a table of pairs that states the limits that they pass."""
        found = rows_of(self.pairs, rows)
        found.attrs |= limits
        return found

    def why_none(self, threshold: float | None, fdr: float) -> str:
        """Explain why no edge is left; ``threshold`` is None if ``fdr`` selects the edges."""
        if not len(self.strength):
            return f"No pair of variables has |τ| ≥ {self.floor:.2f}: there is no network."
        if threshold is not None:
            return (
                f"No pair has |τ| ≥ {threshold:.2f}: move the slider to the left. "
                f"The strongest pair has {self.strength[0]:.3f}."
            )
        return (
            f"No pair has an FDR of {fdr:.2g} or less: move the slider to the right. "
            f"The smallest is {self._by_qvalue[1][0]:.2g}."
        )

    def first_look(self, wanted: float) -> float:
        """Return the initial |tau|: ``wanted``, unless it leaves no edge or too many."""
        found = len(self.at_least(wanted))
        if not len(self.strength) or 0 < found <= FIRST_LOOK:
            return max(wanted, self.floor)
        if found:
            chosen = np.ceil(100 * self.strength[FIRST_LOOK]) / 100
        else:
            chosen = np.floor(100 * self.strength[: min(500, len(self.strength))][-1]) / 100
        return float(np.clip(chosen, self.floor, 1.0))


def hold(pairs: Network, floor: float, limit: int = HELD) -> Candidates:
    """Sort a table of pairs and keep at most ``limit`` of the strongest.

    ``floor`` is the smallest |tau| that the table was computed for.

    Examples
    --------
    >>> import pandas as pd
    >>> from genobit.data.pairs.network import Network
    >>> edges = pd.DataFrame({"gene_0": [0, 0], "gene_1": [1, 2], "tau": [0.7, -0.9]})
    >>> held = hold(Network(edges, ["MYC", "MAX", "TP53"], "gene"), floor=0.5)
    >>> [len(held.at_least(threshold)) for threshold in (0.5, 0.8, 0.95)]
    [2, 1, 0]
    """
    table, order = pairs.to_dataframe(), by_strength(pairs)
    strength = table[pairs.value].abs().to_numpy("f8")
    order = order[~np.isnan(strength[order])]
    if len(order) > limit:
        # Raise the floor to the next hundredth, the step of the slider, above the first edge cut.
        floor = round(float(np.floor(100 * strength[order[limit]])) / 100 + 0.01, 2)
        order = order[strength[order] >= floor]
    kept = table.iloc[order]
    n_variables = len(pairs.names)
    return Candidates(
        rows_of(pairs, order),
        floor,
        int(pairs.attrs.get("pairs_tested", n_variables * (n_variables - 1) // 2)),
        kept[f"{pairs.dim}_0"].to_numpy("i8"),
        kept[f"{pairs.dim}_1"].to_numpy("i8"),
        strength[order],
        kept["qvalue"].to_numpy("f8") if "qvalue" in kept else None,
    )


def floor_for(tau: np.ndarray, n_variables: int, limit: int = HELD) -> float:
    """Estimate the |tau| that about ``limit`` pairs reach, from a random sample of variables.

    tau: (sample, sample). Rounds up to steps of 0.01; returns 0 if all pairs fit the limit.

    Examples
    --------
    >>> floor_for(np.array([[1, 0.1, 0.2], [0.1, 1, 0.305], [0.2, 0.305, 1]]), 1_000, 200_000)
    0.23
    """
    n_pairs = n_variables * (n_variables - 1) / 2
    found = np.abs(tau[np.triu_indices(len(tau), 1)])
    found = found[~np.isnan(found)]
    if n_pairs <= limit or not found.size:
        return 0.0
    return float(np.ceil(100 * np.quantile(found, 1 - limit / n_pairs)) / 100)
