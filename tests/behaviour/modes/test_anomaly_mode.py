"""Anomaly mode: the first NaN of a backward, where nodes were made, and in whose backward."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Callable, Iterator

import pytest

from tests.support import collector_off, differs_from_torch, leaf_of, node_of, ones_leaf, vt

set_detect_anomaly = vt.autograd.set_detect_anomaly
NAN = float("nan")


@pytest.fixture(autouse=True)
def _switched_off() -> Iterator[None]:
    yield
    was_on = vt.is_anomaly_enabled()
    set_detect_anomaly(False)
    assert not was_on, "this test left anomaly mode on"


def failure_of(program: Callable[[], object]) -> tuple[Exception, list[str]]:
    """The error that a program raises, and the texts of its warnings, all of them UserWarnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(Exception) as caught:  # noqa: PT011  # of any class
            program()
    assert all(warning.category is UserWarning for warning in seen)
    assert isinstance(caught.value, Exception)
    return caught.value, [str(warning.message) for warning in seen]


def nan_by_sqrt(x: vt.Tensor) -> vt.Tensor:
    """A value whose gradient is 0 * inf at 0."""
    return (x.sqrt() * 0).sum()


# -- the switches -------------------------------------------------------------------------------


def test_detect_anomaly_warns_when_it_is_made_and_the_function_does_not() -> None:
    with pytest.warns(UserWarning, match="(?i)anomaly") as seen:
        scope = vt.autograd.detect_anomaly()
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with scope, set_detect_anomaly(True):
            assert vt.is_anomaly_enabled()


def test_the_function_switches_at_once_and_a_block_restores() -> None:
    set_detect_anomaly(True, check_nan=False)
    assert vt.is_anomaly_enabled()
    assert not vt.is_anomaly_check_nan_enabled()
    with set_detect_anomaly(True):
        assert vt.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not vt.is_anomaly_enabled()
        assert vt.is_anomaly_enabled()
        assert vt.is_anomaly_check_nan_enabled()
    assert not vt.is_anomaly_check_nan_enabled()
    set_detect_anomaly(False)
    assert not vt.is_anomaly_enabled()


def test_check_nan_nests_and_is_restored() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with vt.autograd.detect_anomaly():
            with vt.autograd.detect_anomaly(check_nan=False):
                x = leaf_of(0.0)
                nan_by_sqrt(x).backward()
                assert x.grad is not None
                assert x.grad.isnan().all()
            with pytest.raises(RuntimeError):
                nan_by_sqrt(leaf_of(0.0)).backward()
    assert not vt.is_anomaly_enabled()


def test_a_block_is_restored_after_an_error() -> None:
    with pytest.raises(KeyError), set_detect_anomaly(True):
        raise KeyError
    assert not vt.is_anomaly_enabled()


def test_it_is_no_decorator() -> None:
    with pytest.warns(UserWarning, match="(?i)anomaly"):
        scope = vt.autograd.detect_anomaly()
    assert not callable(scope)


def test_all_threads_see_the_mode() -> None:
    seen: list[bool] = []
    with set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(vt.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# -- NaN ------------------------------------------------------------------------------------------


def test_the_first_node_that_makes_nan_is_named_with_the_number_of_its_output() -> None:
    with set_detect_anomaly(True):
        error, _ = failure_of(nan_by_sqrt(leaf_of(0.0, 1.0)).backward)
    assert isinstance(error, RuntimeError)
    assert "SqrtBackward0" in str(error)
    assert "0" in str(error)


@differs_from_torch("the error has attributes")
def test_the_error_has_the_facts() -> None:
    x = leaf_of(0.0, 1.0)
    with set_detect_anomaly(True):
        root = x.sqrt()
        error, _ = failure_of((root * 0).sum().backward)
    assert isinstance(error, vt.errors.NanGradientError)
    facts = error.facts
    assert (facts["node"], facts["index"]) == ("SqrtBackward0", 0)
    assert (facts["count"], facts["shape"]) == (1, (2,))
    assert isinstance(facts["made_at"], vt.CallSite)
    assert facts["made_at"].source == "root = x.sqrt()"
    assert facts["writes"] == ()
    assert "root = x.sqrt()" in str(error)


def test_what_counts_for_the_check_is_the_mode_during_backward() -> None:
    with set_detect_anomaly(True):
        y = nan_by_sqrt(leaf_of(0.0))
    y.backward(retain_graph=True)
    with set_detect_anomaly(True), pytest.raises(RuntimeError, match="SqrtBackward0"):
        y.backward()


def test_inf_and_nan_of_forward_are_not_reported() -> None:
    x = leaf_of(0.0)
    with set_detect_anomaly(True):
        x.log().sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [float("inf")]
        y = (x - 1).sqrt()
        assert y.isnan().all()


def test_complex_nan_is_reported() -> None:
    x = leaf_of(1 + 1j)
    with set_detect_anomaly(True), pytest.raises(RuntimeError, match="MulBackward0"):
        (x * complex(NAN, 0)).real.sum().backward()


def test_nan_of_the_root_or_of_a_tensor_hook_is_blamed_on_the_next_node() -> None:
    x = leaf_of(1.0)
    with set_detect_anomaly(True):
        y = x.exp()
        with pytest.raises(RuntimeError, match="ExpBackward0"):
            y.backward(vt.tensor([NAN], dtype=vt.float64), retain_graph=True)
        y.register_hook(lambda grad: grad * NAN)
        with pytest.raises(RuntimeError, match="ExpBackward0"):
            (y * 2).backward(vt.ones(1, dtype=vt.float64))


def times_nan(
    outgoing: tuple[vt.Tensor | None, ...], _: tuple[vt.Tensor | None, ...]
) -> tuple[vt.Tensor | None, ...]:
    """A hook that replaces the gradient of a node's only input."""
    (grad,) = outgoing
    assert grad is not None
    return (grad * NAN,)


def test_nan_made_by_a_hook_after_a_node_is_blamed_on_that_node() -> None:
    x = leaf_of(1.0)
    with set_detect_anomaly(True):
        y = x.exp()
        node_of(y).register_hook(times_nan)
        with pytest.raises(RuntimeError, match="ExpBackward0"):
            (y * 2).sum().backward()


def double(grads: tuple[vt.Tensor | None, ...]) -> tuple[vt.Tensor | None, ...]:
    """A pre-hook that changes a gradient, but makes no NaN."""
    return tuple([None if grad is None else grad * 2 for grad in grads])


def nan_before(grads: tuple[vt.Tensor | None, ...]) -> tuple[vt.Tensor | None, ...]:
    """A pre-hook that makes NaN."""
    return tuple([None if grad is None else grad * NAN for grad in grads])


def origin_of(root: vt.Tensor, gradient: vt.Tensor | None, create_graph: bool) -> tuple[str, str]:
    """What the error of a backward says of where its NaN comes from, and which node it names."""
    error, _ = failure_of(lambda: root.backward(gradient, create_graph=create_graph))
    assert isinstance(error, vt.errors.NanGradientError)
    passes_on = "passes on" in str(error) or "a hook of" in str(error)
    assert passes_on == (error.facts["origin"] != "node")
    return str(error.facts["origin"]), str(error.facts["node"])


@differs_from_torch("the error says where the NaN comes from")
@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_error_says_where_nan_came_from_that_the_node_has_not_made(create_graph: bool) -> None:
    x, one, nan = leaf_of(1.0), vt.ones(1, dtype=vt.float64), vt.tensor([NAN], dtype=vt.float64)
    with set_detect_anomaly(True):
        assert origin_of(x.exp(), nan, create_graph) == ("root", "ExpBackward0")
        assert origin_of(x * nan, one, create_graph) == ("node", "MulBackward0")
        by_tensor = x.exp()
        by_tensor.register_hook(lambda grad: grad * NAN)
        assert origin_of(by_tensor * 2, one, create_graph) == ("hook", "ExpBackward0")
        before, after, harmless = x.exp(), x.exp(), x.exp()
        node_of(before).register_prehook(nan_before)
        assert origin_of(before, one, create_graph) == ("hook", "ExpBackward0")
        node_of(after).register_hook(times_nan)
        assert origin_of(after, one, create_graph) == ("hook", "ExpBackward0")
        node_of(harmless).register_prehook(double)
        node_of(harmless).register_hook(lambda outgoing, incoming: None)
        assert origin_of(harmless, nan, create_graph) == ("root", "ExpBackward0")
        y = x.exp()
        total = y * float("inf") + y * float("-inf")
        assert origin_of(total, one, create_graph) == ("sum", "ExpBackward0")
        parts = leaf_of(1.0, 1.0).exp()
        total = (parts[:1] * float("inf") + parts[:1] * float("-inf")).sum()
        assert origin_of(total, None, create_graph)[0] == "sum"


def test_nan_straight_into_a_leaf_passes() -> None:
    x = leaf_of(1.0)
    with set_detect_anomaly(True):
        x.backward(vt.tensor([NAN], dtype=vt.float64))
    assert x.grad is not None
    assert x.grad.isnan().all()


class NanForAConstant(vt.autograd.Function):
    """Twice the first argument; the gradient of the second, which needs none, is NaN."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(
        ctx: vt.autograd.function.FunctionCtx, *grads: vt.Tensor
    ) -> tuple[vt.Tensor, vt.Tensor]:
        return grads[0] * 2, grads[0] * NAN


def test_an_output_for_an_input_that_needs_no_gradient_is_checked_too() -> None:
    with set_detect_anomaly(True):
        y = NanForAConstant.apply(ones_leaf(2), vt.ones(2)).sum()
        with pytest.raises(RuntimeError, match=r"NanForAConstantBackward.* 1"):
            y.backward()


def test_nan_made_under_create_graph_is_reported() -> None:
    x = leaf_of(0.0)
    with set_detect_anomaly(True), pytest.raises(RuntimeError, match="SqrtBackward0"):
        vt.autograd.grad(nan_by_sqrt(x), x, create_graph=True)


def test_nan_in_the_part_of_a_written_view_is_blamed_on_copy_slices() -> None:
    x = leaf_of(1.0, 0.0)
    with set_detect_anomaly(True):
        b = x.clone()
        b[1:].sqrt_()
        with pytest.raises(RuntimeError, match="CopySlices"):
            (b * 0).sum().backward()


@differs_from_torch("leaves are filled last, so none has a gradient")
def test_no_leaf_has_a_gradient_after_nan() -> None:
    x, late = leaf_of(0.0), leaf_of(1.0)
    with set_detect_anomaly(True), pytest.raises(RuntimeError):
        (nan_by_sqrt(x) + late.sum()).backward()
    assert x.grad is None
    assert late.grad is None


def test_the_leaf_behind_the_failing_node_has_no_gradient() -> None:
    x = leaf_of(0.0)
    with set_detect_anomaly(True), pytest.raises(RuntimeError):
        nan_by_sqrt(x).backward()
    assert x.grad is None


@differs_from_torch("PyTorch does not know who wrote")
def test_the_error_names_the_writes_of_what_the_node_saved() -> None:
    x, factor = ones_leaf(2), vt.tensor([1.0, 0.0], dtype=vt.float64)
    factor.div_(factor)
    with set_detect_anomaly(True):
        error, _ = failure_of((x * factor).sum().backward)
    assert isinstance(error, vt.errors.NanGradientError)
    writes = error.facts["writes"]
    assert isinstance(writes, tuple)
    assert [write.operator for write in writes] == ["div_"]
    assert "factor.div_(factor)" in str(error)


@differs_from_torch("PyTorch does not know who wrote")
def test_the_error_names_the_view_through_which_a_saved_value_was_written() -> None:
    x, factor = ones_leaf(2), vt.ones(2, dtype=vt.float64)
    factor[1:] = NAN
    with set_detect_anomaly(True):
        error, _ = failure_of((x * factor).sum().backward)
    assert isinstance(error, vt.errors.NanGradientError)
    assert "factor[1:] = NAN" in str(error)


# -- where nodes were made ------------------------------------------------------------------------


def test_any_error_of_a_node_warns_with_the_stack_of_forward() -> None:
    def refuse(grad: vt.Tensor) -> vt.Tensor:
        raise LookupError("no")

    x = ones_leaf(2)
    with set_detect_anomaly(True):
        y = x.exp()
        y.register_hook(refuse)
        error, (told,) = failure_of((y * 2).sum().backward)
    assert isinstance(error, LookupError)
    assert "ExpBackward0" in told
    assert "y = x.exp()" in told
    assert "test_any_error_of_a_node_warns" in told


def test_an_overwritten_value_warns_with_the_stack_of_forward() -> None:
    x = ones_leaf(2)
    with set_detect_anomaly(True):
        y = x * 1
        z = y * y
        y.add_(1)
        error, (told,) = failure_of(z.sum().backward)
    assert isinstance(error, RuntimeError)
    assert "MulBackward0" in told
    assert "z = y * y" in told


def test_without_the_mode_in_forward_the_warning_says_that_nothing_is_known() -> None:
    y = nan_by_sqrt(leaf_of(0.0))
    with set_detect_anomaly(True):
        _, (told,) = failure_of(y.backward)
    assert "SqrtBackward0" in told
    assert "File" not in told


def test_without_the_mode_in_backward_nothing_is_told() -> None:
    with set_detect_anomaly(True):
        y = ones_leaf(2).exp()
    y.sum().backward()
    _, told = failure_of(y.sum().backward)
    assert told == []


def test_one_more_warning_for_each_node_in_whose_backward_the_failing_one_was_made() -> None:
    x = leaf_of(0.0)
    with set_detect_anomaly(True):
        y = x**1.5
        (first,) = vt.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = vt.autograd.grad(first.sum(), x, create_graph=True)
        error, told = failure_of((second * 0).sum().backward)
    assert "PowBackward0" in str(error)
    assert len(told) == 3
    assert "(second,) = " in told[0]
    assert "(first,) = " in told[1]
    assert "y = x**1.5" in told[2]
    assert "PowBackward0" in told[1]


def test_nodes_have_their_stack_and_their_parent_as_metadata() -> None:
    x = ones_leaf(2)
    with set_detect_anomaly(True):
        y = x**3
        (grad,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    node = node_of(y)
    stack = node.metadata["traceback_"]
    assert isinstance(stack, list)
    assert all(isinstance(line, str) for line in stack)
    assert "y = x**3" in "".join(stack[-2:])
    assert "parent_" not in node.metadata
    assert node_of(grad).metadata["parent_"] is node
    leaf_node = node.next_functions[0][0]
    assert leaf_node is not None
    assert isinstance(leaf_node.metadata["traceback_"], list)


def test_outside_of_the_mode_nodes_have_no_metadata() -> None:
    x = ones_leaf(2)
    y = x**3
    (grad,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert node_of(y).metadata == {}
    assert node_of(grad).metadata == {}


def test_a_node_that_a_user_calls_is_no_parent() -> None:
    x = ones_leaf(2)
    with set_detect_anomaly(True):
        node = node_of(x**3)
        grad = node(vt.ones(2, dtype=vt.float64))
        if isinstance(grad, tuple):
            grad = grad[0]
        assert grad is not None
        assert "parent_" not in node_of(grad).metadata


@differs_from_torch("PyTorch prints the warnings to stderr then")
def test_where_warnings_are_errors_they_become_notes_of_the_error() -> None:
    with set_detect_anomaly(True):
        y = nan_by_sqrt(leaf_of(0.0))
        with pytest.raises(RuntimeError, match="SqrtBackward0") as caught:
            y.backward()
    (note,) = caught.value.__notes__
    assert "return (x.sqrt() * 0).sum()" in note


def test_no_parent_is_left_after_a_node_has_failed() -> None:
    x = leaf_of(0.0)
    with set_detect_anomaly(True):
        failure_of(nan_by_sqrt(x).backward)
        assert "parent_" not in node_of(x.exp()).metadata


def test_parents_close_no_cycle() -> None:
    with collector_off(), set_detect_anomaly(True):
        x = ones_leaf(2)
        (grad,) = vt.autograd.grad((x**3).sum(), x, create_graph=True)
        del x, grad
        assert gc.collect() == 0


@differs_from_torch("PyTorch's check for NaN does not work with batches of gradients")
def test_nan_of_a_batch_of_gradients() -> None:
    x = leaf_of(0.0, 4.0)
    rows = vt.eye(2, dtype=x.dtype)
    with set_detect_anomaly(True):
        y = (x + 1).sqrt()
        (found,) = vt.autograd.grad(y, x, rows, is_grads_batched=True)
        assert found.tolist() == [[0.5, 0], [0, 0.5 / 5**0.5]]
        y = x.sqrt()
        with pytest.raises(vt.errors.NanGradientError) as caught:
            vt.autograd.grad(y, x, rows, is_grads_batched=True)
    # Row 1 of the Jacobian is 0 * inf at the zero.
    facts = caught.value.facts
    assert (facts["node"], facts["count"], facts["shape"]) == ("SqrtBackward0", 1, (2, 2))
