"""Random numbers, which each run draws anew from the live generator.

While a program is recorded, a generator has a `RecordedSource` in the place of NumPy's generator.
A generator that the program makes or seeds has NumPy's own, and what it draws is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.generator import Generator, source_of
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.jit.recorder import Recorder, recording
from vtgrad.jit.steps import places_in

__all__ = ["Draw", "RecordedSource"]

# They write to their argument.
_WRITING: Final = frozenset({"shuffle"})


class Draw:
    """A method of NumPy's generator in a generator of the library, as it is when a step runs.

    It changes the generator, so no pass may leave it out or move it across another.

    Attributes
    ----------
    generator : Generator
        The generator.
    method : str
        The name of the method of `numpy.random.Generator`.
    """

    __slots__ = ("generator", "method")

    generator: Generator
    method: str

    def __init__(self, generator: Generator, method: str) -> None:
        self.generator = generator
        self.method = method

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Draw."""
        source: Any = source_of(self.generator)
        if isinstance(source, RecordedSource):
            source = source.source
        return getattr(source, self.method)(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Draw)
            and self.generator is other.generator
            and self.method == other.method
        )

    def __hash__(self) -> int:
        return hash((id(self.generator), self.method))

    def __repr__(self) -> str:
        return f"Draw({self.method})"


class RecordedSource:
    """Stands for NumPy's generator while a program is recorded.

    Attributes
    ----------
    generator : Generator
        The generator of the library.
    source : numpy.random.Generator
        What draws for the program.
    live : numpy.random.Generator
        What draws for other threads.
    """

    __slots__ = ("generator", "live", "source")

    generator: Generator
    source: np.random.Generator
    live: np.random.Generator

    def __init__(
        self, generator: Generator, source: np.random.Generator, live: np.random.Generator
    ) -> None:
        self.generator = generator
        self.source = source
        self.live = live

    def __getattr__(self, name: str) -> Callable[..., object]:
        recorder = recording.recorder
        if recorder is None:
            # A run of the program that is not recorded, or a thread of others.
            of_program = this_thread.changes is not None
            found: Callable[..., object] = getattr(self.source if of_program else self.live, name)
            return found
        if name.startswith("_") or name in ("bit_generator", "spawn", "bytes"):
            raise recorder.refuse(
                "the state of a generator cannot be recorded; draw numbers from it",
                "generator",
            )

        def draw(*args: object, **kwargs: object) -> object:
            return self._draw(recorder, name, args, kwargs)

        return draw

    def _draw(
        self, recorder: Recorder, name: str, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        written = args[:1] if name in _WRITING else ()
        count = len(recorder.steps)
        found = recorder.call(Draw(self.generator, name), args, kwargs, written)
        if len(recorder.steps) == count:
            if isinstance(found, np.ndarray) and not found.size:
                return found
            raise self._left(recorder)
        step = recorder.steps[-1]
        if not (
            step.outputs or step.writes or any(True for x in step.inputs for _ in places_in(x))
        ):
            raise self._left(recorder)
        return found

    def _left(self, recorder: Recorder) -> RecordingError:
        return recorder.refuse(
            "a random number leaves the program as a Python number, so no two runs are the same",
            "random number",
        )
