"""What tests leave behind, put aside or taken away for those that follow."""

import gc
import sys
from types import SimpleNamespace
from typing import Final

import vtgrad
from vtgrad.storage import gc_freeze

__all__ = ["put_aside", "take_away_seen_members"]

#: What `Tensor` does not inherit.
_OWN: Final = frozenset(vars(vtgrad.Tensor))


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


def take_away_seen_members() -> None:
    """Give `Tensor` the members that it had before a test entered a function mode.

    In a program they are seen members from then on, see Note [Members that modes see]. Tests that
    look at the class itself, as those of the reference, find it as it is written.
    """
    module = sys.modules.get("vtgrad.overrides.seen_members")
    if module is None or not module._state.complete:
        return
    tensor = vtgrad.Tensor
    for name, found in list(vars(tensor).items()):
        if isinstance(found, module.SeenMember):
            if name in _OWN:
                type.__setattr__(tensor, name, found.member)
            else:
                type.__delattr__(tensor, name)
    module._state.complete = False
