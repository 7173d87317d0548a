"""A retained gradient follows its tensor from node to node, and only one node fills it."""

import vtgrad as vt


def result() -> vt.Tensor:
    """Twice ones, of shape (2, 3), whose gradient is retained."""
    y = vt.ones(2, 3, dtype=vt.float64).requires_grad_() * 2
    y.retain_grad()
    return y


def run(y: vt.Tensor) -> object:
    """The retained gradient, after a backward in which element k of `y` has gradient k."""
    (y * vt.arange(6, dtype=vt.float64).view(y.shape)).sum().backward()
    assert y.grad is not None
    return y.grad.tolist()


def test_after_a_write_the_new_value_is_retained() -> None:
    y = result()
    y.mul_(5)
    assert run(y) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_after_another_geometry_the_former_shape_is_retained() -> None:
    y = result()
    y.t_()
    assert run(y) == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_a_write_after_another_geometry_moves_it_along() -> None:
    # Two nodes that filled it would add gradients of shapes (2, 3) and (3, 2).
    y = result()
    y.t_()
    y.mul_(5)
    assert run(y) == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_going_through_two_geometries_counts_nothing_twice() -> None:
    y = result()
    y.t_()
    y.t_()
    y.mul_(5)
    assert run(y) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_a_view_keeps_it_when_another_part_of_its_base_is_written() -> None:
    base = vt.ones(4, dtype=vt.float64).requires_grad_() * 1
    view = base[0:2]
    view.retain_grad()
    early = (view * 3).sum()
    base[2:4].mul_(5)
    (early + (view * 4).sum()).backward()
    assert view.grad is not None
    assert view.grad.tolist() == [7.0, 7.0]
