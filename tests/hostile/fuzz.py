"""Feed a reader what a fuzzer makes up, for as long as one likes.

``python -m tests.hostile.fuzz READER [options of libFuzzer]``, after ``pip install --group fuzz``;
``make fuzz`` does so for all of them. What a reader neither reads nor refuses by name ends
the run, and is in a file ``crash-...``: put it into ``corpus/READER``, which the tests replay.

The first byte of an input says which file of the fileset the rest is; the others are whole.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.hostile.readers import Reader

CORPUS = Path(__file__).parent / "corpus"


def fileset(reader: Reader, data: bytes) -> dict[str, bytes]:
    """The files that an input stands for."""
    parts = reader.parts()
    which = parts[data[0] % len(parts)] if data else parts[0]
    return {**reader.files, which: data[1:]}


def seeds(reader: Reader) -> list[bytes]:
    """The whole files as inputs."""
    return [bytes([k]) + reader.files[name] for k, name in enumerate(reader.parts())]


def one(name: str, folder: Path, data: bytes) -> None:
    """Read what an input stands for, in a new folder.

    Raises
    ------
    AssertionError
        Where it is refused without the name of a file.
    Exception
        Whatever the reader raises that it does not document.
    """
    from tests.hostile.readers import READERS, put

    reader, refused = READERS[name], None
    put(folder, fileset(reader, data))
    try:
        reader.read(folder)
    except reader.refusals as error:
        refused = error
    said = str(refused)
    if refused is not None and (
        type(refused) not in reader.refusals
        or not any(word in said for word in (folder.name, "a.", "tip", "plane"))
    ):
        raise AssertionError(f"{type(refused).__name__} says: {said}") from refused


def main() -> None:
    """Fuzz the reader of the command line, or say which there are."""
    if len(sys.argv) == 1:
        from tests.hostile.readers import READERS

        sys.stdout.write("\n".join(READERS) + "\n")
        return
    import atheris

    import genobit

    name, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    # Before anything is instrumented: numba does not compile what has been.
    for module in pkgutil.walk_packages(genobit.__path__, "genobit."):
        if ".kernels" in module.name or module.name.startswith("genobit.engine."):
            importlib.import_module(module.name)
    with atheris.instrument_imports(include=["genobit.io", "gzip"]):
        from tests.hostile.readers import READERS, put

        with tempfile.TemporaryDirectory() as scratch:
            whole = Path(scratch) / "whole"
            put(whole, READERS[name].files)
            READERS[name].read(whole)
    with tempfile.TemporaryDirectory() as scratch:
        start = Path(scratch) / "seeds"
        start.mkdir()
        kept = sorted((CORPUS / name).glob("*"))
        for k, data in enumerate([*seeds(READERS[name]), *(p.read_bytes() for p in kept)]):
            (start / str(k)).write_bytes(data)
        number = 0

        def run(data: bytes) -> None:
            nonlocal number
            number += 1
            folder = Path(scratch) / f"case{number}"
            try:
                one(name, folder, data)
            finally:
                shutil.rmtree(folder)

        arguments = [
            sys.argv[0],
            "-timeout=300",
            "-rss_limit_mb=4096",
            "-max_len=2048",
            "-len_control=0",
        ]
        atheris.Setup([*arguments, *options, str(start)], run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
