"""The settings of each thread that all layers read.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from _thread import get_ident
from typing import TYPE_CHECKING, Final

from .extra_meta import ExtraMeta
from .mode import Mode, mode_of
from .thread_state import made, own, part_of_thread
from .thread_state import settle as settle

if TYPE_CHECKING:
    from .batch import BatchLevel
    from .tracer import Tracer
    from .transform_record import TransformRecord

__all__ = ["NO_LIMIT", "settle", "thread"]

# Larger than the number of any level.
NO_LIMIT: Final = 2**62


class _ThreadMode:
    """See Note [The state of a thread].

    Attributes
    ----------
    mode : Mode
        Stored as in Note [Switching a mode].
    ident : int
        The thread, as `threading.get_ident` numbers it.
    excluded_keys : int
        The keys by which no tensor takes an operator over at this moment, see Note [Keys].
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
    tracer : Tracer or None
        What follows the operators of this thread; see Note [Tracing].
    extra_of_new : ExtraMeta or None
        What new tensors have at this moment; see Note [Tensors made on a lane].
    """

    mode: Mode = mode_of(grad=True, inference=False)
    ident: int = own(made(get_ident))
    excluded_keys: int = 0
    forward_limit: int = NO_LIMIT
    reverse_level: int = 0
    transform: TransformRecord | None = None
    batch_levels: tuple[BatchLevel, ...] = ()
    tracer: Tracer | None = None
    extra_of_new: ExtraMeta | None = None


thread: _ThreadMode = part_of_thread(_ThreadMode)
