"""Peak memory of the process that asks."""

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_gib() -> float:
    """GiB of memory that this program has had at most.

    getrusage counts what the process had before it became this program: the memory of the test
    worker that started it, which grows with every test.
    """
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
