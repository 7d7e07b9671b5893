"""The traits of explorers and their meanings, read from docstrings."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from typing import Any

from genobit.engine.spelling import did_you_mean

#: Traits that an explorer sets and users only read.
TOLD = {"status", "busy", "floor"}


@lru_cache
def meanings(kind: Any) -> dict[str, str]:
    """Return the meanings of traits, from the section "Attributes" of the docstrings of a class.

    Tooltips show them, and traits outside of that section are refused as arguments.

    Examples
    --------
    >>> from genobit.grm.explorer.explorer import GRMExplorer
    >>> meanings(GRMExplorer)["component_x"]
    'Principal components of the scatter plot, counted from 1.'
    """
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        section = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n\S|\Z)", text, re.MULTILINE | re.DOTALL)
        entries = re.split(r"^(?=\w)", section[1], flags=re.MULTILINE) if section else []
        for entry in filter(None, entries):
            names, _, meaning = entry.partition("\n")
            words = " ".join(meaning.replace("`", "").split())
            found |= {name.strip(): words for name in names.split(",")}
    return found


def refuse_unknown(kind: Any, initial: dict[str, Any]) -> None:
    """Raise TypeError for a name that is not a trait of an explorer.

    ipywidgets would ignore such a name.
    """
    known = sorted((set(meanings(kind)) & set(kind.class_traits())) - TOLD)
    for name in initial:
        if name not in known and name != "layout":
            raise TypeError(
                f"{kind.__name__} has no trait {name!r}{did_you_mean(name, known)} "
                f"It has {', '.join(known)}"
            )
