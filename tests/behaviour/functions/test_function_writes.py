"""A custom Function that writes to its arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions import Function, function, triple_
from tests.support import (
    ON_TORCH,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    parent_name,
    ramp,
    refused,
    vt,
)


def returning(*, declared: bool = True, result: Any = lambda x: x, writes: int = 1) -> Any:
    """Give a Function that triples its argument in place and returns something made of it."""

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        if declared:
            ctx.mark_dirty(x)
        for _ in range(writes):
            x.mul_(3)
        return result(x)

    return function(forward, lambda ctx, *g: g[0] * 3)


def test_a_dirty_argument_is_returned_itself() -> None:
    x = leaf(2)
    b = x.clone()
    y = triple_(b)
    assert y is b
    assert fn_name(b) == "TripleBackward"
    assert parent_name(b) == "CloneBackward0"
    y.sum().backward()
    assert grad_list(x) == [3, 3]


@pytest.mark.parametrize("writes", [0, 1, 2])
@pytest.mark.parametrize("kind", ["result", "constant"])
def test_marking_counts_as_a_write_of_its_own(writes: int, kind: str) -> None:
    b = leaf(2).clone() if kind == "result" else ramp(2)
    returning(writes=writes)(b)
    assert b._version == writes + 1


def test_under_no_grad_it_is_a_write_as_any_other() -> None:
    b = leaf(2).clone()
    with vt.no_grad():
        y = triple_(b)
    assert y.tolist() == b.tolist() == [3, 6]
    assert y.data_ptr() == b.data_ptr()
    assert b._version == 2
    assert not y.requires_grad
    assert fn_name(b) == "CloneBackward0"


def assert_not_the_old_gradient(written: vt.Tensor, before: object) -> None:
    """After a call that was refused when forward had written: the old producer is not the value's.

    PyTorch leaves it there. A leaf needs none.
    """
    if ON_TORCH or before is None:
        assert written.grad_fn is before
    else:
        with refused(RuntimeError, "interrupted-write", [written]):
            written.sum().backward()


def test_what_a_failed_call_wrote_without_being_given_it() -> None:
    x = leaf(2)
    captured = x.clone()
    before = captured.grad_fn

    def forward(ctx: Any, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(captured)
        captured.mul_(3)
        raise ValueError("broke off")

    with pytest.raises(ValueError, match="broke off"):
        function(forward)(leaf(2).clone())
    assert_not_the_old_gradient(captured, before)


def test_a_value_saved_before_the_write_is_stale() -> None:
    b = leaf(2).clone()
    root = (b * b).sum()
    triple_(b)
    with refused(RuntimeError, "stale-saved", [b]):
        root.backward()


def test_a_constant_becomes_a_result() -> None:
    def forward(ctx: Any, buffer: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(buffer)
        return buffer.copy_(x * 2)

    buffer, x = vt.zeros(2, dtype=vt.float64), leaf(2)
    alias = buffer[0]
    y = function(forward, lambda ctx, g: (None, g * 2))(buffer, x)
    assert y is buffer
    assert buffer.requires_grad
    assert gradients((alias * 5).sum() + buffer.sum(), x) == [[12, 2]]


def test_a_view_is_written_for_its_base() -> None:
    x = leaf(2, 2)
    b = x.clone()
    v, sister = b[0], b.view(4)
    assert triple_(v) is v
    assert fn_name(b) == "CopySlices"
    assert fn_name(v) == "AsStridedBackward0"
    assert v._version == b._version == 2
    assert gradients(b.sum(), x, retain_graph=True) == [[[3, 3], [1, 1]]]
    assert gradients(v.sum(), x, retain_graph=True) == [[[3, 3], [0, 0]]]
    assert gradients(sister.sum(), x) == [[[3, 3], [1, 1]]]


def test_second_derivatives_of_a_write_through_a_view() -> None:
    def forward(ctx: Any, v: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(v.clone(), w)
        ctx.mark_dirty(v)
        return v.mul_(w)

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        old, w = ctx.saved_tensors
        return g * w, (g * old).sum()

    x, w = leaf(2, 2), vt.tensor(5.0, dtype=vt.float64, requires_grad=True)
    b = x.clone()
    function(forward, backward)(b[0], w)
    (first,) = vt.autograd.grad((b * b * b).sum(), x, create_graph=True)
    # Of 125 x^3 and x^3.
    assert first.tolist() == [[375, 1500], [27, 48]]
    # The old value was saved as a copy, which is a constant: the mixed derivative is by w only.
    assert gradients(first.sum(), w) == [225 + 900]


@differs_from_torch("the gradient goes to the wrong argument there")
@pytest.mark.parametrize("kind", ["result", "constant"])
def test_the_view_that_is_written_may_be_any_argument(kind: str) -> None:
    def forward(ctx: Any, w: vt.Tensor, n: int, v: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(v)
        ctx.w = w.item()
        ctx.save_for_backward(v.clone())
        return v.mul_(w)

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return (g * ctx.saved_tensors[0]).sum(), None, g * ctx.w

    x = leaf(2, 2)
    w = vt.tensor(5.0, dtype=vt.float64, requires_grad=True)
    b = x.clone() if kind == "result" else ramp(2, 2)
    function(forward, backward)(w, 3, b[1])
    root = (b * ramp(2, 2)).sum()
    assert gradients(root, w, retain_graph=True) == [3 * 3 + 4 * 4]
    if kind == "result":
        assert gradients(root, x) == [[[1, 2], [15, 20]]]


@pytest.mark.parametrize("lives", [True, False])
def test_a_saved_view_that_loses_its_base_in_the_same_call(lives: bool) -> None:
    """It may be saved; reading it is refused."""

    def forward(ctx: Any, b: vt.Tensor, part: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(b)
        b.mul_(3)
        ctx.save_for_backward(part)
        return b

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g * ctx.saved_tensors[0], None

    x = leaf(2, 2)
    b = x.clone()
    part = b.unbind()[0]
    y = function(forward, backward)(b, part)
    if not lives:
        del part
    for create_graph in (False, True):
        with refused(RuntimeError, "multi-output-view", [x, y]):
            vt.autograd.grad(y.sum(), x, create_graph=create_graph)


@differs_from_torch("the gradient of the rest of the base is lost there")
@pytest.mark.parametrize("create_graph", [False, True])
def test_none_for_a_written_view_is_zero_for_its_part_only(create_graph: bool) -> None:
    def forward(ctx: Any, v: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(v)
        return v.copy_(w)

    store = function(forward, lambda ctx, g: (None, g))

    def after(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        b = x * 1
        store(b[0], w)
        return (b * b).sum()

    x, w = leaf(2, 2), leaf(2)
    found = vt.autograd.grad(after(x, w), [x, w], create_graph=create_graph)
    assert [g.tolist() for g in found] == [[[0, 0], [6, 8]], [2, 4]]
    # Finite differences are exact for a sum of squares, taken at both sides.
    step = ramp(2, 2) * 0
    step[1, 0] = 0.5
    slope = (after(x + step, w) - after(x - step, w)).item()
    assert slope == found[0][1, 0].item()


def test_what_is_saved_of_a_dirty_argument_is_the_result() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x.exp_()

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (result,) = ctx.saved_tensors
        seen.append(result)
        return g * result

    x = vt.zeros(2, 2, dtype=vt.float64, requires_grad=True)
    exp_ = function(forward, backward)
    whole, part = x.clone(), x.clone()
    (first,) = vt.autograd.grad(exp_(whole).sum(), x, create_graph=True)
    assert seen[0] is not whole
    assert fn_name(seen[0]) == "FnBackward"
    assert gradients(first.sum(), x) == [[[1, 1], [1, 1]]]
    exp_(part[0])
    (first,) = vt.autograd.grad(part.sum(), x, create_graph=True)
    assert first.tolist() == [[1, 1], [1, 1]]
    assert gradients(first.sum(), x) == [[[1, 1], [0, 0]]]


@differs_from_torch("refused there as well, but after forward has written")
@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (lambda x: x, "leaf-write"),
        (lambda x: x[0], "view-of-leaf-write"),
        (lambda x: x.clone().unbind()[0], "multi-output-view"),
        (vt.no_grad()(lambda x: x[0]), "no-grad-view"),
    ],
)
def test_what_may_not_be_written_is_refused_before_it_is(target: Any, kind: str) -> None:
    x = leaf(2, 2)
    written = target(x)
    with refused(RuntimeError, kind, [x, written]):
        triple_(written)


@pytest.mark.parametrize("target", [lambda x: x, lambda x: x[0], lambda x: x.clone().unbind()[0]])
def test_what_may_not_be_written_is_refused_also_when_marked_late(target: Any) -> None:
    class Late(Function):
        @staticmethod
        def forward(x: vt.Tensor) -> vt.Tensor:
            return x.mul_(3)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            return g * 3

    x = leaf(2, 2)
    written = target(x)
    owner = written if written._base is None else written._base
    before = owner.grad_fn
    with pytest.raises(RuntimeError):
        Late.apply(written)
    assert_not_the_old_gradient(owner, before)


def test_what_forward_wrote_to_a_leaf_before_it_was_marked_stays() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    x = leaf(2)
    before = (x * x).sum()
    with pytest.raises(RuntimeError) as caught:
        function(forward, lambda ctx, g: g * 3)(x)
    if not ON_TORCH:
        assert getattr(caught.value, "kind", None) == "leaf-write"
        assert "stays written" in " ".join(caught.value.__notes__)
    assert x.tolist() == [3, 6]
    assert x.is_leaf
    assert x._version > 0
    # A saved value of before is stale, and a graph of the new values is as any other.
    with pytest.raises(RuntimeError):
        before.backward()
    assert x.grad is None
    assert gradients((x * x).sum(), x) == [[6, 12]]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("result", [lambda x: x + 1, lambda x: x[0], lambda x: [x]])
def test_a_dirty_argument_must_be_returned(result: Any, recorded: bool) -> None:
    b = leaf(2).clone() if recorded else ramp(2)
    before = b.grad_fn
    with refused(RuntimeError, "function"):
        returning(result=result)(b)
    assert_not_the_old_gradient(b, before)


@pytest.mark.parametrize("beside", [lambda x: x * 1, lambda x: 5, lambda x: x.to(vt.int64)])
def test_a_dirty_view_must_be_the_only_result(beside: Any) -> None:
    x = leaf(2, 2)
    b = x.clone()
    before = b.grad_fn
    with refused(RuntimeError, "function"):
        returning(result=lambda v: (v, beside(v)))(b[0])
    assert_not_the_old_gradient(b, before)
    y, _ = returning(result=lambda v: (v, beside(v)))(x.clone())
    assert fn_name(y) == "FnBackward"


def test_a_dirty_argument_and_a_view_of_it_may_be_returned() -> None:
    b = leaf(2, 2).clone()
    y, row = returning(result=lambda x: (x, x[0]))(b)
    assert y is b
    assert row._base is b
    assert (fn_name(y), fn_name(row)) == ("FnBackward", "FnBackward")
    assert (y.output_nr, row.output_nr) == (0, 1)
    with refused(RuntimeError, "multi-output-view", [b, row]):
        row.mul_(2)


def test_a_dirty_argument_that_is_returned_twice_is_one_object() -> None:
    b = leaf(2).clone()
    y, z = returning(result=lambda x: (x, x))(b)
    assert y is z is b
    assert b.output_nr == 1
    assert b._version == 2


def test_several_arguments_are_written() -> None:
    def forward(ctx: Any, a: vt.Tensor, b: vt.Tensor) -> Any:
        ctx.mark_dirty(a, b)
        return a.mul_(2), b.mul_(3)

    apply = function(forward, lambda ctx, g, h: (g * 2, h * 3))
    x, y = leaf(2), leaf(2)
    a, b = apply(x.clone(), y.clone())
    (a + b).sum().backward()
    assert grad_list(x) == [2, 2]
    assert grad_list(y) == [3, 3]
    one = leaf(2).clone()
    before = one.grad_fn
    with refused(RuntimeError, "function"):
        apply(one[0], one[1])
    assert_not_the_old_gradient(one, before)


@differs_from_torch("a second call replaces the first there, silently")
def test_marks_of_several_calls_add_up() -> None:
    def forward(ctx: Any, a: vt.Tensor, b: vt.Tensor) -> Any:
        ctx.mark_dirty(a)
        ctx.mark_dirty(b, a)
        return a.mul_(2), b.mul_(3)

    a, b = leaf(2).clone(), leaf(2).clone()
    y, z = function(forward, lambda ctx, g, h: (g * 2, h * 3))(a, b)
    assert (y is a, z is b) == (True, True)
    assert (a._version, b._version) == (2, 2)


def test_marking_what_is_no_argument_warns() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="mark_dirty"):
        y = function(forward)(leaf(2))
    assert fn_name(y) == "FnBackward"
    assert y._version == 1


def test_a_written_constant_may_be_returned_as_such() -> None:
    def forward(ctx: Any, x: vt.Tensor, statistics: vt.Tensor) -> Any:
        statistics.add_(x)
        ctx.mark_dirty(statistics)
        ctx.mark_non_differentiable(statistics)
        return x * 2, statistics

    total = ramp(2)
    y, same = function(forward, lambda ctx, g, h: (g * 2, None))(leaf(2), total)
    assert same is total
    assert not total.requires_grad
    assert total.tolist() == [2, 4]
    assert fn_name(y) == "FnBackward"


@differs_from_torch("it keeps the producer of its old value there")
def test_a_written_argument_that_requires_grad_may_not_be_called_constant() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x.mul_(2)

    b = leaf(2).clone()
    before = b.grad_fn
    with refused(RuntimeError, "function"):
        function(forward)(b)
    assert_not_the_old_gradient(b, before)


class TestUndeclaredWrites:
    """PyTorch does not notice; the gradient is that of the old value."""

    pytestmark = differs_from_torch("silent there")

    @pytest.mark.parametrize("result", [lambda x: x * 1, lambda x: x, lambda x: x[0]])
    @pytest.mark.parametrize("target", [lambda x: x, lambda x: x.clone(), lambda x: x.clone()[0]])
    def test_to_what_requires_grad_are_refused(self, target: Any, result: Any) -> None:
        x = leaf(2, 2)
        written = target(x)
        owner = written if written._base is None else written._base
        before = owner.grad_fn
        with pytest.raises(vt.errors.UndeclaredWriteError, match="mark_dirty") as caught:
            returning(declared=False, result=result)(written)
        assert caught.value.kind == "undeclared-write"
        assert caught.value.facts == {"index": 0, "expected_version": 0, "found_version": 1}
        assert_not_the_old_gradient(owner, before)

    def test_finite_differences_say_that_the_gradient_would_be_wrong(self) -> None:
        def after(value: float) -> float:
            b = vt.tensor(value, dtype=vt.float64) * 1
            b.mul_(3)
            return float(b.item().real)

        slope = (after(1.5) - after(0.5)) / 1.0
        x = vt.tensor(1.0, dtype=vt.float64, requires_grad=True)
        b = x * 1
        with pytest.raises(vt.errors.UndeclaredWriteError):
            returning(declared=False)(b)
        # PyTorch would answer 1 for b, which is 3 x now.
        assert slope == 3.0
        with refused(RuntimeError, "interrupted-write", [b]):
            gradients(b, x)

    def test_through_an_alias_are_refused(self) -> None:
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            x.detach().view(-1)[0] = 7.0
            return x * 2

        with pytest.raises(vt.errors.UndeclaredWriteError):
            function(forward)(leaf(2).clone())

    def test_to_constants_are_reported(self) -> None:
        def forward(ctx: Any, x: vt.Tensor, statistics: vt.Tensor) -> vt.Tensor:
            statistics.add_(x)
            return x * 2

        total = ramp(2)
        apply = function(forward, lambda ctx, g: (g * 2, None))
        with pytest.warns(UserWarning, match="argument 1"):
            y = apply(leaf(2), total)
        assert fn_name(y) == "FnBackward"

    def test_of_integers_and_where_nothing_is_recorded_are_free(self) -> None:
        def forward(ctx: Any, x: vt.Tensor, count: vt.Tensor) -> vt.Tensor:
            count.add_(1)
            return x * 2

        apply = function(forward, lambda ctx, g: (g * 2, None))
        count = vt.zeros(1, dtype=vt.int64)
        apply(leaf(2), count)
        apply(ramp(2), ramp(2))
        with vt.no_grad():
            apply(leaf(2), leaf(2))
        assert count.item() == 1

    def test_do_not_come_from_a_declared_write_to_the_same_memory(self) -> None:
        def forward(ctx: Any, v: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
            ctx.mark_dirty(v)
            return v.mul_(3)

        x = leaf(2, 2)
        b = x.clone()
        function(forward, lambda ctx, g: (g * 3, None))(b[0], b)
        assert gradients(b.sum(), x) == [[[3, 3], [1, 1]]]


def test_the_graph_is_read_after_a_write_in_forward_was_refused() -> None:
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.copy_(y)

    store = function(forward, lambda ctx, g: (g * 0, g))
    x = leaf(2) * 1
    part = x[-1]
    with pytest.raises(RuntimeError):
        store(x, part)
    assert fn_name(part) in ("SelectBackward0", "AsStridedBackward0")
