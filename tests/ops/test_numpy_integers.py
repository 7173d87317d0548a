"""NumPy's integers, and integer tensors of one element, are welcome wherever an integer is.

What breaks it: compiled code, which takes an argument for what its annotation says, and a geometry
that keeps what it was given in the place of an integer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt

# What makes an integer of an integer.
Make = Callable[[int], int]

CALLS: dict[str, Callable[[vt.Tensor, Make], object]] = {
    "select": lambda x, n: x.select(n(1), n(-1)),
    "slice": lambda x, n: x[n(0) : n(2) : n(2)],
    "index": lambda x, n: x[n(0), n(1)],
    "permute": lambda x, n: x.permute(n(2), n(0), n(1)),
    "transpose": lambda x, n: x.transpose(n(0), n(1)),
    "expand": lambda x, n: x[:1].expand(n(2), n(-1), n(4)),
    "view": lambda x, n: x.view(n(6), n(-1)),
    "reshape": lambda x, n: x.transpose(0, 1).reshape((n(4), n(6))),
    "squeeze": lambda x, n: x[:1].squeeze(n(0)),
    "unsqueeze": lambda x, n: x.unsqueeze(n(-1)),
    "narrow": lambda x, n: x.narrow(n(1), n(0), n(2)),
    "split": lambda x, n: x.split(n(2), n(1))[1],
    "split into sizes": lambda x, n: x.split([n(1), n(2)], n(1))[1],
    "chunk": lambda x, n: x.chunk(n(2), n(0))[1],
    "unfold": lambda x, n: x.unfold(n(2), n(2), n(1)),
    "diagonal": lambda x, n: x.diagonal(n(-1), n(0), n(1)),
    "as_strided": lambda x, n: x.as_strided((n(2), n(2)), (n(1), n(2)), n(1)),
    "flatten": lambda x, n: x.flatten(n(0), n(1)),
    "unflatten": lambda x, n: x.unflatten(n(2), (n(2), n(2))),
    "unbind": lambda x, n: x.unbind(n(1))[2],
    "movedim": lambda x, n: x.movedim(n(0), n(2)),
    "sum": lambda x, n: x.sum((n(0), n(1))),
    "max": lambda x, n: x.max(n(1))[0],
    "softmax": lambda x, n: x.softmax(n(1)),
    "cumsum": lambda x, n: x.cumsum(n(1)),
    "cat": lambda x, n: vt.cat([x, x], n(1)),
    "stack": lambda x, n: vt.stack([x, x], n(1)),
    "index_select": lambda x, n: x.index_select(n(1), vt.tensor([0, 2])),
    "repeat": lambda x, n: x.repeat(n(1), n(2), n(1)),
    "flip": lambda x, n: x.flip(n(0)),
    "roll": lambda x, n: x.roll(n(1), n(0)),
    "power": lambda x, n: x ** n(2),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_numpy_integers_are_integers(call: Callable[[vt.Tensor, Make], object]) -> None:
    x = vt.arange(24.0).view(2, 3, 4).requires_grad_()
    y = x.detach().clone().requires_grad_()
    expected, found = call(x, int), call(y, np.int64)  # type: ignore[arg-type]  # that is the test
    assert isinstance(expected, vt.Tensor)
    assert isinstance(found, vt.Tensor)
    assert found.shape == expected.shape
    assert found.stride() == expected.stride()
    assert found.tolist() == expected.tolist()
    # The node has kept them too.
    (expected * expected).sum().backward()
    (found * found).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert y.grad.tolist() == x.grad.tolist()
    assert all(type(size) is int for size in found.shape)


@pytest.mark.parametrize("name", ["select", "transpose", "unsqueeze", "narrow", "as_strided"])
def test_integer_tensors_are_integers_of_geometry(name: str) -> None:
    x = vt.arange(24.0).view(2, 3, 4)
    expected, found = CALLS[name](x, int), CALLS[name](x, vt.tensor)  # type: ignore[arg-type]  # that is the test
    assert isinstance(expected, vt.Tensor)
    assert isinstance(found, vt.Tensor)
    assert found.tolist() == expected.tolist()
    assert x.tolist() == vt.arange(24.0).view(2, 3, 4).tolist()
