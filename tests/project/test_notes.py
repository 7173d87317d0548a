"""An invariant is written once, as a titled note, and cited by its title."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import PACKAGE, ROOT

_TITLE = re.compile(r"NOTE \[ (.+?) \]")
_CITATION = re.compile(r"See Note \[(?! )(.+?)\]")
# A citation may be broken over two lines of a comment or of a docstring.
_LINE_BREAK = re.compile(r"\s*\n[ \t]*#?[ \t]*")
_SUFFIXES = {".py", ".pyi", ".yaml", ".md"}


def _texts(*folders: Path) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file() and path != Path(__file__).resolve():
                yield path, _LINE_BREAK.sub(" ", path.read_text(encoding="utf-8"))


def titles() -> Counter[str]:
    """How often each title heads a note in the package."""
    return Counter(title for _, text in _texts(PACKAGE) for title in _TITLE.findall(text))


def test_there_are_notes() -> None:
    assert titles()


def test_a_title_heads_one_note_only() -> None:
    assert [title for title, times in titles().items() if times > 1] == []


def test_every_citation_names_a_note() -> None:
    known = titles()
    dangling = [
        f"{path.relative_to(ROOT)}: See Note [{title}]"
        for path, text in _texts(PACKAGE, ROOT / "tests", ROOT / "docs")
        for title in _CITATION.findall(text)
        if title not in known
    ]
    assert dangling == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# See Note [One title].", ["One title"]),
        ("    # so. See Note [One\n    # title] for why", ["One title"]),
        ('    """See Note [One\n    title].', ["One title"]),
        ("# Note [One title]", []),
    ],
)
def test_citations_are_read_across_line_breaks(text: str, found: list[str]) -> None:
    assert _CITATION.findall(_LINE_BREAK.sub(" ", text)) == found
