"""Python programs of their own, for what a process does only once or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(*arguments: str, seconds: float = 1500, **environment: str) -> str:
    """Run Python from the project's folder; returns what it printed, and fails if it does."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=Path(__file__).parents[1],
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
