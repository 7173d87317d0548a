"""How Sphinx builds the documentation; warnings are errors (`make docs`)."""

import re
from importlib.metadata import version as installed_version
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.ext.napoleon import Config, NumpyDocstring

# Found because Sphinx is started as a module, in the folder above this one.
from docs.reference_pages.entries import all_entries
from docs.reference_pages.pages import write_reference
from docs.source_pages import linkcode_resolve as linkcode_resolve

HERE = Path(__file__).resolve().parent

project = "vtgrad"
author = "The vtgrad developers"
copyright = "The vtgrad developers"
release = installed_version("vtgrad")
version = release

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx.ext.linkcode",
    "docs.source_pages",
    "docs.story_pages",
]
exclude_patterns = ["_build", "reference_pages"]
# Headings are link targets, as they are where the files are read in a browser.
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"vtgrad {release}"
# Prompts and what an example prints are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_static_path = ["_static"]
html_css_files = ["vtgrad.css"]
# A word in a docstring says what it is by its type; names are qualified where they are ambiguous.
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 100

_docstrings = Config(
    napoleon_google_docstring=False, napoleon_use_ivar=True, napoleon_use_rtype=False
)


# Sphinx calls them variables.
for _field in PyObject.doc_field_types:
    if _field.name == "variable":
        _field.label = "Attributes"


def _converted(docstring: str) -> list[str]:
    # A line of a section may be several, held by one string.
    lines: list[str] = NumpyDocstring(docstring, _docstrings).lines()
    return "\n".join(lines).split("\n")


write_reference(HERE / "reference", _converted)

_NAMES = {name for entry in all_entries() for name in entry.names}
_CODE = re.compile(r"(vt|vtgrad|x|Tensor)\.([\w.]+?)(?:\(.*\))?", re.DOTALL)


def _target(code: str) -> str | None:
    """The public name that a piece of code in a page is, if it is one."""
    found = _CODE.fullmatch(code)
    if found is None:
        return None
    before, name = found.groups()
    full = f"vtgrad.{name}" if before.startswith("vt") else f"vtgrad.Tensor.{name}"
    return full if full in _NAMES else None


def _link_code(_app: Sphinx, doctree: nodes.document) -> None:
    """Let `vt.name` in a page lead to the entry of that name."""
    for literal in list(doctree.findall(nodes.literal)):
        target = None if _inside_a_link(literal) else _target(literal.astext())
        if target is not None:
            link = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True
            )
            literal.replace_self(link)
            link += literal


def _inside_a_link(node: nodes.Node | None) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, pending_xref, nodes.title)):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> None:
    """Called by Sphinx, which this file is an extension of, too."""
    app.connect("doctree-read", _link_code)
