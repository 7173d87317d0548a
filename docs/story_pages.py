"""The directive ``story``, and the pages that it shows, each in a frame.

The page of each story is written into the folder ``stories`` of the site.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from docs.stories_of_programs import tellings, told

__all__ = ["setup"]

_FOLDER = "stories"

_FRAME = """<figure class="story">
<iframe src="{page}#{step}" title="{title}" loading="lazy"></iframe>
<figcaption><a href="{page}">The story in a window of its own</a></figcaption>
<details><summary>The story as text</summary><pre>{text}</pre></details>
</figure>
"""


# mypy skips Sphinx, see pyproject.toml.
class _Story(SphinxDirective):  # type: ignore[misc]
    """A frame with the page of a story, and the story as text."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        (telling,) = [one for one in tellings() if one.name == name]
        html = _FRAME.format(
            page="../" * self.env.docname.count("/") + f"{_FOLDER}/{name}.html",
            step=self.options.get("step", 0),
            title=escape(telling.title),
            text=escape(told(telling).text),
        )
        return [nodes.raw("", html, format="html")]


# The step that is shown at first.
_Story.option_spec = {"step": directives.nonnegative_int}


def _write_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / _FOLDER
        folder.mkdir(exist_ok=True)
        for telling in tellings():
            (folder / f"{telling.name}.html").write_text(told(telling).html, "utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_directive("story", _Story)
    app.connect("build-finished", _write_pages)
