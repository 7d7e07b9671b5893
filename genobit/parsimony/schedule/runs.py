"""Runs of tree searches: chains of steps on the active dask scheduler.

All unfinished chains run one step at a time, in parallel. The latest state of each chain is kept in
memory. With a checkpoint, it is also written to its own file, which is replaced as a whole.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dask.delayed import delayed

from genobit.engine.progress import bar
from genobit.engine.schedule.checkpoints import Checkpoint, digest
from genobit.engine.schedule.computing import as_completed, shared
from genobit.parsimony.schedule.steps import Plan, State, step

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from dask.delayed import Delayed


def question(plan: Plan) -> dict[str, Any]:
    """Return the parameters of a search, by which a checkpoint is matched to it."""
    start = plan.start if isinstance(plan.start, str) else digest([plan.start])
    asked = plan._asdict()
    del asked["patterns"], asked["drawn"]
    drawn = [part.reshape(-1) for part in plan.drawn if part is not None]
    patterns = digest([plan.patterns.sets, plan.patterns.weights, *drawn])
    return {**asked, "start": start, "patterns": patterns}


class Run:
    """One run, with the latest state of each chain."""

    def __init__(self, plan: Plan, checkpoint: Checkpoint | None, *, progress: bool | None) -> None:
        self.plan = plan
        self.checkpoint = checkpoint
        self.progress = progress
        self.states: dict[int, State] = {}
        self.partial = False

    def to_the_end(self, check: Callable[[float], None]) -> None:
        """Run all remaining steps; Ctrl-C keeps the finished ones and sets ``partial``.

        ``check`` is called with the share that is left, and may refuse it by raising.
        """
        if self.checkpoint is not None:
            self.states = {n: self.checkpoint.read(n) for n in self.checkpoint.units()}
        check(1 - self._done() / self.plan.chains)
        with bar(
            progress=self.progress,
            total=self.plan.chains,
            initial=round(self._done(), 3),
            desc="trees",
            bar_format="{l_bar}{bar}| {n:.2f}/{total} searches [{elapsed}<{remaining}]{postfix}",
        ) as steps:
            try:
                plan = shared(self.plan)
                while left := self._left():
                    self._wave(plan, left, steps)
            except KeyboardInterrupt:
                if not any(chain < self.plan.replicates for chain in self.states):
                    raise
                self.partial = True

    def _done(self) -> float:
        return sum(float(state["done"]) for state in self.states.values())

    def _left(self) -> list[int]:
        return [
            chain
            for chain in range(self.plan.chains)
            if chain not in self.states or self.states[chain]["done"] < 1
        ]

    def _wave(self, plan: Delayed, left: list[int], steps: Any) -> None:
        """Run one step of each chain in ``left``; finished steps are kept if others fail."""
        name = f"genobit-trees-{uuid4().hex}"
        task = delayed(step, pure=False, traverse=False)
        keys = {f"{name}-{chain}": chain for chain in left}
        tasks = [
            task(plan, chain, self.states.get(chain), dask_key_name=key)
            for key, chain in keys.items()
        ]
        as_completed(tasks, lambda key, state: self._add(keys[key], state, steps))

    def _add(self, chain: int, state: State, steps: Any) -> None:
        self.states[chain] = state
        if self.checkpoint is not None:
            self.checkpoint.write(chain, state)
        steps.update(min(round(self._done(), 6), self.plan.chains) - steps.n)
        lengths = [int(s["lengths"][-1]) for s in self.states.values() if "lengths" in s]
        if lengths:
            steps.set_postfix(shortest=min(lengths) + self.plan.patterns.constant)


def run(
    plan: Plan,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    about: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    check: Callable[[float], None] = lambda _: None,
) -> Run:
    """Run a search on the active dask scheduler.

    The folder ``checkpoint`` keeps each chain after each step, and a later run resumes from it.
    ``about`` adds further parameters that must match. ``check`` is called before the search with
    the share that is left (1 without a checkpoint), and raises if that is too much.

    Raises ValueError if the folder holds another run, something else or a damaged file. Raises
    RuntimeError if another run is using the folder. Raises KeyboardInterrupt if the run is stopped
    before any tree is found.
    """
    folder: AbstractContextManager[Checkpoint | None] = nullcontext()
    if checkpoint is not None:
        folder = Checkpoint(checkpoint, {**(about or {}), **question(plan)})
    with folder as kept:
        found = Run(plan, kept, progress=progress)
        found.to_the_end(check)
    return found
