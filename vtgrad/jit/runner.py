"""What runs a program."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.jit.interpret import interpret
from vtgrad.jit.steps import Program
from vtgrad.storage.arrays import Array

__all__ = ["Interpreted", "prepare"]


class Interpreted:
    """A program that is run as `interpret` defines it."""

    __slots__ = ("_program",)

    _program: Program

    def __init__(self, program: Program) -> None:
        self._program = program

    def run(self, arguments: Sequence[Array], outside: Sequence[Array]) -> list[Array]:
        """Run on the bytes of the buffers; see `Runner.run`."""
        return interpret(self._program, arguments, outside)


def prepare(program: Program) -> Interpreted:
    """Make a program ready for runs."""
    return Interpreted(program)
