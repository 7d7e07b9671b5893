"""Pictures with every kind of mark."""

from __future__ import annotations

import numpy as np

from genobit.visual.picture.spec import (
    Axis,
    Band,
    Boxes,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Segments,
)

_AT = np.arange(1.0, 5.0)

MARKS: dict[str, Mark] = {
    "points": Points(_AT, _AT**2, 7.0, "diamond", "#ffffff", hover={"square": _AT**2}),
    "crosses": Points(_AT, _AT, shape="x", colour="#0072b2"),
    "coloured": Points(_AT, _AT, colour=np.array(["#0072b2", "#e69f00"] * 2)),
    "line": Line(_AT, _AT, 2.0, "dashed"),
    "band": Band(_AT, _AT - 1, _AT + 1, alpha=0.2),
    "segments": Segments(_AT, _AT, _AT + 1, _AT + 2, 3.0, "dotted"),
    "boxes": Boxes(_AT, 0 * _AT, _AT + 1, _AT, edge="#ffffff", hover={"count": np.arange(4)}),
    "upright": Rule("x", 2.5),
    "level": Rule("y", 2.5, dash="dashed"),
}


def picture(*marks: Mark, x: Axis | None = None, y: Axis | None = None, **look: object) -> Picture:
    """Return a picture of marks, by default of all."""
    panel = Panel(x or Axis("Place"), y or Axis("Value"), marks or tuple(MARKS.values()), **look)
    return Picture(panel, "All marks", ("They are drawn.",))
