"""Suggest a known name for one that is close to it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence: "; did you mean 'r2'?", or "." if no known name is close.

    Examples
    --------
    >>> did_you_mean("heatmpa", ["triangle", "heatmap"])
    "; did you mean 'heatmap'?"
    """
    # Capitals are a frequent difference.
    names = {str(other).casefold(): str(other) for other in known}
    near = difflib.get_close_matches(str(name).casefold(), list(names), 1)
    return f"; did you mean {names[near[0]]!r}?" if near else "."
