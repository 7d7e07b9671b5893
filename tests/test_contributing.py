"""What docs/contributing.md says is true: its examples run, and tests follow the files tested."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import genobit
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


PARTS = {
    "__init__": "",
    "plots/__init__": "",
    "plots/kinds": """
from genobit.visual.heatmap import heatmap
from genobit.visual.results import Result

def carriers_heatmap(shared):
    return heatmap(shared)

RESULTS = (
    Result(".carriers_shared()", lambda x: x.name == "carriers_shared", {"map": carriers_heatmap}),
)
PUBLIC = (carriers_heatmap,)
""",
    "estimates": """
from genobit.data.estimates import estimate

def carriers_shared(call):
    return estimate("carriers", 1.0, 1, 0)
""",
    "explorer": """
class CarrierExplorer:
    \"\"\"Widget to explore carriers.

    Parameters
    ----------
    ds
        Genotypes.
    \"\"\"

    def __init__(self, ds):
        self.shown = ds
""",
}
MORE = """
import dataclasses
from genobit.data.analysis import Explorer

ANALYSIS = dataclasses.replace(
    ANALYSIS,
    has_plots=True,
    explorer=Explorer("explorer.CarrierExplorer", "carriers", "Who carries?", lambda ds: ""),
    warm=lambda cohorts: print("warmed", sum(1 for _ in cohorts)),
)
"""
USED = """
import sys
import genobit as gb, numpy as np, xarray as xr
ds = xr.open_dataset(sys.argv[1])
found = ds.genobit.carriers_shared()
np.save(sys.argv[2], found.values)
print(found.variant_id_1.values.tolist())
print("carriers_shared()" in repr(ds.genobit), "carriers_shared" in dir(ds.genobit))
print("carriers_shared" in dir(found.genobit), "carriers_shared" in dir(xr.Dataset().genobit))
print(ds.genobit.estimate.carriers_shared().what)
print(found.genobit.plot(), callable(gb.plots.carriers_heatmap), "map" in str(found.genobit.plot()))
print(type(ds.genobit.explore.carriers()).__name__, "carriers" in ds.genobit.explore().offers)
gb.warm("carriers")
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with one folder and one line more."""
    original, copy = Path(genobit.__file__).parent, tmp_path / "genobit"
    blocks = re.findall(r"```python\n# example: .*?\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (copy / "carriers" / "plots").mkdir(parents=True)
    for name, text in {**PARTS, "analysis": "\n".join([*blocks, MORE])}.items():
        (copy / "carriers" / f"{name}.py").write_text(text, "utf-8")
    for path in original.iterdir():
        if path.suffix == ".py":
            (copy / path.name).write_text(path.read_text("utf-8"), "utf-8")
        else:
            (copy / path.name).symlink_to(path)
    accessor = copy / "accessor.py"
    text = accessor.read_text("utf-8")
    line = '    "quality",\n'
    assert text.count(line) == 1
    accessor.write_text(text.replace(line, f'{line}    "carriers",\n'), "utf-8")
    return tmp_path


def test_analysis__is_one_folder_and_one_line(package: Path, tmp_path: Path) -> None:
    calls = random_calls(3, 20, 50)
    ds = cohort(calls).assign_coords(variant_id=("variants", [f"rs{k}" for k in range(20)]))
    ds.to_netcdf(tmp_path / "ds.nc")
    shared = tmp_path / "shared.npy"
    done = subprocess.run(
        [sys.executable, "-c", USED, str(tmp_path / "ds.nc"), str(shared)],
        check=False,
        capture_output=True,
        text=True,
        cwd=package,  # first on the path of Python
        env={key: text for key, text in os.environ.items() if key != "PYTHONPATH"},
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(shared), shares(dosages(calls) > 0).astype(np.float32))
    assert done.stdout.splitlines() == [
        str(ds.variant_id.values.tolist()),
        "True True",
        "False False",
        "carriers",
        "<Figure 'map': .show() opens it, .save(\"figure.pdf\") writes it> True True",
        "CarrierExplorer True",
        "warmed 2",
    ]


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
