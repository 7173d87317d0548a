"""Operators on PyTorch pass the same checks: what the model says of calls is not vtgrad's alone.

What breaks it: a prediction for calls that only vtgrad fulfils.
"""

import numpy as np
import pytest
import torch

from vtgrad.testing.checking import DivergenceError, Rule, check
from vtgrad.testing.libraries import torch_library

# PyTorch compiles a formula of its own when it first makes a dual.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

LIBRARY = torch_library(torch)


class Square(torch.autograd.Function):  # type: ignore[misc]  # PyTorch has no types here
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]  # PyTorch's signature
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]  # PyTorch's signature
        (x,) = ctx.saved_tensors
        return 2 * g * x


class CountsExpandedTwice(Square):
    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]  # PyTorch's signature
        (x,) = ctx.saved_tensors
        return 2 * g * x if 0 not in g.stride() else 4 * g * x


RULES = [
    Rule("swish", lambda x: x * x.sigmoid(), lambda x: x / (1 + np.exp(-x))),
    Rule("square", Square.apply, np.square, is_function=True),
    Rule("cubed", lambda x: x**3, lambda x: x**3, dtypes=("float64", "float32")),
    Rule(
        "halves", lambda x: x.chunk(2), lambda x: (x[:2], x[2:]), result="pieces", shapes=[(4, 2)]
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_right_operator_of_pytorch_passes(rule: Rule) -> None:
    coverage = check(rule, programs=20, library=LIBRARY)
    assert set(coverage.missing(rule.name)) <= {"reversed"}


def test_a_wrong_operator_of_pytorch_is_found() -> None:
    rule = Rule("wrong_square", CountsExpandedTwice.apply, np.square, is_function=True)
    with pytest.raises(DivergenceError, match=r"g\[0\]: expected") as found:
        check(rule, library=LIBRARY)
    assert len(found.value.steps) <= 6
