"""Convolutions and correlations beside SciPy's."""

from typing import Any

import numpy as np
import pytest
import scipy.signal

import vtgrad as vt

SCIPY: Any = scipy.signal
RNG = np.random.default_rng(2)
SIZES = [((5,), (3,)), ((3,), (5,)), ((1,), (4,)), ((70,), (90,)), ((4, 5), (3, 2))]
MODES = ["full", "same", "valid"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("is_complex", [False, True])
def test_values_are_those_of_scipy(mode: str, sizes: Any, is_complex: bool) -> None:
    x, y = (RNG.normal(size=size) + 1j * is_complex * RNG.normal(size=size) for size in sizes)
    if not is_complex:
        x, y = x.real, y.real
    for name in ("convolve", "correlate"):
        wanted = getattr(SCIPY, name)(x, y, mode)
        for method in ("auto", "fft", "direct") if x.ndim == 1 else ("auto", "fft"):
            found = getattr(vt.signal, name)(vt.tensor(x), vt.tensor(y), mode, method)
            np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    wanted = SCIPY.fftconvolve(x, y, mode)
    np.testing.assert_allclose(
        vt.signal.fftconvolve(vt.tensor(x), vt.tensor(y), mode).numpy(), wanted, atol=1e-12
    )


def test_convolution_along_some_dimensions() -> None:
    x, y = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(2, 4, 1))
    found = vt.signal.fftconvolve(vt.tensor(x), vt.tensor(y), "same", axes=1)
    np.testing.assert_allclose(found.numpy(), SCIPY.fftconvolve(x, y, "same", axes=1), atol=1e-12)


@pytest.mark.parametrize("method", ["direct", "fft"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_derivatives(name: str, method: str) -> None:
    def call(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = getattr(vt.signal, name)(x, y, "same", method)
        return found

    for turn in (1, 1 + 0.5j):
        x = vt.tensor(RNG.normal(size=5) * turn, requires_grad=True)
        y = vt.tensor(RNG.normal(size=3) * turn, requires_grad=True)
        assert vt.autograd.gradcheck(call, (x, y), check_forward_ad=True, check_batched_grad=True)
        assert vt.autograd.gradgradcheck(call, (x, y), check_fwd_over_rev=True, fast_mode=True)
    batch = vt.tensor(RNG.normal(size=(4, 5)))
    kernel = vt.tensor(RNG.normal(size=3))
    found = vt.vmap(call, in_dims=(0, None))(batch, kernel)
    assert vt.allclose(found, vt.stack([call(x, kernel) for x in batch]))


def test_errors() -> None:
    x = vt.ones(3)
    with pytest.raises(vt.errors.ShapeError, match="as many dimensions"):
        vt.signal.convolve(x, vt.ones(2, 2))
    with pytest.raises(vt.errors.ShapeError):
        vt.signal.convolve(x, vt.ones(0))
    with pytest.raises(vt.errors.OptionValueError, match="mode"):
        vt.signal.convolve(x, x, "half")
    with pytest.raises(vt.errors.OptionValueError, match="method"):
        vt.signal.convolve(x, x, method="slow")
    with pytest.raises(vt.errors.NotSupportedError, match='use method="fft"'):
        vt.signal.convolve(vt.ones(2, 2), vt.ones(2, 2), method="direct")
    with pytest.raises(vt.errors.ShapeError, match="fits into"):
        vt.signal.convolve(vt.ones(2, 3), vt.ones(3, 2), "valid")
