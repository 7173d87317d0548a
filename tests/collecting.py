"""Garbage collections that do not visit the objects of pytest."""

import gc
from types import SimpleNamespace

from vtgrad.storage import gc_freeze

__all__ = ["put_aside"]


def put_aside() -> None:
    """Freeze what is there: millions of objects, which each ``gc.collect()`` visits.

    Collecting tests makes most of them, and results, caches and modules of tests the rest.

    Memory that grows asks a list whether tensors are frozen too, see Note [Frozen objects are not
    found]. The tests grow no memory of tensors that are older, so that list is made anew. Before it
    looks for the list the library asks whether anything is frozen, which counts all that is: here
    the answer is known.
    """
    gc.collect()
    gc.freeze()
    known = SimpleNamespace(get_freeze_count=lambda: 1, get_referrers=gc.get_referrers)
    vars(gc_freeze).update(_HOLDER=[gc_freeze._HELD], gc=known)
