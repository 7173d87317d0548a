"""`lfilter` and `sosfilt` beside SciPy: values, states, derivatives by each operand, batches."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import scipy.signal

import vtgrad as vt

SCIPY: Final[Any] = scipy.signal
RNG: Final = np.random.default_rng(5)
B: Final = np.array([0.5, 0.3, 0.2])
A: Final = np.array([2.0, -0.6, 0.4, 0.1])
X: Final = RNG.normal(size=(2, 6))
STATE: Final = RNG.normal(size=(2, 3))
SECTIONS: Final = np.array([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2], [1.0, 0.5, -0.3, 1.0, 0.3, 0.1]])
STATES: Final = RNG.normal(size=(2, 2, 2))


def leaf(values: Any) -> vt.Tensor:
    return vt.tensor(np.asarray(values), requires_grad=True)


def twisted(values: Any) -> vt.Tensor:
    return leaf(values * (1 + 0.3j))


def check(call: Callable[..., Any], *operands: vt.Tensor) -> None:
    assert vt.autograd.gradcheck(
        call,
        operands,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        fast_mode=True,
    )
    assert vt.autograd.gradgradcheck(call, operands, check_fwd_over_rev=True, fast_mode=True)


def with_state(b: vt.Tensor, a: vt.Tensor, x: vt.Tensor, zi: vt.Tensor) -> Any:
    return vt.signal.lfilter(b, a, x, zi=zi)


def in_sections(sos: vt.Tensor, x: vt.Tensor, zi: vt.Tensor) -> Any:
    return vt.signal.sosfilt(sos, x, zi=zi)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_values_and_states_are_those_of_scipy(axis: int) -> None:
    x = RNG.normal(size=(5, 4, 6))
    shape = list(x.shape)
    shape[axis] = 3
    zi = RNG.normal(size=shape)
    y, zf = vt.signal.lfilter(B, A, vt.tensor(x), axis, zi=vt.tensor(zi))
    expected, state = SCIPY.lfilter(B, A, x, axis, zi=zi)
    np.testing.assert_allclose(y.numpy(), expected)
    np.testing.assert_allclose(zf.numpy(), state)
    np.testing.assert_allclose(
        vt.signal.lfilter(B, A, vt.tensor(x), axis).numpy(), SCIPY.lfilter(B, A, x, axis)
    )
    shape[axis] = 2
    zi = RNG.normal(size=(2, *shape))
    y, zf = vt.signal.sosfilt(SECTIONS, vt.tensor(x), axis, zi=vt.tensor(zi))
    expected, state = SCIPY.sosfilt(SECTIONS, x, axis, zi=zi)
    np.testing.assert_allclose(y.numpy(), expected)
    np.testing.assert_allclose(zf.numpy(), state)


def test_a_recursion_by_hand() -> None:
    x = vt.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
    y = vt.signal.lfilter([1.0], [1.0, -0.5], x)
    assert y.tolist() == [1, 0.5, 0.25, 0.125]
    y[3].backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.125, 0.25, 0.5, 1]
    assert x.grad.stride() == (1,)


def test_a_signal_in_two_pieces_has_the_state_between_them() -> None:
    x = vt.tensor(X)
    whole = vt.signal.lfilter(B, A, x)
    first, state = vt.signal.lfilter(B, A, x[:, :2], zi=vt.zeros(1, 3, dtype=vt.float64))
    second, _ = vt.signal.lfilter(B, A, x[:, 2:], zi=state)
    assert vt.allclose(vt.cat([first, second], 1), whole)


def test_derivatives_by_every_operand() -> None:
    check(with_state, leaf(B), leaf(A), leaf(X), leaf(STATE))
    check(with_state, twisted(B), twisted(A), twisted(X), twisted(STATE))
    check(in_sections, leaf(SECTIONS), leaf(X), leaf(STATES))


@pytest.mark.parametrize(
    ("b", "a"), [(B, [1.0]), ([2.0], [0.5]), ([1.0], A), ([1.0, 2.0], [4.0, 1.0])]
)
def test_derivatives_without_a_recursion_or_a_sum(b: Any, a: Any) -> None:
    check(vt.signal.lfilter, leaf(b), leaf(a), leaf(X))
    check(lambda x: vt.signal.lfilter(b, a, x, axis=0), twisted(X))


def test_a_real_filter_of_complex_values_has_a_real_gradient() -> None:
    b, a = leaf(B), leaf(A)
    vt.signal.lfilter(b, a, twisted(X)).abs().sum().backward()
    assert b.grad is not None
    assert b.grad.dtype == vt.float64


def test_signals_shorter_than_the_filter() -> None:
    for size in (1, 2):
        x = leaf(X[:, :size])
        check(with_state, leaf(B), leaf(A), x, leaf(STATE))
        check(in_sections, leaf(SECTIONS), x, leaf(STATES))


def test_a_signal_without_values() -> None:
    x = vt.zeros(2, 0, dtype=vt.float64, requires_grad=True)
    y, state = vt.signal.lfilter(B, A, x, zi=vt.tensor(STATE))
    assert y.shape == (2, 0)
    np.testing.assert_allclose(state.detach().numpy(), STATE)
    y.sum().backward()
    y, state = vt.signal.sosfilt(SECTIONS, x, zi=vt.tensor(STATES))
    np.testing.assert_allclose(state.detach().numpy(), STATES)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (0, 0)])
def test_no_signals(shape: tuple[int, int]) -> None:
    x = vt.zeros(shape, dtype=vt.float64, requires_grad=True)
    a = vt.tensor(A, requires_grad=True)
    y = vt.signal.lfilter(B, a, x)
    assert y.shape == shape
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == shape
    assert a.grad is not None
    assert a.grad.tolist() == [0.0] * len(A)


@pytest.mark.parametrize("in_dims", [(0, 0, 0), (0, None, None), (None, 1, 0), (None, None, 1)])
def test_samples_of_a_batch(in_dims: Any) -> None:
    b, a, x = (np.stack([z, z * 1.1, z * 0.9]) for z in (B, A, X))
    operands = [
        vt.tensor(alone if dim is None else np.moveaxis(z, 0, dim))
        for z, alone, dim in zip((b, a, x), (B, A, X), in_dims, strict=True)
    ]
    mapped: Any = vt.vmap(vt.signal.lfilter, in_dims=in_dims)
    found = mapped(*operands)
    for nr in range(3):
        one: Any = [
            z if dim is None else z.select(dim, nr)
            for z, dim in zip(operands, in_dims, strict=True)
        ]
        assert vt.allclose(found[nr], vt.signal.lfilter(*one))


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 1)])
def test_samples_of_sections(in_dims: Any) -> None:
    sos = np.stack([SECTIONS, SECTIONS * [2, 1, 1, 1, 1, 1]])
    operands = [
        vt.tensor(SECTIONS if in_dims[0] is None else sos),
        vt.tensor(X if in_dims[1] is None else np.stack([X, 2 * X], in_dims[1])),
    ]
    mapped: Any = vt.vmap(vt.signal.sosfilt, in_dims=in_dims)
    found = mapped(*operands)
    for nr in range(2):
        one: Any = [
            z if dim is None else z.select(dim, nr)
            for z, dim in zip(operands, in_dims, strict=True)
        ]
        assert vt.allclose(found[nr], vt.signal.sosfilt(*one))


def test_samples_of_samples_of_sections() -> None:
    sos = vt.tensor(np.stack([SECTIONS * [k, 1, 1, 1, 1, 1] for k in range(6)])).reshape(
        2, 3, *SECTIONS.shape
    )
    x = vt.tensor(X)
    mapped: Any = vt.vmap(vt.vmap(vt.signal.sosfilt, in_dims=(0, None)), in_dims=(0, None))
    found = mapped(sos, x)
    for outer in range(2):
        for inner in range(3):
            assert vt.allclose(found[outer, inner], vt.signal.sosfilt(sos[outer, inner], x))


def test_dtypes() -> None:
    x = vt.ones(4)
    assert vt.signal.lfilter([1.0], [1.0, -0.5], x).dtype == vt.float32
    assert vt.signal.lfilter([1.0], [1.0, -0.5], x.double()).dtype == vt.float64
    assert vt.signal.lfilter([1j], [1.0, -0.5], x).dtype == vt.complex64
    assert vt.signal.lfilter(B, A, x).dtype == vt.float64
    assert vt.signal.lfilter([1.0], [1.0], x.long()).dtype == vt.float32
    # 0.1 is not rounded to single precision first.
    assert vt.signal.lfilter([0.1], [1.0], x.double())[0].item() == 0.1
    with pytest.raises(vt.errors.DTypeError, match="float16"):
        vt.signal.lfilter([1.0], [1.0], x.half())


def test_tensors_among_numbers_of_sections_get_gradients() -> None:
    x = vt.tensor(X)

    def found(h: vt.Tensor) -> vt.Tensor:
        sections: list[list[float | vt.Tensor]] = [[1, h, 0, 1, 0, 0.1], [h, 0, 0, 1, 0, 0]]
        return vt.signal.sosfilt(sections, x)

    h = vt.tensor(0.5, dtype=vt.float64, requires_grad=True)
    assert vt.autograd.gradcheck(found, h)


def test_coefficients_in_a_list_of_tensors_get_gradients() -> None:
    pole = vt.tensor(0.5, requires_grad=True)
    y = vt.signal.lfilter([1.0], [vt.tensor(1.0), -pole], vt.tensor([1.0, 0.0, 0.0]))
    y[2].backward()  # pole ** 2
    assert pole.grad is not None
    assert pole.grad.item() == 1


def test_values_may_be_overwritten_where_the_coefficients_are_constants() -> None:
    x = leaf(X)
    y = vt.signal.lfilter(B, A, x)
    y.mul_(2)
    (twice,) = vt.autograd.grad(y.sum(), x)
    (once,) = vt.autograd.grad(vt.signal.lfilter(B, A, x).sum(), x)
    assert vt.allclose(twice, 2 * once)


def test_a_filter_is_one_node_on_its_operands() -> None:
    operands = leaf(B), leaf([1.0, 0.0, 0.1]), leaf(X)
    part = vt.signal.lfilter(*operands).grad_fn
    assert part is not None
    ((node, _),) = part.next_functions
    assert node is not None
    assert node.name() == "_FilterBackward"
    found = [getattr(leaf_node, "variable", None) for leaf_node, _ in node.next_functions[:3]]
    assert all(x is y for x, y in zip(found, operands, strict=True))


def test_errors() -> None:
    x = vt.tensor(X)
    errors = vt.errors
    with pytest.raises(errors.ShapeError, match="coefficients b must be in one dimension"):
        vt.signal.lfilter(vt.ones(2, 2), A, x)
    with pytest.raises(errors.ShapeError, match="coefficients a must be in one dimension"):
        vt.signal.lfilter(B, [], x)
    with pytest.raises(errors.OptionValueError, match="must not be zero"):
        vt.signal.lfilter(B, [0.0, 1.0], x)
    with pytest.raises(errors.ShapeError, match=r"zi must have the shape \[2, 3\], not \[3\]"):
        vt.signal.lfilter(B, A, x, zi=vt.ones(3))
    with pytest.raises(errors.ShapeError, match="0-d"):
        vt.signal.lfilter(B, A, vt.tensor(1.0))
    with pytest.raises(errors.DimensionError):
        vt.signal.lfilter(B, A, x, axis=2)
    with pytest.raises(errors.ArgumentTypeError, match="'x' must be a tensor"):
        vt.signal.lfilter(B, A, [1.0])  # type: ignore[call-overload]
    assert vt.signal.lfilter([1.0], [1.0], np.ones(2)).tolist() == [1, 1]  # type: ignore[call-overload]
    with pytest.raises(errors.ShapeError, match="six coefficients"):
        vt.signal.sosfilt(vt.ones(6), x)
    with pytest.raises(errors.ShapeError, match=r"zi must have the shape \[2, 2, 2\]"):
        vt.signal.sosfilt(SECTIONS, x, zi=vt.ones(2, 2))
    with pytest.raises(errors.NamesError):
        vt.signal.lfilter(B, A, x.rename("a", "t"))


def test_tensors_of_lanes_are_refused() -> None:
    x = vt.ones(3, device="lane:0")
    for call in (
        lambda: vt.signal.lfilter([1.0], [1.0], x),
        lambda: vt.signal.sosfilt(SECTIONS, x),
    ):
        with pytest.raises(vt.errors.NotSupportedError, match="works on the CPU only"):
            call()  # type: ignore[no-untyped-call]


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.signal", None)
    with pytest.raises(vt.errors.MissingPackageError, match="the extra 'scipy'"):
        vt.signal.lfilter(B, A, vt.tensor(X))
    with pytest.raises(vt.errors.MissingPackageError, match="the extra 'scipy'"):
        vt.signal.sosfilt(SECTIONS, vt.tensor(X))
