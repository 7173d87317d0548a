"""Gradients through `vmap`, for each sample, and of batched gradients."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, fn_name, grad_list, leaf, ramp, refused, vt

vmap: Any = vt.vmap
func: Any = vt.func


# -- through vmap -----------------------------------------------------------------------------


def test_gradients_go_through_to_arguments_and_captured_tensors() -> None:
    x, w = leaf(2, 3), leaf(3)
    vmap(lambda a: a * w)(x).sum().backward()
    assert grad_list(x) == [[1, 2, 3], [1, 2, 3]]
    assert grad_list(w) == [5, 7, 9]


@differs_from_torch("a sample requires no grad there, if only an outer transform asks")
def test_a_sample_says_that_it_requires_grad() -> None:
    def function(a: vt.Tensor) -> vt.Tensor:
        assert a.requires_grad
        assert fn_name(a * 2) == "MulBackward0"
        return a

    vmap(function)(leaf(2, 3))


def test_writes_to_samples_obey_the_rules_for_leaves_and_views() -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.mul_(2))(leaf(2, 3))
    y = leaf(2, 3) * 1
    assert vmap(lambda a: a.mul_(2))(y) is y
    assert fn_name(y) == "MulBackward0"
    vmap(lambda a: a[1:].mul_(2))(y)
    assert fn_name(y) == "CopySlices"
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.unbind()[0].mul_(2))(y)


def test_what_is_refused_inside() -> None:
    w, x = leaf(3), ramp(2, 3)
    for function in (
        lambda a: vt.autograd.grad((a * w).sum(), w)[0],
        lambda a: (a * w).sum().backward(),
        lambda a: a.requires_grad_(),
    ):
        with pytest.raises(RuntimeError):
            vmap(function)(x)
    assert w.grad is None


@differs_from_torch("its operators do not record inside")
def test_grad_by_a_sample_inside() -> None:
    found = vmap(lambda a: vt.autograd.grad((a**2).sum(), a)[0])(leaf(2, 3))
    assert found.tolist() == [[2, 4, 6], [8, 10, 12]]


# -- for each sample --------------------------------------------------------------------------


def loss(w: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
    return ((w * x).sum() - 1) ** 2


def test_gradients_for_each_sample() -> None:
    w, x = leaf(2), ramp(2, 2)
    # w x - 1 is 4 and 10.
    found = vmap(func.grad(loss), in_dims=(None, 0))(w, x)
    assert found.tolist() == [[8, 16], [60, 80]]
    # They stay differentiable: d/dw of sum(2 (w x - 1) x) is 2 (x1 + x2) x.
    found.sum().backward()
    assert grad_list(w) == [48, 68]


def test_has_aux_and_grad_and_value_have_a_batch() -> None:
    w, x = ramp(2), ramp(2, 2)
    found, aux = vmap(
        func.grad(lambda w, x: (loss(w, x), {"double": x * 2, "w": w}), has_aux=True),
        in_dims=(None, 0),
    )(w, x)
    assert found.tolist() == [[8, 16], [60, 80]]
    assert aux["double"].tolist() == [[2, 4], [6, 8]]
    assert aux["w"].tolist() == [[1, 2], [1, 2]]
    found, value = vmap(func.grad_and_value(loss), in_dims=(None, 0))(w, x)
    assert found.tolist() == [[8, 16], [60, 80]]
    assert value.tolist() == [16, 100]


# -- batched gradients ------------------------------------------------------------------------


def batched(given: Any, function: Any = lambda x: x**2, **options: Any) -> Any:
    x = leaf(3)
    return vt.autograd.grad(function(x), x, given, is_grads_batched=True, **options)


def test_a_batch_of_gradients() -> None:
    (found,) = batched(ramp(2, 3))
    assert found.tolist() == [[2, 8, 18], [8, 20, 36]]
    (found,) = batched(ramp(2, 3).float())
    assert found.dtype == vt.float64
    (found,) = batched(ramp(2), lambda x: (x**2).sum())
    assert found.tolist() == [[2, 4, 6], [4, 8, 12]]


@pytest.mark.parametrize("shape", [(2, 4), (2, 1), (3,), (2, 3, 1)])
def test_gradients_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError):
        batched(ramp(*shape))


def test_a_missing_gradient_and_batches_of_different_sizes_are_refused() -> None:
    with pytest.raises((ValueError, RuntimeError)):
        batched(None)
    x = leaf(3)
    with pytest.raises((ValueError, RuntimeError)):
        vt.autograd.grad((x**2, x**3), x, (ramp(2, 3), None), is_grads_batched=True)
    with refused(ValueError, "argument-value"):
        vt.autograd.grad((x**2, x**3), x, (ramp(2, 3), ramp(3, 3)), is_grads_batched=True)


@differs_from_torch("an empty batch fails there")
def test_a_batch_of_no_gradients() -> None:
    assert batched(vt.zeros(0, 3, dtype=vt.float64))[0].shape == (0, 3)


def test_the_graph_is_freed_once_as_usual() -> None:
    x = leaf(3)
    y = x**2
    options: dict[str, Any] = {"is_grads_batched": True}
    vt.autograd.grad(y, x, ramp(2, 3), retain_graph=True, **options)
    vt.autograd.grad(y, x, ramp(2, 3), **options)
    with pytest.raises(RuntimeError):
        vt.autograd.grad(y, x, ramp(2, 3), **options)


def test_unused_inputs_have_none_or_zeros_without_a_batch() -> None:
    x, u = leaf(3), leaf(4)

    def grads(**options: Any) -> Any:
        return vt.autograd.grad(x**2, (x, u), ramp(2, 3), is_grads_batched=True, **options)

    with pytest.raises(RuntimeError):
        grads()
    assert grads(allow_unused=True)[1] is None
    first, second = grads(materialize_grads=True)
    assert first.shape == (2, 3)
    assert second.tolist() == [0, 0, 0, 0]


def test_hooks_run_once_and_see_one_sample() -> None:
    x = leaf(3)
    y = x**2
    shapes: list[tuple[int, ...]] = []
    y.register_hook(lambda g: shapes.append(tuple(g.shape)))
    x.register_hook(lambda g: shapes.append(tuple(g.shape)))
    vt.autograd.grad(y * 2, x, ramp(2, 3), is_grads_batched=True)
    assert shapes == [(3,), (3,)]
    y = x**2
    y.register_hook(lambda g: g if g.sum() > 0 else -g)
    with pytest.raises(RuntimeError):
        vt.autograd.grad(y, x, ramp(2, 3), is_grads_batched=True)


def test_a_hook_may_change_the_gradients_of_a_batch() -> None:
    x = leaf(3)
    y = x**2
    y.register_hook(lambda g: g * 3)
    (found,) = vt.autograd.grad(y, x, ramp(2, 3), is_grads_batched=True)
    assert found.tolist() == [[6, 24, 54], [24, 60, 108]]


def test_batches_go_through_writes_indices_and_a_recorded_pass() -> None:
    x = leaf(3)
    b = vt.zeros(4, dtype=vt.float64)
    b[1:] = x**2
    b[0] = x[0]
    c = b[vt.tensor([0, 0, 2])]
    (found,) = vt.autograd.grad(c, x, ramp(2, 3), is_grads_batched=True)
    assert found.tolist() == [[3, 12, 0], [9, 24, 0]]
    (found,) = vt.autograd.grad(x**3, x, ramp(2, 3), is_grads_batched=True, create_graph=True)
    (second,) = vt.autograd.grad(found.sum(), x)
    # The sum of 3 g x**2 over both samples is 3 (g1 + g2) x**2, and its derivative 6 (g1 + g2) x.
    assert second.tolist() == [30, 84, 162]
    v = ramp(2, 3).requires_grad_()
    (found,) = vt.autograd.grad(x**3, x, v, is_grads_batched=True, create_graph=True)
    (second,) = vt.autograd.grad(found.sum(), v)
    assert second.tolist() == [[3, 12, 27], [3, 12, 27]]
