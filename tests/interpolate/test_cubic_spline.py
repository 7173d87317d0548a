"""Cubic splines beside SciPy's: values, conditions at the ends, derivatives by every operand."""

from typing import Any, Final

import numpy as np
import pytest
import scipy.interpolate

import vtgrad as vt

SCIPY: Final[Any] = scipy.interpolate
RNG: Final = np.random.default_rng(3)
CONDITIONS: Final[list[Any]] = [
    "not-a-knot",
    "natural",
    "clamped",
    "periodic",
    ((1, 0.7), (2, -0.4)),
    ("not-a-knot", (1, 2.0)),
    ("natural", "not-a-knot"),
]


def knots_and_values(count: int, shape: tuple[int, ...], condition: object) -> tuple[Any, Any]:
    y = RNG.normal(size=(count, *shape))
    if condition == "periodic":
        y[-1] = y[0]
    return np.cumsum(RNG.uniform(0.3, 1, count)), y


def leaf(values: Any) -> vt.Tensor:
    return vt.tensor(np.asarray(values), requires_grad=True)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_values_are_those_of_scipy(count: int, condition: Any) -> None:
    for shape in ((), (2,), (2, 3)):
        for turn in (1, 1 + 0.5j):
            x, y = knots_and_values(count, shape, condition)
            theirs: Any = condition
            if not isinstance(condition, str):
                theirs = tuple(
                    end if isinstance(end, str) else (end[0], np.full(shape, end[1]))
                    for end in condition
                )
            spline = SCIPY.CubicSpline(x, y * turn, bc_type=theirs)
            mine = vt.interpolate.CubicSpline(vt.tensor(x), vt.tensor(y * turn), bc_type=condition)
            np.testing.assert_allclose(mine.c.numpy(), spline.c, atol=1e-9)
            points = RNG.uniform(x[0] - 1, x[-1] + 1, (2, 4))
            for nu in range(5):
                found = mine(vt.tensor(points), nu)
                np.testing.assert_allclose(found.numpy(), spline(points, nu), atol=1e-9)


@pytest.mark.parametrize("condition", CONDITIONS[:5])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_derivatives_by_knots_values_and_points(count: int, condition: Any) -> None:
    def call(x: vt.Tensor, y: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
        values = vt.cat([y[:-1], y[:1]]) if condition == "periodic" else y
        return vt.interpolate.CubicSpline(x, values, bc_type=condition)(at)

    x, y = knots_and_values(count, (2,), condition)
    operands = leaf(x), leaf(y), leaf(RNG.uniform(x[0], x[-1], 3))
    assert vt.autograd.gradcheck(
        call,
        operands,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        fast_mode=True,
    )
    assert vt.autograd.gradgradcheck(call, operands, check_fwd_over_rev=True, fast_mode=True)


def test_derivatives_of_complex_values_and_of_slopes() -> None:
    x, y = knots_and_values(5, (2,), "natural")
    at = RNG.uniform(x[0], x[-1], 3)

    def slope(x: vt.Tensor, y: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
        return vt.interpolate.CubicSpline(x, y, bc_type="natural")(at, nu=1)

    operands = leaf(x), leaf(y * (1 - 0.5j)), leaf(at)
    assert vt.autograd.gradcheck(slope, operands, check_forward_ad=True)
    assert vt.autograd.gradgradcheck(slope, operands, fast_mode=True)


def test_derivatives_by_conditions() -> None:
    x, y = knots_and_values(5, (2,), "natural")

    def call(first: vt.Tensor, last: vt.Tensor) -> vt.Tensor:
        ends = ((1, first), (2, last))
        return vt.interpolate.CubicSpline(x, vt.tensor(y), bc_type=ends)(vt.tensor(x + 0.1))

    assert vt.autograd.gradcheck(call, (leaf(0.5), leaf([1.0, -2.0])), check_forward_ad=True)


@pytest.mark.parametrize("order", [1, 2])
def test_values_in_the_conditions_at_both_ends_of_three_knots(order: int) -> None:
    x, y, z = np.arange(3.0), np.arange(6.0).reshape(3, 2) ** 2, np.array([0.5, -1.0])
    both: Any = ((order, z), (order, z))
    found = vt.interpolate.CubicSpline(x, y, bc_type=((order, vt.tensor(z)), (order, z)))
    theirs = scipy.interpolate.CubicSpline(x, y, bc_type=both)
    np.testing.assert_allclose(found(1.3).numpy(), theirs(1.3))


def test_tensors_in_lists_get_gradients() -> None:
    h = vt.tensor(0.5, dtype=vt.float64, requires_grad=True)

    def found(h: vt.Tensor) -> vt.Tensor:
        spline = vt.interpolate.CubicSpline(
            [0.0, h, 1.0, 2.0], [[h, 0.3], [1.0, h], [2, 1], [h, h]]
        )
        return spline([h * 0.7, 1.6])

    assert found(h).dtype is vt.float64
    assert vt.autograd.gradcheck(found, h)


def test_a_line_by_hand() -> None:
    y = vt.tensor([1.0, 3.0], requires_grad=True)
    spline = vt.interpolate.CubicSpline([0.0, 4.0], y)
    found = spline(1.0)
    assert found.item() == 1.5
    found.backward()
    assert y.grad is not None
    assert y.grad.tolist() == [0.75, 0.25]
    assert spline(3.0, nu=1).item() == 0.5
    assert spline(3.0, nu=4).item() == 0


@pytest.mark.parametrize("in_dims", [(0, 0, 0), (None, 1, None), (0, None, None), (None, None, 0)])
@pytest.mark.parametrize("condition", ["not-a-knot", "periodic"])
def test_samples_of_a_batch(in_dims: Any, condition: Any) -> None:
    x, y = knots_and_values(5, (2,), condition)
    at = RNG.uniform(x[0], x[-1], 3)
    operands = [
        vt.tensor(z if dim is None else np.stack([z, z * 1.1, z * 1.2], dim))
        for z, dim in zip((x, y, at), in_dims, strict=True)
    ]

    def call(x: vt.Tensor, y: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
        return vt.interpolate.CubicSpline(x, y, bc_type=condition)(at)

    found = vt.vmap(call, in_dims=in_dims)(*operands)
    for nr in range(3):
        one = [
            z if dim is None else z.select(dim, nr)
            for z, dim in zip(operands, in_dims, strict=True)
        ]
        assert vt.allclose(found[nr], call(*one))


def test_dimensions_of_the_points_stand_in_place_of_the_axis() -> None:
    x, _ = knots_and_values(6, (), "natural")
    y = RNG.normal(size=(2, 6, 3))
    for axis in (1, -2):
        mine = vt.interpolate.CubicSpline(x, y, axis=axis)
        spline = SCIPY.CubicSpline(x, y, axis=axis)
        for at in (np.array(1.0), np.array([1.0, 2.0]), np.ones((4, 5)), np.ones((0, 2))):
            found = mine(vt.tensor(at))
            assert found.shape == spline(at).shape
            np.testing.assert_allclose(found.numpy(), spline(at), atol=1e-12)


def test_points_outside_of_the_knots() -> None:
    x, y = knots_and_values(5, (2,), "natural")
    at = np.array([x[0] - 0.5, x[0], x[2], x[-1], x[-1] + 7])
    for outside in (True, False, "periodic"):
        wanted = SCIPY.CubicSpline(x, y, extrapolate=outside)(at)
        mine = vt.interpolate.CubicSpline(x, y, extrapolate=outside)
        np.testing.assert_allclose(mine(at).numpy(), wanted, atol=1e-12)
        mine = vt.interpolate.CubicSpline(x, y)
        np.testing.assert_allclose(mine(at, extrapolate=outside).numpy(), wanted, atol=1e-12)


def test_dtypes() -> None:
    spline = vt.interpolate.CubicSpline
    assert spline(vt.tensor([0, 1, 2]), vt.tensor([1, 2, 4]))(0.5).dtype == vt.float32
    assert spline(vt.arange(3.0), vt.ones(3).double())(0.5).dtype == vt.float64
    assert spline(vt.arange(3.0), vt.ones(3) + 0j)(0.5).dtype == vt.complex64
    with pytest.raises(vt.errors.DTypeError, match="float16"):
        spline(vt.arange(3.0).half(), vt.ones(3).half())
    with pytest.raises(vt.errors.DTypeError, match="real"):
        spline(vt.arange(3.0) + 0j, vt.ones(3))
    with pytest.raises(vt.errors.DTypeError, match="real points"):
        spline(vt.arange(3.0), vt.ones(3))(vt.tensor(1j))


def test_errors() -> None:
    spline = vt.interpolate.CubicSpline
    x, y = vt.arange(4.0), vt.ones(4)
    errors = vt.errors
    with pytest.raises(errors.ArgumentValueError, match="ascend"):
        spline(vt.tensor([0.0, 1.0, 1.0, 2.0]), y)
    with pytest.raises(errors.ShapeError, match="two knots"):
        spline(x[:1], y[:1])
    with pytest.raises(errors.ShapeError, match="each of 4 knots, not 3"):
        spline(x, y[:3])
    with pytest.raises(errors.ShapeError, match="0-d"):
        spline(x, 1.0)  # type: ignore[arg-type]
    with pytest.raises(errors.OptionValueError, match="clamped"):
        spline(x, y, bc_type="free")
    with pytest.raises(errors.OptionValueError, match="order 1 or 2"):
        spline(x, y, bc_type=((3, 0.0), "natural"))
    with pytest.raises(errors.OptionValueError, match="periodic at both ends"):
        spline(x, y, bc_type=("periodic", "natural"))
    with pytest.raises(errors.ArgumentValueError, match="periodic"):
        spline(x, vt.arange(4.0), bc_type="periodic")
    with pytest.raises(errors.OptionValueError, match="extrapolate"):
        spline(x, y, extrapolate="no")
    with pytest.raises(errors.OptionValueError, match="negative"):
        spline(x, y)(1.0, nu=-1)
    with pytest.raises(errors.NamesError):
        spline(x.rename("a"), y)


def test_what_is_no_number_goes_on_as_such() -> None:
    spline = vt.interpolate.CubicSpline(vt.arange(4.0), vt.tensor([0.0, 1.0, 2.0, vt.nan]))
    assert spline(0.5).isnan().item()
    assert vt.interpolate.CubicSpline(vt.arange(4.0), vt.ones(4))(vt.nan).isnan().item()


def test_tensors_of_lanes_are_refused() -> None:
    x = vt.arange(4.0)
    with pytest.raises(vt.errors.NotSupportedError, match="works on the CPU only"):
        vt.interpolate.CubicSpline(x.to("lane:0"), vt.ones(4))
    with pytest.raises(vt.errors.NotSupportedError, match="works on the CPU only"):
        vt.interpolate.CubicSpline(x, vt.ones(4))(vt.ones(2, device="lane:0"))


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.linalg", None)
    with pytest.raises(vt.errors.MissingPackageError, match="the extra 'scipy'"):
        vt.interpolate.CubicSpline(vt.arange(4.0), vt.ones(4))
