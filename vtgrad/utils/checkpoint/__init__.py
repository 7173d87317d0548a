"""Memory for time: values that backward needs are computed again instead of kept."""

from ...errors import CheckpointError as CheckpointError
from .call import checkpoint as checkpoint
from .call import noop_context_fn as noop_context_fn
from .loop import checkpoint_loop as checkpoint_loop
from .reentrant import CheckpointFunction as CheckpointFunction
from .sequential import checkpoint_sequential as checkpoint_sequential
from .settings import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from .settings import set_checkpoint_early_stop as set_checkpoint_early_stop

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
