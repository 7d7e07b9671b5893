"""Import DendroPy on demand, and adapt its reader of NEXUS."""

from __future__ import annotations

import functools
import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from genobit.engine.extras import needed_by

if TYPE_CHECKING:
    from collections.abc import Iterator


_SCHEMA = "nexus of genobit"
# Tokens past the end before an error. A correct reader asks for one or two.
_PATIENCE = 100


def dendropy() -> Any:
    """Import DendroPy, or raise an error that says how to install it."""
    with needed_by("Reading trees and NEXUS"):
        return importlib.import_module("dendropy")


@functools.cache
def nexus() -> str:
    """Return the name of a schema that reads NEXUS as DendroPy does, but stops at the end of file.

    DendroPy 5 asks for tokens until a block or command is closed. If the file ends first, it would
    never stop.
    """
    processing = importlib.import_module("dendropy.dataio.nexusprocessing")
    reader = importlib.import_module("dendropy.dataio.nexusreader").NexusReader

    class Tokenizer(processing.NexusTokenizer):  # type: ignore[name-defined]
        tokens_past_the_end = 0

        def __next__(self) -> Any:
            if self.is_eof():
                self.tokens_past_the_end += 1
                if self.tokens_past_the_end > _PATIENCE:
                    raise processing.Tokenizer.UnexpectedEndOfStreamError(
                        message="Unexpected end of file: a block or a command is not closed",
                        line_num=self.current_line_num,
                        col_num=self.current_column_num,
                        stream=self.src,
                    )
            return super().__next__()

    class Reader(reader):  # type: ignore[misc,valid-type]
        def create_tokenizer(self, stream: Any, **options: Any) -> Any:
            self._nexus_tokenizer = Tokenizer(stream, **options)
            return self._nexus_tokenizer

    importlib.import_module("dendropy.dataio").register_service(_SCHEMA, reader=Reader)
    return _SCHEMA


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn errors of DendroPy's readers into a ValueError that names what could not be read."""
    dendropy()
    problems = importlib.import_module("dendropy.utility.error")
    reader = importlib.import_module("dendropy.dataio.nexusreader").NexusReader
    try:
        yield
    except reader.BlockTerminatedException as error:
        raise ValueError(f"the {what} cannot be read: a row of the matrix is too short") from error
    except RecursionError as error:
        raise ValueError(f"the {what} cannot be read: it is nested too deeply") from error
    except (
        problems.DataParseError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        reason = str(error).removeprefix("Error parsing data source ")
        raise ValueError(f"the {what} cannot be read: {reason}") from error
