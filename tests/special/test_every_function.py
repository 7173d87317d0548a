"""Derivatives, batches, replays and ``out=`` of every function of `vtgrad.special`."""

import numpy as np
import pytest

import vtgrad as vt
from tests.special.calls import ALIASES, CALLS, operands_of
from tests.sweeping import sweep
from vtgrad import special


def function_of(name: str) -> str:
    """The function that is called, which is the first word of a call's name."""
    return name.split()[0]


def test_every_public_function_has_a_call() -> None:
    # Those that SciPy computes have calls of their own.
    own = {
        name
        for name in special.__all__
        if not getattr(special, name).__module__.startswith("vtgrad.special.scipy_")
    }
    assert {function_of(name) for name in CALLS} | set(ALIASES) == own


@pytest.mark.parametrize("name", ALIASES)
def test_other_names_of_operators_are_the_operators(name: str) -> None:
    assert getattr(special, name) is ALIASES[name]


@sweep(CALLS, row=function_of)
def test_derivatives_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    call = CALLS[name][0]
    assert vt.autograd.gradcheck(call, leaves, check_forward_ad=True, check_batched_grad=True)
    assert vt.autograd.gradgradcheck(call, leaves, check_fwd_over_rev=True, fast_mode=True)


@sweep(CALLS, row=function_of)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    operands = operands_of(name)
    call = CALLS[name][0]
    samples = [vt.stack([x, x.flip(0)]) for x in operands]

    def written(*tensors: vt.Tensor) -> vt.Tensor:
        made = tensors[0].new_zeros(tensors[0].shape[0])
        made[:] = call(*tensors)
        return made

    for function in (call, written):
        batch = vt.vmap(function)(*samples)
        for k in range(2):
            expected = call(*[x[k] for x in samples])
            np.testing.assert_array_equal(batch[k].numpy(), expected.numpy())


@sweep(CALLS, row=function_of)
def test_a_replay_is_the_call_on_new_values(name: str) -> None:
    call = CALLS[name][0]

    def gradients(*tensors: vt.Tensor) -> list[vt.Tensor]:
        leaves = [x.detach().clone().requires_grad_() for x in tensors]
        return list(vt.autograd.grad(call(*leaves).sum(), leaves))

    replayed = vt.jit.replay(gradients)
    operands = operands_of(name)
    # Not in order, so that no element keeps the method of its first value.
    for given in (operands, [x.flip(0) for x in operands], [x * 0.9 for x in operands]):
        for one, expected in zip(replayed(*given), gradients(*given), strict=True):
            np.testing.assert_array_equal(one.numpy(), expected.numpy())


@sweep(CALLS, row=function_of)
def test_single_precision_is_double_precision_rounded_once(name: str) -> None:
    call = CALLS[name][0]
    operands = [x.float() for x in operands_of(name)]
    found, exact = call(*operands), call(*[x.double() for x in operands])
    assert found.dtype is vt.float32
    np.testing.assert_array_equal(found.numpy(), exact.numpy().astype(np.float32))


@sweep(CALLS, row=function_of)
def test_no_gradient_comes_of_none(name: str) -> None:
    operands = operands_of(name)
    leaves = [x.requires_grad_() for x in operands]
    result = CALLS[name][0](*leaves)
    weights = vt.zeros_like(result)
    for found in vt.autograd.grad(result, leaves, weights, retain_graph=True):
        assert not found.numpy().any()
    # Elements have nothing to do with each other.
    weights[0] = 1
    for found in vt.autograd.grad(result, leaves, weights):
        assert not found.numpy()[1:].any()


@sweep(CALLS, row=function_of)
def test_elements_depend_on_those_at_their_place(name: str) -> None:
    operands = operands_of(name)
    call = CALLS[name][0]
    pattern = vt.func.sparsity_pattern(call, *operands)
    count = len(operands[0])
    # By the first operand.
    assert pattern.shape == (count, count)
    assert pattern.indices.tolist() == list(range(count))


ONE_OPERAND = [
    name for name in CALLS if name in special.__all__ and name not in ("xlog1py", "zeta")
]


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_layouts_and_sizes(name: str) -> None:
    function = getattr(special, name)
    (x,) = operands_of(name)
    table = vt.stack([x, x.flip(0)])
    wide = function(table.t())
    assert wide.stride() == table.t().stride()
    np.testing.assert_array_equal(wide.numpy(), function(table).numpy().T)
    np.testing.assert_array_equal(function(table[:, ::2]).numpy(), function(table).numpy()[:, ::2])
    assert function(x[0]).shape == ()
    assert function(x[0]).item() == function(x)[0].item()
    assert function(vt.empty(0, 3)).shape == (0, 3)
    # More elements than a kernel takes at once.
    many = function(x.repeat(4000))
    np.testing.assert_array_equal(many.numpy(), np.tile(function(x).numpy(), 4000))
    out = vt.empty(0, dtype=vt.float32)
    assert function(x, out=out) is out
    np.testing.assert_array_equal(out.numpy(), function(x).numpy().astype(np.float32))


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_nan_stays_and_integers_are_floating(name: str) -> None:
    function = getattr(special, name)
    assert np.isnan(function(vt.tensor([float("nan"), 1.0])).numpy()).tolist()[0]
    found = function(vt.tensor([1, 0]))
    assert found.dtype is vt.float32
    np.testing.assert_array_equal(found.numpy(), function(vt.tensor([1.0, 0.0])).numpy())


def test_names_are_unified() -> None:
    x = vt.tensor([[0.5, 1.0]], names=("a", "b"), requires_grad=True)
    y = special.xlog1py(x, vt.tensor([2.0, 3.0], names=("b",)))
    assert y.names == ("a", "b")
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.log1p([[2.0, 3.0]]), rtol=1e-6)
    with pytest.raises(vt.errors.NamesMismatchError, match="do not agree"):
        special.zeta(x, vt.tensor([2.0, 3.0], names=("c",)))


def test_operands_broadcast_and_promote() -> None:
    orders, places = vt.tensor([[2], [3]]), vt.tensor([1.0, 2.5, 4.0], dtype=vt.float64)
    places.requires_grad_()
    found = special.zeta(orders, places)
    assert found.shape == (2, 3)
    assert found.dtype is vt.float64
    found.sum().backward()
    expected = sum(-s * special.zeta(s + 1, places.detach()) for s in (2, 3))
    assert isinstance(expected, vt.Tensor)
    assert places.grad is not None
    np.testing.assert_allclose(places.grad.numpy(), expected.numpy(), rtol=1e-15)
    # A number adds its category only.
    assert special.zeta(vt.tensor([2.0]), 1.5).dtype is vt.float32
    assert special.zeta(vt.tensor([2]), 1.5).dtype is vt.float32
    assert special.zeta(np.float64(2.0), vt.tensor([2.0])).dtype is vt.float32
    array = np.array([2.0])
    found = special.zeta(array, vt.tensor([2.0]))  # type: ignore[arg-type]  # arrays are constants
    assert found.dtype is vt.float64


def test_what_has_no_derivative_refuses_by_name() -> None:
    leaf = vt.tensor([2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"zeta\(\) has no derivative .* to input"):
        special.zeta(leaf, 1).backward()
    with pytest.raises(NotImplementedError, match=r"legendre_polynomial_p\(\) .* to n"):
        special.legendre_polynomial_p(leaf, leaf).backward()
    with pytest.raises(NotImplementedError, match="to n"):
        vt.func.jvp(lambda n: special.hermite_polynomial_h(0.5, n), (vt.ones(1),), (vt.ones(1),))
    assert leaf.grad is None
    # What is not asked is not refused.
    x = vt.tensor([0.5], requires_grad=True)
    y = special.legendre_polynomial_p(x, leaf)
    (slope,) = vt.autograd.grad(y, x, create_graph=True)
    assert slope.tolist() == [1.5]
    (curvature,) = vt.autograd.grad(slope, x, retain_graph=True)
    assert curvature.tolist() == [3]
    with pytest.raises(NotImplementedError, match="to n"):
        vt.autograd.grad(slope, leaf)


def test_wrong_arguments_are_refused() -> None:
    x = vt.tensor([0.5])
    with pytest.raises(vt.errors.ArgumentTypeError, match="needs a tensor"):
        special.zeta(2.0, 1.0)
    with pytest.raises(vt.errors.ArgumentTypeError, match="'other' of zeta"):
        special.zeta(x, "one")  # type: ignore[arg-type]  # what a user might write
    with pytest.raises(vt.errors.ShapeError, match="do not broadcast"):
        special.xlog1py(vt.ones(2), vt.ones(3))
    with pytest.raises(vt.errors.NotSupportedError, match="complex"):
        special.entr(x.to(vt.complex64))
    with pytest.raises(vt.errors.NotSupportedError, match="float16"):
        special.erfcx(x.half())
    with pytest.raises(vt.errors.OutGradError):
        special.ndtr(x.clone().requires_grad_(), out=vt.empty(1))
    with pytest.raises(vt.errors.NotSupportedError, match="out="):
        vt.vmap(lambda t: special.ndtr(t, out=vt.empty(1)))(vt.ones(2, 1))


def test_half_precision_is_computed_where_pytorch_does() -> None:
    x = vt.tensor([0.5, 2.0], dtype=vt.float16)
    for function in (special.entr, special.i0e, special.i1, special.i1e, special.ndtr):
        found = function(x)
        assert found.dtype is vt.float16
        np.testing.assert_array_equal(
            found.numpy(), function(x.double()).numpy().astype(np.float16)
        )


def test_derivatives_at_zero_are_those_of_the_power_series() -> None:
    def derivatives(function: object) -> list[float]:
        x = vt.tensor(0.0, dtype=vt.float64, requires_grad=True)
        assert callable(function)
        y = function(x)
        found = [y.item()]
        for _ in range(5):
            (y,) = vt.autograd.grad(y, x, create_graph=True)
            found.append(y.item())
        return found

    # J0 is the sum of (-1) ** k * (x / 2) ** (2 * k) / k! ** 2, I1 that of (x / 2) ** (2 * k + 1)
    # / (k! * (k + 1)!), and sin(x) / x that of (-1) ** k * x ** (2 * k) / (2 * k + 1)!.
    assert derivatives(special.bessel_j0) == [1, 0, -1 / 2, 0, 3 / 8, 0]
    assert derivatives(special.bessel_j1) == [0, 1 / 2, 0, -3 / 8, 0, 5 / 16]
    assert derivatives(special.i0) == [1, 0, 1 / 2, 0, 3 / 8, 0]
    assert derivatives(special.i1) == [0, 1 / 2, 0, 3 / 8, 0, 5 / 16]
    assert derivatives(special.spherical_bessel_j0) == pytest.approx([1, 0, -1 / 3, 0, 1 / 5, 0])


def test_a_result_that_is_read_must_not_be_overwritten() -> None:
    x = vt.tensor([0.3], requires_grad=True)
    y = special.ndtri(x)
    y.detach().add_(1)
    with pytest.raises(vt.errors.StaleSavedError, match="overwritten"):
        y.backward()
    z = special.ndtr(x)
    z.detach().add_(1)
    z.backward()
    assert x.grad is not None
