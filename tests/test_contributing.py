"""What docs/contributing.md says is true: its examples run, and tests follow the files tested."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genobit.accessor import GenobitDatasetAccessor
from genobit.engine.bits.planes import PlaneRows
from genobit.engine.pairwise.statistic import band, square
from tests.helpers.cohorts import cohort, random_calls
from tests.helpers.reference import dosages, words_of

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "contributing.md"
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
SEVERAL_PARTS = {"benchmarks", "browser", "distributed", "hostile"}


@pytest.fixture(scope="module")
def examples() -> dict[str, Any]:
    """The names that the examples of the page define, run one after the other."""
    blocks = re.findall(r"```python\n# example: .*?\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    return names


def shares(bits: np.ndarray) -> np.ndarray:
    """Dice's coefficient of all pairs of rows of bits."""
    counts = bits.astype(int) @ bits.T.astype(int)
    each = bits.sum(axis=1)
    return 2 * counts / (each[:, None] + each)


def test_statistic_of_pairs__is_one_entry(examples: dict[str, Any]) -> None:
    bits = np.random.default_rng(1).random((30, 130)) < 0.4
    rows = PlaneRows(True, 130, (words_of(bits),), None)
    right = shares(bits).astype(np.float32)
    np.testing.assert_array_equal(square(examples["DICE"], rows), right)
    last = np.minimum(np.arange(30) + 4, 29)
    found = band(examples["DICE"], rows, rows, last, 4)
    for i in range(30):
        np.testing.assert_array_equal(found[i, : last[i] - i], right[i, i + 1 : last[i] + 1])


def test_analysis__is_one_folder_and_one_line(examples: dict[str, Any]) -> None:
    class Accessor(examples["CarrierMethods"], GenobitDatasetAccessor):
        """The accessor with one line more."""

    calls = random_calls(3, 20, 50)
    ds = cohort(calls).assign_coords(variant_id=("variants", [f"rs{k}" for k in range(20)]))
    found = Accessor(ds).carriers_shared()
    np.testing.assert_array_equal(found, shares(dosages(calls) > 0).astype(np.float32))
    assert found.variant_id_1.values.tolist() == ds.variant_id.values.tolist()


def follows_a_file(test: Path) -> bool:
    """Whether test_x.py or test_x_topic.py stands in the folder of a file x, or above it."""
    folder = ROOT / "genobit" / test.parent.relative_to(ROOT / "tests")
    tested = test.stem.removeprefix("test_")
    names = {path.stem.lstrip("_") for path in (*folder.rglob("*.py"), *folder.glob("*/"))}
    return any(tested == name or tested.startswith(f"{name}_") for name in names)


def test_tests__follow_the_files_that_they_test() -> None:
    files = {test.relative_to(ROOT / "tests"): test for test in ROOT.glob("tests/*/**/test_*.py")}
    own = {name: test for name, test in files.items() if name.parts[0] not in SEVERAL_PARTS}
    assert len(own) > 100
    assert [str(name) for name, test in own.items() if not follows_a_file(test)] == []


def imported_tests(source: str) -> list[str]:
    """Return the test modules that a module of tests imports."""
    found = [x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.ImportFrom)]
    names = [f"{x.module}.{name.name}" for x in found for name in x.names]
    return [name for name in names if re.match(r"tests\..*\btest_", name)]


def test_no_module_of_tests__imports_a_test() -> None:
    both = "from tests.ld.test_r2 import rows\nfrom tests.ld import test_r2, results"
    assert len(imported_tests(both)) == 2
    sources = {str(test): test.read_text("utf-8") for test in ROOT.glob("tests/**/*.py")}
    assert {test: names for test in sources if (names := imported_tests(sources[test]))} == {}


def test_lines_for_users__have_a_name_and_a_kind() -> None:
    kinds = "|".join(kind["directory"] for kind in TOOLS["towncrier"]["type"])
    name = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md")
    files = {path.name for path in (ROOT / "changes").glob("*")} - {".gitignore"}
    assert {file for file in files if not name.fullmatch(file)} == set()


WALKS = re.findall(r"### (Where .*?)\n\n(.*?)(?=\n##)", PAGE.read_text("utf-8"), re.DOTALL)


def test_three_walks__are_written() -> None:
    assert len(WALKS) == 3


@pytest.mark.parametrize("walk", [text for _, text in WALKS], ids=[title for title, _ in WALKS])
def test_walk__names_files_and_what_they_hold(walk: str) -> None:
    quoted = re.findall(r"`([^`]+)`", walk)
    paths = [ROOT / name for name in quoted if "/" in name]
    assert [path for path in paths if not path.exists()] == []
    held = "\n".join(path.read_text("utf-8") for path in paths)
    names = [name for name in quoted if name.isidentifier()]
    assert len(names) > 4
    assert [name for name in names if name not in held] == []
