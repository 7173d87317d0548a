"""Memory for time: values that backward needs are computed again instead of kept."""

from vtgrad.errors import CheckpointError as CheckpointError
from vtgrad.utils.checkpoint.call import checkpoint as checkpoint
from vtgrad.utils.checkpoint.call import noop_context_fn as noop_context_fn
from vtgrad.utils.checkpoint.loop import checkpoint_loop as checkpoint_loop
from vtgrad.utils.checkpoint.reentrant import CheckpointFunction as CheckpointFunction
from vtgrad.utils.checkpoint.sequential import checkpoint_sequential as checkpoint_sequential
from vtgrad.utils.checkpoint.settings import (
    set_checkpoint_debug_enabled as set_checkpoint_debug_enabled,
)
from vtgrad.utils.checkpoint.settings import set_checkpoint_early_stop as set_checkpoint_early_stop

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_loop",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
