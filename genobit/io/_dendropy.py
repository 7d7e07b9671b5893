"""DendroPy, which reads and writes trees and NEXUS, where somebody needs it."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def dendropy() -> Any:
    """The library.

    Raises
    ------
    ImportError
        Says how to install it.
    """
    try:
        return importlib.import_module("dendropy")
    except ImportError as error:
        msg = "trees and NEXUS are read with DendroPy: pip install 'genobit[trees]'."
        raise ImportError(msg) from error


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn the errors of DendroPy's readers into ones that say what could not be read."""
    problems = importlib.import_module("dendropy.utility.error")
    reader = importlib.import_module("dendropy.dataio.nexusreader").NexusReader
    try:
        yield
    except reader.BlockTerminatedException as error:
        raise ValueError(f"the {what} cannot be read: a row of the matrix is too short") from error
    except (problems.DataParseError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = str(error).removeprefix("Error parsing data source ")
        raise ValueError(f"the {what} cannot be read: {reason}") from error
