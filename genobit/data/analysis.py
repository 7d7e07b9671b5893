"""What each analysis says about itself in its ``analysis.py``, and which analyses there are.

`genobit.accessor` registers the analyses. Code that lists analyses iterates over `registered`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from genobit.data import labels, model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    import xarray as xr


class DatasetMethods:
    """Base of the methods of ``ds.genobit``. Layers below the accessor call its subclasses."""

    def __init__(self, ds: xr.Dataset) -> None:
        model.require_label_dims(ds)
        self._data = self._ds = labels.plain(ds)


class ArrayMethods:
    """Base of the methods of ``da.genobit``. Layers below the accessor call its subclasses."""

    def __init__(self, da: xr.DataArray) -> None:
        self._data = self._da = labels.plain(da)


class Needs(NamedTuple):
    """Requirements of a method of a Dataset with its default arguments.

    `ploidies` will do; () takes any. With `by_variants`, rows of planes must be variants. With
    `dosages`, haplotype planes must have one of the ploidies. `calls` requires unpacked calls,
    `variable` is the name of a required variable, and `phenotype` requires a variable along
    samples.
    """

    ploidies: tuple[int, ...] = (2,)
    by_variants: bool = False
    dosages: bool = False
    calls: bool = False
    variable: str = ""
    phenotype: bool = False


OF_VARIANTS = Needs(by_variants=True)
BY_POSITION = Needs(by_variants=True, variable=model.VARIANT_POSITION)
OF_SAMPLES = Needs(dosages=True)
OF_DOSAGES = Needs(by_variants=True, dosages=True)
OF_ALLELES = OF_DOSAGES._replace(ploidies=(1, 2))
OF_SAMPLE_ALLELES = OF_SAMPLES._replace(ploidies=(1, 2))

Cohorts: TypeAlias = "Iterable[xr.Dataset]"
"""Random genotypes of the warm-up: complete, and with missing calls."""
ALIGNMENT, MEASUREMENTS, BINARY = "alignment", "measurements", "binary rows"
"""Kinds of DataArrays that methods take."""


class Method(NamedTuple):
    """Requirements of a method, and its section in the summary.

    `needs` are `Needs` of a method of a Dataset, or the kind of a DataArray. The summary leaves out
    methods without a `section`. `call` is the method as typed, if it has required arguments. `note`
    returns a remark about some data for the section.
    """

    needs: Any
    section: str = ""
    call: str = ""
    note: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class Explorer:
    """An explorer, and the data that it opens.

    `path` is its module in the folder of the analysis, and its class, which is imported when it is
    used. `why_not` returns why the data do not support it, "" if they do. `prepare` returns the
    arguments of the class from the data and the user's choices; it may compute. `choices` returns
    name, text and values of each choice. `arguments` are required arguments, as typed. `hidden` are
    arguments of the class that other data have. With `from_launcher`, the launcher alone opens it,
    because the data have to be converted.
    """

    path: str
    title: str
    question: str
    why_not: Callable[[Any], str]
    prepare: Callable[..., tuple[Any, ...]] = lambda data: (data,)
    choices: Callable[[Any], tuple[tuple[str, str, tuple[Any, ...]], ...]] = lambda _: ()
    arguments: str = ""
    hidden: tuple[str, ...] = ()
    from_launcher: bool = False


@dataclass(frozen=True)
class Analysis:
    """One analysis: its methods, with what they need, and its other parts.

    `name` is that of its folder. `of_datasets` and `of_arrays` are bases of ``ds.genobit`` and
    ``da.genobit``; `methods` and `array_methods` say what their methods need, in the order of the
    documentation. `explorer` is that of a Dataset, `array_explorer` of a DataArray. `warm` runs the
    usual kernels on cohorts, which compiles them. `compiled` is the place among the analyses by the
    time that this takes, the longest first.

    In the folder, ``estimates.py`` has a function for each method, ``plots/kinds.py`` the plots of
    results, and ``report.py`` sections of the report on a cohort.
    """

    name: str
    of_datasets: tuple[type[DatasetMethods], ...] = ()
    of_arrays: tuple[type[ArrayMethods], ...] = ()
    methods: Mapping[str, Method] = field(default_factory=dict)
    array_methods: Mapping[str, Method] = field(default_factory=dict)
    explorer: Explorer | None = None
    array_explorer: Explorer | None = None
    has_plots: bool = True
    has_report: bool = False
    warm: Callable[[Cohorts], None] | None = None
    compiled: int = 9

    def part(self, name: str) -> ModuleType:
        """Return a module of the folder, such as "estimates"."""
        return importlib.import_module(f"genobit.{self.name}.{name}")


_REGISTERED: list[Analysis] = []


def register(analyses: Iterable[Analysis]) -> None:
    """Add analyses, in the order of the documentation."""
    _REGISTERED.extend(analyses)


def registered() -> tuple[Analysis, ...]:
    """Return all analyses, in the order of the documentation."""
    return tuple(_REGISTERED)


def methods() -> dict[str, Method]:
    """Return the methods of ``ds.genobit`` that read genotypes."""
    found = {name: each for one in registered() for name, each in one.methods.items()}
    return found | {"pack": Method(Needs(calls=True))}


def array_methods() -> dict[str, Method]:
    """Return the methods of ``da.genobit``. Analyses of arrays alone were registered last."""
    return {
        name: each for one in reversed(registered()) for name, each in one.array_methods.items()
    }
