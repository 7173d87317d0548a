"""After an interrupt nothing is traced any more, and a function that goes on is not believed.

What breaks it: a tracer that is set before ``try``; a key that stays excluded; a write that is
stored, and whose index sets are not, without a word.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.func import sparse_jacobian, sparsity_pattern
from vtgrad.graph.tracer import thread
from vtgrad.storage.key_set import keys
from vtgrad.storage.rewind import saves_observed

pytestmark = pytest.mark.slow


def chain(x: vt.Tensor) -> vt.Tensor:
    x[1:] *= x[:-1].clone()
    return x


@NEEDS_TRACE
def test_after_a_pattern() -> None:
    x = vt.tensor([1.0, 2.0])
    reasons = saves_observed.reasons

    def check(over: bool) -> None:
        assert thread.tracer is None
        assert thread.excluded_keys == 0
        assert not keys.modes
        assert saves_observed.reasons == reasons
        assert vt.is_grad_enabled()

    def small(x: vt.Tensor) -> vt.Tensor:
        return x[1:] * x[:-1]

    assert interrupted_everywhere(lambda: lambda: sparsity_pattern(small, x), check) > 100
    assert sparse_jacobian(chain, x).toarray().tolist() == [[1, 0], [2, 1]]


@NEEDS_TRACE
def test_a_function_that_goes_on_after_an_interrupt() -> None:
    """Either the pattern is whole, or it is refused."""
    x = vt.tensor([1.0, 2.0, 3.0])
    found: list[object] = []

    def prepare() -> object:
        found.clear()
        y = vt.zeros(3)

        def function(z: vt.Tensor) -> vt.Tensor:
            try:
                y.copy_(z)
            except KeyboardInterrupt:
                found.append("interrupted")
            return y.roll(1)

        def call() -> None:
            try:
                pattern = sparsity_pattern(function, x)
            except vt.errors.InterruptedWriteError:
                found.append("refused")
            else:
                if "interrupted" in found and pattern.nnz != 3:
                    # Nothing was written.
                    assert not np.any(y.numpy())
                    assert pattern.nnz == 0

        return call

    interrupted_everywhere(prepare, lambda over: None)  # type: ignore[arg-type]  # a call


@NEEDS_TRACE
def test_a_pattern_that_a_handler_finds_meanwhile() -> None:
    """In the midst of a followed operator it is right; between two of them it is refused."""
    x, z = vt.tensor([1.0, 2.0, 3.0]), vt.tensor([5.0, 7.0])
    found: list[int] = []
    refused = 0

    def handler() -> None:
        nonlocal refused
        try:
            found.append(sparsity_pattern(lambda z: z * 2, z).nnz)
        except vt.errors.NotSupportedError:
            refused += 1

    def prepare() -> Callable[[], object]:
        def call() -> None:
            assert sparsity_pattern(lambda x: x[1:] * x[:-1], x).nnz == 4

        return call

    def check(over: bool) -> None:
        assert thread.tracer is None
        assert thread.excluded_keys == 0

    assert interrupted_everywhere(prepare, check, handler, step=3) > 100
    assert set(found) == {2}
    assert refused > 0
