"""The traits of the Kendall explorer, with their valid values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from genobit.visual.explorer import Explorer, one_of

if TYPE_CHECKING:
    import ipywidgets

    from genobit.kendall.explorer.data import KendallData
    from genobit.kendall.network import PairTable
    from genobit.kendall.plots.candidates import Candidates

#: Initial |tau| threshold.
MIN_ABS = 0.6


class KendallTraits(Explorer):
    """The state of a Kendall explorer: traits, and the edges that follow from them."""

    correlated: KendallData
    count_line: ipywidgets.HTML

    css = "genobit-kendall"
    threshold_by = traitlets.Enum(("tau", "fdr"), "tau")
    min_abs = traitlets.Float(MIN_ABS, min=0.0, max=1.0)
    fdr = traitlets.Float(0.01, min=0.0, max=1.0)
    floor = traitlets.Float(0.0)
    has_fdr = traitlets.Bool(True)  # noqa: FBT003  traitlets takes the default first
    colour_by = traitlets.Unicode("")
    colour_points_by = traitlets.Unicode("")
    pair: Any = traitlets.Tuple(
        traitlets.Int(), traitlets.Int(), default_value=None, allow_none=True
    )
    variable: Any = traitlets.Int(None, allow_none=True)
    opened: Any = traitlets.Tuple(default_value=None, allow_none=True)

    # Results.

    @property
    def pairs(self) -> PairTable:
        """Edges that pass the threshold; waits until they are computed."""
        held = self.correlated.candidates()
        return held.table(self._found(held))

    def _found(self, held: Candidates) -> np.ndarray:
        by_tau = self.threshold_by == "tau"
        return held.at_least(self.min_abs) if by_tau else held.up_to(self.fdr)

    def close_community(self) -> None:
        """Show all communities again."""
        self.opened = None

    def list_all(self) -> None:
        """List the edges of all variables in the table."""
        self.variable = None

    # Validation of traits.

    @traitlets.validate("colour_by")
    def _check_colour(self, proposal: Any) -> str:
        return one_of("colour_by", proposal["value"], ("", *self.correlated.variable_labels))

    @traitlets.validate("colour_points_by")
    def _check_colour_of_points(self, proposal: Any) -> str:
        labels = self.correlated.observation_labels
        return one_of("colour_points_by", proposal["value"], ("", *labels))

    @traitlets.validate("pair", "variable", "opened")
    def _check_places(self, proposal: Any) -> Any:
        value, name = proposal["value"], proposal["trait"].name
        if value is None:
            return None
        places = np.atleast_1d(np.asarray(value, dtype="i8"))
        last = self.correlated.n_variables - 1
        if len(places) and not 0 <= places.min() <= places.max() <= last:
            raise traitlets.TraitError(f"{name} is {value}, and the variables are 0 to {last}")
        if name == "variable":
            return int(value)
        places = np.unique(places)
        if name == "pair" and len(places) != 2:
            raise traitlets.TraitError(f"pair is {value}; a pair is two variables")
        return tuple(places.tolist())
