from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from genobit.engine.simd.jit import COMPILED, cache_folder

ROOT = Path(__file__).resolve().parent.parent

# Kernels compile for seconds and machines are shared: a deadline would only measure that, and so
# would the time that examples take to draw.
hypothesis.settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    max_examples=20,
)
hypothesis.settings.load_profile("default")
hypothesis.settings.register_profile("ci", derandomize=True, print_blob=True)
# By hand: HYPOTHESIS_PROFILE=thorough make test-fast
hypothesis.settings.register_profile("thorough", max_examples=500)
# Kernels that are not compiled take a thousand times as long.
hypothesis.settings.register_profile("plain", derandomize=True, max_examples=10)
hypothesis.settings.load_profile(
    os.environ.get(
        "HYPOTHESIS_PROFILE",
        "plain" if not COMPILED else "ci" if os.environ.get("CI") else "default",
    )
)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets that stands beside the checkout; skips where it does not."""
    folder = Path(os.environ.get("GENOBIT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data sets are not at {folder}; set GENOBIT_SHARED_DATA to their folder")
    return folder


WAITING = ("browser", "distributed", "notebook", "slow")
"""Markers of files that wait for others or are long: neither may be all that is left at the end."""


def in_turn(items: list[pytest.Item]) -> list[pytest.Item]:
    """Files in the order in which processes take them, those that wait for others spread out.

    They are dealt out among the last two thirds of the files: what they need is compiled then, and
    two processes do not wait at once for as long as there are files that compute.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [
        f for f in files.values() if any(i.get_closest_marker(m) for i in f for m in WAITING)
    ]
    computing = [f for f in files.values() if f not in waiting]
    first = len(computing) // 3
    step = (len(computing) - first) / max(len(waiting), 1)
    for k, file in enumerate(waiting):
        computing.insert(first + k + round(k * step), file)
    return [item for file in computing for item in file]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.notebook)
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.slow)
        compiled = item.get_closest_marker("compiled")
        if compiled and not COMPILED:
            item.add_marker(pytest.mark.skip(reason=f"without compilation: {compiled.args[0]}"))
    yield  # to what deselects by markers
    if hasattr(config, "workerinput"):  # one of several processes
        items[:] = in_turn(items)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Processes are silent at first: say for how long, and what they do."""
    processes = config.getoption("numprocesses", None)
    if not processes or hasattr(config, "workerinput"):
        return []
    return [
        f"{processes} processes collect the tests, which takes one to two minutes",
        f"The first tests compile kernels into {cache_folder()}, so their dots come slowly",
    ]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Show each process that is ready."""
    reporter = node.config.pluginmanager.get_plugin("terminalreporter")
    reporter.write_line(f"{node.gateway.id}: collected {len(ids):,} tests")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A process takes a whole file, or all files of the browser: they share a JupyterLab server.

    `tests/test_labels.py` has hundreds of tests: a process takes those of one case at a time.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = str(super()._split_scope(nodeid))
            if path == "tests/test_labels.py":
                return nodeid.partition("-")[0]
            return "tests/browser" if path.startswith("tests/browser/") else path

    return ByFile(config, log)


def pytest_collection_finish() -> None:
    """Spare the garbage collector all modules and tests, and most of its rounds.

    Graphs of dask and the compiler make so many small objects that it takes a tenth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


NEEDS = (
    ("real data sets", "real data", "GENOBIT_SHARED_DATA=folder"),
    ("plink1.9 is not", "plink 1.9", "apt install plink1.9"),
    ("plink2 is not", "plink2", "apt install plink2"),
    ("vcztools or", "vcztools", "pip install vcztools"),
    ("bcftools is not", "bcftools", "apt install bcftools"),
    ("tabix is not", "tabix", "apt install tabix"),
    ("Rscript", "R", "apt install r-base-core"),
    ("chromium", "Chromium", "apt install chromium"),
    ("could not import", "packages", "pip install --group dev"),
    (" is not installed", "packages", "pip install --group dev"),
)
"""Text in the reason of a skip, what the test needs, and how to get it."""


def summed_up(reasons: list[str]) -> str:
    """Return one line: how many skipped tests need what, and how to get it."""
    other = "have other reasons (-rs lists them)"
    wanted = Counter(
        next((f"need {what} ({how})" for text, what, how in NEEDS if text in reason), other)
        for reason in reasons
    )
    listed = ", ".join(f"{n:,} {need}" for need, n in wanted.most_common())
    return f"{len(reasons):,} skipped tests: {listed}"


def _reason(report: Any) -> str:
    """Why a test was skipped, without the path of its file."""
    where = report.longrepr
    return str(where[2] if isinstance(where, tuple) else where)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        terminalreporter.write_line(summed_up([_reason(report) for report in skipped]))


@pytest.fixture
def unit_by_twin(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A matrix unit that Linux permits, whose work its twin does."""
    from genobit.engine.gemm import matrix_unit

    by_twin = matrix_unit.multiply

    def multiply(a: Any, b: Any, _unit: bool | None, _twin: bool | None, *rest: Any) -> None:
        by_twin(a, b, *matrix_unit.BY_TWIN, *rest)

    matrix_unit.usable.cache_clear()
    monkeypatch.setattr(matrix_unit, "permitted", lambda: True)
    monkeypatch.setattr(matrix_unit, "multiply", multiply)
    yield monkeypatch
    matrix_unit.usable.cache_clear()


@pytest.fixture
def drawn() -> None:
    """For tests that want real pictures, which take a second each."""


@pytest.fixture
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are empty boxes, but in tests that ask for `drawn`."""
    if "drawn" not in request.fixturenames:
        import ipywidgets

        monkeypatch.setattr(
            "genobit.visual.explorer.view.Picture", lambda _view, _home: ipywidgets.HBox()
        )
