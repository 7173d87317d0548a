"""`vtgrad.fft` beside NumPy's transforms: values, dtypes, derivatives, samples, `out=`, errors."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt

ALONG_ONE: Final = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
ALONG_TWO: Final = ("fft2", "ifft2", "rfft2", "irfft2")
ALONG_MANY: Final = ("fftn", "ifftn", "rfftn", "irfftn")
HERMITIAN: Final = ("hfft2", "hfftn", "ihfft2", "ihfftn")
TAKES_REALS: Final = ("rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn")
GIVES_REALS: Final = ("irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn")
NAMES: Final = (*ALONG_ONE, *ALONG_TWO, *ALONG_MANY, *HERMITIAN)

#: Arguments of the transforms along one dimension, in PyTorch's words.
OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"norm": "ortho"},
    {"norm": "forward", "dim": 0},
    {"n": 3},
    {"n": 7, "norm": "backward"},
    {"n": 4, "dim": 1},
    {"n": 1},
)
#: Those of the others; NumPy needs `axes` where it has `s`.
OPTIONS_OF_MANY: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"norm": "ortho", "dim": (0, 2)},
    {"norm": "forward", "dim": (2, 0)},
    {"s": (3, 7), "dim": (1, 2)},
    {"s": (-1, 4), "dim": (0, 1)},
    {"dim": (1,)},
)


def values(name: str, dtype: str = "complex128") -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(2, 3, 5))
    is_real = name in TAKES_REALS
    return (real if is_real else real + 1j * rng.normal(size=real.shape)).astype(
        {"complex128": "float64", "complex64": "float32"}[dtype] if is_real else dtype
    )


def options_of(name: str) -> tuple[dict[str, Any], ...]:
    return OPTIONS_OF_MANY if name[-1] in "2n" else OPTIONS


def function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(vt.fft, name)
    return found


def by_numpy(name: str, x: np.ndarray[Any, Any], options: dict[str, Any]) -> Any:
    """The same by NumPy, which has no Hermitian transform of several dimensions."""
    theirs = dict(options)
    if name[-1] not in "2n":
        theirs["axis"] = theirs.pop("dim", -1)
        return getattr(np.fft, name)(x, **theirs)
    theirs["axes"] = theirs.pop("dim", (-2, -1) if name[-1] == "2" else tuple(range(x.ndim)))
    if name in HERMITIAN:
        turned = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
        theirs["norm"] = turned[theirs.get("norm")]
        if name[0] == "i":
            return np.conj(np.fft.rfftn(x, **theirs))
        return np.fft.irfftn(np.conj(x), **theirs)
    return getattr(np.fft, name)(x, **theirs)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_numpy(name: str) -> None:
    for options in options_of(name):
        x = values(name)
        found, wanted = function(name)(vt.tensor(x), **options), by_numpy(name, x, options)
        np.testing.assert_allclose(found.resolve_conj().numpy(), wanted, rtol=1e-12, atol=1e-13)
        assert found.dtype == (vt.float64 if name in GIVES_REALS else vt.complex128)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_kept(name: str) -> None:
    x = values(name, "complex64")
    found = function(name)(vt.tensor(x))
    assert found.dtype == (vt.float32 if name in GIVES_REALS else vt.complex64)
    np.testing.assert_allclose(
        found.resolve_conj().numpy(), by_numpy(name, x, {}), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("name", NAMES)
def test_integers_are_cast_to_the_default_dtype(name: str) -> None:
    x = vt.tensor([[1, 2, 3], [4, 6, 9]])
    found = function(name)(x)
    assert found.dtype == (vt.float32 if name in GIVES_REALS else vt.complex64)
    assert vt.equal(found, function(name)(x.float()))


@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name: str) -> None:
    for options in options_of(name):
        call = partial(function(name), **options)
        x = vt.tensor(values(name)[:, :2, :4].copy(), requires_grad=True)
        assert vt.autograd.gradcheck(
            call,
            (x,),
            check_forward_ad=True,
            check_batched_grad=True,
            check_batched_forward_grad=True,
        )
        assert vt.autograd.gradgradcheck(call, (x,), check_fwd_over_rev=True, fast_mode=True)


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2", "fftn", "irfft", "hfft", "hfftn"])
def test_derivatives_of_real_values(name: str) -> None:
    x = vt.tensor(values(name)[0].real.copy(), requires_grad=True)
    assert vt.autograd.gradcheck(function(name), (x,), check_forward_ad=True)
    assert vt.autograd.gradgradcheck(function(name), (x,), fast_mode=True)


@pytest.mark.parametrize("name", NAMES)
def test_samples_of_a_batch(name: str) -> None:
    x = vt.tensor(values(name))
    two = name[-1] == "2"
    for options in ({}, {"norm": "ortho", "dim": (1, 0) if two else 0}):
        call = partial(function(name), **options)
        one_by_one = vt.stack([call(sample) for sample in x])
        assert vt.allclose(vt.vmap(call)(x), one_by_one)
        assert vt.allclose(vt.vmap(call, in_dims=2)(x.permute(1, 2, 0)), one_by_one)


@pytest.mark.parametrize("name", NAMES)
def test_results_in_out(name: str) -> None:
    x = vt.tensor(values(name))
    wanted = function(name)(x)
    out = vt.zeros(0, dtype=wanted.dtype)
    assert function(name)(x, out=out) is out
    assert vt.allclose(out, wanted.resolve_conj())
    wrong = vt.zeros(0, dtype=vt.complex128 if name in GIVES_REALS else vt.float64)
    with pytest.raises(vt.errors.ResultTypeError):
        function(name)(x, out=wrong)
    x.requires_grad_()
    with pytest.raises(vt.errors.OutGradError):
        function(name)(x, out=out)


@pytest.mark.parametrize("name", NAMES)
def test_layouts_and_lazy_conjugates(name: str) -> None:
    x = values(name)
    for layout in (
        vt.tensor(x).transpose(0, 2),
        vt.tensor(x).flip(1)[:, ::2],
        vt.stack([vt.tensor(x)] * 2, -1)[..., 1],
        vt.tensor(x).conj(),
        vt.tensor(x)[:1].expand(3, 3, 5),
        vt.tensor(x)[:, :, ::-1],
    ):
        plain = layout.resolve_conj().numpy()
        np.testing.assert_allclose(
            function(name)(layout).resolve_conj().numpy(), by_numpy(name, plain, {}), atol=1e-12
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_without_elements_gives_none(name: str) -> None:
    x = vt.zeros((0, 3, 4), requires_grad=True)
    dim = (-2, -1) if name[-1] in "2n" else -1
    found = function(name)(x, dim=dim)
    assert found.shape[:2] == (0, 3)
    found.sum().backward() if name in GIVES_REALS else found.real.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (0, 3, 4)


@pytest.mark.parametrize("name", NAMES)
def test_errors(name: str) -> None:
    x = vt.ones(3, 4)
    call = function(name)
    size = "s" if name[-1] in "2n" else "n"
    with pytest.raises(vt.errors.OptionValueError, match="at least one value, not 0"):
        call(x, **{size: (0, 2) if size == "s" else 0})
    with pytest.raises(vt.errors.OptionValueError, match="norm must be"):
        call(x, norm="other")
    with pytest.raises(vt.errors.DimensionError):
        call(x, dim=(2,) if size == "s" else 2)
    with pytest.raises(vt.errors.DTypeError, match="float16"):
        call(x.half())
    with pytest.raises(vt.errors.ArgumentTypeError, match="'input' must be a tensor, not list"):
        call([1.0, 2.0])
    with pytest.raises(vt.errors.ArgumentTypeError):
        call(x, **{size: 2.5})
    if name in TAKES_REALS:
        with pytest.raises(vt.errors.DTypeError, match="takes real values"):
            call(x + 1j)
    if size == "s":
        with pytest.raises(vt.errors.OptionValueError, match="takes one twice"):
            call(x, dim=(0, -2))
        with pytest.raises(vt.errors.OptionValueError, match="as many sizes as dimensions"):
            call(x, s=(2, 3), dim=(0,))
    else:
        with pytest.raises(vt.errors.DimensionError, match="0-d"):
            call(vt.tensor(1.0))


def test_more_sizes_than_dimensions_are_refused() -> None:
    with pytest.raises(vt.errors.ShapeError, match="3 sizes for a tensor of 2 dimensions"):
        vt.fft.fftn(vt.ones(2, 2), s=(2, 2, 2))
    with pytest.raises(vt.errors.OptionValueError, match="at least one dimension"):
        vt.fft.rfftn(vt.ones(2, 2), dim=())


def test_no_dimension_gives_a_copy() -> None:
    x = vt.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    found = vt.fft.fftn(x, dim=())
    assert found.tolist() == [1 + 2j, 3 - 1j]
    assert found.data_ptr() != x.data_ptr()
    assert vt.fft.ifftn(vt.tensor(2.0)).item() == 2 + 0j


def test_the_gradient_of_half_a_transform_counts_each_element_once() -> None:
    x = vt.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    # 10, -2 + 2j, -2: the derivative of the sum of the real parts is 1 + cos(pi j / 2) + (-1)^j.
    vt.fft.rfft(x).real.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == pytest.approx([3.0, 0.0, 1.0, 0.0], abs=1e-6)
    half = vt.tensor([10 + 0j, -2 + 2j, -2 + 0j], requires_grad=True)
    vt.fft.irfft(half, norm="forward")[0].backward()
    # x[0] = re(h[0]) + 2 re(h[1]) + re(h[2])
    assert half.grad is not None
    assert half.grad.tolist() == [1 + 0j, 2 + 0j, 1 + 0j]


def test_a_transform_of_real_values_has_a_real_gradient() -> None:
    x = vt.tensor([1.0, 2.0, 4.0], requires_grad=True)
    found = vt.fft.fft(x)
    assert found.grad_fn is not None
    assert type(found.grad_fn).__name__ == "FftR2CBackward0"
    found.abs().square().sum().backward()
    # Parseval: the sum of squares is n times that of the values.
    assert x.grad is not None
    assert x.grad.tolist() == pytest.approx([6.0, 12.0, 24.0])


def test_the_pattern_of_a_transform_is_dense_along_its_dimensions() -> None:
    x = vt.ones(3, 4, dtype=vt.float64)
    jacobian = vt.func.sparse_jacobian(lambda x: vt.fft.rfft(x).real, x)
    assert jacobian.shape == (9, 12)
    rows, columns = (x.tolist() for x in jacobian.nonzero())
    assert {(r // 3, c // 4) for r, c in zip(rows, columns, strict=True)} == {
        (k, k) for k in range(3)
    }
    both = vt.func.sparsity_pattern(lambda x: vt.fft.fft2(x, dim=(0, 2)).real, vt.ones(2, 2, 2))
    assert both.nnz == 8 * 4


def test_names_stay_where_a_dimension_is_padded_or_cut() -> None:
    x = vt.ones(3, 4).refine_names("row", "column")
    for n in (2, 4, 6):
        for function in (vt.fft.fft, vt.fft.ihfft, vt.fft.rfft):
            assert function(x, n).names == ("row", "column")
        assert vt.fft.fft2(x, (n, n)).names == ("row", "column")
