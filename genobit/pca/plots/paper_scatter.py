"""Scatter plot of two principal components for papers, with the names of groups on the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.palettes import Viridis256
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from genobit.pca.plots.paper_names import are_apart, name_groups
from genobit.pca.plots.scatter import axis_label, check_components
from genobit.visual.colouring import Colouring, colouring_of, one_colour_each
from genobit.visual.paper.key import draw_key, key_height
from genobit.visual.paper.page import MARGIN, Paper, panel, size_of
from genobit.visual.paper.texts import block_size, left_out, lines_of, millimetres
from genobit.visual.style import number
from genobit.visual.tokens import AXIS_PT, LIGHT, NOTE_PT, OTHER_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

#: Margins of the axes in millimetres: left with its labels, and below.
LEFT, BELOW = 14.0, 10.0
#: Height of the axes, as a share of their width.
_RATIO = 0.72
#: From this number of samples on, points are smaller and pixels inside of a PDF.
MANY = 2_000
_LINE = 1.25 * millimetres(NOTE_PT)


def paper_scatter(
    pcs: xr.Dataset,
    *,
    x: int = 1,
    y: int = 2,
    colour_by: Colouring | str | ArrayLike | xr.DataArray | None = None,
    names: object = None,  # noqa: ARG001 - paper has no hover text
) -> Paper:
    """Return the scatter of samples along two principal components, for papers.

    Parameters
    ----------
    pcs, x, y, colour_by
        As for `genobit.plots.pca_scatter`. Names of groups stand on the data, or in a key above
        if groups overlap.
    names
        Ignored: the names are hover text, which paper does not have.

    Returns
    -------
        The plot as `genobit.visual.paper.page.Paper`.

    Raises
    ------
    ValueError, KeyError
        If a component or a label does not exist, or values belong to other samples.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> pcs = xr.Dataset({"scores": (("samples", "components"), np.eye(3)[:, :2])})
    >>> round(paper_scatter(pcs).height(90), 1)
    69.7
    """
    check_components(pcs, x, y)
    colour = colouring_of(pcs, colour_by, "samples")

    key_in = key_of(pcs, colour, x, y)

    def key(width: float) -> Colouring | None:
        inside = width - LEFT - MARGIN
        return key_in(inside, _RATIO * inside)

    def notes(width: float) -> list[str]:
        return lines_of(_notes(pcs, x, y), width - LEFT - MARGIN)

    def above(width: float) -> float:
        bar = 0.0 if colour.categorical else 8.0
        found = key_height(key(width), width - LEFT - MARGIN)
        return MARGIN + _LINE * len(notes(width)) + 1.5 + bar + (found and found + 1.0)

    def height(width: float) -> float:
        return above(width) + _RATIO * (width - LEFT - MARGIN) + BELOW

    def draw(axes: Axes) -> None:
        axes.set_axis_off()
        wide, tall = size_of(axes)
        for k, line in enumerate(notes(wide)):
            axes.text(
                LEFT / wide,
                1 - (MARGIN + k * _LINE) / tall,
                line,
                fontsize=NOTE_PT,
                color=LIGHT.slate,
                va="top",
                transform=axes.transAxes,
            )
        top, inside, named = above(wide), wide - LEFT - MARGIN, key(wide)
        draw_key(axes, named, LEFT, MARGIN + _LINE * len(notes(wide)) + 0.5, inside)
        inner = panel(axes, LEFT, top, inside, tall - top - BELOW)
        draw_scatter(inner, pcs, colour, x, y, named=named is None)

    return Paper(draw, height, whole=True)


def key_of(
    pcs: xr.Dataset, colour: Colouring, x: int, y: int
) -> Callable[[float, float], Colouring | None]:
    """Return a function of the width and height of a panel in millimetres.

    It returns the colouring if that needs a key: groups that cannot be named on the data.
    """
    at, up = _scores(pcs, x, y)
    asked: dict[tuple[float, float], Colouring | None] = {}

    def found(width: float, height: float) -> Colouring | None:
        if not (colour.categorical and colour.name):
            return None
        # The rarest groups share a colour, and their common name tells nothing on the data.
        if OTHER_GROUP in colour.colours.values():
            return colour
        for size, known in asked.items():
            # The height of a page and its drawing ask for sizes that differ by rounding.
            if np.allclose(size, (width, height), atol=1e-3):
                return known
        size = width, height
        apart = are_apart(at, up, colour.values.astype(str), list(colour.colours), size)
        asked[size] = None if apart else colour
        return asked[size]

    return found


def _scores(pcs: xr.Dataset, x: int, y: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the samples along two components."""
    scores = pcs["scores"].transpose("samples", "components").values.astype("f8")
    return scores[:, x - 1], scores[:, y - 1]


def _notes(pcs: xr.Dataset, x: int, y: int) -> list[str]:
    """Return what the plot shows and what it leaves out."""
    scores = np.array(_scores(pcs, x, y))
    text = number(scores.shape[1], "sample")
    unseen = int((~np.isfinite(scores)).any(axis=0).sum())
    if unseen:
        text += f", {unseen:,} without scores"
    if "variants" in pcs.attrs:
        text += f"; {number(int(pcs.attrs['variants']), 'variant')}"
    return [text, *left_out(pcs.attrs)]


def draw_scatter(
    axes: Axes,
    pcs: xr.Dataset,
    colour: Colouring,
    x: int = 1,
    y: int = 2,
    *,
    named: bool = True,
) -> None:
    """Draw samples along two components into an empty axes, if ``named`` with names of groups."""
    at, up = _scores(pcs, x, y)
    each = one_colour_each(colour)
    # Drawn in the order of the data, the last group would hide others.
    order = np.random.default_rng(0).permutation(len(at))
    order = order[np.isfinite(at[order]) & np.isfinite(up[order])]
    many = len(at) >= MANY
    drawn = axes.scatter(
        at[order],
        up[order],
        s=3.0 if many else 9.0,
        c=each[order].tolist() if len(order) else None,
        edgecolors="none" if many else LIGHT.paper,
        linewidths=0.25,
        zorder=2,
    )
    drawn.set_rasterized(many)
    axes.set_xlabel(_axis_label(pcs, x))
    axes.set_ylabel(_axis_label(pcs, y))
    axes.margins(0.1)
    axes.autoscale_view()
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], min_n_ticks=3))
    if not colour.categorical:
        _bar(axes, colour)
    elif colour.name and named:
        # Without this, limits would still change at the first drawing.
        axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
        name_groups(axes, at, up, colour.values.astype(str), colour.colours)


def _axis_label(pcs: xr.Dataset, component: int) -> str:
    # A panel is low.
    return axis_label(pcs, component).replace("of the variance", "of variance")


def _bar(axes: Axes, colour: Colouring) -> None:
    """Draw the colour bar of numbers above the axes, at its right end."""
    width, _ = size_of(axes)
    long = min(22.0, 0.45 * width)
    bar = panel(axes, width - long, -3.6, long, 1.6)
    low, high = colour.limits
    bar.imshow(
        np.linspace(low, high, 256)[None],
        cmap=ListedColormap(list(Viridis256)),
        norm=Normalize(low, high),
        extent=(low, high, 0, 1),
        aspect="auto",
        interpolation="none",
    )
    bar.set(xticks=[], yticks=[])
    for at, text, side in ((0, _plain(low), "left"), (1, _plain(high), "right")):
        bar.text(at, 1.3, text, fontsize=NOTE_PT, ha=side, transform=bar.transAxes)
    for spine in bar.spines.values():
        spine.set(visible=True, linewidth=AXIS_PT, color=LIGHT.edge)
    wide, _ = block_size(colour.name, NOTE_PT)
    bar.annotate(
        colour.name if wide < width - long - 2 else "",
        (0, 0.5),
        (-4, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=NOTE_PT,
    )


def _plain(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
