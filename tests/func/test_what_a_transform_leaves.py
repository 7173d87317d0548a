"""What a transform leaves in the tensors that its function captures: values, and nothing else.

See Note [What a transform leaves behind]. The sweep counts objects after many calls.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad import func
from vtgrad.autograd import forward_ad, functional
from vtgrad.graph.forward_grad import ForwardGrad
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.storage.tensor_base import TensorBase

Function = Callable[[vt.Tensor], vt.Tensor]


def _in_level(f: Function, x: vt.Tensor) -> object:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, vt.ones(3))))


TRANSFORMS: dict[str, Callable[[Function, vt.Tensor], object]] = {
    "grad": lambda f, x: func.grad(lambda a: f(a).sum())(x),
    "grad_and_value": lambda f, x: func.grad_and_value(lambda a: f(a).sum())(x),
    "vjp": lambda f, x: func.vjp(f, x)[1](x),
    "linearize": lambda f, x: func.linearize(f, x)[1](x),
    "jvp": lambda f, x: func.jvp(f, (x,), (x,)),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "hessian": lambda f, x: func.hessian(lambda a: f(a).sum())(x),
    "grad of grad": lambda f, x: func.grad(lambda b: func.grad(lambda a: f(a).sum())(b).sum())(x),
    "grad of vmap": lambda f, x: func.grad(lambda a: vt.vmap(lambda s: s * f(a))(vt.ones(2)).sum())(
        x
    ),
    "vmap": lambda f, x: vt.vmap(lambda s: s * f(x))(vt.ones(2)),
    "jacobian": lambda f, x: functional.jacobian(f, x),
    "functional.hessian": lambda f, x: functional.hessian(lambda a: f(a).sum(), x),
    "functional.vjp": lambda f, x: functional.vjp(f, x, x),
    "functional.jvp": lambda f, x: functional.jvp(f, x, x),
    "hvp": lambda f, x: functional.hvp(lambda a: f(a).sum(), x, x),
    "vhp": lambda f, x: functional.vhp(lambda a: f(a).sum(), x, x),
    "dual_level": _in_level,
}


def _whole(t: vt.Tensor, x: vt.Tensor) -> None:
    t.copy_(x * 2)


def _part(t: vt.Tensor, x: vt.Tensor) -> None:
    t[0] = x[1] * 2


def _through_a_view(t: vt.Tensor, x: vt.Tensor) -> None:
    t[1:].mul_(x[0])


def _twice(t: vt.Tensor, x: vt.Tensor) -> None:
    t.mul_(x).clamp_(-2, 2)


def _only_read(t: vt.Tensor, x: vt.Tensor) -> None:
    pass


WRITES = [_whole, _part, _through_a_view, _twice, _only_read]


def _plain() -> tuple[vt.Tensor, ...]:
    return (vt.zeros(3),)


def _a_view() -> tuple[vt.Tensor, ...]:
    base = vt.zeros(6)
    return base[::2], base


def _with_a_sister() -> tuple[vt.Tensor, ...]:
    t = vt.zeros(3)
    return t, t[1:]


CAPTURED = [_plain, _a_view, _with_a_sister]


def _living() -> int:
    gc.collect()
    kinds = (Node, SavedVariable, ForwardGrad, TensorBase)
    return sum(isinstance(thing, kinds) for thing in gc.get_objects())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_captured_tensors_keep_no_graph(name: str) -> None:
    # All writes of one transform together, since most of the time is spent in the two counts.
    programs = [_capturing(write) for write in WRITES]
    x = vt.tensor([0.5, 1.0, 1.5])

    def call(times: int) -> int:
        for f, _ in programs:
            for _ in range(times):
                TRANSFORMS[name](f, x)
        return _living()

    before = call(3)
    assert call(20) <= before
    for _, captured in programs:
        for tensor in captured:
            assert not tensor.requires_grad
            assert tensor.grad_fn is None


def _capturing(
    write: Callable[[vt.Tensor, vt.Tensor], None],
) -> tuple[Function, list[vt.Tensor]]:
    """A function that overwrites what it captures, and all that it captures."""
    captured = [make() for make in CAPTURED]

    def f(a: vt.Tensor) -> vt.Tensor:
        total = a * a
        for own in captured:
            write(own[0], a)
            total = total + own[0] * a
            for sister in own[1:]:
                total = total + sister.sum()
        return total

    return f, [tensor for own in captured for tensor in own]


def test_a_thousand_calls_leave_as_many_objects_as_one() -> None:
    t, x = vt.zeros(3), vt.ones(3)
    gradient = func.grad(lambda a: (t.copy_(a * 2) * a).sum())

    def objects(times: int) -> int:
        for _ in range(times):
            gradient(x)
        gc.collect()
        return len(gc.get_objects())

    before = objects(10)
    assert objects(1000) <= before + 20
    assert gradient(x).tolist() == [4.0] * 3


def test_a_tensor_that_depends_on_the_callers_keeps_its_history() -> None:
    w = vt.tensor([1.0, 2.0], requires_grad=True)
    t = vt.zeros(2)
    func.grad(lambda a: (t.copy_(a * w) * a).sum())(vt.ones(2))
    assert t.requires_grad
    assert vt.autograd.grad(t.sum(), w)[0].tolist() == [1.0, 1.0]


def test_the_outer_transform_differentiates_through_it() -> None:
    def outer(b: vt.Tensor) -> vt.Tensor:
        def inner(a: vt.Tensor) -> vt.Tensor:
            t.copy_(a * b)
            return t.sum()

        func.grad(inner)(b)
        assert t.requires_grad
        return (t * t).sum()

    t = vt.zeros(2)
    # The inner argument is a view of b, so that t is b * b.
    assert func.grad(outer)(vt.tensor([1.0, 2.0])).tolist() == [4.0, 32.0]
    assert not t.requires_grad


def test_an_exception_leaves_no_history_either() -> None:
    t, view = vt.zeros(3), vt.zeros(6)[::2]

    def f(a: vt.Tensor) -> vt.Tensor:
        t.add_(a)
        view.add_(a)
        raise ZeroDivisionError

    for transform in (func.grad, func.jacrev, func.hessian):
        with pytest.raises(ZeroDivisionError):
            transform(f)(vt.ones(3))
        assert not t.requires_grad
        assert not view.requires_grad
    assert t.tolist() == [3.0] * 3


def test_what_vjp_and_linearize_return_still_uses_the_saved_value() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        t.copy_(a * 2)
        return t * t * a  # 4 a**3

    t, x = vt.zeros(2), vt.tensor([1.0, 2.0])
    _, pull = func.vjp(f, x)
    _, push = func.linearize(f, x)
    assert push(vt.ones(2)).tolist() == [12.0, 48.0]
    _, pull = func.vjp(f, x)
    assert pull(vt.ones(2))[0].tolist() == [12.0, 48.0]
    # Recorded: the saved tensor has its history, though the tensor itself has none any more.
    w = vt.tensor([1.0, 2.0])
    second = func.grad(lambda a: func.vjp(f, a)[1](vt.ones(2))[0].sum())(w)
    assert second.tolist() == [24.0, 48.0]


def test_audit_takes_it_for_no_detached_tensor() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        t.copy_(a * 2)
        return t * t

    t = vt.zeros(2)
    with vt.autograd.graph.set_audit(True):
        _, pull = func.vjp(f, vt.tensor([1.0, 2.0]))
        assert pull(vt.ones(2))[0].tolist() == [8.0, 16.0]


@pytest.mark.parametrize("connected", [False, True])
def test_pull_belongs_to_the_results_as_they_were_returned(connected: bool) -> None:
    t = vt.zeros(2)
    x = vt.tensor([1.0, 2.0], requires_grad=connected)
    _, pull = func.vjp(lambda a: t.copy_(a * 2), x)
    t.zero_()
    assert pull(vt.ones(2))[0].tolist() == [2.0, 2.0]
    out, pull = func.vjp(lambda a: a * 3, x)
    out.zero_()
    assert pull(vt.ones(2))[0].tolist() == [3.0, 3.0]
