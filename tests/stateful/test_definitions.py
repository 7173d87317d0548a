"""What defines an operator in a script does what the operator does.

What breaks it: a name that the text needs and the script does not bind, or binds to something else.
"""

import functools
from collections.abc import Callable, Mapping
from functools import partial, wraps

import numpy
import numpy as np
import pytest

import vtgrad
import vtgrad as vt
from vtgrad.autograd import Function
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.definitions import UnprintableError, define, for_torch

Operator = Callable[[vt.Tensor], vt.Tensor]

SCALE = 3
w = 5.0  # programs bind this name too
ARRAYS = {"a": np.array([1.0, 2.0])}
TENSORS = [vt.tensor([1.0, 2.0], dtype=vt.float64)]
LIMIT = float("inf")


def helper(x: vt.Tensor) -> vt.Tensor:
    return x * SCALE * w


def even(x: vt.Tensor, n: int) -> vt.Tensor:
    return x if n == 0 else odd(x + 1, n - 1)


def odd(x: vt.Tensor, n: int) -> vt.Tensor:
    return x if n == 0 else even(x * 2, n - 1)


def logged(function: Operator) -> Operator:
    @wraps(function)
    def inner(x: vt.Tensor) -> vt.Tensor:
        return function(x) + SCALE

    return inner


def unwrapped(function: Operator) -> Operator:
    def inner(x: vt.Tensor) -> vt.Tensor:
        return function(x) + SCALE

    return inner


@logged
def decorated(x: vt.Tensor) -> vt.Tensor:
    """Text with
    less indentation."""
    return helper(x) + even(x, 2)


class Scaler:
    scale = SCALE

    def __init__(self, by: list[float]) -> None:
        self.by = by

    def __call__(self, x: vt.Tensor) -> vt.Tensor:
        return x * self.by[0]

    def method(self, x: vt.Tensor) -> vt.Tensor:
        return x * self.by[1] * Scaler.scale

    @staticmethod
    def static(x: vt.Tensor) -> vt.Tensor:
        return x * 2 * Scaler.scale

    @classmethod
    def of_class(cls, x: vt.Tensor) -> vt.Tensor:
        return x * cls.scale


class Base(Function):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g


def operators() -> dict[str, Operator]:
    SCALE = 7  # shadows the one of the module
    k = 2.0

    defaults: list[Operator] = [lambda x, k=k: x * k]  # type: ignore[misc]  # it takes one more

    class Local(Base):
        @staticmethod
        def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            return x * SCALE + helper(x)

    return {
        "local_class": Local.apply,
        "closure": lambda x: x * SCALE,
        "two": lambda x: x * SCALE + helper(x),
        "one": lambda x: x * k,
        "same_line": lambda x: x + k,
        "conditional": lambda x: x * 2 if x.dim() == 1 else x.sum() if x.dim() else x,
        "default": defaults[0],
        "partial": partial(even, n=3),
        "method": Scaler([2.0, 4.0]).method,
        "instance": Scaler([2.0, 4.0]),
        "static": Scaler.static,
        "of_class": Scaler.of_class,
        "decorated": decorated,
        "in_decorated": unwrapped(lambda x: x * k),
        "neg": vt.neg,
        "long_name": vtgrad.neg,
        "table": lambda x: x * TENSORS[0].sum() + vt.tensor(ARRAYS["a"]),
        "helper": lambda x: helper(x),
        "pi": lambda x: x.clamp(-numpy.pi, LIMIT),
        "reduced": lambda x: functools.reduce(lambda a, b: a + b, [x, x]),
        "tensor": lambda x: partial(vt.mul, x)(x),
    }


def defined(some: Mapping[str, object]) -> dict[str, Operator]:
    """The operators, made from text."""
    lines = define(some, {"vt": vt, "w": object()})
    names: dict[str, Operator] = {}
    head = ["from __future__ import annotations", "import vtgrad as vt"]
    exec("\n".join([*head, *lines]), names)
    return names


@pytest.mark.parametrize("name", operators())
def test_an_operator_is_defined_with_all_that_it_needs(name: str) -> None:
    made = operators()[name]
    x = vt.tensor([1.0, -2.0])
    assert defined({name: made})[name](x).tolist() == made(x).tolist()


def test_operators_do_not_take_the_names_of_each_other() -> None:
    some = operators()
    x = vt.tensor([1.0, -2.0])
    made = defined(some)
    assert [made[n](x).tolist() for n in some] == [some[n](x).tolist() for n in some]


def test_the_text_is_what_a_reader_would_write() -> None:
    assert define({"closure": operators()["closure"]}, {}) == [
        "SCALE = 7",
        "closure = lambda x: x * SCALE",
    ]
    assert define({"neg": vt.neg}, {"vt": vt}) == ["neg = vt.neg"]
    assert define({"sin": np.sin}, {}) == ["from numpy import sin"]


def test_what_has_no_text_is_refused_by_name() -> None:
    names: dict[str, object] = {}
    exec("def typed_in(x): return x", names)
    with pytest.raises(UnprintableError, match="the text of typed_in"):
        define({"f": names["typed_in"]}, {})
    large = np.zeros(1000)
    with pytest.raises(UnprintableError, match="an array of 1000 elements"):
        define({"f": lambda x: x + large.sum()}, {})


@pytest.mark.parametrize(
    ("ours", "twin"),
    [
        ("import vtgrad", "import torch as vtgrad"),
        ("import vtgrad as vt", "import torch as vt"),
        ("from vtgrad.autograd import Function", "from torch.autograd import Function"),
        ("def f(x):\n    import vtgrad as v\n", "def f(x):\n    import torch as v\n"),
        ("import numpy", "import numpy"),
    ],
)
def test_the_twin_imports_pytorch(ours: str, twin: str) -> None:
    assert for_torch(ours) == twin
