"""A number where an operator takes a tensor; see Note [Numbers as operands]."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of
from tests.ops.records import RECORDS
from tests.sweeping import sweep
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ResultTypeError,
    ShapeError,
    VtgradError,
)

#: Some of these calls are no part of the types.
F: Any = vt

Given = tuple[list[Any], dict[str, Any]]


def places(case: Case) -> list[int]:
    """The positions of a sample's tensors for which numbers may stand."""
    written = case.operator.returns == "Self"
    return [
        nr
        for nr, (argument, value) in enumerate(
            zip(case.operator.arguments, case.sample.arguments, strict=False)
        )
        if argument.type == "Tensor" and isinstance(value, np.ndarray) and not (written and nr == 0)
    ]


def has_numbers(case: Case) -> bool:
    """Whether a number may stand beside a tensor."""
    tensors = [value for value in case.sample.arguments if isinstance(value, np.ndarray)]
    record = RECORDS[case.operator.name]
    return (
        bool(record.takes_numbers or record.number_first)
        and bool(places(case))
        and len(tensors) > 1
    )


WITH_NUMBERS = [case for case in cases() if has_numbers(case)]


def number_at(case: Case, nr: int) -> bool | int | float | complex:
    """An element of the sample."""
    array = case.sample.arguments[nr]
    assert isinstance(array, np.ndarray)
    number: bool | int | float | complex = array.flat[0].item() if array.size else 1
    return number


def given(case: Case, nr: int, *, as_tensor: bool) -> Given:
    """The arguments with a number at a position, or with the 0-d tensor that it stands for.

    A number is of the dtype of the tensors, unless its category is higher.
    """
    values, options = arguments_of(case)
    number = number_at(case, nr)
    if not as_tensor:
        values[nr] = number
        return values, options
    others = [x.dtype for at, x in enumerate(values) if at != nr and isinstance(x, vt.Tensor)]
    dtype = reduce(vt.promote_types, others)
    # Categories are ordered as kinds of dtypes are, but that uint8 is an integer.
    order = "biufc".index
    kind = {vt.uint8: "i"}.get(dtype, dtype.numpy.kind)
    is_condition = case.operator.arguments[nr].name in ("condition", "mask")
    alone = is_condition or order(np.array(number).dtype.kind) > order(kind)
    values[nr] = vt.tensor(number, dtype=None if alone else dtype)
    return values, options


def moved(case: Case, nr: int, values: list[Any]) -> int:
    """The position of a tensor beside the number."""
    return next(at for at, x in enumerate(values) if at != nr and isinstance(x, vt.Tensor))


def plain(case: Case, nr: int, values: list[Any], options: dict[str, Any]) -> object:
    return function_named(case.operator.name)(*values, **options)


def in_place(case: Case, nr: int, values: list[Any], options: dict[str, Any]) -> object:
    """The in-place twin, unless the number stands for what is written."""
    name = case.operator.inplace
    if name is None or nr == 0:
        return ()
    return function_named(name)(values[0].clone(), *values[1:], **options)


def out(case: Case, nr: int, values: list[Any], options: dict[str, Any]) -> object:
    if not case.operator.out:
        return ()
    result = plain(case, nr, values, options)
    assert isinstance(result, vt.Tensor)
    return function_named(case.operator.name)(*values, **options, out=vt.empty_like(result))


def batched(case: Case, nr: int, values: list[Any], options: dict[str, Any]) -> object:
    at = moved(case, nr, values)

    def call(sample: vt.Tensor) -> vt.Tensor:
        found = plain(case, nr, [*values[:at], sample, *values[at + 1 :]], options)
        assert isinstance(found, vt.Tensor)
        return found

    if case.operator.returns == "Self" and at == 0:
        return call(values[0])
    return vt.vmap(call)(
        vt.stack([values[at], values[at].flip(0) if values[at].ndim else values[at]])
    )


def differentiated(case: Case, nr: int, values: list[Any], options: dict[str, Any]) -> object:
    """The tangent and the gradient of a tensor beside the number."""
    at = moved(case, nr, values)
    x = values[at]
    if not case.operator.formulas or not (x.is_floating_point() or x.is_complex()):
        return ()

    def call(x: vt.Tensor) -> vt.Tensor:
        found = plain(case, nr, [*values[:at], x.clone(), *values[at + 1 :]], options)
        assert isinstance(found, vt.Tensor)
        return found

    _, tangent = vt.func.jvp(call, (x,), (vt.ones_like(x),))
    value, pull = vt.func.vjp(call, x)
    return tangent, pull(vt.ones_like(value))[0]


WAYS = [plain, in_place, out, batched, differentiated]


def outcome(way: Callable[..., object], case: Case, nr: int, *, as_tensor: bool) -> str:
    """The results, or the class of the error."""
    try:
        found = results_of(way(case, nr, *given(case, nr, as_tensor=as_tensor)))
    except VtgradError as error:
        return type(error).__name__
    return str([(x.tolist(), x.shape, x.dtype) for x in found])


@sweep(WITH_NUMBERS)
def test_an_operator_takes_a_number_for_each_of_its_tensors(case: Case) -> None:
    for nr in places(case):
        for way in WAYS:
            found = outcome(way, case, nr, as_tensor=False)
            assert found == outcome(way, case, nr, as_tensor=True), (nr, way.__name__)
            assert way is not plain or found.startswith("["), (nr, found)


def test_there_are_samples_of_every_such_operator() -> None:
    seen = {case.operator.name for case in WITH_NUMBERS}
    assert len(seen) > 55
    assert seen >= {
        "maximum",
        "fmin",
        "atan2",
        "lerp_Tensor",
        "addcmul",
        "logical_xor",
        "eq_Tensor",
    }


def test_a_number_adds_at_most_its_category() -> None:
    for dtype in (vt.uint8, vt.int32, vt.float16, vt.float32, vt.float64):
        x = vt.tensor([1, 2], dtype=dtype)
        assert vt.maximum(x, 1).dtype == vt.maximum(True, x).dtype == dtype
        widened = dtype if dtype.is_floating_point else vt.float32
        assert vt.maximum(x, 1.5).dtype == vt.minimum(1.5, x[0]).dtype == widened
        assert F.hypot(np.float64(3), x.to(vt.float32)).dtype == vt.float32
        assert vt.logaddexp(np.float64(3), x.to(widened)).dtype == widened
    flags = vt.tensor([True, False])
    assert vt.maximum(flags, True).dtype == vt.bool
    assert vt.maximum(flags, 2).dtype == vt.int64
    mixed = vt.addcmul(vt.ones(2), 2, vt.ones(2, dtype=vt.float64))
    assert (mixed.dtype, mixed.tolist()) == (vt.float64, [3.0, 3.0])
    with pytest.raises(DTypeError, match="no order"):
        vt.maximum(vt.ones(2), 1j)


@pytest.mark.filterwarnings("error")
def test_an_integer_that_does_not_fit_is_refused_and_a_float_is_infinite() -> None:
    small = vt.tensor([1, 2], dtype=vt.uint8)
    calls: list[Callable[[], object]] = [
        lambda: vt.maximum(small, 300),
        lambda: vt.minimum(-1, small),
        lambda: vt.lt(300, small),
        lambda: small.logical_and(256),
        lambda: vt.maximum(2**70, small),
    ]
    for call in calls:
        with pytest.raises(ArgumentValueError):
            call()
    assert vt.maximum(vt.ones(1, dtype=vt.float16), 1e10).tolist() == [float("inf")]


def test_gradients_pass_a_number_by() -> None:
    x = vt.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    vt.maximum(0, x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.5, 1.0]


def test_numbers_alone_and_other_objects_are_refused() -> None:
    for call in (F.maximum, F.logaddexp, F.atan2):
        with pytest.raises(ArgumentTypeError, match="at least one operand of"):
            call(1, np.float64(2))
    with pytest.raises(ArgumentTypeError, match="at least one operand of addcmul"):
        F.addcmul(1, 2, 3.0)
    x = vt.ones(2)
    for call in (F.maximum, F.hypot):
        for other in ("a", None, [1.0, 2.0]):
            with pytest.raises(ArgumentTypeError):
                call(x, other)
            with pytest.raises(ArgumentTypeError):
                call(1, other)
    # No operators of elements: a number would be another operation.
    for call in (F.dot, F.matmul, F.outer, F.equal):
        with pytest.raises(ArgumentTypeError):
            call(x, 2)
    with pytest.raises(ArgumentTypeError, match="'dim'"):
        F.max(x, 0.0)


SCALARS: list[Any] = [
    np.longdouble(2),
    np.clongdouble(2),
    np.timedelta64(3, "ns"),
    np.timedelta64(3, "s"),
    np.timedelta64("NaT", "s"),
    np.datetime64(3, "ns"),
    np.datetime64(3, "D"),
    np.str_("2"),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_scalars_of_numpy_that_are_no_numbers_are_refused(scalar: Any) -> None:
    x = vt.tensor([1.0, 2.0])
    calls: list[Callable[[], object]] = [
        lambda: F.maximum(x, scalar),
        lambda: F.maximum(scalar, x),
        lambda: F.stack([x[0], scalar]),
        lambda: F.where(x > 1, scalar, x),
        lambda: F.where(scalar, x, x),
        lambda: F.add(x, scalar),
        lambda: F.mul(scalar, x),
        lambda: F.sub(scalar, x),
        lambda: F.pow(x, scalar),
        lambda: F.pow(scalar, x),
        lambda: F.eq(x, scalar),
        lambda: F.clamp(x, scalar),
        lambda: F.clamp(x, np.array([1.0, 1.0]), scalar),
        lambda: x.add_(scalar),
        lambda: x.__setitem__(0, scalar),
        lambda: x.apply_(lambda value: scalar),
        lambda: x + scalar,
        lambda: scalar * x,
        lambda: np.multiply(x, scalar),
        lambda: np.maximum(scalar, x),
    ]
    for nr, call in enumerate(calls):
        with pytest.raises(TypeError):
            pytest.fail(f"call {nr} gave {call()!r}")
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", [vt.bool, vt.int64, vt.float32, vt.complex64])
def test_a_duration_is_stored_nowhere(dtype: vt.dtype) -> None:
    x, scalar = F.ones(2, dtype=dtype), np.timedelta64(3, "s")
    calls: list[Callable[[], object]] = [
        lambda: x.fill_(scalar),
        lambda: x.masked_fill_(x == 1, scalar),
        lambda: x.index_fill_(0, vt.tensor([0]), scalar),
        lambda: x.scatter_(0, vt.tensor([0]), scalar),
    ]
    for call in calls:
        with pytest.raises(ArgumentTypeError, match="timedelta64"):
            call()
    assert x.tolist() == [1, 1]


def test_a_number_stands_beside_an_array_and_a_tensor() -> None:
    a = np.array([1.0, 4.0], np.float32)
    assert F.addcmul(a, 2, vt.ones(2)).tolist() == [3.0, 6.0]
    assert F.maximum(2, a).tolist() == [2.0, 4.0]
    assert F.stack([vt.tensor(1.0), np.float32(2), np.array(3.0, np.float32)]).tolist() == [1, 2, 3]
    assert F.hstack([vt.ones(1), a, 5]).tolist() == [1.0, 1.0, 4.0, 5.0]


def test_a_bool_is_a_condition() -> None:
    x, y = vt.ones(2, requires_grad=True), vt.zeros(2)
    picked = F.where(True, x, y)
    assert (picked.tolist(), picked.requires_grad) == ([1.0, 1.0], True)
    assert F.where(np.False_, x, 3).tolist() == [3.0, 3.0]
    assert F.masked_fill(y, True, 2).tolist() == [2.0, 2.0]
    with pytest.raises(ArgumentTypeError, match="condition"):
        F.where(1, x, y)


def test_a_number_has_no_dimension_along_which_it_could_be_joined() -> None:
    x = vt.tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"part 1 is a 0-d tensor or a number.*hstack"):
        F.cat([x, 1.0])
    with pytest.raises(ShapeError):
        F.stack([x, 1.0])
    assert F.stack([x.sum(), 1, True]).tolist() == [3.0, 1.0, 1.0]
    assert F.stack([vt.tensor(1), 0.5]).dtype == vt.float32
    assert F.hstack([x, 1]).tolist() == [1.0, 2.0, 1.0]
    assert F.vstack([x[:1], 1.0]).tolist() == [[1.0], [1.0]]
    assert F.column_stack([x.sum(), 1]).tolist() == [[3.0, 1.0]]
    assert [part.tolist() for part in F.atleast_1d(x, 3)] == [[1.0, 2.0], [3.0]]
    for call in (F.cat, F.stack, F.hstack):
        with pytest.raises(ArgumentTypeError, match="'tensors' must be"):
            call([1.0, 2.0])
    with pytest.raises(ArgumentValueError):
        F.hstack([vt.ones(1, dtype=vt.uint8), 300])


def test_numbers_inside_of_a_batch() -> None:
    x = vt.tensor([[1.0, -2.0], [3.0, -4.0]])
    assert vt.vmap(lambda row: vt.maximum(0, row))(x).tolist() == [[1.0, 0.0], [3.0, 0.0]]
    assert vt.vmap(lambda row: F.hstack([row, 1]))(x).tolist() == [[1, -2, 1], [3, -4, 1]]
    # The rule sees the sample, which is 0-d, and not the batch.
    flags = vt.tensor([1, 2], dtype=vt.uint8)
    assert vt.vmap(lambda one: vt.maximum(one, 1.5))(flags).dtype == vt.float32
    assert vt.vmap(lambda one: F.stack([one, 7]))(flags).tolist() == [[1, 7], [2, 7]]


def test_a_result_of_a_higher_category_is_not_stored_in_place() -> None:
    x = vt.tensor([1.0, 2.0])
    with pytest.raises(ResultTypeError):
        F.Tensor.hypot_(x.int(), 1.5)
    assert F.Tensor.atan2_(x, 1).tolist() == vt.atan2(x.new_tensor([1.0, 2.0]), vt.ones(2)).tolist()
    assert x._version == 1
    with pytest.raises(ArgumentTypeError):
        F.Tensor.atan2_(1.0, x)


def test_a_lane_takes_numbers() -> None:
    x = vt.tensor([-1.0, 1.0], device="lane:0")
    y = vt.maximum(0, x)
    assert (y.device, y.tolist()) == (x.device, [0.0, 1.0])
    for joined in (F.hstack([2, x]), F.hstack([x, np.float32(2)]), F.stack([x[0], 2])):
        assert joined.device == x.device
        assert sorted(joined.tolist()) in ([-1.0, 1.0, 2.0], [-1.0, 2.0])
    assert F.vstack([2, x[:1]]).device == F.atleast_2d(2, x)[0].device == x.device
