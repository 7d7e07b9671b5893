"""Selections shared by the parsimony explorer: taxa are samples, sites are variants."""

from __future__ import annotations

from typing import Any

import numpy as np


class ParsimonyLinking:
    """Linked selections, as a mixin of the explorer."""

    def _tell(self: Any, trait: str) -> None:
        """Share what a trait of this explorer selects with the other explorers."""
        if trait == "site":
            self._select("variants", [self.site])
        elif trait == "branch" and self.branch is not None:
            below = set(self.known.below(self.ancestry, self.branch))
            self._select("samples", [k for k, name in enumerate(self.known.taxa) if name in below])

    def _follow(self: Any, kind: str, *, own: bool) -> None:
        if kind == "samples":
            self._mark({"selected"})
            return
        sites = self._places("variants")
        if not own and len(sites) == 1:
            self._asked_site = True
            self.site = int(sites[0])

    def _marks(self: Any) -> dict[str, Any]:
        """Return the marks of the tree, as arguments of `plots.tree.draw_tree`."""
        tips = np.asarray(self._places("samples"))
        return {"numbers": self.numbers, "marked": self.branch, "selected": tips.tolist()}
