"""How Sphinx builds the documentation; warnings are errors (`make docs`)."""

from importlib.metadata import version as installed_version

project = "vtgrad"
author = "The vtgrad developers"
copyright = "The vtgrad developers"
release = installed_version("vtgrad")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "alabaster"

# Headings are link targets, as they are where the files are read in a browser.
myst_heading_anchors = 3
napoleon_google_docstring = False
autodoc_typehints = "description"
autodoc_member_order = "groupwise"

# Attributes are documented once, by the section of that name in their class.
napoleon_use_ivar = True
