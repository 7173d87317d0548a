"""The functions of `vtgrad.special` that need SciPy: values, derivatives, batches, replays."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import scipy.special

import vtgrad as vt
from tests.special.scipy_calls import COMPLEX_CALLS, SCIPY_CALLS, operands_of, results_of
from tests.sweeping import sweep
from vtgrad import special

SCIPY: Final[Any] = scipy.special
# Without a second derivative of complex values.
ONCE: Final = ("gamma", "loggamma", "rgamma")


def function_of(name: str) -> str:
    """The function that is called, which is the first word of a call's name."""
    return name.split()[0]


def test_every_function_of_scipy_has_a_call() -> None:
    called = {function_of(name) for name in SCIPY_CALLS}
    of_scipy = {
        name
        for name in special.__all__
        if "scipy" in getattr(getattr(special, name), "__module__", "")
    }
    assert called == of_scipy


@sweep(SCIPY_CALLS, row=function_of)
def test_derivatives_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vt.autograd.gradcheck(
            lambda *x: results_of(name, *x), leaves, check_forward_ad=True, check_batched_grad=True
        )


@pytest.mark.slow
@sweep(SCIPY_CALLS, row=function_of)
def test_second_derivatives_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    assert vt.autograd.gradgradcheck(
        lambda *x: results_of(name, *x), leaves, check_fwd_over_rev=True, atol=2e-5
    )


@sweep(COMPLEX_CALLS, row=function_of)
def test_derivatives_of_complex_values_are_those_of_differences(name: str) -> None:
    call: Any = COMPLEX_CALLS[name][0]
    values = COMPLEX_CALLS[name][1]
    leaf = vt.tensor(values, dtype=vt.complex128, requires_grad=True)
    assert vt.autograd.gradcheck(call, [leaf], check_forward_ad=True, fast_mode=True)
    assert vt.autograd.gradgradcheck(call, [leaf], fast_mode=True, atol=2e-5)


@pytest.mark.parametrize("name", ONCE)
def test_the_gamma_function_of_complex_values_has_one_derivative(name: str) -> None:
    leaf = vt.tensor([0.3 + 0.2j, 1 - 1j], dtype=vt.complex128, requires_grad=True)
    function = getattr(special, name)
    assert vt.autograd.gradcheck(function, [leaf], check_forward_ad=True)
    (slope,) = vt.autograd.grad(function(leaf).real.sum(), leaf, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        slope.real.sum().backward()


@sweep(SCIPY_CALLS, row=function_of)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    operands = operands_of(name)
    samples = [vt.stack([x, x.flip(0)]) for x in operands]

    def written(*tensors: vt.Tensor) -> vt.Tensor:
        result = results_of(name, *tensors)[0]
        made = tensors[0].new_zeros(3, dtype=result.dtype)
        made[:] = result
        return made

    mapped: Callable[..., Any] = vt.vmap(lambda *x: results_of(name, *x))
    batch = mapped(*samples)
    by_writing = vt.vmap(written)(*samples)
    for k in range(2):
        expected = results_of(name, *[x[k] for x in samples])
        for one, other in zip(batch, expected, strict=True):
            np.testing.assert_array_equal(one[k].numpy(), other.numpy())
        np.testing.assert_array_equal(by_writing[k].numpy(), expected[0].numpy())


@sweep(SCIPY_CALLS, row=function_of)
def test_a_replay_is_the_call_on_new_values(name: str) -> None:
    def gradients(*tensors: vt.Tensor) -> list[vt.Tensor]:
        leaves = [x.detach().clone().requires_grad_() for x in tensors]
        total = sum(x.real.sum() if x.is_complex() else x.sum() for x in results_of(name, *leaves))
        assert isinstance(total, vt.Tensor)
        return list(vt.autograd.grad(total, leaves))

    replayed: Any = vt.jit.replay(gradients)
    operands = operands_of(name)
    for given in (operands, [x.flip(0) for x in operands], [x * 0.9 for x in operands]):
        for one, expected in zip(replayed(*given), gradients(*given), strict=True):
            np.testing.assert_array_equal(one.numpy(), expected.numpy())


@sweep(SCIPY_CALLS, row=function_of)
def test_elements_depend_on_those_at_their_place(name: str) -> None:
    operands = operands_of(name)

    def real(*tensors: vt.Tensor) -> vt.Tensor:
        result = results_of(name, *tensors)[0]
        return result.real if result.is_complex() else result

    pattern = vt.func.sparsity_pattern(real, *operands)
    assert pattern.shape == (3, 3)
    assert pattern.indices.tolist() == [0, 1, 2]


@sweep(SCIPY_CALLS, row=function_of)
def test_no_gradient_comes_of_none(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    result = results_of(name, *leaves)[0]
    weights = vt.zeros_like(result)
    for found in vt.autograd.grad(result, leaves, weights, retain_graph=True):
        assert not found.numpy().any()
    weights[0] = 1
    for found in vt.autograd.grad(result, leaves, weights):
        assert not found.numpy()[1:].any()


# -- values -----------------------------------------------------------------------------------

PLAIN: Final = sorted(
    {function_of(name) for name in SCIPY_CALLS}
    - {"bdtr", "bdtrc", "bdtri", "lambertw", "softplus", "wofz"}
    - {name for name in special.__all__ if name.startswith("spherical")}
)
SEVERAL: Final = ("airy", "ellipj", "fresnel", "shichi", "sici")
_PLACES: Final = np.array(
    [-np.inf, -2.5, -1.0, -0.0, 0.0, 1e-3, 0.7, 1.0, 3.0, 40.0, np.inf, np.nan]
)


@pytest.mark.parametrize("name", PLAIN)
def test_values_are_those_of_scipy(name: str) -> None:
    ufunc: Any = getattr(SCIPY, name)
    function = getattr(special, name)
    for dtype in (np.float64, np.float32):
        places = _PLACES.astype(dtype)
        front = [dtype(2.0), dtype(3.0), dtype(1.5)][: ufunc.nin - 1]
        if name == "hyp1f1":
            # Here SciPy's function does not end.
            places = places[places != np.inf]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ufunc(*front, places)
        found = function(*[vt.tensor(x) for x in front], vt.tensor(places))
        if name not in SEVERAL:
            found, expected = (found,), (expected,)
        for one, other in zip(found, expected, strict=True):
            assert one.numpy().dtype == other.dtype == dtype
            np.testing.assert_array_equal(one.numpy(), other)


@pytest.mark.parametrize("derivative", [False, True])
@pytest.mark.parametrize("kind", "jyik")
def test_values_of_spherical_functions_are_those_of_scipy(kind: str, derivative: bool) -> None:
    orders, places = np.array([[0], [1], [4]]), np.array([0.0, 0.7, 3.0, 40.0, np.inf, np.nan])
    for z in (places, places[:4] + 0.5j):
        expected = getattr(SCIPY, f"spherical_{kind}n")(orders, z, derivative)
        function = getattr(special, f"spherical_{kind}n")
        found = function(vt.tensor(orders), vt.tensor(z), derivative)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_values_of_functions_with_integers_are_those_of_scipy() -> None:
    p = np.array([0.0, 0.2, 0.9, 1.0])
    for name in ("bdtr", "bdtrc", "bdtri"):
        expected = getattr(SCIPY, name)(1.5, 4, p)
        found = getattr(special, name)(1.5, 4, vt.tensor(p))
        np.testing.assert_array_equal(found.numpy(), expected)
    z = np.array([-0.3, 0.0, 0.4, 5.0, np.inf, np.nan])
    for k in (0, -1, 3):
        np.testing.assert_array_equal(
            special.lambertw(vt.tensor(z), k).numpy(), SCIPY.lambertw(z, k)
        )
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(0, z)
    np.testing.assert_array_equal(special.softplus(vt.tensor(z)).numpy(), expected)
    np.testing.assert_array_equal(special.wofz(vt.tensor(z)).numpy(), SCIPY.wofz(z))


def test_complex_values_are_those_of_scipy() -> None:
    z = np.array([0.3 + 0.2j, -1 - 1j, 7 + 1j])
    for name in ("gamma", "rgamma", "loggamma", "expi", "exp1", "dawsn", "wofz", "erfi"):
        for given in (z, z.astype(np.complex64)):
            found = getattr(special, name)(vt.tensor(given))
            np.testing.assert_array_equal(found.numpy(), getattr(SCIPY, name)(given))
    for name in ("jv", "yv", "iv", "kv", "kve", "hyp0f1"):
        found = getattr(special, name)(1.5, vt.tensor(z))
        np.testing.assert_array_equal(found.numpy(), getattr(SCIPY, name)(1.5, z))


def test_the_confluent_function_ends_at_infinity() -> None:
    z = vt.tensor([np.inf, 1e300], dtype=vt.float64, requires_grad=True)
    found = special.hyp1f1(2, 3, z)
    assert found.tolist() == [np.inf, np.inf]
    found.sum().backward()
    assert z.grad is not None
    assert z.grad.tolist() == [np.inf, np.inf]
    assert special.hyp1f1(-1, 2, z)[1].item() == -5e299


def test_integers_are_computed_in_the_default_dtype() -> None:
    found = special.iv(vt.tensor(1), vt.tensor([1, 2]))
    assert found.dtype is vt.float32
    np.testing.assert_array_equal(
        found.numpy(), SCIPY.iv(np.float32(1), np.array([1, 2], np.float32))
    )
    assert special.iv(0.5, vt.tensor([1.0], dtype=vt.float64)).dtype is vt.float64
    assert special.lambertw(vt.tensor([1])).dtype is vt.complex64
    assert special.iv(1, vt.tensor([1.0], dtype=vt.float16)).dtype is vt.float16


def test_shapes_layouts_and_places_for_results() -> None:
    x = vt.tensor([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]], dtype=vt.float64)
    np.testing.assert_array_equal(special.ellipk(-x.t()).numpy(), SCIPY.ellipk(-x.numpy().T))
    np.testing.assert_array_equal(special.iv(1, x[:, ::2]).numpy(), SCIPY.iv(1, x.numpy()[:, ::2]))
    assert special.iv(vt.tensor([[0.0], [1.0]]), vt.tensor([1.0, 2.0, 3.0])).shape == (2, 3)
    assert special.iv(0, vt.tensor(1.0)).shape == ()
    assert special.voigt_profile(vt.empty(0, 3), 1, 1).shape == (0, 3)
    out = vt.empty(2, 3, dtype=vt.float64)
    assert special.iv(1, x, out=out) is out
    np.testing.assert_array_equal(out.numpy(), SCIPY.iv(1, x.numpy()))


def test_derivatives_of_many_elements_and_of_none() -> None:
    # More elements than a kernel takes at once.
    z = vt.tensor([0.3 + 0.2j, 7 + 1j], dtype=vt.complex128).repeat(3000).requires_grad_()
    special.wofz(z).real.sum().backward()
    x = vt.tensor([0.3, 0.9], dtype=vt.float64).repeat(3000).requires_grad_()
    (special.ellipkinc(x, x) + special.betainc(2, 3, x)).sum().backward()
    for leaf in (z, x):
        assert leaf.grad is not None
        np.testing.assert_array_equal(leaf.grad.numpy(), np.tile(leaf.grad.numpy()[:2], 3000))
        assert leaf.grad.numpy()[:2].all()
    nothing = vt.empty(0, dtype=vt.float64, requires_grad=True)
    for function in (special.ellipk, special.wofz, special.dawsn, special.exprel):
        (found,) = vt.autograd.grad(function(nothing).real.sum(), nothing)
        assert found.shape == (0,)


@sweep(SCIPY_CALLS, row=function_of)
def test_operands_of_several_dtypes_have_gradients(name: str) -> None:
    operands = operands_of(name)
    for dtypes in ([vt.float32, vt.float64, vt.float16], [vt.float16, vt.float32, vt.float32]):
        leaves = [x.to(dtype).requires_grad_() for x, dtype in zip(operands, dtypes, strict=False)]
        result = results_of(name, *leaves)[0]
        total = (result.real if result.is_complex() else result).sum()
        for found, leaf in zip(vt.autograd.grad(total, leaves), leaves, strict=True):
            assert found.dtype is leaf.dtype


def test_names_are_unified() -> None:
    z = vt.tensor([[0.5, 1.0]], names=("a", "b"), requires_grad=True)
    found = special.iv(vt.tensor([0.0, 1.0], names=("b",)), z)
    assert found.names == ("a", "b")
    found.sum().backward()
    assert z.grad is not None
    with pytest.raises(vt.errors.NamesMismatchError):
        special.iv(vt.tensor([0.0, 1.0], names=("c",)), z)


# -- what is refused ----------------------------------------------------------------------------

# The parameters without a derivative, in calls whose other operands have one.
WITHOUT: Final[dict[str, tuple[Callable[..., object], str]]] = {
    "iv": (lambda v: special.iv(v, vt.tensor(1.0)), "v"),
    "jv": (lambda v: special.jn(v, vt.tensor(1.0)), "v"),
    "expn": (lambda n: special.expn(n, vt.tensor(1.0)), "n"),
    "spherical_jn": (lambda n: special.spherical_jn(n, vt.tensor(1.0)), "n"),
    "betainc": (lambda a: special.betainc(a, 2, vt.tensor(0.5)), "a"),
    "betaincc": (lambda b: special.betaincc(2, b, vt.tensor(0.5)), "b"),
    "gammaincinv": (lambda a: special.gammaincinv(a, vt.tensor(0.5)), "a"),
    "hyp2f1": (lambda c: special.hyp2f1(1, 1, c, vt.tensor(0.5)), "c"),
    "ellipj": (lambda m: special.ellipj(vt.tensor(0.5), m), "m"),
    "stdtr": (lambda df: special.stdtr(df, vt.tensor(0.5)), "df"),
    "lambertw": (lambda k: special.lambertw(vt.tensor(0.5), k), "k"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_parameter_without_a_derivative_is_refused_by_the_call(name: str) -> None:
    call: Any = WITHOUT[name][0]
    parameter = WITHOUT[name][1]
    leaf = vt.tensor(1.0, requires_grad=True)
    match = f"no derivative with respect to {parameter};"
    with pytest.raises(NotImplementedError, match=match):
        call(leaf)
    with pytest.raises(NotImplementedError, match=match):
        vt.func.jvp(call, (vt.tensor(1.0),), (vt.tensor(1.0),))
    with pytest.raises(NotImplementedError, match=match):
        vt.func.grad(call)(vt.tensor(1.0))
    with pytest.raises(NotImplementedError, match=match):
        vt.vmap(vt.func.grad(call))(vt.ones(2))
    with pytest.raises(NotImplementedError, match=rf"^{name}(_sn)?\(\) has"):
        call(leaf)
    with vt.no_grad():
        call(leaf)
    call(leaf.detach())


def test_wrong_arguments_are_refused() -> None:
    x = vt.tensor([0.5])
    with pytest.raises(vt.errors.ArgumentTypeError, match="needs a tensor"):
        special.iv(0.5, 1.0)
    with pytest.raises(vt.errors.ArgumentTypeError, match="'v' of iv"):
        special.iv("one", x)  # type: ignore[arg-type]  # what a user might write
    with pytest.raises(vt.errors.NotSupportedError, match="complex"):
        special.ellipk(x.to(vt.complex64))
    with pytest.raises(vt.errors.NotSupportedError, match="real v"):
        special.iv(vt.tensor([1j]), x)
    with pytest.raises(vt.errors.NotSupportedError, match="real v"):
        special.iv(1j, x)
    with pytest.raises(vt.errors.OutGradError):
        special.iv(1, x.clone().requires_grad_(), out=vt.empty(1))


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(vt.errors.MissingPackageError, match=r"iv\(\) needs SciPy") as caught:
        special.iv(1, vt.ones(1))
    assert "'scipy'" in str(caught.value)


# -- the ends of domains ------------------------------------------------------------------------


def slope(function: Callable[..., Any], *values: float, by: int = -1) -> float:
    """The derivative of a function of numbers, by the last one or another."""
    tensors = [vt.tensor(x, dtype=vt.float64) for x in values]
    tensors[by].requires_grad_()
    (found,) = vt.autograd.grad(function(*tensors), tensors[by])
    result = found.item()
    assert isinstance(result, float)
    return result


def test_slopes_at_the_ends_of_domains() -> None:
    inf = float("inf")
    assert slope(special.jv, 1, 0.0) == 0.5
    assert slope(special.iv, 0, 0.0) == 0
    assert slope(special.kv, 0, 0.0) == -inf
    assert slope(special.kv, 0, inf) == 0
    assert slope(special.spherical_jn, 1, 0.0) == pytest.approx(1 / 3)
    # Uniform, linear and steep beginnings of the beta and the gamma distribution.
    assert slope(special.betainc, 1, 1, 0.0) == 1
    assert slope(special.betainc, 2, 1, 0.0) == 0
    assert slope(special.betainc, 0.5, 1, 0.0) == inf
    assert slope(special.betainc, 1, 2, 1.0) == 0
    assert slope(special.chdtr, 2, 0.0) == 0.5
    assert slope(special.chdtr, 2, inf) == 0
    assert slope(special.gammaincinv, 1, 0.0) == 1
    assert slope(special.rgamma, 0.0) == 1
    assert slope(special.rgamma, -3.0) == pytest.approx(-6)
    assert slope(special.ellipk, 1.0) == inf
    assert slope(special.ellipe, 1.0) == -inf
    assert np.isnan(slope(special.ellipk, 1.5))
    assert slope(special.ellipkm1, 1.0) == pytest.approx(-np.pi / 8)
    assert slope(special.exp1, 0.0) == -inf
    assert slope(special.expn, 3, 0.0) == -1
    assert slope(special.dawsn, 0.0) == pytest.approx(1)
    assert slope(lambda z: special.lambertw(z).real, 0.0) == 1
    assert slope(special.kl_div, 0.0, 1.0) == 1
    assert slope(special.kl_div, 0.0, 1.0, by=0) == -inf
    assert slope(special.boxcox, 1.0, 0.0, by=0) == 1
    assert slope(special.huber, 1.0, -3.0, by=0) == 2
    assert slope(special.huber, 1.0, -3.0) == -1
    assert slope(special.softplus, 1000.0) == 1
    assert slope(special.pseudo_huber, 2.0, 1e300) == 2
    assert slope(special.pseudo_huber, 2.0, -1e300, by=0) == 1e300
    assert slope(special.exprel, -inf) == 0
    assert slope(special.exprel, inf) == inf
    assert slope(special.dawsn, -inf) == 0
    assert slope(special.voigt_profile, inf, 1.0, 0.5, by=0) == 0
    # Of distributions whose normalisation overflows, too.
    assert slope(special.betainc, 1, 200, 0.0) == 200
    assert slope(special.betaincc, 200, 1, 1.0) == -200
    assert slope(special.betainc, 0.5, 200, 0.0) == inf
    assert slope(special.betainc, 200, 200, 0.0) == 0
    assert slope(special.bdtr, 2, 2, 1.0) == 0
    # Of order 1/2 it begins like a root.
    assert slope(special.ive, 0.5, 0.0) == inf
    assert slope(special.ive, 1, 0.0) == 0.5
    # Powers of 0, roots of 0, and what has no probability at all.
    assert slope(special.boxcox, 0.0, 2.0) == 0.25
    assert slope(special.boxcox1p, -1.0, 2.0) == 0.25
    assert slope(special.inv_boxcox, -2.0, 0.5, by=0) == 0
    assert slope(special.inv_boxcox, -1.0, 1.0, by=0) == 1
    assert slope(special.inv_boxcox, -0.5, 2.0, by=0) == inf
    assert slope(special.kl_div, 0.0, 0.0) == 1
    assert slope(special.rel_entr, 0.0, 0.0) == 0
    assert slope(special.pseudo_huber, 0.0, 0.0) == 0
    assert slope(special.pseudo_huber, 0.0, 0.0, by=0) == 0
    # Functions that do not depend on the argument.
    assert slope(special.hyp2f1, 0, 1, 2, 1.0) == 0
    assert slope(special.hyp1f1, 0, 1, 800.0) == 0
    assert slope(special.hyperu, 0, 0.5, 0.0) == 0


def test_second_slopes_at_the_ends_of_domains() -> None:
    def second(function: Callable[..., Any], *values: float) -> float:
        return slope(lambda *x: vt.func.grad(function, argnums=len(x) - 1)(*x), *values)

    assert second(special.betainc, 1, 3, 0.0) == -6
    assert second(special.betainc, 2, 1, 1.0) == 2
    assert second(special.betainc, 1, 1, 0.0) == 0
    assert second(special.chdtr, 2, 0.0) == -0.25
    assert second(special.pdtr, 0, 0.0) == 1
    assert second(special.bdtr, 0, 3, 0.0) == 6
    assert second(special.expn, 4, 0.0) == 1
    assert second(special.hyp2f1, -1, 0.5, 2, 1.0) == 0
    assert second(special.hyp1f1, -1, 2, 800.0) == 0


def test_slopes_of_binomials_at_and_beside_poles_of_the_gamma_function() -> None:
    for m, terms in ((1, [0, 1]), (2, [0, 1, 1]), (3, [0, 2, 3, 1])):
        polynomial = np.polynomial.Polynomial(terms)
        for z in (-40.0, -3.0, -2.0, -1.0, -1e-8, 0.0, 1e-8, 0.3, 7.0):
            expected = polynomial.deriv()(z)
            assert slope(special.poch, z, m, by=0) == pytest.approx(expected, rel=1e-12)
    for z in (-3.0, -1e-8, 0.0, 1e-8, 0.4):
        # 1 / ((z - 1) (z - 2))
        assert slope(special.poch, z, -2, by=0) == pytest.approx(
            -(2 * z - 3) / ((z - 1) * (z - 2)) ** 2, rel=1e-7
        )
        second = slope(vt.func.grad(lambda x: special.poch(x, -2)), z)
        assert second == pytest.approx(2 / (z - 2) ** 3 - 2 / (z - 1) ** 3, rel=1e-7)
    # n (n - 1) / 2, and the same by the second argument, which is (-1)**(k + 1) / k of 0.
    for n in (-0.3, 0.0, 1.0, 1e-8, 5.0):
        assert slope(special.binom, n, 2, by=0) == pytest.approx(n - 0.5, rel=1e-7)
    for k in (1, 2, 3, 10):
        assert slope(special.binom, 0, k) == pytest.approx((-1) ** k / k, rel=1e-12)
        assert slope(special.binom, 0, -k) == pytest.approx((-1) ** (k + 1) / k, rel=1e-12)


def test_elements_do_not_change_what_others_get() -> None:
    extreme = [1e-300, 1e-10, 0.3, 700.0, 1e300]
    for function in (special.ellipkm1, lambda m: special.ellipe(1 - m)):
        both = vt.tensor(extreme, dtype=vt.float64, requires_grad=True)
        (first,) = vt.autograd.grad(function(both).sum(), both, create_graph=True)
        (found,) = vt.autograd.grad(first.sum(), both)
        alone = [slope(vt.func.grad(function), x) for x in extreme]
        assert found.tolist() == alone
        assert not np.isnan(alone).any()


def test_voigts_profile_without_one_of_its_parts() -> None:
    # With no width it is Cauchy's distribution: x = 1, gamma = 2.
    cauchy = 2 / np.pi / 5
    x, sigma, gamma = (vt.tensor(v, dtype=vt.float64, requires_grad=True) for v in (1.0, 0.0, 2.0))
    y = special.voigt_profile(x, sigma, gamma)
    of_x, of_sigma, of_gamma = vt.autograd.grad(y, [x, sigma, gamma], create_graph=True)
    assert y.item() == pytest.approx(cauchy)
    assert of_x.item() == pytest.approx(-cauchy * 2 / 5)
    assert of_sigma.item() == 0
    assert of_gamma.item() == pytest.approx(cauchy * (1 / 2 - 4 / 5))
    # Along sigma it spreads as heat does: the second derivative is that by x.
    (by_sigma,) = vt.autograd.grad(of_sigma, sigma, retain_graph=True)
    (by_x,) = vt.autograd.grad(of_x, x)
    assert by_sigma.item() == pytest.approx(by_x.item())
    # Without gamma it is the normal distribution, whose tail is not lost.
    for place in (0.5, 3.0, 10.0, 30.0):
        x = vt.tensor(place, dtype=vt.float64, requires_grad=True)
        y = special.voigt_profile(x, 1, 0)
        (found,) = vt.autograd.grad(y, x)
        assert found.item() == pytest.approx(-place * np.exp(-(place**2) / 2) / np.sqrt(2 * np.pi))
