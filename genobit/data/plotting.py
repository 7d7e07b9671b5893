"""``plot`` of results and ``report`` of a Dataset, which are drawn in a higher layer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    import xarray as xr
    from numpy.typing import ArrayLike


class Plot:
    """``plot`` of a result: ``result.genobit.plot(kind, **options)`` draws it."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __call__(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw a result of genobit.

        Parameters
        ----------
        kind
            Kind of plot. The default is the first kind listed for the result:

            - LD: "triangle", "heatmap", "decay", "histogram"; with one variant: "track"
            - pruning, blocks: "track"; clumps: "manhattan"; decay: "curve"
            - LD scores: "track", "histogram"
            - relationships: "heatmap", "histogram", "pairs"; unrelated samples: "bars"
            - principal components: "scatter", "scree", "loadings"
            - rank correlations and similarities: "heatmap", "histogram"
            - interactions: "penetrance", "ranking", "arcs", "marginals", "permutations"
            - a tree: "homoplasy", "sites"; ancestral states: "tree"; a search: "trace"
            - allele frequencies: "spectrum"
            - statistics of variants: "spectrum", "histogram", "hwe"
            - statistics of samples: "histogram", "scatter"
        ax
            A matplotlib axes. The plot is drawn into it in its form for papers.
        **options
            Options of the kind, such as ``colour_by="population"`` of a scatter. An unknown option
            raises an error that lists the valid names. `genobit.plots` describes the options of
            each kind.

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
        <Figure 'VanRaden 1 of 3 samples': .show() opens it, .save("figure.pdf") writes it>
        """
        # Import by name, as `explore` does.
        figures = importlib.import_module("genobit.launcher.figures")
        return figures.figure_of(self._data, kind, options, ax)


class PlotMethods:
    """The method ``plot`` of results."""

    _data: Any

    @property
    def plot(self) -> Plot:
        """Draw a result: ``plot(kind, ax=None, **options)``; see `genobit.data.plotting.Plot`."""
        return Plot(self._data)


class ReportMethods:
    """The method ``report`` of a Dataset of genotypes."""

    _ds: xr.Dataset

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
        uses at most 20,000 autosomal variants with the same frequency limit, in runs of 1,000
        neighbours.

        Examples
        --------
        >>> import pathlib, tempfile, genobit, numpy as np, xarray as xr
        >>> calls = np.array([[[0, 1], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]]], "int8")
        >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.html"
        >>> ds.genobit.report(path, sections="quality").name
        'study.html'
        """
        # Import by name, as `explore` does.
        report = importlib.import_module("genobit.launcher.report")
        options = {"sections": sections, "colour_by": colour_by, "progress": progress}
        written: Path = report.write(self._ds, path, **options)
        return written
