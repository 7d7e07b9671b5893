"""Sphinx settings: Markdown pages and notebooks by MyST-NB, the API from docstrings."""

from importlib.metadata import version as installed_version

project = "genobit"
author = "genobit developers"
copyright = "2026, genobit developers"
release = installed_version("genobit")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "genobit"

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# The notebooks are run by the tests; here they are shown as they are.
nb_execution_mode = "off"

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
default_role = "code"
napoleon_google_docstring = False
# Types are in the hints, so what a function returns is described in prose.
napoleon_custom_sections = [("Returns", "prose")]
