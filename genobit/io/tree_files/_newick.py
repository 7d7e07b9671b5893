"""Parse Newick and the trees of NEXUS in linear time and without recursion.

Formats: https://phylipweb.github.io/phylip/newicktree.html and Maddison, Swofford and Maddison,
Systematic Biology 46:590 (1997). DendroPy scans all children of a node for each new one, which
takes 8 s for a star of 20,000 tips.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<quoted>'(?:[^']|'')*')|(?P<mark>[(),:;])|(?P<word>[^\s()\[\]:;,'][^\s()\[\]:;,]*)"
)
_NEXUS_TOKEN = re.compile(_TOKEN.pattern.replace("(),:;]", "(),:;=]").replace(":;,", ":;,="))
_BRACKET = re.compile(r"[\[\]]")
_NEEDS_QUOTES = re.compile(r"[\s()\[\]{}:;,'\"=]")
_NOT_CLOSED = "Unexpected end of file: a block or a command is not closed"


class Token(NamedTuple):
    """A punctuation mark or a name."""

    text: str
    place: int
    kind: str
    """"mark", "word" or "quoted"."""


class TreeNode:
    """A parsed node."""

    __slots__ = ("children", "length", "name")

    def __init__(self) -> None:
        self.children: list[TreeNode] = []
        self.name: str | None = None
        self.length: float | None = None


class _Fault(Exception):  # noqa: N818 - becomes a ValueError with the line
    """Message and place in the text of a syntax error."""


def read_newick(text: str) -> list[TreeNode]:
    """Return the roots of the trees in a Newick text. Raises ValueError with line and column."""
    return _located(text, lambda: [*_trees(_tokens(text, _TOKEN), lambda token: token.text)])


def read_nexus_trees(text: str) -> list[TreeNode]:
    """Return the roots of all trees in a NEXUS file. Raises ValueError with line and column."""
    return _located(text, lambda: _nexus_trees(text))


def quoted(name: str) -> str:
    """Return a name as written in a tree, quoted if it has blanks or punctuation."""
    return "'" + name.replace("'", "''") + "'" if _NEEDS_QUOTES.search(name) else name


def written(root: TreeNode, spell: Callable[[str], str]) -> str:
    """Return a tree as Newick without its semicolon, with names written by ``spell``."""
    parts: list[str] = []
    waiting: list[TreeNode | str] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        after = "" if node.name is None else spell(node.name)
        after += "" if node.length is None else f":{node.length!r}"
        if node.children:
            waiting.append(")" + after)
            for k, child in enumerate(reversed(node.children)):
                waiting += [",", child] if k else [child]
            waiting.append("(")
        else:
            parts.append(after)
    return "".join(parts)


def tip_names(root: TreeNode) -> Iterator[str]:
    """Yield the names of the tips from left to right."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.children:
            yield node.name or ""
        waiting += reversed(node.children)


def _located(text: str, read: Callable[[], list[TreeNode]]) -> list[TreeNode]:
    try:
        return read()
    except _Fault as fault:
        message, place = fault.args
        line = text.count("\n", 0, place) + 1
        column = place - text.rfind("\n", 0, place)
        raise ValueError(f"on line {line} at column {column}: {message}") from None


def _tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Token]:
    place = 0
    while place < len(text):
        if text[place] == "[":
            place = _after_comment(text, place)
            continue
        found = pattern.match(text, place)
        if found is None:
            what = "quotation mark" if text[place] == "'" else f"{text[place]!r}"
            raise _Fault(f"a {what} is not closed or not opened", place)
        kind = str(found.lastgroup)
        if kind == "quoted":
            yield Token(found[0][1:-1].replace("''", "'"), place, kind)
        elif kind != "blank":
            yield Token(found[0], place, kind)
        place = found.end()


def _after_comment(text: str, start: int) -> int:
    """Return the place after a comment, which may contain nested comments."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "[" else -1
        if not depth:
            return bracket.end()
    raise _Fault("a comment is not closed", start)


def _trees(tokens: Iterator[Token], name_of: Callable[[Token], str]) -> Iterator[TreeNode]:
    for token in tokens:
        if token.text != ";" or token.kind != "mark":
            yield _tree(token, tokens, name_of)


def _tree(first: Token, rest: Iterator[Token], name_of: Callable[[Token], str]) -> TreeNode:
    """Parse one tree up to its semicolon."""
    node, above = TreeNode(), list[TreeNode]()
    token: Token | None = first
    while token is not None:
        mark = token.text if token.kind == "mark" else ""
        if mark == ";":
            if above:
                raise _Fault(f"Unbalanced parentheses: {len(above)} are not closed", token.place)
            return node
        if mark == "(":
            if node.children or node.name is not None or node.length is not None:
                raise _Fault("'(' follows a node: a comma is missing", token.place)
            above.append(node)
            node = _child(node)
        elif mark in {",", ")"}:
            if not above:
                raise _Fault(f"Unbalanced parentheses: {mark!r} is outside of any", token.place)
            node = _child(above[-1]) if mark == "," else above.pop()
        elif mark == ":":
            node.length = _length(next(rest, token))
        elif node.name is not None or node.length is not None or mark:
            msg = f"{token.text!r} follows a name: quote names with blanks, '{token.text} ..'"
            raise _Fault(msg, token.place)
        else:
            node.name = name_of(token)
        token = next(rest, None)
    raise _Fault(_NOT_CLOSED, first.place)


def _child(node: TreeNode) -> TreeNode:
    child = TreeNode()
    node.children.append(child)
    return child


def _length(token: Token) -> float:
    try:
        # float() takes 1_5 for 15.
        return float(token.text.replace("_", "?"))
    except ValueError:
        raise _Fault(f"Invalid edge length: {token.text!r}", token.place) from None


def _nexus_trees(text: str) -> list[TreeNode]:
    begin = text.upper().index("#NEXUS") + len("#NEXUS")
    tokens = _tokens(" " * begin + text[begin:], _NEXUS_TOKEN)
    found: list[TreeNode] = []
    block, labels, translated = "", list[str](), dict[str, str]()
    token: Token | None = None
    for token in tokens:
        command = token.text.upper() if token.kind == "word" else ""
        if command in {"END", "ENDBLOCK"}:
            block, command = "", "END"
            _rest(tokens, token)
        elif not block:
            block = _rest(tokens, token)[-1].text.upper() if command == "BEGIN" else ""
            # Each TREES block has its own TRANSLATE table.
            translated = {}
        elif block == "TREES" and command in {"TREE", "UTREE"}:
            found.append(_nexus_tree(tokens, token, labels, translated))
        elif block == "TREES" and command == "TRANSLATE":
            words = [part.text for part in _rest(tokens, token)[1:] if part.text != ","]
            translated = dict(zip(words[::2], words[1::2], strict=False))
        elif command == "TAXLABELS":
            labels = [part.text for part in _rest(tokens, token)[1:]]
        else:
            _rest(tokens, token)
    if block and token is not None:
        raise _Fault(_NOT_CLOSED, token.place)
    return found


def _rest(tokens: Iterator[Token], first: Token) -> list[Token]:
    """Return the tokens of a command up to its semicolon."""
    command = [first]
    if first.kind == "mark" and first.text == ";":
        return command
    for token in tokens:
        if token.kind == "mark" and token.text == ";":
            return command
        command.append(token)
    raise _Fault(_NOT_CLOSED, first.place)


def _nexus_tree(
    tokens: Iterator[Token], first: Token, labels: Sequence[str], translated: dict[str, str]
) -> TreeNode:
    """Parse the tree of a TREE command; TRANSLATE or taxon numbers give the tip names."""
    known = set(labels)

    def name_of(token: Token) -> str:
        name = translated.get(token.text, token.text)
        if name != token.text or name in known or token.kind == "quoted":
            return name
        number = int(name) if name.isascii() and name.isdigit() else 0
        return labels[number - 1] if 0 < number <= len(labels) and not translated else name

    for token in tokens:
        if token.kind == "mark" and token.text == "=":
            start = next(tokens, None)
            if start is not None:
                return _tree(start, tokens, name_of)
        elif token.kind == "mark" and token.text == ";":
            break
    raise _Fault("a TREE command has no '=' and tree", first.place)
