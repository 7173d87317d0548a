"""In which order nodes run, what a pass frees, and what a pass that broke off has left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, grad_list, gradients, leaf, node_of, ramp, vt


def test_the_node_that_was_made_last_runs_first_on_whatever_branch() -> None:
    seen: list[str] = []
    x, y = leaf(2), leaf(2)
    a, b = x * 2, x * 3
    c = a * 4
    for name, value in (("a", a), ("b", b), ("c", c)):
        node_of(value).register_prehook(lambda grads, name=name: seen.append(name))  # type: ignore[misc]  # it has two parameters
    y.register_hook(lambda grad: seen.append("leaf"))
    (c + b + y).sum().backward()
    assert seen == ["leaf", "c", "b", "a"]


def test_gradients_that_meet_are_added_from_the_consumer_that_was_made_last() -> None:
    w = leaf(1)
    a, b, c = w * 1.0, w * 1e16, w * -1e16
    (a + b + c).sum().backward()
    # (c + b) + a; in another order the 1 is lost.
    assert grad_list(w) == [1]


FREED: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "product with a number": lambda x: x * 2,
    "quotient by a number": lambda x: x / 2,
    "where": lambda x: vt.where(x > 2, x, x),
    "clamp": lambda x: x.clamp(1, 2),
    "masked_fill": lambda x: x.masked_fill(x > 2, 0),
    "index": lambda x: x[[0]],
}
KEPT: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "neg": lambda x: -x,
    "sum with a number": lambda x: x + 2,
    "mean": lambda x: x.mean(),
    "select": lambda x: x[0],
    "expand": lambda x: x.expand(2, 3, 3),
    "cat": lambda x: vt.cat([x, x]),
    "cast": lambda x: x.float(),
    "cumsum": lambda x: x.cumsum(0),
}


@pytest.mark.parametrize("make", FREED.values(), ids=FREED)
def test_what_has_saved_something_runs_once(make: Callable[[vt.Tensor], vt.Tensor]) -> None:
    y = make(leaf(3, 3))
    y.backward(vt.ones_like(y.detach()))
    with pytest.raises(RuntimeError):
        y.backward(vt.ones_like(y.detach()))


@pytest.mark.parametrize("make", KEPT.values(), ids=KEPT)
def test_what_has_saved_nothing_runs_again(make: Callable[[vt.Tensor], vt.Tensor]) -> None:
    x = leaf(3, 3)
    y = make(x)
    y.backward(vt.ones_like(y.detach()))
    once = x.grad
    assert once is not None
    once = once.clone()
    y.backward(vt.ones_like(y.detach()))
    assert x.grad is not None
    assert vt.equal(x.grad, once * 2)


def test_a_branch_that_does_not_lead_to_an_input_is_not_freed() -> None:
    x, v = leaf(2), leaf(2)
    total = (x * x).sum() + (v * v).sum()
    assert gradients(total, v) == [[2, 4]]
    assert gradients(total, x) == [[2, 4]]


def test_roots_with_and_without_a_gradient_may_be_mixed() -> None:
    x = leaf(2)
    vt.autograd.backward([(x * 2).sum(), x * 3], [None, ramp(2)])
    assert grad_list(x) == [5, 8]


@differs_from_torch("there the leaf that came before has its gradient")
def test_a_pass_that_breaks_off_has_freed_what_ran() -> None:
    x, w = leaf(2), leaf(2)
    a, b = x * x, w * w

    def fail(grad: vt.Tensor) -> None:
        raise ValueError("from the hook")

    a.register_hook(fail)
    y = (a + b).sum()
    with pytest.raises(ValueError, match="hook"):
        y.backward()
    assert x.grad is None
    with pytest.raises(RuntimeError):
        y.backward()


def test_a_graph_that_is_recorded_backward_may_be_freed_while_that_of_its_gradient_lives() -> None:
    x = leaf(2)
    y = (x**3).sum()
    (first,) = vt.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError):
        vt.autograd.grad(y, x)
    assert gradients(first.sum(), x) == [[6, 12]]


@pytest.mark.filterwarnings("ignore:.*create_graph:UserWarning")
def test_a_constant_gradient_has_no_graph() -> None:
    x = leaf(2)
    (x * 2).sum().backward(create_graph=True)
    assert x.grad is not None
    assert not x.grad.requires_grad


@pytest.mark.parametrize("keeps", [True, False])
def test_a_graph_may_be_run_again_from_its_own_hook(*, keeps: bool) -> None:
    x = leaf(2)
    y = x * x
    total = y.sum()
    entered: list[int] = []

    def again(grad: vt.Tensor) -> None:
        if not entered:
            entered.append(1)
            total.backward(retain_graph=keeps)

    y.register_hook(again)
    if keeps:
        total.backward(retain_graph=True)
        assert grad_list(x) == [4, 8]
    else:
        with pytest.raises(RuntimeError):
            total.backward()
        assert grad_list(x) == [2, 4]


def test_two_leaves_of_one_gradient_never_share_memory() -> None:
    p, q = leaf(2), leaf(2)
    passed = ramp(2)
    (p + q).backward(passed)
    assert p.grad is not None
    assert q.grad is not None
    assert len({p.grad.data_ptr(), q.grad.data_ptr(), passed.data_ptr()}) == 3
