"""What the function gets, what it may write, and what results are connected to."""

from __future__ import annotations

from typing import Any, cast

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.autograd.function import once_differentiable
from vtgrad.errors import (
    IndependentError,
    InferenceModeError,
    LeafWriteError,
    NoDerivativeError,
    NotSupportedError,
    OptionValueError,
    TransformArgumentError,
)
from vtgrad.graph.thread_levels import thread

# Of any type, as their arguments and results are.
FUNCTIONAL: Any = vt.autograd.functional
hessian = FUNCTIONAL.hessian
hvp = FUNCTIONAL.hvp
jacobian = FUNCTIONAL.jacobian
jvp = FUNCTIONAL.jvp
vhp = FUNCTIONAL.vhp
vjp = FUNCTIONAL.vjp

X = ramp(3)


def _one(found: object) -> vt.Tensor:
    assert isinstance(found, vt.Tensor)
    return found


def running(x: vt.Tensor) -> vt.Tensor:
    """x0**2, x0 x1, x1 x2, each times its own x: written in place, in pieces."""
    out = vt.zeros(3, dtype=vt.float64)
    out[0] = x[0] ** 2
    out[1:] = x[:-1] * x[1:]
    out.mul_(x)
    return out


# x0**3, x0 x1**2, x1 x2**2
RUNNING = [[3.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 9.0, 12.0]]


def test_functions_may_write_to_what_they_make_and_to_clones() -> None:
    def doubled_in_place(x: vt.Tensor) -> vt.Tensor:
        y = x.clone()
        y[::2].mul_(y[::2].clone())
        return y.add_(x)

    assert _one(jacobian(running, X)).tolist() == RUNNING
    assert _one(jacobian(doubled_in_place, X)).diagonal().tolist() == [3.0, 2.0, 7.0]
    v = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)
    assert _one(vjp(running, X, v)[1]).tolist() == [43.0, 940.0, 1200.0]
    assert _one(jvp(running, X, v)[1]).tolist() == [3.0, 44.0, 1290.0]


def test_the_function_gets_a_leaf_on_the_same_memory_once() -> None:
    seen: list[vt.Tensor] = []

    def f(x: vt.Tensor) -> vt.Tensor:
        seen.append(x)
        return x * x

    x = ramp(3)
    jacobian(f, x)
    (inner,) = seen
    assert (inner is x, inner.data_ptr() == x.data_ptr()) == (False, True)
    assert (inner.is_leaf, inner.requires_grad, inner.grad, x.requires_grad) == (
        True,
        True,
        None,
        False,
    )


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_argument_may_not_be_written(create_graph: bool) -> None:
    expected = LeafWriteError if not create_graph else TransformArgumentError
    for x in (ramp(3), ramp(3).requires_grad_(), ramp(3).requires_grad_() * 1):
        connected = create_graph and x.requires_grad
        for write in (lambda a: a.mul_(2), lambda a: a[1:].mul_(2)):
            kind = expected if connected else RuntimeError
            with pytest.raises(kind):
                jacobian(write, x, create_graph=create_graph)
        assert x.tolist() == [1.0, 2.0, 3.0]


def test_a_captured_buffer_may_be_written() -> None:
    buffer = vt.zeros(3, dtype=vt.float64)

    def f(x: vt.Tensor) -> vt.Tensor:
        buffer.copy_(x * x)
        return buffer * 1

    assert _one(jacobian(f, X)).diagonal().tolist() == [2.0, 4.0, 6.0]
    # What it computed stays in it, and does not make later results require grad.
    assert buffer.tolist() == [1.0, 4.0, 9.0]
    found = _one(vt.func.grad(lambda x: (x * buffer).sum())(X))
    assert (found.tolist(), found.requires_grad) == ([1.0, 4.0, 9.0], False)


def test_results_are_constants_without_create_graph() -> None:
    x, w = ramp(3).requires_grad_(), ramp(3).requires_grad_()

    def f(a: vt.Tensor) -> vt.Tensor:
        return a * a * w

    def s(a: vt.Tensor) -> vt.Tensor:
        return f(a).sum()

    for recording in (True, False):
        with vt.set_grad_enabled(recording):
            found = [jacobian(f, x), *vjp(f, x, X), *jvp(f, x, X), hessian(s, x)]
            found += [*vhp(s, x, X), *hvp(s, x, X)]
        assert [_one(t).requires_grad for t in found] == [False] * 10
    assert (x.grad, w.grad) == (None, None)


def test_with_create_graph_results_lead_to_inputs_and_captured_tensors() -> None:
    x, w = ramp(3).requires_grad_(), ramp(3).requires_grad_()
    found = _one(jacobian(lambda a: a**2 * w, x, create_graph=True))
    by_x, by_w = vt.autograd.grad(found.sum(), (x, w))
    assert (by_x.tolist(), by_w.tolist()) == ([2.0, 4.0, 6.0], [2.0, 4.0, 6.0])
    product = _one(hvp(lambda a: (a**3 * w).sum(), x, X, create_graph=True)[1])
    assert vt.autograd.grad(product.sum(), x)[0].tolist() == [6.0, 24.0, 54.0]
    assert (x.grad, w.grad) == (None, None)


def test_the_jacobian_of_a_linear_function_is_a_constant() -> None:
    x = ramp(3).requires_grad_()
    assert not _one(jacobian(lambda a: a * 2, x, create_graph=True)).requires_grad
    with pytest.raises(IndependentError, match="cannot be differentiated again"):
        jacobian(lambda a: a * 2, x, create_graph=True, strict=True)


def test_strict_refuses_what_does_not_depend() -> None:
    for f in (lambda a, b: a * 2, lambda a, b: X, lambda a, b: a.detach() * b.detach()):
        for compute, vector in ((jacobian, ()), (vjp, (X,)), (jvp, ((X, X),))):
            with pytest.raises(IndependentError, match="does not depend on input"):
                compute(f, (X, X), *vector, strict=True)
    for compute in (hessian, vhp, hvp):
        extra = {} if compute is hessian else {"v": X}
        with pytest.raises(IndependentError):
            compute(lambda a: a.sum(), X, strict=True, **extra)
        zeros = compute(lambda a: a.sum(), X, **extra)
        last = zeros if compute is hessian else zeros[1]
        assert not vt.count_nonzero(last)
    # Linear in its input, which is all that jvp asks.
    assert _one(jvp(lambda a: a * 2, X, X, strict=True)[1]).tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(IndependentError):
        jvp(lambda a: a * 2, X, X, strict=True, create_graph=True)


def test_parts_of_the_inputs_that_are_unused_have_zeros() -> None:
    found = cast("tuple[tuple[vt.Tensor, ...], ...]", hessian(lambda a, b: (a**3).sum(), (X, X)))
    assert [[bool(vt.count_nonzero(block)) for block in row] for row in found] == [
        [True, False],
        [False, False],
    ]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"vectorize": True, "strict": True}, OptionValueError),
        ({"strategy": "sideways"}, OptionValueError),
        ({"strategy": "forward-mode"}, NotSupportedError),
        ({"strategy": "forward-mode", "vectorize": True, "strict": True}, OptionValueError),
        ({"strategy": "forward-mode", "vectorize": True, "create_graph": True}, NotSupportedError),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: dict[str, object], error: type[Exception]
) -> None:
    called: list[vt.Tensor] = []
    with pytest.raises(error):
        jacobian(called.append, X, **options)
    if "strategy" in options:
        options = {**options, "outer_jacobian_strategy": options["strategy"]}
        del options["strategy"]
    with pytest.raises(error):
        hessian(called.append, X, **options)
    assert called == []


def test_a_backward_that_has_no_derivative_is_refused_by_jvp() -> None:
    class Cube(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @once_differentiable
        def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
            (x,) = ctx.saved_tensors
            assert x is not None
            return 3 * x**2 * grad

    assert _one(vjp(Cube.apply, X, X)[1]).tolist() == [3.0, 24.0, 81.0]
    with pytest.raises(NoDerivativeError):
        jvp(Cube.apply, X, X)


def test_inference_mode_is_refused_because_it_records_nothing() -> None:
    with vt.inference_mode(), pytest.raises(InferenceModeError, match="inference_mode"):
        jacobian(lambda x: x * x, X)


def test_modes_and_the_level_are_as_before_after_an_error() -> None:
    def fail(x: vt.Tensor) -> vt.Tensor:
        assert vt.is_grad_enabled()
        assert thread.reverse_level > 0
        raise KeyError("x")

    with vt.no_grad():
        with pytest.raises(KeyError):
            jacobian(fail, X)
        assert not vt.is_grad_enabled()
    assert (vt.is_grad_enabled(), thread.reverse_level) == (True, 0)
