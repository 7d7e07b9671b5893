"""Interactive explorers: ipywidgets controls round a plot, traits and observers only.

May import: genobit.plots, xarray, holoviews, panel, ipywidgets. No arithmetic beyond choosing
which variants are in view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.engine.extras import require

if TYPE_CHECKING:
    from collections.abc import Hashable

    import xarray as xr

    from genobit.data.selection import Selection
    from genobit.epistasis.explorer.explorer import EpistasisExplorer
    from genobit.grm.explorer.explorer import GRMExplorer
    from genobit.kendall.explorer.explorer import KendallExplorer
    from genobit.kendall.network import PairTable
    from genobit.launcher.launcher import Launcher
    from genobit.ld.explorer.explorer import LDExplorer
    from genobit.parsimony.explorer.explorer import ParsimonyExplorer

# Without panel and jupyter_bokeh the controls work, and the place of a plot says what is missing.
require("genobit.explore", "ipywidgets", "holoviews", "bokeh")


class Explore:
    """The explorers of one Dataset: `ds.genobit.explore`.

    Parameters
    ----------
    ds
        Genotypes, or the planes that `.genobit.pack()` makes of them.
    """

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def __repr__(self) -> str:
        """List what can be explored."""
        return (
            "genobit explorers: .ld(), .grm(), .kendall(), .epistasis(result); "
            "explore() offers those that this Dataset supports"
        )

    def __call__(self, selection: Selection | None = None, **initial: Any) -> Launcher:
        """Offer what this Dataset supports: a button opens an explorer.

        Parameters
        ----------
        selection
            `genobit.Selection` to share with explorers elsewhere; those that the launcher opens
            share one in any case.
        **initial
            Traits of `Launcher` to begin with: `theme`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.launcher.launcher import Launcher
        from genobit.launcher.offers import offers_of_dataset

        return Launcher(self._ds, offers_of_dataset(self._ds), selection, **initial)

    def ld(self, genes: Any = None, blocks: xr.Dataset | None = None, **initial: Any) -> LDExplorer:
        """Explore linkage disequilibrium: heatmap, triangle and a lead variant's region.

        Parameters
        ----------
        genes
            Genes to draw under the picture: path of a GFF3 file, or a table (pandas, xarray, list
            of dicts) with contig, start, end and perhaps name and strand.
        blocks
            Result of `.genobit.ld_blocks()` of these variants, to outline at every zoom. By
            default those of the variants in view are computed.
        **initial
            `selection` to share; traits of `LDExplorer` to begin with, such as
            `region=("2", 136.0e6, 136.5e6)`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.ld.explorer.explorer import LDExplorer

        return LDExplorer(self._ds, genes, blocks, **initial)

    def grm(
        self, grm: xr.DataArray | None = None, pcs: xr.Dataset | None = None, **initial: Any
    ) -> GRMExplorer:
        """Explore how samples are related: heatmap with its tree, components, closest pairs.

        Parameters
        ----------
        grm
            A relationship matrix of these samples to begin with, such as `genobit.open_gcta()`
            gives. By default it is computed, and other methods when they are chosen.
        pcs
            Principal components, as `.genobit.pca()` gives them; by default they are computed.
        **initial
            `selection` to share; `autosomes`, as for `.genobit.grm()`; traits of `GRMExplorer` to
            begin with, as `method="king"`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.grm.explorer.explorer import GRMExplorer

        return GRMExplorer(self._ds, grm, pcs, **initial)

    def kendall(self, pairs: PairTable | None = None, **initial: Any) -> KendallExplorer:
        """Explore which variants are correlated by rank: a threshold, and the network it makes.

        Parameters
        ----------
        pairs
            Result of `.genobit.kendall_pairs()` of these variants. By default it is computed.
        **initial
            `selection` to share; traits of `KendallExplorer` to begin with, as `min_abs=0.8`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.kendall.explorer.explorer import KendallExplorer

        return KendallExplorer(self._ds, pairs, **initial)

    def epistasis(self, result: xr.Dataset, **initial: Any) -> EpistasisExplorer:
        """Explore which combinations of variants go with a phenotype, and how.

        Parameters
        ----------
        result
            Of `.genobit.epistasis()` of these variants.
        **initial
            `selection` to share; traits of `EpistasisExplorer` to begin with, as `filter="2:"`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.epistasis.explorer.explorer import EpistasisExplorer

        return EpistasisExplorer(self._ds, result, **initial)


class ExploreArray:
    """The explorers of one DataArray: `expr.genobit.explore`.

    Parameters
    ----------
    da
        Variables and observations.
    """

    def __init__(self, da: xr.DataArray) -> None:
        self._da = da

    def __repr__(self) -> str:
        """List what can be explored."""
        return (
            "genobit explorers: .kendall(), .parsimony(trees) for an alignment; "
            "explore() offers those that these data support"
        )

    def __call__(self, selection: Selection | None = None, **initial: Any) -> Launcher:
        """Offer what these data support: a button opens an explorer.

        Parameters
        ----------
        selection
            `genobit.Selection` to share with explorers elsewhere.
        **initial
            Traits of `Launcher` to begin with: `theme`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.launcher.launcher import Launcher
        from genobit.launcher.offers import offers_of_array

        return Launcher(self._da, offers_of_array(self._da), selection, **initial)

    def kendall(
        self, pairs: PairTable | None = None, *, dim: Hashable | None = None, **initial: Any
    ) -> KendallExplorer:
        """Explore which variables are correlated by rank: a threshold, and the network it makes.

        Parameters
        ----------
        pairs
            Result of `.genobit.kendall_pairs()` of these variables. By default it is computed.
        dim
            The dimension of the observations, where its name does not say so.
        **initial
            `selection` to share; traits of `KendallExplorer` to begin with, as `min_abs=0.8`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.kendall.explorer.explorer import KendallExplorer

        return KendallExplorer(self._da, pairs, dim, **initial)

    def parsimony(self, trees: Any = None, **initial: Any) -> ParsimonyExplorer:
        """Explore trees of an alignment: the changes of each branch and of each site.

        Parameters
        ----------
        trees
            Trees as `.genobit.parsimony()` takes them, or the result of
            `.genobit.parsimony_search()`. By default alignments of up to 60 taxa are searched, and
            for others a button does so.
        **initial
            `selection` to share; traits of `ParsimonyExplorer` to begin with, as `site=17`.

        Returns
        -------
        A widget; show it by leaving it at the end of a notebook cell.
        """
        from genobit.parsimony.explorer.explorer import ParsimonyExplorer

        return ParsimonyExplorer(self._da, trees, **initial)
