"""`ds.genobit.report(path)`: one HTML file about a cohort.

The report of the demonstration has the same sections, and those of `genobit.launcher.demo`.
May import: everything but `cli` and the demonstration.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genobit.data import layouts, model
from genobit.data.analysis import registered
from genobit.engine.files import WRITE, local_path, replacing
from genobit.engine.options import set_options
from genobit.engine.progress import bar
from genobit.engine.spelling import did_you_mean
from genobit.launcher.report.page import render
from genobit.visual.colouring import colouring_of
from genobit.visual.report.cohort import Cohort
from genobit.visual.report.sections import Section, Stopwatch

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import xarray as xr

    from genobit.visual.report.sections import Part


PARTS: dict[str, Part] = {
    name: part
    for analysis in registered()
    if analysis.has_report
    for name, part in analysis.part("report").PARTS.items()
}
"""The sections by name, in their order."""


def write(
    ds: xr.Dataset,
    path: str | os.PathLike[str],
    *,
    sections: str | Sequence[str] | None = None,
    colour_by: Any = None,
    progress: bool | None = None,
) -> Path:
    """Write the report of a Dataset, and return its absolute path; see ``ds.genobit.report``."""
    target = local_path(path, "report", WRITE).absolute()
    if target.suffix.lower() != ".html":
        msg = f"a report cannot be written as {target.name!r}; end the name with .html"
        raise ValueError(msg)
    parts = {name: PARTS[name] for name in _checked(sections)}
    if layouts.layout_of(ds) is None:
        model.require_genotypes(ds)
    stats = ds.genobit.variant_stats
    cohort = Cohort(ds, colouring_of(ds, colour_by, "samples"), lambda: stats().compute())
    title = cohort.title(target.stem)
    write_page(target, title, cohort.paragraphs(), parts, cohort, Stopwatch(), progress=progress)
    return target


def write_page(
    target: Path,
    title: str,
    paragraphs: Sequence[str],
    parts: Mapping[str, Part],
    cohort: Cohort,
    watch: Stopwatch,
    *,
    ending: str = "",
    progress: bool | None = None,
) -> None:
    """Make the sections of a report, and write its page."""
    # The page turns dark with the browser of its reader.
    light = set_options(plot_theme="light", plot_scale=1.0)
    with replacing(target, overwrite=True) as (new,), light:
        made = []
        with bar(progress=progress, total=len(parts), desc="report", unit="section") as steps:
            for part in parts.values():
                made.append(_made(part, cohort, watch))
                steps.update()
        _require_one(made)
        new.write_text(render(title, paragraphs, made, watch, ending), encoding="utf-8")


def _checked(sections: str | Sequence[str] | None) -> list[str]:
    """Return the names of the sections, in the order of the page."""
    if sections is None:
        return list(PARTS)
    asked = [sections] if isinstance(sections, str) else list(sections)
    for name in asked:
        if name not in PARTS:
            msg = (
                f"sections={name!r} is not a section{did_you_mean(name, PARTS)} "
                f"The sections are {', '.join(map(repr, PARTS))}"
            )
            raise ValueError(msg)
    if not asked:
        msg = f"sections=[] asks for an empty report; the sections are {', '.join(PARTS)}"
        raise ValueError(msg)
    return [name for name in PARTS if name in asked]


def _made(part: Part, cohort: Cohort, watch: Stopwatch) -> Section:
    """Return a section; if the data lack something or it fails, its heading with the reason."""
    try:
        lacking = part.lacking(cohort)
        if lacking:
            return Section(part.title, problem=f"Left out: {lacking}.")
        return part.section(cohort, watch)
    except Exception as error:  # noqa: BLE001  whatever failed, the other sections are kept
        # str() of a KeyError puts its message into quotes.
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        problem = f"{type(error).__name__}: {text}"
        warnings.warn(f"report: {part.title} failed with {problem}", RuntimeWarning, stacklevel=4)
        return Section(part.title, problem=f"This section failed. {problem}", failed=True)


def _require_one(made: Sequence[Section]) -> None:
    """Raise RuntimeError if no section has content and one failed."""
    if any(section.failed for section in made) and not any(section.items for section in made):
        problems = "; ".join(f"{part.title}: {part.problem}" for part in made)
        msg = f"no section of the report could be made, and no file was written: {problems}"
        raise RuntimeError(msg)
