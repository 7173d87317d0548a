"""A story's page in a real browser: what is seen is what the program did, whatever key is pressed.

What breaks it: a step whose line or memory is not the program's, a key or link that leads
elsewhere, letters that cannot be read in dark mode, a page that is wider than a phone, an error in
the console, a request to any host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import vtgrad as vt
from tests.viz.chromium import Browser, Page, chromium, started
from tests.viz.story_example import example
from vtgrad.viz.story import story
from vtgrad.viz.story_page import framed, page

_PROGRAM = chromium()

pytestmark = [
    pytest.mark.slow,
    # One browser serves all tests of this file.
    pytest.mark.xdist_group("chromium"),
    pytest.mark.skipif(_PROGRAM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert _PROGRAM is not None
    with started(_PROGRAM) as browser:
        yield browser


class Shown:
    """A page that was written into a file and opened."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._pages: list[Page] = []

    def __call__(self, html: str, step: int = 0, *, width: int = 1280, dark: bool = False) -> Page:
        path = self._folder / f"{len(self._pages)}.html"
        path.write_text(html, "utf-8")
        opened = self._browser.open(f"{path.as_uri()}#{step}", width=width, dark=dark)
        self._pages.append(opened)
        return opened

    def check(self) -> None:
        """No page has complained, and none has asked for more than its file."""
        for number, opened in enumerate(self._pages):
            assert opened.problems() == []
            asked = {address.partition("#")[0] for address in opened.requests()}
            assert asked == {(self._folder / f"{number}.html").as_uri()}
            opened.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    shown = Shown(browser, tmp_path)
    yield shown
    shown.check()


def _step(page: Page) -> int:
    return int(page.evaluate("document.body.dataset.step"))


def _texts() -> list[str]:
    steps: Any = example()["steps"]
    return [step["text"] for step in steps]


def _cells(page: Page, storage: str) -> list[str]:
    """The values in the cells of a storage."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.storage')]"
        f".filter((one) => one.getAttribute('aria-label') === {json.dumps(storage)})"
        ".flatMap((one) => [...one.querySelectorAll('text.value')])"
        ".map((one) => one.firstChild.textContent)"
    )
    return found


def _widths(page: Page, selector: str) -> list[str]:
    found: list[str] = page.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})]"
        ".map((one) => one.getAttribute('width'))"
    )
    return found


def test_a_page_begins_at_its_first_step_or_at_that_of_its_address(show: Shown) -> None:
    html = page(example())
    assert _step(show(html)) == 0
    opened = show(html, 6)
    assert _step(opened) == 6
    assert opened.text(".sentence [aria-live]") == _texts()[6]
    assert opened.text(".where") == "Step 6 of 8"
    assert _step(show(html, 1000)) == 8
    # The address may change later, and to what is no step.
    for address, step in [("#3", 3), ("#heading", 3), ("#8", 8)]:
        opened.evaluate(f"location.hash = '{address}'; new Promise((done) => setTimeout(done, 50))")
        assert _step(opened) == step


def test_keys_go_from_step_to_step(show: Shown) -> None:
    opened = show(page(example()))
    for key, step in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", 8),
        ("ArrowRight", 8),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        opened.key(key)
        assert (_step(opened), opened.text(".sentence [aria-live]")) == (step, _texts()[step])


def test_keys_count_once_while_the_slider_has_the_focus(show: Shown) -> None:
    opened = show(page(example()))
    opened.evaluate("document.querySelector('input').focus()")
    opened.key("ArrowRight")
    opened.key("ArrowRight")
    assert _step(opened) == 2
    assert opened.evaluate("document.querySelector('input').value") == "2"
    assert opened.evaluate("document.querySelector('input').getAttribute('aria-valuetext')") == (
        f"Step 2 of 8: {_texts()[2]}"
    )


def test_the_slider_and_the_buttons_move(show: Shown) -> None:
    opened = show(page(example()))
    # The middle of the slider is the middle of the story.
    opened.click("input[type=range]")
    assert _step(opened) == 4
    opened.click("button[aria-label='Step on']")
    assert _step(opened) == 5
    opened.click("button[aria-label='First step']")
    assert _step(opened) == 0


def test_space_plays_and_stops(show: Shown) -> None:
    opened = show(page(example()), 6)
    opened.key(" ")
    assert opened.text(".play") == "❚❚ Pause"
    # It stops by itself at the end.
    opened.wait_until("document.body.dataset.step === '8'")
    opened.wait_until("document.querySelector('.play').textContent === '▶ Play'")
    opened.key(" ")
    assert _step(opened) == 0
    opened.key(" ")
    assert opened.text(".play") == "▶ Play"
    # A button that has the focus is pressed, once.
    opened.evaluate("document.querySelector('.play').focus()")
    opened.key(" ")
    assert opened.text(".play") == "❚❚ Pause"


def test_a_link_leads_from_a_saved_value_to_the_write(show: Shown) -> None:
    opened = show(page(example()), 6)
    assert opened.texts(".saved .state") == ["✓ intact", "✓ intact"]
    opened.key("End")
    assert opened.texts(".saved .state") == ["✗ overwritten by step 7"] * 2
    opened.click(".saved button.state")
    assert _step(opened) == 7
    assert opened.text(".links") == ""
    opened.key("End")
    opened.click(".links button")
    assert _step(opened) == 7


def test_a_step_is_drawn_once(show: Shown) -> None:
    """A link that is replaced between the press and the release is not followed."""
    opened = show(page(example()), 6)
    for key in ("End", "Home", "End"):
        opened.key(key)
        opened.evaluate("window.drawn = [...document.querySelectorAll('main *')]; 0")
        opened.wait_for_frames()
        assert opened.evaluate("window.drawn.every((one) => one.isConnected)") is True


def test_what_plays_waits_while_a_link_is_pressed(show: Shown) -> None:
    opened = show(page(example()), 5)
    opened.evaluate("document.querySelector('details').open = true")
    opened.key(" ")
    with opened.pressed("li:first-child > button.plain"):
        before = _step(opened)
        # More than a step's time.
        opened.evaluate("new Promise((done) => setTimeout(done, 1500)).then(() => 0)")
        assert _step(opened) == before
    # It plays on from step 0, where the link leads.
    assert _step(opened) < before
    opened.wait_until("Number(document.body.dataset.step) > 0")
    opened.key(" ")


def test_a_page_is_drawn_again_when_its_width_changes(show: Shown) -> None:
    opened = show(page(example()), 6)
    before = _widths(opened, ".storage > svg")
    opened.resize(700)
    after = _widths(opened, ".storage > svg")
    assert len(before) == len(after) > 0
    assert before != after


def test_what_changed_in_a_step_is_marked(show: Shown) -> None:
    opened = show(page(example()), 6)
    assert opened.texts(".storage.changed h3") == ["b float32, 3 elements, version 0 → 1written"]
    assert opened.texts(".value.other") == ["2.before: 1."]
    assert len(opened.texts("rect.now")) - len(opened.texts(".legend rect.now")) == 1
    assert opened.texts(".row.touched b") == ["b", "head", "tail"]
    assert opened.texts(".row .badge") == ["new grad_fn", "now stale", "now stale"]
    assert opened.texts(".tensor.stale b") == ["head", "tail"]
    assert opened.texts(".node.new .name") == ["CopySlices"]
    opened.key("ArrowRight")
    assert opened.texts(".row.touched b") == ["b", "saved self", "saved other"]
    # Marked is what was written since the save: all three elements by now.
    (marked,) = _widths(opened, ".storage rect.marked")
    assert [marked] == _widths(opened, ".storage.changed rect.cell")
    opened.key("ArrowRight")
    assert opened.texts(".tensor b") == ["x", "b", "tail", "square"]


def test_texts_of_the_program_are_text(show: Shown) -> None:
    opened = show(page(example()), 1)
    assert opened.evaluate("document.getElementById('injected')") is None
    assert opened.text(".line.current code").endswith('# </script><b id="injected">&amp;')
    assert opened.text(".sentence [aria-live]") == "x is made: a leaf <i>of</i> 3 elements"
    assert opened.text("h1") == "A value that is <overwritten> & refused"
    assert opened.texts(".left-out") == ["Left out by limits: 2 storages."]


_LINES = """
def program(a):
    x = vt.ones(2, 3)
    for t in range(1, 3):
        x[:, t] = a * x[:, t - 1]
    x.sum().backward()
"""


def test_lines_and_memory_are_those_of_the_program(show: Shown, tmp_path: Path) -> None:
    path = tmp_path / "told.py"
    path.write_text(_LINES, "utf-8")
    names: dict[str, Any] = {"vt": vt}
    exec(compile(_LINES, path, "exec"), names)
    told = story(names["program"], vt.tensor(0.5, requires_grad=True))
    data: Any = told.data()
    opened = show(page(data))
    lines = _LINES.splitlines()
    filled = []
    for number, step in enumerate(data["steps"]):
        assert _step(opened) == number
        assert opened.text(".sentence [aria-live]") == step["text"]
        if step["line"] is not None:
            assert opened.text(".line.current code") == lines[step["line"] - 1].strip()
        if step["kind"] == "write":
            filled.append(_cells(opened, "x"))
            # A column: one element of each row, in a frame and below an arrow.
            assert len(_widths(opened, ".storage rect.now")) == 2
            assert len(_widths(opened, ".storage polygon.arrow")) == 2
        opened.key("ArrowRight")
    # Worked by hand: each column is half of the one before it.
    assert [[float(value) for value in values] for values in filled] == [
        [1.0, 0.5, 1.0, 1.0, 0.5, 1.0],
        [1.0, 0.5, 0.25, 1.0, 0.5, 0.25],
    ]
    # 2 (1 + 2 a), stored by the last step.
    assert opened.texts(".kind") == ["Δ gradient"]
    assert [float(value) for value in _cells(opened, "a.grad")] == [4.0]


def _chain(x: vt.Tensor) -> None:
    for _ in range(150):
        x = x * 1.0
    x.sum().backward()


def test_of_a_large_graph_the_nodes_of_the_step_are_drawn(show: Shown) -> None:
    told = story(_chain, vt.ones(2, requires_grad=True), limit=1000)
    opened = show(told.html(), len(told.steps) - 3)
    assert opened.text(".sentence [aria-live]").startswith("MulBackward0 runs")
    assert len(opened.texts(".node")) == 120
    assert opened.texts(".graph .gone") == ["32 nodes of the graph are not drawn."]
    assert opened.texts(".node.leaf .small") == ["x"]
    # The node that runs is in sight.
    top, bottom, node = opened.evaluate(
        "(() => { const of = (it) => document.querySelector(it).getBoundingClientRect();"
        " const box = of('.graph .body');"
        " return [box.top, box.bottom, of('.node.running').top]; })()"
    )
    assert top < node < bottom


def test_odd_storages_are_drawn(show: Shown) -> None:
    with story() as told:
        empty = vt.zeros(0)
        large = vt.zeros(1000, 1000)
        large[:, 3] = 1.0
        part = large[::2, ::2]
        one = vt.tensor(3).expand(5)
    opened = show(told.html(), len(told.steps) - 1)
    assert len(opened.texts(".storage")) == 3
    assert any("1,000,000 elements" in text for text in opened.texts("h3"))
    assert opened.texts(".row b")[:3] == ["empty", "large", "part"]
    assert (empty.numel(), part.numel(), one.numel()) == (0, 250_000, 5)
    assert opened.texts(".left-out")[0].startswith("Left out by limits: ")


def test_pages_in_frames_do_not_hear_each_others_keys(browser: Browser, show: Shown) -> None:
    frames = framed(page(example()), "one") + framed(page(example()), "two")
    opened = show(f"<!DOCTYPE html><title>notebook</title><body>{frames}</body>", width=800)
    one, two = browser.frames()
    for frame in (one, two):
        frame.wait_until("document.body?.dataset.step === '0'")
    # Keys go to the frame that has the focus, once its process has heard of it.
    others = [one, two]
    for keys, step in [(["ArrowRight"], 1), (["End", "ArrowLeft"], 7)]:
        opened.evaluate(f"document.querySelectorAll('iframe')[{2 - len(others)}].focus()")
        focused = next(frame for frame in cycle(others) if frame.evaluate("document.hasFocus()"))
        others.remove(focused)
        for key in keys:
            opened.key(key)
        focused.wait_until(f"document.body.dataset.step === '{step}'")
    assert sorted([_step(one), _step(two)]) == [1, 7]
    # They have styles, names and keys of their own.
    assert opened.evaluate("[...document.body.children].map((one) => one.tagName)") == [
        "IFRAME",
        "IFRAME",
    ]
    assert opened.evaluate("document.getElementById('story')") is None


@pytest.mark.parametrize("dark", [False, True])
def test_letters_can_be_read(dark: bool, show: Shown) -> None:
    html = page(example())
    ratios = []
    for step in (5, 6, 7, 8):
        opened = show(html, step, dark=dark)
        light = opened.evaluate(
            _LUMINANCE + "luminance(getComputedStyle(document.body).backgroundColor)"
        )
        assert light < 0.05 if dark else light > 0.9
        ratios += opened.evaluate(_LUMINANCE + _CONTRASTS)
    assert len(ratios) > 100
    # The bound of WCAG 2.2 AA for text, and for what is no text but has a meaning.
    assert [found for found in ratios if found["ratio"] < (3 if found["shape"] else 4.5)] == []


# The relative luminance of WCAG 2.2; and the contrast of each text with what is behind it.
_LUMINANCE = """
var channel = (value) =>
  value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
var luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
};
"""
_CONTRASTS = """
var behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
var ratio = (one, other) => {
  const [a, b] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (b + 0.05) / (a + 0.05);
};
var found = [];
for (const element of document.querySelectorAll("header *, main *, footer *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const style = getComputedStyle(element);
  const drawn = element instanceof SVGElement;
  if (own && element.tagName !== "title") {
    const node = drawn && element.closest(".node");
    const under = node ? getComputedStyle(node.querySelector("rect")).fill : behind(element);
    const colour = drawn ? style.fill : style.color;
    found.push({ what: element.textContent, shape: false, ratio: ratio(colour, under) });
  } else if (/^(rect|polygon)$/.test(element.tagName) && /^rgb/.test(style.fill)) {
    if (/tone|arrow|marked|held/.test(element.getAttribute("class") ?? "")) {
      const what = element.outerHTML;
      found.push({ what, shape: true, ratio: ratio(style.fill, behind(element)) });
    }
  }
}
found;
"""


@pytest.mark.parametrize("width", [390, 736])
def test_a_narrow_page_is_not_wider_than_its_window(width: int, show: Shown) -> None:
    opened = show(page(example()), 7, width=width)
    for _ in range(3):
        assert opened.evaluate("document.scrollingElement.scrollWidth") == width
        outside = opened.evaluate(
            "[...document.querySelectorAll('header *, .memory *, h2, .all')].filter((one) => {"
            " const { left, right, width } = one.getBoundingClientRect();"
            f" return width && (left < 0 || right > {width + 1}); }}).map((one) => one.outerHTML)"
        )
        assert outside == []
        opened.key("ArrowLeft")
    # Cells follow the width of the window.
    opened.resize(width + 200)
    narrow = opened.evaluate("document.querySelector('.storage svg').clientWidth")
    opened.wait_until(f"document.querySelector('.storage svg').clientWidth >= {narrow}")
    assert opened.evaluate("document.scrollingElement.scrollWidth") == width + 200


def test_all_that_can_be_pressed_has_a_name_and_can_be_reached(show: Shown) -> None:
    opened = show(page(example()), 8)
    nameless = (
        "[...document.querySelectorAll('button, input, summary')].filter((one) =>"
        " !(one.getAttribute('aria-label') ?? one.textContent).trim() || one.tabIndex < 0).length"
    )
    assert opened.evaluate(nameless) == 0
    silent = (
        "[...document.querySelectorAll('svg')].filter((one) =>"
        " one.getAttribute('aria-hidden') !== 'true' && !one.getAttribute('aria-label')).length"
    )
    assert opened.evaluate(silent) == 0
    label = opened.evaluate("document.querySelector('.graph svg').getAttribute('aria-label')")
    assert "MulBackward0 of square, recorded, leads to SliceBackward0 and SliceBackward0" in label
    # The list of all steps is behind a heading that opens it.
    opened.click("summary")
    assert opened.texts(".all li") == _texts()
    opened.click(".all li:nth-child(3) button")
    assert _step(opened) == 2
