"""The node of a custom Function: its class, its `apply`, and what it shows of the context."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.functions import Function, Square, function, twice
from tests.support import (
    collector_off,
    differs_from_torch,
    grad_list,
    leaf,
    node_of,
    ramp,
    refused,
    vt,
)

FunctionCtx = vt.autograd.function.FunctionCtx
BackwardCFunction = vt.autograd.function.BackwardCFunction


def applied(y: vt.Tensor, *grads: Any) -> Any:
    """Call ``y.grad_fn.apply``."""
    node: Any = node_of(y)
    return node.apply(*grads)


class Exp(Function):
    """The example of articles on custom Functions."""

    @staticmethod
    def forward(ctx: Any, i: vt.Tensor) -> vt.Tensor:
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: vt.Tensor) -> Any:
        (result,) = ctx.saved_tensors
        return grad_output * result


def test_a_session_with_exp() -> None:
    made: Any = Exp
    x = vt.zeros(2, dtype=vt.float64, requires_grad=True)
    y: Any = Exp.apply(x)
    assert type(Exp) is vt.autograd.function.FunctionMeta
    assert made._backward_cls.__name__ == "ExpBackward"
    assert made._backward_cls._forward_cls is made
    assert type(y.grad_fn) is made._backward_cls
    lone = made._backward_cls()
    assert isinstance(lone, made._backward_cls)
    assert (lone.name(), lone.next_functions, lone.saved_tensors) == ("ExpBackward", (), ())
    assert made._backward_cls.apply is BackwardCFunction.apply
    found: Any = made._backward_cls.apply(y.grad_fn, ramp(2))
    assert found.tolist() == [1, 2]
    y.sum().backward()
    assert grad_list(x) == [1, 1]


def test_bases_of_the_class() -> None:
    made: Any = Exp
    line = made._backward_cls.__mro__
    assert line[1] is BackwardCFunction
    assert FunctionCtx in line
    assert isinstance(Exp.apply(leaf(2)).grad_fn, FunctionCtx)
    assert type(made._backward_cls) is type


def test_a_node_that_belongs_to_no_call_runs_backward() -> None:
    made: Any = type("Fn", (Function,), {"backward": staticmethod(twice)})
    assert made._backward_cls().apply(ramp(2)).tolist() == [2, 4]
    lone: Any = Exp
    with pytest.raises(ValueError, match="unpack"):
        lone._backward_cls().apply(ramp(2))


def test_apply_runs_backward_alone() -> None:
    x = leaf(2)
    y = Square.apply(x)
    node = node_of(y)
    log: list[Any] = []
    node.register_hook(lambda *given: log.append("hook"))
    with vt.no_grad():
        found = applied(y, ramp(2))
    assert found.tolist() == [2, 8]
    assert not found.requires_grad
    assert applied(y, ramp(2)).requires_grad
    assert (x.grad, log) == (None, [])
    y.sum().backward()
    with refused(RuntimeError, "graph-freed"):
        applied(y, ramp(2))


def test_apply_gives_what_backward_returns_and_checks_nothing() -> None:
    y = function(lambda ctx, x: x * 2, lambda ctx, *grads: ["a list", *grads])(leaf(2))
    assert applied(y, None, 3) == ["a list", None, 3]
    none = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: (g, h))(leaf(2))
    assert applied(none[0], None, None) == (None, None)
    with pytest.raises(TypeError):
        applied(none[0], None)


def test_apply_of_a_function_without_backward_or_with_two() -> None:
    none: Any = type("Fn", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with refused(NotImplementedError, "missing-method"):
        applied(none.apply(leaf(2)), ramp(2))
    two: Any = type("Fn", (none,), {"backward": staticmethod(twice), "vjp": staticmethod(twice)})
    with refused(RuntimeError, "function"):
        applied(two.apply(leaf(2)), ramp(2))
    vjp: Any = type("Fn", (none,), {"vjp": staticmethod(twice)})
    assert applied(vjp.apply(leaf(2)), ramp(2)).tolist() == [2, 4]


def test_apply_jvp_runs_jvp() -> None:
    forward = staticmethod(lambda ctx, x: x * 2)
    made: Any = type("Fn", (Function,), {"forward": forward, "jvp": staticmethod(twice)})
    node: Any = made.apply(leaf(2)).grad_fn
    assert node.apply_jvp(ramp(2)).tolist() == [2, 4]
    without: Any = function(lambda ctx, x: x * 2)(leaf(2)).grad_fn
    with refused(NotImplementedError, "missing-method"):
        without.apply_jvp(ramp(2))


# -- attributes ---------------------------------------------------------------------------------


def test_what_forward_declares_can_be_read_until_the_call_is_over() -> None:
    during: dict[str, Any] = {}

    def state(ctx: Any) -> dict[str, Any]:
        names = ("dirty_tensors", "non_differentiable", "to_save", "saved_for_forward")
        return {name: getattr(ctx, name) for name in names}

    def forward(ctx: Any, x: vt.Tensor, c: vt.Tensor) -> Any:
        assert set(state(ctx).values()) == {None}
        sign = x.sign()
        ctx.mark_dirty(c)
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(x, None)
        ctx.save_for_forward(c)
        during.update(state(ctx))
        assert ctx.saved_tensors[0] is c
        assert during["dirty_tensors"][0] is c
        assert during["non_differentiable"][0] is sign
        assert during["to_save"][0] is x
        assert during["to_save"][1] is None
        assert during["saved_for_forward"][0] is c
        return x * 2, sign, c.add_(1)

    y, _, _ = function(forward, lambda ctx, *grads: (grads[0] * 2, None))(leaf(2), ramp(2))
    node: Any = node_of(y)
    assert set(state(node).values()) == {None}
    assert len(node.saved_tensors) == 2


def test_declarations_may_be_assigned() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        y, sign = x * 2, x.sign()
        ctx.to_save = (x,)
        ctx.non_differentiable = (sign,)
        ctx.materialize_grads = False
        return y, sign

    def backward(ctx: Any, g: vt.Tensor, h: Any) -> Any:
        seen.append(h)
        return g * ctx.saved_tensors[0]

    x = leaf(2)
    y, sign = function(forward, backward)(x)
    assert not sign.requires_grad
    y.sum().backward()
    assert seen == [None]
    assert grad_list(x) == [1, 2]


def test_a_written_argument_may_be_assigned() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.dirty_tensors = (x,)
        return x.mul_(2)

    b = leaf(2).clone()
    assert function(forward)(b) is b
    assert b._version == 2


@pytest.mark.parametrize("name", ["to_save", "non_differentiable", "dirty_tensors"])
def test_declarations_are_tuples(name: str) -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        setattr(ctx, name, [x])
        return x * 2

    with pytest.raises(RuntimeError):
        function(forward)(leaf(2).clone())


def test_whether_gradients_are_materialized_is_written_only() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with pytest.raises(AttributeError):
            ctx.materialize_grads  # noqa: B018
        with pytest.raises(TypeError):
            ctx.materialize_grads = 3
        assert ctx._materialize_non_diff_grads is True
        with pytest.raises(TypeError):
            ctx._materialize_non_diff_grads = None
        return x * 2

    function(forward)(leaf(2))


@pytest.mark.parametrize(
    ("everything", "others", "expected"),
    [
        (True, True, [[0, 0], [0, 0], [0, 0]]),
        (True, False, [None, None, [0, 0]]),
        (False, True, [None, None, None]),
        (False, False, [None, None, None]),
    ],
)
def test_results_without_derivative_may_get_none(
    everything: bool, others: bool, expected: Any
) -> None:
    got: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        ctx.set_materialize_grads(everything)
        ctx._materialize_non_diff_grads = others
        constant = x * 3
        ctx.mark_non_differentiable(constant)
        return x * 2, x.to(vt.int64), constant, x * 4

    def backward(ctx: Any, g: vt.Tensor, *rest: Any) -> vt.Tensor:
        got.extend([None if h is None else h.tolist() for h in rest])
        return g * 2

    function(forward, backward)(leaf(2))[0].sum().backward()
    assert got == expected


def test_only_tensors_are_kept_for_forward() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_forward(x, 3)
        return x * 2

    with pytest.raises((TypeError, AssertionError)):
        function(forward)(leaf(2))


def test_old_names_warn() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with pytest.warns(FutureWarning, match="mark_shared_storage"):
            ctx.mark_shared_storage((x, x))
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        with pytest.warns(DeprecationWarning, match="saved_tensors"):
            return g * 2 * ctx.saved_variables[0]

    x = leaf(2)
    function(forward, backward)(x).sum().backward()
    assert grad_list(x) == [2, 4]


def test_what_was_saved_last_counts_and_nothing_saved_is_an_empty_tuple() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_backward()
        return x * 2

    seen: list[Any] = []

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        seen.append(ctx.saved_tensors)
        return g * 2

    y = function(forward, backward)(leaf(2))
    y.sum().backward()
    assert seen == [()]
    with refused(RuntimeError, "graph-freed"):
        y.sum().backward()


@differs_from_torch("there is no such attribute for Functions written in Python")
def test_saved_data_is_a_dict_made_on_first_use() -> None:
    def forward(ctx: Any, x: vt.Tensor, n: int) -> vt.Tensor:
        assert "saved_data" not in vars(ctx)
        ctx.saved_data["n"] = n
        return x**n

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g * ctx.saved_data["n"], None

    x = leaf(2)
    y = function(forward, backward)(x, 3)
    node: Any = node_of(y)
    assert node.saved_data == {"n": 3}
    y.sum().backward()
    y.sum().backward()
    assert grad_list(x) == [6, 6]
    assert node.saved_data is node.saved_data
    assert Exp._backward_cls().saved_data == {}


@differs_from_torch("the context is the node there")
def test_the_context_and_the_node_are_two_objects_that_know_each_other() -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        kept.append(ctx)
        ctx.factor = 2
        return x * 2

    y = function(forward)(leaf(2))
    ctx: Any = kept[0]
    node: Any = node_of(y)
    assert ctx is not node
    assert issubclass(type(ctx), FunctionCtx)
    assert node.needs_input_grad is ctx.needs_input_grad
    assert node.factor == 2
    assert ctx.metadata is node.metadata


# -- how long contexts live ---------------------------------------------------------------------


def test_a_context_outlives_its_graph() -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.note = "kept"
        kept.append(ctx)
        return x * 2

    x = leaf(2)
    y = function(forward)(x)
    y.sum().backward()
    del y
    (ctx,) = kept
    assert (ctx.name(), ctx.note) == ("FnBackward", "kept")
    assert ctx.next_functions[0][0].variable is x
    assert ctx.needs_input_grad == (True,)


def test_a_result_that_is_an_attribute_is_freed_by_the_collector_only() -> None:
    def keeping(save: Callable[[Any, vt.Tensor], None]) -> weakref.ref[Any]:
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            y = x * 2
            save(ctx, y)
            return y

        return weakref.ref(node_of(function(forward)(leaf(2))))

    with collector_off():
        assert keeping(lambda ctx, y: ctx.save_for_backward(y))() is None
        cycle = keeping(lambda ctx, y: setattr(ctx, "y", y))
        assert cycle() is not None
        gc.collect()
        assert cycle() is None


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_in_backward_keeps_its_class_and_its_frames(error: type[BaseException]) -> None:
    fails = [True]

    def raising() -> None:
        if fails:
            raise error("from backward")

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        x = ctx.saved_tensors[0]
        raising()
        return g * x

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(2)
    y = function(forward, backward)(x).sum()
    with pytest.raises(error, match="from backward") as caught:
        y.backward()
    assert "raising" in [entry.name for entry in caught.traceback]
    assert x.grad is None
    fails.clear()
    y.backward()
    assert grad_list(x) == [1, 2]


# -- options of the class -----------------------------------------------------------------------


def reading(times: int, option: bool = True) -> Any:
    """Give a Function that reads its saved tensors several times."""

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        for _ in range(times):
            (x,) = ctx.saved_tensors
        return g * 2 * x

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Fn", (Function,), {**methods, "clear_saved_tensors_on_access": option})


def test_reading_may_free_what_was_saved() -> None:
    assert Function.clear_saved_tensors_on_access is False
    x = leaf(2)
    y = reading(1).apply(x)
    y.sum().backward(retain_graph=True)
    assert grad_list(x) == [2, 4]
    with refused(RuntimeError, "graph-freed", [x]):
        y.sum().backward()
    with refused(RuntimeError, "graph-freed", [x]):
        reading(2).apply(x).sum().backward()
    reading(2, option=False).apply(x).sum().backward()
    assert grad_list(x) == [4, 8]


def test_reading_frees_the_memory() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        between = x * 3
        marks.append(weakref.ref(between))
        ctx.save_for_backward(between)
        return between * 2

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (between,) = ctx.saved_tensors
        marks.append(weakref.ref(between))
        del between
        alive.append(marks[-1]() is not None)
        return g * 6

    marks: list[Any] = []
    alive: list[bool] = []
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    made: Any = type("Fn", (Function,), {**methods, "clear_saved_tensors_on_access": True})
    made.apply(leaf(2)).sum().backward()
    assert alive == [False]


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_may_come_in_one_list(create_graph: bool) -> None:
    assert Function.boxed_grads_call is False
    got: list[Any] = []

    def backward(ctx: Any, *given: Any) -> Any:
        (grads,) = given
        got.append([type(grads), *[None if g is None else g.tolist() for g in grads]])
        g = grads[0]
        grads.clear()
        return g * 2

    forward = staticmethod(lambda ctx, x: (x * 2, x * 3, 4))
    methods = {"forward": forward, "backward": staticmethod(backward), "boxed_grads_call": True}
    made: Any = type("Fn", (Function,), methods)
    x = leaf(2)
    y = made.apply(x)[0]
    (found,) = vt.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert found.tolist() == [2, 2]
    node: Any = y.grad_fn
    node.apply(ramp(2), None, None)
    node.apply_boxed([ramp(2), None])
    assert got == [[list, [1, 1], [0, 0], None], [list, [1, 2], None, None], [list, [1, 2], None]]


def test_inplace_function_is_a_function() -> None:
    class Triple(vt.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            return g * 3

    x = leaf(2)
    b = x.clone()
    assert Triple.apply(b) is b
    b.sum().backward()
    assert grad_list(x) == [3, 3]
    with pytest.warns(DeprecationWarning, match="Triple"):
        assert Triple().inplace is False
    with pytest.warns(DeprecationWarning, match="Triple"):
        assert Triple(inplace=True).inplace is True


def test_nodes_of_all_functions_have_classes_of_one_place() -> None:
    node: Any = node_of(Exp.apply(vt.zeros(2, requires_grad=True)))
    place = f"{vt.__name__}.autograd.function.ExpBackward"
    assert repr(type(node)) == f"<class '{place}'>"
    assert repr(node).startswith(f"<{place} object at 0x")
