"""Shared selection of the Kendall explorer: a pair is two variants, points are samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class KendallLinking:
    """Methods of the explorer that follow and change the selection."""

    def _begin_selected(self: Any) -> None:
        if self.pair is None:
            self._follow_quietly("variants", own=False)
        else:
            self._select("variants", self.pair)

    def _follow(self: Any, kind: str, *, own: bool) -> None:
        if kind == "samples":
            if self._pair_found is not None:
                self._scatter.mark(self._marked_samples())
            return
        selected = self._places("variants")
        if not own and len(selected) == 2:
            self.pair = tuple(selected.tolist())
        elif self._scene is not None:
            self._network.mark(self.pair, selected.tolist())

    def _marked_nodes(self: Any) -> list[int]:
        return self._places("variants").tolist()

    def _observed(self: Any) -> np.ndarray:
        """Return the positions of the observations in the scatter plot."""
        _, x, y, *_ = self._pair_found
        values = np.asarray([x.values, y.values], dtype="f8")
        return np.flatnonzero(~np.isnan(values).any(axis=0))

    def _marked_samples(self: Any) -> list[int]:
        drawn = np.isin(self._observed(), self._places("samples"))
        return np.flatnonzero(drawn).tolist()

    def _choose_samples(self: Any, points: Sequence[int]) -> None:
        chosen: Iterable[int] = self._observed()[list(points)].tolist()
        self._select("samples", chosen)
