"""The interactive explorers of a Dataset or DataArray: `gb.explore`, `ds.genobit.explore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.engine.extras import require
from genobit.engine.own_words import SuggestsNames

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import xarray as xr

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.table import PairTable
    from genobit.data.selection import Selection
    from genobit.epistasis.explorer.explorer import EpistasisExplorer
    from genobit.grm.explorer.explorer import GRMExplorer
    from genobit.kendall.explorer.explorer import KendallExplorer
    from genobit.launcher.launcher import Launcher
    from genobit.launcher.offers import Offer
    from genobit.ld.explorer.explorer import LDExplorer
    from genobit.parsimony.explorer.explorer import ParsimonyExplorer

require("genobit.explore", "ipywidgets", "holoviews", "bokeh", "anywidget")


def _listed(data: Any, offers: Callable[[Any], list[Offer]], names: tuple[str, ...]) -> str:
    """Return one line per explorer: how it is called, its question, or the unmet requirement."""
    from genobit.data.summary.text import table
    from genobit.launcher.offers import in_words

    title = f"genobit explorers of {in_words(data)}"
    try:
        found = [offer for offer in offers(data) if offer.name in names]
    except ValueError as error:
        return f"{title}\n  {error}"
    call = {"epistasis": "explore.epistasis(result)"}
    rows = [
        (
            "–" if offer.why_not else "✓",
            call.get(offer.name, f"explore.{offer.name}()"),
            offer.why_not or offer.question,
        )
        for offer in found
    ]
    launcher = ("✓", "explore()", "a launcher with a button for each")
    return "\n".join([title, *table([*rows, launcher])])


class Explore(SuggestsNames):
    """The explorers of one Dataset: `ds.genobit.explore`.

    Parameters
    ----------
    ds
        Genotypes, packed or not.
    """

    _called = "ds.genobit.explore"

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def __repr__(self) -> str:
        """List the explorers, and what those that cannot be opened need."""
        from genobit.launcher.offers import offers_of_dataset

        return _listed(self._ds, offers_of_dataset, ("ld", "grm", "kendall", "epistasis"))

    def __call__(self, selection: Selection | None = None, **initial: Any) -> Launcher:
        """Open a launcher: one button for each explorer that this Dataset supports.

        Parameters
        ----------
        selection
            `genobit.Selection` to share with other explorers. The explorers of one launcher always
            share a selection.
        **initial
            ``theme``, the initial theme: "auto", "light" or "dark".

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.launcher.launcher import Launcher
        from genobit.launcher.offers import offers_of_dataset

        return Launcher(self._ds, offers_of_dataset(self._ds), selection, **initial)

    def ld(
        self,
        genes: Any = None,
        blocks: xr.Dataset | None = None,
        association: Any = None,
        **initial: Any,
    ) -> LDExplorer:
        """Explore linkage disequilibrium: heatmap, triangle and the region of a lead variant.

        Parameters
        ----------
        genes
            Genes to draw under the picture: path of a GFF3 file, or a table (pandas, xarray, list
            of dicts). The table has contig, start and end, and optionally name and strand.
        blocks
            Result of `.genobit.ld_blocks()` of these variants; its blocks are outlined. By default,
            blocks are computed for the variants in view.
        association
            Table with a p-value for each variant, as for `ds.genobit.plot.region`. With it, a plot
            of -log10 of p is drawn above the heatmap. The colour of a point shows its r² with the
            lead variant. A click on a point chooses the lead variant.
        **initial
            `selection`, a `genobit.Selection` to share with other explorers. All other arguments
            are initial values of the traits of `LDExplorer`, such as `lead="rs699"`, whose region
            is shown, or `region="2:136Mb-136.5Mb"`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.ld.explorer.explorer import LDExplorer

        return LDExplorer(self._ds, genes, blocks, association, **initial)

    def grm(
        self, grm: xr.DataArray | None = None, pcs: xr.Dataset | None = None, **initial: Any
    ) -> GRMExplorer:
        """Explore relatedness: heatmap with a clustering tree, principal components, closest pairs.

        Parameters
        ----------
        grm
            Initial relationship matrix of these samples, such as the result of
            `genobit.open_gcta()`. By default it is computed. Matrices of other methods are computed
            when the method is chosen.
        pcs
            Principal components from `.genobit.pca()`; by default they are computed.
        **initial
            `selection`, a `genobit.Selection` to share with other explorers, and `autosomes`, as
            for `.genobit.grm()`. All other arguments are initial values of the traits of
            `GRMExplorer`, such as `method="king"`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.grm.explorer.explorer import GRMExplorer

        return GRMExplorer(self._ds, grm, pcs, **initial)

    def kendall(self, pairs: PairTable | Network | None = None, **initial: Any) -> KendallExplorer:
        """Explore rank correlations of variants: a threshold, and the network of pairs above it.

        Parameters
        ----------
        pairs
            Result of `.genobit.kendall_pairs()` of these variants. By default it is computed.
        **initial
            `selection`, a `genobit.Selection` to share with other explorers. All other arguments
            are initial values of the traits of `KendallExplorer`, such as `threshold=0.8`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.kendall.explorer.explorer import KendallExplorer

        return KendallExplorer(self._ds, pairs, **initial)

    def epistasis(self, result: xr.Dataset, **initial: Any) -> EpistasisExplorer:
        """Explore combinations of variants that are associated with a phenotype.

        Parameters
        ----------
        result
            Result of `.genobit.epistasis()` of these variants.
        **initial
            `selection`, a `genobit.Selection` to share with other explorers. All other arguments
            are initial values of the traits of `EpistasisExplorer`, such as `filter="2:"`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.epistasis.explorer.explorer import EpistasisExplorer

        return EpistasisExplorer(self._ds, result, **initial)


class ExploreArray(SuggestsNames):
    """The explorers of one DataArray: `expr.genobit.explore`.

    Parameters
    ----------
    da
        Variables and observations, binary rows, or an alignment.
    """

    _called = "da.genobit.explore"

    def __init__(self, da: xr.DataArray) -> None:
        self._da = da

    def __repr__(self) -> str:
        """List the explorers, and what those that cannot be opened need."""
        from genobit.launcher.offers import offers_of_array

        return _listed(self._da, offers_of_array, ("kendall", "parsimony"))

    def __call__(self, selection: Selection | None = None, **initial: Any) -> Launcher:
        """Open a launcher: one button for each explorer that these data support.

        Parameters
        ----------
        selection
            `genobit.Selection` to share with other explorers.
        **initial
            ``theme``, the initial theme: "auto", "light" or "dark".

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.launcher.launcher import Launcher
        from genobit.launcher.offers import offers_of_array

        return Launcher(self._da, offers_of_array(self._da), selection, **initial)

    def kendall(
        self,
        pairs: PairTable | Network | None = None,
        *,
        dim: Hashable | None = None,
        **initial: Any,
    ) -> KendallExplorer:
        """Explore rank correlations of variables: a threshold, and the network of pairs above it.

        Parameters
        ----------
        pairs
            Result of `.genobit.kendall_pairs()` of these variables. By default it is computed.
        dim
            Dimension of the observations, as for `.genobit.kendall()`.
        **initial
            `selection`, a `genobit.Selection` to share with other explorers. All other arguments
            are initial values of the traits of `KendallExplorer`, such as `threshold=0.8`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.kendall.explorer.explorer import KendallExplorer

        return KendallExplorer(self._da, pairs, dim, **initial)

    def parsimony(self, trees: Any = None, **initial: Any) -> ParsimonyExplorer:
        """Explore trees of an alignment: the changes on each branch and at each site.

        Parameters
        ----------
        trees
            Trees in any form that `.genobit.parsimony()` takes, or the result of
            `.genobit.parsimony_search()`. By default, the explorer searches for the shortest trees:
            at once for up to 60 taxa, otherwise after a click on the button "find trees".
        **initial
            `selection`, a `genobit.Selection` to share with other explorers. All other arguments
            are initial values of the traits of `ParsimonyExplorer`, such as `site=17`.

        Returns
        -------
        A widget, which a notebook shows if it is the last expression of a cell.
        """
        from genobit.parsimony.explorer.explorer import ParsimonyExplorer

        return ParsimonyExplorer(self._da, trees, **initial)
