"""The operator trace: names, inputs, outputs, writes in place, views, and what nodes are."""

import gc
import threading
import weakref

import numpy as np
import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.autograd.profiler import profile
from vtgrad.errors import ProfilerError
from vtgrad.graph.observer import observers
from vtgrad.jit.operators import OperatorTrace, TracedOperator, TracedValue, list_operators

native_calls_are_not_seen = pytest.mark.skipif(
    vt.__compiled__,
    reason="native operators call each other directly, see Note [Observed operators]",
)


class Cube(vt.autograd.Function):
    """Its backward calls operators."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        assert x is not None
        return grad * x * x * 3


def names(operators: tuple[TracedOperator, ...]) -> list[str]:
    return [operator.name for operator in operators]


def test_values_have_one_number_wherever_they_stand() -> None:
    a, b = vt.ones(2, 3), vt.ones(3)
    operators, result = list_operators(lambda: (a * b) + a)
    assert [str(operator) for operator in operators] == [
        "%2 = aten::mul(%0, %1)",
        "%3 = aten::add(%2, %0)",
    ]
    assert operators[1].outputs == (TracedValue(3, (2, 3), vt.float32),)
    np.testing.assert_array_equal(result.numpy(), np.full((2, 3), 2.0))


def test_writes_and_views_are_found_from_versions_and_memory() -> None:
    x = vt.zeros(3, 2)

    def program() -> None:
        row = x[0]
        row.add_(1)
        x[1:] = 5
        flat = x.reshape(6)
        x.t().reshape(6)
        vt.add(flat, flat, out=vt.empty(6))

    operators, _ = list_operators(program)
    assert [str(operator) for operator in operators] == [
        "%1 = aten::select(%0, 0)  # view of %0",
        "%1 = aten::add_(%1, 1)  # writes %1",
        "vtgrad::setitem(%0, slice(1, None, None), 5)  # writes %0",
        "%2 = aten::reshape(%0, 6)  # view of %0",
        "%3 = aten::t(%0)  # view of %0",
        # The elements of the transpose cannot be viewed so: it is a copy.
        "%5 = aten::reshape(%3, 6)",
        "%6 = aten::empty(6)",
        "%6 = aten::add(%2, %2, %6)  # writes %6",
    ]


def test_results_in_lists_and_arguments_in_lists_are_values() -> None:
    x = vt.zeros(2, 3)
    operators, _ = list_operators(lambda: vt.stack(list(x.unbind(0))))
    assert [str(operator) for operator in operators] == [
        "%1, %2 = aten::unbind(%0, 0)  # view of %0",
        "%3 = aten::stack([%1, %2])",
    ]


@native_calls_are_not_seen
def test_composites_list_what_they_call() -> None:
    a = vt.ones(2)
    operators, _ = list_operators(lambda: a.matmul(a))
    (product,) = operators
    assert (product.name, names(product.inner)) == ("aten::matmul", ["aten::dot"])
    assert product.outputs == product.inner[0].outputs


def test_apply_and_nodes_say_whether_they_are_traceable() -> None:
    x = vt.ones(2, requires_grad=True)
    operators, _ = list_operators(lambda: Cube.apply(x).sum().backward())
    kinds = {(o.name, o.kind, o.is_traceable) for o in operators}
    assert kinds >= {
        ("Cube", "function", False),
        ("aten::sum", "operator", True),
        ("SumBackward0", "node", True),
        ("CubeBackward", "node", False),
    }
    function = next(o for o in operators if o.name == "Cube")
    assert names(function.inner) == ["aten::mul"] * 2
    backward = next(o for o in operators if o.name == "CubeBackward")
    assert names(backward.inner) == ["aten::mul"] * 3
    assert str(function).endswith("= Cube(%0)  # not traceable")


def test_a_gradient_has_one_number_from_node_to_node() -> None:
    x = vt.ones(2, requires_grad=True)
    operators, _ = list_operators(lambda: (x * x * 3).sum().backward())
    nodes = [o for o in operators if o.kind == "node"]
    by_name = {o.name: o for o in nodes}
    assert by_name["SumBackward0"].outputs[0] == nodes[1].inputs[0]


def test_places_are_the_lines_of_the_program() -> None:
    x = vt.ones(2)
    operators, _ = list_operators(lambda: x.exp())
    place = operators[0].place
    assert place is not None
    assert place.filename == __file__
    assert place.source == "operators, _ = list_operators(lambda: x.exp())"


def test_blocks_hold_their_operators() -> None:
    x = vt.ones(2)

    def program() -> vt.Tensor:
        with vt.profiler.record_function("step"):
            return x + x

    operators, _ = list_operators(program)
    assert [(o.name, o.kind, names(o.inner)) for o in operators] == [
        ("step", "block", ["aten::add"])
    ]


def test_a_call_that_fails_has_no_outputs() -> None:
    x = vt.ones(2)
    with OperatorTrace() as trace:
        with pytest.raises(RuntimeError):
            x.matmul(vt.ones(3))
        x.neg()
    assert [(o.name, len(o.outputs)) for o in trace.operators] == [
        ("aten::ones", 1),
        ("aten::matmul", 0),
        ("aten::neg", 1),
    ]


def test_nothing_is_kept_alive() -> None:
    gc.disable()
    try:
        with OperatorTrace() as trace:
            x = vt.ones(2)
            dead = weakref.ref(x)
            y = x + 1
            del x
            assert dead() is None
        assert names(tuple(trace.operators)) == ["aten::ones", "aten::add"]
        assert y.numel() == 2
    finally:
        gc.enable()


@needs_global_lock
def test_a_thread_has_one_observer_and_others_none() -> None:
    seen: list[int] = []

    def other() -> None:
        vt.ones(2).neg()
        seen.append(len(trace.operators))

    with OperatorTrace() as trace:
        with pytest.raises(ProfilerError, match="observed already"), OperatorTrace():
            pass
        with pytest.raises(ProfilerError), profile():
            pass
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        vt.ones(2)
    assert seen == [0]
    assert names(tuple(trace.operators)) == ["aten::ones"]
    assert not observers


def test_an_error_ends_the_trace() -> None:
    def program() -> None:
        vt.ones(2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list_operators(program)
    assert not observers
    assert vt.__compiled__ or "observed" not in vt.add.__code__.co_name
