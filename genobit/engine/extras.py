"""Check for the packages of the extras, and say how to install a missing one.

May import: the standard library.
"""

from __future__ import annotations

import contextlib
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRAS = {
    "aiohttp": "remote",
    "anywidget": "viz",
    "bokeh": "viz",
    "dendropy": "trees",
    "distributed": "cluster",
    "holoviews": "viz",
    "ipywidgets": "viz",
    "jupyterlab": "viz",
    "matplotlib": "viz",
    "msprime": "sample",
    "pgenlib": "pgen",
    "pyarrow": "io",
    "s3fs": "remote",
    "tskit": "tskit",
    "voila": "viz",
}
"""Extra in `pyproject.toml` that installs each optional package."""
REQUIREMENTS = {
    "cluster": ("distributed",),
    "io": ("pyarrow",),
    "pgen": ("pgenlib",),
    "remote": ("aiohttp", "s3fs"),
    "sample": ("msprime",),
    "trees": ("dendropy",),
    "tskit": ("tskit",),
    "viz": (
        "anywidget", "bokeh", "holoviews", "ipywidgets", "jupyterlab", "matplotlib", "voila",
    ),
}  # fmt: skip
"""Packages of each extra. `pip install 'genobit[viz]'` works only where an index has genobit."""


def install_command(package: str) -> str:
    """Return a command that installs the extra of an optional package.

    Examples
    --------
    >>> install_command("pyarrow")
    'pip install pyarrow'
    """
    named = REQUIREMENTS[EXTRAS[package]]
    return " ".join(["pip install", *named])


def require(user: str, *packages: str) -> None:
    """Raise ModuleNotFoundError unless all ``packages`` are installed; imports none of them."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise _refusal(user, package)


@contextlib.contextmanager
def needed_by(user: str) -> Iterator[None]:
    """If the import of an optional package fails in the block, say how to install the package."""
    try:
        yield
    except ImportError as error:
        package = _missing(error)
        if package is None:
            raise
        raise _refusal(user, package) from error


def _missing(error: BaseException | None) -> str | None:
    """Return the optional package that was not found, also if another error reports it."""
    while error is not None:
        package = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and package in EXTRAS:
            return package
        error = error.__cause__ or error.__context__
    return None


def _refusal(user: str, package: str) -> ModuleNotFoundError:
    msg = f"{user} needs the package {package}: {install_command(package)}"
    return ModuleNotFoundError(msg, name=package)
