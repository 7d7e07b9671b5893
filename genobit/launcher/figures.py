"""`result.genobit.plot()`: draw any result of genobit."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import genobit.visual  # noqa: F401  first, as it says which package is missing
from genobit.engine.spelling import did_you_mean
from genobit.epistasis.plots import kinds as epistasis
from genobit.grm.plots import kinds as grm
from genobit.kendall.plots import kinds as kendall
from genobit.ld.plots import kinds as ld
from genobit.parsimony.plots import kinds as parsimony
from genobit.pca.plots import kinds as pca
from genobit.quality.plots import kinds as quality
from genobit.similarity.plots import kinds as similarity
from genobit.visual.figure import Figure
from genobit.visual.plot_options import styled
from genobit.visual.results import result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import xarray as xr

    from genobit.data.pairs.table import PairTable

#: Every result that has plots. The first that matches counts, so general ones come last.
RESULTS = (
    *ld.RESULTS,
    *pca.RESULTS,
    *epistasis.RESULTS,
    *kendall.RESULTS,
    *similarity.RESULTS,
    *quality.RESULTS,
    *parsimony.RESULTS,
    *grm.RESULTS,
)


def figure_of(
    data: xr.DataArray | xr.Dataset | PairTable, kind: str | None, options: Mapping[str, Any]
) -> Figure:
    """Return the figure of a result.

    Raises ValueError for data that are no result and for an unknown kind, and TypeError for an
    option that the kind does not have.
    """
    name, draw = result_of(data, RESULTS).kind(kind)
    _check_options(name, draw, options)
    return Figure(styled(draw)(data, **options))


def _check_options(name: str, draw: Callable[..., Any], options: Mapping[str, Any]) -> None:
    parameters = list(inspect.signature(draw).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters]
    for option in options:
        if option not in known:
            raise TypeError(
                f"plot({name!r}) has no option {option!r}{did_you_mean(option, known)} "
                f"Its options are {', '.join(known) or 'none'}"
            )
