"""`vtgrad.special` gives the values, the derivatives and the errors of `torch.special`."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

import vtgrad as vt
from tests.oracle.linear_algebra import differences

# The entry of polygamma calls it with its arguments in another order.
ENTRIES: Final = [
    entry
    for entry in op_db
    if entry.name.startswith("special.") and entry.name != "special.polygamma"
]
DTYPES: Final = (torch.float64, torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool)
ONE_OPERAND: Final = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit "
    "expm1 gammaln i0 i0e i1 i1e log1p log_ndtr logit modified_bessel_i0 modified_bessel_i1 "
    "modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi scaled_modified_bessel_k0 "
    "scaled_modified_bessel_k1 sinc spherical_bessel_j0"
).split()
POLYNOMIALS: Final = [name for name in vt.special.__all__ if "polynomial" in name]
PLACES: Final = [-3.0, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 30.0]
INF: Final = float("inf")


def test_the_names_are_those_of_torch_special() -> None:
    functions = {
        name
        for name in dir(torch.special)
        if not name.startswith("_")
        and type(getattr(torch.special, name)).__name__ == "builtin_function_or_method"
    }
    assert len(functions) > 50
    assert functions - set(vt.special.__all__) == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({entry.name for entry in ENTRIES}))
def test_samples_agree_with_pytorch(name: str) -> None:
    found = list(differences(name, ENTRIES, DTYPES))
    new = [f"{what}: {sample}" for what, sample in found]
    assert not new, f"{len(new)} samples differ\n" + "\n".join(new[:5])


def _outcome(call: Callable[[], Any]) -> str:
    """The dtype of a result, or the kind of an error."""
    try:
        return str(call().dtype).rpartition(".")[2]
    except NotImplementedError:
        return "NotImplementedError"
    except (RuntimeError, TypeError) as error:
        return "TypeError" if isinstance(error, TypeError) else "RuntimeError"


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_dtypes_and_refusals(name: str) -> None:
    both = getattr(torch.special, name), getattr(vt.special, name)
    for dtype in ("float16", "float32", "float64", "int64", "uint8", "bool", "complex64"):
        x, y = (lib.tensor([1, 0]).to(getattr(lib, dtype)) for lib in (torch, vt))
        wanted, found = (
            _outcome(partial(function, z)) for function, z in zip(both, (x, y), strict=True)
        )
        # What is i0 and i1 here, and is refused there.
        if name.startswith("modified_bessel_i") and dtype == "float16":
            wanted = "float16"
        assert found == wanted, dtype


@pytest.mark.parametrize("name", ["xlog1py", "zeta", *POLYNOMIALS])
def test_dtypes_of_two_operands(name: str) -> None:
    wanted, found = getattr(torch.special, name), getattr(vt.special, name)
    kinds = ("float16", "float32", "float64", "int64", "bool", "complex64")
    for one in kinds:
        for other in (*kinds, 2, 2.5):
            results = []
            for lib, function in ((torch, wanted), (vt, found)):
                x = lib.tensor([1, 1]).to(getattr(lib, one))
                y = lib.tensor([1, 1]).to(getattr(lib, other)) if isinstance(other, str) else other
                orders = partial(function, x, y), partial(function, y, x)
                results.append([_outcome(call) for call in orders])
            assert results[0] == results[1], (one, other)


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_values_at_many_places(name: str) -> None:
    wanted = getattr(torch.special, name)(torch.tensor(PLACES, dtype=torch.float64)).numpy()
    found = getattr(vt.special, name)(vt.tensor(PLACES, dtype=vt.float64)).numpy()
    # PyTorch's Airy function has eight digits at -3.
    np.testing.assert_allclose(found, wanted, rtol=1e-7 if name == "airy_ai" else 1e-10, atol=1e-15)
    assert np.isnan(getattr(vt.special, name)(vt.tensor([float("nan")])).item())


# Where PyTorch has nan, or the sign of a zero, for a limit that there is.
LIMITS: Final = {
    "airy_ai": (0.0, 0.0),
    "bessel_j0": (0.0, 0.0),
    "bessel_j1": (0.0, 0.0),
    "bessel_y0": (float("nan"), 0.0),
    "bessel_y1": (float("nan"), 0.0),
}


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_values_at_infinities(name: str) -> None:
    wanted = getattr(torch.special, name)(torch.tensor([-INF, INF], dtype=torch.float64)).numpy()
    found = getattr(vt.special, name)(vt.tensor([-INF, INF], dtype=vt.float64)).numpy()
    if name in LIMITS:
        assert np.isnan(wanted).all()
        wanted = np.array(LIMITS[name])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_values_of_polynomials(name: str) -> None:
    for n in (-1, 0, 1, 2, 3, 7, 12, 2.9, -0.5):
        wanted = getattr(torch.special, name)(torch.tensor(PLACES, dtype=torch.float64), n)
        found = getattr(vt.special, name)(vt.tensor(PLACES, dtype=vt.float64), n)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9)


def test_values_of_zeta() -> None:
    for order in (-1.0, 0.5, 1.0, 1.5, 2.0, 3.0, 30.0):
        wanted = torch.special.zeta(order, torch.tensor(PLACES, dtype=torch.float64))
        found = vt.special.zeta(order, vt.tensor(PLACES, dtype=vt.float64))
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12)


def test_what_has_no_derivative_refuses_as_in_pytorch() -> None:
    for lib in (torch, vt):
        order = lib.tensor([2.0], requires_grad=True)
        with pytest.raises(NotImplementedError):
            lib.special.zeta(order, 1).backward()


@pytest.mark.parametrize("name", ["entr", "xlog1py", "erfcx", "ndtri", "log_ndtr", "i0e", "i1e"])
def test_gradients_at_edges(name: str) -> None:
    places = [-1.0, 0.0, 0.25, 1.0, 40.0]
    results = []
    for lib in (torch, vt):
        function: Any = getattr(lib.special, name)
        x = lib.tensor(places, dtype=lib.float64, requires_grad=True)
        y = function(x, x.detach() - 1) if name == "xlog1py" else function(x)
        (gradient,) = lib.autograd.grad(y.sum(), x)
        results.append(gradient.numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-8, atol=1e-12)


def test_out_is_resized_and_cast_as_in_pytorch() -> None:
    for lib in (torch, vt):
        out = lib.empty(0, dtype=lib.float32)
        x = lib.tensor([[0.5, 0.25]], dtype=lib.float64)
        assert lib.special.entr(x, out=out) is out
        assert tuple(out.shape) == (1, 2)
        with pytest.raises(RuntimeError):
            lib.special.entr(x, out=lib.empty(0, dtype=lib.int64))
        with pytest.raises(RuntimeError):
            lib.special.zeta(lib.ones(2), lib.ones(3))
        with pytest.raises(TypeError):
            lib.special.zeta(lib.ones(2), "one")
