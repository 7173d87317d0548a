"""The events of a profile: names, nesting, numbers, shapes, scopes."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest

from tests.support import differs_from_torch, needs_global_lock, ones_leaf, vt

profile = vt.autograd.profiler.profile
record_function = vt.autograd.profiler.record_function

native_calls_are_no_events = pytest.mark.skipif(
    getattr(vt, "__compiled__", False),
    reason="native operators call each other directly, see Note [Observed operators]",
)

EVALUATE = "autograd::engine::evaluate_function: "


def names(p: vt.autograd.profiler.profile, *, outermost: bool = False) -> list[str]:
    """The names of events in the order of their beginning."""
    events = p.function_events
    assert events is not None
    return [event.name for event in events if not outermost or event.cpu_parent is None]


def event_of(
    p: vt.autograd.profiler.profile, name: str, which: int = 0
) -> vt.autograd.profiler.FunctionEvent:
    """One of the events of a name."""
    events = p.function_events
    assert events is not None
    return [event for event in events if event.name == name][which]


def children(event: vt.autograd.profiler.FunctionEvent) -> list[str]:
    """The names of the events directly within another."""
    return [child.name for child in event.cpu_children]


class Double(vt.autograd.Function):
    """Twice the argument."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, *grads: vt.Tensor) -> vt.Tensor:
        return grads[0] * 2


# -- the block ---------------------------------------------------------------------------------


def test_a_profile_cannot_be_entered_again() -> None:
    with profile() as p:
        pass
    with pytest.raises(RuntimeError), p:
        pass


def test_the_events_can_be_read_after_an_error_in_the_block() -> None:
    x = ones_leaf(2)

    def fail() -> None:
        x.exp()
        raise KeyError

    with pytest.raises(KeyError), profile() as p:
        fail()
    assert names(p) == ["aten::exp"]


def test_a_disabled_profile_has_no_events() -> None:
    p = profile(enabled=False)
    with p:
        ones_leaf(2).exp()
    with pytest.raises(AttributeError):
        p.function_events  # noqa: B018
    with pytest.raises(AttributeError):
        p.key_averages()


def test_before_the_end_averages_and_tables_are_empty() -> None:
    p = profile()
    assert len(p.key_averages()) == 0
    assert p.table() == ""


@needs_global_lock
def test_only_the_thread_that_enters_is_recorded() -> None:
    x = ones_leaf(2)
    thread = threading.Thread(target=lambda: x.sin())
    with profile() as p:
        thread.start()
        thread.join()
        x.exp()
    assert names(p) == ["aten::exp"]


@differs_from_torch("PyTorch lets a second profile begin")
def test_a_thread_has_one_profile_at_a_time() -> None:
    with profile() as p:
        with pytest.raises(RuntimeError, match="already"), profile():
            pass
        ones_leaf(2).exp()
    assert "aten::exp" in names(p)


@needs_global_lock
@differs_from_torch("PyTorch crashes when two threads end their profiles")
def test_each_thread_has_its_own_profile() -> None:
    x = ones_leaf(2)
    found: list[list[str]] = []
    inside, over = threading.Event(), threading.Event()

    def work() -> None:
        with profile() as own:
            inside.set()
            over.wait()
            x.sin()
        found.append(names(own))

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    with profile() as p:
        x.exp()
    over.set()
    thread.join()
    assert (names(p), found) == (["aten::exp"], [["aten::sin"]])


# -- fields ------------------------------------------------------------------------------------


def test_events_are_sorted_and_have_numbers_times_and_counts() -> None:
    x = ones_leaf(2)
    with profile() as p:
        x.exp().sin()
    first, second = p.function_events
    assert first.time_range.start < second.time_range.start
    assert first.time_range.start < first.time_range.end
    assert first.time_range.elapsed_us() == pytest.approx(
        first.time_range.end - first.time_range.start
    )
    assert first.cpu_time_total == pytest.approx(first.time_range.elapsed_us())
    assert first.id < second.id
    assert (first.count, first.thread, first.fwd_thread, first.scope) == (1, 1, 0, 0)
    assert (first.is_async, first.flops, first.cpu_memory_usage) == (False, 0, 0)
    assert first.key == first.name == "aten::exp"
    assert first.cpu_parent is None


def test_an_operator_that_calls_another_contains_it() -> None:
    a, b = ones_leaf(2, 3), ones_leaf(3, 4)
    with profile() as p:
        a.matmul(b)
    outer, inner = event_of(p, "aten::matmul"), event_of(p, "aten::mm")
    assert outer.cpu_children == [inner]
    assert inner.cpu_parent is outer
    assert outer.time_range.start <= inner.time_range.start
    assert inner.time_range.end <= outer.time_range.end
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner.cpu_time_total)


def test_methods_functions_and_signs_are_events_of_one_name() -> None:
    x = ones_leaf(2, 2)
    with profile() as p:
        _ = x + x, x.add(x), vt.add(x, x), -x, x @ x, x - 1.0, x > 1.0
    assert names(p, outermost=True) == [
        *["aten::add"] * 3,
        "aten::neg",
        "aten::matmul",
        "aten::sub",
        "aten::gt",
    ]


def test_an_operator_and_its_overloads_have_one_name() -> None:
    x = ones_leaf(2, 2)
    with profile() as p:
        _ = x / 2.0, x.sum(), x.sum(0), x**2, 2**x, x.max(), x.clamp(min=0.0), x[0:1]
    assert names(p, outermost=True) == [
        "aten::div",
        "aten::sum",
        "aten::sum",
        "aten::pow",
        "aten::pow",
        "aten::max",
        "aten::clamp",
        "aten::slice",
    ]
    inner = {child for event in p.function_events for child in children(event)}
    assert not {name for name in inner if name.startswith("vtgrad::")}


def test_views_and_writes_are_events() -> None:
    b = ones_leaf(3, 2).detach().clone()
    with profile() as p:
        b[0].mul_(2.0)
        b[1:].t()
        b += 1.0
        b.T  # noqa: B018
    assert [name for name in names(p, outermost=True) if name != "aten::numpy_T"][:5] == [
        "aten::select",
        "aten::mul_",
        "aten::slice",
        "aten::t",
        "aten::add_",
    ]


@differs_from_torch("PyTorch makes a view, and copies into it")
def test_an_assignment_is_one_event() -> None:
    b = vt.zeros(3, 2)
    with profile(profile_memory=True) as p:
        b[1:] = 1.0
        b[0] = b[1]
    assert names(p, outermost=True) == ["vtgrad::setitem", "aten::select", "vtgrad::setitem"]
    assert event_of(p, "vtgrad::setitem").bytes_copied == 16


def test_a_custom_function_has_its_name_and_contains_its_operators() -> None:
    x = ones_leaf(2)
    with profile() as p:
        y = Double.apply(x)
        y.sum().backward()
    event = event_of(p, "Double")
    assert "aten::mul" in children(event)
    assert y.grad_fn is not None
    assert event.sequence_nr == y.grad_fn._sequence_nr()
    assert event_of(p, "aten::mul").sequence_nr == -1
    assert "aten::mul" in children(event_of(p, "DoubleBackward"))


def test_what_makes_tensors_is_an_event() -> None:
    with profile() as p:
        vt.zeros(3)
        vt.ones(3)
        vt.arange(3)
    assert set(names(p, outermost=True)) == {"aten::zeros", "aten::ones", "aten::arange"}


def test_an_operator_that_fails_is_an_event_that_ends() -> None:
    x = ones_leaf(2)
    with profile() as p:
        with pytest.raises(RuntimeError):
            x.matmul(ones_leaf(3))
        x.exp()
    assert event_of(p, "aten::matmul").cpu_parent is None
    assert event_of(p, "aten::exp").cpu_parent is None


# -- sequence numbers --------------------------------------------------------------------------


def test_an_operator_has_the_number_of_the_next_node() -> None:
    x = ones_leaf(2)
    with profile() as p:
        constant = x.detach() * 2.0
        y = x * constant
        z = y.sin()
    assert y.grad_fn is not None
    assert z.grad_fn is not None
    first, second = event_of(p, "aten::mul"), event_of(p, "aten::mul", 1)
    assert first.sequence_nr == second.sequence_nr == y.grad_fn._sequence_nr()
    assert event_of(p, "aten::sin").sequence_nr == z.grad_fn._sequence_nr()


def test_without_recording_there_is_no_number() -> None:
    x = ones_leaf(2)
    with profile() as p, vt.no_grad():
        x.exp()
    assert event_of(p, "aten::exp").sequence_nr == -1


def test_the_events_of_a_node_have_its_number() -> None:
    x = ones_leaf(2)
    with profile() as p:
        y = x.exp()
        number = y.grad_fn._sequence_nr() if y.grad_fn is not None else -2
        y.sum().backward()
    assert event_of(p, "ExpBackward0").sequence_nr == number
    assert event_of(p, EVALUATE + "ExpBackward0").sequence_nr == number
    assert event_of(p, "aten::exp").sequence_nr == number
    assert event_of(p, "torch::autograd::AccumulateGrad").sequence_nr == -1


# -- backward ----------------------------------------------------------------------------------


def test_each_node_is_evaluated_in_an_event_that_contains_that_of_its_function() -> None:
    x = ones_leaf(2, 3)
    with profile(record_shapes=True) as p:
        x.exp().sum().backward()
    outer, inner = event_of(p, EVALUATE + "ExpBackward0"), event_of(p, "ExpBackward0")
    assert inner.cpu_parent is outer
    assert (outer.scope, outer.input_shapes, outer.fwd_thread) == (0, [], 1)
    assert (inner.scope, inner.input_shapes, inner.fwd_thread) == (1, [[2, 3]], 1)
    assert inner.thread == outer.thread == 1


def test_the_root_gradient_that_is_not_passed_is_an_event() -> None:
    x = ones_leaf(2)
    y = x.sum()
    with profile() as p:
        y.backward()
    assert names(p)[0] == "aten::ones_like"


def test_copy_slices_contains_the_node_of_the_operator_that_wrote() -> None:
    x = ones_leaf(3)
    b = x.clone()
    b[1:].mul_(2.0)
    with profile() as p:
        b.sum().backward()
    (event,) = [e for e in p.function_events if e.name == "torch::autograd::CopySlices"]
    assert "MulBackward0" in children(event)


def test_the_sum_of_two_gradients_is_an_event() -> None:
    x = ones_leaf(2)
    y = x.exp()
    z = y.sin() + y.cos()
    with profile() as p:
        z.sum().backward()
    adds = [event for event in p.function_events if event.name == "aten::add_"]
    parents = [event.cpu_parent.name for event in adds if event.cpu_parent is not None]
    assert EVALUATE + "SinBackward0" in parents or EVALUATE + "CosBackward0" in parents


@native_calls_are_no_events
def test_a_recorded_backward_contains_operators() -> None:
    x = ones_leaf(2)
    y = x.sin()
    with profile() as p:
        vt.autograd.grad(y.sum(), x, create_graph=True)
    assert {"aten::cos", "aten::mul"} <= set(children(event_of(p, "SinBackward0")))


def test_hooks_run_within_the_evaluation_of_their_node() -> None:
    x = ones_leaf(2)
    y = x.exp()
    y.register_hook(lambda grad: grad.sin())
    z = y.sum()
    with profile() as p:
        z.backward()
    parent = event_of(p, "aten::sin").cpu_parent
    assert parent is not None
    assert parent.name == EVALUATE + "ExpBackward0"


def test_an_error_in_backward_ends_its_events() -> None:
    def refuse(grad: vt.Tensor) -> vt.Tensor:
        raise KeyError

    x = ones_leaf(2)
    y = x.exp()
    y.register_hook(refuse)
    z = y.sum()
    with profile() as p:
        with pytest.raises(KeyError):
            z.backward()
        x.cos()
    assert event_of(p, "aten::cos").cpu_parent is None


def test_a_backward_within_a_backward_is_within_its_events() -> None:
    inner = ones_leaf(2).exp().sum()

    def again(grad: vt.Tensor) -> None:
        inner.backward()

    x = ones_leaf(2)
    y = x.sin()
    y.register_hook(again)
    z = y.sum()
    with profile() as p:
        z.backward()
    event = event_of(p, EVALUATE + "ExpBackward0")
    above = []
    while event.cpu_parent is not None:
        event = event.cpu_parent
        above.append(event.name)
    assert EVALUATE + "SinBackward0" in above


def test_a_backward_that_is_nested_deeply_is_recorded() -> None:
    def nested(depth: int) -> None:
        with vt.enable_grad():
            y = ones_leaf(2).exp()
            if depth:
                y.register_hook(lambda grad: nested(depth - 1))
            z = y.sum()
        z.backward()

    with profile() as p:
        nested(45)  # in vtgrad, on three threads
        ones_leaf(2).sin()
    assert names(p).count("ExpBackward0") == 46
    assert event_of(p, "aten::sin").cpu_parent is None


def test_a_node_that_is_called_is_an_event() -> None:
    x = ones_leaf(2)
    node = x.exp().grad_fn
    assert node is not None
    with profile() as p:
        node(vt.ones(2, dtype=vt.float64))
    assert event_of(p, "ExpBackward0").scope == 1
    assert event_of(p, "ExpBackward0").cpu_parent is None


# -- shapes, memory, stacks --------------------------------------------------------------------


def test_shapes_are_a_list_for_each_argument() -> None:
    x = ones_leaf(2, 3)
    with profile(record_shapes=True) as p:
        x.mul(x)
        vt.ones(()).exp()
        x.sum(1)
    assert event_of(p, "aten::mul").input_shapes == [[2, 3], [2, 3]]
    assert event_of(p, "aten::exp").input_shapes == [[]]
    assert event_of(p, "aten::sum").input_shapes[:2] == [[2, 3], []]


def test_without_record_shapes_there_are_none() -> None:
    x = ones_leaf(2, 3)
    with profile() as p:
        x.mul(x)
    assert event_of(p, "aten::mul").input_shapes == []


def test_memory_is_that_of_results_and_not_of_views() -> None:
    x = ones_leaf(8)
    with profile(profile_memory=True) as p:
        y = x.exp()
        v = y[2:]
        v.detach().neg_()
    assert event_of(p, "aten::exp").cpu_memory_usage == 64
    assert event_of(p, "aten::slice").cpu_memory_usage == 0
    assert event_of(p, "aten::neg_").cpu_memory_usage == 0


@differs_from_torch("PyTorch does not count bytes that are copied")
def test_bytes_that_views_and_writes_copy_are_counted() -> None:
    x = vt.ones(4, 6, dtype=vt.float64)
    with profile(profile_memory=True) as p:
        x.t().reshape(24)
        x.reshape(24)
        x[1].mul_(2.0)
    copies, view = (event_of(p, "aten::reshape", which) for which in (0, 1))
    assert (copies.bytes_copied, view.bytes_copied) == (192, 0)
    assert event_of(p, "aten::mul_").bytes_copied == 48


@differs_from_torch("its objects have no attribute for the memory")
def test_a_profile_does_not_keep_the_memory_of_arguments() -> None:
    # Breaks when only an operator that succeeds lets go of it.
    x = vt.ones(2, 3)
    memory = weakref.ref(x._impl.array)
    with profile(profile_memory=True) as p:
        x.exp()
        with pytest.raises(RuntimeError):
            x.mm(x)
    del x
    assert memory() is None
    assert event_of(p, "aten::mm").cpu_memory_usage == 0


@pytest.mark.parametrize("index", ["a", slice("a", None), slice(None, None, 0), (0, 0, 0), 7])
def test_an_assignment_fails_as_it_does_without_a_profile(index: Any) -> None:
    x = vt.ones(2, 3)
    with pytest.raises(Exception) as without:  # noqa: PT011  # its class is compared
        x[index] = 1.0
    with pytest.raises(type(without.value)) as within, profile(profile_memory=True):
        x[index] = 1.0
    assert str(within.value) == str(without.value)


@differs_from_torch("PyTorch shows Python functions as events")
def test_with_stack_events_have_the_lines_that_called() -> None:
    x = ones_leaf(2)
    with profile(with_stack=True) as p:
        x.exp()
    first = event_of(p, "aten::exp").stack[0]
    assert first.endswith(": test_with_stack_events_have_the_lines_that_called")
    assert __file__ in first


def test_products_and_sums_have_their_number_of_operations() -> None:
    a, b = ones_leaf(2, 3), ones_leaf(3, 4)
    with profile(with_flops=True, record_shapes=True) as p:
        a.mm(b)
        a.mul(a)
        a.exp()
    assert [event_of(p, f"aten::{name}").flops for name in ("mm", "mul", "exp")] == [48, 6, 0]


@differs_from_torch("PyTorch counts the elements of the first argument")
def test_operations_of_operands_of_different_shapes_are_those_of_the_result() -> None:
    a, b = ones_leaf(3, 1), ones_leaf(1, 4)
    with profile(with_flops=True, record_shapes=True) as p:
        a * b
        a + 1
        with pytest.raises(RuntimeError):
            vt.ones(2) * vt.ones(3)
    assert [event_of(p, "aten::mul", which).flops for which in (0, 1)] == [12, 0]
    assert event_of(p, "aten::add").flops == 3


@differs_from_torch("PyTorch has devices and modules")
def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(NotImplementedError):
        profile(use_device="cuda")
    with pytest.raises(NotImplementedError):
        profile(with_modules=True)


# -- record_function ---------------------------------------------------------------------------


def test_a_users_block_is_an_event_around_its_operators() -> None:
    x = ones_leaf(2)
    with profile() as p:
        with record_function("outer"), record_function("inner"):
            x.exp()
        x.sin()
    outer, inner = event_of(p, "outer"), event_of(p, "inner")
    assert (outer.scope, outer.sequence_nr) == (7, -1)
    assert inner.cpu_parent is outer
    assert event_of(p, "aten::exp").cpu_parent is inner
    assert event_of(p, "aten::sin").cpu_parent is None


def test_a_users_block_may_have_the_name_of_an_operator() -> None:
    # Breaks when the operator is taken for the implementation of the block.
    x = ones_leaf(2)
    with profile() as p, record_function("aten::exp"):
        x.exp()
        x.sin()
    assert children(event_of(p, "aten::exp")) == ["aten::exp", "aten::sin"]


def test_a_users_block_is_closed_by_errors() -> None:
    x = ones_leaf(2)
    with profile() as p:
        with pytest.raises(KeyError), record_function("outer"):
            raise KeyError
        x.sin()
    assert event_of(p, "aten::sin").cpu_parent is None
    assert event_of(p, "outer").count == 1


def test_a_decorated_function_is_an_event_each_time() -> None:
    @record_function("twice")
    def twice(x: vt.Tensor) -> vt.Tensor:
        return x.exp()

    x = ones_leaf(2)
    with profile() as p:
        twice(twice(x))
    assert [children(event_of(p, "twice", which)) for which in (0, 1)] == [["aten::exp"]] * 2
    assert twice.__name__ == "twice"


@differs_from_torch("PyTorch ends the outer event when the inner one begins")
def test_a_decorated_function_may_call_itself() -> None:
    @record_function("twice")
    def twice(x: vt.Tensor, depth: int) -> vt.Tensor:
        return twice(x, depth - 1) if depth else x.exp()

    x = ones_leaf(2)
    with profile() as p:
        twice(x, 1)
    outer, inner = event_of(p, "twice"), event_of(p, "twice", 1)
    assert inner.cpu_parent is outer


def test_without_a_profile_a_users_block_does_nothing() -> None:
    with record_function("alone"):
        y = ones_leaf(2).exp()
    assert y.requires_grad


def test_the_name_of_a_block_is_a_string() -> None:
    with pytest.raises(RuntimeError), profile(), record_function(3):  # type: ignore[arg-type]
        pass
