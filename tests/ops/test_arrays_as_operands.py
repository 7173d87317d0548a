"""NumPy's arrays and numbers where operators take tensors; see Note [Arrays as constants]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of
from tests.sweeping import sweep
from vtgrad.errors import ArgumentTypeError, VtgradError

#: Arrays are no part of the types of operators.
F: Any = vt

WITH_SECOND_TENSOR = cases(
    lambda op: sum("Tensor" in argument.type for argument in op.arguments) > 1
)


def leaf(*values: float) -> vt.Tensor:
    """Give a float32 leaf of these numbers."""
    return vt.tensor(values, requires_grad=True)


def as_arrays(value: object) -> object:
    """NumPy's array for a tensor, also in a list."""
    if isinstance(value, vt.Tensor):
        return value.numpy(force=True).copy()
    return [as_arrays(x) for x in value] if isinstance(value, list) else value


def outcome(case: Case, change: Callable[[object], object]) -> tuple[object, ...]:
    """The results of a sample, or the class of its error, with others for all tensors but one."""
    values, options = arguments_of(case)
    first = next(nr for nr, value in enumerate(values) if isinstance(value, (vt.Tensor, list)))
    for nr, value in enumerate(values):
        if nr != first:
            values[nr] = change(value)
        elif isinstance(value, list):
            values[nr] = [*value[:1], *[change(x) for x in value[1:]]]
    options = {name: change(value) for name, value in options.items()}
    vt.manual_seed(3)
    try:
        found = results_of(function_named(case.operator.name)(*values, **options))
    except VtgradError as error:
        return (type(error),)
    return tuple([(x.numpy(force=True).tobytes(), x.shape, x.dtype) for x in found])


@sweep(WITH_SECOND_TENSOR)
def test_an_operator_takes_arrays_beside_a_tensor(case: Case) -> None:
    assert outcome(case, as_arrays) == outcome(case, lambda value: value)


def test_methods_and_python_operators_take_arrays() -> None:
    x: Any = leaf(1.0, 2.0, 3.0)
    a: Any = np.array([2.0, 3.0, 4.0], np.float32)
    expected: Any
    for result, expected in [
        (x + a, [3, 5, 7]),
        (a + x, [3, 5, 7]),
        (a - x, [1, 1, 1]),
        (x * a, [2, 6, 12]),
        (a / x, [2, 1.5, 4 / 3]),
        (x**a, [1, 8, 81]),
        (a**x, [2, 9, 64]),
        (x // a, [0, 0, 0]),
        (a % x, [0, 1, 1]),
        (x @ a, 20),
        (a @ x, 20),
        (F.matmul(x, a), 20),
        (F.matmul(a, x), 20),
        (x.matmul(np.stack([a, a], 1)), [20, 20]),
        (F.tensordot(a, x, 1), 20),
        (F.tensordot(x, a, ([0], [0])), 20),
        (x.mul(a), [2, 6, 12]),
        (F.pow(a, x), [2, 9, 64]),
        (F.float_power(a, x.detach()), [2, 9, 64]),
        (x.clamp(a, None), [2, 3, 4]),
        (F.where(a > 2, x, a), [2, 2, 3]),
        (F.stack([x, a]).sum(0), [3, 5, 7]),
        (F.stack(np.ones((2, 3))).sum(0), [2, 2, 2]),
        (F.einsum("i,i", x, a), 20),
        (F.einsum("i,i", a, x), 20),
        (F.einsum("ij->j", np.ones((2, 3))), [2, 2, 2]),
        (F.broadcast_tensors(a, x)[1], [1, 2, 3]),
        (F.broadcast_tensors(x, a)[1], [2, 3, 4]),
        (F.flatten(a), [2, 3, 4]),
    ]:
        assert isinstance(result, vt.Tensor)
        np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-6)
    assert (x == a).tolist() == (a == x).tolist() == [False, False, False]
    assert (a > x).tolist() == [True, True, True]
    assert (x != a).dtype == vt.bool


def test_one_array_is_one_tensor_where_a_sequence_of_tensors_may_be_given() -> None:
    rows: Any = np.array([[1.0], [2.0]], np.float32)
    x = vt.tensor([3.0, 4.0])
    first, second = F.broadcast_tensors(rows, x)
    assert first.tolist() == [[1, 1], [2, 2]]
    assert second.tolist() == [[3, 4], [3, 4]]
    assert [one.tolist() for one in F.broadcast_tensors(rows)] == [[[1], [2]]]
    assert [one.shape for one in F.broadcast_tensors([rows[0], x])] == [(2,), (2,)]
    vector: Any = rows[:, 0]
    for result, expected in [
        (F.broadcast_tensors(rows)[0], [[1], [2]]),
        (F.atleast_1d(rows[0, 0, ...]), [1]),
        (F.atleast_2d(vector), [[1, 2]]),
        (F.atleast_3d(rows), [[[1]], [[2]]]),
        (F.atleast_2d([vector])[0], [[1, 2]]),
        (F.cartesian_prod(vector), [1, 2]),
        (F.cartesian_prod(vector, x), [[1, 3], [1, 4], [2, 3], [2, 4]]),
    ]:
        assert isinstance(result, vt.Tensor)
        assert result.tolist() == expected


def test_arrays_are_written_into_tensors() -> None:
    x: Any = vt.zeros(3)
    x[:2] = np.array([1.0, 2.0])
    x[np.array([False, False, True])] = np.array([7.0])
    x += np.array([1, 1, 1], np.float32)
    x.mul_(np.full(3, 2.0, np.float32))
    assert x.tolist() == [4.0, 6.0, 16.0]
    assert x._version == 4


def test_nothing_is_written_into_an_array_by_an_operator() -> None:
    a: Any = np.ones(3, np.float32)
    x = vt.ones(3)
    calls: list[Callable[[], object]] = [
        lambda: F.mul(x, x, out=a),
        lambda: F.Tensor.add_(a, x),
        lambda: F.Tensor.copy_(a, x),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    assert a.tolist() == [1.0, 1.0, 1.0]


def test_a_constant_promotes_as_a_tensor_of_its_dtype() -> None:
    x: Any = vt.ones(2)
    assert (x + np.ones(2)).dtype == vt.float64
    assert (x + np.ones(2, np.int64)).dtype == vt.float32
    assert (x + np.array(1.0)).dtype == vt.float32  # 0-d beside a vector
    assert (x + np.float64(1.0)).dtype == vt.float32  # a number
    assert (x.long() * np.ones(2, np.int8)).dtype == vt.int64


@pytest.mark.parametrize("write", ["numpy", "none"])
def test_what_numpy_writes_later_is_not_seen_by_backward(write: str) -> None:
    a: Any = np.array([2.0, 3.0], np.float32)
    x: Any = leaf(1.0, 1.0)
    y = (x * a).sum() + F.reshape(F.mul(a, x), (2, 1)).sum() + (x @ a)
    if write == "numpy":
        a[:] = 100
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 9.0]


def test_what_numpy_writes_later_is_not_seen_by_the_backward_of_a_batch() -> None:
    a: Any = np.array([2.0, 3.0], np.float32)
    x: Any = vt.ones(4, 2, requires_grad=True)
    y = vt.vmap(lambda row: a * row)(x)
    a[:] = 100
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0, 3.0]] * 4

    def pulled(row: vt.Tensor) -> vt.Tensor:
        b: Any = np.array([2.0, 3.0], np.float32)
        _, pull = vt.func.vjp(lambda r: F.mul(r, b).sum(), row)
        b[:] = 100
        found: vt.Tensor = pull(vt.tensor(1.0))[0]
        return found

    assert vt.vmap(pulled)(x.detach()).tolist() == [[2.0, 3.0]] * 4


def test_a_constant_is_not_copied_where_nothing_is_recorded() -> None:
    a = np.arange(6.0, dtype=np.float32)
    view = F.reshape(a, (2, 3))
    assert isinstance(view, vt.Tensor)
    a[0] = 9
    assert view[0, 0].item() == 9
    view[1, 2] = 7
    assert a[5] == 7


def made_by_numpy() -> list[Any]:
    """Arrays of [1, 2, 3] that no tensor can stand on."""
    read_only = np.array([1.0, 2.0, 3.0], np.float32)
    read_only.flags.writeable = False
    packed = np.zeros(3, [("a", np.int8), ("b", np.float32)])
    packed["b"] = [1, 2, 3]
    return [read_only, np.array([1, 2, 3], ">f4"), packed["b"], np.arange(3.0, 0, -1)[::-1]]


@pytest.mark.parametrize("nr", range(4))
def test_arrays_of_any_layout_are_taken(nr: int) -> None:
    a = made_by_numpy()[nr]
    assert (F.ones(3) * a).tolist() == [1.0, 2.0, 3.0]
    view = F.flip(F.reshape(a, (3, 1)), (0,))
    view.zero_()
    assert a.tolist() == [1.0, 2.0, 3.0]


def test_what_has_a_mask_or_no_dtype_is_refused() -> None:
    x: Any = vt.ones(3)
    with pytest.raises(ArgumentTypeError, match="masked array"):
        x * np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    with pytest.raises(ArgumentTypeError, match="no dtype"):
        x * np.array(["a", "b", "c"])
    with pytest.raises(ArgumentTypeError, match="no dtype"):
        F.mul(x, np.ones(3, np.uint32))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_whose_operators_mean_something_else_are_refused() -> None:
    class InMetres(np.ndarray[Any, Any]):
        def __array_ufunc__(self, *_: object, **__: object) -> str:
            return "metres"

    x: Any = vt.ones(2, 2)
    matrix: Any = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    calls: list[Callable[[], object]] = [
        lambda: x * matrix,
        lambda: matrix * x,
        lambda: F.mul(x, matrix),
    ]
    for call in calls:
        with pytest.raises(ArgumentTypeError, match=r"np\.matrix"):
            call()
    metres: Any = np.ones((2, 2)).view(InMetres)
    with pytest.raises(ArgumentTypeError, match="InMetres is no operand"):
        F.mul(x, metres)
    assert np.add(x, metres) == np.add(metres, x) == "metres"


def test_a_constant_is_on_the_device_of_the_tensor_beside_it() -> None:
    x: Any = vt.ones(3, device="lane:0", requires_grad=True)
    a: Any = np.array([1.0, 2.0, 3.0], np.float32)
    y = x * a + a
    a[:] = 0
    assert y.device == x.device
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_constants_inside_of_transforms() -> None:
    a: Any = np.array([1.0, 2.0, 3.0], np.float32)
    x = vt.tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    assert vt.vmap(lambda row: a * row)(x).tolist() == [[1, 2, 3], [2, 4, 6]]
    assert vt.func.grad(lambda row: (a * row * row).sum())(x[0]).tolist() == [2.0, 4.0, 6.0]
    _, tangent = vt.func.jvp(lambda row: a * row, (x[0],), (x[1],))
    assert tangent.tolist() == [2.0, 4.0, 6.0]


def test_the_class_of_a_result_is_that_of_the_tensor() -> None:
    class Own(vt.Tensor):
        pass

    own: Any = vt.ones(2).as_subclass(Own)
    assert type(F.mul(np.ones(2, np.float32), own)) is Own
    assert type(np.ones(2) + own) is Own


def test_bounds_and_sources_may_be_arrays() -> None:
    x: Any = vt.tensor([1.0, 5.0, 9.0])
    low = np.array([2.0, 2.0, 2.0], np.float32)
    assert x.clamp(low, 6).tolist() == np.clip(x, low, 6).tolist() == [2.0, 5.0, 6.0]
    assert isinstance(np.clip(x, low, 6), vt.Tensor)
    assert x.clone().clamp_(None, low).tolist() == [1.0, 2.0, 2.0]
    index = np.array([0, 2])
    source = np.array([7.0, 8.0], np.float32)
    assert x.scatter(0, index, source).tolist() == [7.0, 5.0, 8.0]
    assert x.clone().scatter_(0, index, source).tolist() == [7.0, 5.0, 8.0]
    assert x.clone().scatter_(0, index, source, reduce="add").tolist() == [8.0, 5.0, 17.0]
    with pytest.raises(VtgradError):
        x.scatter(0, index, source.astype(np.float64))
    assert F.max(x, np.array([2, 6, 2], np.float32)).tolist() == [2.0, 6.0, 9.0]
