"""``plot`` of results and ``report`` of a Dataset, which are drawn in a higher layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genobit.data.analysis import DatasetMethods
from genobit.engine.own_words import SuggestsNames

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import xarray as xr
    from numpy.typing import ArrayLike

    from genobit.data.autosomes import Autosomes


_LAUNCHER: list[Callable[[str], Any]] = []


def connect(launcher: Callable[[str], Any]) -> None:
    """Set the function that returns an object of the launcher, such as "explore.Explore"."""
    _LAUNCHER[:] = [launcher]


def shown_by(name: str, *given: Any, **options: Any) -> Any:
    """Call an object of the launcher, a higher layer that `genobit` connects."""
    return _LAUNCHER[0](name)(*given, **options)


class Plot(SuggestsNames):
    """Method ``plot`` of a result: call ``result.genobit.plot(kind, **options)``."""

    _called = "da.genobit.plot"

    def _unknown(self, name: str) -> str:
        return f"{super()._unknown(name)} A kind is an argument: plot(kind)."

    def __init__(self, data: Any) -> None:
        self._data = data

    def __call__(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw a result of genobit.

        Parameters
        ----------
        kind
            Kind of plot. The default is the first kind listed for the result:

            - LD: "triangle", "heatmap", "decay", "histogram"; with a single variant as ``other``:
              "track"
            - pruning, blocks: "track"; clumps: "manhattan"; decay: "curve"
            - LD scores: "track", "histogram"
            - relationships: "heatmap", "histogram", "pairs"; unrelated samples: "bars"
            - principal components: "scatter", "scree", "loadings"
            - rank correlations and similarities: "heatmap", "histogram"
            - interactions: "penetrance", "ranking", "arcs", "marginals", "permutations"
            - lengths of one tree: "homoplasy", "sites"; of several trees, or with ``sites=False``:
              "lengths"; ancestral states: "tree"; a search: "trace"
            - allele frequencies: "spectrum"
            - statistics of variants: "spectrum", "histogram", "hwe"
            - statistics of samples: "histogram", "scatter"
        ax
            Matplotlib axes to draw into.
        **options
            Options of the kind, such as ``colour_by="population"`` of a scatter. An unknown option
            raises an error that lists the valid names. `genobit.plots` describes the options of
            each kind. A plot of LD takes ``genes="genes.gff3"``.

        Returns
        -------
            `genobit.visual.figure.Figure`, which a notebook shows. Elsewhere, ``.show()`` opens it
            in a browser. ``.save("figure.pdf", width_mm=90)`` writes it for a paper, and
            ``.save("figure.html")`` as an interactive page. ``.hv`` is the HoloViews object. With
            ``ax``, the result is ``ax``.

        Raises
        ------
        ValueError, TypeError
            For data that are not a result of genobit, an unknown kind, or an unknown option.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.grm().genobit.plot()
        <Figure 'heatmap': .show() opens it, .save("figure.pdf") writes it>
        """
        return shown_by("figures.figure_of", self._data, kind, options, ax)


class DatasetPlot(Plot):
    """Draw a result with ``plot()``; ``plot.region()`` and ``.relatedness()`` draw genotypes."""

    _called = "ds.genobit.plot"

    def region(
        self,
        association: Any,
        *,
        region: str | None = None,
        lead: str | int | None = None,
        genes: Any = None,
        genetic_map: Any = None,
        blocks: bool | xr.Dataset | None = True,
        statistic: str = "r2",
        min_maf: float = 0.05,
        **options: Any,
    ) -> Any:
        """Draw the association of a region, its genes, and linkage disequilibrium of its variants.

        Points are coloured by r2 with the lead variant. LD is computed from these genotypes.

        Parameters
        ----------
        association
            Table with a p-value for each variant: a pandas DataFrame, an xarray Dataset, or the
            path of a text file. A Series needs identifiers as its index. Rows are matched by
            identifier. If no identifier of the table matches, all rows are matched by contig and
            position. The figure counts rows that match no variant, and variants without a p-value.
        region
            Region to draw, such as "2:136.5Mb-136.7Mb". By default, the contig of the lead variant
            if that contig has at most 1,000 variants. Otherwise, 250 kb to each side of the lead
            variant.
        lead
            Identifier or index of the lead variant. The default is the variant with the smallest p,
            in ``region`` if that is given.
        genes
            Path of a GFF3 file, or a table of genes.
        genetic_map
            Path of a genetic map, or a table. Recombination rates get an axis on the right.
        blocks
            True outlines haplotype blocks, and False does not. A result of `.genobit.ld_blocks()`
            outlines its blocks.
        statistic
            Statistic of the triangle, as for `.genobit.ld()`.
        min_maf
            Smallest minor allele frequency of the variants in all panels.
        **options
            ``p``, the column of the p-values; by default it is recognised by its name. ``log10``,
            whether the column holds -log10 of p. ``significance``, the p-value of the dashed line,
            5e-8 by default. ``note``, lines to add to the figure's notes, such as the source of the
            data.

        Returns
        -------
            `genobit.visual.figure.Figure` for papers: ``.save("figure.pdf", width_mm=180)``.

        Raises
        ------
        ValueError
            If no row matches a variant, if several columns hold p-values, or if a variant has
            several p-values. If fewer than two variants are left, or if the lead variant is not
            among them.
        KeyError
            Without ``variant_position``.
        TypeError
            For an unknown option.

        Examples
        --------
        >>> import genobit, numpy as np, pandas as pd, xarray as xr
        >>> calls = np.random.default_rng(1).integers(0, 2, (6, 50, 2), "int8")
        >>> ds = xr.Dataset(
        ...     {
        ...         "call_genotype": (("variants", "samples", "ploidy"), calls),
        ...         "variant_position": ("variants", np.arange(6) * 1000 + 1),
        ...         "variant_id": ("variants", [f"rs{k}" for k in range(6)]),
        ...     }
        ... )
        >>> table = pd.DataFrame({"id": ds.variant_id.values, "p": np.geomspace(1e-9, 0.5, 6)})
        >>> ds.genobit.plot.region(table)
        <Figure 'region': .show() opens it, .save("figure.pdf") writes it>
        """
        given = {"region": region, "lead": lead, "genes": genes, "genetic_map": genetic_map}
        given |= {"blocks": blocks, "statistic": statistic, "min_maf": min_maf, **options}
        return shown_by("figures.paper_figure", "region", self._data, association, **given)

    def relatedness(
        self,
        *,
        colour_by: str | ArrayLike | xr.DataArray | None = None,
        method: str = "vanraden1",
        colour_limits: tuple[float, float] | None = None,
        autosomes: Autosomes = True,
    ) -> Any:
        """Draw relationships, principal components, and kinship against IBS0.

        The matrix of relationships is in the order of its clustering tree. Each degree of
        relationship is a band of kinship, with its number of pairs.

        Parameters
        ----------
        colour_by
            Name of a label of the samples ("population" also finds ``sample_population``), or a
            value for each sample. Names of groups are beside their points, or in a key if
            groups overlap.
        method
            Method of the matrix, as for `.genobit.grm()`.
        colour_limits
            Lowest and highest relationship of the colour scale. The default is computed from the
            values off the diagonal.
        autosomes
            Which contigs are autosomes, as for `.genobit.grm()`. Other contigs are left out, and
            the figure counts their variants.

        Returns
        -------
            `genobit.visual.figure.Figure` for papers: ``.save("figure.pdf", width_mm=180)``.

        Raises
        ------
        ValueError, KeyError
            As for `.genobit.grm()` and `.genobit.pca()`, and for an unknown ``colour_by``.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.random.default_rng(1).integers(0, 2, (60, 8, 2), "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> ds.genobit.plot.relatedness()
        <Figure 'relatedness': .show() opens it, .save("figure.pdf") writes it>
        """
        given = {"colour_by": colour_by, "method": method, "colour_limits": colour_limits}
        return shown_by(
            "figures.paper_figure", "relatedness", self._data, autosomes=autosomes, **given
        )


class PlotMethods:
    """The method ``plot`` of results."""

    _data: Any

    @property
    def plot(self) -> Plot:
        """Method ``plot(kind, ax=None, **options)`` that draws a result; see `Plot`."""
        return Plot(self._data)


class DatasetPlotMethods(PlotMethods):
    """The method ``plot`` of Datasets: of results and of genotypes."""

    @property
    def plot(self) -> DatasetPlot:
        """Method ``plot(kind, ax=None, **options)`` that draws a result.

        Genotypes have figures of their own: ``plot.region(association)`` and
        ``plot.relatedness()``. See `genobit.data.plotting.DatasetPlot`.
        """
        return DatasetPlot(self._data)


class NetworkPlotMethods:
    """The method ``plot`` of tables of pairs and of networks."""

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw the network of the pairs.

        Parameters
        ----------
        kind
            Kind of plot: "network", the only one.
        ax
            Matplotlib axes to draw into.
        **options
            As for `genobit.plots.kendall_network`.

        Returns
        -------
            `genobit.visual.figure.Figure`, which a notebook shows. ``.save("figure.pdf")`` writes
            it, and ``.hv`` is the HoloViews object. With ``ax``, the result is ``ax``.

        Raises
        ------
        ValueError
            For an unknown kind.
        TypeError
            For an unknown option.

        Examples
        --------
        >>> import genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> pairs = ds.genobit.ld_pairs(threshold=0.5)
        >>> pairs.plot()
        <Figure 'network': .show() opens it, .save("figure.pdf") writes it>
        >>> pairs.to_network().plot()
        <Figure 'network': .show() opens it, .save("figure.pdf") writes it>
        """
        return shown_by("figures.figure_of", self, kind, options, ax)


class ReportMethods(DatasetMethods):
    """The method ``report`` of a Dataset of genotypes."""

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        sections: str | Sequence[str] | None = None,
        colour_by: str | ArrayLike | xr.DataArray | None = None,
        progress: bool | None = None,
    ) -> Path:
        """Write an HTML report: quality control, LD decay, PCA and kinship.

        Parameters
        ----------
        path
            Path of an ``.html`` file. The page works without internet. An existing file is replaced
            when the new one is complete.
        sections
            Names of sections: any of "quality", "decay", "pca" and "kinship". The default is all
            four sections.
        colour_by
            Colour samples by a label ("population" also finds ``sample_population``), or by a value
            for each sample. By default, all have one colour. A DataArray or Series is aligned by
            its labels.
        progress
            Whether to show a progress bar. The default is the option ``progress``.

        Returns
        -------
            The absolute path of the file.

        Raises
        ------
        ValueError, KeyError
            If ``path`` does not end in ``.html``, or ``sections`` or ``colour_by`` has an unknown
            name.
        RuntimeError
            If a section failed and no other section could be made. An existing file stays as it is.

        Notes
        -----
        If the data do not allow a section, the page gives the reason. If a section fails, the page
        says why, and a RuntimeWarning appears. Principal components and kinship use at most 50,000
        evenly spaced autosomal variants with a minor allele frequency of at least 0.05. LD decay
        uses at most 20,000 of the autosomal variants that pass the same frequency limit. If there
        are more, it uses evenly spaced runs of 1,000 consecutive ones.

        Examples
        --------
        >>> import pathlib, tempfile, genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.html"
        >>> ds.genobit.report(path, sections="quality").name
        'study.html'
        """
        options = {"sections": sections, "colour_by": colour_by, "progress": progress}
        written: Path = shown_by("report.write", self._ds, path, **options)
        return written
