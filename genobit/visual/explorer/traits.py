"""The traits of explorers: their meanings, read from docstrings, and traits that take names."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets
import xarray as xr

from genobit.data.selection_by_label import is_names, named_after, positions
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

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


def refuse_misspelt(kind: Any, name: str) -> None:
    """Raise AttributeError for an attribute that a user sets, and that is close to a trait."""
    meant = did_you_mean(name, sorted((set(meanings(kind)) & set(kind.class_traits())) - TOLD))
    if meant != ".":
        raise AttributeError(f"{kind.__name__} has no trait {name!r}{meant.rstrip('.')}")


class Members(traitlets.Tuple):
    """Positions along a dimension of an explorer's data; ids, regions and masks become positions.

    ``along`` returns the dimension for an explorer.
    """

    def __init__(self, along: Callable[[Any], str], *traits: Any, **options: Any) -> None:
        super().__init__(*traits, **options)
        self._along = along

    def validate(self, obj: Any, value: Any) -> Any:
        """Find the positions of what is no tuple or list of numbers."""
        plain = isinstance(value, tuple | list) and not is_names(value) and not _is_mask(value)
        if value is not None and plain:
            for k, one in enumerate(value):
                _require_position(one, f"{self.name}[{k}]")
        elif value is not None:
            value = tuple(places_of(obj, value, self._along(obj), str(self.name)).tolist())
        return super().validate(obj, value)


class Member(traitlets.Int[Any, Any]):
    """Position along a dimension of an explorer's data; an id becomes its position."""

    def __init__(self, along: Callable[[Any], str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._along = along

    def validate(self, obj: Any, value: Any) -> Any:
        """Find the position of an id."""
        if is_names(value):
            value = place_of(obj, value, self._along(obj), str(self.name))
        _require_position(value, str(self.name))
        return super().validate(obj, value)


class Label(traitlets.Unicode[Any, Any]):
    """Name of a label of an explorer's data, "" for none."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Refuse values, which the plots take."""
        if not isinstance(value, str):
            raise traitlets.TraitError(
                f"{self.name} takes the name of a label, not a {type(value).__name__}: add the "
                f'values to the data, such as ds.assign(my_label=...), and give "my_label"'
            )
        return super().validate(obj, value)


def _require_position(value: Any, name: str) -> None:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise traitlets.TraitError(f"{name}={value!r} is not a position or an id: give one of them")


def _is_mask(value: tuple[Any, ...] | list[Any]) -> bool:
    return any(isinstance(x, bool | np.bool_) for x in value)


def place_of(obj: Any, value: Any, dim: str, name: str) -> int:
    """Return the position of the only member that a name means, for an argument ``name``."""
    found = places_of(obj, value, dim, name)
    if len(found) != 1:
        raise traitlets.TraitError(f"{name}={value!r} names {len(found):,} {dim}: give one id")
    return int(found[0])


def places_of(obj: Any, value: Any, dim: str, name: str) -> np.ndarray:
    """Return the positions of members along a dimension, given as for `sel`.

    Raises TraitError for an unknown name, and for a mask that does not fit.
    """
    data = obj._data
    known = data.coords.to_dataset() if isinstance(data, xr.DataArray) else data
    try:
        with named_after(name, dim):
            return positions(known, list(value) if isinstance(value, tuple) else value, dim)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        told = str(error.args[0])
        raise traitlets.TraitError(told if name in told else f"{name}: {told}") from None
