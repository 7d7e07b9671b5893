from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import dask
import numpy as np
import pytest

from genobit.engine.schedule.checkpoints import MANIFEST, TEMPORARY, Checkpoint, digest
from genobit.epistasis.kernels.search import Best, search
from genobit.epistasis.schedule.search import CombinationSearch
from tests.epistasis.schedule.combinations import check, cohort, divided, every, same

VARIANTS, SAMPLES = 12, 150


def work(**changes: object) -> CombinationSearch:
    arguments = {"seed": 1, "order": 3, "top": 20, "unit": 10} | changes
    classes = cohort(arguments.pop("seed"), VARIANTS, SAMPLES, 0.05)
    order, top, unit = (arguments.pop(name) for name in ("order", "top", "unit"))
    return divided(CombinationSearch(classes, order, top, **arguments), unit)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def none(*_: object) -> Best:
    msg = "nothing is left to do"
    raise AssertionError(msg)


def test_a_finished_run__is_read_and_not_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = work().run()
    same(work().run(checkpoint=tmp_path / "run"), expected)
    before = files(tmp_path / "run")
    assert len(before) == 22 + 2
    again = work()
    monkeypatch.setattr("genobit.epistasis.schedule.waves.search_unit", none)
    same(again.run(checkpoint=tmp_path / "run", progress=True), expected)
    assert files(tmp_path / "run") == before


def interrupted(*args: object, after: Path, count: int) -> Best:
    """Score as usual, until so many units are kept."""
    if len(list(after.glob("unit-*"))) >= count:
        raise KeyboardInterrupt
    return search(*args)


@pytest.mark.parametrize("count", [1, 2, 3, 9, 21])
def test_an_interrupted_run__goes_on_to_the_same_files(tmp_path: Path, count: int) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    expected = work().run(checkpoint=whole)
    first = work()
    score = partial(interrupted, after=stopped, count=count)
    # The question is the same: only the score has a fuse.
    first.question = work().question
    first.work = first.work._replace(score=score)
    with dask.config.set(scheduler="sync"):
        partly = first.run(checkpoint=stopped)
    assert partly.partial
    assert len(list(stopped.glob("unit-*"))) == count
    with dask.config.set(scheduler="threads", num_workers=3):
        same(work().run(checkpoint=stopped), expected)
    assert files(stopped) == files(whole)


KILLED = """
import itertools, sys, time
from pathlib import Path
from tests.engine.schedule.test_checkpoints import work

replace, calls = Path.replace, itertools.count()

def held(self, target):
    # The manifest and five units; of the sixth comes its temporary file, and not its name.
    if next(calls) > 5:
        time.sleep(1000)
    return replace(self, target)

Path.replace = held
work().run(checkpoint=sys.argv[1])
"""


def test_a_killed_process__is_resumed_to_the_same_files(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    expected = work().run(checkpoint=whole)
    root = Path(__file__).parents[3]

    def units() -> int:
        return len(list(killed.glob("unit-*")))

    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(killed)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    ) as run:
        try:
            until = time.monotonic() + 600
            while not (units() == 5 and list(killed.glob(f"*{TEMPORARY}"))):
                assert run.poll() is None
                assert time.monotonic() < until
                time.sleep(0.01)
        finally:
            run.kill()
    assert units() == 5
    same(work().run(checkpoint=killed), expected)
    # A file that was being written has gone, and a lock does not outlive its process.
    assert files(killed) == files(whole)
    check(expected, every(1, VARIANTS, SAMPLES, 0.05, 3), 20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": 2}, "its order is 3, not 2"),
        ({"top": 7}, "its top is 20, not 7"),
        ({"seed": 2}, "its class_sizes is"),
        ({"unit": 11}, "its cut is"),
        (
            {"score": partial(search, rule=2)},
            "its score is 'genobit.epistasis.kernels.search.search'",
        ),
    ],
)
def test_another_runs_folder__is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    work().run(checkpoint=tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=f"holds another run: {message}.*name another folder"):
        work(**changes).run(checkpoint=tmp_path)
    assert files(tmp_path) == before


def test_what_else_is_asked__tells_runs_apart(tmp_path: Path) -> None:
    work(about={"phenotype": "case"}).run(checkpoint=tmp_path)
    with pytest.raises(ValueError, match="its phenotype is 'case', not 'control'"):
        work(about={"phenotype": "control"}).run(checkpoint=tmp_path)
    with pytest.raises(ValueError, match="its phenotype is 'case', not None"):
        work().run(checkpoint=tmp_path)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "text"])
def test_a_damaged_file__is_named(tmp_path: Path, damage: str) -> None:
    expected = work().run(checkpoint=tmp_path)
    path = tmp_path / "unit-000000003.npz"
    content = path.read_bytes()
    changed = bytearray(content)
    changed[200] ^= 1
    wrong = {"cut": content[:-40], "changed": bytes(changed), "empty": b"", "text": b"unit 3"}
    path.write_bytes(wrong[damage])
    with pytest.raises(ValueError, match=r"unit-000000003.npz is damaged .* computed again"):
        work().run(checkpoint=tmp_path)
    path.unlink()
    same(work().run(checkpoint=tmp_path), expected)
    assert path.read_bytes() == content


def test_copies_of_units__are_not_taken_for_them(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, {}) as kept:
        kept.write(3, {"found": np.arange(2)})
        (tmp_path / "unit-000000003 (1).npz").write_bytes(b"")
        assert kept.units() == {3}


def test_folders_of_something_else__are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"no manifest.json and holds 'notes.txt'"):
        work().run(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"is a file: name a folder"):
        work().run(checkpoint=tmp_path / "notes.txt")
    other = tmp_path / "other"
    other.mkdir()
    (other / MANIFEST).write_text("{")
    with pytest.raises(ValueError, match=r"manifest.json is damaged"):
        work().run(checkpoint=other)
    (other / MANIFEST).write_text(json.dumps({"format": 0}))
    with pytest.raises(ValueError, match="its format is 0, not 1"):
        work().run(checkpoint=other)


def test_two_runs__do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        Checkpoint(tmp_path, {"a": 1}),
        pytest.raises(RuntimeError, match="another run uses"),
        Checkpoint(tmp_path, {"a": 1}),
    ):
        pass
    with Checkpoint(tmp_path, {"a": 1}) as kept:
        assert kept.units() == set()


def test_digests__tell_arrays_apart() -> None:
    parts = [np.arange(4), np.arange(4, dtype="int32"), np.arange(4).reshape(2, 2), "a", b"b"]
    assert len({digest([part]) for part in parts}) == len(parts)
    assert digest(["a", "b"]) != digest(["ab"])
    assert digest([np.arange(8)[::2]]) == digest([np.array([0, 2, 4, 6])])
