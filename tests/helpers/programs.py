"""Programs of their own: Python for what a process does only once or not at all, and plink."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, seconds: float = 1500, **environment: str) -> str:
    """Run Python from the project's folder; returns what it printed, and fails if it does."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def other_hashes() -> str:
    """A PYTHONHASHSEED that is not this process's."""
    return "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"


PLINK = pytest.mark.skipif(shutil.which("plink1.9") is None, reason="plink1.9 is not installed")


def plink(fileset: Path, out: Path, *options: object, kind: str = "--bfile") -> None:
    """Run plink 1.9 on a fileset of a kind; fails if it does."""
    log = plink_log(fileset, out, *options, kind=kind)
    assert "Error:" not in log, log


def plink_log(fileset: Path, out: Path, *options: object, kind: str = "--bfile") -> str:
    """What plink 1.9 prints, its errors too."""
    command = ["plink1.9", kind, fileset, "--allow-no-sex", "--threads", 1, *options, "--out", out]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, check=False
    )
    return done.stdout + done.stderr


PLINK2 = pytest.mark.skipif(shutil.which("plink2") is None, reason="plink2 is not installed")


def plink2(out: Path, *options: object) -> str:
    """Run plink2; returns what it printed, and fails if it does."""
    command = ["plink2", "--threads", "1", *map(str, options), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def either_plink(program: str, fileset: Path, out: Path, *options: object) -> Path:
    """Run "plink1.9" or "plink2" on a .bed, and return the prefix of its files."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on the path")
    if program == "plink2":
        plink2(out, "--bfile", fileset, *options)
    else:
        plink(fileset, out, *options)
    return out


def vcztools(*arguments: object) -> str:
    """What vcztools prints; skips where it is not installed, as it is no dependency."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which("vcztools") or shutil.which("vcztools", path=beside)
    if program is None or shutil.which("bcftools") is None:
        pytest.skip("vcztools or bcftools is not on the path")
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
