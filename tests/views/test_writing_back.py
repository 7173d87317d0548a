"""``x[i] op= y``: Note [Writing back]."""

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ViewInvalidError
from vtgrad.graph.node import Node
from vtgrad.views.copy_slices import CopySlices


def operators_written(x: vt.Tensor) -> list[str]:
    """What the recorded writes to a base were, newest first."""
    found = []
    node: Node | None = x.grad_fn
    while isinstance(node, CopySlices):
        assert node.fn is not None
        found.append(node.fn.name())
        edge = node.next_edges[0]
        node = None if edge is None else edge.function
    return found


def base(w: vt.Tensor) -> vt.Tensor:
    return w * vt.ones(3, 3)


@pytest.fixture
def w() -> vt.Tensor:
    return vt.tensor([1.0, 2.0, 3.0], requires_grad=True)


def add_row(x: vt.Tensor, w: vt.Tensor) -> None:
    x[1] += w


def add_last_row(x: vt.Tensor, w: vt.Tensor) -> None:
    x[-1] += w


def add_column(x: vt.Tensor, w: vt.Tensor) -> None:
    x[:, 1] += w


def add_part(x: vt.Tensor, w: vt.Tensor) -> None:
    x[1:, :2] += w[:2]


def add_element(x: vt.Tensor, w: vt.Tensor) -> None:
    x[2, 0] += w[1]


def add_all(x: vt.Tensor, w: vt.Tensor) -> None:
    x[:] += w


def add_backwards(x: vt.Tensor, w: vt.Tensor) -> None:
    x[::2] += w


def add_to_a_view(x: vt.Tensor, w: vt.Tensor) -> None:
    rows = x[1:]
    rows[0] += w


ALL: list[Callable[[vt.Tensor, vt.Tensor], None]] = [
    add_row,
    add_last_row,
    add_column,
    add_part,
    add_element,
    add_all,
    add_backwards,
    add_to_a_view,
]


@pytest.mark.parametrize("add", [add for add in ALL if add is not add_all])
def test_one_write_is_recorded_and_two_are_counted(
    w: vt.Tensor, add: Callable[[vt.Tensor, vt.Tensor], None]
) -> None:
    x = base(w)
    before = x.detach().clone()
    add(x, w)
    assert operators_written(x) == ["AddBackward0"]
    assert x._version == 2
    assert [write.operator for write in x.writes()] == ["add_", "__setitem__"]
    plain = before.clone()
    add(plain, w.detach())
    assert np.array_equal(x.detach().numpy(), plain.numpy())
    assert plain._version == 2
    assert [write.operator for write in plain.writes()] == ["add_", "__setitem__"]
    assert {write.function for write in plain.writes()} == {add.__name__}


@pytest.mark.parametrize("index", [slice(None), ..., (), slice(0, 3), (slice(None), slice(3))])
def test_a_write_to_the_whole_tensor_is_recorded_as_a_copy(w: vt.Tensor, index: object) -> None:
    x = base(w)
    x[index] += w  # type: ignore[index]  # all of these are indices
    assert x.grad_fn is not None
    assert x.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert x._version == 2
    (found,) = vt.autograd.grad(x.sum(), w)
    assert found.tolist() == [6.0, 6.0, 6.0]


@pytest.mark.parametrize("add", ALL)
def test_gradients_are_those_of_two_statements(
    w: vt.Tensor, add: Callable[[vt.Tensor, vt.Tensor], None]
) -> None:
    weights = vt.arange(1.0, 10.0).view(3, 3)
    x = base(w)
    add(x, w)
    (found,) = vt.autograd.grad((x * x * weights).sum(), w)

    # The same with a second operand that is a copy, which is written and recorded.
    def with_copy(x: vt.Tensor, index: object, y: vt.Tensor) -> None:
        x[index] = x[index].clone() + y  # type: ignore[index]  # all of these are indices

    other = base(w)
    indices = {
        "add_row": (1, w),
        "add_last_row": (-1, w),
        "add_column": ((slice(None), 1), w),
        "add_part": ((slice(1, None), slice(None, 2)), w[:2]),
        "add_element": ((2, 0), w[1]),
        "add_all": (slice(None), w),
        "add_backwards": (slice(None, None, 2), w),
        "add_to_a_view": (1, w),
    }
    with_copy(other, *indices[add.__name__])
    (expected,) = vt.autograd.grad((other * other * weights).sum(), w)
    assert np.array_equal(found.numpy(), expected.numpy())


def test_the_view_follows_its_base_afterwards(w: vt.Tensor) -> None:
    x = base(w)
    v = x[0]
    kept = v
    v += w
    x[0] = v
    x[0] = x[0] * 2
    (found,) = vt.autograd.grad(kept.sum(), w)
    assert found.tolist() == [4.0, 4.0, 4.0]


def test_a_detached_part_cuts_the_gradient_off(w: vt.Tensor) -> None:
    x = base(w)
    v = x[0]
    v += w
    x[0] = v.detach()
    assert operators_written(x) == ["torch::autograd::CopyBackwards", "AddBackward0"]
    (found,) = vt.autograd.grad(x.sum(), w)
    assert found.tolist() == [2.0, 2.0, 2.0]


def test_what_was_written_since_is_recorded(w: vt.Tensor) -> None:
    x = base(w)
    v = x[0]
    v += w
    x[1] *= 2.0
    x[0] = v
    assert operators_written(x)[0] == "torch::autograd::CopyBackwards"
    (found,) = vt.autograd.grad(x.sum(), w)
    assert found.tolist() == [5.0, 5.0, 5.0]


def test_a_part_that_retains_its_gradient_is_written_as_before(w: vt.Tensor) -> None:
    x = base(w)
    v = x[0]
    v.retain_grad()
    v += w
    x[0] = v
    x.sum().backward()
    assert v.grad is not None
    assert v.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("index", [(), slice(None)], ids=str)
def test_a_written_view_assigned_to_itself_is_recorded_as_in_pytorch(
    w: vt.Tensor, index: tuple[()] | slice
) -> None:
    x = vt.zeros(2, 3) * w
    v = x[1]
    v += w
    v[index] = v
    assert x._version == 2
    assert operators_written(x)[:2] == ["torch::autograd::CopyBackwards", "AddBackward0"]
    (x * 2).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2, 2, 2]


def test_what_used_the_base_before_the_write_back_used_another_value(w: vt.Tensor) -> None:
    x = base(w)
    v = x[0]
    v += w
    doubled = x * 2
    x[0] = v
    seen: list[list[float]] = []

    def hook(g: vt.Tensor) -> vt.Tensor:
        seen.append(g[0].tolist())
        return g * 10

    x.register_hook(hook)
    of_x, of_w = vt.autograd.grad(doubled.sum() + x.sum(), [x, w])
    assert of_x.tolist() == [[1.0] * 3] * 3
    assert of_w.tolist() == [48.0] * 3
    assert seen == [[1.0] * 3]


@pytest.mark.parametrize("by", ["retain_grad", "hook"])
def test_hooks_of_the_base_stay_with_the_value_before_the_write_back(w: vt.Tensor, by: str) -> None:
    x = base(w)
    v = x[0]
    v += w
    if by == "hook":
        x.register_hook(lambda g: g * 10)
    else:
        x.retain_grad()
        doubled = x * 2
    x[0] = v
    if by == "hook":
        of_x, of_w = vt.autograd.grad(x.sum(), [x, w])
        assert of_x.tolist() == [[1.0] * 3] * 3
        assert of_w.tolist() == [40.0] * 3
    else:
        (doubled.sum() + x.sum()).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[1.0] * 3] * 3


def test_a_view_to_a_part_of_which_is_written_back_retains_the_gradient_of_its_new_value(
    w: vt.Tensor,
) -> None:
    x = base(w)
    rows = x[:2]
    rows.retain_grad()
    rows[0] += rows[1]
    x.sum().backward()
    # As if `rows` had been written itself: the gradient of `x` does not lead through it.
    assert rows.grad is None


def test_a_view_of_a_constant_can_retain_its_gradient_after_a_write_back(w: vt.Tensor) -> None:
    rows = vt.ones(4, 3)[:2]
    rows[0] += w
    rows.retain_grad()
    rows.sum().backward()
    assert rows.grad is not None
    assert rows.grad.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("mode", [vt.no_grad, vt.inference_mode])
def test_a_view_that_is_not_known_to_its_base_is_refused(
    w: vt.Tensor, mode: Callable[[], vt.no_grad | vt.inference_mode]
) -> None:
    x = base(w)
    v = x[0]
    with mode():
        unknown = x[:]
    v += w
    with pytest.raises(ViewInvalidError):
        unknown[0] = v
    assert x._version == 1


def test_another_part_of_the_same_memory_is_stored() -> None:
    x = vt.arange(9.0).view(3, 3)
    x[0] = x[1]
    assert x.tolist() == [[3.0, 4.0, 5.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
    # One row of three, and three rows of one.
    x[:, :1] = x[:1].t()
    assert x[:, 0].tolist() == [3.0, 4.0, 5.0]


def test_values_saved_before_the_write_back_stay_valid() -> None:
    w = vt.full((3,), 2.0, requires_grad=True)
    x = vt.ones(3, 3)
    x[0] += 1.0
    product = w * x[0]
    v = x[0]
    x[0] = v
    product.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 2.0, 2.0]


def test_memory_that_may_not_be_written_is_refused() -> None:
    x = vt.ones(1, 3).expand(2, 3)
    v = x[:, 0]
    with pytest.raises(RuntimeError, match="one memory location"):
        x[:, 0] = v
