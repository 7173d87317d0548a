"""Programs that run many times, in C where that is built and in Python otherwise.

Note [Runs]

A run copies arguments and outside tensors into the arena, runs the steps and makes the results.
What the program has written lies in the arena then, and is copied back in one call in C, which no
signal divides: by `Runner.run`, or by what calls `Runner.compute` and has other changes to make in
that call. So after a guard that failed, an error or an interrupt, no memory outside of the arena
has changed, and the next run begins anew.

One run at a time may use the arena.

Note [The collector while a program is prepared]

The passes make millions of small objects, which all stay and of which none is garbage. The
collector would look through all of them, and through all else of the process, again and again: that
took half of the time. So it waits until a program is prepared, a second or two for the largest.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from vtgrad.jit.executor import INITIALS, fill_executor
from vtgrad.jit.float_chains import AS_FLOATS, chains_of
from vtgrad.jit.memory import Layout, lay_out, new_arena
from vtgrad.jit.normal_form import in_normal_form
from vtgrad.jit.passes import improve
from vtgrad.jit.steps import Kind, Program
from vtgrad.jit.table import Arrays, run_table, table_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.loops import NATIVE
from vtgrad.storage.no_fp_warnings import run_without_warnings

if TYPE_CHECKING or NATIVE:
    from vtgrad._loops import Executor
else:
    Executor = None

__all__ = ["Runner", "prepare"]


def prepare(program: Program, native: bool = NATIVE) -> Runner:
    """Make a program ready to run.

    Parameters
    ----------
    program : Program
        What is run; it is not changed.
    native : bool
        Whether the executor in C runs it, if that is installed.

    Returns
    -------
    Runner
        It keeps the memory that the program needs.

    See Note [The collector while a program is prepared].
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        return Runner(improve(in_normal_form(program)), Executor if native else None)
    finally:
        if was_enabled:
            gc.enable()


class Runner:
    """A program with its memory; see Note [Runs].

    Attributes
    ----------
    program : Program
        What is run: the program after all passes.
    nbytes : int
        The size of the arena.
    calls : dict[int, str]
        The numbers of the steps that are calls of Python, and why each is.
    """

    __slots__ = ("_into", "_out", "_results", "_run", "_sizes", "calls", "nbytes", "program")

    program: Program
    nbytes: int
    calls: dict[int, str]
    _run: Callable[[], None]
    # For arguments and outside tensors: a position, and its bytes in the arena.
    _into: tuple[list[tuple[int, Array]], list[tuple[int, Array]]]
    _out: tuple[list[tuple[int, Array]], list[tuple[int, Array]]]
    _results: list[Array]

    def __init__(self, program: Program, executor_type: type[Executor] | None) -> None:
        layout = lay_out(program)
        layout = Layout(layout.offsets, layout.nbytes + INITIALS)
        arena = new_arena(layout)
        arrays = Arrays(program, layout, arena)
        self.program = program
        self.nbytes = layout.nbytes
        self._into, self._out = ([], []), ([], [])
        written = {x.buffer for step in program.steps for x in (*step.outputs, *step.writes)}
        for number, buffer in enumerate(program.buffers):
            if buffer.kind is Kind.FRESH or layout.offsets[number] < 0:
                continue
            memory = arrays.of_buffer(number)
            if buffer.kind is Kind.CONSTANT:
                assert buffer.content is not None
                memory[:] = buffer.content
                continue
            outside = buffer.kind is Kind.OUTSIDE
            self._into[outside].append((buffer.position, memory))
            if number in written:
                self._out[outside].append((buffer.position, memory))
        self._results = [arrays.at(place) for place in program.results]
        if executor_type is not None:
            executor = executor_type(arena)
            self.calls = fill_executor(executor, program, layout, arrays, arena)
            self._run = executor.run
        else:
            chains = dict(chains_of(program))
            table = table_of(program, arrays, chains)
            self.calls = dict.fromkeys(range(len(program.steps)), "there is no executor in C")
            for chain in chains.items():
                self.calls.update(dict.fromkeys(range(*chain), AS_FLOATS))
            self._run = lambda: run_table(table)

    def run(self, arguments: Sequence[Array], outside: Sequence[Array] = ()) -> list[Array]:
        """Run the program once, and write to the memory of its arguments.

        It takes, returns and raises what `compute` does.
        """
        results = self.compute(arguments, outside)
        targets: list[Array] = []
        sources: list[Array] = []
        for given, places in zip((arguments, outside), self._out, strict=True):
            for position, memory in places:
                targets.append(given[position])
                sources.append(memory)
        if targets:
            # No Python code runs between two copies.
            deque(map(np.ndarray.__setitem__, targets, repeat(...), sources), maxlen=0)
        return results

    def compute(self, arguments: Sequence[Array], outside: Sequence[Array] = ()) -> list[Array]:
        """Run the program once; what it writes is then in `memory_of`.

        Parameters
        ----------
        arguments, outside : sequence of numpy.ndarray
            The memory of the buffers of these kinds, as one-dimensional arrays of bytes.

        Returns
        -------
        list of numpy.ndarray
            The results, in new memory.

        Raises
        ------
        GuardFailed
            If a value differs from the recorded one. Then nothing was written.
        ValueError
            If the memory of a buffer has another size. Then nothing was written.
        """
        for given, places in zip((arguments, outside), self._into, strict=True):
            for position, memory in places:
                found = given[position]
                if len(found) != len(memory):
                    raise ValueError(
                        f"the memory at position {position} has {len(found)} bytes, and the "
                        f"recording had {len(memory)}"
                    )
                memory[:] = found
        run_without_warnings(self._run)
        return [array.copy("K") for array in self._results]

    def memory_of(self, kind: Kind, position: int) -> Array | None:
        """The bytes of an argument or a tensor from outside in the arena; None if it is not there.

        Parameters
        ----------
        kind : Kind
            `Kind.ARGUMENT` or `Kind.OUTSIDE`.
        position : int
            Its number among those of its kind.
        """
        return dict(self._into[kind is Kind.OUTSIDE]).get(position)
