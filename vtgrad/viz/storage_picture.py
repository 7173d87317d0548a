"""A map of memory as a picture, in the SVG format."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np

from .memory import Mask, Memory, State

__all__ = ["picture"]

# Sizes in pixels.
_ROW: Final = 22
_BAR: Final = 480
_LETTER: Final = 7.3
_MARGIN: Final = 8
# More runs than pixels cannot be seen.
_BUCKETS: Final = _BAR

_FRAME: Final = "#999999"
_FILLS: Final = {State.GOOD: "#4c78a8", State.STALE: "#d9a441", State.REFUSED: "#e45756"}
_TEXTS: Final = {State.GOOD: "#222222", State.STALE: "#8a6014", State.REFUSED: "#b3261e"}


def picture(memories: Sequence[Memory]) -> str:
    """All buffers below each other: names, bars of what is shown, descriptions, writes."""
    names = [part.name for memory in memories for part in memory.parts]
    left = _MARGIN + _LETTER * max(map(len, names), default=0) + 12
    right = left + _BAR + 12
    body: list[str] = []
    longest, y = 0, _MARGIN
    for number, memory in enumerate(memories, 1):
        version = "not counted" if memory.version is None else f"version {memory.version}"
        title = f"storage {number}: {memory.nbytes} bytes, {version}"
        body.append(_label(_MARGIN, y, title, bold=True))
        longest = max(longest, len(title) - int((right - _MARGIN) / _LETTER))
        y += _ROW
        for part in memory.parts:
            body.append(_label(_MARGIN, y, part.name))
            body += _bar(left, y, memory.covered(part), _FILLS[part.state])
            body.append(_label(right, y, part.about, state=part.state))
            longest = max(longest, len(part.about))
            y += _ROW
        for write in memory.writes:
            body.append(_label(left, y, str(write)))
            longest = max(longest, len(str(write)) - int((right - left) / _LETTER))
            y += _ROW
        y += _ROW // 2
    width = int(right + _LETTER * longest + _MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
        f'viewBox="0 0 {width} {y}" font-family="monospace" font-size="12">\n'
        f'<rect width="{width}" height="{y}" fill="white"/>\n' + "\n".join(body) + "\n</svg>"
    )


def _label(x: float, y: float, text: str, *, bold: bool = False, state: State = State.GOOD) -> str:
    style = ' font-weight="bold"' if bold else ""
    colour = _TEXTS[state]
    return f'<text x="{x:.0f}" y="{y + 15}" fill="{colour}"{style}>{escape(text)}</text>'


def _bar(x: float, y: float, mask: Mask, colour: str) -> list[str]:
    """The runs of elements that are shown, in a frame as wide as the buffer."""
    lines = [
        f'<rect x="{x:.0f}" y="{y + 3}" width="{_BAR}" height="{_ROW - 6}" fill="none" '
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
