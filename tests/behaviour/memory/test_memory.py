"""`resize_`, `set_`, ``.data =`` and the exchange of two tensors."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.collecting import put_aside
from tests.support import (
    differs_from_torch,
    fn_name,
    grad_list,
    leaf,
    node_of,
    ramp,
    refused,
    vt,
)

# -- resize_ --------------------------------------------------------------------------------


def test_a_smaller_shape_keeps_the_memory_and_moves_the_version_once() -> None:
    x = ramp(2, 3)
    pointer = x.data_ptr()
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[1, 2], [3, 4]]
    assert (x.data_ptr(), x._version, x.untyped_storage().nbytes()) == (pointer, 1, 48)


def test_a_larger_shape_keeps_what_was_there() -> None:
    x = ramp(3)
    x.resize_((2, 3))
    assert x[0].tolist() == [1, 2, 3]
    assert (x._version, x.stride(), x.untyped_storage().nbytes()) == (1, (3, 1), 48)


@differs_from_torch("what PyTorch leaves uninitialised is zero")
def test_what_was_not_there_before_is_zero() -> None:
    assert ramp(3).resize_(5).tolist() == [1, 2, 3, 0, 0]


def test_the_shape_that_a_tensor_has_changes_nothing_not_even_strides() -> None:
    x = ramp(2, 3).t()
    x.resize_(3, 2)
    assert (x.stride(), x._version) == ((1, 3), 0)
    x.resize_as_(ramp(3, 2), memory_format=vt.contiguous_format)
    assert (x.stride(), x.tolist()) == ((2, 1), [[1, 2], [3, 4], [5, 6]])


@differs_from_torch("there no version moves, and the gradient belongs to other values")
@pytest.mark.storage_rule
def test_another_order_at_the_same_shape_is_a_write_to_what_was_saved() -> None:
    x, w = ramp(2, 3).t(), leaf(3, 2)
    y = w * x
    x.resize_((3, 2), memory_format=vt.contiguous_format)
    assert x._version == 1
    with refused(RuntimeError, "stale-saved", [x, w]):
        y.sum().backward()


@pytest.mark.parametrize("sizes", [(1, 3), (0, 3)])
def test_other_strides_for_the_same_elements_are_no_write(sizes: tuple[int, int]) -> None:
    x, w = vt.ones(8).as_strided(sizes, (7, 1)), vt.ones(sizes, requires_grad=True)
    y = w * x
    x.resize_(sizes, memory_format=vt.contiguous_format)
    assert (x._version, x.stride()) == (0, (3, 1))
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == x.tolist()


@differs_from_torch("there the tensor reads beyond its memory")
def test_the_memory_grows_for_the_same_shape_too() -> None:
    x = vt.arange(4)[2:].expand(2, 2)
    x.resize_((2, 2), memory_format=vt.contiguous_format)
    assert (x.tolist(), x.stride(), x._version) == ([[2, 3], [0, 0]], (2, 1), 1)


@differs_from_torch("there the gradient of the former order fills .grad")
def test_a_leaf_in_another_order_takes_no_gradient_of_a_former_graph() -> None:
    x = ramp(2, 3).t().requires_grad_()
    before = x * ramp(3, 2)
    with vt.inference_mode():
        x.resize_((3, 2), memory_format=vt.contiguous_format)
    with refused(RuntimeError, "shape", [x]):
        before.sum().backward()
    (x * ramp(3, 2)).sum().backward()
    assert x.grad is not None
    assert (x.grad.tolist(), x.grad.stride()) == ([[1, 2], [3, 4], [5, 6]], (2, 1))


def test_hooks_see_the_order_of_a_leaf_that_was_resized_in_inference_mode() -> None:
    seen: list[object] = []
    x = ramp(2, 3).t().requires_grad_()
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t.tolist(), t.stride())))
    with vt.inference_mode():
        x.resize_((3, 2), memory_format=vt.contiguous_format)
    (x * ramp(3, 2)).sum().backward()
    rows = [[1, 2], [3, 4], [5, 6]]
    assert seen == [rows, (rows, (2, 1))]


def test_a_resized_matrix_is_row_major_from_its_first_element_on() -> None:
    x = ramp(2, 3).t()
    x.resize_(2, 2)
    assert x.tolist() == [[1, 2], [3, 4]]
    base = ramp(6)
    part = base[2:4].resize_(3)
    assert part.tolist() == [3, 4, 5]
    assert (part.storage_offset(), part._base is base, base._version) == (2, True, 1)
    assert base.shape == (6,)


def test_memory_grows_for_everybody_who_looks_at_it() -> None:
    base = ramp(4)
    view, other = base[2:], base.detach()
    view.resize_(6)
    assert base.untyped_storage().nbytes() == view.untyped_storage().nbytes() == 64
    view.fill_(7)
    assert base.tolist() == other.tolist() == [1, 2, 7, 7]
    base[3] = 5
    assert view.tolist() == [7, 5, 7, 7, 7, 7]
    assert view._version == base._version == other._version == 3


def test_views_follow_an_out_argument_that_grows() -> None:
    x = ramp(2)
    view = x[1:]
    with pytest.warns(UserWarning, match="deprecated"):
        vt.add(ramp(4), 1, out=x)
    assert (x.tolist(), view.tolist(), view._version) == ([2, 3, 4, 5], [3], 1)


def test_a_tensor_that_requires_grad_is_not_resized_even_if_nothing_is_recorded() -> None:
    x = leaf(3)
    y = x * 2
    for tensor in (x, y):
        for shape in (2, 3, 5):
            with refused(RuntimeError, "resize", [tensor]):
                tensor.resize_(shape)
            with vt.no_grad(), refused(RuntimeError, "resize", [tensor]):
                tensor.resize_(shape)


def test_inference_mode_lets_a_leaf_be_resized() -> None:
    x = leaf(2)
    with vt.inference_mode():
        x.resize_(3).fill_(1)
    assert (x.tolist(), x._version, x.requires_grad, x.is_leaf) == ([1, 1, 1], 2, True, True)
    (x * 2).sum().backward()
    assert grad_list(x) == [2, 2, 2]


def test_inference_mode_lets_a_view_be_resized_that_it_has_written() -> None:
    x = leaf(3)
    with vt.inference_mode():
        view = x[...]
        view[0:1] = 3.0
        view.resize_(2)
    assert view.tolist() == [3, 2]


@differs_from_torch("there its gradient has another shape than its producer can take")
def test_a_result_is_not_resized_in_inference_mode() -> None:
    y = leaf(2) * 2
    with vt.inference_mode(), refused(RuntimeError, "resize", [y]):
        y.resize_(3)


@pytest.mark.storage_rule
def test_a_resized_saved_value_is_noticed() -> None:
    x, c = leaf(3), ramp(3)
    y = x * c
    c.resize_(2)
    with refused(RuntimeError, "stale-saved"):
        y.sum().backward()


@differs_from_torch("PyTorch leaves a tensor behind that has neither shape")
def test_memory_that_numpy_sees_may_shrink_but_not_grow() -> None:
    array = np.arange(4.0)
    x = vt.from_numpy(array)
    assert x.resize_(2).tolist() == [0, 1]
    with refused(RuntimeError, "resize", [x]):
        x.resize_(5)
    y = ramp(2)
    y.numpy()
    with refused(RuntimeError, "resize", [y]):
        y.resize_(3)


@differs_from_torch("PyTorch leaves a tensor behind that has neither shape")
@pytest.mark.parametrize("sizes", [(-1,), (2, -1), (2**62, 2**62), (2**60,)], ids=str)
def test_hostile_sizes_are_refused_and_nothing_changes(sizes: tuple[int, ...]) -> None:
    x = ramp(4)
    view = x[1:]
    with refused(RuntimeError, "out-of-bounds", [x, view]):
        view.resize_(*sizes)


@differs_from_torch("PyTorch has nothing that hides tensors from it")
def test_frozen_objects_keep_memory_from_growing() -> None:
    x = ramp(2)
    gc.freeze()
    try:
        with refused(RuntimeError, "resize", [x]):
            x.resize_(5)
        assert x.resize_(1).tolist() == [1]
        with pytest.raises(RuntimeError, match="freeze"):
            vt.utils.swap_tensors(x, ramp(3))
    finally:
        gc.unfreeze()
        put_aside()


def test_empty_memory_grows_for_all_that_share_it() -> None:
    # No search for tensors is needed, so that objects may be frozen.
    x = vt.empty(0, dtype=vt.float64)
    alias, row = x.detach(), x.view(0, 3)
    gc.freeze()
    try:
        assert vt.add(ramp(2), ramp(2), out=x) is x
    finally:
        gc.unfreeze()
        put_aside()
    assert x.tolist() == [2, 4]
    assert alias.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert alias.resize_(2).tolist() == [2, 4]
    assert row.resize_(1, 2).tolist() == [[2, 4]]
    row.add_(1)
    assert x.tolist() == [3, 5]


@differs_from_torch("PyTorch has nothing that hides tensors from it")
def test_what_was_frozen_before_the_library_was_imported_hides_no_tensor() -> None:
    # Breaks when the number of frozen objects decides: Python 3.12.1 starts with some.
    program = """if True:
        import gc
        junk = [[] for _ in range(100_000)]
        gc.freeze()
        import vtgrad as vt
        x = vt.ones(2)
        row = x[1:]
        x.resize_(3)
        x[1] = 5
        y, z = vt.ones(1), vt.zeros(2)
        vt.utils.swap_tensors(y, z)
        assert (x.tolist(), row.tolist(), y.tolist()) == ([1, 5, 0], [5], [0, 0])
        # Fewer objects are frozen in the end than at the import, and the tensors are among them.
        gc.unfreeze()
        del junk
        gc.freeze()
        for refused in (lambda: x.resize_(4), lambda: vt.utils.swap_tensors(y, z)):
            try:
                refused()
            except RuntimeError as error:
                assert "gc.freeze()" in str(error)
                assert "gc.unfreeze()" in str(error)
            else:
                raise SystemExit("not refused")
    """
    subprocess.run([sys.executable, "-c", program], check=True)


# -- set_ -----------------------------------------------------------------------------------


def test_set_to_nothing() -> None:
    x = ramp(4)
    view = x[:2]
    assert x.set_() is x
    assert (x.shape, x.stride(), x._version, x.untyped_storage().nbytes()) == ((0,), (1,), 1, 0)
    assert (view.tolist(), view._version) == ([1, 2], 1)


@pytest.mark.parametrize(
    "arguments",
    [(None,), (3,), (None, 0, (2,)), (vt.ones(4), None), (vt.ones(4), 0, None)],
    ids=str,
)
def test_set_takes_no_none(arguments: tuple[Any, ...]) -> None:
    x = ramp(4)
    with refused(TypeError, "argument-type", [x]):
        x.set_(*arguments)


def test_set_to_a_tensor_shares_memory_but_not_the_version() -> None:
    x, y = ramp(4), ramp(2, 3).t()
    view = x[:2]
    x.set_(y)
    assert (x.tolist(), x.stride(), x._version) == ([[1, 4], [2, 5], [3, 6]], (1, 3), 1)
    x.add_(1)
    assert y.tolist() == [[2, 5], [3, 6], [4, 7]]
    assert (x._version, y._version, view._version) == (2, 0, 2)
    assert view.tolist() == [1, 2]
    assert view._base is x
    assert x.is_set_to(y)
    assert not x.is_set_to(view)


def test_set_keeps_whether_conjugates_or_negatives_are_shown() -> None:
    conjugate, negative = vt.tensor([1 + 1j]).conj(), ramp(2)._neg_view()
    conjugate.set_(vt.tensor([2 + 3j]))
    negative.set_((ramp(2) + 4)._neg_view())
    assert (conjugate.is_conj(), conjugate.tolist()) == (True, [2 - 3j])
    assert (negative.is_neg(), negative.tolist()) == (True, [-5, -6])
    plain = vt.tensor([1 + 1j])
    plain.set_(conjugate)
    assert (plain.is_conj(), plain.tolist()) == (False, [2 + 3j])
    assert conjugate.set_().is_conj()


def test_set_to_a_storage_or_a_part_of_it() -> None:
    x, y = ramp(4), ramp(6)
    assert x.set_(y.untyped_storage()).tolist() == [1, 2, 3, 4, 5, 6]
    assert x.set_(y.untyped_storage(), 1, (2, 2), (2, 1)).tolist() == [[2, 3], [4, 5]]
    assert x.set_(y.untyped_storage(), 1, (5,)).stride() == (1,)
    assert x.set_(y[1:], 1, (2,), (2,)).tolist() == [3, 5]
    assert (x.storage_offset(), x._version) == (2, 4)
    assert x.set_(y.untyped_storage(), 9, (0,), (1,)).storage_offset() == 9


def test_set_without_strides_keeps_those_of_a_tensor_of_that_size() -> None:
    x = ramp(2, 3).t()
    x.set_(vt.tensor([5.0, 6.0, 7.0, 8.0, 9.0, 10.0], dtype=vt.float64), 0, (3, 2))
    assert (x.stride(), x.tolist()) == ((1, 3), [[5, 8], [6, 9], [7, 10]])
    x.set_(vt.ones(6, dtype=vt.float64), 0, (2, 3))
    assert x.stride() == (3, 1)


def test_set_lets_the_storage_grow() -> None:
    x, y = ramp(4), ramp(2)
    x.set_(y.untyped_storage(), 1, (2,), (2,))
    assert (x[0].item(), y.untyped_storage().nbytes(), y.tolist()) == (2, 32, [1, 2])
    x.fill_(5)
    assert y.tolist() == [1, 5]


HOSTILE: dict[str, Callable[[vt.Tensor, vt.Tensor], object]] = {
    "negative offset": lambda x, y: x.set_(y.untyped_storage(), -1, (2,), (1,)),
    "negative stride": lambda x, y: x.set_(y.untyped_storage(), 4, (2,), (-1,)),
    "negative size": lambda x, y: x.set_(y.untyped_storage(), 4, (-2,), (1,)),
    "huge offset": lambda x, y: x.set_(y.untyped_storage(), 2**62, (2,), (1,)),
    "huge size": lambda x, y: x.set_(y.untyped_storage(), 0, (2**40, 2**40), (1, 1)),
    "too few strides": lambda x, y: x.set_(y.untyped_storage(), 4, (2, 1), (1,)),
    "another dtype": lambda x, y: x.set_(y.int()),
    "part of a transposed matrix": lambda x, y: x.set_(y.reshape(2, 3).t(), 0, (2,), (1,)),
}


@differs_from_torch("PyTorch leaves a tensor behind that has neither shape")
@pytest.mark.parametrize("call", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_set_is_refused(call: Callable[[vt.Tensor, vt.Tensor], object]) -> None:
    x, y = ramp(4), ramp(6)
    view = x[1:]
    before = y.untyped_storage().nbytes()
    with pytest.raises(RuntimeError):
        call(x, y)
    assert (x.tolist(), view.tolist(), x._version) == ([1, 2, 3, 4], [2, 3, 4], 0)
    assert (y.tolist(), y.untyped_storage().nbytes()) == ([1, 2, 3, 4, 5, 6], before)


@pytest.mark.parametrize("argument", [3, np.zeros(2), "x"], ids=repr)
def test_set_takes_tensors_and_storages(argument: object) -> None:
    with pytest.raises(TypeError):
        ramp(2).set_(argument)  # type: ignore[arg-type]  # that is what is tested


def test_set_to_a_part_of_memory_takes_its_bytes_for_another_dtype() -> None:
    z = vt.zeros(1, dtype=vt.complex128)
    z.set_(ramp(4), 0, (2,))
    assert z.tolist() == [1 + 2j, 3 + 4j]
    with refused(RuntimeError, "dtype", [z]):
        z.set_(ramp(4))


def test_which_fault_of_a_set_is_named_first() -> None:
    x, y = leaf(2), ramp(2).to(vt.float32)
    with refused(RuntimeError, "dtype", [x, y]):
        x.set_(y)
    with refused(RuntimeError, "leaf-write", [x, y]):
        x.set_(y, 0, (2,))


def test_set_is_recorded_but_has_no_derivative() -> None:
    x = leaf(3) * 1
    x.set_(ramp(3))
    assert fn_name(x) == "NotImplemented"
    with pytest.raises(RuntimeError):
        x.sum().backward()
    w = leaf(3)
    with refused(RuntimeError, "leaf-write", [w]):
        w.set_(ramp(2))


def test_a_leaf_may_be_set_under_no_grad_and_gets_gradients_of_its_new_shape() -> None:
    w = leaf(3)
    before = (w * 2).sum()
    with vt.no_grad():
        w.set_(ramp(5))
    assert (w.is_leaf, w._version, w.shape) == (True, 1, (5,))
    (w * w).sum().backward()
    assert grad_list(w) == [2, 4, 6, 8, 10]
    assert before.item() == 12


@pytest.mark.storage_rule
def test_a_saved_value_that_was_set_is_noticed() -> None:
    x, c = leaf(3), ramp(3)
    y = x * c
    c.set_(ramp(3))
    with refused(RuntimeError, "stale-saved"):
        y.sum().backward()


# -- a view that has other memory than its base ---------------------------------------------


def moved_by_data(view: vt.Tensor) -> None:
    view.data = ramp(2)


def moved_by_set(view: vt.Tensor) -> None:
    view.set_(ramp(2))


@differs_from_torch("PyTorch returns gradients between memory that nothing connects")
@pytest.mark.parametrize("move", [moved_by_data, moved_by_set])
def test_a_view_on_other_memory_than_its_base_has_no_gradient(
    move: Callable[[vt.Tensor], None],
) -> None:
    base, w = ramp(4), leaf(2)
    view = base[2:]
    move(view)
    with refused(RuntimeError, "view-invalid", [base, view, w]):
        view.mul_(w)
    base.mul_(leaf(4))
    with refused(RuntimeError, "view-invalid", [base]):
        view.sum().backward()
    (base * 2).sum().backward()


def test_a_view_without_elements_may_leave_its_base() -> None:
    x = leaf(0)
    base = x * 1
    view = base[:0]
    base.data = ramp(0)
    view.mul_(2)
    base.sum().backward()
    assert grad_list(x) == []


@differs_from_torch("PyTorch finds out when the graph is read, or not at all")
def test_a_resized_view_that_left_its_base_is_not_written_while_recording() -> None:
    base = ramp(4)
    view = base[2:]
    view.resize_(3)
    with pytest.raises(RuntimeError):
        view.mul_(leaf(3))


# -- exchanging two tensors -----------------------------------------------------------------


def test_swapped_tensors_change_places_with_all_that_they_have() -> None:
    a, b = ramp(2), leaf(3)
    b.register_hook(lambda g: g * 10)
    (b * b).sum().backward()
    held = [a, b]
    vt.utils.swap_tensors(a, b)
    assert held[0] is a
    assert (a.tolist(), a.requires_grad, a.is_leaf) == ([1, 2, 3], True, True)
    assert (b.tolist(), b.requires_grad, b.grad) == ([1, 2], False, None)
    assert grad_list(a) == [20, 40, 60]
    a.grad = None
    (a * 2).sum().backward()
    assert grad_list(a) == [20, 20, 20]


def test_a_view_may_be_swapped_and_stays_a_view() -> None:
    base, a = ramp(4), ramp(2)
    view = base[1:]
    vt.utils.swap_tensors(a, view)
    assert a._base is base
    assert view._base is None
    a.zero_()
    assert base.tolist() == [1, 0, 0, 0]


def test_a_result_may_be_swapped_and_takes_its_graph_along() -> None:
    x, a = leaf(3), ramp(2)
    y = x.exp()
    z = (y + 1).sum()
    node = node_of(y)
    vt.utils.swap_tensors(a, y)
    assert a.grad_fn is node
    assert y.grad_fn is None
    z.backward()
    assert x.grad is not None


def saved(x: vt.Tensor) -> object:
    return x * leaf(3)


def saved_leaf(x: vt.Tensor) -> object:
    x.requires_grad_()
    return x * x


def base_of_a_view(x: vt.Tensor) -> object:
    return x[1:]


def gradient(x: vt.Tensor) -> object:
    owner = leaf(3)
    owner.grad = x
    return owner


def retaining(x: vt.Tensor) -> object:
    x.mul_(leaf(3)).retain_grad()
    return x


def weakly_held(x: vt.Tensor) -> object:
    return weakref.ref(x)


@pytest.mark.parametrize(
    "hold", [saved, saved_leaf, base_of_a_view, gradient, retaining, weakly_held]
)
def test_what_something_else_holds_is_not_swapped(hold: Callable[[vt.Tensor], object]) -> None:
    for first in (True, False):
        x, other = ramp(3), ramp(2)
        held = hold(x)
        with refused(RuntimeError, "swap", [x, other]):
            vt.utils.swap_tensors(*((x, other) if first else (other, x)))
        assert held is not None


def test_a_tensor_swapped_with_itself_stays() -> None:
    x = ramp(2)
    vt.utils.swap_tensors(x, x)
    assert x.tolist() == [1, 2]
