"""Kernels compiled by a process of their own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

only_x86 = pytest.mark.skipif(
    platform.machine().lower() not in {"x86_64", "amd64"}, reason="names x86-64 CPUs"
)


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = start(code, *arguments, **environment)
    out, errors = done.communicate(timeout=1500)
    assert done.returncode == 0, errors
    return subprocess.CompletedProcess(done.args, done.returncode, out, errors)


def start(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env=os.environ | environment,
    )
