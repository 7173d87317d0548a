"""The pages of the library's source, and the links to them.

The reference has a link to the source of each entry. In the other pages the names of functions and
files in a walk are links, and places in the glossary, and titles of notes.
"""

import re
from collections.abc import Iterator
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from docs.reference_pages.pages import thing_named
from docs.source_places import (
    Place,
    anchor_of_note,
    definitions,
    files,
    of_file,
    of_name,
    of_note,
    of_symbol,
    of_thing,
)

__all__ = ["linkcode_resolve", "setup"]

_FOLDER = "source/vtgrad"
_SYMBOL = re.compile(r"vtgrad(\.\w+)*(:[\w.]+)?")
_FILE = re.compile(r"(vtgrad/)?\w+(/\w+)+(\.py)?")
_CITED = re.compile(r"Note \[(.+)\]")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("html-collect-pages", _pages)
    app.connect("doctree-read", _link_places)


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The link of an entry of the reference, for ``sphinx.ext.linkcode``."""
    if domain != "py":
        return None
    place = of_thing(thing_named(f"vtgrad.{info['fullname']}"), info["fullname"])
    return None if place is None else _link(place, "reference/")


def _link(place: Place, docname: str) -> str:
    file, anchor = place
    link = "../" * docname.count("/") + f"{_FOLDER}/{file}.html"
    return f"{link}#{anchor}" if anchor else link


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, object], str]]:
    for file in files():
        title = f"vtgrad/{file}.py"
        body = f"<h1>{escape(title)}</h1>\n{_body(app, file)}"
        # The tree of all pages at the side of each file would take most of the time of a build.
        context = {"title": title, "body": body, "parents": [], "toctree": lambda **_: ""}
        yield f"{_FOLDER}/{file}", context, "page.html"


def _body(app: Sphinx, file: str) -> str:
    """The highlighted text; lines that define something, or begin a note, have anchors."""
    found = definitions(file)
    anchors: dict[int, list[str]] = {}
    for name, number in found.lines.items():
        anchors.setdefault(number, []).append(name)
    for title, number in found.notes.items():
        anchors.setdefault(number, []).append(anchor_of_note(title))
    text: str = app.builder.highlighter.highlight_block(found.text, "python", linenos=False)
    lines = text.split("\n")
    # The first line follows the tags that begin the block.
    before, tag, first = lines[0].rpartition("<span></span>")
    lines[0] = first
    for number, names in anchors.items():
        for name in names:
            anchor = f'<span class="defined" id="{escape(name)}">'
            lines[number - 1] = f"{anchor}{lines[number - 1]}</span>"
    return before + tag + "\n".join(lines)


def _link_places(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    for literal in list(doctree.findall(nodes.literal)):
        if not isinstance(literal.parent, (nodes.reference, nodes.title)):
            place = _place(literal)
            if place is not None:
                _make_link(literal, _link(place, docname))


def _place(literal: nodes.literal) -> Place | None:
    text = literal.astext()
    cited = _CITED.fullmatch(text)
    if cited is not None:
        return of_note(cited[1])
    if _FILE.fullmatch(text):
        file = of_file(text)
        return None if file is None else (file, "")
    if _SYMBOL.fullmatch(text) and ":" in text:
        return of_symbol(text)
    # In a walk: a name, the words ", in ", and its file.
    siblings = literal.parent.children
    following = siblings[siblings.index(literal) + 1 :][:2]
    if len(following) == 2 and following[0].astext() == ", in ":
        return of_name(following[1].astext(), text)
    return None


def _make_link(literal: nodes.literal, uri: str) -> None:
    link = nodes.reference("", "", internal=True, refuri=uri)
    literal.replace_self(link)
    link += literal
