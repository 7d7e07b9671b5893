"""What a run of pytest says beside the results of tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import NEEDS, ROOT, summed_up


def test_skips_are_summed_up_with_remedies() -> None:
    reasons = [
        "('test_a.py', 1, 'Skipped: real data sets are not at /x; set GENOBIT_SHARED_DATA')",
        "('test_a.py', 2, 'Skipped: plink2 is not on the path')",
        "('test_a.py', 3, 'Skipped: real data sets are not at /x; set GENOBIT_SHARED_DATA')",
        "('test_a.py', 4, 'Skipped: this system does not fork')",
    ]
    assert summed_up(reasons) == (
        "4 skipped tests: 2 need real data (GENOBIT_SHARED_DATA=folder), "
        "1 need plink2 (apt install plink2), 1 have other reasons (-rs lists them)"
    )


def test_reasons_of_tests_are_known() -> None:
    """A reason that is worded anew would count among the others."""
    code = (
        "".join(
            path.read_text("utf-8")
            for path in (ROOT / "tests").rglob("*.py")
            if path.name not in {"conftest.py", "test_conftest.py"} or path.parent.name == "browser"
        )
        + (ROOT / "tests" / "conftest.py").read_text("utf-8").split("NEEDS")[0]
    )
    for text, *_ in NEEDS[:-2]:
        assert text in code


def test_a_run_ends_with_the_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    test = "tests/data/test_frequency.py::test_allele_frequency__equals_plink"
    done = subprocess.run(
        [*command, test],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"GENOBIT_SHARED_DATA": str(tmp_path / "none")},
        check=False,
    )
    assert "need real data (GENOBIT_SHARED_DATA=folder)" in done.stdout
