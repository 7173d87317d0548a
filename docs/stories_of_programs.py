"""The stories of the pages, told by the programs that stand above them.

A page has a story by the directive ``story`` with a name, below a program. The build runs the
program and records its story (``story_pages.py``). A reader of the file sees what the story is of.
"""

import contextlib
import io
import linecache
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vtgrad import viz

__all__ = ["Telling", "Told", "tellings", "told"]

ROOT = Path(__file__).resolve().parents[1]
_PROGRAM = "program.py"

_PART = re.compile(
    r"^```python\n(?P<program>.*?)^```$"
    r"|^```\{story\} (?P<name>[\w-]+)\n(?::step: \d+\n)?(?P<title>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Telling(NamedTuple):
    """A story in a page: its name and title, and the program above it."""

    name: str
    title: str
    page: Path
    program: str


class Told(NamedTuple):
    """A story as text, and as a page."""

    text: str
    html: str


def tellings() -> list[Telling]:
    """All stories of all pages, in the order of the pages."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [telling for page in pages if "_build" not in page.parts for telling in _of(page)]


def _of(page: Path) -> list[Telling]:
    found, program = [], ""
    for part in _PART.finditer(page.read_text("utf-8")):
        if part["program"] is not None:
            program = part["program"]
        else:
            found.append(Telling(part["name"], " ".join(part["title"].split()), page, program))
    return found


@cache
def told(telling: Telling) -> Told:
    """Run a program and record its story."""
    # A name without a folder, as in what the pages say that programs print. The lines are looked up
    # by it, where no file can be.
    lines = telling.program.splitlines(keepends=True)
    linecache.cache[_PROGRAM] = (len(telling.program), None, lines, _PROGRAM)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            story = _story(telling)
        return Told(str(story), story.html())
    finally:
        del linecache.cache[_PROGRAM]


def _story(telling: Telling) -> viz.Story:
    code = compile(telling.program, _PROGRAM, "exec", dont_inherit=True)
    names: dict[str, object] = {"__name__": "__main__"}
    if "viz.story(" in telling.program:
        # A page about stories: its program has its own.
        exec(code, names)
        own = names["story"]
        assert isinstance(own, viz.Story), telling.page
        return own
    with viz.story(title=telling.title) as story:
        exec(code, names)
    return story
