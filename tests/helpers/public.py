"""Public methods, functions and figures, with their arguments."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import genobit as gb
from genobit.accessor import GenobitDataArrayAccessor, GenobitDatasetAccessor
from genobit.data.plotting import DatasetPlot

Parameters = dict[str, inspect.Parameter]


OBJECTS = {"EpistasisLimits", "SearchEffort"}
"""Public classes that hold arguments of a method."""


def methods() -> Iterator[tuple[str, Parameters]]:
    """Public methods of both accessors, and their parameters without self."""
    for accessor in (GenobitDatasetAccessor, GenobitDataArrayAccessor):
        for name, member in inspect.getmembers(accessor, inspect.isfunction):
            if not name.startswith("_"):
                _, *rest = inspect.signature(member).parameters.items()
                yield name, dict(rest)
    for name, member in inspect.getmembers(DatasetPlot, inspect.isfunction):
        if name == "__call__" or not name.startswith("_"):
            _, *rest = inspect.signature(member).parameters.items()
            yield f"plot.{name}".removesuffix(".__call__"), dict(rest)


def functions() -> Iterator[tuple[str, Parameters]]:
    """Public functions, and the classes that hold arguments."""
    for name in gb.__all__:
        member = getattr(gb, name)
        if inspect.isfunction(member) or name in OBJECTS:
            yield f"gb.{name}", dict(inspect.signature(member).parameters)


def figures() -> Iterator[tuple[str, Parameters]]:
    for name in gb.plots.__all__:
        yield f"plots.{name}", dict(inspect.signature(getattr(gb.plots, name)).parameters)


@cache
def users() -> dict[str, set[str]]:
    """Arguments, and the methods, functions and figures that take them."""
    found = defaultdict(set)
    for name, parameters in [*methods(), *functions(), *figures()]:
        for argument in parameters:
            found[argument].add(name)
    return dict(found)
