"""Leaves: `requires_grad`, `detach`, `.data`, `.grad` and who may change them."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from tests.support import (
    differs_from_torch,
    fn_name,
    grad_list,
    leaf,
    node_of,
    parent_of,
    ramp,
    refused,
    vt,
)


def test_a_leaf_is_what_has_no_gradient_function() -> None:
    assert (ramp(2) * 2).is_leaf
    assert not (leaf(2) * 2).is_leaf
    assert (leaf(2) * 2).detach().is_leaf


def test_requires_grad_of_a_computed_tensor_may_be_confirmed() -> None:
    y = leaf(2) * 2
    assert y.requires_grad_(True) is y
    assert fn_name(y) == "MulBackward0"


def test_requires_grad_of_a_computed_tensor_cannot_be_assigned() -> None:
    y = leaf(2) * 2
    with refused(RuntimeError, "requires-grad", [y]):
        y.requires_grad = True


def test_requires_grad_is_a_bool_and_nothing_else() -> None:
    x = ramp(2)
    for value in (1, None, "yes"):
        with refused(RuntimeError, "requires-grad", [x]):
            x.requires_grad = value  # type: ignore[assignment]  # what is refused
    with refused(TypeError, "argument-type", [x]):
        x.requires_grad_(1)  # type: ignore[arg-type]  # what is refused
    assert not x.requires_grad


def test_a_view_of_a_constant_may_become_a_leaf_of_its_own() -> None:
    b = ramp(2, 3)
    v = b[0]
    v.requires_grad_()
    assert v.is_leaf
    assert v.requires_grad
    assert not b.requires_grad
    assert v._base is b
    (v * 2).sum().backward()
    assert grad_list(v) == [2, 2, 2]
    assert b.grad is None


def test_the_base_of_such_a_leaf_may_be_written_and_the_leaf_stays_one() -> None:
    b = ramp(2, 3)
    v = b[0].requires_grad_()
    b.mul_(2)
    assert v.grad_fn is None
    assert v.requires_grad
    assert v.is_leaf
    assert v.tolist() == [2, 4, 6]


def test_an_earlier_view_of_a_tensor_that_becomes_a_leaf_reaches_it_after_the_next_write() -> None:
    b = ramp(2, 3)
    v = b[0]
    b.requires_grad_()
    assert v.requires_grad
    assert v.grad_fn is None
    assert v.is_leaf
    (v * 2).sum().backward()
    assert b.grad is None
    assert v.grad is None
    with vt.no_grad():
        b.mul_(1)
    assert fn_name(v) == "AsStridedBackward0"
    (v * 2).sum().backward()
    assert grad_list(b) == [[2, 2, 2], [0, 0, 0]]


def test_a_leaf_may_be_a_view() -> None:
    v = ramp(2, 3).t().requires_grad_()
    assert v.is_leaf
    assert v._is_view()
    (v * 2).sum().backward()
    assert grad_list(v) == [[2, 2], [2, 2], [2, 2]]


def test_detach_in_place_makes_a_constant_leaf() -> None:
    x = leaf(2)
    x.detach_()
    assert not x.requires_grad
    y = leaf(2) * 2
    y.detach_()
    assert y.is_leaf
    assert y.grad_fn is None
    assert not y.requires_grad


def test_detach_in_place_resets_the_output_number() -> None:
    largest = vt.aminmax(leaf(3))[1]
    assert largest.output_nr == 1
    largest.detach_()
    assert largest.output_nr == 0
    assert largest.is_leaf


def test_requires_grad_may_be_taken_away_and_given_back_and_grad_stays() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    x.requires_grad_(False)
    x.mul_(2)
    x.requires_grad_(True)
    assert grad_list(x) == [2, 2]
    assert x.is_leaf
    assert x.grad_fn is None


def test_a_detached_leaf_shares_values_and_version_but_not_the_graph() -> None:
    x = leaf(2)
    y = (x * x).sum()
    d = x.detach().requires_grad_()
    assert d.is_leaf
    with vt.no_grad():
        d.add_(1)
    assert x._version == 1
    assert x.tolist() == [2, 3]
    with refused(RuntimeError, "stale-saved", [x, y, d]):
        y.backward()


def test_augmented_assignment_keeps_the_object_and_plain_assignment_makes_one() -> None:
    x = ramp(2)
    y = x
    y += 1
    assert y is x
    y = y + 1
    assert y is not x
    z = leaf(2)
    w = z + 1
    assert w is not z
    assert z.is_leaf


# -- .grad -------------------------------------------------------------------------------------


def test_grad_may_be_assigned() -> None:
    x = leaf(2)
    x.grad = ramp(2)
    assert grad_list(x) == [1, 2]
    x.grad = None
    assert x.grad is None


def test_grad_may_be_deleted() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    del x.grad
    assert x.grad is None


def test_an_assigned_grad_must_fit() -> None:
    x = leaf(2)
    with refused(RuntimeError, "grad-assignment", [x]):
        x.grad = ramp(3)
    with refused(RuntimeError, "grad-assignment", [x]):
        x.grad = vt.ones(2, dtype=vt.float32)
    with refused(RuntimeError, "grad-assignment", [x]):
        x.grad = x
    with refused(TypeError, "argument-type", [x]):
        x.grad = 3.0  # type: ignore[assignment]  # the point of the test
    assert x.grad is None


def test_the_grad_of_a_computed_tensor_warns() -> None:
    y = leaf(2) * 2
    with pytest.warns(UserWarning, match=r"\.grad"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None  # a warning would be an error


def test_the_grad_of_a_constant_stays_when_it_becomes_part_of_a_graph() -> None:
    x, w = ramp(3), leaf(3)
    x.grad = ramp(3)
    x.mul_(w)
    assert grad_list(x) == [1, 2, 3]
    (x * 2).sum().backward()
    assert grad_list(x) == [1, 2, 3]
    assert grad_list(w) == [2, 4, 6]


# -- .data -------------------------------------------------------------------------------------


def test_data_of_another_dtype_may_be_assigned_to_a_constant() -> None:
    x = ramp(2)
    x.data = vt.ones(3)
    assert x.dtype == vt.float32
    assert x.tolist() == [1, 1, 1]


def test_integer_data_is_refused_on_a_leaf_that_requires_grad() -> None:
    x = leaf(2)
    with pytest.raises(RuntimeError):
        x.data = vt.tensor([1])
    assert x.tolist() == [1, 2]
    assert x.dtype == vt.float64


def test_assigned_data_keeps_the_graph_of_the_target_and_drops_that_of_the_source() -> None:
    y = leaf(2) * 2
    y.data = leaf(2) + 5
    assert fn_name(y) == "MulBackward0"
    assert y.tolist() == [6, 7]


def test_data_may_be_assigned_to_a_view_which_stays_one() -> None:
    b = ramp(3)
    v = b[0:2]
    v.data = ramp(5)
    assert v._is_view()
    assert v._base is b
    assert v.shape == (5,)


def test_assigned_data_keeps_the_object_its_version_and_its_place_as_a_leaf() -> None:
    x, other = leaf(2), ramp(3)
    other.add_(1)
    with vt.no_grad():
        x.add_(1)
    before = x
    x.data = other
    assert x is before
    assert x.requires_grad
    assert x.is_leaf
    assert x._version == 1
    assert x.data_ptr() == other.data_ptr()


def test_complex_data_may_be_assigned_to_a_leaf_that_requires_grad() -> None:
    x = leaf(2)
    x.data = vt.ones(2, dtype=vt.complex128)
    assert x.requires_grad
    assert x.dtype == vt.complex128
    z = vt.ones(2, dtype=vt.complex64).requires_grad_()
    assert z.requires_grad


def test_views_of_a_leaf_keep_their_graph_when_the_leaf_gives_up_its_mark() -> None:
    b = leaf(2, 3)
    v = b[0]
    b.requires_grad_(False)
    assert not b.requires_grad
    assert v.requires_grad
    assert fn_name(v) == "SelectBackward0"
    b.mul_(2)
    assert v.requires_grad


def test_data_is_no_place_for_none() -> None:
    x = ramp(2)
    with pytest.raises(TypeError):
        x.data = None  # type: ignore[assignment]  # the point of the test
    assert x.tolist() == [1, 2]


def test_data_cannot_be_deleted_nor_can_requires_grad() -> None:
    x = leaf(2)
    with pytest.raises((RuntimeError, AttributeError)):
        del x.data
    with pytest.raises((RuntimeError, AttributeError)):
        del x.requires_grad
    for name in ("_backward_hooks", "is_leaf", "grad_fn"):
        with pytest.raises((RuntimeError, AttributeError)):
            delattr(x, name)
    assert x.requires_grad
    assert x.tolist() == [1, 2]


# -- crossing over -----------------------------------------------------------------------------


def test_numpy_refuses_a_tensor_that_requires_grad() -> None:
    x = leaf(2)
    with refused(RuntimeError, "numpy-conversion", [x]):
        x.numpy()
    assert x.detach().numpy().tolist() == [1, 2]


def test_numpy_shares_memory_both_ways() -> None:
    x = ramp(3)
    array = x.numpy()
    array[0] = 10.0
    x[1] = 20.0
    assert x.tolist() == [10, 20, 3]
    assert array.tolist() == [10, 20, 3]
    back = vt.from_numpy(array)
    back[2] = 30.0
    assert x.tolist() == [10, 20, 30]


def test_pickle_and_deepcopy_keep_a_leaf_a_leaf() -> None:
    x = leaf(2)
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert other is not x
        assert other.requires_grad
        assert other.is_leaf
        assert other.tolist() == [1, 2]
        assert other.dtype == vt.float64
        with vt.no_grad():
            other.zero_()
    assert x.tolist() == [1, 2]


def test_deepcopy_of_a_computed_tensor_is_refused() -> None:
    y = leaf(2) * 2
    with pytest.raises(RuntimeError):
        copy.deepcopy(y)


def test_repr_shows_leaf_and_graph() -> None:
    assert "requires_grad=True" in repr(leaf(2))
    assert "grad_fn=<MulBackward0>" in repr(leaf(2) * 2)
    assert "requires_grad" not in repr(ramp(2))
    assert "grad_fn" not in repr(ramp(2))


def test_repr_works_on_a_view_without_a_valid_gradient_function() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
    b.mul_(2)
    assert "2." in repr(v)


def test_integers_booleans_and_indices_never_require_grad() -> None:
    x = leaf(3)
    for result in (x > 1, x.argmax(), x.long(), x.max(0)[1], x.sort()[1], x.isnan()):
        assert not result.requires_grad
        assert result.is_leaf


def test_numpy_takes_a_leaf_under_no_grad() -> None:
    x = leaf(2)
    with vt.no_grad():
        assert x.numpy().tolist() == [1, 2]


def test_numpy_functions_do_not_take_a_tensor_that_requires_grad() -> None:
    x = leaf(2)
    with pytest.raises(RuntimeError):
        np.asarray(x)
    assert np.asarray(x.detach()).tolist() == [1, 2]


@differs_from_torch("there `imag` of a real tensor raises")
def test_every_name_of_a_tensor_can_be_looked_up() -> None:
    x = ramp(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Real tensors have no imaginary parts, and say so with an error of their own.
        missing = [name for name in dir(x) if name != "imag" and not hasattr(x, name)]
    assert missing == []


@pytest.mark.parametrize("present", [False, True])
@pytest.mark.parametrize(
    "size",
    [
        pytest.param((3,), marks=differs_from_torch("it is refused as a sum that does not fit")),
        pytest.param((1, 2), marks=differs_from_torch("`.grad` gets another shape, or half of it")),
        pytest.param((), marks=differs_from_torch("it is broadcast")),
    ],
)
def test_the_node_of_a_leaf_takes_no_gradient_of_another_shape(
    size: tuple[int, ...], present: bool
) -> None:
    x = leaf(2)
    if present:
        x.grad = vt.ones(2, dtype=vt.float64)
    node = parent_of(node_of(x * 2))
    before = x.grad
    with refused(RuntimeError, "gradient", [x]):
        node(vt.ones(size, dtype=vt.float64))
    assert x.grad is before


@differs_from_torch("`.grad` gets the dtype of the gradient")
def test_the_node_of_a_leaf_casts_a_gradient_to_the_dtype_of_the_leaf() -> None:
    x = leaf(2)
    parent_of(node_of(x * 2))(vt.ones(2, dtype=vt.float32))
    assert x.grad is not None
    assert x.grad.dtype == vt.float64
    assert grad_list(x) == [1, 1]
