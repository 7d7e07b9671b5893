"""Figure of the relatedness of samples: their matrix, principal components and kinship."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genobit.grm.explorer.paper import Relatedness
from genobit.grm.plots.heatmap import arrange
from genobit.grm.plots.paper_kinship import kinship_pairs
from genobit.grm.plots.paper_matrix import MAX_PIXELS, matrix_panel
from genobit.grm.plots.paper_tree import group_codes
from genobit.visual.colouring import colouring_of
from genobit.visual.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr
    from numpy.typing import ArrayLike

    from genobit.data.autosomes import Autosomes
    from genobit.visual.paper.page import Paper


def relatedness(
    ds: xr.Dataset,
    *,
    colour_by: str | ArrayLike | xr.DataArray | None = None,
    method: str = "vanraden1",
    colour_limits: Sequence[float] | None = None,
    autosomes: Autosomes = True,
    components: Sequence[int] = (1, 2),
) -> Paper:
    """Return the figure of relatedness: relationship matrix, principal components and kinship.

    Parameters
    ----------
    ds
        Genotypes.
    colour_by
        Label of the samples that colours them ("population" also finds ``sample_population``), or
        a value for each sample. A DataArray or Series is aligned by its labels.
    method
        Method of the relationship matrix, as for ``ds.genobit.grm``.
    colour_limits
        Lowest and highest value of the colours of the matrix. By default, relatives saturate.
    autosomes
        Variants to use, as for ``ds.genobit.grm``. By default, contigs X, Y and MT are left out.
        The figure states how many variants that are.
    components
        The two principal components to draw, counted from 1.

    Returns
    -------
        The figure as `genobit.visual.paper.page.Paper`. From 140 mm of width on, the matrix stands
        beside the other two panels, else above them.

    Raises
    ------
    ValueError
        For fewer than three samples, and for an invalid option.
    KeyError
        For a label that the samples lack.

    Notes
    -----
    Kinship is KING-robust, which needs heterozygous calls. If fewer than 5% of the calls are
    heterozygous, the figure has a histogram of relationships in place of kinship. Pairs with a
    kinship below -0.14 are counted in words and not drawn. From 50,000 pairs on, pairs that would
    lie on each other are drawn once, and the figure says so.

    Examples
    --------
    >>> import genobit, numpy as np, xarray as xr
    >>> calls = np.random.default_rng(0).integers(0, 2, (50, 6, 2), "int8")
    >>> ds = xr.Dataset({"call_genotype": (("variants", "samples", "ploidy"), calls)})
    >>> round(relatedness(ds).height(180))
    98
    """
    n_samples = ds.sizes["samples"]
    if n_samples < 3:
        raise ValueError(
            f"dimension 'samples' has {number(n_samples, 'sample')}, and the figure of relatedness "
            "needs at least 3; draw .genobit.grm() instead"
        )
    first, second = _checked(components)
    chosen = colouring_of(ds, colour_by, "samples")
    named = chosen if chosen.name else None
    groups, colours = group_codes(named, n_samples)
    grm = ds.genobit.grm(method, autosomes=autosomes, compute=True)
    drawn = Relatedness(
        matrix_panel(arrange(grm, MAX_PIXELS), named, colour_limits),
        ds.genobit.pca(max(first, second), autosomes=autosomes),
        kinship_pairs(ds, groups, len(colours), autosomes),
        chosen,
        groups,
        colours,
        (first, second),
    )
    return drawn.paper()


def _checked(components: Sequence[int]) -> tuple[int, int]:
    if len(components) != 2 or min(components) < 1:
        raise ValueError(f"components is {components}; give two numbers from 1 on, such as (1, 2)")
    return components[0], components[1]
