"""`result.genobit.plot()`: draw any result of genobit."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import genobit.visual  # noqa: F401  first, as it says which package is missing
from genobit.data.analysis import registered
from genobit.engine.own_words import explained
from genobit.engine.synonyms import own_name
from genobit.launcher.relatedness import relatedness
from genobit.ld.plots.region import region
from genobit.visual.figure import Figure
from genobit.visual.results import result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import xarray as xr

    from genobit.data.pairs.network import Network
    from genobit.data.pairs.table import PairTable
    from genobit.visual.paper.page import Paper

#: Every result that has plots. The first that matches counts, so general ones come last.
RESULTS = sorted(
    (
        result
        for analysis in registered()
        if analysis.has_plots
        for result in analysis.part("plots.kinds").RESULTS
    ),
    key=lambda result: result.is_general,
)

#: Figures of genotypes.
PAPERS: dict[str, Callable[..., Paper]] = {"region": region, "relatedness": relatedness}


def figure_of(
    data: xr.DataArray | xr.Dataset | Network | PairTable,
    kind: str | None,
    options: Mapping[str, Any],
    axes: Any = None,
) -> Any:
    """Return the figure of a result, or draw its form for papers into a matplotlib axes.

    Raises ValueError for data that are no result and for an unknown kind, and TypeError for an
    option that the kind does not have.
    """
    result = result_of(data, RESULTS)
    name, draw = result.kind(kind)
    form = result.papers.get(name)
    known = _options(draw), set() if form is None else _options(form)
    _check_options(name, known, options)
    checked = explained(draw, f"plots.{draw.__name__}")
    picture = checked(data, **options) if _takes(known[0], options) else None
    # Options for the screen alone have a form that is drawn from the screen.
    own = form is not None and _takes(known[1], options)
    figure = Figure(picture, partial(form, data, **options) if own and form else None, name)
    if axes is None:
        return figure
    from matplotlib.axes import Axes

    from genobit.visual.paper import page

    if not isinstance(axes, Axes):
        raise TypeError(f"ax= is of type {type(axes).__name__}, expected axes of matplotlib")
    return page.draw_on(figure.paper(), axes)


def paper_figure(name: str, ds: xr.Dataset, *given: Any, **options: Any) -> Figure:
    """Return a figure of genotypes, which is for papers alone; it is computed now.

    Raises TypeError for an unknown option.
    """
    form = PAPERS[name]
    _check_options(f".{name}", (set(), _options(form)), options)
    paper = form(ds, *given, **options)
    return Figure(None, lambda: paper, name)


def _options(draw: Callable[..., Any]) -> set[str]:
    """Return the names of the options of a plot; "**" stands for any."""
    parameters = list(inspect.signature(draw).parameters.values())[1:]
    return {"**" if p.kind is p.VAR_KEYWORD else p.name for p in parameters}


def _takes(known: set[str], options: Iterable[str]) -> bool:
    return "**" in known or set(options) <= known


def _check_options(name: str, known: tuple[set[str], set[str]], options: Iterable[str]) -> None:
    if any(_takes(some, options) for some in known):
        return
    either = sorted(known[0] | known[1])
    for option in options:
        if option not in either:
            raise TypeError(
                f"plot({name!r}) has no option {option!r}{own_name(option, either)} "
                f"Its options are {', '.join(either) or 'none'}"
            )
    screen, paper = (sorted(set(options) - some) for some in known)
    raise TypeError(
        f"plot({name!r}) cannot take these options together: {screen[0]!r} is for papers alone, "
        f"and {paper[0]!r} for screens alone"
    )
