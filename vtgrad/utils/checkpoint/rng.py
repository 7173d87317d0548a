"""Random numbers that are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from vtgrad.generator import default_generator

__all__ = ["RandomState", "kept_random_state"]


class RandomState(NamedTuple):
    """A position in the stream of the default generator.

    Attributes
    ----------
    seed : int
        The seed of the stream.
    position : mapping or None
        The state of NumPy's generator; None before the first draw, so that no generator is made for
        it. See Note [numpy.random is loaded at the first draw].
    """

    seed: int
    position: Mapping[str, Any] | None

    @staticmethod
    def now() -> RandomState:
        """The present position."""
        source = default_generator._source
        return RandomState(
            default_generator._seed, None if source is None else source.bit_generator.state
        )

    def enter(self) -> None:
        """Continue from here, with a generator of its own."""
        source: np.random.Generator | None = None
        if self.position is not None:
            source = np.random.Generator(np.random.PCG64(0))
            source.bit_generator.state = self.position
        default_generator._seed, default_generator._source = self.seed, source


@contextmanager
def kept_random_state(kept: bool) -> Iterator[None]:
    """Restore the default generator, as an object, at the end of the block.

    What is drawn in the block comes from other generators, see `RandomState.enter`. So the end of
    the block only stores what was there before, which nothing interrupts.
    """
    if not kept:
        yield
        return
    seed, source = default_generator._seed, default_generator._source
    try:
        RandomState.now().enter()
        yield
    finally:
        default_generator._seed, default_generator._source = seed, source
