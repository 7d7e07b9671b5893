"""Code in pages of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

FENCED = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, kinds: tuple[str, ...]) -> Iterator[str]:
    """Fenced blocks of some kinds, without the options of cells."""
    for kind, body in FENCED.findall(text):
        if kind.strip() in kinds:
            yield re.sub(r"\A(:.*\n)+", "", body)
