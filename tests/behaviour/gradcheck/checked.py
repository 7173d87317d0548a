"""What the tests of this folder check: the two functions, and custom Functions that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import pytest

from tests.functions import function
from tests.support import vt

__all__ = [
    "Apply",
    "GradcheckError",
    "complex_leaf",
    "doubling",
    "gradcheck",
    "gradgradcheck",
    "refused_as_wrong",
    "with_missing",
]

Apply: TypeAlias = Callable[..., Any]

gradcheck = vt.autograd.gradcheck
gradgradcheck = vt.autograd.gradgradcheck
# The module has the name of the function, and is found by an import alone.
GradcheckError: type[RuntimeError] = import_module(
    f"{vt.__name__}.autograd.gradcheck"
).GradcheckError


def complex_leaf() -> vt.Tensor:
    """A complex leaf, no element of which is real."""
    return vt.tensor([1 + 2j, -0.5 + 1j], dtype=vt.complex128, requires_grad=True)


def doubling(backward: Callable[..., Any]) -> Apply:
    """``x * 2`` with a backward of one's own, which gets the context and the gradient."""
    return function(lambda ctx, x: x * 2, backward)


def with_missing(backward: Callable[[Any, Any], Any]) -> Apply:
    """``x * 2, x * 3`` with a backward that gets None for what is missing."""

    def forward(ctx: Any, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    return function(forward, lambda ctx, a, b: backward(a, b))


def refused_as_wrong(check: Callable[..., bool], *arguments: Any, **options: Any) -> Any:
    """Expect a `GradcheckError`, and False without exceptions; give the error."""
    with pytest.raises(GradcheckError) as caught:
        check(*arguments, **options)
    assert check(*arguments, **options, raise_exception=False) is False
    return caught.value
