"""An interrupted `gradcheck` leaves its inputs as they were.

What breaks it: an input that is changed before ``try``, or brought back by a call.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt

from .interrupting import NEEDS_TRACE, interrupted_everywhere

pytestmark = pytest.mark.slow


@NEEDS_TRACE
@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("dtype", [vt.float64, vt.complex128])
def test_inputs_move_back(dtype: vt.dtype, fast_mode: bool) -> None:
    x = vt.tensor([1.0], dtype=dtype, requires_grad=True)

    def prepare() -> Callable[[], object]:
        return lambda: vt.autograd.gradcheck(vt.neg, x, fast_mode=fast_mode)

    def check(over: bool) -> None:
        assert x.tolist() == [1]
        assert x._version == 0
        assert x.grad is None
        assert vt.is_grad_enabled()

    assert interrupted_everywhere(prepare, check) > 50
