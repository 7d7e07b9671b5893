"""What each analysis says about itself in its ``analysis.py``, and which analyses there are.

`genobit.accessor` registers the analyses. Code that lists analyses iterates over `registered`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from genobit.data import labels, model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """Requirements of a method of a Dataset with its default arguments."""

    ploidies: tuple[int, ...] = (2,)
    """Ploidies that will do; () takes any."""
    by_variants: bool = False
    """Whether rows of planes must be variants."""
    dosages: bool = False
    """Whether haplotype planes must have one of these ploidies."""
    calls: bool = False
    """Whether unpacked calls are required."""
    variable: str = ""
    """Name of a required variable."""
    phenotype: bool = False
    """Whether a variable along samples is required."""


OF_VARIANTS = Needs(by_variants=True)
BY_POSITION = Needs(by_variants=True, variable=model.VARIANT_POSITION)
OF_SAMPLES = Needs(dosages=True)
OF_DOSAGES = Needs(by_variants=True, dosages=True)
OF_ALLELES = OF_DOSAGES._replace(ploidies=(1, 2))
OF_SAMPLE_ALLELES = OF_SAMPLES._replace(ploidies=(1, 2))

ALIGNMENT, MEASUREMENTS, BINARY = "alignment", "measurements", "binary rows"
"""Kinds of DataArrays that methods take."""


class Method(NamedTuple):
    """Requirements of a method, and its section in the summary."""

    needs: Any
    """`Needs` of a method of a Dataset, or the kind of a DataArray."""
    section: str = ""
    """Section of the method in the summary, or "" if the summary leaves it out."""
    call: str = ""
    """The method as typed, if it has required arguments."""
    note: Callable[[Any], str] | None = None
    """Return a remark about some data for the section."""


@dataclass(frozen=True)
class Explorer:
    """An explorer, and the data that it opens."""

    path: str
    """Module in the folder of the analysis, and class, which is imported when it is used."""
    title: str
    question: str
    why_not: Callable[[Any], str]
    """Return why the data do not support it, "" if they do."""
    prepare: Callable[..., tuple[Any, ...]] = lambda data: (data,)
    """Return the arguments of the class from the data and the user's choices; may compute."""
    choices: Callable[[Any], tuple[tuple[str, str, tuple[Any, ...]], ...]] = lambda _: ()
    """Return name, text and values of each choice."""
    arguments: str = ""
    """Required arguments, as typed."""
    hidden: tuple[str, ...] = ()
    """Arguments of the class that other data have."""
    from_launcher: bool = False
    """Whether the launcher alone opens it, because the data have to be converted."""


@dataclass(frozen=True)
class Analysis:
    """One analysis: its methods, with what they need, and its other parts.

    Estimates are in ``estimates.py`` of its folder, and plots in ``plots/kinds.py``.
    """

    name: str
    """Name of its folder."""
    of_datasets: tuple[type[DatasetMethods], ...] = ()
    """Bases of ``ds.genobit``."""
    of_arrays: tuple[type[ArrayMethods], ...] = ()
    """Bases of ``da.genobit``."""
    methods: Mapping[str, Method] = field(default_factory=dict)
    """Methods of ``ds.genobit``, in the order of the documentation."""
    array_methods: Mapping[str, Method] = field(default_factory=dict)
    """Methods of ``da.genobit``, in the order of the documentation."""
    explorer: Explorer | None = None
    """Explorer of a Dataset."""
    array_explorer: Explorer | None = None
    """Explorer of a DataArray."""
    warm: Callable[[Callable[[], Iterator[xr.Dataset]]], None] | None = None
    """Run the usual kernels on cohorts, which a function makes, to compile them."""
    has_report: bool = False
    """Whether it has ``report.py``, with sections of the report on a cohort."""
    has_plots: bool = True
    """Whether it has ``plots/kinds.py``."""
    compiled: int = 9
    """Place among the analyses by the time that compiling takes, the longest first."""

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
