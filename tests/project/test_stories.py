"""The stories in the documentation are told by the programs above them.

What breaks it: a story without a program, one that begins at a step that there is not, one that
does not show what its page says, a page that a site cannot hold.
"""

import re

import pytest

from docs.stories_of_programs import Telling, tellings, told

_STORY = re.compile(r"^```\{story\} ([\w-]+)\n(?::step: (\d+)\n)?(\w[^`]+)^```$", re.MULTILINE)

# What each of them is there to show.
_SHOWN = {
    "first-story": ("write", "the grad_fn of tail is stale now"),
    "function": ("backward", "TripleBackward runs"),
    "stale-view": ("rebuild", "grad_fn of tail"),
    "refusal": ("refusal", "MulBackward0"),
    "rewind": ("write", "rewind keeps"),
    "table": ("write", "writes 2 elements of x"),
}


def test_pages_have_stories() -> None:
    assert {telling.name: telling.page.name for telling in tellings()} == {
        "first-story": "story.md",
        "function": "functions.md",
        "stale-view": "walks.md",
        "refusal": "who-wrote.md",
        "rewind": "who-wrote.md",
        "table": "writing-in-place.md",
    }


@pytest.mark.parametrize("telling", tellings(), ids=lambda telling: telling.name)
def test_a_story_shows_what_it_is_there_for(telling: Telling) -> None:
    kind, words = _SHOWN[telling.name]
    lines = told(telling).text.splitlines()
    assert [line for line in lines if words in line and line.split()[1] == kind]


def test_the_versions_of_writes_follow_each_other() -> None:
    # The forward of a custom Function writes, and the Function declares the write.
    for telling in tellings():
        text = told(telling).text
        writes = [(int(a), int(b)) for a, b in re.findall(r"\(version (\d+) to (\d+)\)", text)]
        assert writes == [(number, number + 1) for number in range(len(writes))]


@pytest.mark.parametrize("telling", tellings(), ids=lambda telling: telling.name)
def test_a_story_is_a_page_of_the_site(telling: Telling) -> None:
    text, html = told(telling)
    # The lines are found, and the name has no folder of the machine that builds the site.
    assert '"files":[{"name":"program.py"' in html
    assert len(html) < 200_000
    found = {
        name: (step, about) for name, step, about in _STORY.findall(telling.page.read_text("utf-8"))
    }
    step, about = found[telling.name]
    assert int(step or 0) < len(text.splitlines())
    assert about.strip()
