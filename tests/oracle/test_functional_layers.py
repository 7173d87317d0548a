"""Activations, losses and their kin beside PyTorch: samples, wrong calls, kinks, large numbers."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pytest
import torch

import vtgrad as vt
from tests.oracle.functional_layers import KNOWN, NAMES, differences, entries
from tests.oracle.kinds import builtin_of

pytestmark = pytest.mark.filterwarnings("ignore")

LIBRARIES: Final[Sequence[Any]] = (torch, vt)


@pytest.mark.parametrize("name", NAMES)
def test_samples_agree_with_pytorch(name: str) -> None:
    found = list(differences(name))
    new = [f"{what}: {sample}" for what, sample in found if (name, what) not in KNOWN]
    assert not new, f"{len(new)} samples differ\n" + "\n".join(new[:5])
    # A difference that is gone must go from the list as well.
    met = {(name, what) for what, _ in found}
    assert {key for key in KNOWN if key[0] == name} <= met


def test_the_database_has_samples_of_every_function() -> None:
    missing = [name for name in NAMES if not list(entries(name))]
    assert not missing


def converted(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        found = vt.tensor(value.detach().numpy().copy())
        return found.requires_grad_(value.requires_grad)
    if isinstance(value, torch.dtype):
        return getattr(vt, str(value).rpartition(".")[2])
    if isinstance(value, (list, tuple)):
        return type(value)(map(converted, value))
    return value


def raised(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def same_class(theirs: Exception | None, mine: Exception | None) -> bool:
    if theirs is None:
        return mine is None
    return any(cls.__name__ == builtin_of(theirs) for cls in type(mine).__mro__)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_calls_raise_the_class_that_pytorch_raises(name: str) -> None:
    for entry in entries(name):
        if entry.error_inputs_func is None:
            continue
        for wrong in entry.error_inputs("cpu"):
            sample = wrong.sample_input
            arguments = [sample.input, *sample.args]
            if name.startswith("embedding"):
                arguments[:2] = arguments[1::-1]
            options = {key: x for key, x in sample.kwargs.items() if key != "device"}
            function = getattr(torch.nn.functional, name)
            theirs = raised(lambda f=function, a=arguments, o=options: f(*a, **o))  # type: ignore[misc]
            values = converted(arguments), {key: converted(x) for key, x in options.items()}
            mine = raised(lambda v=values: getattr(vt.nn.functional, name)(*v[0], **v[1]))  # type: ignore[misc]
            assert same_class(theirs, mine), f"{theirs!r} there, {mine!r} here"


# Kinks, what is next to them, large numbers, infinities, and both zeros.
PLACES: Final = (
    *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 2.9999999, -3.0000001, 1e-300, -1e-9),
    *(19.5, 20.5, -20.5, 40.0, -40.0, 800.0, -800.0, 1e10, -1e10, 1e30, -1e30),
)
INFINITE: Final = (math.inf, -math.inf, math.nan)

ACTIVATIONS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "relu": ("relu", ()),
    "relu6": ("relu6", ()),
    "elu": ("elu", (1.5,)),
    "celu": ("celu", (0.75,)),
    "selu": ("selu", ()),
    "leaky_relu": ("leaky_relu", (0.25,)),
    "leaky_relu of slope 0": ("leaky_relu", (0.0,)),
    "rrelu": ("rrelu", (0.25, 0.5)),
    "gelu": ("gelu", ()),
    "silu": ("silu", ()),
    "mish": ("mish", ()),
    "softplus": ("softplus", ()),
    "softplus of a steepness": ("softplus", (2.0, 5.0)),
    "softsign": ("softsign", ()),
    "softshrink": ("softshrink", ()),
    "hardshrink": ("hardshrink", ()),
    "tanhshrink": ("tanhshrink", ()),
    "hardtanh": ("hardtanh", ()),
    "hardtanh of one number": ("hardtanh", (0.5, 0.5)),
    "hardsigmoid": ("hardsigmoid", ()),
    "hardswish": ("hardswish", ()),
    "threshold": ("threshold", (0.5, 7.0)),
    "logsigmoid": ("logsigmoid", ()),
    "sigmoid": ("sigmoid", ()),
    "tanh": ("tanh", ()),
}


def values_and_derivatives(
    library: Any, name: str, options: Sequence[Any], places: Sequence[float], dtype: str
) -> list[Any]:
    x = library.tensor(places, dtype=getattr(library, dtype), requires_grad=True)
    y = getattr(library.nn.functional, name)(x, *options)
    weights = library.linspace(0.5, 1.5, len(places), dtype=getattr(library, dtype))
    (first,) = library.autograd.grad(y, x, weights, create_graph=True)
    found = [y.detach().numpy(), first.detach().numpy()]
    # PyTorch has no second derivative of `hardsigmoid`.
    if first.requires_grad and name != "hardsigmoid":
        (second,) = library.autograd.grad(first, x, weights, allow_unused=True)
        found.append(np.zeros(len(places)) if second is None else second.numpy())
    else:
        found.append(np.zeros(len(places)))
    return found


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_at_kinks_and_of_large_numbers(name: str) -> None:
    function, options = ACTIVATIONS[name]
    for dtype in ("float64", "float32"):
        # PyTorch's slope of `hardsigmoid` is a sixth in float32.
        exact = dtype == "float64" and name != "hardsigmoid"
        tolerance = 1e-13 if exact else 3e-6
        theirs, mine = (
            values_and_derivatives(library, function, options, PLACES, dtype)
            for library in LIBRARIES
        )
        for what, one, two in zip(("value", "first", "second"), theirs, mine, strict=True):
            # Where PyTorch has nan, of infinity times 0, a number may stand here.
            np.testing.assert_allclose(
                np.where(np.isnan(one), 0, two),
                np.nan_to_num(one, posinf=math.inf),
                tolerance,
                tolerance,
                err_msg=f"{what} {dtype}",
            )
            assert not (np.isnan(two) & ~np.isnan(one)).any()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_infinity_and_nan(name: str) -> None:
    function, options = ACTIVATIONS[name]
    theirs, mine = (
        getattr(library.nn.functional, function)(library.tensor(INFINITE), *options).numpy()
        for library in LIBRARIES
    )
    np.testing.assert_array_equal(mine[~np.isnan(theirs)], theirs[~np.isnan(theirs)])
    assert np.isnan(mine[2])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_other_dtypes(name: str) -> None:
    function, options = ACTIVATIONS[name]
    for dtype in ("float16", "int64", "uint8", "bool", "complex128"):
        found: list[Any] = []
        for library in LIBRARIES:
            x = library.tensor([0, 1, 3, 1], dtype=getattr(library, dtype))
            found.append(
                raised(lambda of=library, x=x: getattr(of.nn.functional, function)(x, *options))  # type: ignore[misc]
                or getattr(library.nn.functional, function)(x, *options)
            )
        theirs, mine = found
        if isinstance(theirs, Exception) or isinstance(mine, Exception):
            assert isinstance(theirs, Exception), f"{dtype}: {mine!r}"
            assert same_class(theirs, mine), f"{dtype}: {theirs!r}, {mine!r}"
            continue
        assert str(theirs.dtype).rpartition(".")[2] == mine.dtype.name
        tolerance = 2e-3 if dtype == "float16" else 1e-6
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), tolerance, tolerance)


def slopes(library: Any, loss: Callable[[Any, Any], Any], values: Any) -> Any:
    x = library.tensor(values, dtype=library.float64, requires_grad=True)
    return library.autograd.grad(loss(library, x).sum(), x)[0].flatten().tolist()


# Where PyTorch is wrong: what it gives is said too, so that one that was mended is noticed.
WRONG: Final[dict[str, tuple[Callable[[Any, Any], Any], Any, Any, Any]]] = {
    "log_probs that are no logarithms of probabilities": (
        lambda library, x: library.nn.functional.ctc_loss(
            x, library.tensor([1]), (1,), (1,), reduction="sum"
        ),
        [[0.0, 0.0]],
        [1.0, 0.0],
        [0.0, -1.0],
    ),
    "frequencies of rows in bags": (
        lambda library, x: library.nn.functional.embedding_bag(
            library.tensor([0, 1, 1, 2, 1]),
            x,
            library.tensor([0, 3]),
            mode="sum",
            scale_grad_by_freq=True,
        ),
        [[1.0], [1.0], [1.0]],
        [1.0, 1.0, 1 / 3],
        [1.0, 1.0, 1.0],
    ),
    "a sixth in float32": (
        lambda library, x: library.nn.functional.hardsigmoid(x),
        [1.0],
        [float(np.float32(1) / np.float32(6))],
        [1 / 6],
    ),
    "a target beside an input of 0": (
        lambda library, x: library.nn.functional.binary_cross_entropy(
            library.zeros(1, dtype=library.float64), x
        ),
        [0.5],
        [math.inf],
        [100.0],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_derivatives_that_pytorch_gets_wrong(name: str) -> None:
    loss, values, theirs, mine = WRONG[name]
    np.testing.assert_allclose(slopes(torch, loss, values), theirs, rtol=1e-12)
    np.testing.assert_allclose(slopes(vt, loss, values), mine, rtol=1e-12)
