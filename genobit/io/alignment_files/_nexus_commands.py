"""Split NEXUS into blocks and commands.

Format: Maddison, Swofford and Maddison, Systematic Biology 46:590 (1997).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from genobit.io.alignment_files._rows import line_of, view
from genobit.io.kernels import symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(rb"\s*([^\s;\[\]]+)")
_BRACKET = re.compile(rb"[\[\]]")
_QUOTED_OR_COMMENT = re.compile(rb"'[^']*'|\[")
BLOCKS = {"DATA", "CHARACTERS", "TAXA"}
"""Blocks that describe a matrix."""


class Command(NamedTuple):
    """A command of a block, and the place of its text, up to the semicolon."""

    block: str
    word: str
    start: int
    stop: int


def commands(data: bytes) -> Iterator[Command]:
    """Yield the commands of all blocks; words are in upper case.

    Raises ValueError for a quotation mark, a comment or a command that is not closed, up to the
    first matrix. After it, where notes often have single quotation marks, the rest is left out.
    """
    block, at, needed = "", 6, True
    while (word := _WORD.match(data, _after_comments(data, at))) is not None:
        name = word[1].upper().decode("latin-1")
        try:
            stop = _end(data, word.start(1))
        except ValueError:
            if needed:
                raise
            return
        if stop < 0 and needed and name not in {"END", "ENDBLOCK"}:
            msg = f"line {line_of(data, word.start(1))}: the command {name} is not closed: end it "
            raise ValueError(f"{msg}by ';', or complete the file")
        if stop < 0:
            return
        if name == "BEGIN":
            block = without_comments(data[word.end() : stop]).strip().upper().decode("latin-1")
        elif name in {"END", "ENDBLOCK"}:
            block = ""
        else:
            needed = needed and not (block in BLOCKS and name == "MATRIX")
            yield Command(block, name, word.end(), stop)
        at = stop + 1


def _after_comments(data: bytes, at: int) -> int:
    """Return the place after white space and comments."""
    while (found := re.compile(rb"\s*\[").match(data, at)) is not None:
        at = _comment_end(data, found.end() - 1)
    return at


def _comment_end(data: bytes, at: int) -> int:
    """Return the place after a comment, which may contain others."""
    depth = 0
    for bracket in _BRACKET.finditer(data, at):
        depth += 1 if bracket[0] == b"[" else -1
        if not depth:
            return bracket.end()
    raise ValueError(f"line {line_of(data, at)}: a comment is not closed")


def _end(data: bytes, at: int) -> int:
    """Return the place of the semicolon that ends a command, or -1."""
    while (at := symbols.first_of(view(data), at, len(data), view(b";'["))) >= 0:
        if data[at] == ord(";"):
            return at
        if data[at] == ord("["):
            at = _comment_end(data, at)
        elif (closed := data.find(b"'", at + 1)) >= 0:
            at = closed + 1
        else:
            raise ValueError(f"line {line_of(data, at)}: a quotation mark is not closed")
    return -1


def without_comments(text: bytes) -> bytes:
    """Return text with blanks for comments, and all line ends kept."""
    parts, at = [], 0
    while (found := _QUOTED_OR_COMMENT.search(text, at)) is not None:
        end = found.end()
        if found[0] == b"[":
            end = _comment_end(text, found.start())
            blank = re.sub(rb"[^\n]", b" ", text[found.start() : end])
            parts += [text[at : found.start()], blank]
        else:
            parts.append(text[at:end])
        at = end
    return b"".join([*parts, text[at:]])
