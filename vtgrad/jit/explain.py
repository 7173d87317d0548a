"""What became of a recording: how many steps there are, what is guarded, what runs how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from vtgrad.jit.float_chains import AS_FLOATS
from vtgrad.jit.graph import ProgramGraph, call_name, graph_of, line_text
from vtgrad.jit.listing import Item
from vtgrad.jit.steps import Guard, Kind, Program, Step

__all__ = ["Explanation", "Prepared", "explain"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a runner makes of a program.

    Attributes
    ----------
    program : Program
        The program after all passes.
    nbytes : int
        The size of the memory that a run uses.
    calls : collection of int
        The numbers of the steps of the program that are calls of Python.
    reasons : dict of int to str
        Why a step is a call of Python, where that is known.
    native : bool
        Whether the other steps run in C.
    folded, dead : int or None
        How many steps a pass computed beforehand, and how many nothing needs; None if not counted.
    """

    program: Program
    nbytes: int = 0
    calls: Collection[int] = ()
    reasons: dict[int, str] = field(default_factory=dict)
    native: bool = False
    folded: int | None = None
    dead: int | None = None


class Explanation:
    """What became of a recording, as text and as a drawing.

    In the drawing the steps that are calls of Python are red, if the others run in C, and guards
    are yellow.

    Attributes
    ----------
    recorded, left : int
        The number of steps of the recording, and of those that a run makes.
    guards : tuple of Guard
        What each run checks.
    calls : tuple of Step
        The steps that a run makes as calls of Python.
    nbytes : int
        The size of the memory that a run uses.
    graph : ProgramGraph
        The steps that a run makes.
    """

    __slots__ = (
        "_prepared",
        "_recording",
        "calls",
        "graph",
        "guards",
        "left",
        "nbytes",
        "recorded",
    )

    recorded: int
    left: int
    guards: tuple[Guard, ...]
    calls: tuple[Step, ...]
    nbytes: int
    graph: ProgramGraph

    def __init__(self, recording: Program, prepared: Prepared) -> None:
        program = prepared.program
        self._recording = recording
        self._prepared = prepared
        self.recorded = len(recording.steps)
        self.left = len(program.steps)
        self.guards = tuple(program.guards)
        self.calls = tuple([program.steps[number] for number in sorted(prepared.calls)])
        self.nbytes = prepared.nbytes
        slow = {id(step) for step in self.calls} if prepared.native else set()

        def is_slow(item: Item) -> bool:
            return id(item) in slow

        self.graph = graph_of(program, is_slow)

    def __str__(self) -> str:
        return "\n".join([*self._steps_text(), *self._guards_text(), *self._memory_text()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks; None without Graphviz, so that they show the text."""
        return self.graph._repr_svg_()

    def _steps_text(self) -> list[str]:
        prepared = self._prepared
        lines = [f"{_count(self.recorded, 'step')} recorded, {self.left} in a run"]
        for number, text in ((prepared.folded, "computed once"), (prepared.dead, "not needed")):
            if number is not None:
                lines.append(f"    {number} {text}")
        if not prepared.native:
            floats = list(prepared.reasons.values()).count(AS_FLOATS)
            some = f", {floats:,} of them arithmetic of floats" if floats else ""
            lines.append(f"    all are calls of Python{some}: the executor in C is not used")
            return lines
        lines.append(f"    {self.left - len(self.calls)} run in C, {len(self.calls)} are calls")
        numbers = sorted(prepared.calls)
        kinds = Counter(
            [
                (call_name(step), line_text(step.line), prepared.reasons.get(number, ""))
                for number, step in zip(numbers, self.calls, strict=True)
            ]
        )
        for (name, line, reason), number in kinds.items():
            about = ", ".join([part for part in (line, reason) if part])
            lines.append(f"    call of {name}, {number} times" + (f": {about}" if about else ""))
        return lines

    def _guards_text(self) -> list[str]:
        lines = [
            f"{_count(len(self._recording.guards), 'guard')} recorded, {len(self.guards)} left"
        ]
        kinds = Counter([(call_name(guard), line_text(guard.line)) for guard in self.guards])
        for (name, line), number in kinds.items():
            values = {
                repr(guard.value)
                for guard in self.guards
                if (call_name(guard), line_text(guard.line)) == (name, line)
            }
            value = f" is {min(values)}" if len(values) == 1 else ""
            times = f", {number} times" if number > 1 else ""
            lines.append(f"    {name}{value}{times}" + (f": {line}" if line else ""))
        return lines

    def _memory_text(self) -> list[str]:
        lines = [f"{self.nbytes:,} bytes of memory"]
        buffers = self._prepared.program.buffers
        for kind, what in ((Kind.ARGUMENT, "argument"), (Kind.OUTSIDE, "tensor from outside")):
            for buffer in buffers:
                if buffer.kind is kind and buffer.nbytes:
                    name = buffer.name or str(buffer.position)
                    lines.append(f"    {what} {name}: {buffer.nbytes:,} bytes")
        constants = [buffer.nbytes for buffer in buffers if buffer.kind is Kind.CONSTANT]
        if constants:
            lines.append(f"    {_count(len(constants), 'constant')}: {sum(constants):,} bytes")
        return lines


def explain(recording: Program, prepared: Prepared | None = None) -> Explanation:
    """Say what became of a recording.

    Parameters
    ----------
    recording : Program
        As it was recorded.
    prepared : Prepared, optional
        What a runner makes of it; without it, of the recording alone.

    Returns
    -------
    Explanation
        Its text is read with `str` or `print`; notebooks show the drawing.
    """
    return Explanation(recording, Prepared(recording) if prepared is None else prepared)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
