"""NumPy's ufuncs of tensors; see Note [Ufuncs of tensors]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.autograd import gradcheck
from vtgrad.errors import (
    ArgumentTypeError,
    DimensionError,
    LeafWriteError,
    NotSupportedError,
    ResultTypeError,
    ShapeError,
)
from vtgrad.tensor.ufunc_operators import OPERATORS

UFUNCS: Final = sorted(OPERATORS, key=lambda ufunc: ufunc.__name__)
INTEGERS: Final = {"gcd", "lcm", "ldexp", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"} | {
    "left_shift",
    "right_shift",
}
DOMAINS: Final = {"arccosh": 1.5, "arcsin": -0.5, "arccos": -0.5, "arctanh": -0.5}
#: No derivative, or none that is checked by differences.
STEPS: Final = {"floor_divide", "heaviside", "nextafter", "divmod", "frexp", "copysign"}
# NumPy's stubs know nothing of tensors.
call: Callable[..., Any] = lambda ufunc, *args, **options: ufunc(*args, **options)  # noqa: E731


def leaf(*values: float) -> vt.Tensor:
    """Give a float32 leaf of these numbers."""
    return vt.tensor(values, requires_grad=True)


def operands(ufunc: np.ufunc) -> list[np.ndarray[Any, Any]]:
    if ufunc.__name__ == "ldexp":
        return [np.array([1.5, -2.0, 0.5]), np.array([1, 2, 3])]
    if ufunc.__name__ in INTEGERS:
        return [np.array([12, 5, 7]), np.array([2, 3, 1])][: ufunc.nin]
    start = DOMAINS.get(ufunc.__name__, 0.3)
    return [start + np.array([0.1, 0.45, 0.9]), np.array([0.7, 1.2, 0.17])][: ufunc.nin]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: str(ufunc.__name__))
def test_a_ufunc_gives_numpys_values_on_tensors_and_beside_arrays(ufunc: np.ufunc) -> None:
    arrays = operands(ufunc)
    expected = call(ufunc, *arrays)
    tensors: list[object] = [vt.tensor(x) for x in arrays]
    mixed: list[list[object]] = [tensors]
    if ufunc.nin == 2:
        mixed += [[arrays[0], tensors[1]], [tensors[0], arrays[1]]]
    for values in mixed:
        found = call(ufunc, *values)
        for one, wanted in zip(
            found if isinstance(found, tuple) else [found],
            expected if isinstance(expected, tuple) else [expected],
            strict=True,
        ):
            assert type(one) is vt.Tensor
            np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-14)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: str(ufunc.__name__))
def test_a_ufunc_is_recorded(ufunc: np.ufunc) -> None:
    if ufunc.__name__ in INTEGERS | STEPS:
        pytest.skip("no derivative that differences show")
    tensors = [vt.tensor(x, requires_grad=True) for x in operands(ufunc)]
    results = call(ufunc, *tensors)
    first = results[0] if isinstance(results, tuple) else results
    if not first.is_floating_point():
        assert not first.requires_grad
        return
    assert first.requires_grad
    assert gradcheck(lambda *xs: call(ufunc, *xs), tensors)


def test_every_ufunc_of_numpy_is_computed_or_refused() -> None:
    x = vt.tensor([0.5, 1.5], dtype=vt.float64, requires_grad=True)
    known = set(UFUNCS)
    for name in dir(np):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or ufunc in known or ufunc.signature is not None:
            continue
        with pytest.raises((NotSupportedError, TypeError)):
            call(ufunc, *[x] * ufunc.nin)
        if name in {"cbrt", "spacing"}:
            found = call(ufunc, x.detach())
            np.testing.assert_array_equal(found.numpy(), call(ufunc, x.detach().numpy()))


def gradient(f: Callable[[Any], Any], *values: float) -> list[float]:
    x = vt.tensor(values, dtype=vt.float64, requires_grad=True)
    f(x).sum().backward()
    assert x.grad is not None
    return cast("list[float]", x.grad.tolist())


A: Final = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.add.reduce(x * x), [1.0, 4.0, 8.0]),
        (lambda x: np.multiply.reduce(x), [8.0, 2.0, 1.0]),
        (lambda x: np.maximum.reduce(x), [0.0, 0.0, 1.0]),
        (lambda x: np.minimum.reduce(x, initial=1.0), [1.0, 0.0, 0.0]),
        (lambda x: np.add.reduce(x, where=A > 1.5), [0.0, 1.0, 1.0]),
        (lambda x: np.multiply.reduce(x.reshape(3, 1) * A, axis=None), [1152.0, 288.0, 144.0]),
        (lambda x: np.add.accumulate(x), [3.0, 2.0, 1.0]),
        (lambda x: np.maximum.accumulate(x), [1.0, 1.0, 1.0]),
        (lambda x: np.multiply.outer(x, A), [6.0, 6.0, 6.0]),
        (lambda x: np.subtract.outer(A, x), [-3.0, -3.0, -3.0]),
        (lambda x: np.log(x, where=A > 1.5), [0.0, 0.5, 0.25]),
        (lambda x: np.exp(x, dtype=np.float32), None),
    ],
)
def test_methods_and_keywords_of_ufuncs(
    f: Callable[[Any], Any], expected: list[float] | None
) -> None:
    found = gradient(f, 0.5, 2.0, 4.0)
    if expected is None:
        np.testing.assert_allclose(found, np.exp([0.5, 2.0, 4.0]), rtol=1e-6)
        return
    x = vt.tensor([0.5, 2.0, 4.0], dtype=vt.float64, requires_grad=True)
    assert gradcheck(f, [x])
    if expected[-1] != 144.0:
        np.testing.assert_allclose(found, expected)


def test_a_masked_ufunc_has_a_finite_gradient_where_it_is_not_computed() -> None:
    assert gradient(lambda x: np.sqrt(x, where=x > 0), 0.0, -1.0, 4.0) == [0.0, 0.0, 0.25]
    assert gradient(lambda x: np.divide(A, x, where=x != 0), 0.0, 1.0, 2.0) == [0.0, -2.0, -0.75]
    assert gradient(lambda x: np.arccosh(x, where=x > 1), 1.0, 0.0, 2.0)[:2] == [0.0, 0.0]


def test_out_is_written_through_the_write_funnel() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2, 3, dtype=vt.float64)
        row = table[0]
        assert call(np.exp, x, out=row) is row
        call(np.multiply, row, x, out=table[1], where=A > 1.5)
        return table

    assert gradcheck(f, [vt.tensor([0.5, 1.0, 2.0], dtype=vt.float64, requires_grad=True)])
    with pytest.raises(LeafWriteError):
        call(np.exp, A.astype(np.float32), out=leaf(1.0, 2.0, 3.0), casting="unsafe")
    y = leaf(1.0, 2.0) * 1
    z = y * y
    call(np.add, y, 1.0, out=y)
    with pytest.raises(RuntimeError, match="overwritten"):
        z.sum().backward()
    with pytest.raises(ResultTypeError, match="float64, which out= of int64"):
        call(np.exp, A, out=vt.zeros(3, dtype=vt.int64))


def test_add_at_adds_as_often_as_an_element_is_named() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2, 3, dtype=vt.float64) + x
        call(np.add.at, table, (0, [0, 0, 2]), x)
        call(np.subtract.at, table, (slice(None), 1), 3.0)
        return table

    x = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64, requires_grad=True)
    expected = np.zeros((2, 3)) + x.detach().numpy()
    call(np.add.at, expected, (0, [0, 0, 2]), x.detach().numpy())
    call(np.subtract.at, expected, (slice(None), 1), 3.0)
    np.testing.assert_array_equal(f(x).detach().numpy(), expected)
    assert gradcheck(f, [x])
    with pytest.raises(NotSupportedError, match=r"maximum\.at"):
        np.maximum.at(cast("Any", x.detach()), [0], 1.0)
    with pytest.raises(ArgumentTypeError, match="not into an array"):
        np.add.at(np.zeros(3), [0, 1, 2], cast("Any", x))


def test_a_gradient_is_not_put_into_an_array() -> None:
    a, x = np.ones(2, np.float32), leaf(1.0, 2.0)
    with pytest.raises(ArgumentTypeError, match="a = a \\+ x"):
        a += x
    with pytest.raises(ArgumentTypeError, match="requires grad"):
        call(np.add, a, x, out=a)
    with pytest.raises(ArgumentTypeError, match="tangent"):
        vt.func.jvp(lambda t: call(np.add, a, t, out=a), (x.detach(),), (x.detach(),))
    assert a.tolist() == [1.0, 1.0]
    a += x.detach()
    assert a.tolist() == [2.0, 3.0]
    with vt.no_grad():
        a += x
    assert a.tolist() == [3.0, 5.0]


def test_a_ufunc_of_another_package_is_computed_if_no_gradient_is_lost() -> None:
    own = np.frompyfunc(lambda value: value + 1, 1, 1)
    x = leaf(1.0, 2.0)
    with pytest.raises(NotSupportedError, match="requires grad"):
        call(own, x)
    with pytest.raises(NotSupportedError, match="batch"):
        vt.vmap(lambda row: call(np.spacing, row))(x.detach())
    assert call(np.spacing, x.detach()).shape == (2,)


def test_wrong_calls_of_ufuncs() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(NotSupportedError, match="order"):
        call(np.exp, x, order="F")
    with pytest.raises(NotSupportedError, match="no axes="):
        call(np.matmul, x, x, axes=[0, 0, ()])
    with pytest.raises(NotSupportedError, match="needs initial="):
        call(np.maximum.reduce, x, where=x > 1)
    with pytest.raises(NotSupportedError, match=r"hypot\.reduce"):
        call(np.hypot.reduce, x)
    with pytest.raises(ArgumentTypeError):
        call(np.add, x, object())
    with pytest.raises(ArgumentTypeError, match="where= takes bools"):
        call(np.exp, x, where=np.array([1, 0]))


def test_an_operand_with_ufuncs_of_its_own_decides() -> None:
    class Other:
        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *_: object, **__: object) -> str:
            return f"{ufunc.__name__} {method}"

    assert call(np.add, vt.ones(2), Other()) == "add __call__"


def test_the_dtype_of_a_ufunc_is_that_of_its_loop() -> None:
    x, c = np.array([1.5, 2.5]), np.array([3 + 4j, 1j])
    for ufunc, operands, dtype in [
        (np.less, (x, 1.7), bool),
        (np.absolute, (c,), np.float64),
        (np.add, (x, True), np.complex128),
        (np.reciprocal, (np.array([1, 2]),), np.int64),
    ]:
        expected = call(ufunc, *operands, dtype=dtype)
        found = call(ufunc, vt.tensor(operands[0]), *operands[1:], dtype=dtype)
        assert found.numpy().dtype == expected.dtype
        np.testing.assert_array_equal(found.numpy(), expected)
    with pytest.raises(ResultTypeError, match="Cannot cast"):
        call(np.add, leaf(1.5), 1, dtype=np.int64)
    assert call(np.add, leaf(1.5), 1, dtype=np.int64, casting="unsafe").tolist() == [2]


def test_the_axes_of_a_reduction_are_numpys() -> None:
    m: Any = np.array([[1.0, 2.0], [3.0, 4.0]])
    t = vt.tensor(m)
    for axis in [(), None, 0, -1, (0, 1), (-1,)]:
        for ufunc in (np.add, np.multiply, np.maximum, np.logical_and):
            found = call(ufunc.reduce, t, axis=axis)
            assert found is not t
            np.testing.assert_array_equal(found.numpy(), call(ufunc.reduce, m, axis=axis))
    assert call(np.add.reduce, vt.tensor(5.0)).item() == 5.0
    for ufunc in (np.add, np.multiply):
        with pytest.raises(ShapeError, match="more than once"):
            call(ufunc.reduce, t, axis=(1, -1))
        with pytest.raises(DimensionError, match="no axis 2"):
            call(ufunc.reduce, t, axis=2)


def test_operands_and_results_that_do_not_fit_are_named() -> None:
    x = vt.ones(3)
    with pytest.raises(ArgumentTypeError, match="not numbers"):
        call(np.matmul, x, 2.0)
    for out in (np.zeros(2), vt.zeros(2)):
        with pytest.raises(ShapeError, match="out= has"):
            call(np.add, x, 1, out=out)


def test_modf_of_infinity_and_outer_of_a_number() -> None:
    x = vt.tensor([np.inf, 1.5], requires_grad=True)
    fraction, whole = call(np.modf, x)
    assert (fraction.tolist(), whole.tolist()) == ([0.0, 0.5], [np.inf, 1.0])
    assert call(np.add.outer, vt.tensor([1, 2]), 0.5).dtype == vt.float32


def test_add_at_refuses_what_numpy_refuses() -> None:
    x = vt.zeros(3, dtype=vt.int64)
    with pytest.raises(ResultTypeError, match="cannot add float64 to int64"):
        call(np.add.at, x, [0], 0.5)
    with pytest.raises(IndexError, match="out of bounds"):
        call(np.add.at, x, [5], 1)
    with pytest.raises(vt.errors.ShapeError):
        call(np.add.reduce, vt.ones(2, 3), out=vt.zeros(2, 3))
    assert x.tolist() == [0, 0, 0]


def test_a_tensor_of_a_lane_goes_into_an_array() -> None:
    a = np.zeros(2, np.float32)
    call(np.multiply, vt.ones(2, device="lane:0"), 2, out=a)
    assert a.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: str(ufunc.__name__))
def test_a_ufunc_takes_numbers_beside_a_tensor(ufunc: np.ufunc) -> None:
    if ufunc.nin != 2 or ufunc is np.matmul:
        pytest.skip("of one operand, or of no numbers")
    array = operands(ufunc)[0]
    for number in (2, np.int64(3)):
        for values in ([array, number], [number, array]):
            if ufunc.__name__ == "ldexp" and values[0] is number:
                continue  # its exponents are integers
            tensors = [vt.tensor(x) if x is array else x for x in values]
            found, expected = call(ufunc, *tensors), call(ufunc, *values)
            for one, wanted in zip(
                found if isinstance(found, tuple) else [found],
                expected if isinstance(expected, tuple) else [expected],
                strict=True,
            ):
                np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-14)


def test_a_number_out_of_range_is_as_in_the_operator_or_refused() -> None:
    x = vt.tensor([1, 200], dtype=vt.uint8)
    # As the operator does, and PyTorch's: the number wraps around.
    assert call(np.less, -1, x).tolist() == call(np.greater, x, -1).tolist() == (x > -1).tolist()
    for ufunc in (np.maximum, np.minimum):
        with pytest.raises(ValueError, match="-1 is no uint8"):
            call(ufunc, x, -1)
    assert call(np.maximum, leaf(-1.0, 2.0), 0).tolist() == [0.0, 2.0]
