"""State of the Kendall explorer: its variables, candidate edges, and tau of variables in view."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from genobit.data import packed
from genobit.data.genotype_methods import GenotypeMethods
from genobit.data.pairs.network import Network
from genobit.data.pairs.table import ROWS, PairTable, as_network
from genobit.kendall.explorer.candidates import HELD, Candidates, floor_for, hold
from genobit.kendall.methods.matrix import KendallArrayMethods, KendallGenotypeMethods, side_of
from genobit.kendall.methods.pairs import KendallArrayPairsMethods, KendallGenotypePairsMethods
from genobit.kendall.plots.communities import CommunityLayout
from genobit.kendall.plots.heatmap import OrderedTau, order
from genobit.kendall.plots.links import Links, links_of
from genobit.kendall.plots.network import NODES, NetworkLayout, arrange, layout_in_words
from genobit.kendall.variables import dosages
from genobit.visual.colouring import labels_along
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Hashable

#: Size of the random sample of variables whose pairs estimate tau of the strongest pairs.
DRAWN = 600
#: Most variables in the heatmap: the hubs, if there are more.
IN_HEATMAP = 200
#: Width and height of the network in screen pixels, without its key.
NETWORK_FRAME = (560.0, 500.0)


@dataclass(frozen=True)
class PairValues:
    """Two variables by position, their values, and tau, p and the number of observations."""

    places: tuple[int, int]
    x: xr.DataArray
    y: xr.DataArray
    tau: float
    pvalue: float
    n: int

    @property
    def observed(self) -> np.ndarray:
        """Positions of the observations that are present in both variables."""
        values = np.asarray([self.x.values, self.y.values], dtype="f8")
        return np.flatnonzero(~np.isnan(values).any(axis=0))


@dataclass(frozen=True)
class Scene:
    """Data of the views at one threshold.

    `links` are all edges, and `shown` the edges of the opened community. `ordered` is tau of the
    variables at the positions `heatmap`.
    """

    links: Links
    shown: Links
    laid: NetworkLayout | CommunityLayout
    ordered: OrderedTau
    heatmap: np.ndarray

    def in_words(self) -> str:
        """Return the numbers of shown and omitted edges of the network as text."""
        text = layout_in_words(self.laid).replace("\n", ", ")
        if isinstance(self.laid, CommunityLayout):
            return f"{text}; click one to open it"
        if self.shown is self.links:  # Its variables and edges are those of the threshold.
            n_drawn, n_edges = len(self.laid.drawn), len(self.links.first)
            drawn = f"the {n_drawn:,} strongest drawn, " if n_drawn < n_edges else ""
            return f"{drawn}{number(len(self.links.components), 'component')}"
        return f"opened: {text}"

    def pair(self, places: tuple[int, int]) -> xr.Dataset | None:
        """Return tau, p and n of two variables by position, or None if not in the heatmap."""
        if not np.isin(places, self.heatmap).all():
            return None
        values = self.ordered.values
        indices = np.searchsorted(self.heatmap, places).tolist()
        return values[dict(zip(values["tau"].dims, indices, strict=True))]


class KendallData:
    """Variables of an explorer, with their candidate edges and values.

    ``data``: variables and observations, or genotypes. ``pairs``: result of
    `.genobit.kendall_pairs()` on the same data. ``dim``: dimension of the observations. Raises
    ValueError for fewer than two variables, and for ``pairs`` of other data.
    """

    def __init__(
        self,
        data: xr.DataArray | xr.Dataset,
        pairs: PairTable | Network | None = None,
        dim: Hashable | None = None,
    ) -> None:
        self._data: xr.DataArray | xr.Dataset
        if isinstance(data, xr.Dataset):
            self._data, self._layout, self._planes = packed.by_variants(data, phased=False)
            labelled = self._data
            self.variable, self.observation = "variants", "samples"
        else:
            self._data = side_of(data, dim)
            labelled = self._data.coords.to_dataset()
            self.variable, self.observation = (str(name) for name in self._data.dims)
        self.row = ROWS.get(self.variable, self.variable)
        self.n_variables = int(self._data.sizes[self.variable])
        if self.n_variables < 2:
            raise ValueError(
                f"a correlation needs two {self.variable!r}, and the data have {self.n_variables}"
            )
        self._given = None if pairs is None else as_network(pairs)
        self._held: Candidates | None = None
        self._lock = threading.Lock()
        if self._given is not None:
            self._check(self._given)
        self.variable_labels = labels_along(labelled, self.variable)
        self.observation_labels = labels_along(labelled, self.observation)
        self.names = np.array([f"{self.variable} {k}" for k in range(self.n_variables)], object)

    def _check(self, pairs: Network) -> None:
        if pairs.dim != self.row or len(pairs.names) != self.n_variables:
            raise ValueError(
                f"pairs= has {len(pairs.names)} {pairs.dim!r}, and the data have "
                f"{self.n_variables} {self.variable!r}; give the result of kendall_pairs() on them"
            )

    def candidates(self) -> Candidates:
        """Return the candidate edges, with the lowest |tau| that leaves few enough to keep."""
        with self._lock:  # A notebook cell may ask while the explorer computes.
            if self._held is None:
                self._held = self._find()
            return self._held

    def _find(self) -> Candidates:
        pairs, floor = self._given, 0.0
        if pairs is not None:
            least = pairs.to_dataframe()[pairs.value].abs().min()
            floor = float(pairs.attrs.get("threshold") or (0.0 if np.isnan(least) else least))
        else:
            some = np.random.default_rng(0).permutation(self.n_variables)[:DRAWN]
            # Few variables need no floor, because all their pairs fit.
            if self.n_variables > DRAWN:
                floor = floor_for(self.tau(np.sort(some))["tau"].values, self.n_variables, HELD)
            pairs = self._pairs(floor)
        held = hold(pairs, floor, HELD)
        self.names = held.pairs.names
        return held

    def _pairs(self, floor: float) -> Network:
        # Without a limit kendall_pairs would refuse the table; every q-value is at most 1.
        if isinstance(self._data, xr.Dataset):
            found = KendallGenotypePairsMethods(self._data).kendall_pairs(floor, 1.0)
        else:
            pairs = KendallArrayPairsMethods(self._data)
            found = pairs.kendall_pairs(floor, 1.0, dim=self.observation)
        return found.to_network()

    def tau(self, places: np.ndarray) -> xr.Dataset:
        """Compute tau, p and n of all pairs of the variables at some positions."""
        if isinstance(self._data, xr.Dataset):
            planes = GenotypeMethods(self._data).isel(variants=places)
            found: Any = KendallGenotypeMethods(planes).kendall(pvalue=True)
        else:
            few = self._data.isel({self.variable: places})
            found = KendallArrayMethods(few).kendall(pvalue=True, dim=self.observation)
        tau: xr.Dataset = found.compute()
        return tau

    def values(self, place: int) -> xr.DataArray:
        """Return the values of the variable at a position, (observations,), with its name."""
        if isinstance(self._data, xr.Dataset):
            rows = {name: plane[place : place + 1] for name, plane in self._planes.items()}
            row = dosages(rows, self._layout)[0].compute()
            coords = {k: v for k, v in self._data.coords.items() if v.dims == (self.observation,)}
            found = xr.DataArray(row, coords, (self.observation,))
        else:
            found = self._data.isel({self.variable: place}).compute()
        return found.rename(str(self.names[place]))

    def pair(self, places: tuple[int, int], scene: Scene | None) -> PairValues:
        """Return two variables with their tau, which a scene may have already."""
        found = None if scene is None else scene.pair(places)
        if found is None:  # The pair has too few edges for the heatmap.
            found = self.tau(np.asarray(places))[{f"{self.variable}_{k}": k for k in (0, 1)}]
        x, y = (self.values(place) for place in places)
        return PairValues(
            places, x, y, float(found["tau"]), float(found["pvalue"]), int(found["n"])
        )

    def scene(self, pairs: Network, opened: tuple[int, ...] | None) -> Scene:
        """Compute the layout, the communities and the order of the heatmap of a network.

        ``pairs`` has at least one edge. ``opened`` lists the positions of the variables to show;
        None shows all.
        """
        links = links_of(pairs)
        shown = links if opened is None else links.within(np.asarray(opened))
        if not shown.size:
            shown = links
        hubs = np.sort(shown.variables[shown.hubs()[:IN_HEATMAP]])
        ordered = order(self.tau(hubs), names=self.names[hubs], out_of=shown.size)
        return Scene(links, shown, arrange(shown, NODES, NETWORK_FRAME), ordered, hubs)
