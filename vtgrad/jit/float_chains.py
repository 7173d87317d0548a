"""Steps on single float64 numbers, as arithmetic of Python's floats.

Note [Chains of floats]

NumPy takes 170 ns to 300 ns for the sum of two arrays without dimensions, and Python 15 ns for that
of two floats. So where the table runs a program, consecutive steps on single float64 numbers are
one entry: a function that reads numbers from the arena, computes with floats, and writes to the
arena what is read after the chain.

A chain has the bits of NumPy's calls:

- It consists of operators that IEEE 754 rounds in one way, and of copies. What NumPy computes by
  code of its own, such as the exponential function, is a call of NumPy on memory of the chain.
- The sign and the payload of a NaN depend on the order of operands in machine code. Each operator
  of a chain returns a NaN for a NaN. So if a number of the chain is one, a number that it writes
  and does not read again is one too: these are looked at before anything is written.
- Where NumPy warns, Python raises an error.

In the last two cases the chain has written nothing, and its steps run as entries of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.jit.effects import copied
from vtgrad.jit.steps import Buffer, Kind, Operand, Place, Program, Step

__all__ = ["AS_FLOATS", "Chain", "chains_of", "computed"]

# Why a step of a chain does not run in C.
AS_FLOATS: Final = "it is arithmetic of floats"

# Shorter chains gain little, and Python's compiler looks at a whole function at once.
_FEWEST: Final = 3
_MOST: Final = 1000

_EXPRESSIONS: Final[dict[Callable[..., object], str]] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.true_divide: "{} / {}",
    np.negative: "-{}",
    np.absolute: "abs({})",
    np.square: "{0} * {0}",
    np.reciprocal: "1.0 / {}",
    np.sqrt: "sqrt({})",
    np.positive: "{}",
    np.conjugate: "{}",
}
# Of these a NaN has a NaN.
_CALLED: Final[dict[Callable[..., object], str]] = {
    function: function.__name__
    for function in (
        *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p),
        *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan),
        *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
    )
}
_F8: Final = np.dtype(np.float64)

# Where a number is: its buffer, and the first byte in it.
_Key: TypeAlias = tuple[int, int]
# What a chain computes on the float64 numbers of the arena; False if NumPy has to.
Chain: TypeAlias = Callable[[memoryview], bool]


class _Line(NamedTuple):
    """A step of a chain."""

    function: Callable[..., object]
    inputs: tuple[_Key, ...]
    output: _Key


def chains_of(program: Program) -> Iterator[tuple[int, int]]:
    """For each chain, in order, its first step and the first one after it.

    No guard is checked between two steps of a chain.
    """
    guarded = {guard.before for guard in program.guards}
    first = 0
    for number in range(len(program.steps) + 1):
        ends = number == len(program.steps) or _line_of(program.steps[number]) is None
        if ends or number in guarded or number - first >= _MOST:
            if number - first >= _FEWEST:
                yield first, number
            first = number + ends


def _line_of(step: Step) -> _Line | None:
    """A step as one of a chain; None if it cannot be one."""
    function, inputs, outputs = step.function, step.inputs, step.outputs
    if function not in _EXPRESSIONS and function not in _CALLED:
        copy = copied(step)
        if copy is None:
            return None
        function, inputs, outputs = np.positive, (copy[1],), (copy[0],)
    if step.keywords or len(outputs) != 1:
        return None
    keys = [key for key in map(_key_of, (*inputs, *outputs)) if key is not None]
    if len(keys) <= len(inputs):
        return None
    return _Line(function, tuple(keys[:-1]), keys[-1])


def _key_of(operand: Operand) -> _Key | None:
    """Where a single float64 is; None for other operands."""
    if type(operand) is not Place or operand.dtype != _F8 or operand.shape:
        return None
    return None if operand.offset % _F8.itemsize else (operand.buffer, operand.offset)


def computed(
    steps: Sequence[Step],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
    is_read_later: Callable[[int], bool],
) -> Chain:
    """A function that computes a chain; see Note [Chains of floats].

    Parameters
    ----------
    steps : sequence of Step
        The steps of the chain.
    buffers : sequence of Buffer
        Those of the program.
    offsets : sequence of int
        Where the buffers lie in the arena.
    is_read_later : callable
        Whether what is in a fresh buffer is read after the chain.
    """
    lines = [line for line in map(_line_of, steps) if line is not None]
    assert len(lines) == len(steps)
    last = {line.output: number for number, line in enumerate(lines)}
    kept = {
        number: key
        for key, number in last.items()
        if buffers[key[0]].kind is not Kind.FRESH or is_read_later(key[0])
    }
    return _compiled(_source(lines, kept, buffers, offsets))


def _source(
    lines: Sequence[_Line],
    kept: dict[int, _Key],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
) -> str:
    """The source of a chain: the number that a line computes is ``v`` and the number of the line.

    `kept` has the places to which numbers are written, by their lines.
    """

    def item(key: _Key) -> str:
        return f"memory[{(offsets[key[0]] + key[1]) // _F8.itemsize}]"

    text = ["def chain(memory):"]
    names: dict[_Key, str] = {}
    not_seen = set[str]()
    needed = _needed(lines, kept)
    for number, line in enumerate(lines):
        if number not in needed:
            continue
        operands: list[str] = []
        for key in line.inputs:
            name = names.get(key) or _number(buffers[key[0]], key[1])
            if name is None:
                name = names[key] = f"x{len(names)}"
                text.append(f"    {name} = {item(key)}")
            operands.append(name)
        not_seen.difference_update(operands)
        name = names[line.output] = f"v{number}"
        not_seen.add(name)
        text += [f"    {x}" for x in _computing(line, name, operands)]
    # The others were read, so that what was computed from them shows whether they are NaN.
    looks = " and ".join([f"{name} == {name}" for name in sorted(not_seen)])
    text.append(f"    if {looks or True}:")
    text += [f"        {item(key)} = v{number}" for number, key in kept.items()]
    return "\n".join([*text, "        return True", "    return False"])


def _needed(lines: Sequence[_Line], kept: Collection[int]) -> set[int]:
    """The lines from which the numbers that are written are computed."""
    needed, wanted = set[int](), set[_Key]()
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if number in kept or line.output in wanted:
            needed.add(number)
            wanted.discard(line.output)
            wanted.update(line.inputs)
    return needed


def _number(buffer: Buffer, offset: int) -> str | None:
    """A finite number in a constant, as Python writes it."""
    if buffer.content is None:
        return None
    (found,) = np.frombuffer(buffer.content, _F8, 1, offset).tolist()
    return repr(found) if math.isfinite(found) else None


def _computing(line: _Line, name: str, operands: Sequence[str]) -> list[str]:
    """The lines that compute a number."""
    expression = _EXPRESSIONS.get(line.function)
    if expression is not None:
        return [f"{name} = {expression.format(*operands)}"]
    # NumPy may compute in another way in place.
    target = 0 if line.inputs == (line.output,) else 1
    return [
        f"beside[0] = {operands[0]}",
        f"{_CALLED[line.function]}(array_0, array_{target})",
        f"{name} = beside[{target}]",
    ]


def _compiled(source: str) -> Chain:
    beside = np.zeros(2)
    namespace: dict[str, Any] = {name: function for function, name in _CALLED.items()}
    namespace |= {"sqrt": math.sqrt, "beside": beside.data}
    namespace |= {f"array_{i}": np.ndarray((), _F8, beside, 8 * i) for i in (0, 1)}
    exec(compile(source, "<chain of floats>", "exec"), namespace)
    chain: Chain = namespace["chain"]
    return chain
