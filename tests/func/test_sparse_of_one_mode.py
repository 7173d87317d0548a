"""Functions whose derivatives in forward mode are not those in reverse mode.

The number of colours must not decide which derivatives the matrix has. What breaks it: something
that only tangents follow, or only gradients meet, which the run that finds the pattern overlooks.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import NotSupportedError, TransformError
from vtgrad.func import sparse_jacobian, sparsity_pattern

Function: TypeAlias = Callable[[vt.Tensor], vt.Tensor]

weights = vt.ones(3, requires_grad=True)


def write_unrecorded(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    with vt.no_grad():
        y[0] = x[0] * x[0] * 5
    return y * 2


def scale_in_place_unrecorded(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    with vt.no_grad():
        y[1:].mul_(3.0)
    return y * 2


def overwrite_unrecorded(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    with vt.no_grad():
        y.zero_()
    return y * x


def scale_unrecorded(x: vt.Tensor) -> vt.Tensor:
    with vt.no_grad():
        scale = x[0].exp()
    return x * scale


def hook_tensor(x: vt.Tensor) -> vt.Tensor:
    y = x * weights
    y.register_hook(lambda grad: grad * 10)
    return y * 1


def hook_node(x: vt.Tensor) -> vt.Tensor:
    y = x * weights
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    return y * 1


def hook_node_afterwards(x: vt.Tensor) -> vt.Tensor:
    y = x * weights
    assert y.grad_fn is not None
    y.grad_fn.register_hook(lambda outgoing, _: (outgoing[0] * 10, outgoing[1]))
    return y * 1


OF_ONE_MODE: Final[list[Function]] = [
    write_unrecorded,
    scale_in_place_unrecorded,
    overwrite_unrecorded,
    scale_unrecorded,
    hook_tensor,
    hook_node,
    hook_node_afterwards,
]


def detached_scale(x: vt.Tensor) -> vt.Tensor:
    with vt.no_grad():
        scale = x.detach()[0].exp()
    return x * scale


def detached_write(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    y.detach().mul_(2.0)
    return y * y


def data_write(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    y.data.mul_(3.0)
    return y * y


def compared(x: vt.Tensor) -> vt.Tensor:
    with vt.no_grad():
        large = x > 1.5
    return vt.where(large, x * x, x)


class Rounded(vt.autograd.Function):
    """Passes gradients and tangents straight on, though neither is the derivative."""

    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return x.round()

    @staticmethod
    def setup_context(ctx: object, inputs: object, output: object) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: object, grad: vt.Tensor) -> vt.Tensor:
        return grad * 1

    @staticmethod
    def jvp(ctx: object, tangent: vt.Tensor) -> vt.Tensor:
        return tangent * 1


def own_derivative(x: vt.Tensor) -> vt.Tensor:
    found: vt.Tensor = Rounded.apply(x * 2)
    return found


class Doubled(vt.autograd.Function):
    """Computes with what depends on the inputs, where nothing is recorded."""

    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return (x * 1).mul_(2)

    @staticmethod
    def setup_context(ctx: object, inputs: object, output: object) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: object, grad: vt.Tensor) -> vt.Tensor:
        return grad * 2

    @staticmethod
    def jvp(ctx: object, tangent: vt.Tensor) -> vt.Tensor:
        return tangent * 2


def own_derivative_of_operators(x: vt.Tensor) -> vt.Tensor:
    found: vt.Tensor = Doubled.apply(x * x)
    return found


OF_BOTH: Final[list[Function]] = [
    detached_scale,
    detached_write,
    data_write,
    compared,
    own_derivative,
    own_derivative_of_operators,
]


def with_a_sum(function: Function) -> Function:
    """One more output, which depends on all inputs, so that reverse mode needs fewer passes."""
    return lambda x: vt.cat([found := function(x), found.sum().reshape(1)])


def dense(function: Function, **options: object) -> np.ndarray:
    x = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)
    return sparse_jacobian(function, x, **options).toarray()  # type: ignore[call-overload, no-any-return]  # options of all kinds


@pytest.mark.parametrize("function", OF_ONE_MODE)
def test_a_mode_must_be_said(function: Function) -> None:
    for one in (function, with_a_sum(function)):
        with pytest.raises(TransformError, match=r"differ by mode \(.*test_sparse_of_one_mode"):
            dense(one)
        for mode in ("forward", "reverse"):
            assert np.array_equal(
                dense(one, mode=mode, chunk_size=1)[:3], dense(function, mode=mode, chunk_size=1)
            )
    forward, reverse = [dense(function, mode=m, chunk_size=1) for m in ("forward", "reverse")]
    assert not np.array_equal(forward, reverse)


@pytest.mark.parametrize("function", OF_BOTH)
def test_the_mode_does_not_matter(function: Function) -> None:
    found = dense(function, chunk_size=1)
    for one in (function, with_a_sum(function)):
        for mode in ("auto", "forward", "reverse"):
            assert np.array_equal(dense(one, mode=mode, chunk_size=1)[:3], found)


@pytest.mark.parametrize("by_node", [False, True])
def test_a_hook_that_the_run_for_the_pattern_does_not_register_is_found(by_node: bool) -> None:
    def guarded(x: vt.Tensor) -> vt.Tensor:
        y = x * x
        if by_node and y.grad_fn is not None:
            y.grad_fn.register_prehook(lambda grads: (grads[0] * 5,))
        elif y.requires_grad:
            y.register_hook(lambda grad: grad * 5)
        return y * 1

    # In forward mode nothing requires grad, so there is no hook.
    assert np.array_equal(np.diag(dense(guarded)), [2, 4, 6])
    with pytest.raises(TransformError, match="differ by mode"):
        dense(with_a_sum(guarded))
    assert np.array_equal(np.diag(dense(with_a_sum(guarded), mode="reverse")), [10, 20, 30])


def test_a_hook_is_found_although_the_input_is_written_afterwards() -> None:
    def writes(x: vt.Tensor) -> vt.Tensor:
        y = x * 2
        if y.requires_grad:
            y.register_hook(lambda grad: grad * 5)
        return x.mul_(3) * 0 + y

    with pytest.raises(TransformError, match="differ by mode"):
        dense(with_a_sum(writes))


def test_hooks_of_tensors_from_outside_do_not_count() -> None:
    hooked = (weights * 2).requires_grad_()
    handle = hooked.register_hook(lambda grad: grad)
    assert np.array_equal(np.diag(dense(with_a_sum(lambda x: x * hooked))), [2, 2, 2])
    handle.remove()


def test_a_pattern_remembers_it() -> None:
    x = vt.tensor([1.0, 2.0, 3.0])
    pattern = sparsity_pattern(write_unrecorded, x)
    assert pattern.of_one_mode is not None
    with pytest.raises(TransformError, match="differ by mode"):
        sparse_jacobian(write_unrecorded, x, pattern=pattern)
    assert sparsity_pattern(data_write, x).of_one_mode is None


@pytest.mark.parametrize("accumulate", [False, True])
def test_put_of_one_element_beside_an_index_without_dimensions(accumulate: bool) -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        return x.put(vt.tensor(1), x[:1], accumulate=accumulate)

    expected = np.eye(3) + [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    if not accumulate:
        expected[1, 1] = 0
    for mode in ("forward", "reverse"):
        assert np.array_equal(dense(function, mode=mode), expected)


def test_as_many_dimensions_as_numpy_has_are_refused() -> None:
    x = vt.ones((1,) * 63 + (2,))
    with pytest.raises(NotSupportedError, match="64 dimensions"):
        sparse_jacobian(lambda y: y * y, x)
    with pytest.raises(NotSupportedError, match="64 dimensions"):
        sparse_jacobian(lambda y: y.reshape(x.shape) * 2, vt.ones(2))


def test_no_grad_around_the_call_changes_nothing() -> None:
    x = vt.tensor([1.0, 2.0])
    with vt.no_grad():
        assert sparse_jacobian(lambda y: y * y, x).toarray().tolist() == [[2, 0], [0, 4]]
