"""Split NEXUS into blocks and commands.

Format: Maddison, Swofford and Maddison, Systematic Biology 46:590 (1997).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from genobit.io.alignment_files._rows import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(rb"(?:\s|\[[^\]]*\])*([^\s;\[\]]+)")
_QUOTED_OR_COMMENT = re.compile(rb"'[^']*'|\[[^\]]*\]")
BLOCKS = {"DATA", "CHARACTERS", "TAXA"}
"""Blocks that describe a matrix."""
_CLOSED_BY = {b"'": b"'", b"[": b"]"}


class Command(NamedTuple):
    """A command of a block, and the place of its text, up to the semicolon."""

    block: str
    word: str
    start: int
    stop: int


def commands(data: bytes) -> Iterator[Command]:
    """Yield the commands of all blocks; words are in upper case.

    Raises ValueError for a quotation mark, a comment or a command of `BLOCKS` that is not closed.
    In other blocks, such as notes, the rest of the file is left out.
    """
    block, at = "", 6
    marks = dict.fromkeys((b";", b"'", b"["), -1)
    while (word := _WORD.match(data, at)) is not None:
        try:
            stop = _end(data, at, marks)
        except ValueError:
            if block in BLOCKS:
                raise
            return
        name = word[1].upper().decode("latin-1")
        if name == "BEGIN":
            block = without_comments(data[word.end() : stop]).strip().upper().decode("latin-1")
        elif name in {"END", "ENDBLOCK"}:
            block = ""
        elif stop < 0 and block in BLOCKS:
            msg = f"line {line_of(data, word.start(1))}: the command {name} is not closed: end it "
            raise ValueError(f"{msg}by ';', or complete the file")
        elif stop >= 0:
            yield Command(block, name, word.end(), stop)
        if stop < 0:
            return
        at = stop + 1


def _end(data: bytes, at: int, marks: dict[bytes, int]) -> int:
    """Return the place of the semicolon that ends a command, or -1.

    ``marks`` keeps the next place of each mark, so that none is searched twice.
    """
    while True:
        for mark, known in marks.items():
            if known < at:
                found = data.find(mark, at)
                marks[mark] = len(data) if found < 0 else found
        mark = min(marks, key=lambda mark: marks[mark])
        at = marks[mark]
        if mark == b";" or at == len(data):
            return at if at < len(data) else -1
        closed = data.find(_CLOSED_BY[mark], at + 1)
        if closed < 0:
            what = "comment" if mark == b"[" else "quotation mark"
            raise ValueError(f"line {line_of(data, at)}: a {what} is not closed")
        at = closed + 1


def without_comments(text: bytes) -> bytes:
    """Return text with blanks for comments, and all line ends kept."""
    if b"[" not in text:
        return text
    return _QUOTED_OR_COMMENT.sub(
        lambda found: re.sub(rb"[^\n]", b" ", found[0]) if found[0][:1] == b"[" else found[0], text
    )
