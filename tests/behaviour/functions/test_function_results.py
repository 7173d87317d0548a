"""What a custom Function may return: arguments, views, several of them, and what is no tensor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pytest

from tests.functions import function, identity, triple_
from tests.support import (
    Unchanged,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    node_of,
    parent_name,
    ramp,
    refused,
    vt,
)

CUSTOM = (RuntimeError, "custom-function-view")
SEVERAL = (RuntimeError, "multi-output-view")

flat = function(lambda ctx, x: x.view(-1), lambda ctx, g: g.view(2, 2), "Flat")
rows = function(lambda ctx, x: (x[0], x[1]), lambda ctx, g, h: vt.stack((g, h)), "Rows")


def test_an_argument_that_is_returned_unchanged_is_a_new_view_of_it() -> None:
    x = leaf(2)
    b = x.clone()
    y = identity(b)
    assert y is not b
    assert y._is_view()
    assert y._base is b
    assert y.data_ptr() == b.data_ptr()
    assert fn_name(y) == "IdentityBackward"
    assert fn_name(b) == "CloneBackward0"
    b.detach().add_(0)
    assert y._version == b._version == 1
    assert gradients(identity(x).sum(), x) == [[1, 1]]


def test_an_argument_that_is_a_view_keeps_its_base() -> None:
    b = leaf(2, 2).clone()
    y = identity(b[0])
    assert y._base is b
    assert parent_name(y) == "SelectBackward0"


def test_a_view_of_an_argument_keeps_its_base() -> None:
    x = leaf(2, 2)
    b = x.clone()
    y = flat(b)
    assert y._base is b
    assert fn_name(y) == "FlatBackward"
    y.sum().backward()
    assert grad_list(x) == [[1, 1], [1, 1]]


@pytest.mark.parametrize("apply", [identity, flat], ids=["argument", "view"])
def test_such_a_view_may_not_be_written(apply: Any) -> None:
    b = leaf(2, 2).clone()
    y = apply(b)
    with refused(*CUSTOM, [b, y]):
        y.mul_(2)
    with refused(*CUSTOM, [b, y]):
        y[0].mul_(2)


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("apply", [identity, flat], ids=["argument", "view"])
def test_such_a_view_may_not_be_used_after_its_base_was_written(apply: Any, recorded: bool) -> None:
    b = leaf(2, 2).clone()
    y = apply(b)
    with vt.set_grad_enabled(recorded):
        b.mul_(2)
    with refused(*CUSTOM, [b]):
        y.grad_fn  # noqa: B018
    with refused(*CUSTOM, [b]):
        y * 2
    with refused(*CUSTOM, [b]):
        y.sum().backward()


def test_several_views_are_restricted_like_those_of_unbind() -> None:
    x = leaf(2, 2)
    b = x.clone()
    y, z = rows(b)
    assert (y._base, z._base, z.output_nr) == (b, b, 1)
    with refused(*SEVERAL, [b, y, z]):
        y.mul_(2)
    (y * 2 + z * 5).sum().backward()
    assert grad_list(x) == [[2, 2], [5, 5]]


@pytest.mark.parametrize("first", ["view", "argument"])
def test_a_view_beside_a_fresh_result_is_one_of_several(first: str) -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        return (x if first == "argument" else x.view(2, 2)), x * 2

    b = leaf(2, 2).clone()
    y, z = function(forward, lambda ctx, g, h: g + 2 * h)(b)
    assert y._is_view()
    assert not z._is_view()
    with refused(*SEVERAL, [b, y]):
        y.mul_(2)
    z.mul_(2)
    assert fn_name(z) == "MulBackward0"


@pytest.mark.parametrize("other", ["number", "integers", "constant"])
def test_a_view_beside_what_has_no_gradient_is_the_only_one(other: str) -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        beside: Any = {"number": 5, "integers": x.to(vt.int64), "constant": x * 2}[other]
        if other == "constant":
            ctx.mark_non_differentiable(beside)
        return x.view(-1), beside

    b = leaf(2, 2).clone()
    y, _ = function(forward, lambda ctx, g, h: g.view(2, 2))(b)
    with refused(*CUSTOM, [b, y]):
        y.mul_(2)


def test_a_view_of_what_forward_made_has_a_base_that_nobody_else_has() -> None:
    x = leaf(2, 2)
    row = function(lambda ctx, x: (x * 2)[0], lambda ctx, g: vt.stack((g * 2, g * 0)))
    y = row(x)
    assert y._base is not None
    assert not y._base.requires_grad
    with refused(*CUSTOM, [x, y]):
        y.mul_(2)
    y.sum().backward()
    assert grad_list(x) == [[2, 2], [0, 0]]


def test_views_of_calls_that_record_nothing_are_restricted_too() -> None:
    w = leaf()
    for b in (ramp(2, 2), leaf(2, 2).clone()):
        for apply in (identity, flat):
            with vt.set_grad_enabled(not b.requires_grad):
                y = apply(b)
            assert y.grad_fn is None
            if apply is identity and b.requires_grad:
                assert not y._is_view()
                assert not y.requires_grad
                assert y.data_ptr() == b.data_ptr()
                continue
            assert y._base is b
            with refused(*CUSTOM, [b, y]):
                y.mul_(w)


@pytest.mark.parametrize("apply", [identity, flat], ids=["argument", "view"])
def test_a_view_of_a_constant_that_came_to_require_grad_is_one_of_a_function(apply: Any) -> None:
    b = ramp(2, 2)
    y = apply(b)
    b.mul_(leaf(2))
    assert y.requires_grad
    with refused(*CUSTOM, [b]):
        y.grad_fn  # noqa: B018
    with refused(*CUSTOM, [b]):
        y * 2


def test_the_same_fresh_tensor_twice_is_one_object() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        y = x * 2
        return y, y

    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor) -> vt.Tensor:
        seen.extend((g.tolist(), h.tolist()))
        return (g + h) * 2

    x = leaf(2)
    y, z = function(forward, backward)(x)
    assert y is z
    assert y.output_nr == 1
    y.sum().backward()
    assert seen == [[0, 0], [1, 1]]
    assert grad_list(x) == [2, 2]


def test_the_same_argument_twice_is_two_views() -> None:
    b = leaf(2).clone()
    y, z = function(lambda ctx, x: (x, x), lambda ctx, g, h: g + h)(b)
    assert y is not z
    assert (y.output_nr, z.output_nr) == (0, 1)
    assert y._base is z._base is b


def test_the_same_view_twice_is_one_object() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        y = x.view(-1)
        return y, y

    b = leaf(2).clone()
    y, z = function(forward, lambda ctx, g, h: g + h)(b)
    assert y is z
    assert y.output_nr == 1
    with refused(*SEVERAL, [b, y]):
        y.mul_(2)


def test_what_is_no_tensor_passes_through_and_keeps_its_place() -> None:
    seen: list[Any] = []
    thing = object()

    def backward(ctx: Any, *gradients: Any) -> Any:
        seen.extend(g is None for g in gradients)
        return gradients[0] * 2 + gradients[2] * 3

    x = leaf(2)
    y, found, z = function(lambda ctx, x: (x * 2, thing, x * 3), backward)(x)
    assert found is thing
    assert (y.output_nr, z.output_nr) == (0, 2)
    (y + z).sum().backward()
    assert seen == [False, True, False]
    assert grad_list(x) == [5, 5]


class _Pair(NamedTuple):
    first: vt.Tensor
    second: vt.Tensor


def test_only_tuples_are_taken_apart() -> None:
    x = leaf(2)
    assert function(lambda ctx, x: None)(x) is None
    assert function(lambda ctx, x: ())(x) == ()
    (y,) = function(lambda ctx, x: (x * 2,))(x)
    assert fn_name(y) == "FnBackward"
    in_list = function(lambda ctx, x: [x * 2])(x)
    assert isinstance(in_list, list)
    assert not in_list[0].requires_grad
    pair = function(lambda ctx, x: _Pair(x * 2, x * 3), lambda ctx, g, h: g)(x)
    assert type(pair) is tuple
    assert fn_name(pair[1]) == "FnBackward"


def test_results_of_integers_have_no_producer() -> None:
    i = function(lambda ctx, x: x.to(vt.int64))(leaf(2))
    assert i.grad_fn is None
    assert not i.requires_grad
    whole = vt.ones(2, dtype=vt.int64)
    y, j = function(lambda ctx, x, i: (x * 2, i), lambda ctx, g, h: (g, None))(leaf(2), whole)
    assert j is not whole
    assert j._base is whole
    assert fn_name(y) == "FnBackward"


def test_what_was_recorded_inside_forward_is_not_part_of_the_graph() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with vt.enable_grad():
            return x * 2

    x = leaf(2)
    y = function(forward, lambda ctx, g: g * 100)(x)
    assert fn_name(y) == "FnBackward"
    assert not y._is_view()
    y.sum().backward()
    assert grad_list(x) == [100, 100]


def test_a_view_that_was_recorded_inside_forward_is_restricted() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with vt.enable_grad():
            return x.view(-1)

    b = leaf(2, 2).clone()
    y = function(forward, lambda ctx, g: g.view(2, 2))(b)
    assert y._base is b
    assert node_of(y).next_functions == ((b.grad_fn, 0),)
    with refused(*CUSTOM, [b, y]):
        y.mul_(2)


def test_a_detached_argument_is_a_result_on_its_memory() -> None:
    x = leaf(2)
    b = x.clone()
    y = function(lambda ctx, x: x.detach())(b)
    assert fn_name(y) == "FnBackward"
    assert not y._is_view()
    y.mul_(2)
    assert b._version == 1
    assert b.tolist() == [2, 4]


@differs_from_torch("the captured tensor itself is made a result there, and its gradient is lost")
@pytest.mark.parametrize("kind", ["leaf", "result", "view"])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_tensor_from_elsewhere_keeps_its_own_producer(kind: str, recorded: bool) -> None:
    w = leaf(2)
    captured = {"leaf": w, "result": w * 1, "view": (w * 1).view(2)}[kind]
    x = leaf(2) if recorded else ramp(2)
    before = Unchanged(captured)
    y = function(lambda ctx, x: captured, lambda ctx, g: g * 7)(x)
    before.check()
    if not recorded and kind == "view":
        return
    assert y is not captured
    assert y.data_ptr() == captured.data_ptr()
    assert fn_name(y) == ("FnBackward" if recorded else None)
    if recorded:
        (y * captured).sum().backward()
        assert grad_list(x) == [7, 14]
        # The other factor's part only: the call took it for a constant.
        assert grad_list(w) == [1, 2]


# -- inference tensors ----------------------------------------------------------------------------


def test_an_inference_tensor_comes_back_as_an_alias_that_is_no_view() -> None:
    w = leaf(2)
    with vt.inference_mode():
        constant = ramp(2)
        inside = identity(constant)
    assert inside.is_inference()
    assert not inside._is_view()
    y, z = function(lambda ctx, i, w: (i, w * 2), lambda ctx, g, h: (None, g + h * 2))(constant, w)
    assert y is not constant
    assert y.is_inference()
    assert not y._is_view()
    assert (fn_name(y), fn_name(z)) == ("FnBackward", "FnBackward")
    (y + z).sum().backward()
    assert grad_list(w) == [3, 3]


def test_an_inference_tensor_is_neither_saved_nor_written_outside_of_the_mode() -> None:
    def saves(ctx: Any, i: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(w, i)
        return w * i

    def marks(ctx: Any, i: vt.Tensor, w: vt.Tensor) -> Any:
        ctx.mark_dirty(i)
        return i, w * 2

    with vt.inference_mode():
        constant = ramp(2)
    w = leaf(2)
    with refused(RuntimeError, "inference-saved", [w]):
        function(saves)(constant, w)
    with refused(RuntimeError, "inference-write", [w]):
        function(marks)(constant, w)
    with vt.inference_mode():
        written = triple_(constant)
    assert written is constant
    assert constant.tolist() == [3, 6]


@pytest.mark.parametrize("mode", [vt.no_grad, vt.inference_mode])
def test_a_view_from_a_function_says_so_in_whatever_mode_it_was_called(
    mode: Callable[[], AbstractContextManager[object]],
) -> None:
    b = leaf(2).clone()
    with mode():
        v = flat(b)
    b.mul_(2)
    with refused(*CUSTOM):
        _ = v.grad_fn


@pytest.mark.parametrize("mode", [vt.no_grad, vt.enable_grad])
def test_a_constant_argument_that_is_returned_says_so_in_whatever_mode_it_was_called(
    mode: Callable[[], AbstractContextManager[object]],
) -> None:
    b = ramp(2)
    with mode():
        v = identity(b)
    assert v._base is b
    with refused(*CUSTOM, [b, v]):
        v.mul_(leaf(2))
