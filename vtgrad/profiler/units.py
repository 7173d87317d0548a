"""Times and sizes with their units."""

from __future__ import annotations

__all__ = ["share_text", "size_text", "time_text"]


def time_text(microseconds: float) -> str:
    """A time, such as ``12.345ms``."""
    for length, unit in ((1e6, "s"), (1e3, "ms")):
        if abs(microseconds) >= length:
            return f"{microseconds / length:.3f}{unit}"
    return f"{microseconds:.3f}us"


def size_text(count: int) -> str:
    """A number of bytes, such as ``1.50 KB``; a KB has 1024."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"


def share_text(part: float, whole: float) -> str:
    """A part in hundredths of the whole, such as ``12.50%``."""
    return f"{100 * part / whole:.2f}%" if whole else "NaN"
