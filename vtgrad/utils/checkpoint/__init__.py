"""Memory for time: values that backward needs are computed again instead of kept."""

from .loop import checkpoint_loop as checkpoint_loop
