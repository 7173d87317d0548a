"""Running what was emitted, beside the meaning of the program."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

import numpy as np
import pytest

from vtgrad.jit.interpret import GuardFailed, interpret
from vtgrad.jit.source import Parameter, parameters_of, source_of
from vtgrad.jit.steps import Kind, Program
from vtgrad.storage.arrays import Array


def function_of(text: str, name: str = "replay") -> FunctionType:
    """The function that a module of source defines."""
    names: dict[str, object] = {"__name__": "exported"}
    exec(compile(text, "<exported>", "exec"), names)
    found = names[name]
    assert isinstance(found, FunctionType)
    return found


def new_values(parameters: Sequence[Parameter], seed: int) -> list[Array]:
    """Arrays with other values, for each parameter."""
    rng = np.random.default_rng(seed)
    found = []
    for parameter in parameters:
        numbers = (
            rng.integers(-3, 4, parameter.place.shape)
            + rng.integers(0, 4, parameter.place.shape) / 4
        )
        found.append(np.asarray(numbers).astype(parameter.place.dtype))
    return found


def bits(arrays: Sequence[Array]) -> list[tuple[object, ...]]:
    """What two runs must have in common."""
    return [(x.dtype.str, x.shape, x.tobytes()) for x in arrays]


def check(program: Program, seed: int = 0) -> str:
    """Compare emitted source with `interpret` on new values, bit for bit; returns the source."""
    parameters = parameters_of(program)
    return check_on(program, new_values(parameters, seed))


def check_on(program: Program, given: list[Array]) -> str:
    """The same on some arguments, which are in the order of `parameters_of`."""
    parameters = parameters_of(program)
    text = source_of(program)
    function = function_of(text)
    own = [array.copy() for array in given]
    raw = {
        (
            program.buffers[parameter.place.buffer].kind,
            program.buffers[parameter.place.buffer].position,
        ): array
        for parameter, array in zip(parameters, own, strict=True)
    }
    arguments, outside = [
        [
            raw[key].reshape(-1).view(np.uint8)
            for key in sorted(raw, key=lambda k: k[1])
            if key[0] is kind
        ]
        for kind in (Kind.ARGUMENT, Kind.OUTSIDE)
    ]
    with np.errstate(all="ignore"):
        before = bits(given)
        try:
            expected: list[Array] | None = interpret(program, arguments, outside)
        except GuardFailed:
            expected = None
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                function(*given)
            return text
        if expected is None:
            with pytest.raises(ValueError, match="another program was recorded"):
                function(*given)
            assert bits(given) == before
            return text
        found = function(*given)
    found = found if isinstance(found, tuple) else (found,)
    assert bits(found) == bits(expected), text
    assert bits(given) == bits(own), text
    assert not any(
        np.may_share_memory(a, b) for n, a in enumerate(found) for b in [*found[:n], *given]
    )
    return text
