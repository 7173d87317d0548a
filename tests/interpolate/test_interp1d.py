"""Interpolation between points beside SciPy's: values, places outside, derivatives."""

from typing import Any, Final

import numpy as np
import pytest
import scipy.interpolate

import vtgrad as vt
from vtgrad.interpolate import interp1d

SCIPY: Final[Any] = scipy.interpolate
RNG: Final = np.random.default_rng(5)
STEPS: Final = ["nearest", "nearest-up", "previous", "next", "zero"]
CURVES: Final = ["linear", "slinear", "quadratic", "cubic"]
ORDERS: Final = [0, 1, 2, 3]
KINDS: Final[list[Any]] = [*STEPS, *CURVES, *ORDERS]


def points(count: int) -> Any:
    return np.cumsum(RNG.uniform(0.3, 1, count)) - 1


def least(kind: Any) -> int:
    return {"quadratic": 3, "cubic": 4, 2: 3, 3: 4}.get(kind, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [0, 1, 4])
def test_values_are_those_of_scipy(kind: Any, more: int) -> None:
    x = points(least(kind) + more)
    for shape, axis in (((), -1), ((2,), 0), ((2, 3), 1)):
        for turn in (1, 1 - 0.5j):
            sizes = list(shape)
            sizes.insert(axis % (len(shape) + 1), len(x))
            y = RNG.normal(size=sizes) * turn
            at = np.concatenate([x, RNG.uniform(x[0], x[-1], 7)])
            theirs = SCIPY.interp1d(x, y, kind, axis=axis)
            mine = interp1d(vt.tensor(x), vt.tensor(y), kind, axis=axis)
            for places in (at, at.reshape(1, -1), at[0], at[:0]):
                found = mine(vt.tensor(places))
                assert found.shape == theirs(places).shape
                np.testing.assert_allclose(found.numpy(), theirs(places), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_extrapolation_is_that_of_scipy(kind: Any) -> None:
    x, y = points(6), RNG.normal(size=(6, 2))
    at = np.array([x[0] - 2, x[0] - 0.1, x[0], x[2], x[-1], x[-1] + 0.2, x[-1] + 3])
    theirs = SCIPY.interp1d(x, y, kind, axis=0, fill_value="extrapolate")
    mine = interp1d(x, y, kind, axis=0, fill_value="extrapolate")
    np.testing.assert_allclose(mine(at).numpy(), theirs(at), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_values_outside_of_the_points(kind: Any) -> None:
    x, y = points(5), RNG.normal(size=(2, 5))
    at = np.array([x[0] - 1, x[0], x[-1], x[-1] + 1])
    fills: list[Any] = [np.nan, 3.0, np.array([1.0, 2.0]), (-1.0, 7), (np.array([0.5, 4.0]), 1.0)]
    for fill in fills:
        options: Any = {"bounds_error": False, "fill_value": fill}
        theirs = SCIPY.interp1d(x, y, kind, **options)(at)
        np.testing.assert_allclose(interp1d(x, y, kind, **options)(at).numpy(), theirs, atol=1e-9)
    for outside in (at[:2], at[2:]):
        with pytest.raises(ValueError, match="outside of its points"):
            interp1d(x, y, kind)(outside)
        with pytest.raises(ValueError, match="interpolation range"):
            SCIPY.interp1d(x, y, kind)(outside)


@pytest.mark.parametrize("kind", KINDS)
def test_points_in_any_order(kind: Any) -> None:
    x, y = points(6), RNG.normal(size=6)
    order = RNG.permutation(6)
    at = RNG.uniform(x[0], x[-1], 5)
    mine = interp1d(x[order], y[order], kind)
    np.testing.assert_allclose(mine(at).numpy(), SCIPY.interp1d(x, y, kind)(at), atol=1e-9)
    assert mine.x.tolist() == x.tolist()
    assert mine.y.tolist() == y.tolist()


def leaf(values: Any) -> vt.Tensor:
    return vt.tensor(np.asarray(values), requires_grad=True)


@pytest.mark.parametrize("count", [4, 7])
@pytest.mark.parametrize("kind", CURVES)
def test_derivatives_by_points_values_and_places(kind: Any, count: int) -> None:
    def call(x: vt.Tensor, y: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
        return interp1d(x, y, kind, fill_value="extrapolate")(at)

    x = points(count)
    for turn in (1, 1 - 0.5j):
        y, at = RNG.normal(size=(2, count)) * turn, RNG.uniform(x[0] - 0.5, x[-1] + 0.5, 4)
        operands = leaf(x[::-1]), leaf(y), leaf(at)
        assert vt.autograd.gradcheck(
            call,
            operands,
            check_forward_ad=True,
            check_batched_grad=True,
            check_batched_forward_grad=True,
            fast_mode=True,
        )
        assert vt.autograd.gradgradcheck(call, operands, check_fwd_over_rev=True, fast_mode=True)


@pytest.mark.parametrize("kind", STEPS)
def test_derivatives_of_steps_by_values_and_fills(kind: Any) -> None:
    x = points(5)
    at = vt.tensor(np.append(RNG.uniform(x[0], x[-1], 4), [x[0] - 1, x[-1] + 1]))

    def call(y: vt.Tensor, low: vt.Tensor, high: vt.Tensor) -> vt.Tensor:
        return interp1d(x, y, kind, bounds_error=False, fill_value=(low, high))(at)

    operands = leaf(RNG.normal(size=(2, 5))), leaf([0.5, 2.0]), leaf(3.0)
    assert vt.autograd.gradcheck(call, operands, check_forward_ad=True, check_batched_grad=True)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_a_batch(kind: Any) -> None:
    x, at = points(5), RNG.uniform(-0.5, 0.5, (3, 4))
    y = RNG.normal(size=(3, 2, 5))
    for in_dims in ((0, 0, 0), (None, 0, None), (0, None, None), (None, None, 0)):
        operands = [
            vt.tensor(np.stack([z, z * 1.1, z * 1.2]) if z is x and dim == 0 else one)
            for z, dim, one in zip((x, y, at), in_dims, (x, y, at), strict=True)
        ]
        operands = [
            z[0] if dim is None and z.ndim > least_ndim else z
            for z, dim, least_ndim in zip(operands, in_dims, (1, 2, 1), strict=True)
        ]

        def call(x: vt.Tensor, y: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
            return interp1d(x, y, kind, fill_value="extrapolate")(at)

        found = vt.vmap(call, in_dims=in_dims)(*operands)
        for nr in range(3):
            one = [z if dim is None else z[nr] for z, dim in zip(operands, in_dims, strict=True)]
            np.testing.assert_allclose(found[nr].numpy(), call(*one).numpy(), atol=1e-9)


def test_at_a_point_the_slope_is_that_of_the_right() -> None:
    x, y = vt.tensor([0.0, 1.0, 3.0]), vt.tensor([0.0, 2.0, 0.0])
    at = vt.tensor([1.0, 3.0], requires_grad=True)
    interp1d(x, y)(at).sum().backward()
    assert at.grad is not None
    assert at.grad.tolist() == [-1, -1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_number_goes_on_as_such(kind: Any) -> None:
    assert interp1d(vt.arange(5.0), vt.ones(5), kind)(vt.nan).isnan().item()
    assert interp1d(vt.arange(5.0), vt.full((5,), vt.nan), kind)(2.0).isnan().item()


def test_one_point() -> None:
    found = interp1d([1.0], [5.0], bounds_error=False, fill_value=(0.0, 9.0))
    assert found([0.0, 1.0, 2.0]).tolist() == [0, 5, 9]
    assert interp1d([1.0], [5.0], "nearest", fill_value="extrapolate")([0.0, 2.0]).tolist() == [
        5,
        5,
    ]


def test_copies() -> None:
    for kind in ("linear", "previous"):
        x, y = vt.arange(3.0), vt.tensor([0.0, 1.0, 4.0])
        curve = interp1d(x, y, kind, assume_sorted=True)
        y.zero_()
        x += 7
        assert curve(2.0).item() == 4
    x, y = vt.arange(3.0), vt.tensor([0.0, 1.0, 4.0])
    assert interp1d(x, y, assume_sorted=True, copy=False).y is y


def test_dtypes_and_numbers() -> None:
    assert interp1d([0, 1, 2], [1, 2, 4])(0.5).dtype == vt.float32
    assert interp1d(vt.arange(3.0), vt.ones(3).double())(0.5).dtype == vt.float64
    h = vt.tensor(0.5, dtype=vt.float64, requires_grad=True)
    assert vt.autograd.gradcheck(lambda h: interp1d([0.0, h, 1.0], [h, 1.0, h])([h * 0.5, 0.9]), h)


def test_errors() -> None:
    x, y, errors = vt.arange(4.0), vt.ones(4), vt.errors
    with pytest.raises(errors.OptionValueError, match="no kind 'cubical'"):
        interp1d(x, y, "cubical")
    with pytest.raises(errors.NotSupportedError, match="third order"):
        interp1d(x, y, 4)
    with pytest.raises(errors.OptionValueError, match="not negative"):
        interp1d(x, y, -1)
    with pytest.raises(errors.ShapeError, match="each of 4 points, and got 3"):
        interp1d(x, y[:3])
    with pytest.raises(errors.ShapeError, match="needs 4 points, and got 3"):
        interp1d(x[:3], y[:3], "cubic")
    with pytest.raises(errors.ShapeError, match="one dimension"):
        interp1d(vt.ones(2, 2), y)
    with pytest.raises(errors.ShapeError, match="0-d"):
        interp1d(x, vt.tensor(1.0))
    for kind in ("zero", "slinear", "quadratic", "cubic"):
        with pytest.raises(errors.ArgumentValueError, match="no two may be the same"):
            interp1d([0.0, 1.0, 1.0, 2.0], y, kind)
    with pytest.raises(errors.OptionValueError, match="extrapolate, and raise"):
        interp1d(x, y, bounds_error=True, fill_value="extrapolate")
    with pytest.raises(errors.OptionValueError, match="a value, a pair"):
        interp1d(x, y, fill_value="nearest")
    with pytest.raises(errors.ShapeError, match="does not broadcast"):
        interp1d(x, y, bounds_error=False, fill_value=np.ones(2))
    with pytest.raises(errors.OptionValueError, match="complex"):
        interp1d(x, y, bounds_error=False, fill_value=1j)
    with pytest.raises(errors.DTypeError, match="real points"):
        interp1d(x, y)(vt.tensor(1j))
    with pytest.raises(errors.NamesError):
        interp1d(x.rename("a"), y)


def test_without_scipy_lines_and_steps_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.linalg", None)
    for kind in ("linear", "nearest"):
        assert interp1d(vt.arange(4.0), vt.ones(4), kind)(1.5).item() == 1
    for kind in ("quadratic", "cubic"):
        with pytest.raises(vt.errors.MissingPackageError, match="the extra 'scipy'"):
            interp1d(vt.arange(4.0), vt.ones(4), kind)
