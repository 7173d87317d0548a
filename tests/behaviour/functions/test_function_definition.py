"""How a custom Function is written and called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.functions import Function, function, twice
from tests.support import differs_from_torch, fn_name, grad_list, leaf, ramp, refused, vt


class Scale(Function):
    """Multiply by a number; an example with every part in the usual place."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, factor: float = 2.0) -> vt.Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, gradient: vt.Tensor) -> tuple[vt.Tensor, None]:
        return gradient * ctx.factor, None


class ScaleInTwoSteps(Function):
    """The same, with a forward that knows nothing of the context."""

    @staticmethod
    def forward(x: vt.Tensor, factor: float = 2.0) -> vt.Tensor:
        return x * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[vt.Tensor, float], output: vt.Tensor) -> None:
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: vt.Tensor) -> tuple[vt.Tensor, None]:
        return gradient * ctx.factor, None


BOTH = pytest.mark.parametrize("apply", [Scale.apply, ScaleInTwoSteps.apply], ids=["one", "two"])


@BOTH
@pytest.mark.parametrize(("arguments", "factor"), [((), 2), ((5.0,), 5)])
def test_values_and_gradients(
    apply: Callable[..., vt.Tensor], arguments: tuple[float, ...], factor: float
) -> None:
    x = leaf(3)
    y = apply(x, *arguments)
    assert y.tolist() == [factor, 2 * factor, 3 * factor]
    y.sum().backward()
    assert grad_list(x) == [factor] * 3


@BOTH
def test_arguments_may_be_named(apply: Callable[..., vt.Tensor]) -> None:
    x = leaf(2)
    y = apply(x=x, factor=7.0)
    y.sum().backward()
    assert grad_list(x) == [7, 7]


@BOTH
def test_an_argument_too_many_or_too_few_is_refused(apply: Callable[..., vt.Tensor]) -> None:
    x = leaf(2)
    with pytest.raises(TypeError):
        apply()
    with pytest.raises(TypeError):
        apply(x, 2.0, 3.0)
    with pytest.raises(TypeError):
        apply(x, unknown=3.0)


@differs_from_torch("arguments between the named ones must be passed there")
def test_a_named_argument_may_leave_out_earlier_ones() -> None:
    def forward(ctx: Any, x: vt.Tensor, offset: float = 1.0, factor: float = 2.0) -> vt.Tensor:
        return x * factor + offset

    x = leaf(2)
    y = function(forward, lambda ctx, g: (g * 3, None, None))(x, factor=3.0)
    y.sum().backward()
    assert y.tolist() == [4, 7]
    assert grad_list(x) == [3, 3]


def test_defaults_are_arguments_in_the_style_with_setup_context_only() -> None:
    def one_gradient(ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
        return gradient

    x = leaf(2)
    short: Any = type("Short", (Scale,), {"backward": staticmethod(one_gradient)})
    short.apply(x).sum().backward()
    assert grad_list(x) == [1, 1]
    strict: Any = type("Strict", (ScaleInTwoSteps,), {"backward": staticmethod(one_gradient)})
    with refused(RuntimeError, "gradient", [x]):
        strict.apply(x).sum().backward()


def test_setup_context_sees_all_arguments_and_what_forward_returned() -> None:
    seen: list[Any] = []

    class Watched(Function):
        @staticmethod
        def forward(x: vt.Tensor, n: int = 4, *more: int) -> tuple[vt.Tensor, int]:
            return x * n, n

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            seen.extend((inputs[1:], output[1], vt.is_grad_enabled(), inputs[0] is x))

        @staticmethod
        def backward(ctx: Any, *gradients: vt.Tensor) -> None: ...

    x = leaf(2)
    Watched.apply(x, 3, 5, 6)
    assert seen == [(3, 5, 6), 3, False, True]


def test_methods_may_be_class_methods() -> None:
    class Scaled(Function):
        factor = 5

        @classmethod
        def forward(cls, ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * cls.factor

        @classmethod
        def backward(cls, ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
            return gradient * cls.factor

    x = leaf(2)
    Scaled.apply(x).sum().backward()
    assert grad_list(x) == [5, 5]


def test_vjp_is_another_name_of_backward() -> None:
    class Named(Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * 2

        vjp = staticmethod(twice)

    x = leaf(2)
    Named.apply(x).sum().backward()
    assert grad_list(x) == [2, 2]


def test_without_forward_it_cannot_be_called() -> None:
    empty: Any = type("Empty", (Function,), {})
    with refused(NotImplementedError, "missing-method"):
        empty.apply(leaf(2))
    with refused(NotImplementedError, "missing-method"):
        Function.forward(None, leaf(2))
    with refused(NotImplementedError, "missing-method"):
        Function.backward(None, leaf(2))
    with refused(NotImplementedError, "missing-method"):
        Function.setup_context(None, (), None)


def test_without_backward_it_can_be_called_but_not_differentiated() -> None:
    forward_only: Any = type(
        "ForwardOnly", (Function,), {"forward": staticmethod(lambda c, x: x * 2)}
    )
    x = leaf(2)
    y = forward_only.apply(x)
    assert y.tolist() == [2, 4]
    with refused(NotImplementedError, "missing-method", [x]):
        y.sum().backward()


def test_backward_and_vjp_together_are_refused() -> None:
    methods = {"forward": staticmethod(lambda c, x: x * 2), "backward": staticmethod(twice)}
    both: Any = type("Both", (Function,), methods | {"vjp": staticmethod(twice)})
    x = leaf(2)
    y = both.apply(x)
    with refused(RuntimeError, "function", [x]):
        y.sum().backward()


def test_jvp_and_vmap_say_that_they_are_not_there() -> None:
    with refused(NotImplementedError, "missing-method"):
        Function.jvp(None, leaf(2))
    with refused(NotImplementedError, "missing-method"):
        Function.vmap(None, (), leaf(2))
    assert Function.generate_vmap_rule is False


def test_a_function_has_no_instances_that_could_be_called() -> None:
    made: Any = Scale
    with pytest.warns(DeprecationWarning, match="Scale"):
        instance = made()
    with pytest.raises(RuntimeError, match="static"):
        instance(leaf(2))
    assert instance.apply(leaf(2), 3.0).tolist() == [3, 6]


def test_the_node_is_named_after_the_function() -> None:
    y = Scale.apply(leaf(2))
    assert fn_name(y) == "ScaleBackward"
    assert y.grad_fn is not None
    assert type(y.grad_fn).__name__ == "ScaleBackward"
    assert y.output_nr == 0


def test_the_class_of_the_nodes_and_the_function_know_each_other() -> None:
    made: Any = Scale
    assert made._backward_cls.__name__ == "ScaleBackward"
    assert made._backward_cls._forward_cls is Scale
    assert isinstance(Scale.apply(leaf(2)).grad_fn, made._backward_cls)
    assert issubclass(made._backward_cls, vt.autograd.function.BackwardCFunction)
    assert type(Scale) is vt.autograd.function.FunctionMeta


def test_a_subclass_overrides_what_it_likes() -> None:
    class Wrong(Scale):
        @staticmethod
        def backward(ctx: Any, gradient: vt.Tensor) -> tuple[vt.Tensor, None]:
            return gradient * 100, None

    x = leaf(2)
    y = Wrong.apply(x, 3.0)
    assert fn_name(y) == "WrongBackward"
    y.sum().backward()
    assert y.tolist() == [3, 6]
    assert grad_list(x) == [100, 100]


def test_apply_may_be_overridden() -> None:
    class Rounded(Scale):
        @classmethod
        def apply(cls, x: vt.Tensor, factor: float) -> vt.Tensor:  # type: ignore[override]
            return super().apply(x, round(factor))

    y = Rounded.apply(leaf(2), 2.7)
    assert y.tolist() == [3, 6]
    assert fn_name(y) == "RoundedBackward"


def test_forward_runs_without_recording_on_the_arguments_themselves() -> None:
    seen: list[bool] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        seen.extend((vt.is_grad_enabled(), x is given, x.requires_grad, (x * 2).requires_grad))
        return x * 2

    given = leaf(2)
    function(forward)(given)
    assert seen == [False, True, True, False]
    assert vt.is_grad_enabled()


def test_an_error_in_forward_comes_out_and_leaves_no_trace() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        raise KeyError("mine")

    b = leaf(2).clone()
    before = b.grad_fn
    with pytest.raises(KeyError, match="mine"):
        function(forward)(b)
    assert vt.is_grad_enabled()
    assert b.grad_fn is before
    assert b._version == 0


@pytest.mark.parametrize("how", ["no_grad", "constant"])
def test_nothing_is_recorded_where_nothing_requires_grad(how: str) -> None:
    x = ramp(2) if how == "constant" else leaf(2)
    with vt.set_grad_enabled(how == "constant"):
        y = Scale.apply(x)
    assert not y.requires_grad
    assert y.grad_fn is None
    assert y.is_leaf


def test_what_the_arguments_need_is_known_also_under_no_grad() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, *arguments: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return arguments[0] * 2

    apply = function(forward)
    apply(leaf(2), 3, ramp(2), None, leaf(1))
    with vt.no_grad():
        apply(leaf(2), ramp(2))
    assert seen == [(True, False, False, False, True), (True, False)]


def test_a_function_of_numbers_only_is_called() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, n: int) -> vt.Tensor:
        seen.append(ctx.needs_input_grad)
        return ramp(n)

    assert function(forward)(2).tolist() == [1, 2]
    assert seen == [(False,)]
