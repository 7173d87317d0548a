"""Roots, gradients passed in, inputs asked for, freeing, and where gradients arrive."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import (
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    node_of,
    parent_of,
    ramp,
    recorded,
    refused,
    vt,
)

# -- roots and the gradients passed in --------------------------------------------------------


def test_a_root_without_gradient_is_refused() -> None:
    for x in (ramp(1)[0], (leaf(2) > 1).sum(), leaf(2).argmax()):
        with refused(RuntimeError, "root", [x]):
            x.backward()


def test_a_root_of_one_element_and_any_shape_needs_no_gradient() -> None:
    x = leaf(1, 1)
    (x * 2).backward()
    assert grad_list(x) == [[2]]


def test_a_root_of_several_elements_needs_a_gradient() -> None:
    x = leaf(2)
    y = x * 2
    with refused(RuntimeError, "implicit-gradient", [x, y]):
        y.backward()
    with refused(RuntimeError, "implicit-gradient", [x, y]):
        vt.autograd.grad(y, x)
    y.backward(ramp(2))
    assert grad_list(x) == [2, 4]


def test_a_complex_root_needs_a_gradient() -> None:
    z = vt.ones(1, dtype=vt.complex128, requires_grad=True)
    y = z * 2
    with refused(RuntimeError, "implicit-gradient", [z, y]):
        y.backward()
    y.backward(vt.ones(1, dtype=vt.complex128))
    assert grad_list(z) == [2]


def test_the_gradient_of_a_root_is_neither_broadcast_nor_summed() -> None:
    x = leaf(2)
    y = x * 2
    for wrong in (ramp(1), ramp(2, 1), ramp(3), ramp(1, 2), ramp(3, 2)):
        with refused(RuntimeError, "gradient", [x, y]):
            y.backward(wrong)
    assert x.grad is None


def test_a_complex_gradient_does_not_fit_a_real_root() -> None:
    x = leaf(2)
    y = x * 2
    with refused(RuntimeError, "gradient", [x, y]):
        y.backward(vt.ones(2, dtype=vt.complex128))


def test_a_real_gradient_does_not_fit_a_complex_root() -> None:
    z = vt.ones(2, dtype=vt.complex128, requires_grad=True)
    y = z * 2
    with refused(RuntimeError, "gradient", [z, y]):
        y.backward(ramp(2))
    assert z.grad is None


def test_a_gradient_of_another_float_dtype_is_cast() -> None:
    x = leaf(2)
    (x * 2).backward(vt.ones(2, dtype=vt.float32))
    assert grad_list(x) == [2, 2]
    assert x.grad is not None
    assert x.grad.dtype == vt.float64


def test_a_gradient_that_is_no_tensor_is_a_type_error() -> None:
    x = leaf(2)
    with pytest.raises(TypeError):
        (x * 2).backward([1.0, 2.0])  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError):
        (x * 2).sum().backward(3.0)  # type: ignore[arg-type]  # the point of the test
    assert x.grad is None


def test_a_leaf_may_be_a_root() -> None:
    x = leaf(1)
    x.backward()
    assert grad_list(x) == [1]
    assert gradients(x, x) == [[1]]


def test_the_same_root_twice_counts_twice() -> None:
    x = leaf(1)
    y = x * 3
    vt.autograd.backward([y, y])
    assert grad_list(x) == [6]


def test_a_root_that_depends_on_another_root_adds_to_it() -> None:
    x = leaf(1)
    y = x * 3
    z = y * 5
    vt.autograd.backward([y, z])
    assert grad_list(x) == [18]


def test_several_outputs_are_summed() -> None:
    x = leaf(2)
    found = vt.autograd.grad([x * 2, x * x], [x], [vt.ones(2, dtype=vt.float64), ramp(2)])
    assert found[0].tolist() == [4, 10]


# -- what grad returns -------------------------------------------------------------------------


def test_an_input_that_was_not_used_is_refused_unless_allowed() -> None:
    x, z = leaf(2), leaf(2)
    with refused(RuntimeError, "unused-input", [x, z]):
        vt.autograd.grad(x.sum(), z)
    (gradient,) = vt.autograd.grad(x.sum(), z, allow_unused=True)
    assert gradient is None


def test_an_input_without_gradient_is_refused() -> None:
    x = leaf(2)
    with refused(RuntimeError, "grad-required", [x]):
        vt.autograd.grad(x.sum(), ramp(2))


def test_unused_inputs_can_be_materialized_as_zeros() -> None:
    x, z = leaf(2), leaf(2)
    (gradient,) = vt.autograd.grad(x.sum(), z, materialize_grads=True)
    assert gradient.tolist() == [0, 0]


@pytest.mark.parametrize("with_a_used_input", [False, True])
def test_an_unused_edge_cannot_be_materialized(with_a_used_input: bool) -> None:
    # Zeros are made like a tensor, and an edge stands for none.
    x, z = leaf(2), leaf(2)
    edge = vt.autograd.graph.get_gradient_edge(z * 2)
    used = [x] if with_a_used_input else []
    with refused(RuntimeError, "unused-input", [x, z]):
        vt.autograd.grad(x.sum(), [*used, edge], materialize_grads=True)


def test_an_edge_that_is_used_may_be_named_where_others_are_materialized() -> None:
    x, z = leaf(2), leaf(2)
    edge = vt.autograd.graph.get_gradient_edge(x)
    found = vt.autograd.grad((x * x).sum(), [edge, z], materialize_grads=True)
    assert [g.tolist() for g in found] == [[2, 4], [0, 0]]
    (nothing,) = vt.autograd.grad(
        x.sum(), [vt.autograd.graph.get_gradient_edge(z)], allow_unused=True
    )
    assert nothing is None


def test_materialized_and_not_allowed_contradict_each_other() -> None:
    x, z = leaf(2), leaf(2)
    with refused(ValueError, "argument-value", [x, z]):
        vt.autograd.grad(x.sum(), z, allow_unused=False, materialize_grads=True)


def test_grad_without_inputs_is_refused() -> None:
    x = leaf(2)
    with refused(RuntimeError, "empty-inputs", [x]):
        vt.autograd.grad(x.sum(), [])


def test_grad_leaves_the_grad_attribute_alone() -> None:
    x = leaf(2)
    y = x * x
    first, second = vt.autograd.grad(y.sum(), [y, x])
    assert x.grad is None
    assert first.tolist() == [1, 1]
    assert second.tolist() == [2, 4]


def test_grad_returns_a_tuple_also_for_one_input() -> None:
    x = leaf(2)
    found = vt.autograd.grad(x.sum(), x)
    assert isinstance(found, tuple)
    assert len(found) == 1


def test_the_same_input_may_be_asked_for_twice() -> None:
    x = leaf(2)
    first, second = vt.autograd.grad((x * x).sum(), [x, x])
    assert first.tolist() == [2, 4]
    assert second.tolist() == [2, 4]


def test_gradients_do_not_require_grad_without_create_graph() -> None:
    x = leaf(2)
    (gradient,) = vt.autograd.grad((x * x).sum(), x)
    assert not gradient.requires_grad
    (x * x).sum().backward()
    assert x.grad is not None
    assert not x.grad.requires_grad


def test_create_graph_keeps_the_graph_and_can_be_repeated() -> None:
    x = leaf(2)
    y = (x * x).sum()
    (gradient,) = vt.autograd.grad(y, x, create_graph=True)
    assert fn_name(gradient) == "AddBackward0"
    assert gradients(y, x) == [[2, 4]]


def test_grad_frees_what_it_ran_as_backward_does() -> None:
    x = leaf(2)
    y = (x * x).sum()
    assert gradients(y, x, retain_graph=True) == [[2, 4]]
    assert gradients(y, x) == [[2, 4]]
    with refused(RuntimeError, "graph-freed", [x, y]):
        vt.autograd.grad(y, x)
    with refused(RuntimeError, "graph-freed", [x, y]):
        y.backward()


def test_third_derivatives_of_a_power() -> None:
    x = vt.tensor([2.0], dtype=vt.float64, requires_grad=True)
    (first,) = vt.autograd.grad((x**4).sum(), x, create_graph=True)
    (second,) = vt.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = vt.autograd.grad(second.sum(), x)
    assert (first.tolist(), second.tolist(), third.tolist()) == ([32], [48], [48])


def test_backward_with_create_graph_warns_of_the_cycle_it_makes() -> None:
    x = leaf(2)
    with pytest.warns(UserWarning, match="create_graph"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not None
    assert x.grad.requires_grad
    assert gradients(x.grad.sum(), x) == [[2, 2]]
    x.grad = None


@pytest.mark.filterwarnings("ignore:.*create_graph:UserWarning")
def test_a_recorded_gradient_is_copied_into_grad_or_added_to_what_is_there() -> None:
    x = vt.ones(3, 2, dtype=vt.float64).t().requires_grad_()
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    assert first is not None
    assert (fn_name(first), first.stride(), first._version) == ("CopyBackwards", (1, 2), 1)
    assert [node and node.name() for node, _ in node_of(first).next_functions] == [
        None,
        "AddBackward0",
    ]
    (x * x).sum().backward(create_graph=True)
    second = x.grad
    assert second is not None
    assert second is not first
    assert fn_name(second) == "AddBackward0"
    assert [node and node.name().split("::")[-1] for node, _ in node_of(second).next_functions] == [
        "CopyBackwards",
        "AddBackward0",
    ]
    assert second._version == 0
    assert gradients(second.sum(), x) == [[[4.0] * 3] * 2]


@pytest.mark.filterwarnings("ignore:.*create_graph:UserWarning")
def test_a_recorded_gradient_of_a_leaf_with_gaps_is_a_row_major_clone() -> None:
    for x in (vt.ones(4, 3).t()[:, ::2], vt.ones(3, 1).expand(3, 2)):
        x.requires_grad_()
        (x.t() * x.t()).sum().backward(create_graph=True)
        g = x.grad
        assert g is not None
        assert (fn_name(g), g.stride(), g._version) == ("CloneBackward0", (2, 1), 0)


@pytest.mark.filterwarnings("ignore:.*create_graph:UserWarning")
def test_a_recorded_gradient_is_nobody_elses_tensor() -> None:
    x, y, g = leaf(2), leaf(2), leaf(2)
    (x + y).backward(g, create_graph=True)
    assert x.grad is not None
    assert y.grad is not None
    assert len({t.data_ptr() for t in (x.grad, y.grad, g)}) == 3
    assert [fn_name(t) for t in (x.grad, y.grad)] == ["CopyBackwards"] * 2
    assert gradients((x.grad * ramp(2)).sum(), g) == [[1.0, 2.0]]


def test_create_graph_accumulates_out_of_place() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    first = x.grad
    with pytest.warns(UserWarning, match="create_graph"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert grad_list(x) == [4, 6]
    x.grad = None


# -- where backward delivers -------------------------------------------------------------------


def test_only_leaves_get_a_grad() -> None:
    x = leaf(2)
    y = x * 2
    y.sum().backward()
    assert grad_list(x) == [2, 2]
    with pytest.warns(UserWarning, match=r"\.grad"):
        assert y.grad is None


def test_the_first_gradient_of_a_leaf_is_not_added_to_zeros() -> None:
    x = leaf(1)
    x.backward(vt.tensor([-0.0], dtype=vt.float64))
    assert x.grad is not None
    assert x.grad.signbit().tolist() == [True]  # 0 and -0 are 0


def test_backward_with_inputs_delivers_there_and_nowhere_else() -> None:
    x, z = leaf(2), leaf(2)
    y = x * z
    y.retain_grad()
    y.sum().backward(inputs=[x])
    assert grad_list(x) == [1, 2]
    assert z.grad is None


def test_backward_delivers_to_a_non_leaf_that_was_asked_for() -> None:
    x, z = leaf(2), leaf(2)
    y = x * z
    y.sum().backward(inputs=[x, y])
    assert grad_list(y) == [1, 1]
    assert grad_list(x) == [1, 2]
    assert z.grad is None


def test_backward_takes_a_single_input() -> None:
    x, z = leaf(2), leaf(2)
    (x * z).sum().backward(inputs=z)
    assert grad_list(z) == [1, 2]
    assert x.grad is None


def test_backward_ignores_an_input_that_is_not_reached() -> None:
    x, z = leaf(2), leaf(2)
    (x * 2).sum().backward(inputs=[x, z])
    assert grad_list(x) == [2, 2]
    assert z.grad is None


def test_backward_with_no_inputs_at_all_is_refused() -> None:
    x = leaf(2)
    y = (x * 2).sum()
    with pytest.raises(RuntimeError):
        y.backward(inputs=[])
    assert x.grad is None


def test_nodes_off_the_path_to_the_inputs_do_not_run() -> None:
    log: list[object] = []
    x, z = leaf(2), leaf(2)
    side = z * 2
    side.register_hook(recorded(log, "side"))
    total = (x * 3).sum() + side.sum()
    assert gradients(total, x) == [[3, 3]]
    assert log == []


def test_a_gradient_edge_taken_before_a_write_means_the_older_version() -> None:
    a = leaf(2)
    b = a.clone()
    edge = vt.autograd.graph.get_gradient_edge(b)
    b.mul_(3)
    total = b.sum()
    (before,) = vt.autograd.grad(total, [edge], retain_graph=True)
    (after,) = vt.autograd.grad(total, [b])
    assert before.tolist() == [3, 3]
    assert after.tolist() == [1, 1]


def test_a_gradient_edge_may_be_a_root() -> None:
    a = leaf(2)
    edge = vt.autograd.graph.get_gradient_edge(a * 5)
    (gradient,) = vt.autograd.grad([edge], [a], [ramp(2)])
    assert gradient.tolist() == [5, 10]


def test_backward_takes_an_edge_or_a_list_of_edges_as_inputs() -> None:
    x, z = leaf(2), leaf(2)
    edge = vt.autograd.graph.get_gradient_edge(x)
    vt.autograd.backward((x * z).sum(), inputs=edge)
    vt.autograd.backward((x * z).sum(), inputs=[edge])
    assert grad_list(x) == [2, 4]
    assert z.grad is None


def test_backward_to_the_edge_of_a_result_fills_nothing() -> None:
    # An edge has no tensor that could be filled.
    x = leaf(2)
    y = x * 1
    edge = vt.autograd.graph.get_gradient_edge(y)
    vt.autograd.backward((y * 2).sum(), inputs=[edge])
    assert x.grad is None
    assert not y.retains_grad


def test_inputs_of_backward_must_be_tensors_that_require_grad() -> None:
    x = leaf(2)
    y = (x * 2).sum()
    with refused(RuntimeError, "grad-required", [x, y]):
        y.backward(inputs=[ramp(2)])
    with pytest.raises((TypeError, RuntimeError)):
        y.backward(inputs=[3])  # type: ignore[list-item]  # the point of the test
    assert x.grad is None


def test_an_input_named_twice_is_filled_once() -> None:
    x = leaf(2)
    y = x * 1
    (y * 2).sum().backward(inputs=[x, x, y, y])
    assert grad_list(x) == [2, 2]
    assert grad_list(y) == [2, 2]


def test_a_result_given_as_input_goes_on_retaining_its_gradient() -> None:
    y = leaf(2) * 2
    (y * 2).sum().backward(inputs=[y], retain_graph=True)
    assert y.retains_grad
    (y * 3).sum().backward()
    assert grad_list(y) == [5, 5]


@differs_from_torch("there the inputs go on retaining their gradients")
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["before the input", "at the input"])
def test_a_pass_that_failed_leaves_no_input_retaining(
    error: type[BaseException], where: str
) -> None:
    x = leaf(2)
    y = x * 1
    view = y[:1]
    z = (y * view).sum()

    def fails(gradient: vt.Tensor) -> None:
        raise error("on purpose")

    handle = (z if where == "before the input" else y).register_hook(fails)
    with pytest.raises(error):
        z.backward(inputs=[y, view, x], retain_graph=True)
    assert not y.retains_grad
    assert not view.retains_grad
    handle.remove()
    view.grad = None
    z.backward()
    for result in (y, view):
        with pytest.warns(UserWarning, match="not a leaf"):
            assert result.grad is None


def test_the_strides_of_a_gradient_are_those_of_its_leaf() -> None:
    x = ramp(2, 3).t().requires_grad_()
    x.sum().backward()
    assert x.grad is not None
    assert tuple(x.grad.stride()) == (1, 3)


def test_the_strides_of_a_recorded_gradient_are_those_of_its_leaf() -> None:
    x = ramp(2, 3).requires_grad_()
    turned = vt.ones(3, 2, dtype=vt.float64).t().requires_grad_()
    with pytest.warns(UserWarning, match="create_graph"):
        (x * 2).backward(turned, create_graph=True)
    assert x.grad is not None
    assert tuple(x.grad.stride()) == (3, 1)
    assert x.grad.grad_fn is not None
    assert grad_list(x) == [[2, 2, 2], [2, 2, 2]]


def test_backward_takes_a_list_of_one_gradient() -> None:
    x = leaf(2)
    (x * 2).backward([vt.ones(2, dtype=vt.float64)])  # type: ignore[arg-type]  # PyTorch's types do not say so either
    assert grad_list(x) == [2, 2]


def test_grad_takes_its_arguments_in_the_order_of_pytorch() -> None:
    x, unused = leaf(2), leaf(2)
    total = (x * 2).sum()
    with refused(RuntimeError, "unused-input", [x, unused]):
        # Retain the graph, do not create one, and only the inputs.
        vt.autograd.grad(total, [x, unused], None, True, False, True)
    second = vt.autograd.grad(total, [x, unused], None, True, False, True, True)[1]
    assert second is None
    with pytest.warns(FutureWarning):
        (first,) = vt.autograd.grad(total, x, only_inputs=False)
    assert first.tolist() == [2, 2]


def test_gradients_have_the_dtype_of_their_value() -> None:
    a, b = vt.ones(2, dtype=vt.float32, requires_grad=True), leaf(2)
    to_a, to_b = vt.autograd.grad((a * b).sum(), [a, b])
    assert to_a.dtype == vt.float32
    assert to_b.dtype == vt.float64
    assert to_a.tolist() == [1, 2]


def test_a_broadcast_operand_gets_the_sum() -> None:
    a, b = leaf(3, 1), leaf(2)
    assert gradients((a * b).sum(), a, b) == [[[3], [3], [3]], [6, 6]]


def test_a_gradient_with_no_elements_flows() -> None:
    x = vt.zeros(0, 3, dtype=vt.float64, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (0, 3)


def test_backward_and_grad_work_under_no_grad() -> None:
    x = leaf(2)
    y = (x * x).sum()
    with vt.no_grad():
        found = gradients(y, x, retain_graph=True)
        y.backward()
    assert found == [[2, 4]]
    assert grad_list(x) == [2, 4]


# -- nodes -------------------------------------------------------------------------------------


def test_next_functions_has_an_entry_per_tensor_argument() -> None:
    x = leaf(2)
    y = x * ramp(2)
    (first, index), second = node_of(y).next_functions
    assert first is not None
    assert first.name().split("::")[-1] == "AccumulateGrad"
    assert index == 0
    assert second == (None, 0)


def test_the_accumulator_of_a_leaf_is_shared_and_its_tensor_is_the_leaf() -> None:
    x = leaf(2)
    a, b = x * 2, x * 3
    accumulator = parent_of(node_of(a))
    assert accumulator is parent_of(node_of(b))
    assert accumulator is parent_of(node_of(a))
    assert getattr(accumulator, "variable") is x  # noqa: B009  # AccumulateGrad alone has it


def test_a_node_can_be_called_with_a_gradient() -> None:
    y = leaf(2) * ramp(2)
    found = node_of(y)(vt.ones(2, dtype=vt.float64))
    assert isinstance(found, tuple)
    first, second = found
    assert first is not None
    assert first.tolist() == [1, 2]
    assert second is None


def test_a_node_called_with_a_wrong_number_of_gradients_is_a_type_error() -> None:
    y = leaf(2) * 2
    with pytest.raises(TypeError):
        node_of(y)(ramp(2), ramp(2))
    with pytest.raises(TypeError):
        node_of(y)()
    piece = leaf(3).split(1)[0]
    with pytest.raises(TypeError):
        node_of(piece)(ramp(1))
    (found,) = [node_of(piece)(None, ramp(1), None)]
    assert isinstance(found, vt.Tensor)
    assert found.tolist() == [0, 1, 0]


def test_a_node_called_without_a_gradient_has_none_to_give() -> None:
    x = leaf(2)
    assert node_of(x * x)(None) == (None, None)


def test_next_functions_are_the_identical_nodes_each_time() -> None:
    y = leaf(2).exp()
    z = y * y
    (first, _), (second, _) = node_of(z).next_functions
    assert first is second is y.grad_fn
    assert node_of(z).next_functions == node_of(z).next_functions


def test_the_number_of_an_output_survives_being_saved() -> None:
    a = leaf(2, 2)
    first, second = a.exp().unbind(0)
    (gradient,) = vt.autograd.grad((first * second).sum(), a, create_graph=True)
    assert gradient.requires_grad
    # The second factor was saved, and its gradient still goes to output 1 of the unbind.
    (edge_of_first, zero), (edge_of_second, one) = node_of(first * second).next_functions
    assert edge_of_first is edge_of_second
    assert (zero, one) == (0, 1)


def test_a_failing_hook_leaves_no_gradient_half_accumulated() -> None:
    x = leaf(2)
    (x * 2).sum().backward()

    def fail(_: vt.Tensor) -> None:
        raise KeyError("stop")

    handle = x.register_hook(fail)
    with pytest.raises(KeyError):
        (x * 3).sum().backward()
    assert grad_list(x) == [2, 2]
    handle.remove()
    (x * 3).sum().backward()
    assert grad_list(x) == [5, 5]


@differs_from_torch("there what was reached has been run")
def test_another_result_of_a_node_that_is_reached_is_unused_and_nothing_has_run() -> None:
    x = vt.ones(2, requires_grad=True) * 2
    x.retain_grad()
    first, second = x.unbind()
    with pytest.raises(RuntimeError, match="allow_unused"):
        vt.autograd.grad(first, [second, x])
    assert x.grad is None
    assert vt.autograd.grad(second, [second, x])[1].tolist() == [0.0, 1.0]


@differs_from_torch("errors of other classes there, which do not name the argument")
def test_roots_and_inputs_are_tensors_or_edges() -> None:
    x: Any = leaf(2)
    y = (x * 2).sum()
    wrong: Any
    for wrong in (3, [3], [y, 3]):
        with refused(TypeError, "argument-type", [x, y]):
            vt.autograd.backward(wrong)
        with refused(TypeError, "argument-type", [x, y]):
            vt.autograd.grad(wrong, x)
    with pytest.raises(TypeError, match=r"'tensors' must be a tensor.*, not int"):
        vt.autograd.backward(x.ndim)
    with pytest.raises(TypeError, match=r"'outputs' must be a tensor.*, not float"):
        vt.autograd.grad(1.5, x)  # type: ignore[call-overload]  # the point of the test
    with pytest.raises(TypeError, match=r"'inputs' must be a tensor.*, not int"):
        vt.autograd.grad(y, 3)  # type: ignore[call-overload]  # the point of the test
    with pytest.raises(TypeError, match=r"'inputs' must be a tensor.*, not int"):
        y.backward(inputs=3)
    with pytest.raises(TypeError, match="'tensor' must be a tensor, not int"):
        vt.autograd.graph.get_gradient_edge(3)  # type: ignore[arg-type]  # the point of the test
    vt.autograd.backward(root for root in [y])  # type: ignore[arg-type]  # any iterable does
    assert grad_list(x) == [2, 2]
