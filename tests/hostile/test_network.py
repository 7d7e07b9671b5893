"""Importing and computing ask nothing of a network."""

from __future__ import annotations

import pytest

from tests.helpers import programs

# An audit hook sees each look-up and connection, whichever library makes it. Sockets within the
# process (socketpair, of asyncio) connect to nothing and are not seen by these names.
FORBIDDEN = """
import sys

def forbid(event, arguments):
    asked = ("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.bind",
             "socket.sendto", "urllib.Request", "http.client.connect")
    if event.startswith(asked):
        raise RuntimeError(f"the network was asked: {event} {arguments[1:]}")

sys.addaudithook(forbid)
"""
TRIED = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except RuntimeError as error:
    print(error)
"""
IMPORTS = """
import importlib, pkgutil, genobit
for module in pkgutil.walk_packages(genobit.__path__, "genobit."):
    if module.name.rpartition(".")[2] not in {"__main__", "conftest"}:
        importlib.import_module(module.name)
print("imported")
"""
ANALYSES = """
from pathlib import Path
import tempfile
import genobit as gb
from tests.hostile.readers import READERS, put
from tests.hostile.datasets import cohort
folder = Path(tempfile.mkdtemp())
for name in ("plink", "vcf", "gcta", "nexus", "trees", "gff"):
    put(folder / name, READERS[name].files)
    READERS[name].read(folder / name)
ds = cohort()
found = ds.genobit.ld_pairs(threshold=0.2).to_dataframe(), ds.genobit.grm().compute()
ds.genobit.pack().to_zarr(folder / "packed.zarr")
print("computed", len(found))
"""


def run(code: str) -> str:
    return programs.run("-c", FORBIDDEN + code, PYTHONWARNINGS="ignore")


def test_the_hook_sees_a_connection() -> None:
    assert "the network was asked: socket.getaddrinfo" in run(TRIED)


@pytest.mark.slow
@pytest.mark.parametrize(("code", "said"), [(IMPORTS, "imported"), (ANALYSES, "computed 2")])
def test_nothing_is_asked_of_a_network(code: str, said: str) -> None:
    assert said in run(code)
