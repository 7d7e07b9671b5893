"""What the Kendall explorer knows: its variables, the edges held of them, tau of those in view."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from genobit.data import packed
from genobit.kendall.methods.matrix import side_of
from genobit.kendall.network import PairTable
from genobit.kendall.plots.candidates import HELD, Candidates, floor_for, hold
from genobit.kendall.plots.communities import Bubbles
from genobit.kendall.plots.heatmap import Ordered, order
from genobit.kendall.plots.links import Links, links_of
from genobit.kendall.plots.network import NODES, Laid, arrange
from genobit.kendall.variables import dosages
from genobit.visual.colouring import labels_along

if TYPE_CHECKING:
    from collections.abc import Hashable

#: Variables, drawn at random, whose pairs say how strong the strongest pairs of all will be.
DRAWN = 600
#: Variables in the heatmap: the hubs, if there are more.
IN_HEATMAP = 200


@dataclass(frozen=True)
class Scene:
    """What the views of one threshold show.

    `links` are all edges, `shown` those of the communities that are opened; `ordered` is tau of
    the variables at the places `heatmap`.
    """

    links: Links
    shown: Links
    laid: Laid | Bubbles
    ordered: Ordered
    heatmap: np.ndarray

    def pair(self, places: tuple[int, int]) -> xr.Dataset | None:
        """Look up tau, p and n of two variables, if both are in the heatmap.

        Parameters
        ----------
        places
            Of the variables.
        """
        if not np.isin(places, self.heatmap).all():
            return None
        values = self.ordered.values
        indices = np.searchsorted(self.heatmap, places).tolist()
        return values[dict(zip(values["tau"].dims, indices, strict=True))]


class Correlated:
    """The variables of an explorer, and what has been computed of them.

    Parameters
    ----------
    data
        Variables and observations, or genotypes, packed or not.
    pairs
        Result of `.genobit.kendall_pairs()` of the same, if there is one already.
    dim
        The dimension of the observations, where its name does not say so.

    Raises
    ------
    ValueError
        If there are fewer than two variables, or `pairs` is of others.
    """

    def __init__(
        self,
        data: xr.DataArray | xr.Dataset,
        pairs: PairTable | None = None,
        dim: Hashable | None = None,
    ) -> None:
        self._array = self._bits = None
        if isinstance(data, xr.Dataset):
            self._bits, self._layout, self._planes = packed.by_variants(data, phased=False)
            labelled: xr.Dataset = self._bits
            self.variable, self.observation = "variants", "samples"
        else:
            self._array = side_of(data, dim)
            labelled = self._array.coords.to_dataset()
            self.variable, self.observation = (str(name) for name in self._array.dims)
        sizes = data.sizes if self._bits is None else self._bits.sizes
        self.n_variables = int(sizes[self.variable])
        if self.n_variables < 2:
            raise ValueError(
                f"there is {self.n_variables} along {self.variable!r}, and a correlation is of two"
            )
        self._given = pairs
        self._held: Candidates | None = None
        self._lock = threading.Lock()
        if pairs is not None:
            self._check(pairs)
        self.variable_labels = labels_along(labelled, self.variable)
        self.observation_labels = labels_along(labelled, self.observation)
        self.names = np.array([f"{self.variable} {k}" for k in range(self.n_variables)], object)

    def _check(self, pairs: PairTable) -> None:
        if pairs.dim != self.variable or len(pairs.names) != self.n_variables:
            raise ValueError(
                f"pairs= is of {len(pairs.names)} {pairs.dim!r}, and the data have "
                f"{self.n_variables} {self.variable!r}; hand in what kendall_pairs() gives of them"
            )

    def candidates(self) -> Candidates:
        """Find the edges to hold: all of at least a |tau| that leaves as many as can be held."""
        with self._lock:  # a cell may ask while the explorer computes
            if self._held is None:
                self._held = self._find()
            return self._held

    def _find(self) -> Candidates:
        pairs, floor = self._given, 0.0
        if pairs is not None:
            least = pairs.to_pandas()[pairs.value].abs().min()
            floor = float(pairs.attrs.get("min_abs") or (0.0 if np.isnan(least) else least))
        else:
            some = np.random.default_rng(0).permutation(self.n_variables)[:DRAWN]
            # All pairs of a few variables are held whatever they are.
            if self.n_variables > DRAWN:
                floor = floor_for(self.tau(np.sort(some))["tau"].values, self.n_variables, HELD)
            pairs = self._pairs(floor)
        held = hold(pairs, floor, HELD)
        self.names = held.pairs.names
        return held

    def _pairs(self, floor: float) -> PairTable:
        # Without a limit the table would be refused; every q-value is at most 1.
        if self._bits is not None:
            return self._bits.genobit.kendall_pairs(min_abs=floor, fdr=1.0)
        return self._array.genobit.kendall_pairs(min_abs=floor, fdr=1.0, dim=self.observation)

    def tau(self, places: np.ndarray) -> xr.Dataset:
        """Compute tau, p and n of all pairs of some variables.

        Parameters
        ----------
        places
            Of the variables.
        """
        if self._bits is not None:
            few = self._bits.genobit.isel(variants=places)
            return few.genobit.kendall("b", pvalue=True).compute()
        few = self._array.isel({self.variable: places})
        return few.genobit.kendall("b", pvalue=True, dim=self.observation).compute()

    def values(self, place: int) -> xr.DataArray:
        """Take one variable, shape (observations,), named as it is.

        Parameters
        ----------
        place
            Of the variable.
        """
        if self._bits is not None:
            rows = {name: plane[place : place + 1] for name, plane in self._planes.items()}
            row = dosages(rows, self._layout)[0].compute()
            coords = {k: v for k, v in self._bits.coords.items() if v.dims == (self.observation,)}
            found = xr.DataArray(row, coords, (self.observation,))
        else:
            found = self._array.isel({self.variable: place}).compute()
        return found.rename(str(self.names[place]))

    def scene(self, pairs: PairTable, opened: tuple[int, ...] | None) -> Scene:
        """Find communities and places of a network, and the order of its heatmap.

        Parameters
        ----------
        pairs
            The edges, one at least.
        opened
            Places of the variables to show, None for all.
        """
        links = links_of(pairs)
        shown = links if opened is None else links.within(np.asarray(opened))
        if not shown.size:
            shown = links
        hubs = np.sort(shown.variables[shown.hubs()[:IN_HEATMAP]])
        ordered = order(self.tau(hubs), names=self.names[hubs], out_of=shown.size)
        return Scene(links, shown, arrange(shown, NODES), ordered, hubs)
