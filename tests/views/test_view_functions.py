"""Views that geometry does not describe are made again by their view function."""

import vtgrad as vt
from vtgrad.graph.node import Node
from vtgrad.ops.generated.views_nodes import SelectBackward0
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.make_view import make_view


def row(tensor: TensorBase) -> TensorBase:
    """Row 1 of a matrix, as a view function."""
    assert isinstance(tensor, vt.Tensor)
    return tensor.select(0, 1)


def row_view(base: vt.Tensor) -> vt.Tensor:
    """`base[1]`, as an operator would make it that cannot say so by strides."""
    impl = base.select(0, 1)._impl
    node: Node = SelectBackward0.record(base, 0, 1)
    return make_view(base, impl, node, view_fn=row)


def matrix() -> tuple[vt.Tensor, vt.Tensor]:
    """A leaf and a clone of it: [[1, 2], [3, 4]]."""
    x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    return x, x.clone()


def test_a_stale_producer_is_replayed_instead_of_restrided() -> None:
    x, b = matrix()
    v = row_view(b)
    b.mul_(10)
    assert v.grad_fn is not None
    assert v.grad_fn.name() == "SelectBackward0"
    v.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 0], [10, 10]]


def test_a_view_of_such_a_view_is_replayed_through_it() -> None:
    x, b = matrix()
    w = row_view(b)[1:]
    meta = view_meta_of(w)
    assert meta is not None
    assert meta.backward_info.base is b
    assert meta.backward_info.view_fn is not None
    b.mul_(10)
    w.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 0], [0, 10]]


def test_a_write_through_it_reaches_the_base() -> None:
    x, b = matrix()
    v = row_view(b)
    v.mul_(v.detach().clone())
    assert b.tolist() == [[1, 2], [9, 16]]
    (b * vt.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1, 10], [300, 4000]]


def test_a_write_through_it_is_differentiated_twice() -> None:
    x, b = matrix()
    v = row_view(b)
    v.mul_(x[0])
    (first,) = vt.autograd.grad((b * b).sum(), x, create_graph=True)
    # The base is [[1, 2], [3, 8]]: the sum is x0^2 + (x1 x0)^2 in each column.
    assert first.tolist() == [[2 + 2 * 9, 4 + 2 * 2 * 16], [2 * 3, 2 * 4 * 4]]
    (second,) = vt.autograd.grad(first.sum(), x)
    assert second.tolist() == [[2 + 18 + 4 * 3, 2 + 32 + 4 * 8], [4 * 3 + 2, 4 * 8 + 8]]
