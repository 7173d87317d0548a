"""The transforms and batches that a thread is in at this moment.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vtgrad.storage.thread_mode import ThreadMode, settle
from vtgrad.storage.thread_state import part_of_thread

if TYPE_CHECKING:
    from vtgrad.graph.batch import BatchLevel
    from vtgrad.graph.transform_record import TransformRecord

__all__ = ["NO_LIMIT", "ThreadLevels", "settle", "thread"]

# Larger than the number of any level.
NO_LIMIT: Final = 2**62


class ThreadLevels(ThreadMode):
    """The mode of a thread and its levels; see Note [The state of a thread].

    Attributes
    ----------
    forward_limit : int
        The operators of this thread see tangents of lower levels only; see Note [Levels].
    reverse_level : int
        The number of the innermost transform of `vtgrad.func`, or function of
        `vtgrad.autograd.functional`, that differentiates in reverse mode on this thread; 0 for
        none. Levels of forward mode and of batches are numbered with it.
    transform : TransformRecord or None
        What that transform has to leave; see Note [What a transform leaves behind].
    batch_levels : tuple of BatchLevel
        The running `vmap` of this thread, the innermost last; see Note [Batched tensors].
    """

    forward_limit: int = NO_LIMIT
    reverse_level: int = 0
    transform: TransformRecord | None = None
    batch_levels: tuple[BatchLevel, ...] = ()


thread: ThreadLevels = part_of_thread(ThreadLevels)
