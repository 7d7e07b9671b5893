"""Files that the export menus of explorers write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.browser.explorers import Explorer
from tests.browser.jupyterlab import save, until


def saved(page: Any, explorer: Explorer, entry: str) -> Path:
    """The new file that an entry of the export menu writes into the kernel's folder."""
    before, now = explorer.status(page), ""
    save(page, f"genobit-{explorer.name}", entry)

    def wrote() -> bool:
        nonlocal now
        now = explorer.status(page)
        return now != before and ("Error" in now or path_in(now) not in before)

    until(wrote, f"the file of {entry!r}")
    file = Path(path_in(now))
    assert file.parent == page.folder, now
    return file


def path_in(words: str) -> str:
    """The file that a status line says was saved, if it does."""
    found = re.search(r"Saved .* to (/\S+)$", words)
    return found[1] if found else ""
