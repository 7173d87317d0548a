"""The text of a story's page: complete, without other files, safe for any text of a program.

What breaks it: a text of the user that is read as HTML or ends the script, an address that the page
would ask for, a file that is not part of the package.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from tests.viz.story_example import example
from vtgrad.viz.story_page import framed, page

_FILES = ("story.css", "story.js", "story_graph.js", "story_memory.js", "story_states.js")


class Elements(HTMLParser):
    """The elements of a page, with their attributes and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def of(self, tag: str) -> list[str]:
        """The texts of the elements of a kind."""
        pairs = zip(self.found, self.texts, strict=True)
        return [text.strip() for (name, _), text in pairs if name == tag]


def test_the_page_holds_the_story_as_it_is() -> None:
    elements = Elements(page(example()))
    data, _ = elements.of("script")
    assert json.loads(data) == example()
    assert elements.of("title") == ["A value that is <overwritten> & refused"]


def test_texts_of_the_program_are_not_read_as_html() -> None:
    elements = Elements(page(example()))
    assert [tag for tag, _ in elements.found if tag in ("b", "i")] == []
    assert [attributes.get("id") for tag, attributes in elements.found if tag == "script"] == [
        "story",
        None,
    ]
    # Where there is no JavaScript the steps can be read.
    steps = example()["steps"]
    assert isinstance(steps, list)
    assert elements.of("li") == [step["text"] for step in steps]


@pytest.mark.parametrize("text", ["<!--<script>", "\u2028\u2029", "\ud800", "{0} {x} }}", "\0"])
def test_odd_texts_do_no_harm(text: str) -> None:
    story = example() | {"title": text}
    html = page(story)
    assert json.loads(Elements(html).of("script")[0]) == story
    # A file takes it.
    assert html.encode("utf-8").decode("utf-8") == html


def test_the_page_asks_for_nothing() -> None:
    html = page(example())
    elements = Elements(html)
    addresses = [
        value
        for _, attributes in elements.found
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "data")
    ]
    assert addresses == ["data:,"]
    policies = [
        attributes["content"]
        for _, attributes in elements.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    assert (policies[0] or "").startswith("default-src 'none';")
    # The name of a namespace is no address.
    assert set(re.findall(r"https?://[^\"'\s]+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(fetch|XMLHttpRequest|import)\b *\(|@import|url\((?!#)", html)


def test_a_value_that_json_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        page(example() | {"files": float("nan")})


def test_what_the_page_is_made_of_is_small_and_in_the_package() -> None:
    texts = [(files("vtgrad.viz") / name).read_text("utf-8") for name in _FILES]
    assert sum(map(len, texts)) < 60_000
    assert "</script" not in "".join(texts).lower()
    assert all(text in page(example()) for text in texts)


def test_a_frame_holds_the_page_as_one_attribute() -> None:
    html = page(example())
    ((tag, attributes),) = Elements(framed(html, 'the "story"')).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == html
    assert attributes["title"] == 'the "story"'
    # A page of another program has no business with the notebook around it.
    assert attributes["sandbox"] == "allow-scripts"
