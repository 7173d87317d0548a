"""Writes that no counter sees, found by fingerprints.

What breaks it: a fingerprint that is taken too late, of the wrong bytes, or compared with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.autograd.graph import allow_mutation_on_saved_tensors, set_audit
from vtgrad.errors import StaleSavedError, UnseenWriteError


@pytest.fixture(autouse=True)
def audited() -> Iterator[None]:
    """Audit is on, and off again after each test."""
    with set_audit(True):
        yield


SECRET: dict[str, Callable[[vt.Tensor], object]] = {
    "numpy": lambda x: x.detach().numpy().__setitem__(1, 9.0),
    "data": lambda x: x.data.mul_(2),
    "data of a part": lambda x: x[2:].data.zero_(),
    "other data": lambda x: setattr(x, "data", vt.zeros(4)),
}


@pytest.mark.parametrize("write", SECRET.values(), ids=SECRET)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_write_that_no_counter_sees_is_found_before_anything_ran(
    write: Callable[[vt.Tensor], object], create_graph: bool
) -> None:
    x, w = vt.ones(4), vt.ones(4, requires_grad=True)
    y = (w * x).sin().sum()
    write(x)
    with pytest.raises(UnseenWriteError, match="did not pass through the library") as caught:
        vt.autograd.grad(y, w, create_graph=create_graph)
    assert caught.value.kind == "unseen-write"
    assert caught.value.facts["node"] == "MulBackward0"


def test_the_source_of_from_numpy() -> None:
    source = np.ones(4, np.float32)
    w = vt.ones(4, requires_grad=True)
    y = (w * vt.from_numpy(source)).sum()
    source[0] = 5.0
    with pytest.raises(UnseenWriteError):
        y.backward()
    assert w.grad is None


def test_a_saved_result_and_strided_values() -> None:
    a = vt.ones(4, 4, requires_grad=True)
    y = a.exp()
    z = y.t()[1:, ::2].sin()
    y.detach().numpy()[0, 1] = 7.0
    with pytest.raises(UnseenWriteError):
        z.sum().backward()
    with pytest.raises(UnseenWriteError, match="ExpBackward0"):
        y.sum().backward()


def test_a_write_beside_the_saved_part_is_no_change() -> None:
    x, w = vt.ones(4), vt.ones(2, requires_grad=True)
    y = (w * x[:2]).sum()
    x.numpy()[3] = 5.0
    x[2] = 4.0
    y.backward()
    assert w.grad is not None


def test_what_the_library_has_written_is_reported_as_before() -> None:
    x, w = vt.ones(4), vt.ones(4, requires_grad=True)
    y = (w * x).sum()
    x[1] = 5.0
    with pytest.raises(StaleSavedError):
        y.backward()


def test_an_attribute_of_the_context_of_a_custom_function() -> None:
    class Keeps(vt.autograd.Function):
        factor: vt.Tensor

        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            ctx.factor = x.detach() * 2  # type: ignore[attr-defined]  # any name may be stored
            return x * 2

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, g: vt.Tensor) -> vt.Tensor:
            factor: vt.Tensor = ctx.factor  # type: ignore[attr-defined]  # as above
            return g * factor

    a = vt.ones(2, requires_grad=True)
    y = Keeps.apply(a)
    assert y.grad_fn is not None
    y.sum().backward(retain_graph=True)
    y.grad_fn.factor.zero_()  # type: ignore[attr-defined]  # as above
    with pytest.raises(UnseenWriteError, match=r"kept as ctx\.factor"):
        y.sum().backward()


def test_what_rewind_restores_is_compared_too() -> None:
    x, w = vt.ones(4), vt.ones(4, requires_grad=True)
    with allow_mutation_on_saved_tensors():
        y = (w * x).sum()
        x.mul_(2)
    (grad,) = vt.autograd.grad(y, w, retain_graph=True)
    assert grad.tolist() == [1.0] * 4
    with allow_mutation_on_saved_tensors():
        z = (w * x).sum()
        x.numpy()[0] = 8.0
        x[1] = 3.0
    with pytest.raises(UnseenWriteError):
        z.backward()


def test_lock_lets_the_line_that_writes_raise() -> None:
    source = np.ones(4, np.float32)
    with set_audit("lock"):
        x, w = vt.from_numpy(source), vt.ones(4, requires_grad=True)
        early = x.numpy()
        y = (w * x).sum()
        late = x.numpy()
        for array in (source, early, late):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 5.0
        # The library itself may write, and says so.
        x[3] = 2.0
        with pytest.raises(StaleSavedError):
            y.backward()
        del y
    for array in (source, early, late):
        array[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 1.0, 2.0]


def test_only_the_three_modes_are_taken() -> None:
    for mode in ("on", 2, None):
        with pytest.raises(ValueError, match="set_audit takes"):
            set_audit(mode)  # type: ignore[arg-type]  # on purpose
