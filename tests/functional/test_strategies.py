"""`vectorize` and the strategies of `jacobian` and `hessian`: one result, and what differs."""

from __future__ import annotations

from typing import Any

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.autograd import forward_ad
from vtgrad.errors import LeafWriteError, TransformError

FUNCTIONAL: Any = vt.autograd.functional
hessian, jacobian = FUNCTIONAL.hessian, FUNCTIONAL.jacobian

X, Y = ramp(3), ramp(2)
BACKWARD: list[dict[str, object]] = [{}, {"vectorize": True}]
FORWARD: dict[str, object] = {"vectorize": True, "strategy": "forward-mode"}
WAYS = [*BACKWARD, FORWARD]
HESSIANS = [*BACKWARD, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}]

in_every_way = pytest.mark.parametrize("way", WAYS)


def in_pieces(x: vt.Tensor) -> vt.Tensor:
    """x0**2, x0 x1, x1 x2, written in place."""
    out = vt.zeros(3, dtype=vt.float64)
    out[0] = x[0] ** 2
    out[1:] = x[:-1] * x[1:]
    return out


PIECES = [[2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]


@in_every_way
def test_functions_may_write_to_what_they_make(way: dict[str, object]) -> None:
    assert jacobian(in_pieces, X, **way).tolist() == PIECES


@in_every_way
def test_values_may_be_looked_at_and_detached(way: dict[str, object]) -> None:
    calls = []

    def f(x: vt.Tensor) -> vt.Tensor:
        calls.append(x.sum().item())
        return x * x.detach() if bool(x[0] > 0) else x

    assert jacobian(f, X, **way).diagonal().tolist() == [1.0, 2.0, 3.0]
    assert jacobian(f, -X, **way).diagonal().tolist() == [1.0, 1.0, 1.0]
    assert calls == [6.0, -6.0]


@in_every_way
def test_blocks_of_several_inputs_and_outputs(way: dict[str, object]) -> None:
    found = jacobian(lambda x, y: (x * y.sum(), x[:2]), (X, Y), **way)
    assert [[list(block.shape) for block in row] for row in found] == [
        [[3, 3], [3, 2]],
        [[2, 3], [2, 2]],
    ]
    assert found[0][1].tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert not vt.count_nonzero(found[1][1])
    assert list(jacobian(lambda x: x[:0], X, **way).shape) == [0, 3]
    assert list(jacobian(lambda x: Y * x.sum(), X[:0], **way).shape) == [2, 0]


@in_every_way
def test_results_are_constants(way: dict[str, object]) -> None:
    x, w = ramp(3).requires_grad_(), ramp(3).requires_grad_()
    found = jacobian(lambda a: a * a * w, x, **way)
    assert (found.diagonal().tolist(), found.requires_grad) == ([2.0, 8.0, 18.0], False)
    assert (x.grad, w.grad) == (None, None)


@pytest.mark.parametrize("way", HESSIANS)
def test_hessians(way: dict[str, object]) -> None:
    x = ramp(3).requires_grad_()
    found = hessian(lambda a: (in_pieces(a) * a).sum(), x, **way)
    assert (found.tolist(), found.requires_grad) == (
        [[6.0, 4.0, 0.0], [4.0, 2.0, 6.0], [0.0, 6.0, 4.0]],
        False,
    )
    blocks = hessian(lambda a, b: a.sum() * b.sum() ** 2, (X, Y), **way)
    assert [[list(block.shape) for block in row] for row in blocks] == [
        [[3, 3], [3, 2]],
        [[2, 3], [2, 2]],
    ]
    assert blocks[0][1].tolist() == [[6.0, 6.0]] * 3
    assert not vt.count_nonzero(hessian(lambda a: a.sum(), X, **way))


def test_dtypes_are_those_of_the_inputs_and_in_forward_mode_of_the_outputs() -> None:
    def dtypes(way: dict[str, object]) -> list[vt.dtype]:
        found = jacobian(lambda a, b: a.double() * b, (vt.ones(3), X), **way)
        return [block.dtype for block in found]

    assert [dtypes(way) for way in BACKWARD] == [[vt.float32, vt.float64]] * 2
    assert dtypes(FORWARD) == [vt.float64, vt.float64]


def test_the_argument_may_be_written_in_forward_mode_only() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        return x.mul_(2) ** 2

    for way in BACKWARD:
        x = ramp(3)
        with pytest.raises(LeafWriteError):
            jacobian(f, x, **way)
        assert x.tolist() == [1.0, 2.0, 3.0]
    assert jacobian(f, x, **FORWARD).diagonal().tolist() == [8.0, 16.0, 24.0]
    assert x.tolist() == [2.0, 4.0, 6.0]


def test_complex_numbers() -> None:
    z = vt.tensor([3 + 4j], dtype=vt.complex128)
    for way in BACKWARD:
        assert jacobian(lambda z: z.abs(), z, **way).item() == pytest.approx(0.6 + 0.8j)
        with pytest.raises(TransformError, match="output 0 is complex"):
            jacobian(lambda z: z * z, z, **way)
    # Products with tangents of 1.
    assert jacobian(lambda z: z.abs(), z, **FORWARD).item() == pytest.approx(0.6)
    assert jacobian(lambda z: z * z, z, **FORWARD).item() == 6 + 8j


@in_every_way
def test_an_open_level_of_forward_mode_does_not_matter(way: dict[str, object]) -> None:
    with forward_ad.dual_level():
        assert jacobian(in_pieces, X, **way).tolist() == PIECES
        dual = forward_ad.make_dual(X, vt.tensor([1.0, 0.0, 0.0], dtype=vt.float64))
        tangent = forward_ad.unpack_dual(jacobian(in_pieces, dual, **way)).tangent
        assert tangent is not None
        assert tangent.tolist() == [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
