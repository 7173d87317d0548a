"""How views are marked, compared with PyTorch's own marks, for all chains of a few views."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import vtgrad
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import view_meta_of

torch: Any = pytest.importorskip("torch")


@functools.cache
def _part(library: Any) -> Any:
    """A custom Function that returns a view which it has made of its argument."""

    class Part(library.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[0:]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    return Part


# Ways to make a view of a tensor with two dimensions that has two dimensions too.
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "slice": lambda L, x: x[0:],
    "split": lambda L, x: x.split(1, 1)[0],
    "unbind": lambda L, x: x.unbind(1)[0].unsqueeze(1),
    "tensor_split": lambda L, x: x.tensor_split(1, 1)[0],
    "detach": lambda L, x: x.detach()[0:],
    "Function": lambda L, x: _part(L).apply(x),
}
MODES: dict[str, Callable[[Any], Any]] = {
    "recorded": lambda L: L.enable_grad(),
    "no_grad": lambda L: L.no_grad(),
    "inference": lambda L: L.inference_mode(),
    "enabled in inference": lambda L: _Both(L.inference_mode(), L.enable_grad()),
    "no_grad in inference": lambda L: _Both(L.inference_mode(), L.no_grad()),
    "left": lambda L: _Both(L.inference_mode(), L.inference_mode(False)),
}
WAYS = list(itertools.product(VIEWS, MODES))


class _Both:
    """Two contexts, one inside the other."""

    def __init__(self, outer: Any, inner: Any) -> None:
        self.outer, self.inner = outer, inner

    def __enter__(self) -> None:
        self.outer.__enter__()
        self.inner.__enter__()

    def __exit__(self, *_: object) -> None:
        self.inner.__exit__(None, None, None)
        self.outer.__exit__(None, None, None)


def chain(library: Any, ways: tuple[tuple[str, str], ...], requires_grad: bool) -> Any:
    """A view of a view of ... of a tensor."""
    x = library.ones((2, 3), requires_grad=requires_grad) * 1.0
    for view, mode in ways:
        with MODES[mode](library):
            x = VIEWS[view](library, x)
    return x


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("first", WAYS, ids=" ".join)
def test_marks_are_pytorchs(first: tuple[str, str], requires_grad: bool) -> None:
    for second in (None, *WAYS):
        ways = (first,) if second is None else (first, second)
        theirs, ours = (chain(library, ways, requires_grad) for library in (torch, vtgrad))
        meta = view_meta_of(ours)
        assert ours.is_inference() == theirs.is_inference(), ways
        assert (meta is not None) == theirs._is_view(), ways
        if meta is not None:
            wanted = torch._C._autograd._get_creation_meta(theirs).name
            assert meta.creation_meta.name == wanted, ways


def test_marks_that_pytorch_does_not_have() -> None:
    # No operator marks views as safe pieces, and arguments of transforms are no views there.
    names = set(torch._C._autograd.CreationMeta.__members__)
    assert {mark.name for mark in CreationMeta} - names == {
        "MULTI_OUTPUT_SAFE",
        "TRANSFORM_ARGUMENT",
    }
