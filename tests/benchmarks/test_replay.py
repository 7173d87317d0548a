"""The programs of `benchmarks.replay`: what is written by hand is what the library computes."""

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from benchmarks import replay_jax
from benchmarks.replay import PROGRAMS, Program, tensors

SMALL = [x for x in PROGRAMS if "1000" not in x.name]


@pytest.mark.parametrize("program", SMALL, ids=lambda x: x.name)
def test_the_gradient_by_hand_is_that_of_the_library(program: Program) -> None:
    for by_hand in (program.by_hand, program.with_floats):
        if by_hand is None:
            continue
        arguments = tensors(vt, program)
        arrays = [x.copy() for x in program.arrays]
        found = program.body(vt, *arguments)
        expected: tuple[Any, ...] = by_hand(*arrays)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-9, atol=1e-12)
        # What the program writes to is compared, too.
        for tensor, array in zip(arguments, arrays, strict=True):
            np.testing.assert_allclose(tensor.detach().numpy(), array, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda x: x.name)
def test_the_program_in_jax_computes_the_same(program: Program) -> None:
    pytest.importorskip(
        "jax", reason="a peer of the benchmark, which is used where it is installed"
    )
    jax = replay_jax.load()
    assert jax is not None
    arguments = tensors(vt, program)
    found = program.in_jax(jax)(*program.arrays)
    expected = [*program.body(vt, *arguments)]
    if program.name.startswith("network"):
        # It returns what the library writes in place.
        expected += [x.detach() for x in arguments[2:]]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-9, atol=1e-12)
