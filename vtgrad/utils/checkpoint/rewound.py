"""Running again under the rewind of the first run."""

from __future__ import annotations

from contextlib import nullcontext

from vtgrad.storage.rewind import allow_mutation_on_saved_tensors, rewinding

__all__ = ["is_rewound", "rewound"]


def is_rewound() -> bool:
    """Whether values that are saved now, on this thread, may be overwritten."""
    return rewinding.keeps


def rewound(on: bool) -> allow_mutation_on_saved_tensors | nullcontext[None]:
    """A block that lets saved values be overwritten, if the first run was in such a block.

    Backward may come after that block, and on another thread.
    """
    return allow_mutation_on_saved_tensors() if on else nullcontext()
