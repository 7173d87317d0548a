"""An invariant is written once, as a titled note, and cited by its title."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import PACKAGE, ROOT

# A title has a line of its own, in a comment or in a docstring. It is written as it is cited: one
# search finds both.
_TITLE = re.compile(r"^[ \t]*(?:# ?)?Note \[(.+)\]$", re.MULTILINE)
_CITATION = re.compile(r"\bNote \[(?! )(.+?)\]")
_OTHER_SPELLINGS = re.compile(r"\b(?:NOTE|note) ?\[|Note\[|Note \[ ")
# A citation may be broken over two lines of a comment or of a docstring.
_LINE_BREAK = re.compile(r"\s*\n[ \t]*#?[ \t]*")
_SUFFIXES = {".c", ".py", ".pyi", ".yaml", ".rst", ".md"}


def _texts(*folders: Path) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file() and path != Path(__file__).resolve():
                yield path, path.read_text(encoding="utf-8")


def titles() -> Counter[str]:
    """How often each title heads a note in the package, or in the tests."""
    texts = _texts(PACKAGE, ROOT / "tests")
    return Counter(title for _, text in texts for title in _TITLE.findall(text))


def test_there_are_notes() -> None:
    assert titles()


def test_a_title_heads_one_note_only() -> None:
    assert [title for title, times in titles().items() if times > 1] == []


def test_every_citation_names_a_note() -> None:
    known = titles()
    dangling = [
        f"{path.relative_to(ROOT)}: See Note [{title}]"
        for path, text in _texts(PACKAGE, ROOT / "tests", ROOT / "docs")
        for title in _CITATION.findall(_LINE_BREAK.sub(" ", text))
        if title not in known
    ]
    assert dangling == []


def test_titles_and_citations_have_one_spelling() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {found}"
        for path, text in _texts(PACKAGE, ROOT / "tests", ROOT / "docs")
        for found in _OTHER_SPELLINGS.findall(text)
        if "_build" not in path.parts
    ] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""Text.\n\nNote [One title]\n\nIt says', ["One title"]),
        ("x = 1\n\n    # Note [One title]\n    #\n", ["One title"]),
        ("# See Note [One title].", []),
        ("# see\n# Note [One title].", []),
    ],
)
def test_a_title_has_a_line_of_its_own(text: str, found: list[str]) -> None:
    assert _TITLE.findall(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# See Note [One title].", ["One title"]),
        ("    # so. See Note [One\n    # title] for why", ["One title"]),
        ('    """See Note [One\n    title].', ["One title"]),
        ("# `Note [One title]`, in", ["One title"]),
        ("# One title", []),
    ],
)
def test_citations_are_read_across_line_breaks(text: str, found: list[str]) -> None:
    assert _CITATION.findall(_LINE_BREAK.sub(" ", text)) == found
