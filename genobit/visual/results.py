"""Which results have plots, and of which kinds: the entries that the analyses write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from genobit.data.layouts import layout_of
from genobit.data.model import CALL_GENOTYPE
from genobit.engine.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Result:
    """A result that has plots.

    `made_by` names the call that returns the result. `matches` recognises the result, also if a
    part of it was selected. `kinds` and `papers` map a kind of plot to a function of the result and
    options. Functions of `kinds` return a HoloViews object; the first kind is the default. `papers`
    has the kinds with a separate print version, and its functions return a
    `genobit.visual.paper.page.Paper`. `elsewhere` maps a kind of another result to the call for it.
    `is_general` says that `matches` also recognises results of other calls.
    """

    made_by: str
    matches: Callable[[Any], bool]
    kinds: Mapping[str, Callable[..., Any]]
    papers: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    is_general: bool = False

    def kind(self, name: str | None) -> tuple[str, Callable[..., Any]]:
        """Return the name and the function of a kind of plot, of the default if ``name`` is None.

        Raises ValueError for an unknown kind.
        """
        if name is None:
            return next(iter(self.kinds.items()))
        if name not in self.kinds:
            msg = f"a result of {self.made_by} has no plot {name!r}"
            if name in self.elsewhere:
                raise ValueError(f"{msg}: call {self.elsewhere[name]}")
            raise ValueError(
                f"{msg}{did_you_mean(name, self.kinds)} "
                f"Its plots are {', '.join(map(repr, self.kinds))}"
            )
        return name, self.kinds[name]


def draw(data: Any, results: Sequence[Result], kind: str, **options: Any) -> Any:
    """Draw a kind of plot of a result."""
    return result_of(data, results).kind(kind)[1](data, **options)


def result_of(data: Any, results: Sequence[Result]) -> Result:
    """Return the first entry that recognises a result.

    Raises ValueError for data that are no result.
    """
    for result in results:
        if result.matches(data):
            return result
    if "populations" in getattr(data, "dims", ()):
        first = data.indexes["populations"][0] if "populations" in data.indexes else 0
        raise ValueError(
            f"a plot shows one population: select it first, .sel(populations={first!r})"
        )
    names = getattr(data, "data_vars", None)
    what = f"it has the variables {', '.join(map(str, names))}" if names else "it has none"
    if names is None:
        what = f"its name is {data.name!r} and its dims are {data.dims}"
    known = ", ".join(dict.fromkeys(result.made_by for result in results))
    if names is not None and (CALL_GENOTYPE in names or layout_of(data) is not None):
        what += (
            ". Genotypes have the figures ds.genobit.plot.region(association) and "
            "ds.genobit.plot.relatedness()"
        )
    raise ValueError(
        f"this {type(data).__name__} is not a result that has a plot: {what}. Results with plots "
        f"are those of {known}. Explorers show data: .genobit.explore()"
    )
