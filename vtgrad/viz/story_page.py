"""The page of a story: one HTML file that needs no other, and no server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Final

__all__ = ["framed", "page"]

# In the order in which they use each other.
_SCRIPTS: Final = ("story_states.js", "story_memory.js", "story_graph.js", "story.js")

# The browser itself sees to it that the page asks no host for anything, whatever is in the story.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<noscript>
<p>The steps of this story; with JavaScript the page shows memory and graph at each of them.</p>
<ol start="0">
{steps}
</ol>
</noscript>
<script type="application/json" id="story">{data}</script>
<script>
"use strict";
(() => {{
{script}}})();
</script>
</body>
</html>
"""


def page(data: Mapping[str, object]) -> str:
    """The text of the page that shows a story.

    Parameters
    ----------
    data : mapping
        What ``Story.data`` gives: values of JSON only.

    Returns
    -------
    str
        The HTML of the whole page.
    """
    return _PAGE.format(
        policy=escape(_POLICY),
        title=_as_html(str(data["title"])),
        style=_file("story.css"),
        steps="\n".join(f"<li>{_as_html(text)}</li>" for text in _sentences(data)),
        data=_as_json(data),
        script="\n".join(_file(name) for name in _SCRIPTS),
    )


def framed(html: str, title: str, height: int = 720) -> str:
    """A page inside of another one, as notebooks show it.

    The frame keeps styles, names and keys of the two apart, so that a notebook may have several.

    Parameters
    ----------
    html : str
        The page.
    title : str
        What the page is, for those who cannot see it.
    height : int, default 720
        The height of the frame in pixels.

    Returns
    -------
    str
        An ``iframe`` element.
    """
    return (
        f'<iframe srcdoc="{escape(html)}" title="{escape(title)}" sandbox="allow-scripts" '
        f'style="border: 0; height: {height}px; width: 100%"></iframe>'
    )


def _file(name: str) -> str:
    return (files("vtgrad.viz") / name).read_text("utf-8")


def _as_html(text: str) -> str:
    """The text, which may have halves of surrogate pairs that no file can hold."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"))


def _as_json(data: Mapping[str, object]) -> str:
    """The data as a script element may hold it: `</script>` in a source line does not end it."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _sentences(data: Mapping[str, object]) -> list[str]:
    steps = data["steps"]
    assert isinstance(steps, list)
    return [str(step["text"]) for step in steps]
