"""The traits of explorers: which there are, and what they mean, by their docstrings."""

from __future__ import annotations

import difflib
import inspect
import re
from functools import lru_cache
from typing import Any

#: What an explorer says, and is not told.
_TOLD = {"status", "busy"}


@lru_cache
def meanings(kind: Any) -> dict[str, str]:
    """Read the meaning of traits from the section "Attributes" of the docstrings of a class.

    Parameters
    ----------
    kind
        An explorer's class.

    Examples
    --------
    >>> from genobit.grm.explorer.explorer import GRMExplorer
    >>> meanings(GRMExplorer)["colour_by"]
    'A variable of the samples, "" for none.'
    """
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        section = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n\S|\Z)", text, re.MULTILINE | re.DOTALL)
        entries = re.split(r"^(?=\w)", section[1], flags=re.MULTILINE) if section else []
        for entry in filter(None, entries):
            names, _, meaning = entry.partition("\n")
            words = re.sub(r"[`\s]+", " ", meaning).strip()
            found |= {name.strip(): words for name in names.split(",")}
    return found


def refuse_unknown(kind: Any, initial: dict[str, Any]) -> None:
    """Refuse what is no trait of an explorer; ipywidgets would ignore it.

    Parameters
    ----------
    kind
        Its class.
    initial
        What it is to begin with.

    Raises
    ------
    TypeError
        With the traits that there are.
    """
    known = sorted((set(meanings(kind)) & set(kind.class_traits())) - _TOLD)
    for name in initial:
        if name not in known and name != "layout":
            near = difflib.get_close_matches(name, known, 1)
            perhaps = f"; perhaps {near[0]!r} is meant" if near else ""
            raise TypeError(
                f"{kind.__name__} has no trait {name!r}{perhaps}. It has {', '.join(known)}"
            )
