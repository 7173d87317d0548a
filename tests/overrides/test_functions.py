"""What ``__torch_function__`` is called for, and with what."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.overrides.logged import Logged, logged, names


def x() -> Logged:
    return logged(vt.tensor([[1.0, 2.0], [3.0, 4.0]]))


plain = vt.ones(2, 2)

OPERATORS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda p: p + 1, "add"),
    (lambda p: 1 + p, "add"),
    (lambda p: plain + p, "add"),
    (lambda p: p - 1, "sub"),
    (lambda p: 1 - p, "rsub"),
    (lambda p: p * p, "mul"),
    (lambda p: p / 2, "div"),
    (lambda p: p**2, "pow"),
    (lambda p: 2**p, "pow"),
    (lambda p: p // 2, "floor_divide"),
    (lambda p: p % 2, "remainder"),
    (lambda p: p @ plain, "matmul"),
    (lambda p: plain @ p, "matmul"),
    (lambda p: -p, "neg"),
    (lambda p: abs(p), "abs"),
    (lambda p: p == plain, "eq"),
    (lambda p: p < 2, "lt"),
    (lambda p: p[0], "Tensor.__getitem__"),
    (lambda p: p.__iadd__(1), "Tensor.add_"),
    (lambda p: p.sum(), "sum"),
    (lambda p: p.max(0), "max"),
    (lambda p: p.reshape(4), "reshape"),
    (lambda p: p.T, "Tensor.T.__get__"),
    (lambda p: p.data, "Tensor.data.__get__"),
    (lambda p: p.to(vt.float64), "Tensor.to"),
    (lambda p: p.detach(), "Tensor.detach"),
    (lambda p: plain.add(p), "add"),
    (lambda p: vt.stack([plain, p]), "stack"),
    (lambda p: vt.where(plain > 0, plain, p), "where"),
    (lambda p: vt.linalg.norm(p), "linalg.norm"),
    (lambda p: vt.quantile(p, 0.5), "quantile"),
    (lambda p: np.sin(p), "sin"),
    (lambda p: np.add(plain, p), "add"),
    (lambda p: plain.to(p), "Tensor.to"),
    (lambda p: plain.type_as(p), "Tensor.type_as"),
    (lambda p: vt.normal(p, plain * 0), "normal"),
]


@pytest.mark.parametrize(("call", "name"), OPERATORS, ids=[name for _, name in OPERATORS])
def test_a_call_is_taken_over_once_and_its_result_is_of_the_class(
    call: Callable[[Any], Any], name: str
) -> None:
    p = x()
    result = call(p)
    assert names() == [name]
    results = result if isinstance(result, tuple) else (result,)
    assert {type(one) for one in results} == {Logged}


def test_the_result_is_that_of_plain_tensors() -> None:
    for call, _ in OPERATORS:
        # A new one each time, because some write.
        given, expected = call(x()), call(vt.tensor([[1.0, 2.0], [3.0, 4.0]]))
        for one, other in zip(
            given if isinstance(given, tuple) else (given,),
            expected if isinstance(expected, tuple) else (expected,),
            strict=True,
        ):
            assert one.tolist() == other.tolist()


def test_what_is_not_a_tensor_is_taken_over_too() -> None:
    p = x()
    assert (p.shape, p.dim(), len(p), p.dtype, p.is_leaf) == ((2, 2), 2, 2, vt.float32, True)
    assert names() == [
        *("Tensor.shape.__get__", "Tensor.dim", "Tensor.__len__"),
        *("Tensor.dtype.__get__", "Tensor.is_leaf.__get__"),
    ]
    assert vt.numel(p) == 4
    assert vt.equal(p, plain) is False
    assert names() == ["numel", "equal"]
    assert repr(p) == "tensor([[1., 2.],\n        [3., 4.]])"
    assert (float(p.sum()), p.tolist()) == (10.0, [[1.0, 2.0], [3.0, 4.0]])
    assert names() == ["Tensor.__repr__", "sum", "Tensor.__float__", "Tensor.tolist"]


def test_writes_are_taken_over_with_what_is_written() -> None:
    p, q = x(), vt.zeros(2, 2)
    p[0] = 7
    q[1] = p[0]
    q += p
    p.requires_grad = False
    assert [
        (name, len(args))
        for name, (_, args, _) in zip(
            ["set", "get", "set", "add_", "grad"], Logged.calls, strict=True
        )
    ] == [("set", 3), ("get", 2), ("set", 3), ("add_", 2), ("grad", 2)]
    assert names() == [
        *("Tensor.__setitem__", "Tensor.__getitem__", "Tensor.__setitem__", "Tensor.add_"),
        "Tensor.requires_grad.__set__",
    ]
    assert q.tolist() == [[7, 7], [10, 11]]


def test_arguments_arrive_as_they_were_passed() -> None:
    p = x()
    array: Any = np.ones((2, 2), np.float32)
    vt.add(p, array, alpha=2)
    vt.sum(p, 0)
    vt.mean(p, dim=1, keepdim=True)
    vt.topk(p, 1)
    add, total, mean, top = Logged.calls
    assert add[1][1] is array
    assert add[2] == {"alpha": 2}
    assert total[1:] == ((p, 0), {})
    assert mean[0] is vt.mean
    assert mean[0](*mean[1], **mean[2]).tolist() == [[1.5], [3.5]]
    assert (top[0], top[1][1:], top[2]) == (vt.topk, (1,), {})


def test_code_of_the_library_is_not_seen() -> None:
    """One call of the user's is one call, whatever the library asks and computes for it."""
    p: Any = x()
    vt.quantile(p, 0.5)
    p.norm()
    assert names() == ["quantile", "norm"]
    p.requires_grad_()
    (p * p).sum().backward()
    assert names() == ["Tensor.requires_grad_", "mul", "sum", "Tensor.backward"]
    assert p.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert type(p.grad) is vt.Tensor


def test_formulas_of_backward_are_not_seen() -> None:
    p: Any = x().requires_grad_()
    loss = (p * p * p).sum()
    Logged.calls.clear()
    (gradient,) = vt.autograd.grad(loss, p, create_graph=True)
    assert names() == []
    assert type(gradient) is vt.Tensor
    (second,) = vt.autograd.grad(gradient.sum(), p)
    assert second.tolist() == [[6.0, 12.0], [18.0, 24.0]]
    node = loss.grad_fn
    Logged.calls.clear()
    node(vt.ones(()))
    assert names() == []


def test_backward_of_a_function_is_seen() -> None:
    class Square(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (saved,) = ctx.saved_tensors
            return 2 * saved * gradient

    p: Any = x().requires_grad_()
    Logged.calls.clear()
    loss = Square.apply(p).sum()
    assert names() == ["mul", "sum"]
    loss.backward()
    assert names() == ["Tensor.backward", "mul", "mul"]
    assert p.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_an_index_takes_over() -> None:
    p = x()
    found = plain[p > 1]
    assert names() == ["gt", "Tensor.__getitem__"]
    assert found.tolist() == [1, 1, 1]


def test_functions_of_numpy_give_what_they_give_for_plain_tensors() -> None:
    total: Any = np.sum(x())
    assert float(total) == 10.0
    assert np.asarray(x()).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_function_that_was_stored_before_is_taken_over() -> None:
    from_before = vt.sin

    class Own(vt.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, *_: Any) -> Any:
            return func

    own: Any = plain.as_subclass(Own)
    assert from_before(own) is vt.sin
    assert own.reshape(4) is vt.reshape


def test_copies_and_pickles_are_of_the_class() -> None:
    p = x()
    for made in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p))):
        Logged.calls.clear()
        result = made + 1
        assert names() == ["add"]
        assert type(made) is type(result) is Logged


def test_a_checkpoint_runs_again_with_the_class() -> None:
    p = x().requires_grad_()
    Logged.calls.clear()
    for reentrant in (False, True):
        y = vt.utils.checkpoint.checkpoint(lambda t: t.exp().sum(), p, use_reentrant=reentrant)
        assert names() == ["exp", "sum"]
        y.backward()
        # One of them stops when all saved values are there.
        again = ["exp", "sum"] if reentrant else ["exp"]
        assert names() == ["Tensor.backward", *again]


class Tripled(vt.Tensor):
    """Its sines are three times too large."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result: Any = super().__torch_function__(func, types, args, kwargs)
        with vt.overrides.DisableTorchFunctionSubclass():
            return (result * 3).as_subclass(cls) if func is vt.sin else result


def test_a_loop_of_checkpoints_runs_again_with_the_class() -> None:
    def gradient(run: Callable[[Any], Any]) -> tuple[type, Any]:
        leaf = vt.tensor([1.0, 2.0], requires_grad=True)
        result = run((leaf * 1).as_subclass(Tripled))
        vt.autograd.backward(result.sum())
        return type(result), leaf.grad

    def in_a_row(x: Any) -> Any:
        for _ in range(6):
            x = vt.sin(x)
        return x

    def in_a_loop(x: Any) -> Any:
        return vt.utils.checkpoint.checkpoint_loop(vt.sin, x, 6, snapshots=2)

    (expected_class, expected), (found_class, found) = gradient(in_a_row), gradient(in_a_loop)
    assert expected_class is found_class is Tripled
    assert found.tolist() == expected.tolist()


def test_a_replay_gives_the_class_and_refuses_arguments_of_it() -> None:
    def double(x: Any) -> Any:
        return x.as_subclass(Logged) * 2

    traced = vt.jit.trace(double, plain)
    assert type(traced(plain)) is type(double(plain)) is Logged
    with pytest.raises(vt.errors.RecordingError, match="__torch_function__"):
        vt.jit.trace(double, x())


def test_what_is_asked_of_a_plain_tensor_and_another_is_taken_over() -> None:
    p = x()
    assert plain.is_same_size(p)
    vt.zeros(5)[p.long()] = 1
    assert names() == ["Tensor.is_same_size", "Tensor.long", "Tensor.__setitem__"]


def test_plain_tensors_have_no_torch_function() -> None:
    """Functions of PyTorch would call it."""

    class Own(vt.Tensor):
        pass

    assert not hasattr(vt.Tensor, "__torch_function__")
    assert not hasattr(plain.as_subclass(Own), "__torch_function__")
    assert hasattr(x(), "__torch_function__")


def test_a_view_shares_memory_and_versions() -> None:
    q = vt.zeros(2, 2)
    p = logged(q)
    p[0].add_(1)
    assert q.tolist() == [[1, 1], [0, 0]]
    assert q._version == 1
    leaf = vt.zeros(2, requires_grad=True)
    whole = leaf.clone()
    part = logged(whole)
    part.mul_(3)
    whole.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [3, 3]


def test_a_constructor_of_the_class_takes_over() -> None:
    p = Logged([1.0, 2.0])
    Logged.calls.clear()
    assert type(p + 1) is Logged
    assert names() == ["add"]


def test_parameters_are_made_by_make_subclass() -> None:
    class Weight(Logged):
        def __new__(cls, data: vt.Tensor) -> Weight:
            return vt.Tensor._make_subclass(cls, data, require_grad=True)

        def __init__(self, data: vt.Tensor) -> None:
            pass

    data = vt.ones(2)
    weight = Weight(data)
    assert (weight.is_leaf, weight.requires_grad, weight.data_ptr()) == (
        True,
        True,
        data.data_ptr(),
    )
    assert type(weight * 2) is Weight
    wrong: list[tuple[Any, Any]] = [(int, data), (Weight, 3)]
    for cls, tensor in wrong:
        with pytest.raises(TypeError):
            vt.Tensor._make_subclass(cls, tensor)


def test_a_class_that_makes_its_tensors_in_new_needs_no_init() -> None:
    class Weight(vt.Tensor):
        def __new__(cls, data: vt.Tensor, name: str) -> Weight:
            return vt.Tensor._make_subclass(cls, data)

    data = vt.ones(2)
    weight = Weight(data, "bias")
    weight.mul_(3)
    assert type(weight) is Weight
    assert data.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match="second time"):
        vt.Tensor.__init__(data, [1.0])


def test_methods_of_the_class_stay_its_own() -> None:
    class Above(vt.Tensor):
        def sum(self, *args: Any, **kwargs: Any) -> Any:
            return "own"

        @property
        def T(self) -> Any:
            return "own"

    class Own(Above):
        @classmethod
        def __torch_function__(cls, func: Any, *_: Any) -> Any:
            return "taken over"

        def exp(self, **kwargs: Any) -> Any:
            return super().exp(**kwargs)

    own: Any = plain.as_subclass(Own)
    assert (own.sum(), own.T, own.exp(), own.mT) == ("own", "own", "taken over", "taken over")
