"""`checkpoint` with reentry: a backward inside of backward."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, fn_name, grad_list, gradients, leaf, ramp, vt

if vt.__name__ == "torch":
    import torch.utils.checkpoint as utils
else:
    utils = vt.utils.checkpoint


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return utils.checkpoint(function, *args, use_reentrant=True, **kwargs)


def test_arguments_and_parameters_get_gradients() -> None:
    x, w = leaf(2), leaf(2)
    y = call(lambda t: (t * w).sin() * t, x)
    assert fn_name(y) == "CheckpointFunctionBackward"
    y.sum().backward()
    assert [grad_list(x), grad_list(w)] == gradients(((x * w).sin() * x).sum(), x, w)


@pytest.mark.parametrize("kwargs", [{"n": 3}, {"debug": True}, {"context_fn": lambda: None}])
def test_options_of_the_other_way(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the words are each library's own
        call(lambda t: t, leaf(2), **kwargs)
    call(lambda t: t, leaf(2), determinism_check="anything")


def test_modes_and_arguments() -> None:
    x, seen = leaf(2), []

    def f(t: Any) -> Any:
        seen.append((t is x, t.is_leaf, t.requires_grad, vt.is_grad_enabled()))
        return t.sin()

    call(f, x).sum().backward()
    assert seen == [(True, True, True, False), (False, True, True, True)]


def test_it_always_runs_again() -> None:
    x, runs = leaf(2), []

    def f(t: Any) -> Any:
        runs.append(1)
        return t + 1

    y = call(f, x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(runs) == 3
    assert grad_list(x) == [2, 2]


def test_an_argument_that_requires_grad_is_needed() -> None:
    w = leaf(2)
    with pytest.warns(UserWarning, match="require"):
        y = call(lambda t: t * w, ramp(2))
    assert not y.requires_grad
    with pytest.warns(UserWarning, match="require"):
        y = call(lambda ts: ts[0] * 2, [leaf(2)])
    assert not y.requires_grad


def test_passes_to_given_inputs_are_refused() -> None:
    x = leaf(2)
    y = call(lambda t: t.sin(), x).sum()
    with pytest.raises(RuntimeError):
        vt.autograd.grad(y, x)
    with pytest.raises(RuntimeError):
        call(lambda t: t.sin(), x).sum().backward(inputs=[x])
    assert x.grad is None


@pytest.mark.filterwarnings("ignore")
def test_second_derivatives_have_no_graph() -> None:
    x = leaf(2)
    call(lambda t: t.sin(), x).sum().backward(create_graph=True)
    assert x.grad is not None
    assert not x.grad.requires_grad


def test_results_in_containers_have_no_gradient() -> None:
    x = leaf(2)
    assert not call(lambda t: {"y": t.sin()}, x)["y"].requires_grad
    assert not call(lambda t: [t.sin()], x)[0].requires_grad


def test_several_results() -> None:
    x = leaf(2)
    y, n, z = call(lambda t: (t.sin(), 5, t * t), x)
    assert n == 5
    (y + z).sum().backward()
    assert [grad_list(x)] == gradients((x.sin() + x * x).sum(), x)


def test_a_result_without_a_gradient_says_that_it_has_one() -> None:
    x = leaf(2)
    y = call(lambda t: t.detach() * 2, x)
    assert y.requires_grad
    with pytest.raises(RuntimeError):
        y.sum().backward()


def test_a_returned_argument_is_a_new_tensor() -> None:
    x = leaf(2)
    a = x * 1
    y = call(lambda t: t, a)
    assert y is not a
    with pytest.raises(RuntimeError):
        y.mul_(2)


def test_hooks_cannot_be_registered_inside() -> None:
    with pytest.raises(RuntimeError):
        call(lambda t: t.sin().register_hook(print), leaf(2))


def test_hooks_of_a_parameter_see_partial_gradients() -> None:
    w, log = leaf(2), list[Any]()
    w.register_hook(lambda g: log.append(g.tolist()))
    x = leaf(2)
    y = call(lambda t: t * w, x) + call(lambda t: t * w * 2, x)
    y.sum().backward()
    assert sorted(log) == [[1, 2], [2, 4]]
    assert grad_list(w) == [3, 6]


def test_a_shared_graph_is_freed_by_the_first() -> None:
    w = leaf(2).exp()
    x = leaf(2)
    y = call(lambda t: t * w, x) + call(lambda t: t * w, x)
    with pytest.raises(RuntimeError):
        y.sum().backward()


def test_nesting_runs_the_innermost_function_once_for_each_level() -> None:
    x, runs = leaf(2), []

    def inner(t: Any) -> Any:
        runs.append(1)
        return t.sin()

    call(lambda t: call(lambda u: call(inner, u), t), x).sum().backward()
    # Three levels.
    assert len(runs) == 4
    assert [grad_list(x)] == gradients(x.sin().sum(), x)


@pytest.mark.parametrize("outer", [True, False])
def test_both_ways_inside_each_other(outer: bool) -> None:
    x = leaf(2)

    def inside(t: Any) -> Any:
        return utils.checkpoint(lambda u: u.sin().exp(), t * 2, use_reentrant=not outer)

    utils.checkpoint(inside, x, use_reentrant=outer).sum().backward()
    assert [grad_list(x)] == gradients((x * 2).sin().exp().sum(), x)


def test_random_numbers_are_drawn_again() -> None:
    x = vt.ones(4, dtype=vt.float64).requires_grad_()
    y = call(lambda t: t * vt.rand(4, dtype=vt.float64), x)
    state: Any = vt.get_rng_state()
    y.sum().backward()
    assert state.equal(vt.get_rng_state())
    assert grad_list(x) == y.tolist()


def test_a_written_argument() -> None:
    x = leaf(2)
    a = x * 1
    y = call(lambda t: t.sin(), a)
    with vt.no_grad():
        a.mul_(2)
    with pytest.raises(RuntimeError):
        y.sum().backward()


def test_a_function_that_writes_its_argument() -> None:
    # Here in the call, in PyTorch in backward.
    with pytest.raises(RuntimeError):
        call(lambda t: t.mul_(2), leaf(2) * 1).sum().backward()


def test_errors_of_the_second_run_leave_backward() -> None:
    runs: list[int] = []

    def f(t: Any) -> Any:
        runs.append(1)
        if len(runs) == 2:
            raise KeyError("again")
        return t.sin()

    with pytest.raises(KeyError, match="again"):
        call(f, leaf(2)).sum().backward()
    assert vt.is_grad_enabled()


@differs_from_torch("PyTorch compares nothing")
@pytest.mark.parametrize("again", [lambda t: t.cos(), lambda t: t.sin().float()])
def test_another_result_is_refused(again: Any) -> None:
    runs: list[int] = []

    def f(t: Any) -> Any:
        runs.append(1)
        return t.sin() if len(runs) == 1 else again(t)

    x = leaf(2)
    y = call(f, x)
    with pytest.raises(RuntimeError, match="did not return the same"):
        y.sum().backward()
    assert x.grad is None


@differs_from_torch("PyTorch computes with the new values silently")
def test_a_captured_tensor_is_written_between() -> None:
    x, w = leaf(2), leaf(2)
    y = call(lambda t: t * w, x)
    with vt.no_grad():
        w.mul_(10)
    with pytest.raises(RuntimeError, match="did not return the same"):
        y.sum().backward()
    assert (x.grad, w.grad) == (None, None)


def test_hooks_of_saved_values_around_it_get_the_arguments() -> None:
    x, z, packed = leaf(2), leaf(2), list[vt.Tensor]()

    def pack(t: vt.Tensor) -> vt.Tensor:
        packed.append(t)
        return t

    with vt.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = call(lambda t, n, u: (t.sin() * u).exp(), x, 5, z)
    assert [t is s for t, s in zip(packed, (x, z), strict=True)] == [True, True]
    y.sum().backward()
    assert [grad_list(x), grad_list(z)] == gradients((x.sin() * z).exp().sum(), x, z)
