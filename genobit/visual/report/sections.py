"""Sections of a report with their pictures and tables, and the timings of their steps."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Figure:
    """A picture of the report."""

    title: str
    caption: str
    plot: Any


@dataclass(frozen=True)
class Table:
    """A table of the report; numbers are already text."""

    title: str
    caption: str
    columns: dict[str, list[str]]
    numbers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Section:
    """A heading of the report with its text, pictures and tables.

    `problem` says why the section has no items: what the data lack, or what failed.
    """

    title: str
    text: str = ""
    items: tuple[Figure | Table, ...] = ()
    problem: str = ""
    failed: bool = False


@dataclass
class Stopwatch:
    """The timed steps in order, as rows (name, work, seconds)."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, *work: str, products: int = 0) -> Iterator[list[str]]:
        """Time a step; append to the yielded list any work that is known only at its end.

        `products` counts the multiplications of two alleles or dosages; their rate is noted.
        """
        notes = list(work)
        begin = time.perf_counter()
        yield notes
        seconds = time.perf_counter() - begin
        if products:
            notes.append(f"{products / seconds / 1e9:,.3g} G products/s")
        self.rows.append((name, ", ".join(notes), seconds))

    def __str__(self) -> str:
        """Return the table of timings."""
        width = max(len(name) for name, _, _ in self.rows)
        lines = [f"{name:<{width}} {seconds:9.2f}  {work}" for name, work, seconds in self.rows]
        return "\n".join([f"{'step':<{width}} {'seconds':>9}  what", *lines])


class Part(NamedTuple):
    """A section of the report: its heading, what the data lack for it, and how it is made."""

    title: str
    lacking: Callable[[Any], str]
    section: Callable[[Any, Stopwatch], Section]
