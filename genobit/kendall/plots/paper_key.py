"""The key under a network on paper: colours, strengths of edges, and sizes of nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.palettes import Viridis256
from matplotlib.colors import ListedColormap, to_rgba

from genobit.visual.colouring import one_colour_each
from genobit.visual.paper.page import INCH, MARGIN
from genobit.visual.paper.texts import fitted, text_size, write_text
from genobit.visual.style import SCALES
from genobit.visual.tokens import AXIS_PT, GROUPS, HAIRLINE_PT, LIGHT, OTHER_GROUP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from genobit.kendall.plots.links import Links
    from genobit.kendall.plots.paper_names import Names
    from genobit.visual.colouring import Colouring

#: Widths of lines in points and their opacity, from the weakest edge to the strongest.
WIDTHS, ALPHAS = (0.35, 1.45), (0.18, 0.9)
#: Colour, dashes and width in points of negative edges.
NEGATIVE, DASHES, NEGATIVE_PT = GROUPS[5], (0, (2.2, 1.0)), 0.9
#: Diameters of the nodes of one edge and of the most edges, in millimetres.
SMALLEST, LARGEST = 0.9, 2.2
#: Height of a line of the key, width of the key of edges, and most width of a text, in millimetres.
PITCH, EDGES_WIDTH, WIDEST = 3.3, 29.0, 24.0
#: Pages narrower than this have the key of edges below the key of colours, in millimetres.
NARROW = 75.0
#: Fewest members of a community with a colour of its own.
COLOURED = 3
#: Edges above this number are drawn fainter.
FAINT = 600
_OTHER_NAMES = {"tau": "τ", "king": "kinship"}


@dataclass(frozen=True)
class Entry:
    """A line of the key: the text of a colour, and the number of its nodes."""

    text: str
    colour: str
    count: int | None = None
    italic: bool = False


@dataclass(frozen=True)
class Colours:
    """The colour of each node, and the entries of the key; a colour bar has `limits` instead."""

    title: str
    each: np.ndarray
    entries: tuple[Entry, ...]
    limits: tuple[float, float] | None = None


def colours_by_community(links: Links, kept: np.ndarray, names: Names) -> Colours:
    """Colour the largest communities of the nodes in a mask."""
    each = np.full(links.size, OTHER_GROUP, dtype=object)
    groups = [group[kept[group]] for group in links.communities]
    groups = sorted((group for group in groups if len(group)), key=len, reverse=True)
    # Of many communities of three, none has a colour.
    tied = len(groups) > len(GROUPS) and len(groups[len(GROUPS)]) >= COLOURED
    own = [group for group in groups[: len(GROUPS)] if len(group) >= COLOURED + tied]
    entries = []
    for group, colour in zip(own, GROUPS, strict=False):
        each[group] = colour
        hub = names.hubs_of(links, group, 1)[0]
        entries.append(Entry(str(names.texts[hub]), colour, len(group), names.is_italic(hub)))
    if rest := len(groups) - len(own):
        text = f"{rest:,} smaller" if own else f"{rest:,} of at most {len(groups[0])} nodes"
        entries.append(Entry(text, OTHER_GROUP))
    return Colours("Community (Louvain): first hub, size", each, tuple(entries))


def colours_by_value(links: Links, kept: np.ndarray, of_all: Colouring) -> Colours:
    """Colour the nodes by values of the user, one for each variable of the data."""
    chosen = of_all.of(links.variables)
    each = one_colour_each(chosen)
    if not chosen.categorical:
        return Colours(chosen.name, each, (), chosen.limits)
    counts = Counter(chosen.values[kept].tolist())
    entries = [
        Entry(text, colour, counts[text]) for text, colour in chosen.colours.items() if counts[text]
    ]
    return Colours(f"{chosen.name}: nodes" if chosen.name else "nodes", each, tuple(entries))


@dataclass(frozen=True)
class Strength:
    """How strong edges are: the statistic, its limits on the page, and absolute values."""

    symbol: str
    low: float
    high: float
    values: np.ndarray

    @property
    def name(self) -> str:
        """The statistic, in bars if it has a sign."""
        return f"|{self.symbol}|" if self.symbol in {"τ", "r", "D", "D′"} else self.symbol

    def share(self, values: np.ndarray) -> np.ndarray:
        """Return where values are between the limits, from 0 to 1; the weakest for NaN."""
        span = max(self.high - self.low, 1e-9)
        return np.nan_to_num(np.clip((np.abs(values) - self.low) / span, 0, 1))

    def widths(self, values: np.ndarray) -> np.ndarray:
        """Return the widths of lines in points."""
        return WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * self.share(values)

    def colours(self, values: np.ndarray, faint: float = 1.0) -> np.ndarray:
        """Return the colours of lines, (edges, 4)."""
        rgba = np.tile(to_rgba(LIGHT.slate), (len(values), 1))
        rgba[:, 3] = faint * (ALPHAS[0] + (ALPHAS[1] - ALPHAS[0]) * self.share(values))
        return rgba


def strength_of(links: Links) -> Strength:
    """Return the strengths of the edges of a network."""
    value = links.pairs.value
    symbol = SCALES[value].label if value in SCALES else _OTHER_NAMES.get(value, value)
    size = np.abs(links.tau[np.isfinite(links.tau)])
    low, high = links.pairs.attrs.get("threshold"), float(size.max(initial=0.0))
    if high <= 1 and (value == "tau" or value in SCALES):
        high = 1.0
    if not low:
        low = np.floor(10 * size.min(initial=high) / high) / 10 * high if high else 0.0
    return Strength(symbol, float(low), max(high, float(low)), np.abs(links.tau))


def diameters(degree: np.ndarray, most: int) -> np.ndarray:
    """Return the diameters of nodes in millimetres."""
    share = np.sqrt((degree - 1) / max(most - 1, 1))
    return SMALLEST + (LARGEST - SMALLEST) * share


def area(diameter: Any) -> Any:
    """Return the size of a marker of matplotlib for a diameter in millimetres."""
    return (np.asarray(diameter) / INCH * 72) ** 2


def key_height(colours: Colours, width: float, lines: int) -> float:
    """Return the height of the key in millimetres; `lines` are those of the edges."""
    rows = len(_columns(colours, _room(width))[0]) if colours.entries else 2
    left = PITCH * (1 + rows)
    right = PITCH * lines
    return left + right + 1.5 if width < NARROW else max(left, right)


def _room(width: float) -> float:
    inner = width - 2 * MARGIN
    return inner if width < NARROW else inner - EDGES_WIDTH - 2


def _columns(colours: Colours, room: float) -> list[list[Entry]]:
    """Divide the entries of a key into columns that fit, three rows if possible."""
    entries = list(colours.entries)
    for rows in range(min(3, len(entries)), len(entries) + 1):
        columns = [entries[k : k + rows] for k in range(0, len(entries), rows)]
        if sum(map(_column_width, columns)) - 2.5 <= room:
            return columns
    return [entries]


def _column_width(column: list[Entry]) -> float:
    rest = max((_entry_width(entry) for entry in column if entry.count is None), default=0.0)
    return 2.4 + max(_counts_right(column), rest) + 2.5


def _counts_right(column: list[Entry]) -> float:
    """Return the right end of the counts of a column, from the left end of its texts."""
    counted = [entry for entry in column if entry.count is not None]
    texts = max(map(_entry_width, counted), default=0.0)
    return texts + max(map(_count_width, counted), default=0.0)


def _entry_width(entry: Entry) -> float:
    return min(text_size(entry.text, italic=entry.italic)[0], WIDEST)


def _count_width(entry: Entry) -> float:
    return 0.0 if entry.count is None else 1.2 + text_size(f"{entry.count:,}")[0]


def draw_key(axes: Axes, colours: Colours, top: float, width: float) -> float:
    """Draw the key of colours; return the y of its end."""
    axes.plot([MARGIN, width - MARGIN], [top, top], color=LIGHT.edge, lw=HAIRLINE_PT)
    y = top + PITCH * 0.8
    room = _room(width)
    write_text(axes, MARGIN, y, fitted(colours.title, room), color=LIGHT.slate)
    if colours.limits is not None:
        return _draw_bar(axes, colours.limits, y)
    x = MARGIN
    columns = _columns(colours, room) if colours.entries else []
    for column in columns:
        right = x + 2.4 + _counts_right(column)
        for row, entry in enumerate(column, 1):
            _draw_entry(axes, entry, x, y + PITCH * row, right)
        x += _column_width(column)
    return y + PITCH * max(map(len, columns), default=0)


def _draw_entry(axes: Axes, entry: Entry, x: float, y: float, right: float) -> None:
    axes.scatter([x + 0.9], [y], s=area(1.5), c=[entry.colour], linewidths=0)
    text = fitted(entry.text, WIDEST, italic=entry.italic)
    write_text(axes, x + 2.4, y, text, fontstyle="italic" if entry.italic else "normal")
    if entry.count is not None:
        write_text(axes, right, y, f"{entry.count:,}", ha="right", color=LIGHT.slate)


def _draw_bar(axes: Axes, limits: tuple[float, float], y: float) -> float:
    """Draw the colour bar of numbers."""
    left, right, top = MARGIN, MARGIN + 28.0, y + PITCH * 0.6
    axes.pcolormesh(
        np.linspace(left, right, 257),
        [top, top + 1.8],
        np.arange(256)[None],
        cmap=ListedColormap(Viridis256),
        rasterized=True,
    )
    for share, side in ((0.0, "left"), (0.5, "center"), (1.0, "right")):
        text = f"{limits[0] + share * (limits[1] - limits[0]):.3g}"
        write_text(axes, left + share * 28.0, y + 2 * PITCH, text, ha=side)
    return y + 2 * PITCH


def edge_lines(*, negative: bool) -> int:
    """Return the number of lines of the key of edges and nodes."""
    return 4 if negative else 3


def draw_edge_key(
    axes: Axes, strength: Strength, at: tuple[float, float], most: int, *, negative: bool
) -> None:
    """Draw the key of edges and nodes with its upper left corner at a place."""
    left, y = at
    write_text(axes, left, y, f"Edge: {strength.name}", color=LIGHT.slate)
    y += PITCH
    levels = [strength.low, (strength.low + strength.high) / 2, strength.high]
    x = left
    for text, level in {f"{level:.2g}": level for level in levels}.items():
        values = np.array([level])
        axes.plot(
            [x, x + 4], [y, y], color=strength.colours(values)[0], lw=strength.widths(values)[0]
        )
        write_text(axes, x + 4.7, y, text)
        x += max(10.0, 6.0 + text_size(text)[0])
    if negative:
        y += PITCH
        axes.plot([left, left + 4], [y, y], color=NEGATIVE, lw=NEGATIVE_PT, ls=DASHES)
        write_text(axes, left + 4.7, y, f"{strength.symbol} < 0")
    y += PITCH
    write_text(axes, left, y, "Node: edges", color=LIGHT.slate)
    x = left + 13.0
    for degree in sorted({1, (most + 1) // 2, most}):
        size = float(diameters(np.array([degree]), most)[0])
        axes.scatter([x + size / 2], [y], s=area(size), c=LIGHT.quiet, linewidths=0)
        write_text(axes, x + size + 0.5, y, f"{degree:,}")
        x += size + 1.9 + text_size(f"{degree:,}")[0]


def draw_note(axes: Axes, lines: list[str], top: float) -> None:
    """Write what the picture shows and leaves out."""
    for k, line in enumerate(lines):
        write_text(axes, MARGIN, top + PITCH * 0.85 * k, line, color=LIGHT.quiet)


def leader_style() -> dict[str, Any]:
    """Return the look of a line from a label to its node."""
    return {"color": LIGHT.ink, "lw": AXIS_PT, "solid_capstyle": "butt"}


def limits_in_words(links: Links) -> str:
    """Return the limits that edges pass, in parentheses."""
    attrs, limits = links.pairs.attrs, []
    if attrs.get("threshold"):
        limits.append(f"{strength_of(links).name} ≥ {attrs['threshold']:.3g}")
    if (attrs.get("fdr") or 1.0) < 1:  # any q-value is at most 1
        limits.append(f"q ≤ {attrs['fdr']:.3g}")
    return f" ({', '.join(limits)})" if limits else ""
