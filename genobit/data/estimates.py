"""Estimates of the methods of an accessor, under the same names and signatures.

Each analysis has a file ``estimates.py`` with a function for each of its methods. The function has
the name of the method, takes a `Call` and returns an `Estimate`. Methods of the accessor itself
have theirs at the end of this file.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from dask.base import is_dask_collection

from genobit.data import layouts, model, packed
from genobit.data.analysis import methods, registered
from genobit.data.haploid import as_diploid
from genobit.data.packer import without_polyploid_calls
from genobit.data.pairs.table import PairTable
from genobit.engine import machine
from genobit.engine.gemm.speed import speed
from genobit.engine.own_words import SuggestsNames
from genobit.engine.schedule.computing import threads
from genobit.engine.schedule.costs import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import dask.array as da

    from genobit.engine.bits.layout import Layout

NOT_ESTIMATED = {
    *("plot", "ranking", "report"),
    *("to_gcta", "to_pgen", "to_plink", "to_plink_rel", "to_trees", "to_vcf", "to_vcf_zarr"),
    "to_zarr",
}
"""Methods that show or write a result."""
_WITHOUT_EFFECT = {"compute", "progress"}
"""Arguments that change neither the work nor its size."""


@dataclass(frozen=True)
class Call:
    """Method call to estimate; the method is not called."""

    data: Any
    """The Dataset or DataArray of the accessor."""
    method: Callable[..., Any]
    given: Mapping[str, Any]
    """All arguments, defaults included."""

    def __getitem__(self, name: str) -> Any:
        """Return an argument."""
        return self.given[name]

    def result(self) -> Any:
        """Return the result of a lazy method, which computes nothing."""
        return self.method(**self.given)

    def genotypes(self, *, phased: bool | None = None, haploid: bool = False) -> Genotypes:
        """Return the sizes of the genotypes; ``haploid`` if the method takes haploid ones."""
        data = as_diploid(self.data) if haploid else self.data
        layout = layouts.layout_of(data)
        ds, own, planes = packed.by_variants(data, phased=phased)
        calls = model.require_genotypes(data).size if layout is None else 0
        return Genotypes(
            ds,
            own,
            planes,
            ds.sizes[model.VARIANTS],
            len(planes) > len(own.planes),
            calls / machine.PACKED,
        )


class Genotypes(NamedTuple):
    """Sizes of packed genotypes."""

    ds: xr.Dataset
    layout: Layout
    planes: dict[str, da.Array]
    variants: int
    missing: bool
    """Whether there is a plane of called genotypes."""
    packing: float
    """Seconds to pack them first."""

    @property
    def rows(self) -> tuple[int, ...]:
        """Variants in each chunk."""
        found: tuple[int, ...] = next(iter(self.planes.values())).chunks[0]
        return found

    @property
    def chunk(self) -> int:
        """Bytes of the largest chunk of all planes."""
        return max(self.rows, default=0) * 8 * self.layout.words * len(self.planes)


def product_line(product: str) -> str:
    """Name the kernel of "and", "xor" or "ternary" products, with its measured rate."""
    return f"{product} products: {speed(product)}"


def lazy(
    what: str, result: Any, seconds: float, details: Iterable[str] = (), held: int = 0
) -> Estimate:
    """Return the estimate of a lazy result; ``seconds`` of work are on one core.

    Tasks are those of its graph. Memory is its largest chunk and ``held`` bytes for each worker.
    """
    arrays = _arrays(result)
    tasks = tasks_of(result)
    size = sum(array.nbytes for array in arrays)
    chunk = max((_largest(array) for array in arrays), default=0)
    return estimate(what, seconds, tasks, chunk + held, size, details)


def estimate(
    what: str,
    seconds: float,
    tasks: int,
    held: int,
    result: int = 0,
    details: Iterable[str] = (),
) -> Estimate:
    """Return an estimate; ``seconds`` of work are on one core, and ``held`` bytes of one task."""
    workers = max(1, min(threads(), tasks))
    seconds = machine.START + (seconds + machine.TASK * tasks) / workers
    return Estimate(what, seconds, workers, tasks, workers * held, result, details=tuple(details))


def tasks_of(result: Any) -> int:
    """Return the number of tasks in the graph of a lazy result."""
    if isinstance(result, PairTable):
        return result.tasks
    return len(result.__dask_graph__()) if is_dask_collection(result) else 0


def _arrays(result: Any) -> list[Any]:
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="result")
    return [x.data for x in result.variables.values()] if isinstance(result, xr.Dataset) else []


def _largest(array: Any) -> int:
    """Return the bytes of the largest chunk of an array."""
    if not is_dask_collection(array):
        return 0
    return int(np.prod([max(sizes, default=0) for sizes in array.chunks])) * array.dtype.itemsize


class Estimates(SuggestsNames):
    """Estimates of the methods of an accessor: time, tasks and memory, without computing."""

    def __init__(self, data: xr.Dataset | xr.DataArray) -> None:
        self._data = data

    def __repr__(self) -> str:
        """Say how to estimate a call."""
        call = f"{self._called}.ld()" if hasattr(self, "ld") else f"{self._called}.kendall()"
        return f"Estimates of calls: time, tasks and memory, as in {call}"


def estimates_class(accessor: type, called: str) -> type[Estimates]:
    """Return the class whose methods estimate those of an accessor with the same signatures."""
    if accessor in _CLASSES:
        return _CLASSES[accessor]
    mirrored = {
        name: _mirrored(name, method, accessor, called)
        for name in dir(accessor)
        # Static: a writer imports its file when looked at.
        if inspect.isfunction(method := inspect.getattr_static(accessor, name))
        and not name.startswith("_")
        and name not in NOT_ESTIMATED
    }
    about = {"__doc__": Estimates.__doc__, "__module__": __name__, "_called": f"{called}.estimate"}
    _CLASSES[accessor] = type("Estimates", (Estimates,), {**about, **mirrored})
    return _CLASSES[accessor]


_CLASSES: dict[type, type[Estimates]] = {}


def _estimator(name: str) -> Callable[[Call], Estimate]:
    """Return the function that estimates a method."""
    parts = [x.part("estimates") for x in registered() if name in {*x.methods, *x.array_methods}]
    found: Callable[[Call], Estimate] = getattr(parts[0], name) if parts else globals()[name]
    return found


def _mirrored(
    name: str, method: Callable[..., Any], accessor: type, called: str
) -> Callable[..., Estimate]:
    """Return a method with the signature of another, which returns the estimate of its call."""
    own = inspect.signature(method)
    dropped = _WITHOUT_EFFECT | ({"checkpoint"} if name == "parsimony_search" else set())
    kept = [x for key, x in own.parameters.items() if key not in dropped]
    signature = own.replace(parameters=kept, return_annotation=Estimate)

    def mirror(self: Estimates, *args: Any, **options: Any) -> Estimate:
        bound = signature.bind(self, *args, **options)
        bound.apply_defaults()
        _, *pairs = bound.arguments.items()
        given, data = dict(pairs), self._data
        known = methods()
        of_dosages = name in known and 2 in known[name].needs.ploidies
        if isinstance(data, xr.Dataset) and of_dosages and not given.get("phased"):
            data = without_polyploid_calls(data)
        return _estimator(name)(Call(data, getattr(accessor(data), name), given))

    mirror.__name__ = name
    mirror.__qualname__ = f"Estimates.{name}"
    mirror.__doc__ = (
        f"Estimate of `{name}`: time, tasks and memory, without computing the result.\n\n"
        f"It takes the arguments of ``{called}.{name}`` that decide the cost, as its signature "
        "shows, and raises the same errors."
    )
    mirror.__signature__ = signature  # type: ignore[attr-defined]
    return mirror


def pack(call: Call) -> Estimate:
    """Return the estimate of `pack`: a task for each chunk of genotypes."""
    genotypes = model.require_genotypes(call.data)
    result, count = call.result(), genotypes.size
    chunks = genotypes.chunks or tuple((size,) for size in genotypes.shape)
    chunk = int(np.prod([max(sizes, default=0) for sizes in chunks]))
    variants, samples = (genotypes.sizes[dim] for dim in (model.VARIANTS, model.SAMPLES))
    what = f"bit planes of {variants:,} variants of {samples:,} samples"
    return lazy(what, result, count / machine.PACKED, held=chunk)


def sel(call: Call) -> Estimate:
    """Return the estimate of `sel`: reading and writing the words of the selection."""
    result = call.result()
    what = f"{result.sizes[model.VARIANTS]:,} variants of "
    what += f"{result.sizes.get(model.SAMPLES, _samples(call.data)):,} samples"
    # Rows of planes are copied; samples are picked bit by bit.
    of, rate = (
        (result, machine.WORDS_COPIED)
        if call["samples"] is None
        else (call.data, machine.WORDS_SELECTED)
    )
    words = sum(x.nbytes for x in of.data_vars.values()) / 8
    return lazy(what, result, words / rate)


def _samples(ds: xr.Dataset) -> int:
    layout = layouts.layout_of(ds)
    return 0 if layout is None else layout.bits // layout.ploidy


isel = sel


def join(call: Call) -> Estimate:
    """Return the estimate of `join`, which matches labels and leaves genotypes as they are."""
    result = call.result()
    dims = ", ".join(f"{size:,} {dim}" for dim, size in result.sizes.items())
    return lazy(f"columns for {dims}", result, 0.0)


def indexed(call: Call) -> Estimate:
    """Return the estimate of `indexed`, which leaves genotypes as they are."""
    return lazy("ids as indexes", call.result(), 0.0)


def genetic_map(call: Call) -> Estimate:
    """Return the estimate of `genetic_map`, which leaves genotypes as they are."""
    result = call.result()
    return lazy(f"positions of {result.sizes[model.VARIANTS]:,} variants", result, 0.0)
