"""Heatmap of the share of cases in every genotype cell of a combination of variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np
from bokeh.models import FixedTicker, HoverTool

from genobit.epistasis.result import GENOTYPES, Cells, Ranked, ranked
from genobit.visual.style import (
    DIVERGING,
    WHITE,
    Scale,
    few_marks,
    palette,
    plain_frame,
    three_digits,
)
from genobit.visual.tokens import LIGHT, ink_on

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr


#: Most members of a combination whose cells can be drawn.
MOST_MEMBERS = 4
#: Fewest samples of a cell that counts in the range of colours.
ENOUGH = 10
#: Gap between two panels, in cells.
_GAP = 0.45
#: Width and height of a cell in screen pixels, and font size, by the number of members.
_CELL = {1: (96, 66), 2: (96, 66), 3: (64, 50), 4: (52, 38)}
_LETTERS = {1: "10pt", 2: "10pt", 3: "8pt", 4: "7pt"}
_EMPTY = LIGHT.panel
#: Shares are scaled to -1 to 1; white, in the middle, is the share among all samples.
SCALE = Scale("share", "share of cases", (-1.0, 1.0), DIVERGING)


def penetrance_heatmap(
    result: xr.Dataset, rank: int = 0, *, of_class: int = -1, ds: xr.Dataset | None = None
) -> hv.Overlay:
    r"""Draw the share of cases in every cell of a combination of two, three or four variants.

    Parameters
    ----------
    result
        Result of `.genobit.epistasis()`.
    rank
        Index of the combination, 0 for the first.
    of_class
        Index of the class to draw. The default is the last class: the cases.
    ds
        Dataset that was searched, for names and alleles that the result lacks.

    Returns
    -------
        hv.Overlay: a panel of 3 x 3 cells. A third member gives a row of panels, and a fourth
        member a grid. The label of a cell has the share of cases and the numbers of cases and
        samples. A white cell has the same share of cases as all samples together. Empty cells are
        hatched.

    Raises
    ------
    ValueError
        If the combination has more than four members, or the result has no genotype cells.

    Notes
    -----
    ``result.genobit.plot("penetrance")`` shows one combination on the screen. A file that
    ``.save("cells.pdf")`` writes has the best four combinations. With ``plot("penetrance", top=6)``
    the file has the best six. With ``plot("penetrance", rank=0)`` it has only the best one.

    Examples
    --------
    >>> import xarray as xr
    >>> cells = np.zeros((1, 9, 2), "i4")
    >>> cells[0, 4] = 3, 7
    >>> result = xr.Dataset(
    ...     {
    ...         "variants": (("rank", "order"), [[3, 14]]),
    ...         "mi": ("rank", [0.25]),
    ...         "cells": (("rank", "cell", "class"), cells),
    ...     }
    ... )
    >>> picture = penetrance_heatmap(result)
    >>> picture.Labels.Dark["text"].tolist()
    ['0.70\n7 / 10']
    """
    return draw_cells(ranked(result, ds), rank, of_class)


def reach_of(found: Ranked, of_class: int) -> float:
    """Return the range of colours around the share among all samples, the same for all ranks."""
    furthest = 0.0
    for rank in range(found.size):
        cells = found.penetrance(rank, of_class)
        enough = cells.n >= ENOUGH
        if enough.any():
            furthest = max(furthest, float(abs(cells.value[enough] - cells.overall).max()))
    return min(max(furthest, 0.05), 1.0) if not found.trait else furthest or 1.0


def draw_cells(
    found: Ranked, rank: int, of_class: int = -1, reach: float | None = None
) -> hv.Overlay:
    """Draw the cells of a combination; ``reach`` defaults to the result of `reach_of`.

    Raises ValueError for more than four members, and for a result without genotype cells.
    """
    check_members(found)
    order = found.order
    cells = found.penetrance(rank, of_class)
    reach = reach_of(found, of_class) if reach is None else reach
    x, y = _places((found.levels,) * order)
    colour = scaled(cells.value, cells.overall, reach).ravel()
    filled = cells.n.ravel() > 0
    boxes = {"x0": x - 0.5, "y0": y - 0.5, "x1": x + 0.5, "y1": y + 0.5}
    boxes |= _hovered(found, rank, cells)
    full = hv.Rectangles(
        {name: values[filled] for name, values in (boxes | {"colour": colour}).items()},
        ["x0", "y0", "x1", "y1"],
        ["colour", "genotypes", "cases", "n", "share"],
        label="Cells",
    ).opts(
        color="colour",
        cmap=palette(SCALE),
        clim=SCALE.limits,
        colorbar=True,
        clabel=quantity(found, of_class),
        colorbar_opts=_colour_bar(cells, reach),
        line_color=LIGHT.quiet,
        line_width=0.5,
        default_tools=["save"],
        tools=[cell_hover(found, of_class)],
    )
    empty = hv.Rectangles(
        {name: values[~filled] for name, values in boxes.items()},
        ["x0", "y0", "x1", "y1"],
        ["genotypes", "cases", "n", "share"],
        label="Empty",
    ).opts(
        fill_color=_EMPTY, line_color=LIGHT.edge, line_width=0.5, default_tools=[], hooks=[_hatched]
    )
    texts = cells.texts()
    if order == MOST_MEMBERS:  # room for one line
        texts = np.array([text.rpartition("\n")[2] for text in texts], dtype=object)
    inks = inks_of(colour)
    letters = [
        hv.Labels((x[chosen], y[chosen], texts[chosen]), ["x", "y"], "text", label=label).opts(
            text_color=ink, text_font_size=_LETTERS[order], default_tools=[]
        )
        for ink, label in ((LIGHT.ink, "Dark"), (LIGHT.paper, "Light"))
        for chosen in (filled & (inks == ink),)
    ]
    picture = full * empty * letters[0] * letters[1] * _panel_names(found, rank)
    return picture.opts(**_frame(found, rank, of_class))


def _places(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of the centres of the cells; the genotype of the last member is fastest."""
    order = len(shape)
    genotypes = np.indices(shape).reshape(order, -1).astype("f8")
    if order == 1:
        return genotypes[0], 0 * genotypes[0]
    step = shape[0] + _GAP
    x = genotypes[1] + (step * genotypes[2] if order > 2 else 0)
    y = genotypes[0] + (step * genotypes[3] if order > 3 else 0)
    return x, -y


def check_members(found: Ranked) -> None:
    """Raise ValueError for combinations of more than four members."""
    if found.order > MOST_MEMBERS:
        raise ValueError(
            f"a combination of {found.order} has {GENOTYPES**found.order:,} cells; up to "
            f"{MOST_MEMBERS} members are drawn"
        )


def scaled(value: np.ndarray, overall: float, reach: float) -> np.ndarray:
    """Scale values to -1 to 1, with equal steps below and above the share among all samples."""
    return np.clip((value - overall) / max(reach, 1e-9), *SCALE.limits)


def shades_of(colour: np.ndarray) -> np.ndarray:
    """Return the shades of scaled values (cells,); those of NaN mean nothing."""
    shades = np.array(palette(SCALE), dtype=object)
    found: np.ndarray = shades[
        np.nan_to_num((colour + 1) / 2 * (len(shades) - 1)).round().astype("i8")
    ]
    return found


def inks_of(colour: np.ndarray) -> np.ndarray:
    """Return the colours of texts (cells,) on scaled values."""
    return np.array([ink_on(shade) for shade in shades_of(colour)], dtype=object)


def limits_of(cells: Cells, overall: float, reach: float) -> tuple[float, float]:
    """Return the least and the most possible value of the scale, at the ends of its key."""
    least, most = cells.limits
    return max(overall - reach, least), min(overall + reach, most)


def _colour_bar(cells: Cells, reach: float) -> dict[str, Any]:
    limits = limits_of(cells, cells.overall, reach)
    low, high = scaled(np.array(limits), cells.overall, reach).tolist()
    places = sorted({low, high, *(k for k in (-0.5, 0.0, 0.5) if low <= k <= high)})
    at = {place: cells.overall + place * reach for place in places}
    write = three_digits if cells.count is None else "{:.2f}".format
    return {
        "width": 12,
        "display_low": low,
        "display_high": high,
        "title_text_font_size": "8pt",
        "ticker": FixedTicker(ticks=list(at)),
        # Bokeh looks whole ticks up as int; with float keys the ends of the bar keep their texts.
        "major_label_overrides": {
            int(k) if k == int(k) else k: write(v + 0.0) + (" all" if k == 0 else "")
            for k, v in at.items()
        },
    }


def _hovered(found: Ranked, rank: int, cells: Cells) -> dict[str, np.ndarray]:
    genotypes = np.indices(cells.n.shape).reshape(found.order, -1)
    named = [found.labels(rank, member) for member in range(found.order)]
    texts = [
        ", ".join(
            f"{found.names[rank, member]} {named[member][copies]}"
            for member, copies in enumerate(cell)
        )
        for cell in genotypes.T
    ]
    return {
        "genotypes": np.array(texts, dtype=object),
        "cases": (cells.n if cells.count is None else cells.count).ravel(),
        "n": cells.n.ravel(),
        "share": cells.value.ravel(),
    }


def _panel_names(found: Ranked, rank: int) -> hv.Labels:
    """Label the panels: genotypes of a third member above them, and of a fourth beside them."""
    levels, order = found.levels, found.order
    step, middle = levels + _GAP, (levels - 1) / 2
    rows: list[tuple[float, float, str]] = []
    if order > 2:
        third = zip(range(levels), found.labels(rank, 2), strict=True)
        above = 0.72 if order == 3 else 0.88
        rows += [
            (middle + step * k, above, f"{short_name(found, rank, 2)} {name}") for k, name in third
        ]
    if order > 3:
        fourth = zip(range(levels), found.labels(rank, 3), strict=True)
        right = levels * step - _GAP - 0.5 + 0.85
        rows += [
            (right, -middle - step * k, f"{short_name(found, rank, 3)}\n{name}")
            for k, name in fourth
        ]
    columns = ([row[k] for row in rows] for k in range(3))
    return hv.Labels(tuple(columns), ["x", "y"], "text", label="Panels").opts(
        text_color=LIGHT.ink, text_font_size="8pt", text_font_style="bold", default_tools=[]
    )


def short_name(found: Ranked, rank: int, member: int, most: int = 16) -> str:
    """Return the name of a member, cut to ``most`` letters."""
    name = str(found.names[rank, member])
    return name if len(name) <= most else f"{name[: most - 1]}…"


def quantity(found: Ranked, of_class: int) -> str:
    """Return the name of the drawn value: the share of a class or the mean of the trait."""
    return f"mean of {found.trait}" if found.trait else f"share of {class_name(found, of_class)}"


def class_name(found: Ranked, of_class: int) -> str:
    """Return the name of a class; "cases" for the second of two that are coded as case-control."""
    classes = found.classes or ["samples"]
    name = classes[of_class]
    if len(classes) == 2 and of_class % 2 == 1 and name in {"1", "2", "1.0", "2.0", "True"}:
        return "cases"
    return f"class {name}"


def _frame(found: Ranked, rank: int, of_class: int) -> dict[str, Any]:
    order = found.order
    wide, high = _CELL[order]
    step = found.levels + _GAP
    across, down = (found.levels if order > 2 else 1), (found.levels if order > 3 else 1)
    right = across * step - _GAP - 0.5 + (1.7 if order > 3 else 0)
    bottom = -(down * step - _GAP - 0.5) if order > 1 else -0.5
    top = {3: 1.05, 4: 1.25}.get(order, 0.52)
    x_member = min(order - 1, 1)
    xticks = [
        (k + step * panel, name)
        for panel in range(across)
        for k, name in enumerate(found.labels(rank, x_member))
    ]
    yticks = [
        (-(k + step * panel), name)
        for panel in range(down)
        for k, name in enumerate(found.labels(rank, 0))
    ]
    unit = _unit(found, rank)
    n = int(found.penetrance(rank, of_class).n.sum())
    case = class_name(found, of_class)
    what = quantity(found, of_class) if found.trait else f"{case} / samples"
    counted = f"{what} in each cell, n = {n:,}"
    return {
        "title": f"{_title(found, rank)}\n{counted}",
        "fontsize": {"title": "9pt", "xticks": "8pt", "yticks": "8pt", "labels": "9pt"},
        "xlim": (-0.51, right + 0.01),
        "ylim": (bottom - 0.02, top),
        "frame_width": round(wide * (right + 0.5)),
        "frame_height": round(high * (top - bottom)),
        "xticks": xticks,
        "yticks": yticks if order > 1 else 0,
        "yaxis": "left" if order > 1 else None,
        "xlabel": short_name(found, rank, x_member, 30) + unit(x_member),
        "ylabel": short_name(found, rank, 0, 30) + unit(0),
        "show_legend": False,
        "toolbar": "above",
        "default_tools": ["save"],
        "framewise": True,
        "bgcolor": WHITE,
        "hooks": [plain_frame, few_marks, _no_axes],
    }


def _unit(found: Ranked, rank: int) -> Callable[[int], str]:
    def unit(member: int) -> str:
        named = found.genotypes(rank, member)[0] != "0"
        return "" if named else " (copies of the counted allele)"

    return unit


def _title(found: Ranked, rank: int) -> str:
    title = found.title(rank)
    return f"{found.ranks[rank]}. {title if len(title) <= 62 else title[:61] + '…'}"


def _hatched(plot: Any, _element: Any) -> None:
    style = {"pattern": "/", "color": LIGHT.edge, "weight": 0.6, "scale": 9}
    plot.handles["glyph"].update(**{f"hatch_{name}": value for name, value in style.items()})


def _no_axes(plot: Any, _element: Any) -> None:
    plot.state.outline_line_color = None
    for axis in plot.state.axis:
        axis.axis_line_color = axis.major_tick_line_color = None


def cell_hover(found: Ranked, of_class: int) -> HoverTool:
    """Return the hover tool that shows the counts of a cell."""
    if found.trait:
        rows = [("mean", "@share{0.0000}"), ("samples", "@n")]
    else:
        rows = [(class_name(found, of_class), "@cases of @n"), ("share", "@share{0.000}")]
    return HoverTool(tooltips=[("genotypes", "@genotypes"), *rows])
