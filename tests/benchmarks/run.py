"""Run the benchmarks and print them as a table or as JSON.

Every figure is a ratio taken in this run, on one pinned core: a limit or a peer and what is
measured take turns, and the median of the rounds is reported. Absolute figures are printed to be
read, not compared across machines.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from genobit.engine.gemm.products import chosen_kernel
from genobit.engine.simd.cpu import host

from . import measure, rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Print all rows; the exit status is 0 however fast the machine is."""
    options = argparse.ArgumentParser(prog="genobit bench", description=__doc__)
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options.add_argument("--quick", action="store_true", help="small shapes, a few minutes")
    options.add_argument(
        "--only", nargs="*", help="names of benchmarks: %(choices)s", choices=_NAMES
    )
    chosen = options.parse_args(argv)
    about = {
        "machine": f"{platform.machine()}, {_processor()}",
        "kernel": chosen_kernel(),
        "host": host()._asdict(),
        "core": measure.pin(),
    }
    found = []
    for benchmark in rows.ALL:
        if chosen.only and benchmark.__name__ not in chosen.only:
            continue
        for row in benchmark(quick=chosen.quick):
            found.append(row)
            if not chosen.json:
                print(_line(row), flush=True)
    if chosen.json:
        print(json.dumps({**about, "rows": [row._asdict() for row in found]}, indent=1))
    else:
        print(f"\n{about['machine']}; kernel {about['kernel']}; {about['core']}")
    return 0


_NAMES = [benchmark.__name__ for benchmark in rows.ALL]


def _line(row: measure.Row) -> str:
    share = "" if row.ratio is None else f"{row.ratio:6.2f} x"
    goal = "" if row.wanted is None else f" (wanted {row.wanted:g})"
    measured = f"{row.table:8} {row.what:62} {row.value:9.3g} {row.unit:13}"
    return f"{measured} {share:9}{goal:15} {row.against}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    sys.exit(main())
