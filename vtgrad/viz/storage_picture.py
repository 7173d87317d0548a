"""A map of memory as a picture, in the SVG format."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np

from vtgrad.viz.memory import Mask, Memory, State

__all__ = ["picture"]

# Sizes in pixels. Wider pictures are clipped, or shrunk, by the pages of notebooks.
_WIDTH: Final = 720
_ROW: Final = 22
_LINE: Final = 15
_BAR: Final = 230
_LETTER: Final = 7.3
_MARGIN: Final = 8
# The most characters of a name on one line.
_NAME: Final = 16
# More runs than pixels cannot be seen.
_BUCKETS: Final = _BAR

_FRAME: Final = "#999999"
_FILLS: Final = {State.GOOD: "#4c78a8", State.STALE: "#d9a441", State.REFUSED: "#e45756"}
_TEXTS: Final = {State.GOOD: "#222222", State.STALE: "#8a6014", State.REFUSED: "#b3261e"}


def picture(memories: Sequence[Memory]) -> str:
    """All buffers below each other: names, bars of what is shown, descriptions, writes.

    The width is fixed, and texts that do not fit are broken into lines.
    """
    longest = max((len(part.name) for memory in memories for part in memory.parts), default=0)
    left = int(_MARGIN + _LETTER * min(longest, _NAME) + 12)
    right = left + _BAR + 12
    body: list[str] = []
    y = _MARGIN
    for number, memory in enumerate(memories, 1):
        version = "not counted" if memory.version is None else f"version {memory.version}"
        title = f"storage {number}: {memory.nbytes} bytes, {version}"
        body += _text(_MARGIN, y, _lines(title, _MARGIN), bold=True)
        y += _ROW
        for part in memory.parts:
            name = textwrap.wrap(part.name, _NAME)
            about = _lines(part.about, right)
            body += _text(_MARGIN, y, name)
            body += _bar(left, y, memory.covered(part), _FILLS[part.state])
            body += _text(right, y, about, state=part.state)
            y += _height(max(len(name), len(about)))
        for write in memory.writes:
            lines = _lines(str(write), left)
            body += _text(left, y, lines)
            y += _height(len(lines))
        y += _ROW // 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" '
        f'viewBox="0 0 {_WIDTH} {y}" font-family="monospace" font-size="12">\n'
        f'<rect width="{_WIDTH}" height="{y}" fill="white"/>\n' + "\n".join(body) + "\n</svg>"
    )


def _lines(text: str, x: int) -> list[str]:
    """A text in lines that fit between a place and the right margin."""
    return textwrap.wrap(text, int((_WIDTH - _MARGIN - x) / _LETTER), subsequent_indent="  ")


def _height(lines: int) -> int:
    """The height of a row with some lines of text."""
    return _ROW + _LINE * max(lines - 1, 0)


def _text(
    x: int, y: int, lines: Sequence[str], *, bold: bool = False, state: State = State.GOOD
) -> list[str]:
    style = ' font-weight="bold"' if bold else ""
    # Renderers drop the spaces at the beginning of a text: an indentation is a place.
    return [
        f'<text x="{x + _LETTER * (len(line) - len(line.lstrip())):.0f}" '
        f'y="{y + 15 + _LINE * number}" fill="{_TEXTS[state]}"{style}>'
        f"{escape(line.lstrip())}</text>"
        for number, line in enumerate(lines)
    ]


def _bar(x: int, y: int, mask: Mask, colour: str) -> list[str]:
    """The runs of elements that are shown, in a frame as wide as the buffer."""
    lines = [
        f'<rect x="{x}" y="{y + 3}" width="{_BAR}" height="{_ROW - 6}" fill="none" '
        f'stroke="{_FRAME}"/>'
    ]
    if not mask.size:
        return lines
    if mask.size > _BUCKETS:
        edges = np.linspace(0, mask.size, _BUCKETS + 1).astype(np.intp)
        mask = np.logical_or.reduceat(mask, edges[:-1])
    scale = _BAR / mask.size
    changes = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False]))))
    for start, stop in changes.reshape(-1, 2).tolist():
        lines.append(
            f'<rect x="{x + start * scale:.1f}" y="{y + 3}" width="{(stop - start) * scale:.1f}" '
            f'height="{_ROW - 6}" fill="{colour}"/>'
        )
    return lines
