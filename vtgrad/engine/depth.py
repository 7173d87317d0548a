"""How many backward passes are running inside each other on a thread.

A file of its own, which is never compiled; see Note [One source, two builds].
"""

from __future__ import annotations

import threading

__all__ = ["depth"]


class _Depth(threading.local):
    value: int = 0


depth: _Depth = _Depth()
