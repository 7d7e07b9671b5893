"""Sphinx settings: Markdown pages and notebooks by MyST-NB, the API from docstrings."""

import os
import re
import tempfile
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bokeh.util.paths import static_path
from sphinx.addnodes import pending_xref

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx

project = "genobit"
author = "genobit developers"
copyright = "2026, genobit developers"
release = installed_version("genobit")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # formulas without a network
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "genobit"
html_static_path = [
    "_static",
    *(
        str(Path(static_path(), "js", f"{piece}.min.js"))
        for piece in ("bokeh", "bokeh-widgets", "bokeh-tables")
    ),
]
html_css_files = ["pages.css"]

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Pages with cells are run, each from a clean kernel. The notebooks are run by the tests, and are
# shown as they are.
nb_execution_mode = "auto"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # with nothing compiled yet
nb_output_stderr = "warn"

# A slow machine notes in a cell that it compiles. Kernels of pages count as having noted it.
startup = Path(tempfile.mkdtemp()) / "profile_default" / "startup"
startup.mkdir(parents=True)
quiet = "from genobit.engine.simd import jit\n\njit._compilation.noted = True\n"
(startup / "quiet.py").write_text(quiet, encoding="utf-8")
os.environ["IPYTHONDIR"] = str(startup.parent.parent)

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
default_role = "code"
napoleon_google_docstring = False
# Types are in the hints, so what a function returns is described in prose.
napoleon_custom_sections = [("Returns", "prose")]


NOTEBOOKS = Path(__file__).with_name("notebooks").resolve()


def follow(_app: "Sphinx", page: "document") -> None:
    """Lead links to notebooks to pages: Sphinx looks behind the symbolic link of their folder."""
    for link in page.findall(pending_xref):
        target = Path(link.get("reftarget", ""))
        if target.is_relative_to(NOTEBOOKS):
            link["reftarget"] = f"notebooks/{target.name}"


# The pieces of BokehJS in a figure, by name: base64 has no braces.
LIBRARY = re.compile(r'\{"bokeh": "[^}]*\}')


def load_bokeh(app: "Sphinx", _name: str, _by: str, context: dict[str, Any], _: object) -> None:
    """Load BokehJS once on pages that have figures, and leave it out of the figures."""
    body = context.get("body", "")
    if 'class="genobit-figure"' in body:
        for piece in ("bokeh", "bokeh-widgets", "bokeh-tables"):
            if f'"{piece}"' in body:
                app.add_js_file(f"{piece}.min.js")
        context["body"] = LIBRARY.sub("{}", body)


def setup(app: "Sphinx") -> None:
    """Connect what is above."""
    app.connect("doctree-read", follow)
    app.connect("html-page-context", load_bokeh)
