"""The conda recipe asks for the packages, versions and version number of `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECIPE = ROOT / ".ci" / "conda" / "recipe.yaml"
CITATION = ROOT / "CITATION.cff"
MODULE = ROOT / "genobit" / "__init__.py"
CONDA = {
    "dask": "dask-core",
    "isal": "python-isal",
    "matplotlib": "matplotlib-base",
    "xxhash": "python-xxhash",
}
"""Names of packages of PyPI that conda-forge calls by others."""

if not RECIPE.is_file():
    pytest.skip("not in a checkout", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def listed(key: str) -> set[str]:
    """Items of a list of the recipe, such as `numpy >=2.2`."""
    text = RECIPE.read_text(encoding="utf-8")
    found = re.search(rf"^  {key}:\n((?:    - .*\n)+)", text, re.MULTILINE)
    assert found is not None
    return set(found[1].replace("    - ", "").splitlines())


def in_conda(requirements: list[str]) -> set[str]:
    """Requirements with the names of conda-forge, without extras."""
    found = set()
    for text in requirements:
        name, bound = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(>=[\w.]+)", text).groups()  # type: ignore[union-attr]
        found.add(f"{CONDA.get(name, name)} {bound}")
    return found


def test_run__is_the_core() -> None:
    python = f"python {PROJECT['requires-python']}"
    assert listed("run") == in_conda(PROJECT["dependencies"]) | {python}


def test_run_constraints__are_the_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = [text for name, texts in extras.items() if name != "all" for text in texts]
    assert listed("run_constraints") == in_conda(wanted)


@pytest.mark.parametrize("path", [RECIPE, CITATION, MODULE], ids=["recipe", "citation", "module"])
def test_version__is_that_of_the_project(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    versions = re.findall(r"^(?: *version: |__version__ = \")(\d[^\"\n]*)", text, re.MULTILINE)
    assert versions == [PROJECT["version"]]
