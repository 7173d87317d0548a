"""Random programs of views and writes, each run by NumPy and on arrays of the namespace."""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.numpy.support import array, plain

PROGRAMS: Final = 40
STEPS: Final = 14


def index_of(draw: random.Random, shape: tuple[int, ...]) -> str:
    """The text of an index of an array of a shape."""
    if not shape:
        return draw.choice(["...", "()"])
    n = shape[0]
    choices = [
        str(draw.randrange(-n, n)),
        f"{draw.randrange(n)}:",
        f":{draw.randrange(1, n + 1)}",
        "::2",
        "...",
        f"[{draw.randrange(n)}, {draw.randrange(n)}]",
    ]
    if len(shape) > 1:
        m = shape[1]
        choices += [
            f":, {draw.randrange(m)}",
            f"{draw.randrange(n)}, {draw.randrange(m)}",
            f"1:, [{draw.randrange(m)}, {draw.randrange(m)}]",
            f"..., {draw.randrange(-shape[-1], shape[-1])}",
        ]
    return draw.choice(choices)


def step(draw: random.Random, names: dict[str, Any]) -> str:
    """A statement about the arrays that are there."""
    name = draw.choice(sorted(names))
    shape = np.shape(names[name])
    other = draw.choice(sorted(names))
    fresh = f"v{len(names)}"
    index = index_of(draw, shape)
    number = draw.choice(["2", "0.5", "-1.25"])
    return draw.choice(
        [
            f"{fresh} = {name}[{index}]",
            f"{fresh} = {name}[{index}]",
            f"{fresh} = {name}[::-1]" if shape else f"{fresh} = {name} * 2",
            f"{fresh} = {name}.T",
            f"{fresh} = {name}.reshape(-1)",
            f"{fresh} = {name}.copy()",
            f"{fresh} = {name} * {number} + {other}.sum()",
            f"{fresh} = {name}.max() - {name}",
            f"{name}[{index}] = {number}" if shape else f"{name} += {number}",
            f"{name}[{index}] = {other}.mean()" if shape else f"{name} -= {number}",
            f"{name}[{index}] *= {number}" if shape else f"{name} *= {number}",
            f"{name} += {number}",
            f"{name} *= {other}.sum() * 0.125",
            f"{name} -= {name} * 0.5",
        ]
    )


def program(seed: int) -> list[str]:
    """Statements that NumPy runs; those that it refuses are left out."""
    draw = random.Random(seed)
    names: dict[str, Any] = {"v0": np.arange(12.0).reshape(3, 4) / 8}
    kept: list[str] = []
    while len(kept) < STEPS:
        text = step(draw, names)
        trial = {name: value.copy() for name, value in names.items()}
        try:
            with np.errstate(all="raise"):
                exec(text, {"np": np}, trial)
        except (ValueError, TypeError, IndexError, FloatingPointError):
            continue
        exec(text, {"np": np}, names)
        if any(not np.isfinite(v).all() or np.abs(v).max(initial=0) > 1e6 for v in names.values()):
            break
        kept.append(text)
    return kept


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_programs_give_what_numpy_gives(seed: int) -> None:
    texts = program(seed)
    start = np.arange(12.0).reshape(3, 4) / 8
    theirs: dict[str, Any] = {"v0": start.copy()}
    constants: dict[str, Any] = {"v0": array(start)}
    leaf = array(start, grad=True)
    recorded: dict[str, Any] = {"v0": leaf * 1}
    for nr, text in enumerate(texts):
        for names in (theirs, constants, recorded):
            exec(text, {}, names)
        for name, value in theirs.items():
            for names in (constants, recorded):
                found = plain(names[name])
                what = "\n".join([*texts[: nr + 1], f"{name} is wrong"])
                assert np.shape(found) == np.shape(value), what
                np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12, err_msg=what)


def total(texts: list[str], x: Any) -> Any:
    """A number that depends on all that a program has computed."""
    names: dict[str, Any] = {"v0": x * 1}
    for text in texts:
        exec(text, {}, names)
    return sum((value * value).sum() / (nr + 3.0) for nr, value in enumerate(names.values()))


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 2))
def test_gradients_of_programs(seed: int) -> None:
    texts = [text for text in program(seed) if "max" not in text]
    x = array(np.arange(12.0).reshape(3, 4) / 8, grad=True)
    try:
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            found = vt.autograd.grad(total(texts, x), x)[0]
    except NameError:
        pytest.skip("a step that was left out defines a name")
    start, eps = np.arange(12.0).reshape(3, 4) / 8, 1e-6
    wanted = np.zeros(12)
    for nr in range(12):
        away = (eps * (np.arange(12) == nr)).reshape(3, 4)
        wanted[nr] = (total(texts, start + away) - total(texts, start - away)) / (2 * eps)
    np.testing.assert_allclose(
        found.tolist(), wanted.reshape(3, 4), rtol=1e-4, atol=1e-4, err_msg="\n".join(texts)
    )
