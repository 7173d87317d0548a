"""Gathering, scattering, ``x[...]`` and ``x[...] = v`` on tensors: values, nodes, gradients."""

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.support import fn_name, leaf_of, weighted_gradients
from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    ElementIndexError,
    InputOverlapError,
    OutOfRangeError,
    ResultTypeError,
    SelfOverlapError,
    ShapeError,
    StaleSavedError,
    VtgradError,
)

Op = Callable[[vt.Tensor], vt.Tensor]


def scalar(value: float) -> vt.Tensor:
    return vt.tensor(value, dtype=vt.float64, requires_grad=True)


def ints(*values: Any) -> vt.Tensor:
    return vt.tensor(list(values), dtype=vt.int64)


MASK = vt.tensor([[True, False, True], [False, False, True]])


# -- reading --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "values", "gradient", "node"),
    [
        (lambda x: x[[1, 0]], [[4, 5, 6], [1, 2, 3]], [[4, 5, 6], [1, 2, 3]], "IndexBackward0"),
        (lambda x: x[ints(1, 1)], [[4, 5, 6]] * 2, [[0, 0, 0], [5, 7, 9]], "IndexBackward0"),
        (lambda x: x[:, [0, -1]], [[1, 3], [4, 6]], [[1, 0, 2], [3, 0, 4]], "IndexBackward0"),
        (lambda x: x[[0, 1, 0], [2, 0, 2]], [3, 4, 3], [[0, 0, 4], [2, 0, 0]], "IndexBackward0"),
        (lambda x: x[MASK], [1, 3, 6], [[1, 0, 2], [0, 0, 3]], "IndexBackward0"),
        (lambda x: x[x > 4], [5, 6], [[0, 0, 0], [0, 1, 2]], "IndexBackward0"),
        (lambda x: x[True], [[[1, 2, 3], [4, 5, 6]]], [[1, 2, 3], [4, 5, 6]], "IndexBackward0"),
        (lambda x: x[1, [2, 0]], [6, 4], [[0, 0, 0], [2, 0, 1]], "IndexBackward0"),
        (lambda x: x[vt.tensor(1)], [4, 5, 6], [[0, 0, 0], [1, 2, 3]], "SelectBackward0"),
        (
            lambda x: x.gather(1, ints([0, 0], [2, 1])),
            [[1, 1], [6, 5]],
            [[3, 0, 0], [0, 4, 3]],
            "GatherBackward0",
        ),
        (
            lambda x: x.index_select(1, ints(2, 2)),
            [[3, 3], [6, 6]],
            [[0, 0, 3], [0, 0, 7]],
            "IndexSelectBackward0",
        ),
        (lambda x: x.take(ints(5, -6, 5)), [6, 1, 6], [[2, 0, 0], [0, 0, 4]], "TakeBackward0"),
        (
            lambda x: x.masked_select(vt.tensor([False, True, True])),
            [2, 3, 5, 6],
            [[0, 1, 2], [0, 3, 4]],
            "MaskedSelectBackward0",
        ),
    ],
)
def test_reading_and_its_gradient(op: Op, values: object, gradient: object, node: str) -> None:
    x = leaf_of([1, 2, 3], [4, 5, 6])
    y = op(x)
    assert y.tolist() == values
    assert fn_name(y) == node
    assert weighted_gradients(y, x) == [gradient]


def test_an_index_has_no_edge_of_its_own() -> None:
    x = leaf_of([1, 2, 3], [4, 5, 6])
    for y in (x.gather(0, ints([0, 0, 0])), x[ints(0)], x.masked_fill(MASK, 0.0)):
        assert y.grad_fn is not None
        assert len(y.grad_fn.next_functions) == 1


def test_a_basic_index_is_a_chain_of_views_of_the_base() -> None:
    x = leaf_of([1, 2, 3], [4, 5, 6])
    y = x[0, 1:]
    assert y._base is x
    assert y.grad_fn is not None
    parent = y.grad_fn.next_functions[0][0]
    assert parent is not None
    assert (y.grad_fn.name(), parent.name()) == ("SliceBackward0", "SelectBackward0")


def test_an_index_array_may_not_change_between_reading_and_backward() -> None:
    x = leaf_of(1, 2, 3)
    where = ints(0, 1)
    y = x[where]
    where.add_(1)
    with pytest.raises(StaleSavedError):
        y.sum().backward()


# -- storing: which value stays has the gradient --------------------------------------------


def test_of_values_stored_in_one_place_only_the_last_has_a_gradient() -> None:
    x, v = leaf_of(1, 2, 3), leaf_of(7, 8)
    y = x.index_put((ints(1, 1),), v)
    assert y.tolist() == [1, 8, 3]
    assert weighted_gradients(y, x, v) == [[1, 0, 3], [0, 2]]
    y = x.index_copy(0, ints(2, 2), v)
    assert y.tolist() == [1, 2, 8]
    assert weighted_gradients(y, x, v) == [[1, 2, 0], [0, 3]]
    y = x.scatter(0, ints(0, 0), v)
    assert y.tolist() == [8, 2, 3]
    assert weighted_gradients(y, x, v) == [[0, 2, 3], [0, 1]]


def test_one_value_stored_twice_in_one_place_counts_once() -> None:
    x, s = leaf_of(1, 2, 3), scalar(9)
    y = x.clone()
    y[[0, 0]] = s
    assert weighted_gradients(y, x, s) == [[0, 2, 3], 1]
    assert weighted_gradients(x.index_fill(0, ints(0, 0, -3), s), x, s) == [[0, 2, 3], 1]


def test_values_added_in_one_place_all_have_the_gradient() -> None:
    x, v = leaf_of(1, 2, 3), leaf_of(7, 8)
    for y in (
        x.index_put((ints(1, 1),), v, accumulate=True),
        x.index_add(0, ints(1, 1), v),
        x.scatter_add(0, ints(1, 1), v),
    ):
        assert y.tolist() == [1, 17, 3]
        assert weighted_gradients(y, x, v) == [[1, 2, 3], [2, 2]]
    y = x.index_add(0, ints(0, 2), v, alpha=3)
    assert y.tolist() == [22, 2, 27]
    assert weighted_gradients(y, x, v) == [[1, 2, 3], [3, 9]]


def test_a_source_larger_than_its_index_has_zeros_for_the_rest() -> None:
    x, v = leaf_of(1, 2, 3), leaf_of(7, 8, 9)
    assert weighted_gradients(x.scatter(0, ints(2), v), x, v) == [[1, 2, 0], [3, 0, 0]]
    assert weighted_gradients(x.scatter_add(0, ints(2), v), x, v) == [[1, 2, 3], [3, 0, 0]]


def test_filling_through_a_mask() -> None:
    x, s = leaf_of([1, 2, 3], [4, 5, 6]), scalar(9)
    y = x.masked_fill(MASK, s)
    assert y.tolist() == [[9, 2, 9], [4, 5, 9]]
    assert weighted_gradients(y, x, s) == [[[0, 2, 0], [4, 5, 0]], 1 + 3 + 6]
    # The tensor broadcasts to a larger mask: its gradient is summed.
    row = leaf_of(1, 2, 3)
    assert weighted_gradients(row.masked_fill(MASK, 0.0), row) == [[4, 7, 0]]


# -- writing in place -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "values", "node"),
    [
        (lambda y: y.scatter_(0, ints(0, 2), 5.0), [5, 2, 5], "ScatterBackward1"),
        (lambda y: y.scatter_(0, ints(0), y.detach() * 2), [2, 2, 3], "ScatterBackward0"),
        (lambda y: y.scatter_add_(0, ints(0), y.detach() * 2), [3, 2, 3], "ScatterAddBackward0"),
        (lambda y: y.index_add_(0, ints(1), y[:1] * 4), [1, 6, 3], "IndexAddBackward0"),
        (lambda y: y.index_copy_(0, ints(1), y[:1] * 4), [1, 4, 3], "IndexCopyBackward0"),
        (lambda y: y.index_fill_(0, ints(-1), 7), [1, 2, 7], "IndexFillBackward0"),
        (lambda y: y.index_put_((ints(0, 1),), scalar(4)), [4, 4, 3], "IndexPutBackward0"),
        (lambda y: y.masked_fill_(y > 2, 0.5), [1, 2, 0.5], "MaskedFillBackward0"),
        (lambda y: y.copy_(scalar(3)), [3, 3, 3], "CopyBackwards"),
        (lambda y: y.fill_(4.0), [4, 4, 4], "FillBackward2"),
        (lambda y: y.fill_(scalar(4)), [4, 4, 4], "FillBackward3"),
        (lambda y: y.zero_(), [0, 0, 0], "ZeroBackward0"),
    ],
)
def test_in_place_forms_write_record_and_count_once(
    write: Op, values: list[float], node: str
) -> None:
    y = leaf_of(1, 2, 3).clone()
    assert write(y) is y
    assert y.tolist() == values
    assert fn_name(y) == node
    assert y._version == 1


def test_storing_through_a_view_reaches_the_base() -> None:
    x, v = leaf_of([1, 2, 3], [4, 5, 6]), leaf_of(7, 8)
    y = x.clone()
    y.t()[[0, 2], 1] = v
    assert y.tolist() == [[1, 2, 3], [7, 5, 8]]
    assert fn_name(y) == "CopySlices"
    assert weighted_gradients(y, x, v) == [[[1, 2, 3], [0, 5, 0]], [4, 6]]


def test_every_kind_of_assignment() -> None:
    x = vt.zeros((2, 3))
    x[0] = 1.0
    x[1, 1:] = vt.tensor([2.0, 3.0])
    x[:, [0]] = 5.0
    x[x == 3] = 9
    x[None, 0, ..., 2] = vt.tensor([[[4.0]]])
    x[False] = 7.0
    assert x.tolist() == [[5, 1, 4], [5, 2, 9]]
    assert x._version == 5


def test_leading_dimensions_of_size_1_of_a_value_do_not_matter() -> None:
    x = vt.zeros((2, 3))
    x[0] = vt.ones((1, 1, 3))
    x[[1]] = vt.ones((1, 1, 1, 3))
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(ShapeError):
        x[0] = vt.ones((2, 3))


def test_a_value_that_is_part_of_the_target_is_read_first() -> None:
    x = vt.tensor([1.0, 2.0, 3.0])
    x[:] = x[1]
    assert x.tolist() == [2, 2, 2]
    y = vt.tensor([1.0, 2.0, 3.0])
    y[y > 1] = y[2]
    assert y.tolist() == [1, 3, 3]


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.index_put_((ints(0, 1, 2),), y),
        lambda y: y.scatter_(0, ints(2, 1, 0), y),
        lambda y: y.index_add_(0, ints(2, 1, 0), y),
        lambda y: y.index_copy_(0, ints(2, 1, 0), y),
    ],
)
def test_a_tensor_is_not_scattered_into_itself(write: Op) -> None:
    y = vt.tensor([1.0, 2.0, 3.0])
    with pytest.raises(InputOverlapError):
        write(y)
    assert y.tolist() == [1, 2, 3]
    assert y._version == 0


def test_masks_fill_repeated_elements_only_while_nothing_is_recorded() -> None:
    mask = vt.tensor([True, False, False])
    wide = vt.ones(1).expand(3)
    wide.masked_fill_(mask, 9.0)
    assert wide.tolist() == [9, 9, 9]
    recorded = leaf_of(1).clone().expand(3)
    with pytest.raises(SelfOverlapError):
        recorded.masked_fill_(mask, 9.0)
    assert recorded.tolist() == [1, 1, 1]


@pytest.mark.parametrize("index", [(0, 2**63), (slice(2**70), -(2**64)), (0, 2)])
def test_an_index_that_does_not_exist_is_refused(index: tuple[int | slice, ...]) -> None:
    x = vt.zeros(3, 2)
    with pytest.raises(OutOfRangeError):
        x[index] = 0.0
    assert x._version == 0


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda y: y.scatter_(0, ints(3), 1.0), ElementIndexError),
        (lambda y: y.scatter_(0, ints(0), 1j), ResultTypeError),
        (lambda y: y.index_put_((ints(5),), scalar(1)), OutOfRangeError),
        (lambda y: y.index_put_((ints(0),), vt.tensor(1)), DTypeError),
        (lambda y: y.index_put_((vt.tensor(True),), scalar(1)), OutOfRangeError),
        (lambda y: y.masked_fill_(ints(1, 0, 1), 1.0), DTypeError),
        (lambda y: y.masked_fill_(vt.ones((2, 3), dtype=vt.bool), 1.0), ShapeError),
        (lambda y: y.copy_(vt.ones(2)), ShapeError),
        (lambda y: y.fill_(vt.ones(3)), ShapeError),
        (lambda y: y.index_copy_(0, ints(0), vt.ones(1)), DTypeError),
    ],
)
def test_a_refused_write_leaves_everything_as_it_was(write: Op, error: type[VtgradError]) -> None:
    y = leaf_of(1, 2, 3).clone()
    node = y.grad_fn
    with pytest.raises(error):
        write(y)
    assert y.tolist() == [1, 2, 3]
    assert y._version == 0
    assert y.grad_fn is node


@pytest.mark.parametrize("value", [[1, 2, 3], "a", None])
def test_only_tensors_and_numbers_are_assigned(value: object) -> None:
    y = vt.zeros((2, 3))
    with pytest.raises(ArgumentTypeError):
        y[0] = value  # type: ignore[assignment]  # what is to be refused


# -- joins and rearrangements -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "values", "gradient"),
    [
        (lambda x: vt.cat([x, x[:, :1]], 1), [[1, 2, 1], [3, 4, 3]], [[4, 2], [10, 5]]),
        (lambda x: vt.stack([x[0], x[1]], -1), [[1, 3], [2, 4]], [[1, 3], [2, 4]]),
        (lambda x: x.repeat(1, 2), [[1, 2, 1, 2], [3, 4, 3, 4]], [[4, 6], [12, 14]]),
        (lambda x: x[0].repeat(2, 1), [[1, 2], [1, 2]], [[4, 6], [0, 0]]),
        (lambda x: x.roll(1), [[4, 1], [2, 3]], [[2, 3], [4, 1]]),
        (lambda x: x.roll(1, 0), [[3, 4], [1, 2]], [[3, 4], [1, 2]]),
        (lambda x: x.flip(1), [[2, 1], [4, 3]], [[2, 1], [4, 3]]),
        (lambda x: x.tril(), [[1, 0], [3, 4]], [[1, 0], [3, 4]]),
        (lambda x: x.triu(1), [[0, 2], [0, 0]], [[0, 2], [0, 0]]),
    ],
)
def test_joins_and_rearrangements(op: Op, values: object, gradient: object) -> None:
    x = leaf_of([1, 2], [3, 4])
    assert op(x).tolist() == values
    assert weighted_gradients(op(x), x) == [gradient]


def test_joined_tensors_get_gradients_of_their_own_dtype() -> None:
    narrow = vt.ones(2, requires_grad=True)
    wide = leaf_of(1)
    joined = vt.cat([narrow, wide])
    assert joined.dtype is vt.float64
    a, b = vt.autograd.grad(joined.sum(), [narrow, wide])
    assert (a.dtype, b.dtype) == (vt.float32, vt.float64)


# -- second derivatives ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "op",
    [
        lambda x: x[[0, 0, 2]],
        lambda x: x.gather(0, ints(0, 0, 2)),
        lambda x: x.take(ints(0, 0, 2)),
        lambda x: x.index_select(0, ints(0, 0, 2)),
        lambda x: vt.cat([x[:1], x[:1], x[2:]]),
    ],
)
def test_second_derivatives_count_repeated_elements(op: Op) -> None:
    x = leaf_of(1, 2, 3)
    y = op(x)
    (g,) = vt.autograd.grad((y * y * y).sum(), x, create_graph=True)
    assert g.tolist() == [2 * 3, 0, 27]
    (h,) = vt.autograd.grad(g.sum(), x)
    assert h.tolist() == [2 * 6, 0, 18]


def test_second_derivatives_of_stored_values() -> None:
    x, v = leaf_of(1, 2, 3), leaf_of(4, 5)
    y = x.index_put((ints(1, 1),), v * v)
    gx, gv = vt.autograd.grad((y * y).sum(), [x, v], create_graph=True)
    assert gx.tolist() == [2, 0, 6]
    assert gv.tolist() == [0, 4 * 5**3]
    (h,) = vt.autograd.grad(gv.sum(), v)
    assert h.tolist() == [0, 12 * 5**2]


@pytest.mark.parametrize(("accumulate", "expected"), [(False, 4.0), (True, 9.0)])
def test_put_knows_the_one_position_of_a_single_number(accumulate: bool, expected: float) -> None:
    x = vt.tensor(2.0)
    values = vt.tensor([3.0, 4.0])
    assert x.put(ints(-1, 0), values, accumulate).tolist() == expected
    assert x.put_(ints(-1, 0), values, accumulate).tolist() == expected
