"""What `apply` makes of its arguments, and of what forward returns."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions import Function, function, twice
from tests.support import differs_from_torch, fn_name, grad_list, leaf, ramp, refused, vt


class Affine(Function):
    """An example whose arguments have names and defaults."""

    @staticmethod
    def forward(x: vt.Tensor, factor: Any = 2.0, shift: float = 1.0) -> Any:
        return x * factor + shift

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
        ctx.seen = inputs, output, vt.is_grad_enabled()
        return "is ignored"

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (x, factor, _), _, _ = ctx.seen
        to_factor = g * x if ctx.needs_input_grad[1] else None
        return g * factor, to_factor, None


def seen_by(y: vt.Tensor) -> Any:
    """Give what setup_context has got."""
    node: Any = y.grad_fn
    return node.seen


def test_a_tensor_that_is_passed_by_name_gets_its_gradient() -> None:
    x, factor = leaf(2), leaf(2)
    Affine.apply(factor=factor, x=x).sum().backward()
    assert grad_list(x) == [1, 2]
    assert grad_list(factor) == [1, 2]


def test_defaults_are_filled_in_behind_names() -> None:
    x = leaf(2)
    y = Affine.apply(x, factor=5.0)
    inputs, output, records = seen_by(y)
    assert inputs[0] is x
    assert inputs[1:] == (5.0, 1.0)
    assert output.tolist() == [6, 11]
    assert not records


@pytest.mark.parametrize("apply", [Affine.apply, function(lambda ctx, x: x * 2)])
def test_an_unknown_name_is_refused(apply: Any) -> None:
    x = leaf(2)
    with pytest.raises(TypeError):
        apply(x, scale=2.0)
    with pytest.raises(TypeError):
        apply(x, x=x)


class Scaled(Function):
    """An example with an argument that has no position."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, shift: float = 0.0, *, scale: Any = 2.0) -> Any:
        ctx.scale = scale
        return x * scale + shift

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g * ctx.scale, *[None] * (len(ctx.needs_input_grad) - 1)


@differs_from_torch("apply takes no keywords there")
@pytest.mark.parametrize(
    ("args", "options", "values", "needs"),
    [
        ((), {}, [2, 4], (True,)),
        ((), {"scale": 3.0}, [3, 6], (True,)),
        ((1.0,), {"scale": 3.0}, [4, 7], (True, False)),
        ((), {"scale": 3.0, "shift": 1.0}, [4, 7], (True, False)),
    ],
)
def test_an_argument_by_keyword_only_has_no_gradient(
    args: Any, options: Any, values: list[float], needs: tuple[bool, ...]
) -> None:
    x = leaf(2)
    y = Scaled.apply(x, *args, **options)
    assert y.tolist() == values
    node: Any = y.grad_fn
    assert node.needs_input_grad == needs
    y.sum().backward()
    assert grad_list(x) == [options.get("scale", 2.0)] * 2


@differs_from_torch("apply takes no keywords there")
def test_setup_context_and_vmap_get_what_is_passed_by_keyword_only() -> None:
    class Split(Function):
        @staticmethod
        def forward(x: vt.Tensor, *, scale: float = 2.0) -> vt.Tensor:
            return x * scale

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any, *, scale: float = 2.0) -> None:
            assert len(inputs) == 1
            ctx.scale = scale

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            return g * ctx.scale

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor, *, scale: float = 2.0) -> Any:
            return Split.apply(x, scale=scale), 0

    x = leaf(2)
    Split.apply(x, scale=3.0).sum().backward()
    assert grad_list(x) == [3, 3]
    vmap: Any = vt.vmap
    assert vmap(lambda row: Split.apply(row, scale=5.0))(ramp(2, 2)).tolist() == [
        [5, 10],
        [15, 20],
    ]
    assert vmap(lambda row: Scaled.apply(row, scale=5.0))(ramp(2)).tolist() == [5, 10]


@differs_from_torch("apply takes no keywords there")
def test_a_tensor_by_keyword_only_must_need_no_derivative() -> None:
    x = leaf(2)
    assert Scaled.apply(x, scale=ramp(2)).tolist() == [1, 4]
    with pytest.raises(TypeError, match="'scale' by keyword only"):
        Scaled.apply(x, scale=leaf(2))
    with pytest.raises(TypeError, match="'scale' by keyword only"):
        vt.vmap(lambda row: Scaled.apply(x, scale=row))(ramp(2, 2))
    with vt.autograd.forward_ad.dual_level():
        dual = vt.autograd.forward_ad.make_dual(ramp(2), ramp(2))
        with pytest.raises(TypeError, match="'scale' by keyword only"):
            Scaled.apply(ramp(2), scale=dual)


@pytest.mark.parametrize("returned", [lambda x: x * 2, lambda x: (x * 2,), lambda x: (x * 2, 5)])
def test_setup_context_gets_what_forward_returned(returned: Any) -> None:
    got: list[Any] = []

    class Fn(Function):
        @staticmethod
        def forward(x: vt.Tensor) -> Any:
            return returned(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            got.append((type(inputs), type(output), vt.is_grad_enabled()))

    Fn.apply(leaf(2))
    assert got == [(tuple, type(returned(ramp(2))), False)]


def test_what_arguments_need_is_one_tuple_whatever_is_asked_for() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor, c: vt.Tensor, n: int, y: vt.Tensor) -> vt.Tensor:
        seen.append(ctx.needs_input_grad)
        return x * y

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        seen.append(ctx.needs_input_grad)
        return g, None, None, g

    x, y = leaf(2), leaf(2)
    vt.autograd.grad(function(forward, backward)(x, ramp(2), 3, y).sum(), y)
    assert seen[0] == (True, False, False, True)
    assert seen[1] is seen[0]


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"x": x}, lambda x: (x,)])
def test_tensors_inside_an_argument_are_not_seen(wrap: Any) -> None:
    def forward(ctx: Any, given: Any) -> vt.Tensor:
        assert ctx.needs_input_grad == (False,)
        x: vt.Tensor
        (x,) = given.values() if isinstance(given, dict) else given
        return x * 2

    y = function(forward)(wrap(leaf(2)))
    assert not y.requires_grad
    assert y.tolist() == [2, 4]


@pytest.mark.parametrize("wrap", [lambda y: [y], lambda y: {"y": y}, lambda y: iter([y])])
def test_a_result_that_is_a_container_passes_through(wrap: Any) -> None:
    given: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        given.append(wrap(x * 2))
        return given[0]

    result = function(forward)(leaf(2))
    assert result is given[0]
    (y,) = result.values() if isinstance(result, dict) else result
    assert not y.requires_grad


@pytest.mark.parametrize("result", [None, ()])
def test_a_function_may_return_nothing(result: Any) -> None:
    assert function(lambda ctx, x: result)(leaf(2)) == result


def test_a_tuple_of_one_stays_a_tuple() -> None:
    result = function(lambda ctx, x: (x * 2,))(leaf(2))
    assert type(result) is tuple
    assert fn_name(result[0]) == "FnBackward"


def test_a_list_among_results_gets_none_in_backward() -> None:
    got: list[Any] = []

    def backward(ctx: Any, *grads: Any) -> Any:
        got.extend(grads)
        return grads[0] * 2

    x = leaf(2)
    y, inner = function(lambda ctx, x: (x * 2, [x * 3]), backward)(x)
    assert not inner[0].requires_grad
    y.sum().backward()
    assert [None if g is None else g.tolist() for g in got] == [[1, 1], None]


@pytest.mark.parametrize("dtype", [vt.int64, vt.bool])
def test_results_without_gradients_get_zeros_of_their_dtype(dtype: Any) -> None:
    got: list[Any] = []

    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor) -> vt.Tensor:
        got.append((h.tolist(), h.dtype))
        return g * 2

    y, whole = function(lambda ctx, x: (x * 2, x.to(dtype)), backward)(leaf(2))
    assert not whole.requires_grad
    y.sum().backward()
    assert got == [([0, 0], dtype)]


def test_the_whole_gradient_of_a_result_that_is_returned_twice_is_the_last() -> None:
    got: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        y = x * 2
        return y, y

    def backward(ctx: Any, *grads: vt.Tensor) -> vt.Tensor:
        got.extend([g.tolist() for g in grads])
        return grads[0] * 2 + grads[1] * 2

    x = leaf(2)
    y, z = function(forward, backward)(x)
    assert y is z
    assert y.output_nr == 1
    (y + z * 3).sum().backward()
    assert got == [[0, 0], [4, 4]]
    assert grad_list(x) == [8, 8]


@pytest.mark.parametrize(("materialize", "expected"), [(True, [0, 0]), (False, None)])
def test_a_gradient_that_never_comes_is_zeros_or_none(materialize: bool, expected: Any) -> None:
    """The Function behind returns None, so no gradient arrives at the one before."""

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.set_materialize_grads(materialize)
        return x * 2

    def backward(ctx: Any, g: Any) -> Any:
        return None if g is None else g * 2

    x = leaf(2)
    before = function(forward, backward)(x)
    function(lambda ctx, x: x * 1, lambda ctx, g: None)(before).sum().backward()
    assert (None if x.grad is None else x.grad.tolist()) == expected


def test_a_graph_that_forward_records_is_thrown_away() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with vt.enable_grad():
            y = x * 2
            seen.append((y.requires_grad, vt.autograd.grad(y.sum(), x, retain_graph=True)))
        seen.append(vt.is_grad_enabled())
        return y

    x = leaf(2)
    y = function(forward, lambda ctx, g: g * 7)(x)
    assert seen[0][0]
    assert seen[0][1][0].tolist() == [2, 2]
    assert seen[1] is False
    assert fn_name(y) == "FnBackward"
    y.sum().backward()
    assert grad_list(x) == [7, 7]


def test_a_constant_call_keeps_its_context_and_has_no_graph() -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.note = 3
        kept.append(ctx)
        return x * 2

    y = function(forward)(ramp(2))
    (ctx,) = kept
    assert y.grad_fn is None
    assert (ctx.name(), ctx.next_functions, ctx.saved_tensors, ctx.note) == (
        "FnBackward",
        (),
        (),
        3,
    )


def test_forward_without_self_may_be_a_plain_function() -> None:
    """As they were written once: `self` is the context."""

    class Legacy(Function):
        def forward(self: Any, x: vt.Tensor) -> vt.Tensor:  # type: ignore[override]  # not static, on purpose
            self.save_for_backward(x)
            return x * x

        def backward(self: Any, g: vt.Tensor) -> Any:  # type: ignore[override]  # not static, on purpose
            return g * 2 * self.saved_tensors[0]

    x = leaf(2)
    made: Any = Legacy
    made.apply(x).sum().backward()
    assert grad_list(x) == [2, 4]


def test_an_instance_cannot_be_called_however_it_was_made() -> None:
    class Legacy(Function):
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def forward(self, x: vt.Tensor) -> vt.Tensor:  # type: ignore[override]  # not static, on purpose
            return x * self.factor

    with pytest.raises(RuntimeError, match="static"):
        Legacy(3.0)(leaf(2))


@differs_from_torch("there an error comes when apply is called")
@pytest.mark.parametrize("option", ["clear_saved_tensors_on_access", "boxed_grads_call"])
def test_an_option_that_is_no_bool_is_refused(option: str) -> None:
    with refused(RuntimeError, "function"):
        type("Fn", (Function,), {"backward": staticmethod(twice), option: 1})


def test_a_forward_that_takes_the_place_of_another_is_called_by_its_own_names() -> None:
    def forward(z: vt.Tensor, by: float = 7.0) -> vt.Tensor:
        return z * by

    made: Any = type("Fn", (Affine,), {})
    assert made.apply(x=ramp(2)).tolist() == [3, 5]
    made.forward = staticmethod(forward)
    assert made.apply(z=ramp(2)).tolist() == [7, 14]
    with pytest.raises(TypeError):
        made.apply(x=ramp(2))
